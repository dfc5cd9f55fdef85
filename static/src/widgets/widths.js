/** Widths of columns as the reader sets them: by the edge of a head, or with Shift and an arrow on it. */
import { useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { store, stored } from "../state/prefs.js";

const STEP_PX = 16;
const LEAST_PX = 44;
const MOST_PX = 4000;
const MOST_TABLES = 20;

/** @param {unknown} width_px */
const usable = (width_px) => typeof width_px === "number" && width_px > 0 && width_px <= MOST_PX;

/** What an earlier visit left, which anything may have written. @returns {[string, Record<string, number>][]} */
function left() {
    try {
        return Object.entries(JSON.parse(stored("widths", "{}"))).slice(-MOST_TABLES).filter(([, own]) => Object.values(own).every(usable));
    } catch {
        return [];
    }
}

/** What was set, by table and column, the last table last. */
const kept = new Map(left());

/** @param {string} label @param {Record<string, number> | null} own  null: as the browser would have it */
function keep(label, own) {
    kept.delete(label);
    if (own) kept.set(label, own);
    store("widths", JSON.stringify(Object.fromEntries([...kept].slice(-MOST_TABLES))));
}

/** As they are now. @param {HTMLElement} head @returns {Record<string, number>} */
function measured(head) {
    const heads = /** @type {HTMLElement[]} */ ([...head.parentElement.children]);
    return Object.fromEntries(heads.map((one) => [one.dataset.name, one.getBoundingClientRect().width]));
}

/**
 * All columns or none: the first that is set holds the others where they are. Columns that come later undo it.
 * @typedef {ReturnType<typeof useWidths>} Widths
 * @param {string} label  of the table @param {string[]} names  of its columns
 */
export function useWidths(label, names) {
    const [, redraw] = useState(0);
    const own = kept.get(label) ?? {};
    const sized = names.every((name) => name in own);
    /** @param {HTMLElement} head @param {(now_px: number) => number} change */
    const set = (head, change) => {
        const now = measured(head);
        const { name } = head.dataset;
        keep(label, { ...now, [name]: Math.min(MOST_PX, Math.max(LEAST_PX, Math.round(change(now[name])))) });
        redraw((count) => count + 1);
    };
    const clear = () => {
        keep(label, null);
        redraw((count) => count + 1);
    };
    /** Whether the key was one of these. @param {KeyboardEvent} event @param {HTMLElement} head */
    const onKey = ({ key, shiftKey }, head) => {
        const by = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[key];
        if (shiftKey && by) set(head, (now_px) => now_px + by);
        else if (key === "Delete") clear();
        else return false;
        return true;
    };
    return {
        set, clear, onKey,
        table: sized ? { tableLayout: "fixed", width: `${names.reduce((sum, name) => sum + own[name], 0)}px` } : undefined,
        /** @param {string} name */
        column: (name) => (sized ? { width: `${own[name]}px` } : undefined),
    };
}

/** What the pointer takes hold of; the keys are those of the head. @param {{widths: Widths}} props */
export function Edge({ widths }) {
    const from = useRef(/** @type {{x: number, width: number} | null} */ (null));
    /** @param {PointerEvent & {currentTarget: HTMLElement}} event */
    const hold = (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, width: event.currentTarget.parentElement.getBoundingClientRect().width };
    };
    /** @param {PointerEvent & {currentTarget: HTMLElement}} event */
    const pull = ({ clientX, currentTarget }) => {
        if (from.current) widths.set(currentTarget.parentElement, () => from.current.width + clientX - from.current.x);
    };
    const letGo = () => { from.current = null; };
    return html`
        <span class="grip" aria-hidden="true" title="Drag to resize; double click undoes it" onPointerDown=${hold} onPointerMove=${pull}
              onPointerUp=${letGo} onPointerCancel=${letGo} onDblClick=${widths.clear}></span>`;
}
