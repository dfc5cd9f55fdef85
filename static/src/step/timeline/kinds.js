/**
 * How each kind of span is called and drawn: a tone as elsewhere on the page, a hatch where two
 * kinds share a tone, a letter where there is room for one.
 *
 * @typedef {{label: string, tone: string, hatched: boolean, letter: string}} KindLook
 */
import { lookOf } from "../../widgets/terms.js";

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
    activations_down: { label: "Activations to the host", tone: "grey", hatched: false, letter: "A" },
    activations_up: { label: "Activations from the host", tone: "grey", hatched: true, letter: "K" },
    broadcast: { label: "Broadcast parameters", tone: "yellow", hatched: false, letter: "L" },
    scatter_inputs: { label: "Scatter inputs", tone: "orange", hatched: false, letter: "N" },
    gather_outputs: { label: "Gather outputs", tone: "orange", hatched: false, letter: "Y" },
    scatter_gradients: { label: "Scatter their gradients", tone: "orange", hatched: true, letter: "Z" },
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

/** Copies go one way or the other: which of the two stands in place of a group. */
const WAYS = { to_host: "to the host", from_host: "from the host" };

/** @param {{stream: string, group: string | null}} lane */
export function laneWords({ stream, group }) {
    const words = STREAM_WORDS[stream] ?? stream.replaceAll("_", " ");
    if (group === null) return words;
    return group in WAYS ? `${words} ${WAYS[group]}` : `${words} of the ${group} group`;
}

/** As short as a lane is low. @param {{stream: string, group: string | null}} lane */
export function laneName({ stream, group }) {
    if (group === null) return STREAM_WORDS[stream] ?? stream.replaceAll("_", " ");
    return WAYS[group] ?? group;
}
