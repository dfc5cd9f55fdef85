/**
 * How each term of an estimate is called and coloured. Colours are classes (tone-*), defined per
 * theme in the style sheet from the Okabe-Ito eight; the order is the order of stacking. No two terms
 * of a figure look alike: where they share a tone, one is hatched, and in memory those that come and go are.
 *
 * @typedef {{label: string, tone: string, hatched?: boolean}} Look
 */
import { wordsOf } from "../words.js";

/** As words at the start of a line. @param {string} name */
export const titleOf = (name) => wordsOf(name.charAt(0).toUpperCase() + name.slice(1));

/** @param {Record<string, [tone: string, label?: string, hatched?: boolean]>} terms  label: where it is not the name @returns {Map<string, Look>} */
function looks(terms) {
    return new Map(Object.entries(terms).map(([name, [tone, label = titleOf(name), hatched]]) => [name, { label, tone, hatched }]));
}

/** In the order of stacking. */
export const MEMORY_TERMS = looks({
    parameters: ["blue"], adapters: ["yellow"], gradients: ["vermillion"], master_weights: ["sky"], optimizer: ["green", "Optimizer states"],
    activations: ["orange"], "activations rebuilt in backward": ["vermillion", "Activations"], logits: ["yellow"], kv_cache: ["green", "KV cache"], gathered_parameters: ["blue"],
    communication_buffers: ["purple"], temporary: ["grey"], "temporary workspaces of products": ["orange", "Temporary"], fragmentation: ["ink"], context: ["ink", "Device context"],
});

export const TIME_TERMS = looks({
    forward: ["sky"], backward: ["blue"], recompute: ["orange"], launch: ["ink", "Waiting for the host", true],
    tensor_communication: ["purple"], context_communication: ["purple", undefined, true], expert_communication: ["vermillion", undefined, true],
    activation_offload: ["orange", "Activations to the host and back", true], pipeline_communication: ["vermillion"],
    bubble: ["grey", "Pipeline bubble", true], data_communication: ["yellow"], optimizer: ["green", "Optimizer step"],
    overhead: ["ink", "Overhead and slowest rank"],
});

/** @param {Map<string, Look>} looks @param {string} name @param {string} [what]  where a name stands for two @returns {Look} */
export function lookOf(looks, name, what) {
    return looks.get(`${name} ${what}`) ?? looks.get(name) ?? { label: titleOf(name), tone: "grey" };
}

/** Terms that come and go within a step are hatched, those that stay are solid. @param {string} lifetime */
export function isTransient(lifetime) {
    return lifetime === "activation" || lifetime === "transient";
}

/** @type {Record<string, string>} */
const LIFETIMES = {
    persistent: "kept for the whole run",
    activation: "kept from forward to backward",
    transient: "only at the peak",
    outside_allocator: "outside the allocator",
};

/** @param {string} lifetime */
export function lifetimeWords(lifetime) {
    return LIFETIMES[lifetime] ?? lifetime;
}
