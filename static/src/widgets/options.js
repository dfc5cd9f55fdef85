/** What a list offers. */
import { html } from "../html.js";

/** @param {{items: [string, string][], now?: string}} props  items: value and words; now: the one that is chosen */
export function Options({ items, now }) {
    return items.map(([value, words]) => html`<option key=${value} value=${value} selected=${value === now}>${words}</option>`);
}
