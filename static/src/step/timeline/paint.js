/** Draws the timeline: the lanes, a closer look at one stage, the memory of that stage. */
import { exact, UNIT_BYTES } from "../../units.js";
import { wordsOf } from "../../words.js";
import { brush, colour, FONT, inkOn, pictureOf, pixelOf, pixelRatio, showLines } from "../../widgets/canvas.js";
import { ticks } from "../../widgets/charts.js";
import { axisTimes } from "./axis.js";
import { kindLook, laneName } from "./kinds.js";
import { xOf } from "./layout.js";
import { countUpTo, fillRuns, runsFor, SHARED } from "./rows.js";

const LETTER_PX = 20;
const NAME_PX = 10;
const SEPARATED_PX = 4;
const TICK_PX = 110;

/**
 * @typedef {import("./layout.js").Layout} Layout
 * @typedef {import("./rows.js").Timeline} Timeline
 * @typedef {import("./rows.js").Row} Row
 * @typedef {{timeline: Timeline, layout: Layout, view: [number, number], end_s: number, stage: number, unit: "GiB" | "GB",
 *            details: Row[], operators: string[], far: string, kept: string}} Scene
 *   kept: what the staircase is called; end_s of the axis, details and operators of the closer look at the stage, far: why there is none
 *
 * @typedef {{letter: string, fill: string | CanvasPattern, plain: string, edge: string, ink: string, pixel: number}} Painted
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
        const { width } = context.measureText(text);
        context.fillText(text, x + width < layout.width ? x + 3 : x - width - 3, 13);
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

/**
 * The columns that several spans share, as a line of a picture.
 * @param {import("../../widgets/canvas.js").Picture} picture @param {import("./rows.js").Runs} runs
 * @param {number[]} pixels  of each kind @param {number} line
 */
export function lineOf({ pixels: out, image }, runs, pixels, line) {
    const start = line * image.width;
    for (let at = 0; at < runs.count; at += 1) {
        if (runs.span[at] !== SHARED) continue;
        const pixel = pixels[runs.kind[at]] & 0xffffff | runs.shade[at] << 24;
        /* Most runs are a few columns long: filling them otherwise takes longer. */
        for (let column = runs.from[at]; column < runs.to[at]; column += 1) out[start + column] = pixel;
    }
}

/** What each kind is painted with: for one list of kinds and the colour of one. @type {{kinds: string[], ground: string, painted: Painted[]}} */
let palette = { kinds: [], ground: "", painted: [] };

/** @param {string[]} kinds @returns {Painted[]} */
function paintedOf(kinds) {
    const ground = colour("panel"); /* another in another theme */
    if (palette.kinds !== kinds || palette.ground !== ground) palette = { kinds, ground, painted: kinds.map((name) => {
        const look = kindLook(name);
        const plain = colour(look.tone);
        return { letter: look.letter, fill: brush(look), plain, edge: colour(`${look.tone}-edge`), ink: inkOn(plain), pixel: pixelOf(plain) };
    }) };
    return palette.painted;
}

/** What stands in a span, the longest first: operator or letter and micro-batch, then where in the model. @param {import("./rows.js").Row} row @param {number} span @param {string} letter @param {string[]} operators */
function textsOf(row, span, letter, operators) {
    if (row.step[span] >= 0) return [`step ${row.step[span]}`, String(row.step[span])];
    if (row.operator[span] >= 0) {
        const name = wordsOf(operators[row.operator[span]]);
        return row.layer[span] < 0 ? [name] : [`${name}, layer ${row.layer[span]}`, name];
    }
    if (row.detailed && row.stream === "compute") return ["waits"];
    const short = row.microbatch[span] < 0 ? letter : `${letter}${row.microbatch[span]}`;
    const layer = row.layer[span] < 0 ? short : `${short} layer ${row.layer[span]}`;
    return [row.chunk[span] > 0 ? `${short} chunk ${row.chunk[span]}` : layer, short];
}

/**
 * The spans wide enough to be drawn by themselves, with an edge and where there is room a letter.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {Painted[]} painted
 * @param {import("./layout.js").Placed} placed @param {import("./rows.js").Runs} runs
 */
