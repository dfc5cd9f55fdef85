/**
 * Sums over a part of a step. Times are added over the stages, as if they ran one after the other:
 * the whole is the length of the part times the number of stages. Pure.
 *
 * @typedef {import("./rows.js").Row} Row
 * @typedef {import("./rows.js").Timeline} Timeline
 * @typedef {{stages: number, whole_s: number, busy_s: number, idle_s: number, exposed_s: number,
 *            kinds: {kind: number, seconds: number, spans: number}[]}} Sums
 */
import { visible } from "./rows.js";

const LINKS = ["scale_up", "network"];

/** Kinds in which a stage does nothing but wait. */
const WAITING = ["barrier", "overhead"];

/** The parts of spans that lie in a window. @param {Row} row @param {number} from_s @param {number} to_s */
function* cuts(row, from_s, to_s) {
    const [first, end] = visible(row, from_s, to_s);
    for (let at = first; at < end; at += 1) {
        const start_s = Math.max(from_s, row.start_s[at]);
        const stop_s = Math.min(to_s, row.end_s[at]);
        if (stop_s > start_s) yield { start_s, stop_s, kind: row.kind[at] };
    }
}

/**
 * The times at which any of the rows is busy, cut to a window: pairs that rise and do not touch.
 * @param {Row[]} rows @param {number} from_s @param {number} to_s
 * @param {(kind: number) => boolean} [counts]  kinds that are left out do not
 * @returns {number[]} start, end, start, end ...
 */
export function busyTimes(rows, from_s, to_s, counts = () => true) {
    const spans = rows.flatMap((row) => [...cuts(row, from_s, to_s)].filter(({ kind }) => counts(kind)));
    spans.sort((a, b) => a.start_s - b.start_s);
    /** @type {number[]} */
    const merged = [];
    for (const { start_s, stop_s } of spans) {
        if (start_s <= merged.at(-1)) merged.push(Math.max(merged.pop(), stop_s));
        else merged.push(start_s, stop_s);
    }
    return merged;
}

/** @param {number[]} times  as busyTimes gives them */
export function lengthOf(times) {
    let sum_s = 0;
    for (let at = 0; at < times.length; at += 2) sum_s += times[at + 1] - times[at];
    return sum_s;
}

/** How long both are busy. @param {number[]} a @param {number[]} b */
export function commonLength(a, b) {
    let sum_s = 0;
    for (let i = 0, k = 0; i < a.length && k < b.length;) {
        sum_s += Math.max(0, Math.min(a[i + 1], b[k + 1]) - Math.max(a[i], b[k]));
        if (a[i + 1] < b[k + 1]) i += 2;
        else k += 2;
    }
    return sum_s;
}

/** @param {Timeline} timeline @param {number} from_s @param {number} to_s */
function sumsByKind(timeline, from_s, to_s) {
    const sums = timeline.kinds.map((_, kind) => ({ kind, seconds: 0, spans: 0 }));
    for (const row of timeline.rows) {
        for (const { start_s, stop_s, kind } of cuts(row, from_s, to_s)) {
            sums[kind].seconds += stop_s - start_s;
            sums[kind].spans += 1;
        }
    }
    return sums.filter(({ spans }) => spans > 0).sort((a, b) => b.seconds - a.seconds);
}

/** @param {Timeline} timeline @param {number} from_s @param {number} to_s @returns {Sums} */
export function sumsOf(timeline, from_s, to_s) {
    let busy_s = 0;
    let exposed_s = 0;
    /** @param {number} kind */
    const works = (kind) => !WAITING.includes(timeline.kinds[kind]);
    for (const rows of timeline.rowsOfStage.values()) {
        const computing = busyTimes(rows.filter((row) => row.stream === "compute"), from_s, to_s, works);
        const sending = busyTimes(rows.filter((row) => LINKS.includes(row.stream)), from_s, to_s);
        busy_s += lengthOf(computing);
        exposed_s += lengthOf(sending) - commonLength(sending, computing);
    }
    const stages = timeline.rowsOfStage.size;
    const whole_s = stages * (to_s - from_s);
    return { stages, whole_s, busy_s, idle_s: whole_s - busy_s, exposed_s, kinds: sumsByKind(timeline, from_s, to_s) };
}
