/**
 * Every figure and dimension in which the plans differ as one axis, and the part of it that the reader keeps. What is
 * kept stands in the address, in values, so that it means the same in the next search.
 *
 * @typedef {import("./plans.js").Row} Row
 * @typedef {{name: string, label: string, stops: any[], read: (row: Row) => any, at: (value: any) => number, write: (value: any) => string}} Axis
 *          stops: values that a bound may have, from the lower end; at: share of the way up
 * @typedef {[number, number]} Part  numbers of stops, both ends included
 */
import { computed } from "@preact/signals";
import { said, say } from "./ask.js";
import { rows } from "./run.js";
import { dimensionLabel, dimensionValue, FIGURES, isKnown, isVaried, titleOf, valuesIn } from "./figures.js";
import { endsOf } from "./scales.js";
import { across, dimensions, upwards } from "./shown.js";
import { order } from "../widgets/rows.js";

/** Bounds of a figure go in this many steps. */
const STEPS = 40;

/** These say again what another figure says: they have an axis while the scatter shows them or a part is kept. */
const AGAIN = ["rate_per_accelerator", "simulated_step_s", "peak_reserved_bytes", "step_s", "time_to_train_s", "energy_j"];

/** @param {import("./figures.js").Figure} figure @returns {Axis} */
function figureAxis(figure) {
    const [least, most] = endsOf(valuesIn(figure, rows.value.map(({ plan }) => plan)));
    return {
        name: figure.name, label: titleOf(figure), read: ({ plan }) => figure.read(plan), write: figure.write,
        stops: Array.from({ length: STEPS + 1 }, (_, at) => (at === STEPS ? most : least + ((most - least) * at) / STEPS)),
        at: (value) => (value - least) / (most - least),
    };
}

/** @param {string} name @returns {Axis} */
function dimensionAxis(name) {
    const texts = new Map(rows.value.map(({ values }) => [JSON.stringify(values[name]), values[name]]));
    const stops = [...texts.values()].sort(order);
    const places = new Map(stops.map((value, at) => [JSON.stringify(value), at / (stops.length - 1)]));
    return { name, label: dimensionLabel(name), stops, read: ({ values }) => values[name], at: (value) => places.get(JSON.stringify(value)),
        write: (value) => dimensionValue(name, value) };
}

/** @param {string} name  of a figure */
function hasAxis(name) {
    return !AGAIN.includes(name) || [across.value.name, upwards.value.name].includes(name) || said(`only.${name}`) !== "";
}

/** @type {import("@preact/signals").ReadonlySignal<Axis[]>} */
export const axes = computed(() => [
    ...FIGURES.filter((figure) => hasAxis(figure.name) && isKnown(figure, rows.value) && isVaried(figure, rows.value)).map(figureAxis),
    ...dimensions.value.varied.filter((name) => name !== "nodes").map(dimensionAxis),
]);

/** @param {any} value */
const written = (value) => (typeof value === "number" ? String(value) : JSON.stringify(value));

/** @param {Axis} axis @returns {Part | null} null for all of it */
export function keptOf({ name, stops }) {
    const [from, to] = said(`only.${name}`).split("..");
    if (to === undefined) return null;
    const texts = stops.map(written);
    const numbers = stops.every((stop) => typeof stop === "number");
    const low = numbers ? stops.findIndex((stop) => stop >= Number(from)) : texts.indexOf(from);
    const high = numbers ? stops.findLastIndex((stop) => stop <= Number(to)) : texts.indexOf(to);
    return low < 0 || high < low ? null : [low, high];
}

/** @param {Axis} axis @param {Part | null} part */
export function keep({ name, stops }, part) {
    const whole = part === null || (part[0] <= 0 && part[1] >= stops.length - 1);
    say({ [`only.${name}`]: whole ? "" : `${written(stops[Math.max(0, part[0])])}..${written(stops[Math.min(stops.length - 1, part[1])])}` });
}

/** The axes of which a part is kept. @returns {{axis: Axis, part: Part}[]} */
export const kept = computed(() => axes.value.map((axis) => ({ axis, part: keptOf(axis) })).filter(({ part }) => part !== null));

/** A little beyond both ends: they are values of plans, and numbers of an address. */
const SLACK = 1e-9;

/** The rows within every part that is kept. */
export const matching = computed(() => {
    if (kept.value.length === 0) return rows.value;
    return rows.value.filter((row) => kept.value.every(({ axis, part: [low, high] }) => {
        const at = axis.at(axis.read(row));
        return at >= axis.at(axis.stops[low]) - SLACK && at <= axis.at(axis.stops[high]) + SLACK;
    }));
});

/** What is kept is drawn over what is not. @template {{key: string}} T @param {T[]} drawn @returns {T[]} */
export function keptLast(drawn) {
    return kept.value.length === 0 ? drawn : [...drawn].sort((a, b) => Number(isMatching.value(a.key)) - Number(isMatching.value(b.key)));
}

export const isMatching = computed(() => {
    const keys = new Set(matching.value.map(({ key }) => key));
    return (/** @type {string} */ key) => keys.has(key);
});
