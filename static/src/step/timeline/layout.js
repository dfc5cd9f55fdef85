/**
 * Where everything of the timeline stands, in CSS pixels: names on the left, the axis on top, the
 * lanes stage by stage, the operators and the memory of one stage below. Pure.
 *
 * @typedef {import("./rows.js").Timeline} Timeline
 * @typedef {{row: import("./rows.js").Row, top: number, height: number}} Placed
 * @typedef {{top: number, height: number}} Band
 * @typedef {{width: number, height: number, left: number, plot: number, lanes: Placed[], lanesTop: number,
 *            lanesEnd: number, details: Band[], stairsTop: number, stairsEnd: number}} Layout
 */
const NAMES_PX = 124;

/** On a phone names take less, as short as they are. */
const FEW_PX = 400;
const SHORT_NAMES_PX = 92;
const RIGHT_PX = 8;
const AXIS_PX = 22;
const STAIRS_PX = 76;
const STAIRS_GAP_PX = 18;
const BOTTOM_PX = 6;
const DETAIL_PX = 22;
const DETAIL_GAP_PX = 6;

/** The lanes take this much, and grow beyond it only when each has but a pixel left. */
const LANES_PX = 420;
const MOST_UNIT_PX = 13;

/** A lane that computes is as high as two others. @param {import("./rows.js").Row} row */
const unitsOf = (row) => (row.stream === "compute" ? 2 : 1);

/**
 * @param {Timeline} timeline @param {number} width @param {boolean} all  lanes beside computing too
 * @param {number} [details]  bands for what a closer look at one stage shows
 * @returns {Layout}
 */
export function layoutOf(timeline, width, all, details = 1) {
    const rows = timeline.rows.filter((row) => all || row.stream === "compute");
    const units = rows.reduce((sum, row) => sum + unitsOf(row), 0);
    const unit = Math.max(1, Math.min(MOST_UNIT_PX, Math.floor(LANES_PX / Math.max(1, units))));
    const gap = unit >= 4 ? 4 : 1;
    const lanes = [];
    let top = AXIS_PX;
    for (const row of rows) {
        if (lanes.length > 0 && row.stage !== lanes.at(-1).row.stage) top += gap;
        lanes.push({ row, top, height: unitsOf(row) * unit });
        top += unitsOf(row) * unit;
    }
    const bands = Array.from({ length: details }, (_, at) => (
        { top: top + DETAIL_GAP_PX + at * (DETAIL_PX + 2), height: DETAIL_PX }));
    const stairsTop = (bands.length > 0 ? bands.at(-1).top + DETAIL_PX : top) + STAIRS_GAP_PX;
    const left = width < FEW_PX ? SHORT_NAMES_PX : NAMES_PX;
    return {
        width, height: stairsTop + STAIRS_PX + BOTTOM_PX, left, plot: Math.max(1, width - left - RIGHT_PX),
        lanes, lanesTop: AXIS_PX, lanesEnd: top, details: bands, stairsTop, stairsEnd: stairsTop + STAIRS_PX,
    };
}

/** @param {Layout} layout @param {[number, number]} view_s @param {number} time_s */
export function xOf(layout, [from_s, to_s], time_s) {
    return layout.left + ((time_s - from_s) / (to_s - from_s)) * layout.plot;
}

/** @param {Layout} layout @param {[number, number]} view_s @param {number} x */
export function timeOf(layout, [from_s, to_s], x) {
    const share = Math.max(0, Math.min(1, (x - layout.left) / layout.plot));
    return from_s + share * (to_s - from_s);
}

/** The lane at a height, or null. @param {Layout} layout @param {number} y @returns {Placed | null} */
export function laneAt(layout, y) {
    return layout.lanes.find(({ top, height }) => y >= top && y < top + height) ?? null;
}
