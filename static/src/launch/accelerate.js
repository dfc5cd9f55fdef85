/** FSDP through Accelerate. Names: the FSDP guide and examples/config_yaml_templates of huggingface/accelerate. */
import { leftOut, recomputeWord } from "./written.js";

/** @type {Record<number, string>} */
const STRATEGIES = { 0: "NO_SHARD", 2: "SHARD_GRAD_OP", 3: "FULL_SHARD" };

/** @type {import("./written.js").Knows} */
const KNOWS = { name: "FSDP", frameworks: ["fsdp1", "fsdp2"], precisions: ["bf16", "fp16", "fp32"], recomputes: ["none", "full"],
    offloads: ["parameters"], dataOnly: true };

/** @param {import("./written.js").Resolved} resolved @returns {import("./written.js").Written} */
export function accelerate(resolved) {
    const { workload, parallelism, cluster } = resolved;
    const { zero_stage: stage, shard_group: group } = parallelism;
    const second = workload.framework !== "fsdp1";
    const sharding = second ? ["fsdp_version: 2", `fsdp_reshard_after_forward: ${stage === 3}`]
        : [`fsdp_sharding_strategy: ${STRATEGIES[stage] ?? STRATEGIES[3]}`];
    const lines = [
        "compute_environment: LOCAL_MACHINE", "distributed_type: FSDP",
        `mixed_precision: '${["bf16", "fp16"].includes(workload.precision) ? workload.precision : "no"}'`,
        `num_machines: ${cluster.nodes}`, `num_processes: ${cluster.accelerators}`, "machine_rank: 0",
        "fsdp_config:",
        ...[...sharding, "fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP", `fsdp_activation_checkpointing: ${recomputeWord(workload.recompute) === "full"}`,
            `fsdp_offload_params: ${workload.offload?.parameters === "cpu"}`, "fsdp_state_dict_type: SHARDED_STATE_DICT"].map((line) => `  ${line}`),
    ];
    const notes = [
        ...leftOut(resolved, KNOWS),
        (stage === 1 || (second && stage < 2)) && "no_stage",
        group && group < parallelism.data && `Left out: shards over groups of ${group}, not over all ${parallelism.data} replicas.`,
        `Batch sizes and accumulation are set by your script: ${workload.micro_batch_size} per device, ${workload.gradient_accumulation} accumulated.`, "ranks_differ",
    ].filter(Boolean);
    return { text: `${lines.join("\n")}\n`, notes };
}
