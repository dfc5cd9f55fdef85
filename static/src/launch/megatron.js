/** Flags of Megatron-LM. Names: published copies of megatron/training/arguments.py of NVIDIA/Megatron-LM, of no one release. */
import { leftOut, recomputeWord } from "./written.js";

/**
 * Unfused and flash as they are, but for versions; cuDNN's are the fused ones, and on AMD AITER's, flash3 there.
 *
 * @param {string | null} kernel @param {string | null} part
 */
const backendOf = (kernel, part) => kernel === "cudnn" || kernel === "flash3" && part?.startsWith("amd-") ? "fused" : kernel?.replace(/\d/, "");

/** @type {import("./written.js").Knows} */
const KNOWS = { name: "Megatron-LM", frameworks: ["megatron"], precisions: ["bf16", "fp16", "fp32", "fp8"],
    recomputes: ["none", "selective", "core_attention", "full", "modules"], schedules: ["1f1b", "interleaved_1f1b"], offloads: ["optimizer"] };

/** @param {any} recompute @returns {string[]} */
function recomputed(recompute) {
    const word = recomputeWord(recompute);
    if (word === "full") {
        return ["--recompute-granularity full", `--recompute-method ${recompute.method ?? "uniform"}`, `--recompute-num-layers ${recompute.layers ?? 1}`];
    }
    const modules = word === "modules" && `--recompute-modules ${recompute.modules.join(" ")}`;
    return ["selective", "core_attention", "modules"].includes(word) ? ["--recompute-granularity selective", modules] : [];
}

/** @param {{optimizer?: string, optimizer_fraction?: number}} [offload] */
function offloaded({ optimizer, optimizer_fraction: part = 1 } = {}) {
    return optimizer === "cpu" ? ["--optimizer-cpu-offload", `--optimizer-offload-fraction ${part}`, "--use-precision-aware-optimizer"] : [];
}

/** @param {any} parallelism */
function cut(parallelism) {
    const { tensor, pipeline, virtual_pipeline: chunks, context, expert, zero_stage: stage, shard_group: group, overlap = {} } = parallelism;
    return [
        `--tensor-model-parallel-size ${tensor}`, `--pipeline-model-parallel-size ${pipeline}`,
        chunks > 1 && `--num-virtual-stages-per-pipeline-rank ${chunks}`,
        ...(context > 1 ? [`--context-parallel-size ${context}`, `--cp-comm-type ${parallelism.context_kind.replace("allg", "all_g")}`] : []),
        expert > 1 && `--expert-model-parallel-size ${expert}`,
        parallelism.expert_tensor && `--expert-tensor-parallel-size ${parallelism.expert_tensor}`,
        parallelism.sequence && "--sequence-parallel",
        stage && "--use-distributed-optimizer",
        group && `--num-distributed-optimizer-instances ${parallelism.data / group}`,
        overlap.grad_reduce && "--overlap-grad-reduce",
        stage && overlap.param_gather && "--overlap-param-gather",
        overlap.tensor === "userbuffer" && "--tp-comm-overlap",
    ];
}

/** @param {import("./written.js").Resolved} resolved @returns {import("./written.js").Written} */
export function megatron(resolved) {
    const { workload, parallelism, cluster } = resolved;
    const { precision } = workload;
    const backend = backendOf(workload.attention, cluster.accelerator);
    const flags = [
        ...cut(parallelism),
        `--micro-batch-size ${workload.micro_batch_size}`, `--global-batch-size ${workload.global_batch_size}`,
        `--seq-length ${workload.sequence_length}`,
        /32/.test(precision) ? "" : precision === "fp16" ? "--fp16" : "--bf16", precision === "fp8" && "--fp8-format hybrid",
        backend && `--attention-backend ${backend}`,
        ...recomputed(workload.recompute),
        ...offloaded(workload.offload),
    ].filter(Boolean);
    const notes = [
        ...leftOut(resolved, KNOWS),
        recomputeWord(workload.recompute) === "modules" && "newer_modules",
        parallelism.pipeline_layout && "no_layout",
        "megatron_rest",
    ].filter(Boolean);
    return { text: `${flags.join(" \\\n")}\n`, notes };
}
