/**
 * Where figures stand on an axis. Pure.
 *
 * @typedef {{from: number, to: number, at: (value: number) => number}} Scale  at: share of the way, 0 to 1
 */

/** Room on either side, as a share of what is between. */
const ROOM = 0.06;

/** @param {number[]} values @returns {[number, number]} the least and the most */
export function endsOf(values) {
    return [Math.min(...values), Math.max(...values)];
}

/** @param {number[]} values  one at least @returns {Scale} */
export function scaleOf(values) {
    const [least, most] = endsOf(values);
    const room = most > least ? (most - least) * ROOM : Math.abs(most) * ROOM || 1;
    const [from, to] = [least - room, most + room];
    return { from, to, at: (value) => (value - from) / (to - from) };
}

/**
 * Round values on a scale, about `wanted` of them.
 * @param {Scale} scale @param {number} wanted @param {number} [unit]  in which they are round: a power of 1,024 for bytes
 */
export function roundTicks({ from, to }, wanted, unit = 1) {
    const rough = (to - from) / unit / wanted;
    const magnitude = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((size) => size >= rough) * unit;
    const found = [];
    for (let at = Math.ceil(from / step); at * step <= to; at += 1) found.push(at * step + 0);
    return found;
}

/**
 * The points that no other beats in both figures, from left to right.
 * @param {{x: number, y: number}[]} points @param {1 | -1} betterX @param {1 | -1} betterY  1 where more is better
 */
export function edgeOf(points, betterX, betterY) {
    const byX = [...points].sort((a, b) => betterX * (b.x - a.x) || betterY * (b.y - a.y));
    const edge = [];
    for (const point of byX) {
        if (edge.length === 0 || betterY * (point.y - edge.at(-1).y) > 0) edge.push(point);
    }
    return betterX > 0 ? edge.reverse() : edge;
}

/**
 * @param {{left: number, top: number}[]} points @param {number} left @param {number} top @param {number} reach_px
 * @returns {number} index of the nearest, -1 for none
 */
export function nearestTo(points, left, top, reach_px) {
    let nearest = -1;
    let closest = reach_px * reach_px;
    points.forEach((point, at) => {
        const distance = (point.left - left) ** 2 + (point.top - top) ** 2;
        if (distance <= closest) [nearest, closest] = [at, distance];
    });
    return nearest;
}
