/** Parts of both axes of the scatter, kept by drawing over the points; from there on as those of the parallel coordinates. */
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { spotOf, within } from "../widgets/hand.js";
import { axes, keep, keptOf } from "./axes.js";
import { across, EDGES, HEIGHT_PX, place, scales, upwards } from "./shown.js";

/** A hand that means a point moves less than this. */
const LEAST_PX = 6;

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */

/** What is being drawn; null between. @type {import("@preact/signals").Signal<Box | null>} */
const drawn = signal(null);

/** Where the hand went down; null while it is up. @type {{x: number, y: number} | null} */
let down = null;
let brushed = false;

/** Whether the hand that just went up had drawn: then it means no point. */
export const wasBrushed = () => brushed;

/** @param {{name: string}} figure */
const axisOf = ({ name }) => axes.value.find((axis) => axis.name === name);

/**
 * The stops around a part of an axis.
 * @param {import("./axes.js").Axis} axis @param {number} from @param {number} to  values @returns {import("./axes.js").Part}
 */
function stopsAround({ stops }, from, to) {
    const low = stops.findLastIndex((stop) => stop <= from);
    const high = stops.findIndex((stop) => stop >= to);
    return [Math.max(0, low), high < 0 ? stops.length - 1 : high];
}

/** @param {Box} box */
function keepBox({ left, top, right, bottom }) {
    const { inner } = place.value;
    /** @param {{from: number, to: number}} scale @param {number} share */
    const valueOf = ({ from, to }, share) => from + (to - from) * within(share, 0, 1);
    const parts = /** @type {[any, any, number, number][]} */ ([[across.value, scales.value.x, (left - EDGES.left) / inner.width, (right - EDGES.left) / inner.width],
        [upwards.value, scales.value.y, 1 - (bottom - EDGES.top) / inner.height, 1 - (top - EDGES.top) / inner.height]]);
    for (const [figure, scale, from, to] of parts) {
        const axis = axisOf(figure);
        if (axis) keep(axis, stopsAround(axis, valueOf(scale, from), valueOf(scale, to)));
    }
}

/** A finger scrolls the page; it has the axes of the parallel coordinates. @param {PointerEvent} event */
export function onDown(event) {
    brushed = false;
    if (event.pointerType === "touch" || event.button !== 0 || scales.value === null) return;
    down = spotOf(event);
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
}

/** @param {PointerEvent} event @returns {boolean} whether it draws */
export function onMove(event) {
    if (down === null) return false;
    const { x, y } = spotOf(event);
    if (drawn.value === null && Math.hypot(x - down.x, y - down.y) < LEAST_PX) return false;
    drawn.value = { left: Math.min(x, down.x), right: Math.max(x, down.x), top: Math.min(y, down.y), bottom: Math.max(y, down.y) };
    return true;
}

export function onUp() {
    const box = drawn.value;
    down = null;
    drawn.value = null;
    brushed = box !== null;
    if (box) keepBox(box);
}

/** Both axes in full again. */
export function release() {
    for (const figure of [across.value, upwards.value]) {
        const axis = axisOf(figure);
        if (axis) keep(axis, null);
    }
}

/** The part that is kept, and the one being drawn. */
export function Brush() {
    const { left, top, inner } = place.value;
    /** @param {import("./figures.js").Figure} figure */
    const part = (figure) => {
        const axis = axisOf(figure);
        const kept = axis ? keptOf(axis) : null;
        return kept && kept.map((stop) => axis.stops[stop]);
    };
    const [x, y] = [part(across.value), part(upwards.value)];
    const box = drawn.value;
    return html`
        ${x || y ? html`
            <rect class="brush" x=${x ? left(x[0]) : EDGES.left} width=${x ? left(x[1]) - left(x[0]) : inner.width}
                y=${y ? top(y[1]) : EDGES.top} height=${y ? top(y[0]) - top(y[1]) : HEIGHT_PX - EDGES.top - EDGES.bottom} />` : null}
        ${box ? html`
            <rect class="brush drawn" x=${box.left} y=${box.top} width=${box.right - box.left} height=${box.bottom - box.top} />` : null}`;
}
