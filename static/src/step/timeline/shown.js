/** The timeline in view, and what the reader does to it, as signals that drawings and tables share. */
import { batch, computed, signal } from "@preact/signals";
import { pause, viewOf } from "../cursor.js";
import { allLanes, at_s, marks_s, rings, selected_s, stage, stretch, view_s } from "../../state/look.js";
import { besides } from "../beside.js";
import { timeline } from "../state.js";
import { around, panned, showing, zoomed } from "../window.js";
import { layoutOf } from "./layout.js";
import { spanAt, timelineOf } from "./rows.js";

const answered = computed(() => timeline.value.answer);

/** @type {import("@preact/signals").ReadonlySignal<import("./rows.js").Timeline | null>} */
export const shown = computed(() => (answered.value === null ? null : timelineOf(answered.value)));

const besideAnswered = computed(() => besides.value.answer?.timeline ?? null);

/** The same plan with one setting changed, on the same axis. @type {typeof shown} */
export const other = computed(() => (besideAnswered.value === null ? null : timelineOf(besideAnswered.value)));

/** Of the axis: the longer of the two. */
export const lastEnd_s = computed(() => Math.max(shown.value?.end_s ?? 0, other.value?.end_s ?? 0) || 1);

/** Of the drawing; 0 before it is on the page. */
export const width = signal(0);

/**
 * @param {typeof shown} of @param {() => number} details
 * @returns {import("@preact/signals").ReadonlySignal<import("./layout.js").Layout | null>} null before there is anything to draw
 */
function layoutFor(of, details) {
    return computed(() => (of.value === null || width.value === 0 ? null : layoutOf(of.value, width.value, allLanes.value, details())));
}

export const layout = layoutFor(shown, () => (rings.value ? 2 : 1));
export const otherLayout = layoutFor(other, () => 0);

/** What is under the pointer. @type {import("@preact/signals").Signal<{row: any, span: number, x: number, y: number} | null>} */
export const hovered = signal(null);

/** The part in view of the step on show. @returns {[number, number]} */
export function viewNow() {
    return viewOf(lastEnd_s.value);
}

/** The stage asked for, as far as there is one. */
export const stageShown = computed(() => (shown.value?.rowsOfStage.has(stage.value) ? stage.value : 0));

/** The lane in which the chosen stage computes. */
export function computingRow() {
    return shown.value?.rowsOfStage.get(stageShown.value)?.find((row) => row.stream === "compute") ?? null;
}

/**
 * What runs at a moment, lane by lane.
 * @typedef {{row: import("./rows.js").Row, span: number}} Running
 * @param {number} time_s @returns {Running[]}
 */
export function runningAt(time_s) {
    return (shown.value?.rows ?? []).map((row) => ({ row, span: spanAt(row, time_s) })).filter(({ span }) => span >= 0);
}

/** What the chosen stage computes at the cursor; null for nothing. @returns {Running | null} */
export function runningNow() {
    const row = computingRow();
    const span = row === null ? -1 : spanAt(row, at_s.value);
    return span < 0 ? null : { row, span };
}

/** A view of the whole step is no part of it. @param {[number, number]} view */
export function setView(view) {
    const end_s = lastEnd_s.value;
    view_s.value = view[0] <= 0 && view[1] >= end_s ? null : view;
}

/** What a link asks for that lies beyond the step comes to its end; a part that lies there is none. */
export function holdTimes() {
    const end_s = lastEnd_s.peek();
    /** @param {number} time_s */
    const hold = (time_s) => Math.min(time_s, end_s);
    batch(() => {
        marks_s.value = marks_s.peek().map(hold);
        selected_s.value = selected_s.peek() && stretch(selected_s.peek().map(hold));
        if (view_s.peek()) setView(panned(viewNow(), 0, end_s));
        if (at_s.peek() > end_s) moveCursor(end_s);
    });
}

/** @param {number} to_s */
export function moveCursor(to_s) {
    const end_s = lastEnd_s.value;
    pause();
    batch(() => {
        at_s.value = Math.max(0, Math.min(to_s, end_s));
        setView(showing(viewNow(), at_s.value, end_s));
    });
}

/** @param {number} factor  over 1 widens @param {number} [about_s] */
export function zoom(factor, about_s) {
    const view = viewNow();
    const inView = at_s.value >= view[0] && at_s.value <= view[1];
    const middle_s = about_s ?? (inView ? at_s.value : (view[0] + view[1]) / 2);
    setView(zoomed(view, middle_s, factor, lastEnd_s.value));
}

/** @param {number} by  share of the view, to the right */
export function pan(by) {
    const view = viewNow();
    setView(panned(view, by * (view[1] - view[0]), lastEnd_s.value));
}

/** Shows the selection, or else the span at the cursor, with some room around it. */
export function focusSelected() {
    const now = runningNow();
    const part = selected_s.value ?? (now && [now.row.start_s[now.span], now.row.end_s[now.span]]);
    if (part) setView(around(part[0], part[1], lastEnd_s.value));
}

/** The cursor goes to where the next span of the chosen stage begins or ends. @param {1 | -1} direction */
export function nextEdge(direction) {
    const row = computingRow();
    if (row === null) return;
    let nearest_s = direction > 0 ? lastEnd_s.value : 0;
    for (const edges of [row.start_s, row.end_s]) {
        for (const edge_s of edges) {
            const beyond = (edge_s - at_s.value) * direction > 0;
            if (beyond && (nearest_s - edge_s) * direction > 0) nearest_s = edge_s;
        }
    }
    moveCursor(nearest_s);
}

/** The cursor goes to the next span of the same kind with another micro-batch. @param {1 | -1} direction */
export function nextMicrobatch(direction) {
    const row = computingRow();
    if (row === null) return;
    const now = spanAt(row, at_s.value);
    const begin = now >= 0 ? now : row.start_s.findIndex((start_s) => start_s > at_s.value) - (direction > 0 ? 1 : 0);
    for (let at = begin + direction; at >= 0 && at < row.start_s.length; at += direction) {
        const alike = now < 0 || (row.kind[at] === row.kind[now] && row.microbatch[at] !== row.microbatch[now]);
        if (row.microbatch[at] >= 0 && alike) {
            moveCursor(row.start_s[at]);
            return;
        }
    }
}

/** The selection reaches from where it began to the cursor. @param {1 | -1} direction */
export function extendSelection(direction) {
    const from_s = at_s.value;
    const [low_s, high_s] = selected_s.value ?? [from_s, from_s];
    const fixed_s = from_s === low_s ? high_s : low_s;
    nextEdge(direction);
    selected_s.value = [Math.min(fixed_s, at_s.value), Math.max(fixed_s, at_s.value)];
}

/** Puts a mark at the cursor: A, then B, then A anew. */
export function mark() {
    const marks = marks_s.value.length === 2 ? [] : marks_s.value;
    marks_s.value = [...marks, at_s.value];
}
