/**
 * The row's model as a small Hugging Face configuration. The name only picks the family; every
 * number comes from the row's own columns.
 */
import { count, known, pairs, truth } from './words.mjs';

const llamaLike = (model_type, architecture) => ({
    model_type,
    architecture,
    keys: {
        L: 'num_hidden_layers',
        h: 'hidden_size',
        a: 'num_attention_heads',
        kv: 'num_key_value_heads',
        head_dim: 'head_dim',
        ffn: 'intermediate_size',
        vocab: 'vocab_size',
        seq_len: 'max_position_embeddings',
    },
});

/** The library writes GELU's tanh out; other code has a kernel for it, unless it says that it does, too. */
const ownGelu = (row) => (/\bHF\b|transformers|PEFT/i.test(row.framework) || /\bunfused GELU\b/.test(row.notes)
    ? undefined : 'gelu_pytorch_tanh');

const families = {
    llama: llamaLike('llama', 'LlamaForCausalLM'),
    mistral: llamaLike('mistral', 'MistralForCausalLM'),
    internlm: llamaLike('internlm', 'InternLMForCausalLM'),
    internlm2: llamaLike('internlm2', 'InternLM2ForCausalLM'),
    qwen2: llamaLike('qwen2', 'Qwen2ForCausalLM'),
    qwen3: llamaLike('qwen3', 'Qwen3ForCausalLM'),
    gemma: llamaLike('gemma', 'GemmaForCausalLM'),
    gemma2: llamaLike('gemma2', 'Gemma2ForCausalLM'),
    mixtral: llamaLike('mixtral', 'MixtralForCausalLM'),
    qwen3_moe: llamaLike('qwen3_moe', 'Qwen3MoeForCausalLM'),
    deepseek: llamaLike('deepseek', 'DeepseekForCausalLM'),
    deepseek_v2: llamaLike('deepseek_v2', 'DeepseekV2ForCausalLM'),
    deepseek_v3: llamaLike('deepseek_v3', 'DeepseekV3ForCausalLM'),
    gemma3: llamaLike('gemma3_text', 'Gemma3ForCausalLM'),
    gpt_oss: llamaLike('gpt_oss', 'GptOssForCausalLM'),
    olmo2: llamaLike('olmo2', 'Olmo2ForCausalLM'),
    olmoe: llamaLike('olmoe', 'OlmoeForCausalLM'),
    phi: {
        ...llamaLike('phi', 'PhiForCausalLM'),
        facts: (row) => ({ hidden_act: ownGelu(row) }),
    },
    phi3: llamaLike('phi3', 'Phi3ForCausalLM'),
    stablelm: llamaLike('stablelm', 'StableLmForCausalLM'),
    starcoder2: llamaLike('starcoder2', 'Starcoder2ForCausalLM'),
    gpt_neox: llamaLike('gpt_neox', 'GPTNeoXForCausalLM'),
    falcon: {
        ...llamaLike('falcon', 'FalconForCausalLM'),
        keys: { L: 'num_hidden_layers', h: 'hidden_size', a: 'num_attention_heads',
            kv: 'num_kv_heads', ffn: 'ffn_hidden_size', vocab: 'vocab_size' },
        facts: (row) => ({ parallel_attn: true, bias: false, alibi: false,
            multi_query: row.kv === '1', new_decoder_architecture: Number(row.kv) > 1 }),
    },
    nemotron: llamaLike('nemotron', 'NemotronForCausalLM'),
    granite: llamaLike('granite', 'GraniteForCausalLM'),
    gpt_bigcode: {
        model_type: 'gpt_bigcode',
        architecture: 'GPTBigCodeForCausalLM',
        keys: { L: 'n_layer', h: 'n_embd', a: 'n_head', ffn: 'n_inner', vocab: 'vocab_size',
            seq_len: 'n_positions' },
        facts: (row) => ({ multi_query: row.kv === '1' }),
    },
    mpt: {
        model_type: 'mpt',
        architecture: 'MptForCausalLM',
        keys: { L: 'n_layers', h: 'd_model', a: 'n_heads', vocab: 'vocab_size',
            seq_len: 'max_seq_len' },
    },
    opt: {
        model_type: 'opt',
        architecture: 'OPTForCausalLM',
        keys: { L: 'num_hidden_layers', h: 'hidden_size', a: 'num_attention_heads', ffn: 'ffn_dim',
            vocab: 'vocab_size', seq_len: 'max_position_embeddings' },
        facts: (row) => ({ word_embed_proj_dim: count(row.h, 1), do_layer_norm_before: true }),
    },
    bloom: {
        model_type: 'bloom',
        architecture: 'BloomForCausalLM',
        keys: { L: 'n_layer', h: 'hidden_size', a: 'n_head', vocab: 'vocab_size' },
    },
    t5: {
        model_type: 't5',
        architecture: 'T5ForConditionalGeneration',
        keys: { L: 'num_layers', h: 'd_model', a: 'num_heads', ffn: 'd_ff', head_dim: 'd_kv',
            vocab: 'vocab_size' },
    },
    gpt2: {
        model_type: 'gpt2',
        architecture: 'GPT2LMHeadModel',
        keys: { L: 'n_layer', h: 'n_embd', a: 'n_head', ffn: 'n_inner', vocab: 'vocab_size',
            seq_len: 'n_positions' },
        facts: (row) => ({ activation_function: ownGelu(row),
            resid_pdrop: row.notes.includes('resid_pdrop 0.1') ? 0.1 : undefined }),
    },
    gptj: {
        model_type: 'gptj',
        architecture: 'GPTJForCausalLM',
        keys: { L: 'n_layer', h: 'n_embd', a: 'n_head', ffn: 'n_inner', vocab: 'vocab_size', seq_len: 'n_positions' },
        facts: (row) => ({ activation_function: ownGelu(row) }),
    },
    bert: {
        model_type: 'bert',
        architecture: 'BertForMaskedLM',
        classifier: 'BertForSequenceClassification',
        keys: { L: 'num_hidden_layers', h: 'hidden_size', a: 'num_attention_heads',
            ffn: 'intermediate_size', vocab: 'vocab_size', seq_len: 'max_position_embeddings' },
    },
};

