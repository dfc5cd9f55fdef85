/**
 * Where the cell of each device stands: nodes in rows, the devices of a node in a block of its own.
 * Cells shrink to pixels before the map grows. Pure.
 *
 * @typedef {{rank: number, pool?: string, node: number, local_rank: number, coordinates: Record<string, number>}} Place
 * @typedef {Object} Cells
 * @property {number} cell        side of a cell, in CSS pixels, the space after it included
 * @property {number} space       between cells of a node
 * @property {number} label       height of the name of a node; 0 where there is no room
 * @property {number} across      nodes in a row
 * @property {number} columns     cells in a row of a node
 * @property {number} blockWidth  of a node, with the space after it
 * @property {number} blockHeight
 * @property {number} width
 * @property {number} height
 * @property {Float64Array} x     of each place; not a number where it is out of view, which a canvas passes over
 * @property {Float64Array} y
 * @property {Map<string, number>} byPosition  "node local" -> number of the place
 */

/** From here on a cell has an edge of its own, which pale ones need. */
export const EDGED_PX = 7;

const MOST_CELL_PX = 30;
const NODE_CELL_PX = 64;
const LABELLED_PX = 14;
const SPACED_PX = 4;
const LABEL_PX = 15;

/** The map takes this much, and grows beyond it only when each cell has but a pixel left. */
const MOST_HEIGHT_PX = 380;

/** @param {number} count  devices of a node */
function columnsOf(count) {
    if (count <= 4) return count;
    return count <= 16 ? Math.ceil(count / 2) : Math.ceil(Math.sqrt(count));
}

/** @param {number} cell @param {number} perNode @param {number} nodes @param {number} width */
function frameOf(cell, perNode, nodes, width) {
    const columns = columnsOf(perNode);
    const gap = Math.max(1, Math.round(cell / 3));
    const label = cell >= LABELLED_PX ? LABEL_PX : 0;
    const blockWidth = columns * cell + gap;
    const blockHeight = Math.ceil(perNode / columns) * cell + gap + label;
    const across = Math.max(1, Math.min(nodes, Math.floor(width / blockWidth)));
    const height = Math.ceil(nodes / across) * blockHeight;
    return { cell, space: cell >= SPACED_PX ? 1 : 0, label, across, columns, blockWidth, blockHeight, width, height };
}

/** @param {Place[]} places @param {number} width @param {number} [only]  the one node in view @returns {Cells} */
export function cellsOf(places, width, only = -1) {
    const numbers = only >= 0 ? [only] : [...new Set(places.map((place) => place.node))].sort((a, b) => a - b);
    const rowOfNode = new Map(numbers.map((node, at) => [node, at]));
    const perNode = places.reduce((most, place) => Math.max(most, place.local_rank + 1), 1);
    let cell = numbers.length > 1 ? MOST_CELL_PX : NODE_CELL_PX;
    let frame = frameOf(cell, perNode, numbers.length, width);
    while (cell > 1 && (frame.height > MOST_HEIGHT_PX || frame.blockWidth > width)) {
        cell -= 1;
        frame = frameOf(cell, perNode, numbers.length, width);
    }
    const x = new Float64Array(places.length).fill(NaN);
    const y = new Float64Array(places.length).fill(NaN);
    const byPosition = new Map();
    places.forEach((place, at) => {
        const block = rowOfNode.get(place.node);
        if (block === undefined) return;
        x[at] = (block % frame.across) * frame.blockWidth + (place.local_rank % frame.columns) * frame.cell;
        y[at] = Math.floor(block / frame.across) * frame.blockHeight + frame.label
            + Math.floor(place.local_rank / frame.columns) * frame.cell;
        byPosition.set(`${block} ${place.local_rank}`, at);
    });
    return { ...frame, x, y, byPosition };
}

/** The place under a point, by its number; -1 for none. @param {Cells} cells @param {number} x @param {number} y */
export function cellAt(cells, x, y) {
    const blockColumn = Math.floor(x / cells.blockWidth);
    const column = Math.floor((x - blockColumn * cells.blockWidth) / cells.cell);
    if (blockColumn < 0 || blockColumn >= cells.across || column >= cells.columns) return -1;
    const blockRow = Math.floor(y / cells.blockHeight);
    const down = y - blockRow * cells.blockHeight - cells.label;
    if (down < 0) return -1;
    const local = Math.floor(down / cells.cell) * cells.columns + column;
    return cells.byPosition.get(`${blockRow * cells.across + blockColumn} ${local}`) ?? -1;
}

/** The nearest place in a direction; the same one at the edge. @param {Cells} cells @param {number} from @param {number} dx @param {number} dy */
export function neighbour(cells, from, dx, dy) {
    let best = from;
    let bestAway = Infinity;
    for (let at = 0; at < cells.x.length; at += 1) {
        const along = (cells.x[at] - cells.x[from]) * dx + (cells.y[at] - cells.y[from]) * dy;
        const aside = Math.abs((cells.x[at] - cells.x[from]) * dy) + Math.abs((cells.y[at] - cells.y[from]) * dx);
        if (along > 0 && along + 1000 * aside < bestAway) {
            bestAway = along + 1000 * aside;
            best = at;
        }
    }
    return best;
}

/** Up to this many values of an axis have a tone each; more are shades of one. */
export const MOST_TONES = 8;

/** The axes along which there is more than one value, with how many. @param {Place[]} places @returns {Map<string, number>} */
export function axisSizes(places) {
    const sizes = new Map();
    for (const { coordinates } of places) {
        for (const [axis, value] of Object.entries(coordinates)) sizes.set(axis, Math.max(sizes.get(axis) ?? 1, value + 1));
    }
    return new Map([...sizes].filter(([, size]) => size > 1));
}
