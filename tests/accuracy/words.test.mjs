/** Words that sources have for the same thing: tools, sharding, links, kernels, schedules. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestOf } from './lib/request.mjs';
import { throughputRow } from './lib/throughput.mjs';

const plain = { id: 'x-1', source: 'a report', framework: 'PyTorch', model: 'Llama 2 7B', layers: '32',
    hidden: '4096', ffn_hidden: '11008', heads: '32', kv_heads: '32', seq_len: '4096', gpu: 'A100 SXM 80GB',
    num_gpus: '64', gpus_per_node: '8', tp: '1', pp: '1', dp: '64', global_batch_sequences: '256',
    micro_batch: '2', recompute: 'full', precision: 'bf16', optimizer: 'AdamW', measured_step_s: '5' };
const cut = { framework: 'Megatron-LM', tp: '4', pp: '2', dp: '8', sequence_parallel: '1' };
const ask = (row) => requestOf(throughputRow({ ...plain, ...row })).request;

/** Each pair is a cell and what becomes of it. */
const each = (pairs, of) => {
    for (const [said, expected] of pairs)
        assert.deepEqual(of(said), expected, said);
};

test("PyTorch's FSDP is the first unless its second is named", () => {
    const frameworkOf = (framework, sharding) => ask({ framework, zero_stage_or_fsdp: sharding }).workload.framework;
    each([['PyTorch FSDP', 'fsdp1'], ['OLMo (FSDP)', 'fsdp1'], ['OLMo-core', 'fsdp2'], ['Hugging Face Accelerate', 'fsdp1'],
        ['metaseq', 'fsdp1'], ['torchtitan', 'fsdp2'], ['LitGPT (PyTorch FSDP2)', 'fsdp2'], ['MosaicML Composer', 'fsdp1']],
    (framework) => frameworkOf(framework, 'FSDP full shard'));
    each([['FULL_SHARD', 'fsdp1'], ['FSDP HYBRID_SHARD', 'fsdp1'], ['SHARD_GRAD_OP', 'fsdp1'], ['FSDP2', 'fsdp2'],
        ['NO_SHARD', 'ddp'], ['ZeRO-3', 'deepspeed'], ['DDP', 'ddp']], (sharding) => frameworkOf('a tool', sharding));
    each([['3', 3], ['stage 2', 2], ['SHARD_GRAD_OP', 2], ['FSDP', 3]],
        (sharding) => ask({ framework: 'PyTorch FSDP2', zero_stage_or_fsdp: sharding }).parallelism.zero_stage);
});

test("DDP beside Megatron's name is Megatron's own", () => {
    each([['DDP', 0], ['none', 0], ['ZeRO-1', 1], ['DDP + distributed optimizer', 1]], (sharding) => {
        const { workload, parallelism } = ask({ ...cut, zero_stage_or_fsdp: sharding });
        assert.equal(workload.framework, 'megatron', sharding);
        return parallelism.zero_stage;
    });
});

test('a tool that names its month runs the release of it, or the one before', () => {
    each([['NeMo 24.07', 'nemo-24.07'], ['NVIDIA NeMo Framework (25.02 container)', 'nemo-25.02'],
        ['Megatron-Bridge 26.04', 'mbridge-26.04'], ['Megatron-LM', undefined]],
    (framework) => ask({ ...cut, framework }).workload.software);
});