/**
 * Names, in order; `moe` and `mla` say that the row has to have experts or latent attention. What no
 * name knows is built like most: Llama's blocks, with experts or a latent DeepSeek's.
 */
const names = [
    [/mixtral/, 'mixtral'],
    [/mistral/, 'mistral'],
    [/qwen-?3/, 'qwen3_moe', { moe: true }],
    [/qwen-?3/, 'qwen3', { moe: false }],
    [/qwen-?(2|1\.5)/, 'qwen2', { moe: false }],
    [/kimi|dsv3|deepseek.*(v3|r1)/, 'deepseek_v3', { mla: true }],
    [/deepseek/, 'deepseek_v2', { mla: true }],
    [/deepseek/, 'deepseek', { moe: true, mla: false }],
    [/internlm/, 'internlm', { moe: false }],
    [/gemma-?2/, 'gemma2'],
    [/gemma-?3/, 'gemma3'],
    [/gemma/, 'gemma'],
    [/bert/, 'bert'],
    [/^(flan-?)?t5|^t0|^mt[05]/, 't5'],
    [/gpt-?oss/, 'gpt_oss', { moe: true }],
    [/olmoe/, 'olmoe', { moe: true }],
    [/olmo/, 'olmo2', { moe: false }],
    [/phi-?(3|4)/, 'phi3', { moe: false }],
    [/phi/, 'phi', { moe: false }],
    [/pythia|gpt-?neox/, 'gpt_neox'],
    [/stablelm/, 'stablelm'],
    [/starcoder-?2/, 'starcoder2'],
    [/starcoder|santacoder/, 'gpt_bigcode'],
    [/granite|powerlm/, 'granite', { moe: false }],
    [/falcon/, 'falcon', { moe: false }],
    [/^mpt/, 'mpt'],
    [/nemotron/, 'nemotron', { moe: false }],
    [/(^|[^a-z])opt-/, 'opt'],
    [/bloom/, 'bloom'],
    [/llama(?!-?4)|vicuna|alpaca|smollm|^yi/, 'llama', { moe: false }],
    [/gpt-?j/, 'gptj'],
    [/^(megatron[ -]|mini|nano)?gpt(?!-?(oss|-?neo))|turing|mt-?nlg|cerebras|gopher/, 'gpt2', { moe: false }],
];

/** Tools with blocks of their own. */
const joins = /\blit-?gpt\b/i;

/** Blocks that are none of attention and a feed-forward, and inputs that are no tokens. */
const foreign = /mamba|rwkv|jamba|\bvit\b|\bclip\b|whisper|diffusion|\bdit\b|resnet/i;

const needed = ['L', 'h', 'a', 'vocab'];

