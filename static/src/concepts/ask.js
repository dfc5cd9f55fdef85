/**
 * What the miniatures ask the service: a base that a variant changes. The same change, put on the
 * reader's own plan, is what "Plan with this" does.
 *
 * @typedef {Object} Variant
 * @property {string} label
 * @property {Record<string, any>} patch    a merge patch of the request, and of the reader's plan
 * @property {Record<string, any>} [only]   a further one, of the request alone
 * @property {Record<string, any>} [config] of a model in place of the chosen one
 */
import { EXAMPLES } from "../state/examples.js";
import { applyPatch, hasModel, mergePatch, modelOf, planOfExample } from "../state/plan.js";
import { plan } from "../state/store.js";

/** What p.m says for the model of the reader's plan. */
export const OWN = "plan";

/** @returns {[string, string][]} what the model of a miniature can be */
export function modelChoices() {
    const examples = /** @type {[string, string][]} */ ([...EXAMPLES].map(([id, { title }]) => [id, title]));
    return hasModel(plan.value) ? [[OWN, "The model of your plan"], ...examples] : examples;
}

/** @param {string | undefined} chosen @returns {string} one there is */
export function modelChosen(chosen) {
    const ids = modelChoices().map(([id]) => id);
    return chosen !== undefined && ids.includes(chosen) ? chosen : ids[0];
}

/** @param {string} id */
function modelNamed(id) {
    return id === OWN ? modelOf(plan.value) : { config: EXAMPLES.get(id).config };
}

/**
 * What executes a miniature: with a release left open the answer would be a median over releases,
 * and two variants could stand for different ones. @type {Record<string, string>}
 */
const SOFTWARE = { megatron: "mbridge-26.06", fsdp1: "pytorch-fsdp1-2.x", fsdp2: "torchtitan-2025-09", deepspeed: "deepspeed-0.x",
    ddp: "pytorch-ddp-2.x", dp: "pytorch-ddp-2.x" };

/** One node of eight, a batch that every cut divides, nothing computed twice, nothing open. @param {Record<string, any>} model */
function baseOf(model) {
    return {
        model,
        workload: { kind: "pretraining", framework: "megatron", sequence_length: 4096, global_batch_size: 64,
            micro_batch_size: 1, precision: "bf16", recompute: "none", attention: "flash2", optimizer: "adamw", dropout: false },
        cluster: { accelerator: "nvidia-h100-sxm5-80gb", accelerators_per_node: 8, nodes: 1 },
        parallelism: { data: "auto", zero_stage: 1 },
    };
}

/** @param {Variant} variant @param {string} model */
export function requestOn(variant, model) {
    const named = variant.config ? { config: variant.config } : modelNamed(model);
    const software = SOFTWARE[variant.patch.workload?.framework];
    return mergePatch(mergePatch(mergePatch(baseOf(named), variant.patch), { workload: { software } }), variant.only ?? {});
}

/**
 * The reader's plan with the change of a variant, or that of an example where there is no plan yet.
 * A release belongs to its framework: another framework leaves it open.
 * @param {Variant} variant @param {string} model @returns {import("../state/plan.js").Plan}
 */
export function planOn({ patch, config }, model) {
    const id = model === OWN || hasModel(plan.value) ? "" : model;
    const base = id === "" ? plan.value : planOfExample(id);
    const next = applyPatch(config ? { ...base, hub: "", revision: "", example: "", config } : base, patch);
    return next.framework === base.framework ? next : { ...next, software: "" };
}

/**
 * Equal layers without anything at their ends, so that what a schedule does is not blurred by what
 * the embedding and the head weigh.
 * @param {number} count @param {number} accelerators @param {number} batch
 */
export function equalLayers(count, accelerators, batch) {
    return {
        model: { config: null, hub: null, revision: null, layers: [{
            name: "layer", count, parameters: 400_000_000, activation_bytes: 100_000_000,
            forward_flops: 4_000_000_000_000, output_bytes: 10_000_000 }] },
        workload: { sequence_length: null, attention: null, global_batch_size: batch },
        cluster: { accelerators_per_node: accelerators },
    };
}

/** Two ends of what a cache can be, beside the examples, which share keys and values among heads. @type {[string, Record<string, any>][]} */
export const CACHES = [
    ["Llama 2 7B, each head its own", { architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 4096,
        intermediate_size: 11008, num_hidden_layers: 32, num_attention_heads: 32, vocab_size: 32000 }],
    ["DeepSeek-V3, latent", { architectures: ["DeepseekV3ForCausalLM"], model_type: "deepseek_v3" }],
];

/** Mixtral 8x7B, from its published config: a miniature of experts needs some. */
export const WITH_EXPERTS = {
    architectures: ["MixtralForCausalLM"], model_type: "mixtral", hidden_size: 4096, intermediate_size: 14336,
    num_hidden_layers: 32, num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 32000, num_local_experts: 8,
    num_experts_per_tok: 2, sliding_window: null, tie_word_embeddings: false, torch_dtype: "bfloat16",
};