test('links are told by cards, by the node, by the device or by their technology', () => {
    const nics = (link) => {
        const [card] = ask({ inter_node_link: link }).cluster.nics ?? [];
        return card && [card.count, card.bytes_per_s * 8 / 1e9, card.kind];
    };
    each([['8x200Gb/s HDR IB', [8, 200, 'infiniband']], ['4x HDR200', [4, 200, 'infiniband']],
        ['8 x NDR 400', [8, 400, 'infiniband']], ['RoCE 8x400G', [8, 400, 'roce']], ['4x Slingshot-11 200G', [4, 200, 'slingshot']],
        ['4x100Gb/s (Omni-Path)', [4, 100, 'omni_path']], ['1600 Gb/s RoCE per node', [8, 200, 'roce']],
        ['800Gb/s per node (config)', [8, 100, undefined]], ['RDMA 400Gb/s per GPU', [8, 400, undefined]],
        ['3.2Tbps RoCE', [8, 400, 'roce']], ['IB NDR400', [8, 400, 'infiniband']], ['IB HDR 200', [8, 200, 'infiniband']],
        ['EFA 400 Gb/s', [8, 50, 'efa']], ['EFA 800-1600Gb/s', undefined], ['25 Gb/s Ethernet', [1, 25, 'ethernet']],
        ['100 GbE', [1, 100, 'ethernet']], ['InfiniBand', undefined], ['', undefined]], nics);
});

test('kernels, recomputation and schedules by their short words', () => {
    each([['1', 'flash'], ['2', 'flash2'], ['FA3', 'flash3'], ['FlashAttention-2', 'flash2'], ['SDPA', 'sdpa'], ['0', 'unfused'],
        ['', undefined]], (said) => ask({ flash_attention: said }).workload.attention);
    const block = (layers) => ({ mode: 'full', method: 'block', layers });
    each([['AC', 'full'], ['block 10', block(10)], ['full (block, 5 layers)', block(5)],
        ['full (block, 5 layers per stage)', block(5)], ['off', 'none']], (said) => ask({ ...cut, recompute: said }).workload.recompute);
    each([['interleaved', 2], ['Interleaved1F1B', 2], ['1F1B', undefined]],
        (schedule) => ask({ ...cut, schedule }).parallelism.virtual_pipeline);
    assert.equal(ask({ ...cut, schedule: 'interleaved', layers: '30' }).parallelism.virtual_pipeline, 3);
    assert.equal(ask({ ...cut, schedule: 'interleaved', layers: '31' }).parallelism.virtual_pipeline, 2);
});

test('layouts by their sums, optimizers and adapters by their words', () => {
    const workload = (row) => requestOf({ model: 'llama2-7b', L: '32', h: '4096', a: '32', vocab: '32000',
        framework: 'HF Trainer', gpu: 'A100 80GB', num_gpus: '1', micro_batch: '1', seq_len: '2048', ...row }).request.workload;
    const layout = (parameter_bytes, gradient_bytes, master_weight_bytes, optimizer_bytes) =>
        ({ parameter_bytes, gradient_bytes, master_weight_bytes, optimizer_bytes });
    const aware = 'bf16 params, bf16 main grads, int16 master remainder and';
    each([[`${aware} fp32 m, v sharded`, layout(2, 2, 2, 8)], [`${aware} bf16 m, v sharded`, layout(2, 2, 2, 4)], [`${aware} fp8 m, v`, layout(2, 2, 2, 2)]],
        (said) => workload({ framework: 'Megatron-LM', precision_layout: said }).layout);
    each([['SGD', layout(2, 2, 0, 0)], ['SGD with momentum', layout(2, 2, 0, 2)], ['AdamW', layout(2, 2, 0, 4)]],
        (optimizer) => workload({ precision_layout: 'pure bf16', optimizer }).layout);
    each([['bf16 (2+2+8)', layout(2, 2, 0, 8)], ['2+2+4+8', layout(2, 2, 4, 8)], ['bf16 weights, bf16 optimizer', layout(2, 2, 0, 4)],
        ['bf16 params/grads, fp32 Adam', layout(2, 2, 0, 8)], ['bf16 param + fp32 main grad (6+12/d)', undefined], ['bf16', undefined]],
    (said) => workload({ precision_layout: said }).layout);
    each([['SGD no momentum', 'sgd'], ['SGD with momentum', 'sgd_momentum'], ['lion 8bit', undefined], ['adamw_bnb_8bit', 'adamw_8bit']],
        (said) => workload({ optimizer: said }).optimizer);
    each([['LoRA (q,k,v,o)', ['q_proj', 'k_proj', 'v_proj', 'o_proj']], ['lora q,v', ['q_proj', 'v_proj']],
        ['LoRA all linear', ['all-linear']]], (said) => workload({ peft: said }).adapter.targets);
    assert.equal(workload({ peft: 'LoRA r=64 q,v' }).adapter.rank, 64);
    assert.equal(workload({ peft: 'full' }).adapter, undefined);
});

