/** Opens the dialog that writes the plan for a launcher; its code comes when it is first opened. */
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { later } from "../widgets/later.js";

export const copyAsOpen = signal(false);

const CopyAs = later(async () => (await import("./rest.js")).CopyAs);

export function openCopyAs() {
    copyAsOpen.value = true;
}

export function CopyAsDoor() {
    return copyAsOpen.value ? html`<${CopyAs} />` : null;
}
