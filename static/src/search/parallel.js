/** Parallel coordinates: each plan a line across all axes, and parts of axes to keep. */
import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { chosen, hovered, rows } from "./run.js";
import { followWidth } from "../widgets/canvas.js";
import { Fold } from "../widgets/fold.js";
import { onKeys, spotOf, within } from "../widgets/hand.js";
import { ScrollHint } from "../widgets/scroll.js";
import { Help } from "../widgets/words.js";
import { axes, isMatching, keep, kept, keptLast, keptOf } from "./axes.js";
import { pointByKey } from "./shown.js";

const HEIGHT_PX = 300;
const EDGES = { left: 54, right: 54, top: 36, bottom: 14 };
const DEEP_PX = HEIGHT_PX - EDGES.top - EDGES.bottom;

/** Axes nearer than this cannot be told apart: the drawing scrolls instead. */
const LEAST_PX = 75;
const MOST_LABELS = 12;

const wide = signal(0);
const current = signal(0);

/** The first stop of a drag; null between drags. @type {{axis: number, from: number} | null} */
let dragged = null;

const width = computed(() => Math.max(wide.value, EDGES.left + EDGES.right + LEAST_PX * (axes.value.length - 1)));
/** @param {number} at */
const leftOf = (at) => EDGES.left + (at * (width.value - EDGES.left - EDGES.right)) / (axes.value.length - 1);
/** @param {number} share */
const topOf = (share) => EDGES.top + (1 - share) * DEEP_PX;

/** @param {import("./plans.js").Row} row */
function lineOf(row) {
    const marks = axes.value.flatMap((axis, at) => {
        const value = axis.read(row);
        return value === null || value === undefined ? [] : [`${leftOf(at).toFixed(1)} ${topOf(axis.at(value)).toFixed(1)}`];
    });
    return `M${marks.join("L")}`;
}

const paths = computed(() => rows.value.map((row) => ({ key: row.key, path: lineOf(row) })));

function Lines() {
    return keptLast(paths.value).map(({ key, path }) => html`
        <path key=${key} d=${path} class="line ${isMatching.value(key) ? `tone-${pointByKey.value.get(key)?.tone ?? "grey"}` : "off"}" />`);
}

function Lit() {
    /** @param {string} key @param {string} name */
    const lit = (key, name) => {
        const line = paths.value.find((other) => other.key === key);
        return line ? html`<path key=${name} d=${line.path} class="line ${name}" />` : null;
    };
    return html`${lit(chosen.value, "chosen")}${lit(hovered.value, "hovered")}`;
}

/** @param {import("./axes.js").Axis} axis */
function labelsOf({ stops, write }) {
    const every = Math.ceil(stops.length / MOST_LABELS);
    const isFigure = stops.length > MOST_LABELS;
    /** @param {number} at */
    const isLabelled = (at) => (isFigure ? at % (5 * every) === 0 || at === stops.length - 1 : at % every === 0);
    return stops.filter((_, at) => isLabelled(at)).map((value) => ({ value, text: write(value) }));
}

function Rails() {
    return axes.value.map((axis, at) => {
        const part = keptOf(axis);
        const left = leftOf(at);
        const [low, high] = part ? part.map((stop) => topOf(axis.at(axis.stops[stop]))) : [0, 0];
        return html`
            <g key=${axis.name} class="rail" data-current=${at === current.value}>
                <line x1=${left} x2=${left} y1=${EDGES.top} y2=${EDGES.top + DEEP_PX} />
                <text class="axis" x=${left} y=${at % 2 === 0 ? 12 : 26} text-anchor="middle">${axis.label}</text>
                ${labelsOf(axis).map(({ value, text }) => html`
                    <text key=${text} class="tick" x=${left + 5} y=${topOf(axis.at(value)) + 4}>${text}</text>`)}
                ${part ? html`<rect class="kept" x=${left - 6} width="12" y=${high - 3} height=${low - high + 6} />` : null}
            </g>`;
    });
}

