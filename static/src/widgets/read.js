/** The way from a term of the page to the concept that explains it. */
import { html } from "../html.js";
import { openPage } from "../state/store.js";
import { known } from "./words.js";

/** Controls that are explained under another name than their own. @type {Record<string, string>} */
const OF_CONTROL = { precision: "states", virtualPipeline: "pipeline", trained: "lora" };

/** @param {string} id */
export function hrefOf(id) {
    return `?page=concepts&p.term=${id}`;
}

/** A plain click stays on the page, any other does what the browser does. @param {() => void} go */
export function stay(go) {
    return (/** @type {MouseEvent} */ event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go();
    };
}

/** @param {{of: string, onGo: () => void}} props */
export function Read({ of, onGo }) {
    const id = known("explains", of);
    if (id === "") return null;
    const go = () => {
        onGo();
        openPage("concepts", { term: id });
    };
    return html`<p class="source"><a href=${hrefOf(id)} onClick=${stay(go)}>Read about ${known("concepts", id)}</a></p>`;
}

/**
 * The label of a control, a link where there is a concept of it.
 * @param {{of: string, text: string, help?: string}} props  help: what the label says to a pointer already
 */
export function ReadLabel({ of, text, help }) {
    const id = OF_CONTROL[of] ?? of;
    const concept = known("concepts", id);
    if (concept === "") return text;
    return html`<a class="read" href=${hrefOf(id)} title=${help ? null : `Read about ${concept}`}
        onClick=${stay(() => openPage("concepts", { term: id }))}>${text}</a>`;
}
