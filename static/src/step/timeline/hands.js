/** Pointer, wheel and keys on the timeline. */
import { batch } from "@preact/signals";
import { pause, play, playing } from "../cursor.js";
import { at_s, selected_s, stage, view_s } from "../../state/look.js";
import { panned, zoomed } from "../window.js";
import { detailRows } from "./detail.js";
import { laneAt, timeOf } from "./layout.js";
import { spanAt } from "./rows.js";
import { extendSelection, focusSelected, hovered, lastEnd_s, layout, mark, moveCursor, nextEdge, nextMicrobatch, pan, setView,
    shown, stageShown, viewNow, zoom } from "./shown.js";

/** @typedef {{x: number, y: number}} Spot */
/** @typedef {typeof layout} LayoutSignal  of the drawing that is handled: both share the axis */

/** A press that moves less is a click. */
const CLICK_PX = 3;
const ZOOM_PER_WHEEL_PX = 0.005;
const KEY_ZOOM = 1.5;
const KEY_PAN = 0.15;

/** Stops playing, because what the pointer holds should stay. @param {number} time_s */
function putCursor(time_s) {
    pause();
    at_s.value = Math.max(0, Math.min(time_s, lastEnd_s.value));
}

/** @param {1 | -1} direction */
function nextStage(direction) {
    const stages = [...shown.value.rowsOfStage.keys()];
    const next = stages[stages.indexOf(stageShown.value) + direction];
    if (next !== undefined) stage.value = next;
}

function togglePlaying() {
    if (playing.value) pause();
    else play(lastEnd_s.value);
}

/** @type {Record<string, (shift: boolean) => void>} by key, letters in lower case */
const KEYS = {
    w: () => zoom(1 / KEY_ZOOM),
    s: () => zoom(KEY_ZOOM),
    a: () => pan(-KEY_PAN),
    d: () => pan(KEY_PAN),
    0: () => { view_s.value = null; },
    f: focusSelected,
    m: mark,
    "[": () => nextMicrobatch(-1),
    "]": () => nextMicrobatch(1),
    ArrowLeft: (shift) => (shift ? extendSelection(-1) : nextEdge(-1)),
    ArrowRight: (shift) => (shift ? extendSelection(1) : nextEdge(1)),
    ArrowUp: () => nextStage(-1),
    ArrowDown: () => nextStage(1),
    Home: () => moveCursor(0),
    End: () => moveCursor(lastEnd_s.value),
    " ": togglePlaying,
    Escape: () => { selected_s.value = null; },
};

/** @param {KeyboardEvent} event */
function onKey(event) {
    const does = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!does || event.ctrlKey || event.metaKey || event.altKey || shown.value === null) return;
    event.preventDefault();
    event.stopPropagation();
    does(event.shiftKey);
}

/** The moment at a point of the drawing. @param {number} x */
function timeAt(x) {
    return timeOf(layout.value, viewNow(), x);
}

/** The row at a height: a lane, or a part of the closer look. @param {import("./layout.js").Layout} of @param {number} y */
function rowAt(of, y) {
    const lane = laneAt(of, y);
    if (lane !== null) return lane.row;
    return detailRows.value[of.details.findIndex(({ top, height }) => y >= top && y < top + height)] ?? null;
}

/** What lies under a point. @param {LayoutSignal} of @param {{x: number, y: number}} point */
function under(of, { x, y }) {
    const row = x < of.value.left ? null : rowAt(of.value, y);
    const span = row === null ? -1 : spanAt(row, timeAt(x));
    return span < 0 ? null : { row, span, x, y };
}

/**
 * One press of the pointer, from down to up.
 * @typedef {{doing: "pan" | "select" | "scrub", x: number, y: number, at_s: number, view: [number, number], moved: boolean}} Press
 */

/** @param {Press} press @param {number} x */
function drag(press, x) {
    if (press.doing === "pan") {
        const perPixel_s = (press.view[1] - press.view[0]) / layout.value.plot;
        setView(panned(press.view, (press.x - x) * perPixel_s, lastEnd_s.value));
        return;
    }
    const time_s = timeAt(x);
    if (press.doing === "scrub") putCursor(time_s);
    else selected_s.value = [Math.min(press.at_s, time_s), Math.max(press.at_s, time_s)];
}

/** A click puts the cursor there and chooses the stage. @param {LayoutSignal} of @param {Press} press */
function click(of, press) {
    batch(() => {
        const lane = laneAt(of.value, press.y);
        if (lane !== null) stage.value = lane.row.stage;
        if (press.x < layout.value.left) return;
        if (press.doing === "select") selected_s.value = null;
        putCursor(press.at_s);
    });
}

/** Two fingers: their distance zooms about the point between them. @param {Spot[]} before @param {Spot[]} now */
function pinch(before, now) {
    /** @param {Spot[]} fingers */
    const spread = ([a, b]) => Math.max(8, Math.hypot(a.x - b.x, a.y - b.y));
    const middle_s = timeAt((now[0].x + now[1].x) / 2);
    setView(zoomed(viewNow(), middle_s, spread(before) / spread(now), lastEnd_s.value));
}

/** @param {PointerEvent | WheelEvent} event */
function pointOf(event) {
    const box = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** @param {WheelEvent} event */
function onWheel(event) {
    if (layout.value === null) return;
    const zooms = event.ctrlKey || event.metaKey;
    const pans = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!zooms && !pans) return; /* the page scrolls */
    event.preventDefault();
    if (zooms) zoom(Math.exp(event.deltaY * ZOOM_PER_WHEEL_PX), timeAt(pointOf(event).x));
    else pan((event.deltaX || event.deltaY) / layout.value.plot);
}

/** What listens on a drawing. @param {LayoutSignal} of @returns {Record<string, (event: any) => void>} by attribute */
export function handsOn(of) {
    /** @type {Press | null} */
    let press = null;
    /** @type {Map<number, {x: number, y: number}>} */
    const fingers = new Map();
    /** @param {PointerEvent} event */
    const end = (event) => {
        fingers.delete(event.pointerId);
        if (press !== null && !press.moved && event.type === "pointerup") click(of, press);
        press = null;
    };
    return {
        onPointerDown(event) {
            if (event.button !== 0 || of.value === null) return;
            const { x, y } = pointOf(event);
            fingers.set(event.pointerId, { x, y });
            event.currentTarget.setPointerCapture(event.pointerId);
            const doing = event.shiftKey ? "select" : y < layout.value.lanesTop ? "scrub" : "pan";
            press = { doing, x, y, at_s: timeAt(x), view: viewNow(), moved: false };
        },
        onPointerMove(event) {
            if (of.value === null) return;
            const point = pointOf(event);
            if (fingers.size === 2 && fingers.has(event.pointerId)) {
                const before = [...fingers.values()];
                fingers.set(event.pointerId, point);
                pinch(before, [...fingers.values()]);
                press = null;
                return;
            }
            hovered.value = press === null ? under(of, point) : null;
            if (press === null) return;
            press.moved ||= Math.abs(point.x - press.x) > CLICK_PX;
            if (press.moved) drag(press, point.x);
        },
        onPointerUp: end,
        onPointerCancel: end,
        onPointerLeave() {
            hovered.value = null;
        },
        onWheel,
        onKeyDown: onKey,
    };
}
