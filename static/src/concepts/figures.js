/** Figures of a miniature: where each stands in the answer, and the explanation that came with it. */
import { units } from "../state/prefs.js";
import { exact, gigabytes, percent, scaled, seconds } from "../units.js";
import { lookOf, TIME_TERMS } from "../widgets/terms.js";

/**
 * @typedef {import("./state.js").Shown} Shown
 * @typedef {{label: string, unit: string, read: (shown: Shown) => number | null, write: (value: number) => string,
 *            about: (shown: Shown) => any}} Figure
 */

/** @param {string} pointer */
const explained = (pointer) => ({ estimate }) => estimate.explanations?.[pointer] ?? null;

/** @param {number} bytes */
const size = (bytes) => `${gigabytes(bytes, units.value)} ${units.value}`;

/** @param {string} formula @param {string} source @param {(shown: Shown) => Record<string, number>} [inputs] */
const said = (formula, source, inputs = () => ({})) => (shown) => ({ formula, source, inputs: inputs(shown) });

/** What every collective of a step moves. @param {any} estimate @returns {Record<string, number>} */
const moved = (estimate) => Object.fromEntries(estimate.communication.map(({ group, collective, level, bytes_per_step: bytes }) =>
    [`${group}_${collective}_${level}`, bytes]));

/** @param {Record<string, number>} parts */
const sum = (parts) => Object.values(parts).reduce((total, part) => total + part, 0);

/** The numbers of ring steps that the spans carry. @param {any} timeline @returns {number} */
const rounds = (timeline) => new Set(timeline.spans.step.filter((step) => step !== null)).size;

/** @type {Record<string, Figure>} */
const FIGURES = {
    step: { label: "Step time", unit: "s", write: seconds, read: ({ estimate }) => estimate.time?.step_s ?? null, about: explained("/time/step_s") },
    mfu: { label: "MFU", unit: "", write: percent, read: ({ estimate }) => estimate.throughput?.mfu_full ?? null, about: explained("/throughput/mfu_full") },
    hfu: { label: "HFU", unit: "", write: percent, read: ({ estimate }) => estimate.throughput?.hfu ?? null, about: explained("/throughput/hfu") },
    bubble: { label: "Idle share, closed form", unit: "", write: percent, read: ({ estimate }) => estimate.time?.bubble_ratio ?? null,
        about: explained("/time/bubble_ratio") },
    idle: { label: "Idle share, simulated", unit: "", write: percent, read: ({ timeline }) => timeline?.idle_ratio ?? null,
        about: said("idle time of all stages / their time between the first and the last pass of any", "The simulated step that is drawn") },
    exposed: { label: "Traffic in the open", unit: "s", write: seconds, read: ({ estimate }) => estimate.time?.exposed_communication_s ?? null,
        about: explained("/time/exposed_communication_s") },
    traffic: { label: "Buffers of collectives", unit: "bytes", write: (bytes) => scaled(bytes, "B"),
        read: ({ estimate }) => sum(moved(estimate)),
        about: said("sum over the collectives of one device; an all-reduce counts its buffer once", "communication of the estimate", ({ estimate }) => moved(estimate)) },
    rounds: { label: "Steps around the ring", unit: "", write: (value) => String(value), read: ({ timeline }) => (timeline ? rounds(timeline) : null),
        about: said("numbers that the drawn spans carry", "The simulated step that is drawn") },
    alive: { label: "Most activations alive, stage 0", unit: "bytes", write: size,
        read: ({ timeline }) => timeline?.memory.find(({ stage }) => stage === 0)?.peak_bytes ?? null,
        about: said("the highest step of the memory staircase of stage 0", "The simulated step that is drawn") },
    allocated: { label: "Allocated at the peak", unit: "bytes", write: size, read: ({ estimate }) => estimate.memory.peak_allocated_bytes,
        about: explained("/memory/peak_allocated_bytes") },
    reserved: { label: "Reserved at the peak", unit: "bytes", write: size, read: ({ estimate }) => estimate.memory.peak_reserved_bytes,
        about: explained("/memory/peak_reserved_bytes") },
    total: { label: "Device total", unit: "bytes", write: size, read: ({ estimate }) => estimate.memory.device_total_bytes,
        about: explained("/memory/device_total_bytes") },
    host: { label: "Host memory per node", unit: "bytes", write: size, read: ({ estimate }) => estimate.memory.host_bytes_per_node,
        about: said("what is moved off the devices of one node", "host_bytes_per_node of the estimate") },
    volume: { label: "Sent per rank and step, in N elements", unit: "", write: exact, read: ({ estimate }) => estimate.accounting?.communication_volume_ratio ?? null,
        about: said("elements that one data-parallel rank sends / parameters", "communication_volume_ratio of the rule of thumb") },
    perParameter: { label: "Bytes per parameter", unit: "bytes", write: exact, read: ({ estimate }) => estimate.accounting?.bytes_per_parameter ?? null,
        about: ({ estimate }) => ({ formula: estimate.accounting.formula, source: estimate.accounting.source }) },
};

/** A term of the step time as a figure. @param {string} name @returns {Figure} */
function ofTime(name) {
    const find = ({ estimate }) => estimate.time?.terms.find((item) => item.name === name) ?? null;
    return { label: lookOf(TIME_TERMS, name).label, unit: "s", write: seconds, read: (shown) => find(shown)?.seconds ?? 0, about: find };
}

/** @param {string} key @returns {Figure} */
export function figureOf(key) {
    return key.startsWith("time.") ? ofTime(key.slice("time.".length)) : FIGURES[key];
}