function paintSpans(context, { layout, operators }, painted, { row, top, height }, runs) {
    const ratio = pixelRatio();
    const room = height > 5 ? 1 : 0;
    for (let at = 0; at < runs.count; at += 1) {
        const span = runs.span[at];
        if (span === SHARED) continue;
        const { letter, fill, plain, edge, ink } = painted[runs.kind[at]];
        const x = layout.left + runs.from[at] / ratio;
        const width = (runs.to[at] - runs.from[at]) / ratio;
        context.fillStyle = fill;
        context.fillRect(x, top, width, height - room);
        if (width < SEPARATED_PX) continue;
        context.fillStyle = edge;
        context.fillRect(x, top, 1, height - room);
        if (width < LETTER_PX || height < 12) continue;
        const text = textsOf(row, span, letter, operators).find((each) => context.measureText(each).width <= width - 4);
        if (text === undefined) continue;
        if (fill !== plain) { /* words are not read across a hatch */
            const written = context.measureText(text).width + 4;
            context.fillStyle = plain;
            context.fillRect(x + (width - written) / 2, top + 1, written, height - room - 2);
        }
        context.fillStyle = ink;
        context.fillText(text, x + width / 2, top + height / 2 + 3.5);
    }
}

/** What was made for lanes, by their number: it serves every frame until the size of the drawing is another. @type {Map<number, {columns: number, kinds: number, runs: import("./rows.js").Runs, picture: import("../../widgets/canvas.js").Picture}>} */
const worked = new Map();

/** @param {number} columns @param {number} kinds @param {number} lanes */
function workOn(columns, kinds, lanes) {
    const last = worked.get(lanes);
    if (last?.columns === columns && last.kinds === kinds) {
        last.picture.pixels.fill(0);
        return last;
    }
    if (worked.size > 3) worked.clear(); /* of what is no longer drawn */
    const work = { columns, kinds, runs: runsFor(columns, kinds), picture: pictureOf(columns, lanes) };
    worked.set(lanes, work);
    return work;
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {import("./layout.js").Placed[]} lanes */
function paintLanes(context, scene, lanes) {
    const { timeline, layout, view } = scene;
    const ratio = pixelRatio();
    const columns = Math.round(layout.plot * ratio);
    const { runs, picture } = workOn(columns, timeline.kinds.length, lanes.length);
    const painted = paintedOf(timeline.kinds);
    const pixels = painted.map(({ pixel }) => pixel);
    context.font = FONT;
    context.textAlign = "center";
    const places = lanes.map((placed, line) => {
        const room = placed.height > 5 ? 1 : 0;
        if (room > 0) {
            context.fillStyle = colour("raised");
            context.fillRect(layout.left, placed.top, layout.plot, placed.height - room);
        }
        fillRuns(placed.row, view[0], view[1], columns, runs);
        lineOf(picture, runs, pixels, line);
        paintSpans(context, scene, painted, placed, runs);
        const top = Math.round(placed.top * ratio);
        return { top, height: Math.round((placed.top + placed.height - room) * ratio) - top };
    });
    context.textAlign = "left";
    showLines(context, picture, Math.round(layout.left * ratio), places);
}

const DETAIL_NAMES = ["operators", "ring steps"];

/** The operators of the chosen stage, or why they are not there. @param {CanvasRenderingContext2D} context @param {Scene} scene */
function paintDetails(context, scene) {
    const { layout, details, far } = scene;
    context.font = FONT;
    layout.details.forEach(({ top, height }, at) => {
        context.fillStyle = colour("raised");
        context.fillRect(layout.left, top, layout.plot, height);
        context.fillStyle = colour("muted");
        context.textAlign = "right";
        context.fillText(DETAIL_NAMES[at], layout.left - 8, top + height / 2 + 3.5);
        context.textAlign = "left";
        if (!details[at]) context.fillText(far, layout.left + 6, top + height / 2 + 3.5);
    });
    paintLanes(context, scene, details.map((row, at) => ({ row, ...layout.details[at] })));
}

/** What passes keep on the chosen stage. @param {CanvasRenderingContext2D} context @param {Scene} scene */
function paintStairs(context, { timeline, layout, view, stage, unit, kept }) {
    const stairs = timeline.stairsOfStage.get(stage);
    if (!stairs) return;
    const { stairsTop: top, stairsEnd: end, left, plot } = layout;
    let most = 0;
    for (const bytes of stairs.bytes) most = Math.max(most, bytes);
    /** @param {number} bytes */
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
    context.fillText(`${kept}, stage ${stage}, ${unit}`, left + 4, top - 5);
    context.textAlign = "right";
    for (const tick of ticks(most / UNIT_BYTES[unit], 3)) {
        context.fillText(exact(tick), left - 6, y(tick * UNIT_BYTES[unit]) + 3);
    }
    context.textAlign = "left";
    context.fillStyle = colour("line-strong");
    context.fillRect(left, end, plot, 1);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene */
export function paintScene(context, scene) {
    paintAxis(context, scene);
    paintNames(context, scene);
    paintLanes(context, scene, scene.layout.lanes);
    paintDetails(context, scene);
    paintStairs(context, scene);
}
