/**
 * Published facts about memory that no constant was fitted to and no other test holds, asked of the
 * service as a reader would: each line is what was published, where, and how near it has to be.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { accelerator } from './lib/fixtures.mjs';

const client = await clientOfFile();

const GIB = 2 ** 30;
const llama = { architectures: ['LlamaForCausalLM'], model_type: 'llama', max_position_embeddings: 8192,
    tie_word_embeddings: false, torch_dtype: 'bfloat16' };
const llama3of8b = { ...llama, hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32,
    num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256 };
const llama2of7b = { ...llama, hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32,
    num_attention_heads: 32, num_key_value_heads: 32, vocab_size: 32000 };
const llama2of70b = { ...llama, hidden_size: 8192, intermediate_size: 28672, num_hidden_layers: 80,
    num_attention_heads: 64, num_key_value_heads: 8, vocab_size: 32000 };
const qwen3 = { ...llama, architectures: ['Qwen3ForCausalLM'], model_type: 'qwen3', head_dim: 128,
    vocab_size: 151936, hidden_size: 4096, intermediate_size: 12288, num_hidden_layers: 36,
    num_attention_heads: 32, num_key_value_heads: 8 };
const qwen3Mixture = { ...qwen3, architectures: ['Qwen3MoeForCausalLM'], model_type: 'qwen3_moe', hidden_size: 2048,
    num_hidden_layers: 48, num_key_value_heads: 4, intermediate_size: 6144, moe_intermediate_size: 768,
    num_experts: 128, num_experts_per_tok: 8, decoder_sparse_step: 1, mlp_only_layers: [] };
const gptOss = { architectures: ['GptOssForCausalLM'], model_type: 'gpt_oss', hidden_size: 2880,
    intermediate_size: 2880, num_hidden_layers: 36, num_attention_heads: 64, num_key_value_heads: 8,
    head_dim: 64, vocab_size: 201088, num_local_experts: 128, num_experts_per_tok: 4, sliding_window: 128,
    max_position_embeddings: 131072, tie_word_embeddings: false, torch_dtype: 'bfloat16' };
const mixtral = { ...llama, architectures: ['MixtralForCausalLM'], model_type: 'mixtral', hidden_size: 4096,
    intermediate_size: 14336, num_hidden_layers: 32, num_attention_heads: 32, num_key_value_heads: 8,
    vocab_size: 32000, num_local_experts: 8, num_experts_per_tok: 2 };
const bertLarge = { architectures: ['BertForSequenceClassification'], model_type: 'bert',
    hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, num_attention_heads: 16,
    vocab_size: 30522, max_position_embeddings: 512, hidden_dropout_prob: 0.1 };
const gpt2 = { architectures: ['GPT2LMHeadModel'], model_type: 'gpt2', n_embd: 768, n_layer: 12,
    n_head: 12, n_positions: 1024, n_ctx: 1024, vocab_size: 50257, torch_dtype: 'float32' };
const gpt3 = { ...gpt2, n_embd: 12288, n_layer: 96, n_head: 96, n_positions: 2048, n_ctx: 2048,
    vocab_size: 51200 };
const parametersOf8b = 8030261248;
const parametersOf7b = 6738415616;
/** Of the 7B model what is no linear layer of a block: embedding, head and 65 norms. */
const restOf7b = 2 * 32000 * 4096 + 65 * 4096;

/** The rank with the fullest device, or the first; its terms of a name summed up. */
async function ranks(config, workload, parallelism, cluster = {}) {
    const { status, json, text } = await client.post('/api/v1/estimates', {
        model: { config },
        workload: { kind: 'pretraining', framework: 'fsdp2', sequence_length: 4096, global_batch_size: 8,
            micro_batch_size: 1, precision: 'bf16', optimizer: 'adamw', recompute: 'none',
            attention: 'flash2', ...workload },
        cluster: { accelerator, nodes: 1, ...cluster },
        parallelism: { tensor: 1, pipeline: 1, ...parallelism },
    });
    assert.equal(status, 200, text);
    const { memory } = json;
    const seen = (rank) => ({
        bytes: (name) => rank.terms.filter((term) => term.name === name)
            .reduce((sum, term) => sum + term.bytes, 0),
        inputs: (name) => rank.terms.find((term) => term.name === name).inputs,
    });
    return { memory, first: seen(memory.ranks[0]),
        fullest: seen(memory.ranks.find(({ rank }) => rank === memory.binding_rank)) };
}

