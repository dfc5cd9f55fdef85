/**
 * What other estimators compute, where the formula itself is the reason for a difference: a written
 * reason that names one counts only where the formula gives their figure. Bytes; symbols as in the
 * papers, dimensions as in the cases.
 */

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/**
 * Megatron-LM theoretical_memory_usage.py with sequence parallelism and selective recomputation:
 * 18 h + 4 f a token and layer, the embedding's ids and dropout for each stage, output layer and
 * cross-entropy without a pipeline, the penalty of interleaving. All L layers are on a rank: a
 * pipeline's first stage has L / p of p micro-batches in flight.
 */
function megatronActivation({ dims, ...plan }, widths) {
    const { L: layers, h: hidden } = dims;
    const { pp: stages, vpp: chunks, num_microbatches: microbatches } = plan;
    const tokens = plan.seq_len * plan.micro_batch / plan.shared;
    let bytes = tokens * (18 * hidden * layers + 4 * sum(widths));
    bytes += tokens * stages * (8 + hidden);
    if (chunks)
        bytes *= 1 + (stages - 1) / (stages * chunks);
    else if (stages > 1 && microbatches)
        bytes *= Math.min(1, microbatches / stages);
    if (stages === 1)
        bytes += 4 * tokens * (hidden + (plan.padded_vocab ?? dims.V));
    return bytes / plan.tp;
}

export const formulas = {
    /** Every layer is dense, and contexts are whole. */
    megatron_activation: (input) =>
        megatronActivation({ ...input, shared: 1 }, Array(input.dims.L).fill(input.dims.f)),

    /** Megatron-Bridge theoretical_memory_utils.py: a routed layer is as wide as its top k. */
    bridge_activation: (input) => {
        const { L: layers, f: width, E: experts, topk, fe, shared, dense } = input.dims;
        const routed = experts ? topk * fe + (shared ?? 0) : width;
        return megatronActivation({ ...input, shared: input.cp },
            Array.from({ length: layers }, (_, layer) =>
                (experts && layer >= (dense ?? 0) ? routed : width)));
    },

    /** stage_1_and_2.py and stage3.py without offload. */
    deepspeed_2: ({ total_params: n, gpus_per_node: per, num_nodes: nodes }) =>
        2 * n + 18 * n / (per * nodes),
    deepspeed_3: ({ total_params: n, largest_layer_params: largest, ...nodes }) =>
        18 * n / (nodes.gpus_per_node * nodes.num_nodes) + 4 * largest,

    /** The same with the optimizer on the host. */
    deepspeed_3_optimizer: ({ total_params: n, largest_layer_params: largest, ...nodes }) =>
        2 * n / (nodes.gpus_per_node * nodes.num_nodes) + 4 * largest,
    deepspeed_2_host: ({ total_params: n, gpus_per_node: per, num_nodes: nodes, ...input }) =>
        n * Math.max(4 * per * nodes, 16) * input.additional_buffer_factor,

    /** calc_transformer_mem.py: 34 h, and unfused scores unless recomputed; all layers. */
    cookbook_activation: (input) => {
        const tokens = input.sequence_length * input.batch_size_per_gpu;
        const scores = input.checkpoint_activations ? 0
            : 5 * input.num_attention_heads * input.sequence_length;
        const ranks = input.partition_activations ? input.tensor_parallel_size : 1;
        return tokens * input.num_layers * (34 * input.hidden_size + scores) / ranks;
    },
};
