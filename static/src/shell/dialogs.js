/** The dialogs of the page, one at a time; the code of each comes when it is first opened, but that of the one in which a hand types on at once. */
import { batch, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { Palette } from "./palette.js";
import { Part } from "./part.js";

/** Which is open, by its name in rest.js. @type {import("@preact/signals").Signal<"" | "palette" | "copyAs" | "keys">} */
export const dialog = signal("");

/** How often one was opened: the browser tells late that one closed, when the next may be open. */
const openings = signal(0);

/** @param {"palette" | "copyAs" | "keys"} name */
const open = (name) => batch(() => {
    openings.value += 1;
    dialog.value = name;
});
export const openPalette = () => open("palette");
export const openCopyAs = () => open("copyAs");
export const openKeys = () => open("keys");

/** As the browser closes it: the focus returns to where it was, and what runs next may move it on. */
export function closeDialog() {
    /** @type {HTMLDialogElement | null} */ (document.querySelector("dialog[open]"))?.close();
}

export function Dialogs() {
    if (dialog.value === "palette") return html`<${Palette} key=${openings.value} />`;
    return dialog.value !== "" && html`<${Part} key=${openings.value} name=${dialog.value} />`;
}

/** Open for as long as it is rendered. @param {{children?: any, [attribute: string]: any}} props */
export function Dialog({ children, ...attributes }) {
    const own = useRef(/** @type {HTMLDialogElement | null} */ (null));
    const opening = useRef(openings.peek());
    useLayoutEffect(() => own.current.showModal(), []);
    const onClose = () => {
        if (opening.current === openings.peek()) dialog.value = "";
    };
    return html`<dialog ref=${own} onClose=${onClose} ...${attributes}>${children}</dialog>`;
}
