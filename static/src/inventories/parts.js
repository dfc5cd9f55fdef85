/** Parts that the page of inventories repeats: an age, a link within the page. */
import { html } from "../html.js";
import { openPage } from "../state/store.js";
import { stay } from "../widgets/read.js";
import { age } from "./words.js";

/** @param {{of: string}} props  RFC 3339 */
export function Age({ of }) {
    return html`<time datetime=${of} title=${of}>${age(of)}</time>`;
}

/** Another part of the page: whoever reads or types goes on at its top. @param {Record<string, string>} where */
export function goTo(where) {
    openPage("inventories", where);
    scrollTo(0, 0);
    document.getElementById("answer")?.focus({ preventScroll: true });
}

/** A link within the page, so that it opens in a tab of its own too. @param {{where: Record<string, string>, children?: any}} props */
export function Go({ where, children }) {
    const query = Object.entries(where).map(([name, text]) => `&p.${name}=${encodeURIComponent(text)}`).join("");
    return html`<a href="?page=inventories${query}" onClick=${stay(() => goTo(where))}>${children}</a>`;
}
