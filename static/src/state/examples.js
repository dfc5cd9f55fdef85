/**
 * Three models and three clusters to start from, each model with each cluster. The models are given
 * by their dimensions, so that the first answer needs no Hub. Dimensions: the published config files
 * of the models named.
 *
 * @typedef {{title: string, note: string, config: Record<string, any>, settings: Record<string, any>}} Example
 * @typedef {{title: string, short: string, settings: Record<string, any>}} ReadyCluster
 */

/** @type {Map<string, Example>} */
export const EXAMPLES = new Map([
    ["llama-8b", {
        title: "Llama 3.1 8B",
        note: "One box, tensor parallel over NVLink",
        config: {
            architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 4096,
            intermediate_size: 14336, num_hidden_layers: 32, num_attention_heads: 32,
            num_key_value_heads: 8, vocab_size: 128256, max_position_embeddings: 131072,
            tie_word_embeddings: false, torch_dtype: "bfloat16",
        },
        settings: { sequenceLength: 8192, globalBatch: 128, sequence: true },
    }],
    ["qwen-32b", {
        title: "Qwen2.5 32B",
        note: "A mid-size run on last generation's parts",
        config: {
            architectures: ["Qwen2ForCausalLM"], model_type: "qwen2", hidden_size: 5120,
            intermediate_size: 27648, num_hidden_layers: 64, num_attention_heads: 40,
            num_key_value_heads: 8, vocab_size: 152064, max_position_embeddings: 131072,
            tie_word_embeddings: false, torch_dtype: "bfloat16",
        },
        settings: { sequenceLength: 4096, globalBatch: 512, sequence: true, tokens: 300e9 },
    }],
    ["llama-70b", {
        title: "Llama 3.1 70B",
        note: "Tensor and interleaved pipeline together",
        config: {
            architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 8192,
            intermediate_size: 28672, num_hidden_layers: 80, num_attention_heads: 64,
            num_key_value_heads: 8, vocab_size: 128256, max_position_embeddings: 131072,
            tie_word_embeddings: false, torch_dtype: "bfloat16",
        },
        settings: { sequenceLength: 8192, globalBatch: 512, sequence: true, tokens: 2e12 },
    }],
]);

/** @type {Map<string, ReadyCluster>} */
export const CLUSTERS = new Map([
    ["h100-1", { title: "1 node of 8 × H100 80GB", short: "8 × H100",
        settings: { accelerator: "nvidia-h100-sxm5-80gb", nodes: 1, perNode: 8, attention: "flash3" } }],
    ["a100-8", { title: "8 nodes of 8 × A100 80GB", short: "64 × A100",
        settings: { accelerator: "nvidia-a100-sxm4-80gb", nodes: 8, perNode: 8 } }],
    ["h100-16", { title: "16 nodes of 8 × H100 80GB", short: "128 × H100",
        settings: { accelerator: "nvidia-h100-sxm5-80gb", nodes: 16, perNode: 8, attention: "flash3" } }],
]);

/** Each model on the cluster that is usual for it. */
export const READY = [["llama-8b", "h100-1"], ["qwen-32b", "a100-8"], ["llama-70b", "h100-16"]];

/** How each model is cut on each cluster: what fits the best where anything does. @type {Record<string, Record<string, Record<string, number>>>} */
const CUTS = {
    "llama-8b": { "h100-1": { tensor: 2 }, "a100-8": { tensor: 2 }, "h100-16": { tensor: 2 } },
    "qwen-32b": { "h100-1": { tensor: 8 }, "a100-8": { tensor: 8, pipeline: 2 }, "h100-16": { tensor: 4, pipeline: 2 } },
    "llama-70b": { "h100-1": { tensor: 8 }, "a100-8": { tensor: 8, pipeline: 4, virtualPipeline: 2 },
        "h100-16": { tensor: 8, pipeline: 4, virtualPipeline: 2 } },
};

/** @param {string} id  of an example @param {string} cluster  of CLUSTERS @returns {Record<string, any>} settings of a plan */
export function combined(id, cluster) {
    return { ...EXAMPLES.get(id).settings, ...CLUSTERS.get(cluster).settings, ...CUTS[id][cluster], example: id };
}
