/** Flags of Megatron-LM. Names: published copies of megatron/training/arguments.py of NVIDIA/Megatron-LM, of no one release. */
import { foreign, optimizerNote, recomputeWord, unmoved } from "./written.js";

const BACKENDS = { unfused: "unfused", flash2: "flash", flash3: "flash", flash1: "flash", cudnn: "fused" };
const CONTEXT_KINDS = { p2p: "p2p", a2a: "a2a", allgather: "all_gather" };
const SCHEDULES = ["1f1b", "interleaved_1f1b"];

/** @param {any} recompute @returns {{flags: string[], notes: string[]}} */
function recomputed(recompute) {
    const word = recomputeWord(recompute);
    const full = (method, layers) => ["--recompute-granularity full", `--recompute-method ${method}`, `--recompute-num-layers ${layers}`];
    if (word === "none") return { flags: [], notes: [] };
    if (word === "selective" || word === "core_attention") return { flags: ["--recompute-granularity selective"], notes: [] };
    if (word === "full") return { flags: full(recompute.method ?? "uniform", recompute.layers ?? 1), notes: [] };
    if (word === "modules") {
        return { flags: ["--recompute-granularity selective", `--recompute-modules ${recompute.modules.join(" ")}`],
            notes: ["--recompute-modules is of newer releases; not verified for one of them."] };
    }
    return { flags: [], notes: [`Left out: recomputation ${word}, which Megatron-LM does not have.`] };
}

/** @param {any} parallelism */
function cut(parallelism) {
    const { tensor, pipeline, virtual_pipeline: chunks, context, expert, overlap = {} } = parallelism;
    const sharded = parallelism.zero_stage >= 1;
    return [
        `--tensor-model-parallel-size ${tensor}`, `--pipeline-model-parallel-size ${pipeline}`,
        chunks > 1 && `--num-virtual-stages-per-pipeline-rank ${chunks}`,
        context > 1 && `--context-parallel-size ${context}`,
        context > 1 && `--cp-comm-type ${CONTEXT_KINDS[parallelism.context_kind]}`,
        expert > 1 && `--expert-model-parallel-size ${expert}`,
        parallelism.expert_tensor && `--expert-tensor-parallel-size ${parallelism.expert_tensor}`,
        parallelism.sequence && "--sequence-parallel",
        sharded && "--use-distributed-optimizer",
        overlap.grad_reduce && "--overlap-grad-reduce",
        overlap.param_gather && sharded && "--overlap-param-gather",
        overlap.tensor === "userbuffer" && "--tp-comm-overlap",
    ];
}

/** @param {any} workload */
function precisionOf({ precision }) {
    const eight = ["fp8", "mxfp8"].includes(precision);
    const flags = [eight || precision === "bf16" ? "--bf16" : precision === "fp16" ? "--fp16" : false, precision === "fp8" && "--fp8-format hybrid"];
    const notes = ["bf16", "fp16", "fp32", "fp8"].includes(precision) ? [] : [`Left out: the recipe of ${precision}, whose flags differ between releases.`];
    return { flags, notes };
}

/** @param {import("./written.js").Resolved} resolved @returns {import("./written.js").Written} */
export function megatron(resolved) {
    const { workload, parallelism } = resolved;
    const recompute = recomputed(workload.recompute);
    const precision = precisionOf(workload);
    const flags = [
        ...cut(parallelism),
        `--micro-batch-size ${workload.micro_batch_size}`, `--global-batch-size ${workload.global_batch_size}`,
        `--seq-length ${workload.sequence_length}`,
        ...precision.flags,
        BACKENDS[workload.attention] && `--attention-backend ${BACKENDS[workload.attention]}`,
        ...recompute.flags,
    ].filter(Boolean);
    const notes = [
        ...foreign(resolved, ["megatron"], "Megatron-LM"), ...recompute.notes, ...precision.notes,
        ...optimizerNote(resolved, ["adamw"]), ...unmoved(resolved),
        ...(parallelism.pipeline > 1 && !SCHEDULES.includes(parallelism.schedule) ? [`Left out: the schedule ${parallelism.schedule}.`] : []),
        ...(parallelism.pipeline_layout ? ["Left out: the layers of each stage, which are not equal."] : []),
        "The flags of the model, the data and the learning rate are yours to add. Names are those of published sources, not verified for a release.",
    ];
    return { text: `${flags.join(" \\\n")}\n`, notes };
}
