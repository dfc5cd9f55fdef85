/** Draws the map: the cells, and above them what is lit and chosen. */
import { brush, colour, FONT, inkOn, pictureOf, pixelOf, pixelRatio } from "../../widgets/canvas.js";
import { EDGED_PX } from "./cells.js";
import { kindLook } from "../timeline/kinds.js";
import { faceColour } from "./shown.js";

const TEXT_PX = 16;

/** Of a letter, from the middle of its cell. */
const LETTER = { half: 6, above: 7, high: 13 };

/** How far across a cell lines run: in its middle where it has no letter. @param {import("./cells.js").Cells} cells */
const lineAt = (cells) => (cells.cell - cells.space) * (cells.cell < TEXT_PX ? 0.5 : 0.85);

/** @param {CanvasRenderingContext2D} context @param {import("./cells.js").Cells} cells @param {import("./cells.js").Place[]} places */
function paintLabels(context, cells, places) {
    context.font = FONT;
    context.fillStyle = colour("muted");
    const room = cells.blockWidth - 4;
    /** @param {number} node */
    const text = (node) => (context.measureText(`node ${node}`).width <= room ? `node ${node}` : String(node));
    places.forEach((place, at) => {
        if (place.local_rank === 0 && cells.x[at] >= 0) context.fillText(text(place.node), cells.x[at], cells.y[at] - 4);
    });
}

/** The picture of small cells, as long as they stand where they do. @type {{of: import("./cells.js").Cells | null, picture: import("../../widgets/canvas.js").Picture | null}} */
let small = { of: null, picture: null };

/**
 * Cells without edges and letters as one picture: told one by one, 10^4 of them take a browser longer than a frame.
 * @param {CanvasRenderingContext2D} context @param {import("./cells.js").Cells} cells
 * @param {Map<number, number[]>} alike @param {Map<number, import("./shown.js").Face>} faces
 */
function paintSmall(context, cells, alike, faces) {
    const { canvas } = context;
    if (small.of !== cells || small.picture.image.width !== canvas.width) small = { of: cells, picture: pictureOf(canvas.width, canvas.height) };
    const { image, pixels } = small.picture;
    const { width } = image;
    const ratio = pixelRatio();
    const side = Math.max(1, Math.round((cells.cell - cells.space) * ratio));
    for (const [value, list] of alike) {
        const pixel = pixelOf(faceColour(faces.get(value)));
        for (const at of list) {
            if (!(cells.x[at] >= 0)) continue;
            const left = Math.round(cells.x[at] * ratio);
            const across = Math.min(side, width - left);
            for (let down = 0; down < side; down += 1) {
                const start = (Math.round(cells.y[at] * ratio) + down) * width + left;
                for (let column = 0; column < across; column += 1) pixels[start + column] = pixel;
            }
        }
    }
    context.putImageData(image, 0, 0);
}

/**
 * One change of the brush for all cells that look alike.
 * @param {CanvasRenderingContext2D} context @param {import("./cells.js").Cells} cells @param {import("./cells.js").Place[]} places
 * @param {Map<number, number[]>} alike @param {Map<number, import("./shown.js").Face>} faces
 */
export function paintCells(context, cells, places, alike, faces) {
    const side = cells.cell - cells.space;
    if (cells.label > 0) paintLabels(context, cells, places);
    context.textAlign = "center";
    const edged = cells.cell >= EDGED_PX;
    if (!edged) paintSmall(context, cells, alike, faces);
    for (const [value, list] of alike) {
        const face = faces.get(value);
        if (!edged && !face.hatched) continue;
        const plain = faceColour(face);
        context.fillStyle = face.hatched ? brush(face) : plain;
        for (const at of list) context.fillRect(cells.x[at], cells.y[at], side, side);
        if (edged) {
            context.strokeStyle = colour(face.shade === undefined && face.text !== "" ? `${face.tone}-edge` : "line-strong");
            context.lineWidth = 1;
            for (const at of list) context.strokeRect(cells.x[at] + 0.5, cells.y[at] + 0.5, side - 1, side - 1);
        }
        if (cells.cell < TEXT_PX || face.text === "") continue;
        context.font = FONT;
        context.fillStyle = inkOn(plain);
        for (const at of list) context.fillText(face.text, cells.x[at] + side / 2, cells.y[at] + side / 2 + 4, side - 2);
    }
    context.textAlign = "left";
}

