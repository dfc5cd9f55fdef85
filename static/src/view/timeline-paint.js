/** Draws the timeline: the lanes and the memory below, the cursor and selection above, the mini-map. */
import { gigabytes } from "../units.js";
import { brush, colour, inkOn, pictureOf, pixelOf, pixelRatio, repeatLine, showPicture } from "./canvas.js";
import { ticks } from "./charts.js";
import { axisTimes } from "./timeline-axis.js";
import { kindLook, laneName } from "./timeline-kinds.js";
import { xOf } from "./timeline-layout.js";
import { countUpTo, fillRuns, runsFor, SHARED } from "./timeline-rows.js";

const FONT = "11px system-ui, sans-serif";
const LETTER_PX = 20;
const NAME_PX = 10;
const SEPARATED_PX = 4;
const TICK_PX = 110;
const UNIT_BYTES = { GiB: 2 ** 30, GB: 1e9 };

/**
 * @typedef {import("./timeline-layout.js").Layout} Layout
 * @typedef {import("./timeline-rows.js").Timeline} Timeline
 * @typedef {{timeline: Timeline, layout: Layout, view: [number, number], stage: number, unit: "GiB" | "GB"}} Scene
 */

/** @param {CanvasRenderingContext2D} context @param {Scene} scene */
function paintAxis(context, { layout, view }) {
    context.font = FONT;
    context.textAlign = "left";
    for (const { at_s, text } of axisTimes(view, Math.max(2, layout.plot / TICK_PX))) {
        const x = Math.round(xOf(layout, view, at_s)) + 0.5;
        context.fillStyle = colour("line");
        context.fillRect(x - 0.5, layout.lanesTop - 5, 1, layout.stairsEnd - layout.lanesTop + 5);
        context.fillStyle = colour("muted");
        if (x + context.measureText(text).width < layout.width) context.fillText(text, x + 3, 13);
    }
}

/** @param {CanvasRenderingContext2D} context @param {Layout} layout @param {number} stage */
function paintChosen(context, layout, stage) {
    const own = layout.lanes.filter(({ row }) => row.stage === stage);
    if (own.length === 0) return;
    const top = own[0].top - 1;
    context.fillStyle = colour("accent-soft");
    context.fillRect(0, top, layout.left - 4, own.at(-1).top + own.at(-1).height + 1 - top);
}

/** Names of stages and lanes, as many as there is room for. @param {CanvasRenderingContext2D} context @param {Scene} scene */
function paintNames(context, { layout, stage }) {
    let free = 0;
    paintChosen(context, layout, stage);
    for (const { row, top, height } of layout.lanes) {
        const computes = row.stream === "compute";
        const chosen = row.stage === stage && computes;
        const middle = top + height / 2;
        if (middle - NAME_PX / 2 < free || (!computes && height < NAME_PX)) continue;
        free = middle + NAME_PX / 2;
        context.font = chosen ? `600 ${FONT}` : FONT;
        context.fillStyle = colour(chosen ? "accent" : "muted");
        context.textAlign = computes ? "left" : "right";
        context.fillText(computes ? `stage ${row.stage}` : laneName(row), computes ? 6 : layout.left - 8, middle + 3.5);
    }
    context.textAlign = "left";
}

/** The columns that several spans share, as one line of a picture. */
function lineOf(picture, runs, pixels, top) {
    const start = top * picture.image.width;
    for (let at = 0; at < runs.count; at += 1) {
        if (runs.span[at] === SHARED) picture.pixels.fill(pixels[runs.kind[at]], start + runs.from[at], start + runs.to[at]);
    }
}

/** What stands in a span, the longest first: letter and micro-batch, then where in the model. */
function textsOf(row, span, letter) {
    const short = row.microbatch[span] < 0 ? letter : `${letter}${row.microbatch[span]}`;
    const layer = row.layer[span] < 0 ? short : `${short} layer ${row.layer[span]}`;
    return [row.chunk[span] > 0 ? `${short} chunk ${row.chunk[span]}` : layer, short];
}

