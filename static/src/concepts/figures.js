/** Figures of a miniature: where each stands in the answer, how it is written, and the explanation that came with it. */
import { memorySize } from "../state/prefs.js";
import { exact, percent, seconds } from "../units.js";
import { lookOf, TIME_TERMS } from "../widgets/terms.js";
import { valueAt } from "../widgets/values.js";
import { book } from "./book.js";

/**
 * @typedef {import("./state.js").Shown} Shown
 * @typedef {{label: string, kind: string, at?: string, formula?: string, source?: string}} Told  as the book has it: at
 *   points into the estimate, which explains what has no formula here
 * @typedef {{label: string, unit: string, write: (value: number) => string, read: (shown: Shown) => number | null,
 *            about: (shown: Shown) => any}} Figure
 */

/** How a kind of figure is written, and the unit of what is sent. @type {Record<string, [(value: number) => string, string]>} */
const KINDS = {
    time: [seconds, "s"], ratio: [percent, ""], number: [exact, ""], each: [exact, "bytes"],
    memory: [memorySize, "bytes"],
};

/** What every collective of a step moves. @param {Api.Estimate} estimate @returns {Record<string, number>} */
const moved = (estimate) => Object.fromEntries(estimate.communication.map(({ group, collective, level, bytes_per_step: bytes }) =>
    [`${group}_${collective}_${level}`, bytes]));

/** What no member of an estimate says. @type {Record<string, (shown: Shown) => number>} */
const COUNTED = {
    idle: ({ timeline }) => timeline?.idle_ratio,
    traffic: ({ estimate }) => Object.values(moved(estimate)).reduce((total, bytes) => total + bytes, 0),
    rounds: ({ timeline }) => timeline && new Set(timeline.spans.step.filter((step) => step !== null)).size,
    alive: ({ timeline }) => timeline?.memory.find(({ stage }) => stage === 0)?.peak_bytes,
};

/** @param {string} key @returns {Figure} */
function told(key) {
    const { label, kind, at = "", formula, source } = book.value.figures[key];
    const [write, unit] = KINDS[kind];
    return {
        label, unit, write, read: (shown) => COUNTED[key]?.(shown) ?? valueAt(shown.estimate, at) ?? null,
        about: ({ estimate }) => (formula ? { formula, source, inputs: key === "traffic" ? moved(estimate) : {} }
            : estimate.explanations?.[at] ?? estimate.accounting ?? null),
    };
}

/** A term of the step time as a figure. @param {string} name @returns {Figure} */
function ofTime(name) {
    /** @param {Shown} shown */
    const find = ({ estimate }) => estimate.time?.terms.find((/** @type {Api.TimeTerm} */ item) => item.name === name) ?? null;
    const [write, unit] = KINDS.time;
    return { label: lookOf(TIME_TERMS, name).label, unit, write, read: (shown) => find(shown)?.seconds ?? 0, about: find };
}

/** @param {string} key @returns {Figure} */
export function figureOf(key) {
    return key.startsWith("time.") ? ofTime(key.slice("time.".length)) : told(key);
}
