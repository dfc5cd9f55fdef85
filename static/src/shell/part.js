/** Parts of the page whose code comes when one of them is first shown, so that the first screen stays light. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../html.js";

/** All of them, once they have come; null where they could not. */
const rest = signal(/** @type {Record<string, any> | null | undefined} */ (undefined));

/** Where they cannot be had now, they are asked for again when one is shown again. */
async function load() {
    if (!rest.peek()) rest.value = await import("./rest.js").catch(/** @returns {null} */ () => null);
}

/**
 * @param {object} props
 * @param {string} props.name       in rest.js
 * @param {boolean} [props.told]    the reader hears that it is on its way or could not come
 * @param {any} [props.children]    what keeps its place until it has come, so that nothing below moves then
 */
export function Part({ name, told = false, children }) {
    useEffect(() => void load(), [name]);
    if (rest.value) return html`<${rest.value[name]} />`;
    if (rest.value === undefined && children) return children;
    return told && html`<p class="muted" role="status">${rest.value === null
        ? html`The view could not be loaded. <button type="button" onClick=${load}>Try again</button>` : "Loading the view…"}</p>`;
}