/**
 * The spans wide enough to be drawn by themselves, with an edge and where there is room a letter.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene
 * @param {import("./timeline-layout.js").Placed} placed @param {import("./timeline-rows.js").Runs} runs
 */
function paintSpans(context, { layout, timeline }, { row, top, height }, runs) {
    const ratio = pixelRatio();
    const room = height > 5 ? 1 : 0;
    for (let at = 0; at < runs.count; at += 1) {
        const span = runs.span[at];
        if (span === SHARED) continue;
        const look = kindLook(timeline.kinds[runs.kind[at]]);
        const x = layout.left + runs.from[at] / ratio;
        const width = (runs.to[at] - runs.from[at]) / ratio;
        context.fillStyle = brush(look);
        context.fillRect(x, top, width, height - room);
        if (width < SEPARATED_PX) continue;
        context.fillStyle = colour(`${look.tone}-edge`);
        context.fillRect(x, top, 1, height - room);
        if (width < LETTER_PX || height < 12) continue;
        const text = textsOf(row, span, look.letter).find((each) => context.measureText(each).width <= width - 4);
        if (text === undefined) continue;
        context.fillStyle = inkOn(colour(look.tone));
        context.fillText(text, x + width / 2, top + height / 2 + 3.5);
    }
}

/** The colour of each kind as pixels. @param {Timeline} timeline */
function pixelsOf(timeline) {
    return timeline.kinds.map((name) => pixelOf(colour(kindLook(name).tone)));
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene */
function paintLanes(context, scene) {
    const { timeline, layout, view } = scene;
    const ratio = pixelRatio();
    const columns = Math.round(layout.plot * ratio);
    const runs = runsFor(columns, timeline.kinds.length);
    const pixels = pixelsOf(timeline);
    const picture = pictureOf(columns, Math.round((layout.lanesEnd - layout.lanesTop) * ratio));
    context.font = FONT;
    context.textAlign = "center";
    for (const placed of layout.lanes) {
        const room = placed.height > 5 ? 1 : 0;
        const top = Math.round((placed.top - layout.lanesTop) * ratio);
        if (room > 0) {
            context.fillStyle = colour("raised");
            context.fillRect(layout.left, placed.top, layout.plot, placed.height - room);
        }
        fillRuns(placed.row, view[0], view[1], columns, runs);
        lineOf(picture, runs, pixels, top);
        repeatLine(picture, top, Math.round((placed.top + placed.height - room - layout.lanesTop) * ratio));
        paintSpans(context, scene, placed, runs);
    }
    context.textAlign = "left";
    showPicture(context, picture, Math.round(layout.left * ratio), Math.round(layout.lanesTop * ratio));
}

/** The activations in flight on the chosen stage. @param {CanvasRenderingContext2D} context @param {Scene} scene */
function paintStairs(context, { timeline, layout, view, stage, unit }) {
    const stairs = timeline.stairsOfStage.get(stage);
    if (!stairs) return;
    const { stairsTop: top, stairsEnd: end, left, plot } = layout;
    let most = 0;
    for (const bytes of stairs.bytes) most = Math.max(most, bytes);
    const y = (bytes) => end - (bytes / Math.max(1, most * 1.1)) * (end - top);
    context.save();
    context.beginPath();
    context.rect(left, top, plot, end - top);
    context.clip();
    context.beginPath();
    const first = Math.max(0, countUpTo(stairs.at_s, view[0]) - 1);
    let before = first > 0 ? stairs.bytes[first - 1] : 0;
    context.moveTo(left, end);
    context.lineTo(left, y(before));
    for (let at = first; at < stairs.at_s.length && stairs.at_s[at] <= view[1]; at += 1) {
        const x = xOf(layout, view, stairs.at_s[at]);
        context.lineTo(x, y(before));
        before = stairs.bytes[at];
        context.lineTo(x, y(before));
    }
    context.lineTo(left + plot, y(before));
    context.lineTo(left + plot, end);
    context.closePath();
    context.fillStyle = colour("orange");
    context.fill();
    context.strokeStyle = colour("orange-edge");
    context.stroke();
    context.restore();
    context.fillStyle = colour("muted");
    context.font = FONT;
    context.fillText(`Activations, stage ${stage}, ${unit}`, left, top - 5);
    context.textAlign = "right";
    for (const tick of ticks(most / UNIT_BYTES[unit], 2)) {
        context.fillText(gigabytes(tick * UNIT_BYTES[unit], unit), left - 6, y(tick * UNIT_BYTES[unit]) + 3);
    }
    context.textAlign = "left";
    context.fillStyle = colour("line-strong");
    context.fillRect(left, end, plot, 1);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene */
export function paintScene(context, scene) {
    paintAxis(context, scene);
    paintNames(context, scene);
    paintLanes(context, scene);
    paintStairs(context, scene);
}

/**
 * What changes with the pointer and the cursor, on a canvas of its own.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene
 * @param {{at_s: number, selected: [number, number] | null, hovered: any}} marks
 */
export function paintMarks(context, { layout, view }, { at_s, selected, hovered }) {
    const right = layout.left + layout.plot;
    const held = (time_s) => Math.max(layout.left, Math.min(right, xOf(layout, view, time_s)));
    const tall = layout.stairsEnd - layout.lanesTop;
    if (selected !== null) {
        const [from, to] = selected.map(held);
        context.globalAlpha = 0.16;
        context.fillStyle = colour("accent");
        context.fillRect(from, layout.lanesTop, to - from, tall);
        context.globalAlpha = 1;
        for (const x of [from, to]) context.fillRect(x - 0.5, layout.lanesTop, 1, tall);
    }
    const lane = hovered === null ? null : layout.lanes.find(({ row }) => row === hovered.row);
    if (lane) {
        const from = held(lane.row.start_s[hovered.span]);
        const to = held(lane.row.end_s[hovered.span]);
        context.strokeStyle = colour("text");
        context.lineWidth = 2;
        context.strokeRect(from, lane.top, Math.max(1, to - from), Math.max(2, lane.height - 1));
    }
    if (at_s < view[0] || at_s > view[1]) return;
    const x = Math.round(xOf(layout, view, at_s));
    context.fillStyle = colour("bad");
    context.fillRect(x - 1, layout.lanesTop - 6, 2, tall + 6);
    context.beginPath();
    context.moveTo(x - 5, layout.lanesTop - 8);
    context.lineTo(x + 5, layout.lanesTop - 8);
    context.lineTo(x, layout.lanesTop - 1);
    context.fill();
}

/**
 * Every stage over the whole step, which no zoom changes.
 * @param {Scene} scene @param {number} height
 */
export function miniPicture({ timeline, layout }, height) {
    const ratio = pixelRatio();
    const rows = timeline.rows.filter((row) => row.stream === "compute");
    const columns = Math.round(layout.plot * ratio);
    const picture = pictureOf(columns, Math.round(height * ratio));
    const runs = runsFor(columns, timeline.kinds.length);
    const pixels = pixelsOf(timeline);
    picture.pixels.fill(pixelOf(colour("raised")));
    const topOf = (at) => Math.floor((at * picture.image.height) / rows.length);
    rows.forEach((row, at) => {
        if (topOf(at) === topOf(at + 1)) return; /* more stages than lines */
        fillRuns(row, 0, timeline.end_s, columns, runs);
        runs.span.fill(SHARED);
        lineOf(picture, runs, pixels, topOf(at));
        repeatLine(picture, topOf(at), topOf(at + 1));
    });
    return picture;
}

/**
 * The whole step, with the part in view left clear.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {import("./canvas.js").Picture} picture @param {number} height
 */
export function paintMini(context, { timeline, layout, view }, picture, height) {
    showPicture(context, picture, Math.round(layout.left * pixelRatio()), 0);
    const whole = [0, timeline.end_s];
    const from = xOf(layout, whole, view[0]);
    const to = Math.max(from + 2, xOf(layout, whole, view[1]));
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
