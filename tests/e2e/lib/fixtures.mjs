/**
 * Small models of our own making, one per family, with the keys a real config of it has; and the
 * requests the tests send, built from a base by what a test wants different.
 */

export const llama = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_size: 256,
    intermediate_size: 688,
    num_hidden_layers: 4,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    vocab_size: 2048,
    max_position_embeddings: 1024,
    hidden_act: 'silu',
    rms_norm_eps: 1e-5,
    tie_word_embeddings: false,
    torch_dtype: 'bfloat16',
};

/** V*H twice, then per layer q, k, v, o, the gated MLP and two norms, and the last norm. */
export const llamaParameters = 2 * 2048 * 256
    + 4 * (256 * 256 + 2 * 256 * 128 + 256 * 256 + 3 * 256 * 688 + 2 * 256) + 256;

export const mistral = {
    ...llama,
    architectures: ['MistralForCausalLM'],
    model_type: 'mistral',
    sliding_window: null,
};

/** Biases on q, k and v for which there is no key. */
export const qwen2 = {
    ...llama,
    architectures: ['Qwen2ForCausalLM'],
    model_type: 'qwen2',
    use_sliding_window: false,
};
export const qwen2Parameters = llamaParameters + 4 * (256 + 2 * 128);

/** A norm per head for q and for k. */
export const qwen3 = {
    ...llama,
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    head_dim: 32,
};
export const qwen3Parameters = llamaParameters + 4 * 2 * 32;

/** A classifier of two classes over an encoder. */
export const bert = {
    architectures: ['BertForSequenceClassification'],
    model_type: 'bert',
    hidden_size: 256,
    intermediate_size: 1024,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    vocab_size: 2048,
    max_position_embeddings: 512,
    hidden_dropout_prob: 0.1,
};

/** An encoder with a decoder, and a learned bias on every score. */
export const t5 = {
    architectures: ['T5ForConditionalGeneration'],
    model_type: 't5',
    d_model: 256,
    d_kv: 64,
    d_ff: 1024,
    num_layers: 4,
    num_heads: 4,
    vocab_size: 2048,
    dropout_rate: 0.1,
};

export const gpt2 = {
    architectures: ['GPT2LMHeadModel'],
    model_type: 'gpt2',
    n_embd: 256,
    n_layer: 4,
    n_head: 8,
    n_positions: 512,
    n_ctx: 512,
    vocab_size: 2048,
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    torch_dtype: 'float32',
};
export const gpt2Parameters = 2048 * 256 + 512 * 256 + 4 * (12 * 256 * 256 + 13 * 256) + 2 * 256;

/** Eight routed experts in every block, two of them for a token. */
export const mixtral = {
    ...llama,
    architectures: ['MixtralForCausalLM'],
    model_type: 'mixtral',
    intermediate_size: 512,
    num_local_experts: 8,
    num_experts_per_tok: 2,
};

/** Large enough not to fit one device by a wide margin: 64 billion parameters and more. */
export const large = {
    ...llama,
    hidden_size: 8192,
    intermediate_size: 28672,
    num_hidden_layers: 80,
    num_attention_heads: 64,
    num_key_value_heads: 8,
    vocab_size: 32768,
    max_position_embeddings: 8192,
};

export const accelerator = 'nvidia-h100-sxm5-80gb';

/** An estimate that fits: the small llama on one node. */
export function estimate({ config = llama, workload = {}, cluster = {}, parallelism = {} } = {}) {
    return {
        model: { config },
        workload: {
            kind: 'pretraining',
            framework: 'megatron',
            sequence_length: 512,
            global_batch_size: 32,
            micro_batch_size: 1,
            precision: 'bf16',
            optimizer: 'adamw',
            recompute: 'selective',
            attention: 'flash2',
            ...workload,
        },
        cluster: { accelerator, nodes: 1, accelerators_per_node: 8, ...cluster },
        parallelism: {
            tensor: 2,
            sequence: true,
            pipeline: 2,
            virtual_pipeline: 1,
            context: 1,
            expert: 1,
            data: 2,
            zero_stage: 1,
            ...parallelism,
        },
    };
}

/** What a search asks about the large model: no plan, and nothing of a workload that it is to find; `changes` are members. */
export function search(changes = {}) {
    const { parallelism, workload: { micro_batch_size, recompute, attention, ...workload }, ...request } = estimate({
        config: large, workload: { sequence_length: 4096, global_batch_size: 512 }, cluster: { nodes: 16 },
    });
    return { ...request, workload, ...changes };
}

/** One that outlives what is done beside it: minutes on two cores. */
export function endlessSearch(changes = {}) {
    const { workload, cluster, ...request } = search({ exhaustive: true, simulate: false, time_limit_s: 300 });
    return {
        ...request,
        workload: { ...workload, global_batch_size: 27720 },
        cluster: { ...cluster, nodes: 2048 },
        space: {
            nodes: 'any',
            zero_stage: [0, 1, 2, 3],
            global_batch_size: [27720, 55440, 83160, 110880, 138600],
            offload: ['none', 'optimizer'],
        },
        ...changes,
    };
}

/** A cluster as a provisioning tool would put it. */
export function inventory({ nodes = 4, name = 'test cluster', ...rest } = {}) {
    return {
        name,
        description: 'two racks',
        labels: { site: 'one' },
        pools: [{
            name: 'main',
            nodes,
            node: { accelerator, accelerators: 8 },
            fabric: { kind: 'fat_tree', oversubscription: 1.0 },
        }],
        ...rest,
    };
}
