/** One of a few values, side by side. */
import { html } from "../html.js";

/**
 * @param {{name: string, items: [string, string][], now: string, set: (value: string) => void} & Record<string, any>} props  items:
 *   value and words; any other is an attribute of the group
 */
export function Chips({ name, items, now, set, ...more }) {
    return html`
        <span class="chips" ...${more}>${items.map(([value, words]) => html`
            <label class="chip" key=${value}><input type="radio" name=${name} value=${value} checked=${value === now}
                onChange=${() => set(value)} /><span>${words}</span></label>`)}</span>`;
}
