/** Takes a figure away: as a drawing, as a picture, as the data behind it. The code for it comes when it is wanted. */
import { useRef, useState } from "preact/hooks";
import { html } from "../html.js";

/** @typedef {{rows: any[], columns: import("./rows.js").Column[], left_out?: number}} Data  in bytes and seconds, as the service speaks; left_out: rows that did not come */
/** @typedef {"svg" | "png" | "csv" | "json"} Format */

/** @type {[Format, string][]} */
const FORMATS = [["svg", "SVG drawing"], ["png", "PNG picture"], ["csv", "CSV data"], ["json", "JSON data"]];

/** @param {{name: string, title: string, data: () => Data}} props  name: of the file; stands in the panel that is the figure */
export function Export({ name, title, data }) {
    const root = useRef(/** @type {HTMLElement | null} */ (null));
    const [open, setOpen] = useState(false);
    const [failed, setFailed] = useState(false);
    const close = () => {
        setOpen(false);
        root.current.querySelector("button").focus();
    };
    /** @param {Format} format */
    const take = async (format) => {
        close();
        try {
            const { write } = await import("../shell/rest.js");
            await write(root.current.closest(".panel"), { name, title, format, data: data() });
            setFailed(false);
        } catch {
            setFailed(true); /* the code did not come, or the browser cannot draw so large a picture */
        }
    };
    /** @param {KeyboardEvent} event */
    const onKeyDown = (event) => {
        if (event.key !== "Escape" || !open) return;
        event.stopPropagation();
        close();
    };
    /** @param {FocusEvent} event */
    const onFocusOut = (event) => {
        if (!root.current.contains(/** @type {Node | null} */ (event.relatedTarget))) setOpen(false);
    };
    return html`
        <div class="export" ref=${root} onKeyDown=${onKeyDown} onFocusOut=${onFocusOut}>
            <button type="button" aria-expanded=${open} aria-label="Export: ${title}" onClick=${() => setOpen(!open)}>Export</button>
            ${failed ? html`<span class="bad" role="alert">could not be exported</span>` : null}
            ${open ? html`
                <ul class="export-menu">${FORMATS.map(([format, words]) => html`
                    <li key=${format}><button type="button" onClick=${() => take(format)}>${words}</button></li>`)}
                </ul>` : null}
        </div>`;
}
