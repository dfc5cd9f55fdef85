/**
 * Where the bands of the traffic go: what a group sends on the left, the level that carries it on the
 * right, as high as its bytes. Pure.
 *
 * @typedef {{name: string, bytes: number, top: number, height: number}} Node
 * @typedef {{item: Api.Communication, from: string, to: string, exposed: number, left: number, right: number, height: number}} Band
 */
import { wordsOf } from "../../words.js";

/** From the inside of a device outwards. */
const LEVELS = ["device", "scale_up", "host", "node", "network"];

/** Less than this cannot be seen, nor pointed at. */
const LEAST_PX = 2;

/** @param {Api.Communication} item */
export function sourceOf({ group, collective }) {
    return wordsOf(`${group} ${collective}`);
}

/** @param {[string, number][]} sums @param {number} perByte @param {number} gap @returns {Map<string, Node>} */
function stacked(sums, perByte, gap) {
    let top = 0;
    return new Map(sums.map(([name, bytes]) => {
        const node = { name, bytes, top, height: Math.max(LEAST_PX, bytes * perByte) };
        top += node.height + gap;
        return [name, node];
    }));
}

/** @param {Api.Communication[]} items @param {(item: Api.Communication) => string} nameOf @returns {[string, number][]} in the order of items */
function sumsOf(items, nameOf) {
    const sums = new Map();
    for (const item of items) sums.set(nameOf(item), (sums.get(nameOf(item)) ?? 0) + item.bytes_per_step);
    return [...sums];
}

/**
 * @param {Api.Communication[]} communication  of an estimate @param {number} height  of the picture @param {number} gap  between nodes, so that their names have room
 * @returns {{left: Map<string, Node>, right: Map<string, Node>, bands: Band[]}}
 */
export function layOut(communication, height, gap) {
    const items = communication.filter(({ bytes_per_step: bytes }) => bytes > 0);
    const outwards = [...items].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
    const left = sumsOf(items, sourceOf);
    const right = sumsOf(outwards, ({ level }) => level);
    const total = items.reduce((sum, { bytes_per_step: bytes }) => sum + bytes, 0);
    const perByte = total > 0 ? Math.max(1, height - gap * Math.max(left.length, right.length)) / total : 0;
    const nodes = { left: stacked(left, perByte, gap), right: stacked(right, perByte, gap) };
    /** @type {{left: Map<string, number>, right: Map<string, number>}} */
    const filled = { left: new Map(), right: new Map() };
    /** @param {"left" | "right"} side @param {string} name @param {number} amount */
    const take = (side, name, amount) => {
        const before = filled[side].get(name) ?? 0;
        filled[side].set(name, before + amount);
        return nodes[side].get(name).top + before;
    };
    const bands = items.map((item) => {
        const tall = Math.max(LEAST_PX, item.bytes_per_step * perByte);
        const from = sourceOf(item);
        return { item, from, to: item.level, height: tall, left: take("left", from, tall), right: take("right", item.level, tall),
            exposed: item.seconds > 0 ? Math.min(1, item.exposed_s / item.seconds) : 0 };
    });
    return { ...nodes, bands };
}
