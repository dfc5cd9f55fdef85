/** The figures of a plan: what they are called, which way is better, how they are written. */
import { computed } from "@preact/signals";
import { lasting, offBy } from "../planner/spread.js";
import { degreesOf } from "../state/cut.js";
import { units } from "../state/prefs.js";
import { many, spoken } from "../words.js";
import { rows } from "./run.js";
import { exact, gigabytes } from "../units.js";
import { fitOf } from "../widgets/fit.js";
import { valueOf, writerOf } from "../widgets/values.js";
import { called, titled } from "../widgets/words.js";

/**
 * @typedef {import("./plans.js").Row} Row
 * @typedef {Record<string, any>} Plan  one that was found, or the planner's own estimate with the same members
 * @typedef {{name: string, better: 1 | -1, read: (plan: Plan) => number | null, write: (value: number) => string,
 *            writeIn?: (plan: Plan) => (value: number) => string}} Figure
 *          better: 1 where more is; write: memory without its unit; writeIn: of that plan alone, by what bears out its digits
 */

/** @param {string} name @param {1 | -1} better @param {Figure["read"]} [read] @returns {Figure} */
function figure(name, better, read = (plan) => plan[name]) {
    return { name, better, read, write: name.endsWith("_bytes") ? (value) => gigabytes(value, units.value) : writerOf(name) };
}

/** @param {Plan} plan */
const offOf = ({ step_s, interval }) => offBy({ time: { step_s }, interval });

/** Plans without an interval of their own are no surer than the least sure of the others. */
const mostOff = computed(() => Math.max(0, ...rows.value.map(({ plan }) => offOf(plan))));

/** As the planner says it: no digit more than the interval of the plan bears out. @param {Plan} plan @returns {(value_s: number) => string} */
const lastingIn = (plan) => (value_s) => lasting(value_s, offOf(plan) || mostOff.value);

export const FIGURES = [
    figure("tokens_per_s", 1), figure("step_s", -1), figure("headroom_bytes", 1), figure("simulated_step_s", -1), figure("peak_reserved_bytes", -1),
    figure("accelerators", -1),
    figure("rate_per_accelerator", 1, ({ tokens_per_s: rate, accelerators }) => (rate > 0 && accelerators > 0 ? rate / accelerators : null)),
    figure("cost", -1), { ...figure("time_to_train_s", -1), writeIn: lastingIn }, figure("energy_j", -1),
];

export const FIGURE_BY_NAME = new Map(FIGURES.map((one) => [one.name, one]));

/** A figure that no plan has needs no place. @param {Figure} figure @param {Row[]} rows */
export function isKnown({ read }, rows) {
    return rows.some(({ plan }) => typeof read(plan) === "number");
}

/** Whether the plans differ in it. @param {Figure} figure @param {Row[]} rows */
export function isVaried({ read }, rows) {
    return rows.some(({ plan }) => read(plan) !== read(rows[0].plan));
}

/** What plans have of it. @param {Figure} figure @param {Plan[]} plans @returns {number[]} */
export function valuesIn({ read }, plans) {
    return plans.map(read).filter((value) => typeof value === "number");
}

/** @param {Figure} figure @param {Plan} plan @param {number} value */
export const textIn = ({ write, writeIn }, plan, value) => (writeIn?.(plan) ?? write)(value);

/** With the unit of memory. @param {Figure} figure */
export function titleOf({ name }) {
    return `${dimensionLabel(name)}${name.endsWith("_bytes") ? ` ${units.value}` : ""}`;
}

/** @param {Figure} figure @param {Plan} plan  with the unit */
export function written(figure, plan) {
    const { name, read } = figure;
    const value = read(plan);
    return typeof value !== "number" ? "–" : name.endsWith("_bytes") ? valueOf(name, value) : textIn(figure, plan, value);
}

/** @param {string} name  of a figure, of a dimension, or of the cluster */
export const dimensionLabel = (name) => titled("names", name);

/** @param {string} name @param {any} value */
export function dimensionValue(name, value) {
    if (value === null || value === undefined) return "–";
    if (typeof value === "number") return exact(value);
    if (typeof value !== "object") return called("values", String(value));
    if (name === "offload") return spoken("/workload/offload", value);
    return value.layers ? `${value.mode}, ${many(value.layers, "block")}` : value.mode ?? JSON.stringify(value);
}

/** What a plan that was found is called. @param {Row} row */
export const nameOfRow = ({ rank, plan }) => `${rank > 0 ? `rank ${rank}` : "on the front"}: ${cutOf(plan)}`;

/** How surely it fits; null where that was not worked out. @param {Plan} plan */
export const sureOf = (plan) => (typeof plan.fits_certain === "boolean" ? fitOf({ fits: true, ...plan }) : null);

/** The cut in a few letters, as the trade writes it. @param {{parallelism?: any, workload?: any}} plan */
export function cutOf({ parallelism, workload }) {
    const micro = workload?.micro_batch_size ? [`MB${workload.micro_batch_size}`] : [];
    const { recompute = "none" } = workload ?? {};
    return [...degreesOf(parallelism ?? {}), ...micro, ...(recompute === "none" ? [] : [dimensionValue("recompute", recompute)])].join(" ");
}