/** Never beyond the edge of the map. @param {CanvasRenderingContext2D} context @param {import("./cells.js").Cells} cells @param {number} at @param {number} line  its width, below 0 within the cell */
function outline(context, cells, at, line) {
    const end = cells.cell - cells.space + line / 2;
    const [x, y] = [cells.x[at], cells.y[at]];
    const left = Math.max(x - line / 2, line / 2);
    const top = Math.max(y - line / 2, line / 2);
    context.lineWidth = Math.abs(line);
    context.strokeRect(left, top, x + end - left, y + end - top);
}

/** From member to member, past the letters of the cells. @param {CanvasRenderingContext2D} context @param {import("./cells.js").Cells} cells @param {number[]} members */
function paintCommunicator(context, cells, members) {
    const line = lineAt(cells);
    const inView = members.filter((at) => cells.x[at] >= 0);
    context.beginPath();
    for (const at of inView) context.lineTo(cells.x[at] + line, cells.y[at] + line);
    context.stroke();
}

/** From member to member of a larger group, lines over small cells are all that is seen: each is marked by itself. */
const MOST_LINED = 128;

/**
 * Links within a node or domain are drawn thin, the network thick and broken; the letters below stay readable.
 * @param {CanvasRenderingContext2D} context @param {import("./cells.js").Cells} cells @param {any[]} moves
 */
function paintMoves(context, cells, moves) {
    const small = cells.cell < TEXT_PX;
    const thin = small ? 0.5 : 1;
    context.lineJoin = "round";
    for (const { kind, level, members } of moves) {
        if (small && members.length > MOST_LINED) {
            context.setLineDash([]);
            context.strokeStyle = colour("text");
            for (const at of members) outline(context, cells, at, 1);
            continue;
        }
        context.setLineDash(level === "network" ? [6, 3] : []);
        const tone = colour(kindLook(kind).tone);
        const lines = /** @type {[number, string][]} */ ([[level === "network" ? 5 : 3.5, inkOn(tone)], [level === "network" ? 3 : 1.5, tone]]);
        for (const [line, stroke] of lines) {
            context.lineWidth = line * thin;
            context.strokeStyle = stroke;
            paintCommunicator(context, cells, members);
        }
    }
    context.setLineDash([]);
    const middle = (cells.cell - cells.space) / 2;
    if (!small) cells.x.forEach((x, at) => context.clearRect(x + middle - LETTER.half, cells.y[at] + middle - LETTER.above, 2 * LETTER.half, LETTER.high));
}

/**
 * @param {CanvasRenderingContext2D} context @param {import("./cells.js").Cells} cells
 * @param {{lit: {all: number[], same: Set<number>, ring: number[]}, moves: any[], chosen: number, pointed: number}} marks
 */
export function paintLit(context, cells, { lit, moves, chosen, pointed }) {
    const side = cells.cell - cells.space;
    if (lit.all.length > 0) {
        context.fillStyle = colour("panel");
        context.globalAlpha = 0.72;
        context.fillRect(0, 0, cells.width, cells.height);
        context.globalAlpha = 1;
        const line = Math.min(2, side / 3);
        for (const at of lit.all) {
            /* In its own colour, with its letter, and edged within: beside it may be another. */
            context.clearRect(cells.x[at], cells.y[at], side, side);
            context.strokeStyle = colour(lit.same.has(at) ? "vermillion" : "text");
            outline(context, cells, at, -line);
        }
        context.strokeStyle = colour("text");
        context.lineWidth = 1;
        paintCommunicator(context, cells, lit.ring);
    } else {
        paintMoves(context, cells, moves);
    }
    context.strokeStyle = colour("text");
    if (pointed >= 0) outline(context, cells, pointed, 1);
    context.strokeStyle = colour("bad");
    if (chosen >= 0) outline(context, cells, chosen, cells.cell >= EDGED_PX ? 3 : 2);
}
