/**
 * A table of figures: heads that sort in three states and whose edges set widths, a first column that stays, a cursor of arrow
 * keys from cell to cell (the grid of the ARIA practices), and all rows to the clipboard or a file. A long one makes only the
 * rows in sight.
 *
 * @typedef {import("./rows.js").Column} Column
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { copy } from "../shell/share.js";
import { printing } from "../state/prefs.js";
import { within } from "./hand.js";
import { csvOf, directionOf, nextSort, tsvOf } from "./rows.js";
import { save } from "./save.js";
import { ScrollHint, useOver } from "./scroll.js";
import { Edge, useWidths } from "./widths.js";

const ROW_PX = 28;
const VIEW_PX = 420;

/** Rows made beyond the edge of the view, so that a flick shows no gap. */
const SPARE_ROWS = 12;
/** Where a row takes the least. */
const IN_VIEW = Math.ceil(VIEW_PX / ROW_PX);
const PAGE_ROWS = IN_VIEW - 2;

/** Rows and columns on. @type {Record<string, [number, number]>} */
const STEPS = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [PAGE_ROWS, 0], PageUp: [-PAGE_ROWS, 0],
    Home: [0, -Infinity], End: [0, Infinity] };
/** @type {typeof STEPS} */
const FAR_STEPS = { Home: [-Infinity, -Infinity], End: [Infinity, Infinity] };

/** The key of the row of heads. */
const HEADS = "heads";

/** What the cursor stands on: the one control of a cell, else the cell. @param {HTMLElement} cell @returns {HTMLElement} */
function stopOf(cell) {
    const controls = cell.querySelectorAll("button:not(:disabled), a[href]");
    return controls.length === 1 ? /** @type {HTMLElement} */ (controls[0]) : cell;
}

/** One stop of the Tab key in all cells; cells of several controls keep theirs. @param {HTMLElement} table @param {{key: string, name: string}} at */
function rove(table, at) {
    const cells = /** @type {HTMLElement[]} */ ([...table.querySelectorAll("[data-name]")]);
    const placed = cells.find((cell) => cell.parentElement.dataset.key === at.key && cell.dataset.name === at.name)
        ?? cells.find((cell) => cell.parentElement.dataset.key !== HEADS) ?? cells[0];
    for (const cell of cells) stopOf(cell).tabIndex = cell === placed ? 0 : -1;
}

/** @param {HTMLElement} scroller @param {number} at @param {number} row_px */
function bringRow(scroller, at, row_px) {
    const above = at * row_px;
    const room = scroller.clientHeight - scroller.querySelector("thead").clientHeight - row_px;
    if (above < scroller.scrollTop) scroller.scrollTop = above;
    else if (above > scroller.scrollTop + room) scroller.scrollTop = above - room;
}

/** @param {Column} column */
const classOf = ({ number, wraps }) => (number ? "n" : wraps ? "how" : "");

/** @param {{column: Column, sort: string, setSort: (sort: string) => void, widths: import("./widths.js").Widths}} props */
function Head({ column, sort, setSort, widths }) {
    const { name, title, first, head = title } = column;
    const now = directionOf(sort, name);
    return html`
        <th scope="col" data-name=${name} class=${classOf(column)} style=${widths.column(name)} aria-sort=${first && { 1: "ascending", [-1]: "descending", 0: "none" }[now]}>${first ? html`
            <button type="button" class="head" onClick=${() => setSort(nextSort(column, sort))}>${title}
                <span aria-hidden="true">${{ 1: " ▲", [-1]: " ▼", 0: "" }[now]}</span></button>` : head}<${Edge} widths=${widths} /></th>`;
}

/** @param {{row: any, id: string, at: number, columns: Column[], more: Record<string, any>}} props  more: attributes of the row */
function Line({ row, id, at, columns, more }) {
    const [first, ...others] = columns;
    /** @param {Column} column */
    const write = (column) => (column.write ?? column.read)(row);
    const place = { "data-key": id, "aria-rowindex": at + 2 };
    if (row.section) {
        return html`
            <tr ...${place} class="part"><th scope="rowgroup" colspan=${columns.length} data-name=${first.name}><span>${row.section}</span></th></tr>`;
    }
    return html`
        <tr ...${place} ...${more}>
            <th scope="row" data-name=${first.name} class=${classOf(first)}>${write(first)}</th>
            ${others.map((column) => html`
                <td key=${column.name} data-name=${column.name} data-head=${column.title} class=${classOf(column)}>${write(column)}</td>`)}
        </tr>`;
}