/** Exact but for the rounding of a term to whole bytes, unless `ratio` allows more. */
function near(actual, published, what, ratio = 1e-6) {
    assert.ok(Math.abs(actual / published - 1) <= ratio, `${what}: ${actual} for ${published}`);
}

test('torchtitan logs the states of Llama 3 8B on eight devices', async () => {
    const titan = { software: 'torchtitan-2024-12', sequence_length: 8192 };
    const { fullest: { bytes } } = await ranks(llama3of8b, titan, { data: 8, zero_stage: 3 });
    near(bytes('parameters') / GIB, 3.77, 'parameters', 0.01);
    near(bytes('optimizer') / GIB, 49.59 - 42.08, 'what the second step adds', 0.005);
    near((bytes('parameters') + bytes('optimizer') + 4 * parametersOf8b / 8) / GIB, 14.99, 'steady', 0.005);
});

test('torchtitan keeps gathered parameters, or the logits of one chunk', async () => {
    const titan = { software: 'torchtitan-2024-12', sequence_length: 8192, recompute: { mode: 'op_sac' } };
    const reserved = async (more, reshard) => (await ranks(llama3of8b, { ...titan, ...more },
        { data: 8, zero_stage: 3, reshard_after_forward: reshard })).memory.peak_reserved_bytes / GIB;
    near(await reserved({}, false) - await reserved({}, true), 12.77, 'never less always', 0.04);
    near(await reserved({ loss: 'eager' }, true) - await reserved({ loss: 'chunked' }, true),
        49.58 - 42.26, 'whole logits less chunks', 0.03);
});

/* Accelerate's guide to gradient synchronisation says neither length nor layout: short sequences, so
 * that activations are nothing, and weights loaded and stepped on in bf16, as 32 bits of each would
 * need 93 GB a device before anything runs. */
test('Mixtral on eight A100 runs out of memory where gradients wait, as Accelerate published', async () => {
    const short = { framework: 'fsdp1', sequence_length: 128, global_batch_size: 16, dropout: false,
        layout: { parameter_bytes: 2, gradient_bytes: 2, master_weight_bytes: 0, optimizer_bytes: 4 } };
    const reduced = (sync, batch = 16) => ranks(mixtral, { ...short, global_batch_size: batch },
        { data: 8, zero_stage: 3, gradient_sync: sync }, { accelerator: 'nvidia-a100-sxm4-80gb' });
    const [each, last, once] = [await reduced('each'), await reduced('last'), await reduced('last', 8)];
    near(each.memory.device_total_bytes / 1e9, 69, 'reduced with each micro-batch', 0.05);
    assert.ok(each.memory.headroom_bytes > 0);
    assert.ok(last.memory.headroom_bytes < -40 * GIB, 'with the last: whole gradients of all layers');
    assert.equal(once.memory.device_total_bytes, each.memory.device_total_bytes, 'of one nothing waits');
    const all = last.fullest.inputs('parameters').parameters;
    assert.ok(last.fullest.bytes('gradients') >= 2 * all, 'in the type they are made in');
});

const tuned = (config, adapter) =>
    ranks(config, { kind: 'finetuning', framework: 'ddp', adapter: { method: 'lora', rank: 8, ...adapter } }, { data: 8 });

