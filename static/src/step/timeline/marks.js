/** What lies over the timeline and changes with the pointer and the cursor; and the mini-map. */
import { colour, contextOf, FONT, pictureOf, pixelOf, pixelRatio, showLines } from "../../widgets/canvas.js";
import { kindLook } from "./kinds.js";
import { xOf } from "./layout.js";
import { lineOf } from "./paint.js";
import { fillRuns, runsFor, SHARED } from "./rows.js";

const STEADY_PX = 4;

/** @typedef {import("./paint.js").Scene} Scene */

/** A moment with a letter of its own, one above the other. @param {CanvasRenderingContext2D} context @param {Scene} scene @param {number} time_s @param {number} at */
function paintFlag(context, { layout, view }, time_s, at) {
    if (time_s < view[0] || time_s > view[1]) return;
    const x = Math.round(xOf(layout, view, time_s));
    const end = layout.stairsEnd - 13 * at;
    context.fillStyle = colour("accent");
    context.fillRect(x - 0.5, layout.lanesTop - 6, 1, layout.stairsEnd - layout.lanesTop + 6);
    context.fillRect(x, end - 13, 13, 13);
    context.fillStyle = colour("on-accent");
    context.font = `600 ${FONT}`;
    context.fillText("AB"[at], x + 3, end - 3);
}

/** Where moments stand, those out of view at its edges. @param {Scene} scene @param {number[]} times_s */
function edgesOf({ layout, view }, times_s) {
    return times_s.map((time_s) => Math.max(layout.left, Math.min(layout.left + layout.plot, xOf(layout, view, time_s))));
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {[number, number]} selected */
function paintSelected(context, scene, selected) {
    const { layout } = scene;
    const tall = layout.stairsEnd - layout.lanesTop;
    const [from, to] = edgesOf(scene, selected);
    context.globalAlpha = 0.16;
    context.fillStyle = colour("accent");
    context.fillRect(from, layout.lanesTop, to - from, tall);
    context.globalAlpha = 1;
    for (const x of [from, to]) context.fillRect(x - 0.5, layout.lanesTop, 1, tall);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {any} hovered */
function paintHovered(context, scene, { row, span }) {
    const { layout, details } = scene;
    const detail = details.indexOf(row);
    const lane = detail >= 0 ? layout.details[detail] : layout.lanes.find((placed) => placed.row === row);
    if (!lane) return;
    const [from, to] = edgesOf(scene, [row.start_s[span], row.end_s[span]]);
    context.strokeStyle = colour("text");
    context.lineWidth = 2;
    context.strokeRect(from, lane.top, Math.max(1, to - from), Math.max(2, lane.height - 1));
}

/** @typedef {{at_s: number, selected: [number, number] | null, hovered: any, marks_s: number[]}} Marks */

/** Whether any of them is in view: while a view moves past none, their canvas costs nothing. @param {Scene} scene @param {Marks} marks */
export function anyMark({ view }, { at_s, selected, hovered, marks_s }) {
    return selected !== null || hovered !== null || [at_s, ...marks_s].some((time_s) => time_s >= view[0] && time_s <= view[1]);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {Marks} marks */
export function paintMarks(context, scene, { at_s, selected, hovered, marks_s }) {
    const { layout, view } = scene;
    if (selected !== null) paintSelected(context, scene, selected);
    if (hovered !== null) paintHovered(context, scene, hovered);
    marks_s.forEach((time_s, at) => paintFlag(context, scene, time_s, at));
    if (at_s < view[0] || at_s > view[1]) return;
    const x = Math.round(xOf(layout, view, at_s));
    context.fillStyle = colour("bad");
    context.fillRect(x - 1, layout.lanesTop - 6, 2, layout.stairsEnd - layout.lanesTop + 6);
    context.beginPath();
    context.moveTo(x - 5, layout.lanesTop - 8);
    context.lineTo(x + 5, layout.lanesTop - 8);
    context.lineTo(x, layout.lanesTop - 1);
    context.fill();
}

/** @param {Scene} scene @param {number} time_s  of the whole step */
const wholeX = ({ layout, end_s }, time_s) => xOf(layout, [0, end_s], time_s);

/**
 * Every stage over the whole step, which no zoom changes: a line for each, as many as there is room for, with the steady
 * state underlined. A canvas, as it is laid under the part in view frame by frame.
 * @param {Scene} scene @param {number} height
 */
export function miniPicture(scene, height) {
    const { timeline, layout, end_s } = scene;
    const ratio = pixelRatio();
    const down = Math.round((height - STEADY_PX) * ratio);
    const all = timeline.rows.filter((row) => row.stream === "compute");
    /** @param {number} at @param {number} of */
    const topOf = (at, of) => Math.floor((at * down) / of);
    const rows = all.filter((_, at) => topOf(at, all.length) < topOf(at + 1, all.length));
    const columns = Math.round(layout.plot * ratio);
    const picture = pictureOf(columns, rows.length);
    const runs = runsFor(columns, timeline.kinds.length);
    const pixels = timeline.kinds.map((name) => pixelOf(colour(kindLook(name).tone)));
    picture.pixels.fill(pixelOf(colour("raised")));
    rows.forEach((row, at) => {
        fillRuns(row, 0, end_s, columns, runs);
        runs.span.fill(SHARED);
        lineOf(picture, runs, pixels, at);
    });
    const canvas = document.createElement("canvas");
    const context = contextOf(canvas, layout.width, height);
    showLines(context, picture, Math.round(layout.left * ratio), rows.map((_, line) => {
        const top = Math.round((line * down) / rows.length);
        return { top, height: Math.round(((line + 1) * down) / rows.length) - top };
    }));
    if (timeline.steady_s !== null) {
        const [from, to] = timeline.steady_s.map((time_s) => wholeX(scene, time_s));
        context.fillStyle = colour("good");
        context.fillRect(from, height - STEADY_PX + 1, to - from, STEADY_PX - 1);
        for (const at of [from, to]) context.fillRect(at - 1, height - 2 * STEADY_PX, 2, 2 * STEADY_PX);
    }
    return canvas;
}

/**
 * The whole step, with the part in view left clear.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {HTMLCanvasElement} picture @param {number} height
 */
export function paintMini(context, scene, picture, height) {
    const { layout, view } = scene;
    context.drawImage(picture, 0, 0, layout.width, height);
    const from = wholeX(scene, view[0]);
    const to = Math.max(from + 2, wholeX(scene, view[1]));
    context.globalAlpha = 0.7;
    context.fillStyle = colour("panel");
    context.fillRect(layout.left, 0, from - layout.left, height);
    context.fillRect(to, 0, layout.left + layout.plot - to, height);
    context.globalAlpha = 1;
    context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    context.strokeRect(from, 1, to - from, height - 2);
    context.fillStyle = colour("muted");
    context.font = FONT;
    context.fillText("whole step", 6, height / 2 + 4);
}