/** The place of rows that are not made. @param {{count: number, columns: Column[], row_px: number}} props */
function Gap({ count, columns, row_px }) {
    if (count <= 0) return null;
    return html`
        <tr aria-hidden="true" class="gap"><td colspan=${columns.length} style=${{ height: `${count * row_px}px` }}></td></tr>`;
}

/**
 * @param {Object} props
 * @param {string} props.label
 * @param {Column[]} props.columns   the first names the row
 * @param {any[]} props.rows         in their order; one with a section is a heading across all columns
 * @param {(row: any) => string} props.keyOf
 * @param {string} [props.sort]      as the address says it
 * @param {(sort: string) => void} [props.setSort]
 * @param {boolean} [props.long]     rows of one height, of which only those in sight are made
 * @param {boolean} [props.cards]    in little room each cell has its own head
 * @param {string} [props.current]   the row that is chosen, which comes into view
 * @param {(key: string) => void} [props.choose]
 * @param {(key: string) => void} [props.point]   the row beneath the pointer, "" for none
 * @param {(row: any) => Record<string, any>} [props.more]  attributes of its row
 * @param {(key: string, event: KeyboardEvent) => boolean} [props.onKey]  whether a key of the row was taken
 */
export function Table({ label, columns, rows, keyOf, sort = "", setSort, long: many = false, cards = false, current = "", choose, point, more = () => ({}), onKey }) {
    const long = many && !printing.value;
    const scroller = useRef(/** @type {HTMLElement | null} */ (null));
    const [cursor, setCursor] = useState({ key: "", name: columns[0].name, focus: 0 });
    const [top, setTop] = useState(0);
    const [row_px, setRow] = useState(ROW_PX);
    const over = useOver(scroller);
    const widths = useWidths(label, columns.map(({ name }) => name));
    /** @param {number} at */
    const keyAt = (at) => (at < 0 ? HEADS : keyOf(rows[at]));
    const chosenAt = long && current !== "" ? rows.findIndex((row) => keyOf(row) === current) : -1;
    const stop = cursor.key === HEADS || current === "" ? cursor.key : current;

    /* What is chosen elsewhere comes into view here. */
    useEffect(() => {
        if (chosenAt >= 0) bringRow(scroller.current, chosenAt, row_px);
    }, [current, chosenAt, row_px]);
    useLayoutEffect(() => rove(scroller.current, { key: stop, name: cursor.name }));
    /* In little room a row has its words below its figures. */
    useLayoutEffect(() => {
        if (long) setRow(scroller.current.querySelector("tbody tr[data-key]")?.clientHeight || ROW_PX);
    });
    /* The cell that the keyboard walked to is made by now. */
    useLayoutEffect(() => {
        if (cursor.focus === 0) return;
        const line = scroller.current.querySelector(`tr[data-key="${CSS.escape(cursor.key)}"]`);
        const cell = /** @type {HTMLElement | null | undefined} */ (
            line?.querySelector(`[data-name="${CSS.escape(cursor.name)}"]`) ?? line?.firstElementChild);
        if (!cell) return;
        stopOf(cell).focus({ preventScroll: true });
        scroller.current.style.scrollPaddingLeft = `${line.firstElementChild.clientWidth}px`;
        scroller.current.style.scrollPaddingTop = `${scroller.current.querySelector("thead").clientHeight}px`;
        cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    }, [cursor, top]);

    const onScroll = () => {
        if (!long) return;
        const first = Math.max(0, Math.floor(scroller.current.scrollTop / row_px) - SPARE_ROWS);
        if (Math.abs(first - top) >= SPARE_ROWS / 2 || first === 0) setTop(first);
    };
    /** @typedef {{cell: HTMLElement, key: string, name: string}} Place */
    /** @param {EventTarget | null} target @returns {Place | null} */
    const placeOf = (target) => {
        const cell = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest("[data-name]"));
        return cell && { cell, key: cell.parentElement.dataset.key, name: cell.dataset.name };
    };
    /** @param {number} at @param {number} across */
    const go = (at, across) => {
        if (long && at >= 0) {
            bringRow(scroller.current, at, row_px);
            onScroll();
        }
        setCursor({ key: keyAt(at), name: columns[across].name, focus: cursor.focus + 1 });
        if (at >= 0) choose?.(keyAt(at));
    };
    /** Whether the key did something. @param {KeyboardEvent} event @param {Place} place */
    const does = (event, { key, name, cell }) => {
        const onHead = key === HEADS;
        if (onHead && !event.ctrlKey && widths.onKey(event, cell)) return true;
        const steps = (event.ctrlKey ? FAR_STEPS : STEPS)[event.key];
        if (!steps) return !event.ctrlKey && !onHead && onKey?.(key, event) === true;
        go(within(rows.findIndex((row) => keyOf(row) === key) + steps[0], steps[0] === -Infinity ? 0 : -1, rows.length - 1),
            within(columns.findIndex((column) => column.name === name) + steps[1], 0, columns.length - 1));
        return true;
    };
    /** @param {KeyboardEvent} event */
    const onKeyDown = (event) => {
        const place = placeOf(event.target);
        if (!place || event.metaKey || event.altKey || !does(event, place)) return;
        event.preventDefault();
        event.stopPropagation();
    };
    /** @param {{target: Element}} event */
    const keyAbout = ({ target }) => target.closest("tbody tr")?.getAttribute("data-key") ?? "";
    /** @param {FocusEvent & {target: Element}} event */
    const onFocusIn = (event) => {
        const place = placeOf(event.target);
        if (!place) return;
        if (place.key !== cursor.key || place.name !== cursor.name) setCursor({ key: place.key, name: place.name, focus: 0 });
        if (keyAbout(event) !== "") choose?.(place.key);
    };
    const from = long ? Math.min(top, Math.max(0, rows.length - IN_VIEW)) : 0;
    const made = long ? rows.slice(from, from + IN_VIEW + 2 * SPARE_ROWS) : rows;
    return html`
        <${ScrollHint} over=${over} />
        <div class=${long ? "grid-scroll virtual" : "grid-scroll"} ref=${scroller} onScroll=${onScroll}>
            <table class="figures tight ${cards ? "cards" : ""} ${widths.table ? "sized" : ""}" style=${widths.table} role="grid" aria-rowcount=${rows.length + 1} aria-colcount=${columns.length} aria-label=${label}
                   onKeyDown=${onKeyDown} onFocusIn=${onFocusIn}
                   onClick=${(event) => { if (keyAbout(event) !== "") choose?.(keyAbout(event)); }}
                   onMouseOver=${(event) => point?.(keyAbout(event))} onMouseLeave=${() => point?.("")}>
                <thead><tr aria-rowindex="1" data-key=${HEADS}>${columns.map((column) => html`
                    <${Head} key=${column.name} column=${column} sort=${sort} setSort=${setSort} widths=${widths} />`)}</tr></thead>
                <tbody>
                    <${Gap} key="before" count=${from} columns=${columns} row_px=${row_px} />
                    ${made.map((row, at) => html`
                        <${Line} key=${keyOf(row)} id=${keyOf(row)} row=${row} at=${from + at} columns=${columns} more=${more(row)} />`)}
                    <${Gap} key="after" count=${rows.length - from - made.length} columns=${columns} row_px=${row_px} />
                </tbody>
            </table>
        </div>`;
}

/** All rows, not only those in sight, for spreadsheets. @param {{rows: any[], columns: Column[], file: string}} props  file: without its ending */
export function TableTools({ rows, columns, file }) {
    const data = rows.filter(({ section }) => !section);
    return html`
        <span class="table-tools">
            <button type="button" onClick=${() => copy(tsvOf(data, columns), "Table copied")}>Copy table</button>
            <button type="button" onClick=${() => save(csvOf(data, columns), "text/csv", `${file}.csv`)}>Export CSV</button>
        </span>`;
}