test('LoRA trains 4,194,304 parameters of 7B, and a base of 4 bits takes what QLoRA says', async () => {
    const { fullest: { inputs } } = await tuned(llama2of7b, { targets: ['q_proj', 'v_proj'] });
    assert.equal(inputs('adapters').parameters, 4194304);
    for (const [base, published] of [['nf4', 0.5625], ['nf4_double', 0.5 + 0.127 / 8], ['int8', 1]]) {
        const { fullest: { bytes } } = await tuned(llama2of7b, { base });
        near((bytes('parameters') - 2 * restOf7b) / (parametersOf7b - restOf7b), published, base, 1e-4);
    }
    const { fullest: { bytes } } = await tuned(llama2of70b, { base: 'nf4_double' });
    near(bytes('parameters') / 1e9, 35, 'transformers 29587: 70B on every device', 0.05);
});

/* Megatron-Bridge's memory-tuning notes, to the last digit: (n - 1 - 1 / tensor) inputs of the n that
 * linear_qkv and linear_fc1 read; the mixtures' experts have none. */
test('regathering saves Megatron-Bridge what it published', async () => {
    const tuning = { kind: 'finetuning', framework: 'megatron', software: 'mbridge-26.04', attention: 'cudnn',
        loss: 'cut', sequence_length: 8192 };
    const saved = async (config, plan, workload = {}) => {
        const [kept, again] = await Promise.all([false, true].map((regathers) => ranks(config,
            { ...tuning, ...workload, adapter: { rank: 32, sequence_parallel_input_regather: regathers } },
            { sequence: true, ...plan })));
        return (kept.memory.peak_allocated_bytes - again.memory.peak_allocated_bytes) / 1e9;
    };
    near(await saved(qwen3, { tensor: 2, data: 4 }), 4.731, 'Qwen3 8B', 1e-4);
    near(await saved(qwen3Mixture, { tensor: 4, data: 2, expert: 4, expert_tensor: 1 }), 1.569, 'Qwen3 30B-A3B', 1e-3);
    near(await saved(gptOss, { tensor: 2, data: 4, expert: 8, expert_tensor: 1 }, { sequence_length: 4096 }), 0.814,
        'GPT-OSS 120B', 1e-3);
});

test('devices have the memory that tools print', async () => {
    for (const [part, least, most] of [['nvidia-a100-sxm4-80gb', 79.1, 79.25],
        ['nvidia-h100-sxm5-80gb', 79.1, 79.25], ['nvidia-b200', 178.34, 178.36], ['nvidia-gb200', 184, 184.31]]) {
        const { memory } = await ranks(gpt2, { framework: 'ddp', sequence_length: 1024 }, { data: 1 },
            { accelerator: part, accelerators_per_node: 1 });
        const gib = memory.usable_bytes / GIB;
        assert.ok(least <= gib && gib <= most, `${part}: ${gib}`);
    }
});

test('Megatron pads 50,257 tokens to 50,304', async () => {
    const parameters = async (framework) =>
        (await ranks(gpt2, { framework, sequence_length: 1024 }, { data: 8 })).fullest.inputs('parameters').parameters;
    assert.equal(await parameters('megatron') - await parameters('ddp'), (50304 - 50257) * 768);
});

test('a block of GPT-3 keeps 34 sbh over its tensor ranks', async () => {
    const { first } = await ranks(gpt3, { framework: 'megatron', software: 'megatron-lm-2022', precision: 'bf16',
        sequence_length: 2048, global_batch_size: 64, recompute: 'selective', attention: 'unfused',
        dropout: true }, { tensor: 8, sequence: true, pipeline: 8, data: 1, schedule: '1f1b' },
    { accelerator: 'nvidia-a100-sxm4-80gb', nodes: 8 });
    near(first.inputs('activations').bytes_per_block, 34 * 2048 * 12288 / 8, 'Korthikanti 2022, table 2');
});

