/** A box to check, with its words. */
import { html } from "../html.js";

/** @param {{on: boolean, set: (on: boolean) => void, children?: any}} props */
export function Check({ on, set, children }) {
    return html`
        <label class="check"><input type="checkbox" checked=${on} onChange=${(event) => set(event.currentTarget.checked)} /> ${children}</label>`;
}
