/** The dialogs of the page, one at a time; the code of each comes when it is first opened. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { Part } from "./part.js";

/** Which is open, by its name in rest.js. @type {import("@preact/signals").Signal<"" | "palette" | "copyAs" | "keys">} */
export const dialog = signal("");

export const openPalette = () => { dialog.value = "palette"; };
export const openCopyAs = () => { dialog.value = "copyAs"; };
export const openKeys = () => { dialog.value = "keys"; };

/** As the browser closes it: the focus returns to where it was, and what runs next may move it on. */
export function closeDialog() {
    /** @type {HTMLDialogElement | null} */ (document.querySelector("dialog[open]"))?.close();
}

export function Dialogs() {
    return dialog.value !== "" && html`<${Part} name=${dialog.value} />`;
}

/** Open for as long as it is rendered. @param {{children?: any, [attribute: string]: any}} props */
export function Dialog({ children, ...attributes }) {
    const own = useRef(/** @type {HTMLDialogElement | null} */ (null));
    useLayoutEffect(() => own.current.showModal(), []);
    return html`<dialog ref=${own} onClose=${() => { dialog.value = ""; }} ...${attributes}>${children}</dialog>`;
}
