/**
 * Three models and clusters to start from. The model is given by its dimensions, so that the first
 * answer needs no Hub. Dimensions: the published config files of the models named.
 *
 * @typedef {{title: string, cluster: string, note: string, config: Record<string, any>,
 *            settings: Record<string, any>}} Example
 */

/** @type {Map<string, Example>} */
export const EXAMPLES = new Map([
    ["llama-8b", {
        title: "Llama 3.1 8B",
        cluster: "1 node of 8 × H100 80GB",
        note: "One box, tensor parallel over NVLink",
        config: {
            architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 4096,
            intermediate_size: 14336, num_hidden_layers: 32, num_attention_heads: 32,
            num_key_value_heads: 8, vocab_size: 128256, max_position_embeddings: 131072,
            tie_word_embeddings: false, torch_dtype: "bfloat16",
        },
        settings: {
            accelerator: "nvidia-h100-sxm5-80gb", nodes: 1, perNode: 8, sequenceLength: 8192,
            globalBatch: 128, attention: "flash3", tensor: 2, sequence: true,
        },
    }],
    ["qwen-32b", {
        title: "Qwen2.5 32B",
        cluster: "8 nodes of 8 × A100 80GB",
        note: "A mid-size run on last generation's parts",
        config: {
            architectures: ["Qwen2ForCausalLM"], model_type: "qwen2", hidden_size: 5120,
            intermediate_size: 27648, num_hidden_layers: 64, num_attention_heads: 40,
            num_key_value_heads: 8, vocab_size: 152064, max_position_embeddings: 131072,
            tie_word_embeddings: false, torch_dtype: "bfloat16",
        },
        settings: {
            accelerator: "nvidia-a100-sxm4-80gb", nodes: 8, perNode: 8, sequenceLength: 4096,
            globalBatch: 512, tensor: 8, sequence: true, pipeline: 2, tokens: 300e9,
        },
    }],
    ["llama-70b", {
        title: "Llama 3.1 70B",
        cluster: "16 nodes of 8 × H100 80GB",
        note: "Tensor and interleaved pipeline together",
        config: {
            architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 8192,
            intermediate_size: 28672, num_hidden_layers: 80, num_attention_heads: 64,
            num_key_value_heads: 8, vocab_size: 128256, max_position_embeddings: 131072,
            tie_word_embeddings: false, torch_dtype: "bfloat16",
        },
        settings: {
            accelerator: "nvidia-h100-sxm5-80gb", nodes: 16, perNode: 8, sequenceLength: 8192,
            globalBatch: 512, attention: "flash3", tensor: 8, sequence: true, pipeline: 4,
            virtualPipeline: 2, tokens: 2e12,
        },
    }],
]);
