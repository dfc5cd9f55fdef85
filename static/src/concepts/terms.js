/**
 * Every concept's miniature: which plans it asks about and which figures it shows. The words stand
 * in texts.json.
 *
 * @typedef {import("./ask.js").Variant} Variant
 * @typedef {{name: string, label: string, values: number[], initial: number}} Knob
 * @typedef {Object} Term
 * @property {"bars" | "lanes" | "rings" | "cache"} show
 * @property {string[]} figures     keys of FIGURES, or "time." and a term
 * @property {Knob[]} [knobs]
 * @property {boolean} [own]        whether the reader chooses the model
 * @property {(at: Record<string, number>) => Variant[]} variants
 */
import { CONCEPTS } from "../widgets/read.js";
import { equalLayers, WITH_EXPERTS } from "./ask.js";

/** @param {string} name @param {string} label @param {number[]} values @param {number} initial @returns {Knob} */
const knob = (name, label, values, initial) => ({ name, label, values, initial });
const GPUS = knob("gpus", "GPUs", [2, 4, 8], 8);
const LENGTH = knob("length", "Sequence length", [2048, 4096, 8192, 16384, 32768], 8192);
const STAGES = [2, 3, 4, 6];

/**
 * A variant for each value, in one framework.
 * @param {[string, any][]} values  with their labels
 * @param {(value: any) => Record<string, any>} patch  beside the framework
 * @param {(value: any) => Record<string, any>} [only]
 * @returns {Variant[]}
 */
function each(values, patch, only = () => ({})) {
    return values.map(([label, value]) => ({ label, patch: patch(value), only: only(value) }));
}

/** @param {string} framework @param {Record<string, any>} parallelism @param {Record<string, any>} [workload] */
const plan = (framework, parallelism, workload = {}) => ({ workload: { framework, ...workload }, parallelism });

/** @param {number[]} sizes @param {string} word @returns {[string, number][]} */
const named = (sizes, word) => sizes.map((size) => [`${word} ${size}`, size]);

/** @param {number} size */
const batch = (size) => ({ workload: { global_batch_size: size } });

/** Two GPUs in a tensor group: what a mid-size model needs to fit. */
const PAIR = { tensor: 2, sequence: true };

/** @param {[string, string, number][]} schedules  label, name, chunks @param {number} layers @param {number} stages @param {number} batches */
function pipelines(schedules, layers, stages, batches) {
    return schedules.map(([label, schedule, chunks]) => ({ label,
        patch: plan("megatron", { pipeline: stages, schedule, virtual_pipeline: chunks }),
        only: { ...equalLayers(layers, stages, batches), parallelism: { data: 1 } } }));
}

/** Rules of thumb by the bytes they give to weights, gradients and states. @type {[string, string][]} */
const RULES = [["All 16-bit", "half-simple"], ["fp32 weights, 16-bit momentum", "mixed-12n"], ["Mixed precision", "mixed-2-2-12"],
    ["Mixed, fp32 gradients", "mixed-2-4-12"], ["All fp32", "fp32-16n"]];

/** The question of a rule: a number of parameters, and nothing that trains them. @param {number} parameters @param {string} accounting */
const ruleOf = (parameters, accounting) => ({
    model: { config: null, hub: null, revision: null, parameters },
    workload: { kind: null, framework: null, sequence_length: null, global_batch_size: null, micro_batch_size: null,
        precision: null, recompute: null, attention: null, optimizer: null, dropout: null, accounting },
    cluster: null,
});

