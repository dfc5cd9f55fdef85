/**
 * How each kind of span is called and drawn: a tone as elsewhere on the page, a hatch where two
 * kinds share a tone, a letter where there is room for one.
 *
 * @typedef {{label: string, tone: string, hatched: boolean, letter: string}} KindLook
 */
import { lookOf } from "./terms.js";

/** @type {Map<string, KindLook>} */
const KINDS = new Map(Object.entries({
    forward: { label: "Forward", tone: "sky", hatched: false, letter: "F" },
    backward: { label: "Backward", tone: "blue", hatched: false, letter: "B" },
    backward_input: { label: "Backward, inputs", tone: "blue", hatched: false, letter: "I" },
    backward_weight: { label: "Backward, weights", tone: "blue", hatched: true, letter: "W" },
    send_output: { label: "Send output", tone: "vermillion", hatched: false, letter: "S" },
    send_gradient: { label: "Send gradient", tone: "vermillion", hatched: true, letter: "D" },
    gather: { label: "Gather parameters", tone: "yellow", hatched: false, letter: "G" },
    reduce: { label: "Reduce gradients", tone: "yellow", hatched: true, letter: "R" },
    reduce_replicas: { label: "Reduce over replicas", tone: "purple", hatched: false, letter: "P" },
    optimizer: { label: "Optimizer step", tone: "green", hatched: false, letter: "O" },
    barrier: { label: "Wait for all", tone: "ink", hatched: false, letter: "X" },
    overhead: { label: "Slowest rank, overhead", tone: "ink", hatched: true, letter: "V" },
    gradients_down: { label: "Gradients to the host", tone: "purple", hatched: true, letter: "H" },
    parameters_up: { label: "Parameters from the host", tone: "purple", hatched: true, letter: "U" },
}));

/** Kinds in which a stage does nothing but wait. */
export const WAITING = ["barrier", "overhead"];

/** @param {string} name @returns {KindLook} */
export function kindLook(name) {
    const { label, tone } = lookOf(new Map(), name);
    return KINDS.get(name) ?? { label, tone, hatched: false, letter: label.charAt(0) };
}

const STREAM_WORDS = {
    compute: "compute", scale_up: "scale-up links", network: "network", copy: "copies", host: "host",
};

/** @param {{stream: string, group: string | null}} lane */
export function laneWords({ stream, group }) {
    const words = STREAM_WORDS[stream] ?? stream.replaceAll("_", " ");
    return group === null ? words : `${words} of the ${group} group`;
}

/** As short as a lane is low. @param {{stream: string, group: string | null}} lane */
export function laneName({ stream, group }) {
    return group ?? STREAM_WORDS[stream] ?? stream.replaceAll("_", " ");
}
