/** The figures of a plan: what they are called, which way is better, how they are written. */
import { DIMENSIONS } from "./ask.js";
import { degreesOf } from "../state/cut.js";
import { units } from "../state/prefs.js";
import { spoken } from "../words.js";
import { digits, exact, gigabytes, scaled, seconds } from "../units.js";

/**
 * @typedef {import("./plans.js").Row} Row
 * @typedef {{name: string, label: string, unit: () => string, better: 1 | -1, read: (plan: any) => number | null,
 *            write: (value: number) => string}} Figure  better: 1 where more is; write: without the unit
 */

const WATT_HOUR_J = 3600;
const none = () => "";
const memory = () => units.value;
const inUnits = (bytes) => gigabytes(bytes, units.value);

/** @type {Figure[]} */
export const FIGURES = [
    { name: "tokens_per_s", label: "Tokens/s", unit: none, better: 1, read: (plan) => plan.tokens_per_s, write: (value) => scaled(value) },
    { name: "step_s", label: "Step", unit: none, better: -1, read: (plan) => plan.step_s, write: seconds },
    { name: "simulated_step_s", label: "Simulated", unit: none, better: -1, read: (plan) => plan.simulated_step_s, write: seconds },
    { name: "headroom_bytes", label: "Headroom", unit: memory, better: 1, read: (plan) => plan.headroom_bytes, write: inUnits },
    { name: "peak_reserved_bytes", label: "Peak memory", unit: memory, better: -1, read: (plan) => plan.peak_reserved_bytes, write: inUnits },
    { name: "accelerators", label: "Accelerators", unit: none, better: -1, read: (plan) => plan.accelerators, write: exact },
    { name: "rate_per_accelerator", label: "Tokens/s per device", unit: none, better: 1,
        read: ({ tokens_per_s: rate, accelerators }) => (rate > 0 && accelerators > 0 ? rate / accelerators : null), write: digits },
    { name: "cost", label: "Cost", unit: none, better: -1, read: (plan) => plan.cost, write: (value) => scaled(value) },
    { name: "time_to_train_s", label: "Training", unit: none, better: -1, read: (plan) => plan.time_to_train_s, write: seconds },
    { name: "energy_j", label: "Energy", unit: none, better: -1, read: (plan) => plan.energy_j, write: (value) => scaled(value / WATT_HOUR_J, "Wh") },
];

export const FIGURE_BY_NAME = new Map(FIGURES.map((figure) => [figure.name, figure]));

/** A figure that no plan has needs no place. @param {Figure} figure @param {Row[]} rows */
export function isKnown({ read }, rows) {
    return rows.some(({ plan }) => typeof read(plan) === "number");
}

/** Whether the plans differ in it. @param {Figure} figure @param {Row[]} rows */
export function isVaried({ read }, rows) {
    return rows.some(({ plan }) => read(plan) !== read(rows[0].plan));
}

/** @param {Figure} figure */
export function titleOf({ label, unit }) {
    return unit() === "" ? label : `${label} ${unit()}`;
}

/** @param {Figure} figure @param {any} plan  with the unit */
export function written(figure, plan) {
    const value = figure.read(plan);
    if (typeof value !== "number") return "–";
    return `${figure.write(value)}${figure.unit() === "" ? "" : ` ${figure.unit()}`}`;
}

const DIMENSION_BY_NAME = new Map(DIMENSIONS.map((dimension) => [dimension.name, dimension]));
const OTHERS = { cluster: "Cluster", nodes: "Nodes" };

/** @param {string} name  of a dimension, or of the cluster */
export function dimensionLabel(name) {
    const words = name.replaceAll("_", " ");
    return DIMENSION_BY_NAME.get(name)?.label ?? OTHERS[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {string} name @param {any} value */
export function dimensionValue(name, value) {
    if (value === null || value === undefined) return "–";
    const words = DIMENSION_BY_NAME.get(name)?.words?.[String(value)];
    if (words) return words;
    if (typeof value !== "object") return String(value).replaceAll("_", " ");
    if (name === "offload") return spoken("/workload/offload", value);
    return value.layers ? `${value.mode}, ${value.layers} blocks` : value.mode ?? JSON.stringify(value);
}

/** The cut in a few letters, as the trade writes it. @param {any} plan */
export function cutOf({ parallelism, workload }) {
    const split = parallelism?.sequence ? ["SP"] : [];
    const parts = degreesOf(parallelism ?? {});
    const micro = workload?.micro_batch_size ? [`MB${workload.micro_batch_size}`] : [];
    return [...parts, ...split, ...micro, dimensionValue("recompute", workload?.recompute)].join(" ");
}
