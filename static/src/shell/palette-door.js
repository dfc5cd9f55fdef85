/** Opens the palette; its code comes when it is first opened. */
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { later } from "../widgets/later.js";

export const paletteOpen = signal(false);

const Palette = later(async () => (await import("./rest.js")).Palette);

export function openPalette() {
    paletteOpen.value = true;
}

export function PaletteDoor() {
    return paletteOpen.value ? html`<${Palette} />` : null;
}
