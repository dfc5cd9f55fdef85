/** A table that is only read. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { explainAll } from "../state/prefs.js";
import { exact } from "../units.js";
import { Scroll } from "./scroll.js";

/** The column of formulas, while all are explained. @template T @param {T} cell @returns {T[]} */
const explained = (cell) => (explainAll.value ? [cell] : []);
export const formulaHead = () => explained("~Formula");
export const formulaFoot = () => explained(html`<td class="how"></td>`);
/** @param {any} about */
export const formulaCell = (about) => explained(html`<code>${about?.formula}</code> <span class="muted">(${about?.source})</span>`);

/** @type {Record<string, string>} */
const CLASSES = { "#": "n", "~": "how" };

/** More figures than these do not stand side by side on a phone: there each cell has its own head. */
const MOST_COLUMNS = 6;

/**
 * @param {Object} props
 * @param {string} props.label      for who does not see it
 * @param {any} [props.caption]     for all
 * @param {any[]} props.columns     a column of numbers begins with #, one whose words wrap with ~; as text, or as a list of parts
 * @param {any[][]} props.rows      the first cell of a row is its name; a cell that is an element td stands as it is
 * @param {boolean} [props.tight]
 * @param {boolean} [props.cards]   on a phone each cell has its own head, as where there are many
 * @param {(row: number) => Record<string, any>} [props.more]  attributes of a row
 * @param {string} [props.testid]
 * @param {number} [props.most]     rows at first; the others come when they are asked for
 * @param {any} [props.children]    what follows the rows
 */
export function Plain({ label, caption, columns, rows, tight = false, cards = columns.length > MOST_COLUMNS, more, testid, most = Infinity, children }) {
    const [shown, setShown] = useState(most);
    const classes = columns.map((column) => CLASSES[String(column)[0]]);
    const heads = columns.map((column, at) => (classes[at] ? column.slice(1) : column));
    return html`
        <${Scroll} label=${label}><table class="figures ${tight ? "tight" : ""} ${cards && !classes.includes("how") ? "cards" : ""}" aria-label=${label} data-testid=${testid}>
            ${caption && html`<caption>${caption}</caption>`}
            <thead><tr>${heads.map((head, at) => html`<th key=${at} scope="col" class=${classes[at]}>${head}</th>`)}</tr></thead>
            <tbody>${rows.slice(0, shown).map(([name, ...cells], row) => html`
                <tr key=${row} ...${more?.(row)}><th scope="row">${name}</th>${cells.map((cell, at) =>
                    (cell?.type === "td" ? cell : html`<td key=${at} class=${classes[at + 1]} data-head=${heads[at + 1]}>${cell}</td>`))}</tr>`)}</tbody>${children}
        </table><//>
        ${rows.length > shown ? html`<p class="more"><button type="button" onClick=${() => setShown(Infinity)}>Show all ${exact(rows.length)}</button></p>` : null}`;
}
