/** The configuration of DeepSpeed. Names: published configurations of it; its own document of them was not at hand. */
import { leftOut, recomputeWord } from "./written.js";

const OFFLOADS = { optimizer: "offload_optimizer", parameters: "offload_param" };

/** @type {import("./written.js").Knows} */
const KNOWS = { name: "DeepSpeed", frameworks: ["deepspeed"], precisions: ["bf16", "fp16", "fp32"], offloads: Object.keys(OFFLOADS), dataOnly: true };

/** @param {import("./written.js").Resolved} resolved @returns {import("./written.js").Written} */
export function deepspeed(resolved) {
    const { workload, parallelism } = resolved;
    const moved = Object.entries(OFFLOADS).filter(([state]) => (workload.offload?.[state] ?? "none") !== "none")
        .map(([state, name]) => [name, { device: workload.offload[state] }]);
    const config = {
        train_batch_size: workload.global_batch_size,
        train_micro_batch_size_per_gpu: workload.micro_batch_size,
        gradient_accumulation_steps: workload.gradient_accumulation,
        bf16: { enabled: workload.precision === "bf16" },
        fp16: { enabled: workload.precision === "fp16" },
        zero_optimization: { stage: parallelism.zero_stage, overlap_comm: parallelism.overlap?.grad_reduce === true, ...Object.fromEntries(moved) },
    };
    const notes = [
        ...leftOut(resolved, KNOWS),
        recomputeWord(workload.recompute) !== "none" && "no_recompute",
        "deepspeed_rest",
    ].filter(Boolean);
    return { text: `${JSON.stringify(config, null, 2)}\n`, notes };
}
