/**
 * What is compared in columns, figures and words row by row. Rows that differ are marked, figures are held against one
 * of the columns.
 *
 * @typedef {import("./rows.js").Row} Row
 * @typedef {import("./rows.js").Cell} Cell
 * @typedef {{key: string, title: string, head: any}} SheetColumn
 */
import { html } from "../html.js";
import { change, LEAST_CHANGE } from "../units.js";
import { Num } from "../widgets/explain.js";
import { Table, TableTools } from "../widgets/table.js";
import { signed } from "../widgets/values.js";

/** A longer text is read rather than seen: it is not set in bold, and stands to the left. */
const MOST_BOLD = 40;

/** @param {Row} row @param {number} value @param {number} before @returns {string} "" where they are alike */
function deltaText({ signed: isAmount, write }, value, before) {
    const difference = value - before;
    if (Math.abs(difference) <= LEAST_CHANGE * Math.max(Math.abs(value), Math.abs(before))) return "";
    if (isAmount) return signed(difference, write);
    return before > 0 && value > 0 ? change(value, before) : "";
}

/** @param {{row: Row, cell: Cell, against: Cell, name: string}} props  name: of what it is held against */
function Delta({ row, cell, against, name }) {
    if (typeof cell.value !== "number" || typeof against.value !== "number") return null;
    const text = deltaText(row, cell.value, against.value);
    if (text === "") return null;
    const better = row.better === 0 ? "" : (cell.value > against.value) === (row.better > 0) ? "good" : "bad";
    return html`
        <span class="delta ${better}">${text}<span class="visually-hidden">
            ${{ good: " better", bad: " worse", "": " other" }[better]} than ${name}</span></span> `;
}

/** @param {{row: Row, cell: Cell, against: Cell | null, name: string, title: string}} props */
function Value({ row, cell, against, name, title }) {
    const written = cell.about
        ? html`<${Num} title="${row.label}, ${title}" text=${cell.text} value=${cell.value} unit=${cell.unit} about=${cell.about} />` : cell.text;
    if (against === null || !row.differs || cell.text === against.text || cell.text.length > MOST_BOLD) return written;
    return html`${row.words ? null : html`<${Delta} row=${row} cell=${cell} against=${against} name=${name} />`}<b>${written}</b>`;
}

/** @param {Row} row */
const labelOf = ({ label, unit }) => (unit === "" ? label : `${label} (${unit})`);

/** @param {{row: Row}} props */
function Label({ row }) {
    return html`
        <span class="mark">${row.differs ? html`
            <span title="The columns differ">≠<span class="visually-hidden"> differs: </span></span>` : null}</span>${row.label}`;
}

/**
 * @param {Object} props
 * @param {string} props.label
 * @param {string} props.file
 * @param {SheetColumn[]} props.columns
 * @param {{title: string, rows: Row[]}[]} props.parts
 * @param {number} [props.base]   number of the column that the others are held against, -1 for none
 * @param {boolean} [props.onlyDifferent]
 * @param {boolean} [props.cards]  as of a table
 * @param {any} [props.children]  beside the tools of the table
 */
export function Sheet({ label, file, columns, parts, base = -1, onlyDifferent = false, cards, children }) {
    const rows = parts.flatMap(({ title, rows: all }) => {
        const shown = onlyDifferent ? all.filter(({ differs }) => differs) : all;
        return shown.length === 0 ? [] : [{ key: `part ${title}`, section: title }, ...shown];
    });
    /** @type {import("../widgets/rows.js").Column} */
    const named = { name: "label", title: label, head: html`<span class="visually-hidden">${label}</span>`, read: labelOf,
        write: (row) => html`<${Label} row=${row} />` };
    /* What is all words stands to the left, heads too. */
    const figures = parts.some(({ rows: all }) => all.some(({ words }) => !words));
    /** @type {import("../widgets/rows.js").Column[]} */
    const others = columns.map(({ key, title, head }, at) => ({
        name: key, title, head, number: figures,
        read: ({ words, cells }) => (words ? cells[at].text : cells[at].value),
        write: (row) => html`<${Value} row=${row} cell=${row.cells[at]} against=${base < 0 || at === base ? null : row.cells[base]}
            name=${columns[base]?.title ?? ""} title=${title} />`,
    }));
    const count = rows.filter(({ section }) => !section).length;
    return html`
        <div class="sheet">
            <div class="commands">${children}<span class="muted" role="status">${count} rows</span>
                <${TableTools} rows=${rows} columns=${[named, ...others]} file=${file} /></div>
            <${Table} cards=${cards} label=${label} columns=${[named, ...others]} rows=${rows} keyOf=${({ key }) => key}
                more=${(/** @type {Row} */ { words, cells, differs }) => ({ class: words && cells.some(({ text }) => text.length > MOST_BOLD) ? "words" : "", "data-differs": differs })} />
        </div>`;
}

/** @param {{pressed: boolean, name: string, press: () => void}} props */
export function Baseline({ pressed, name, press }) {
    return html`
        <button type="button" aria-pressed=${pressed} aria-label="Baseline: ${name}" title="Hold the others against this one"
                onClick=${press}>Baseline</button>`;
}