test('schedules keep what their papers say', async () => {
    const held = async (schedule, chunks = {}) => (await ranks(llama2of70b, { framework: 'megatron',
        global_batch_size: 64 }, { pipeline: 4, data: 2, schedule, ...chunks })).first;
    const plain = await held('1f1b');
    const times = (first) => first.inputs('activations').microbatches_in_flight / 4;
    for (const chunks of [2, 5, 10])
        near(times(await held('interleaved_1f1b', { virtual_pipeline: chunks })), 1 + 3 / (4 * chunks),
            `Megatron's penalty with ${chunks} chunks`);
    near(times(await held('gpipe')), 32 / 4, 'GPipe: all micro-batches');
    near(times(await held('zb_h2')), 7 / 4, 'Qi 2023, ZB-H2: 2 p - 1');
    const two = await held('dualpipe');
    near(two.inputs('parameters').parameters, 2 * plain.inputs('parameters').parameters, 'DualPipe: two copies');
    near(times(two) * two.inputs('activations').blocks / plain.inputs('activations').blocks, 5 / 4,
        'DualPipe: p + 1 stages');
});

test('what is offloaded is in the host, by parameter', async () => {
    const away = async (framework, stage, parameters) => ranks(llama2of7b, { framework, recompute: 'full',
        offload: { optimizer: 'cpu', ...(parameters ? { parameters: 'cpu' } : {}) } }, { data: 8, zero_stage: stage });
    const half = await away('deepspeed', 2, false);
    near(half.memory.host_bytes_per_node, 16 * parametersOf7b, 'ZeRO-Offload');
    near(half.fullest.bytes('parameters'), 2 * parametersOf7b, 'its device');
    near((await away('deepspeed', 3, true)).memory.host_bytes_per_node, 18 * parametersOf7b, 'ZeRO-Infinity');
    near((await away('fsdp2', 3, true)).memory.host_bytes_per_node, 16 * parametersOf7b, 'CPUOffloadPolicy');
});

test('hybrid sharding divides over the group alone', async () => {
    const { fullest } = await ranks(llama3of8b, { global_batch_size: 16 },
        { data: 16, sharding: 'hybrid_shard', shard_group: 8 }, { nodes: 2 });
    near(fullest.bytes('parameters'), 4 * parametersOf8b / 8, 'parameters');
});

test('optimizers with fewer bytes save what was measured', async () => {
    const states = async (config, workload, optimizer, layout) => (await ranks(config,
        { kind: 'finetuning', framework: 'ddp', ...workload, optimizer, ...(layout ? { layout } : {}) },
        { data: 1, zero_stage: 0 }, { accelerators_per_node: 1 })).fullest.bytes('optimizer');
    const glue = { precision: 'fp32', sequence_length: 128, global_batch_size: 4, micro_batch_size: 4,
        attention: 'unfused' };
    near((await states(bertLarge, glue, 'adamw') - await states(bertLarge, glue, 'adafactor')) / 2 ** 20,
        14949 - 12295, 'Hugging Face: Adafactor for BERT-large', 0.05);
    const wide = await states(llama2of7b, {}, 'adamw', { optimizer_bytes: 4 });
    const [eight, four] = [await states(llama2of7b, {}, 'adamw_8bit'), await states(llama2of7b, {}, 'adamw_4bit')];
    near((wide - eight) / 1e9, 51.6 - 39.1, 'torchao: 8 bits', 0.12);
    near((eight - four) / 1e9, 39.1 - 33.2, 'torchao: 4 bits', 0.12);
    near(await states(llama2of7b, {}, 'adamw') - await states(llama2of7b, {}, 'muon'),
        4 * (parametersOf7b - restOf7b), 'Muon: one state of hidden matrices');
});

test('eighteen bytes a parameter are 144.5 GB of 8B', async () => {
    const { json } = await client.post('/api/v1/estimates',
        { model: { parameters: parametersOf8b }, workload: { accounting: 'mixed-2-4-12' } });
    near(json.accounting.total_bytes / 1e9, 144.5, 'ALST, whose 144 GiB these are', 1e-3);
});
