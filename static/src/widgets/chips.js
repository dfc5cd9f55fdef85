/** One of a few values, side by side. */
import { html } from "../html.js";

/**
 * @param {{name: string, items: [string, string][], now: string, set: (value: string) => void, label?: string,
 *          small?: boolean}} props  items: value and words; label: of the group, where nothing around it names it
 */
export function Chips({ name, items, now, set, label, small }) {
    return html`
        <span class=${small ? "chips small" : "chips"} ...${label ? { role: "radiogroup", "aria-label": label } : {}}>${items.map(([value, words]) => html`
            <label class="chip" key=${value}><input type="radio" name=${name} value=${value} checked=${value === now}
                onChange=${() => set(value)} /><span>${words}</span></label>`)}</span>`;
}
