/** Parts that the page of inventories repeats: a panel, a link within the page, what stands in for an answer. */
import { html } from "../html.js";
import { Problem } from "../widgets/problem.js";
import { Scroll } from "../widgets/scroll.js";
import { goTo, PASSING } from "./load.js";
import { age } from "./words.js";

/** @param {{title: string, id: string, children?: any}} props */
export function Panel({ title, id, children }) {
    return html`
        <section class="panel" aria-labelledby=${id} data-testid=${id}><header class="panel-head"><h2 id=${id}>${title}</h2></header>${children}</section>`;
}

const CLASSES = { "#": "n", "~": "how" };

/**
 * @param {{label: string, columns: string[], rows: any[][], slugs?: string[]}} props  a column of numbers begins with #, one whose words
 * wrap with ~; the first cell of a row is its name; slugs: of the rows
 */
export function Table({ label, columns, rows, slugs = [] }) {
    const classes = columns.map(([first]) => CLASSES[first] ?? null);
    return html`
        <${Scroll} label=${label}><table class="figures">
            <thead><tr>${columns.map((column, at) => html`<th key=${column} scope="col" class=${classes[at]}>${column.replace(/^[#~]/, "")}</th>`)}</tr></thead>
            <tbody>${rows.map(([name, ...cells], row) => html`
                <tr key=${slugs[row] ?? row} data-slug=${slugs[row]}><th scope="row">${name}</th>${cells.map((cell, at) => html`<td key=${at} class=${classes[at + 1]}>${cell}</td>`)}</tr>`)}</tbody>
        </table><//>`;
}

/** @param {{of: string}} props  RFC 3339 */
export function Age({ of }) {
    return html`<time datetime=${of} title=${of}>${age(of)}</time>`;
}

/** What stands where nothing has come yet, and beside what is not as new as it could be. @param {{of: import("./load.js").Loaded<any>, what: string}} props */
export function Waiting({ of, what }) {
    if (of.problem !== null) {
        return html`
            <div class="refused"><${Problem} problem=${of.problem} />
                <p class="more">${of.value === null ? null : html`<span class="muted">What stands here is from before.</span>`}
                    <button type="button" onClick=${of.again}>Try again</button>
                    ${PASSING.has(of.problem.status) ? html`<span class="muted">It is asked again by itself.</span>` : null}</p>
            </div>`;
    }
    return of.value === null ? html`<p class="muted" role="status">Loading ${what}…</p>` : null;
}

/** A link within the page, so that it opens in a tab of its own too. @param {{where: Record<string, string>, children?: any, current?: boolean}} props */
export function Go({ where, current = false, children }) {
    const query = Object.entries(where).map(([name, text]) => `&p.${name}=${encodeURIComponent(text)}`).join("");
    const go = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        goTo(where);
    };
    return html`<a href="?page=inventories${query}" aria-current=${current ? "page" : null} onClick=${go}>${children}</a>`;
}
