/** A part of the page that is closed at first; what it holds is made when it is opened. */
import { useState } from "preact/hooks";
import { html } from "../html.js";

/** @param {{title: string, count?: any, testid: string, children?: any}} props  children: a function that renders */
export function Fold({ title, count, testid, children }) {
    const [open, setOpen] = useState(false);
    return html`
        <details class="fold" data-testid=${testid} onToggle=${(event) => setOpen(event.currentTarget.open)}>
            <summary>${title}${count === undefined ? null : html` <span class="tag">${count}</span>`}</summary>
            ${open ? children() : null}
        </details>`;
}
