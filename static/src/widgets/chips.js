/** One of a few values, side by side. */
import { html } from "../html.js";

/** @param {{name: string, items: [string, string][], now: string, set: (value: string) => void}} props  items: value and words */
export function Chips({ name, items, now, set }) {
    return html`
        <span class="chips">${items.map(([value, words]) => html`
            <label class="chip" key=${value}><input type="radio" name=${name} value=${value} checked=${value === now}
                onChange=${() => set(value)} /><span>${words}</span></label>`)}</span>`;
}
