/** What is said beside the pointer; for who does not point, tables and readouts say the same. */
import { html } from "../html.js";
import { within } from "./hand.js";

/** The widest that one comes out. */
const TIP_PX = 270;

/** @param {{left: number, top: number, width: number, testid: string, children?: any}} props  width: of the drawing that it must not leave */
export function Tip({ left, top, width, testid, children }) {
    return html`<div class="tip" style=${{ left: `${within(left, 0, width - TIP_PX)}px`, top: `${top}px` }} aria-hidden="true" data-testid=${testid}>${children}</div>`;
}