/** Moves one end of what is kept of the current axis. @param {0 | 1} end @param {1 | -1} by */
function move(end, by) {
    const axis = axes.value[current.value];
    /** @type {import("./axes.js").Part} */
    const part = [...(keptOf(axis) ?? /** @type {import("./axes.js").Part} */ ([0, axis.stops.length - 1]))];
    part[end] = within(part[end] + by, 0, axis.stops.length - 1);
    if (part[0] <= part[1]) keep(axis, part);
}

/** @param {number} to */
function walk(to) {
    current.value = within(to, 0, axes.value.length - 1);
}

const onKey = onKeys({
    ArrowLeft: () => walk(current.value - 1),
    ArrowRight: () => walk(current.value + 1),
    ArrowUp: (shift) => move(shift ? 1 : 0, 1),
    ArrowDown: (shift) => move(shift ? 1 : 0, -1),
    Backspace: () => keep(axes.value[current.value], null),
});

/** @param {PointerEvent & {currentTarget: Element}} event @returns {{axis: number, stop: number}} */
function placeOf(event) {
    const { x, y } = spotOf(event);
    const axis = within(Math.round((x - EDGES.left) / (leftOf(1) - leftOf(0))), 0, axes.value.length - 1);
    const share = 1 - (y - EDGES.top) / DEEP_PX;
    const { stops, at } = axes.value[axis];
    const nearest = stops.reduce((best, stop, now) => (Math.abs(at(stop) - share) < Math.abs(at(stops[best]) - share) ? now : best), 0);
    return { axis, stop: nearest };
}

/** @param {PointerEvent & {currentTarget: Element}} event */
function onDown(event) {
    const { axis, stop } = placeOf(event);
    dragged = { axis, from: stop };
    current.value = axis;
    event.currentTarget.setPointerCapture(event.pointerId);
    keep(axes.value[axis], [stop, stop]);
}

/** @param {PointerEvent & {currentTarget: Element}} event */
function onMove(event) {
    if (dragged === null) return;
    const { stop } = placeOf(event);
    keep(axes.value[dragged.axis], [Math.min(dragged.from, stop), Math.max(dragged.from, stop)]);
}

function Readout() {
    const axis = axes.value[Math.min(current.value, axes.value.length - 1)];
    const part = keptOf(axis);
    const words = part ? `${axis.write(axis.stops[part[0]])} to ${axis.write(axis.stops[part[1]])} kept` : "all kept";
    return html`<p class="readout" role="status" data-testid="parallel-readout"><b>${axis.label}</b> ${words}</p>`;
}

function Drawing() {
    const box = useRef(/** @type {HTMLElement | null} */ (null));
    useLayoutEffect(() => followWidth(box.current, (now) => { wide.value = now; }), []);
    return html`
        <${ScrollHint} over=${width.value > wide.value} />
        <div ref=${box} class="across">
            <div class="plot" tabindex="0" role="application" aria-label="Plans across all axes" aria-describedby="parallel-keys"
                 data-testid="parallel" onKeyDown=${onKey} onPointerDown=${onDown} onPointerMove=${onMove}
                 onPointerUp=${() => { dragged = null; }}>
                <svg width=${width.value} height=${HEIGHT_PX} aria-hidden="true" focusable="false">
                    <${Lines} /><${Lit} /><${Rails} />
                </svg>
            </div>
        </div>
        <${Readout} />
        <p class="hint muted" id="parallel-keys"><${Help} of="parallel" /></p>`;
}

/** What is kept, each to be let go. */
export function Kept() {
    if (kept.value.length === 0) return null;
    return html`
        <ul class="kept-parts" aria-label="Parts that are kept">${kept.value.map(({ axis, part: [low, high] }) => {
            const words = `${axis.label} ${axis.write(axis.stops[low])}${high > low ? ` – ${axis.write(axis.stops[high])}` : ""}`;
            return html`<li key=${axis.name}><button type="button" class="chip-button" onClick=${() => keep(axis, null)}>${words}
                <span aria-hidden="true"> ✕</span><span class="visually-hidden">: keep all of it</span></button></li>`;
        })}</ul>`;
}

export function Parallel() {
    if (axes.value.length < 2) return null;
    return html`<${Fold} title="All dimensions at once" count=${axes.value.length} testid="parallel-fold">${() => html`<${Drawing} />`}<//>`;
}