function familyOf(row) {
    const has = { moe: Boolean(row.moe), mla: Boolean(row.mla) || row.kv === 'MLA' };
    const found = names.find(([pattern, , wanted = {}]) => pattern.test(row.model.toLowerCase())
        && Object.entries(wanted).every(([part, present]) => has[part] === present));
    const family = found?.[1] ?? (has.mla ? 'deepseek_v2' : has.moe ? 'deepseek' : 'llama');
    // LitGPT has queries, keys and values in one matrix, as InternLM2 has of Llama's blocks.
    const joined = joins.test(row.framework) && row.peft === '' && ['llama', 'mistral'].includes(family);
    return families[joined ? 'internlm2' : family];
}

const blocks = (attention, output, up, down, gate) => ({ q_proj: attention, k_proj: attention,
    v_proj: attention, o_proj: output, gate_proj: gate, up_proj: up, down_proj: down });
const wholeHeads = { o_proj: 'dense', gate_proj: undefined, up_proj: 'fc1', down_proj: 'fc2' };
const oneMatrix = blocks('query_key_value', 'dense', 'dense_h_to_4h', 'dense_4h_to_h');

/** What families call the linear layers that have Llama's names elsewhere; some lack a gate. */
const moduleNames = {
    gpt_neox: oneMatrix,
    falcon: oneMatrix,
    bloom: oneMatrix,
    phi3: blocks('qkv_proj', 'o_proj', 'gate_up_proj', 'down_proj', 'gate_up_proj'),
    phi: wholeHeads,
    opt: { ...wholeHeads, o_proj: 'out_proj' },
    mpt: blocks('Wqkv', 'out_proj', 'up_proj', 'down_proj'),
    gpt2: blocks('c_attn', 'attn.c_proj', 'c_fc', 'mlp.c_proj'),
    starcoder2: { gate_proj: undefined, up_proj: 'c_fc', down_proj: 'c_proj' },
};

/** Targets of an adapter in the words of the row's family. */
export function inWordsOf(row, targets) {
    const own = moduleNames[familyOf(row).model_type] ?? {};
    const named = targets?.map((target) => (target in own ? own[target] : target));
    return named && [...new Set(named.filter((name) => name !== undefined))];
}

/** Keys of experts, in the words of the family. */
function experts(row, family) {
    const { E, topk, moe_ffn, shared_ffn, dense_layers } = pairs(row.moe);
    if (E === undefined)
        return {};
    const common = { num_experts_per_tok: topk };
    switch (family.model_type) {
    case 'mixtral':
    case 'gpt_oss':
        return { ...common, num_local_experts: E, intermediate_size: moe_ffn };
    case 'olmoe':
        return { ...common, num_experts: E, intermediate_size: moe_ffn };
    case 'qwen3_moe':
        return { ...common, num_experts: E, moe_intermediate_size: moe_ffn,
            decoder_sparse_step: 1, mlp_only_layers: [...Array(dense_layers ?? 0).keys()] };
    default:
        return {
            ...common,
            n_routed_experts: E,
            moe_intermediate_size: moe_ffn,
            // The classes count shared experts in widths of a routed one.
            n_shared_experts: shared_ffn === undefined ? undefined : shared_ffn / moe_ffn,
            first_k_dense_replace: dense_layers ?? 0,
            moe_layer_freq: 1,
        };
    }
}

/** Latent attention has no width of one head but that of its parts. */
function latentAttention(row) {
    const { q_lora, kv_lora, qk_nope, qk_rope, v } = pairs(row.mla);
    if (kv_lora === undefined)
        return {};
    return { q_lora_rank: q_lora || null, kv_lora_rank: kv_lora, qk_nope_head_dim: qk_nope,
        qk_rope_head_dim: qk_rope, v_head_dim: v, head_dim: undefined };
}

/** Either { config } or { refusal }, the reason why there is none. */
export function modelOf(row) {
    const family = familyOf(row);
    const missing = needed.filter((column) => count(row[column], 1) === undefined);
    if (foreign.test(row.model))
        return { refusal: `the mapping knows no model like "${row.model}"` };
    if (missing.length > 0)
        return { refusal: `the row does not give ${missing.join(', ')} of its model` };

    const columns = Object.entries(family.keys);
    const [, classes] = row.notes.match(/\b(\d+)-class head/) ?? [];
    const classifies = classes !== undefined && family.classifier !== undefined;
    const config = {
        architectures: [classifies ? family.classifier : family.architecture],
        model_type: family.model_type,
        ...Object.fromEntries(columns.map(([column, key]) => [key, count(row[column], 1)])),
        tie_word_embeddings: truth(row.tied),
        num_labels: classifies ? Number(classes) : undefined,
        ...family.facts?.(row),
        ...latentAttention(row),
        ...experts(row, family),
    };
    return { config: known(config) };
}