test('a model is built as its name says, and one that is like none of ours is refused', () => {
    each([['GPT-J 6B', 'gptj'], ['GPT-3 175B', 'gpt2'], ['Turing-NLG 17B', 'gpt2'], ['GPT-NeoX-20B', 'gpt_neox'], ['Grok 7B', 'llama']],
        (model) => ask({ model, vocab: '50400' }).model.config.model_type);
    assert.match(requestOf(throughputRow({ ...plain, model: 'Mamba-2.8B', vocab: '50280' })).refusal, /no model like "mamba-2.8b"/);
});

test('losses, widths and kernels of attention are read from what is noted beside a step', () => {
    each([['Liger kernels', 'cut'], ['fused linear cross-entropy of Liger', 'cut'], ['cross-entropy of Liger on materialized logits', 'fused'],
        ['TE fused cross-entropy', 'fused'], ['loss of transformers on whole logits', undefined]], (notes) => ask({ notes }).workload.loss);
    each([['bf16 moments', { optimizer_bytes: 4 }], ['bf16 moments, bf16 main gradients', { gradient_bytes: 2, optimizer_bytes: 4 }],
        ['bf16 gradients', undefined]], (notes) => ask({ ...cut, notes }).workload.layout);
    each([['4', 'cudnn'], ['FA-3', 'flash3'], ['2', 'flash2']], (said) => ask({ flash_attention: said }).workload.attention);
    const { profile, activation_profile: activations } = ask({ notes: 'Liger norms, rotary' }).workload;
    assert.deepEqual([profile.norm_ratio, profile.rotary_ratio, activations], [0.7, 0.85, 'fused']);
});

test('what runs beside what is read from flags, and what is reduced from the precision', () => {
    const overlap = (flags, row = {}) => ask({ ...cut, flags, ...row }).parallelism.overlap;
    each([['overlap_grad_reduce|overlap_param_gather', { grad_reduce: true, param_gather: true }],
        ['overlapped distributed optimizer', { grad_reduce: true, param_gather: true }],
        ['overlap_off', { grad_reduce: false, param_gather: false }], ['overlap_param_gather|no overlap of gradient reduction', { grad_reduce: false, param_gather: true }],
        ['TP communication overlap off', undefined], ['P2P overlap off', undefined], ['', undefined]], (flags) => overlap(flags));
    each([['moe_a2a_overlap', true], ['overlap_moe_ep_comm', true], ['overlap of expert exchange, delayed wgrad', true], ['no overlap of expert exchange', undefined], ['overlap_p2p', undefined]],
        (flags) => ask({ ...cut, flags }).workload.moe?.overlap);
    each([['bf16, bf16 reduce', 'bf16'], ['bf16, gradients reduced in fp32', 'fp32'], ['bf16', undefined]],
        (precision) => ask({ ...cut, precision }).parallelism.grad_reduce_dtype);
    each([['fp32 + bf16 (FSDP mixed precision)', 'bf16'], ['fp32', 'fp32'], ['fp32 params, bf16 amp', 'bf16']],
        (precision) => ask({ precision }).workload.precision);
    each([['dropout 0.1 and 0.1', true], ['dropout 0, no biases', false], ['a dropout 0.1 of adapters', undefined]],
        (notes) => ask({ ...cut, notes }).workload.dropout);
    each([['minigpt-large', 'gpt2'], ['nanoGPT 124M', 'gpt2']], (model) => ask({ model, vocab: '50304' }).model.config.model_type);
});
