/**
 * How each term of an estimate is called and coloured. Colours are classes (tone-*), defined per
 * theme in the style sheet from the Okabe-Ito eight; the order is the order of stacking. No two terms
 * of a figure look alike: where they share a tone, one is hatched, and in memory those that come and go are.
 *
 * @typedef {{label: string, tone: string, hatched?: boolean}} Look
 */

/** @type {Map<string, Look>} */
export const MEMORY_TERMS = new Map([
    ["parameters", { label: "Parameters", tone: "blue" }],
    ["adapters", { label: "Adapters", tone: "yellow" }],
    ["gradients", { label: "Gradients", tone: "vermillion" }],
    ["master_weights", { label: "Master weights", tone: "sky" }],
    ["optimizer", { label: "Optimizer states", tone: "green" }],
    ["activations", { label: "Activations", tone: "orange" }],
    ["logits", { label: "Logits", tone: "yellow" }],
    ["kv_cache", { label: "KV cache", tone: "green" }],
    ["gathered_parameters", { label: "Gathered parameters", tone: "blue" }],
    ["communication_buffers", { label: "Communication buffers", tone: "purple" }],
    ["temporary", { label: "Temporary", tone: "grey" }],
    ["fragmentation", { label: "Fragmentation", tone: "ink" }],
    ["context", { label: "Device context", tone: "ink" }],
]);

/** @type {Map<string, Look>} */
export const TIME_TERMS = new Map([
    ["forward", { label: "Forward", tone: "sky" }],
    ["backward", { label: "Backward", tone: "blue" }],
    ["recompute", { label: "Recompute", tone: "orange" }],
    ["launch", { label: "Waiting for the host", tone: "ink", hatched: true }],
    ["tensor_communication", { label: "Tensor communication", tone: "purple" }],
    ["context_communication", { label: "Context communication", tone: "purple", hatched: true }],
    ["expert_communication", { label: "Expert communication", tone: "vermillion", hatched: true }],
    ["activation_offload", { label: "Activations to the host and back", tone: "orange", hatched: true }],
    ["pipeline_communication", { label: "Pipeline communication", tone: "vermillion" }],
    ["bubble", { label: "Pipeline bubble", tone: "grey", hatched: true }],
    ["data_communication", { label: "Data communication", tone: "yellow" }],
    ["optimizer", { label: "Optimizer step", tone: "green" }],
    ["overhead", { label: "Overhead and slowest rank", tone: "ink" }],
]);

/** @param {Map<string, Look>} looks @param {string} name @returns {Look} */
export function lookOf(looks, name) {
    const words = name.replaceAll("_", " ");
    return looks.get(name) ?? { label: words.charAt(0).toUpperCase() + words.slice(1), tone: "grey" };
}

/** Terms that come and go within a step are hatched, those that stay are solid. @param {string} lifetime */
export function isTransient(lifetime) {
    return lifetime === "activation" || lifetime === "transient";
}

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
