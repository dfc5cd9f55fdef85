/** The job file of torchtitan. Names: torchtitan/config/job_config.py of pytorch/torchtitan, the TOML files of mid-2025. */
import { leftOut, recomputeWord } from "./written.js";

/** @type {Record<string, string>} */
const SCHEDULES = { "1f1b": "1F1B", interleaved_1f1b: "Interleaved1F1B" };
/** @type {Record<string, string[]>} */
const CHECKPOINTS = { none: ['mode = "none"'], full: ['mode = "full"'], op_sac: ['mode = "selective"', 'selective_ac_option = "op"'] };

/** Its "selective" is another one than the plan's. @type {import("./written.js").Knows} */
const KNOWS = { name: "torchtitan", frameworks: ["fsdp2"], precisions: ["bf16", "fp32", "fp8"], recomputes: Object.keys(CHECKPOINTS),
    schedules: Object.keys(SCHEDULES) };

/** How many copies of the states there are, and over how many ranks each is spread. @param {any} parallelism */
function spread({ data, zero_stage: stage, shard_group: group }) {
    if (stage < 2) return { copies: data, shards: 1 };
    const shards = group ?? data;
    return { copies: data / shards, shards };
}

/** @param {import("./written.js").Resolved} resolved */
function parallel({ workload, parallelism }) {
    const { copies, shards } = spread(parallelism);
    const piped = parallelism.pipeline > 1;
    return [
        `data_parallel_replicate_degree = ${copies}`, `data_parallel_shard_degree = ${shards}`,
        shards > 1 && `fsdp_reshard_after_forward = "${parallelism.zero_stage === 3 ? "always" : "never"}"`,
        `tensor_parallel_degree = ${parallelism.tensor}`,
        `pipeline_parallel_degree = ${parallelism.pipeline}`,
        piped && SCHEDULES[parallelism.schedule] && `pipeline_parallel_schedule = "${SCHEDULES[parallelism.schedule]}"`,
        piped && `pipeline_parallel_microbatch_size = ${workload.micro_batch_size}`,
        `context_parallel_degree = ${parallelism.context}`, `expert_parallel_degree = ${parallelism.expert}`,
    ];
}

/** @param {import("./written.js").Resolved} resolved @returns {import("./written.js").Written} */
export function torchtitan(resolved) {
    const { workload, parallelism } = resolved;
    const eight = workload.precision === "fp8";
    /* A pipeline is fed all micro-batches of a replica at once. */
    const local = parallelism.pipeline > 1 ? workload.micro_batch_size * workload.gradient_accumulation : workload.micro_batch_size;
    /** @type {[string, (string | false)[]][]} */
    const sections = [
        ["model", [eight && 'converters = ["float8"]']],
        ["training", [`local_batch_size = ${local}`, `global_batch_size = ${workload.global_batch_size}`,
            `seq_len = ${workload.sequence_length}`, `mixed_precision_param = "${workload.precision === "fp32" ? "float32" : "bfloat16"}"`,
            `compile = ${workload.compile === true}`]],
        ["parallelism", parallel(resolved)],
        ["activation_checkpoint", CHECKPOINTS[recomputeWord(workload.recompute)] ?? []],
    ];
    const text = sections.map(([name, lines]) => ({ name, lines: lines.filter(Boolean) })).filter(({ lines }) => lines.length > 0)
        .map(({ name, lines }) => `[${name}]\n${lines.join("\n")}\n`).join("\n");
    const notes = [
        ...leftOut(resolved, KNOWS),
        parallelism.zero_stage === 1 && "no_zero_1",
        parallelism.virtual_pipeline > 1 && "no_chunks",
        "torchtitan_rest",
    ].filter(Boolean);
    return { text, notes };
}