/** @type {Record<string, Term>} */
const MINIATURES = {
    data: { show: "lanes", figures: ["step", "exposed", "total"], knobs: [GPUS],
        variants: ({ gpus }) => each([["DP", "dp"], ["DDP", "ddp"]], (framework) => plan(framework, { zero_stage: 0 }),
            () => equalLayers(6, gpus, gpus)) },
    ddp: { show: "lanes", figures: ["step", "exposed", "traffic"], knobs: [GPUS],
        variants: ({ gpus }) => each([["Overlapped", true], ["Not overlapped", false]],
            (overlapped) => plan("ddp", { zero_stage: 0, overlap: { grad_reduce: overlapped } }), () => equalLayers(6, gpus, gpus)) },
    zero: { show: "bars", figures: ["step", "mfu", "time.data_communication"], own: true, knobs: [knob("nodes", "Nodes of 8 GPUs", [1, 2, 4, 8, 16, 32], 1)],
        variants: ({ nodes }) => each(named([0, 1, 2, 3], "Stage"),
            (stage) => ({ ...plan("deepspeed", { zero_stage: stage }), cluster: { nodes } }), () => batch(64 * nodes)) },
    fsdp: { show: "lanes", figures: ["step", "exposed", "total"], knobs: [GPUS],
        variants: ({ gpus }) => each([["Free after forward", true], ["Keep until backward", false]],
            (reshard) => plan("fsdp2", { zero_stage: 3, reshard_after_forward: reshard }), () => equalLayers(6, gpus, gpus)) },
    hsdp: { show: "bars", figures: ["step", "mfu", "exposed"], own: true,
        knobs: [knob("nodes", "Nodes of 8 GPUs", [2, 4, 8, 16, 32], 8), knob("network", "Network of a GPU, GB/s", [12.5, 25, 50], 12.5)],
        variants: ({ nodes, network }) => each([["All GPUs share", null], ["Each node shares", 8]],
            (group) => ({ ...plan("fsdp2", { zero_stage: 3, shard_group: group, grad_reduce_dtype: "bf16" }), cluster: { nodes } }),
            () => ({ ...batch(8 * nodes), cluster: { nics: [{ count: 8, bytes_per_s: network * 1e9 }] } })) },
    ring: { show: "rings", figures: ["rounds", "traffic", "exposed"], knobs: [GPUS],
        variants: ({ gpus }) => each([[`All-reduce over ${gpus} GPUs`, "ddp"]], (framework) => plan(framework, { zero_stage: 0 }),
            () => equalLayers(1, gpus, gpus)) },
    tensor: { show: "bars", figures: ["step", "mfu", "time.tensor_communication"], own: true,
        variants: () => each(named([1, 2, 4, 8], "Tensor"), (tensor) => plan("megatron", { tensor, sequence: false })) },
    sequence: { show: "bars", figures: ["step", "mfu", "time.tensor_communication"], own: true,
        variants: () => each([["Off", false], ["On", true]], (sequence) => plan("megatron", { tensor: 4, sequence })) },
    pipeline: { show: "lanes", figures: ["bubble", "idle", "step", "alive"],
        knobs: [knob("stages", "Stages p", STAGES, 4), knob("batches", "Micro-batches m", [1, 2, 3, 4, 6, 8, 12, 16, 24], 8)],
        variants: ({ stages, batches }) => pipelines([["GPipe", "gpipe", 1], ["1F1B", "1f1b", 1],
            ["Interleaved, 2 chunks", "interleaved_1f1b", 2], ["Zero bubble H1", "zb_h1", 1]], 24, stages, batches) },
    naive: { show: "lanes", figures: ["bubble", "idle", "step", "alive"], knobs: [knob("stages", "Devices k", STAGES, 3)],
        variants: ({ stages }) => pipelines([["Naive", "naive", 1], ["GPipe", "gpipe", 1]], 12, stages, 8) },
    context: { show: "bars", figures: ["step", "mfu", "time.context_communication"], own: true,
        knobs: [knob("length", "Sequence length", [8192, 16384, 32768, 65536, 131072], 32768)],
        variants: ({ length }) => each(named([1, 2, 4, 8], "Context"),
            (context) => plan("megatron", { context }, { sequence_length: length }), () => batch(8)) },
    expert: { show: "bars", figures: ["step", "mfu", "time.expert_communication"],
        variants: () => each(named([1, 2, 4, 8], "Expert"), (expert) => plan("megatron", { expert }), () => ({ cluster: { nodes: 8 } }))
            .map((variant) => ({ ...variant, config: WITH_EXPERTS })) },
    states: { show: "bars", figures: ["perParameter", "volume"],
        knobs: [knob("billions", "Parameters, billions", [1, 7, 13, 40, 70, 175, 405], 7), knob("ranks", "Ranks M", [1, 8, 16, 64, 512], 1),
            knob("stage", "ZeRO stage", [0, 1, 2, 3], 0)],
        variants: ({ billions, ranks, stage }) => each(RULES, () => ({}),
            (rule) => ({ ...ruleOf(billions * 1e9, rule), parallelism: { data: ranks, zero_stage: stage } })) },
    recompute: { show: "bars", figures: ["step", "mfu", "hfu", "time.recompute"], own: true, knobs: [LENGTH],
        variants: ({ length }) => each([["None", "none"], ["Selective", "selective"], ["Full", "full"]],
            (recompute) => plan("megatron", PAIR, { recompute, attention: "unfused", sequence_length: length })) },
    attention: { show: "bars", figures: ["step", "mfu"], own: true, knobs: [LENGTH],
        variants: ({ length }) => each([["Unfused", "unfused"], ["FlashAttention-2", "flash2"], ["FlashAttention-3", "flash3"]],
            (attention) => plan("megatron", PAIR, { attention, sequence_length: length })) },
    microBatch: { show: "bars", figures: ["step", "mfu"], own: true,
        variants: () => each(named([1, 2, 4, 8], "Micro-batch"), (size) => plan("megatron", PAIR, { micro_batch_size: size })) },
    offload: { show: "bars", figures: ["step", "mfu", "host"], own: true,
        variants: () => each([["Nothing", ["none", "none"]], ["Optimizer", ["cpu", "none"]], ["And parameters", ["cpu", "cpu"]]],
            ([optimizer, parameters]) => plan("deepspeed", { zero_stage: 3 }, { offload: { optimizer, parameters } })) },
    lora: { show: "bars", figures: ["step", "mfu"], own: true,
        variants: () => each([["All weights", null], ["LoRA", { method: "lora" }], ["QLoRA", { method: "lora", base: "nf4" }]],
            (adapter) => plan("fsdp2", { zero_stage: 3 }, { kind: "finetuning", adapter })) },
    reserved: { show: "bars", figures: ["allocated", "reserved", "total"], own: true,
        variants: () => each([["FSDP 1", "fsdp1"], ["FSDP 2", "fsdp2"]], (framework) => plan(framework, { zero_stage: 3 }), () => batch(8)) },
    cache: { show: "cache", figures: [], variants: () => [] },
    mfu: { show: "bars", figures: ["mfu", "hfu", "step"], own: true,
        variants: () => each([["Nothing recomputed", "none"], ["All recomputed", "full"]], (recompute) => plan("megatron", PAIR, { recompute })) },
};

/** In the order of reading. */
export const IDS = Object.keys(CONCEPTS);

/** @param {string | undefined} id @returns {string} the first where there is none such */
export const idOf = (id) => (id !== undefined && IDS.includes(id) ? id : IDS[0]);

/** @param {string} id @returns {Term} */
export const termOf = (id) => MINIATURES[id];
