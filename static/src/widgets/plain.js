/** A table that is only read. */
import { html } from "../html.js";
import { Scroll } from "./scroll.js";

const CLASSES = { "#": "n", "~": "how" };

/**
 * @param {{label: string, columns: string[], rows: any[][], slugs?: string[], tight?: boolean}} props  a column of numbers begins with #,
 * one whose words wrap with ~; the first cell of a row is its name; slugs: of the rows
 */
export function Plain({ label, columns, rows, slugs = [], tight = false }) {
    const classes = columns.map(([first]) => CLASSES[first]);
    return html`
        <${Scroll} label=${label}><table class=${tight ? "figures tight" : "figures"} aria-label=${label}>
            <thead><tr>${columns.map((column, at) => html`<th key=${column} scope="col" class=${classes[at]}>${column.replace(/^[#~]/, "")}</th>`)}</tr></thead>
            <tbody>${rows.map(([name, ...cells], row) => html`
                <tr key=${slugs[row] ?? row} data-slug=${slugs[row]}><th scope="row">${name}</th>${cells.map((cell, at) => html`<td key=${at} class=${classes[at + 1]}>${cell}</td>`)}</tr>`)}</tbody>
        </table><//>`;
}
