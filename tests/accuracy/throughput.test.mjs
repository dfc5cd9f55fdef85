/** Rows of measured steps to requests, one of each family of sources, and what counts of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownRelease } from './lib/releases.mjs';
import { requestOf } from './lib/request.mjs';
import { throughput } from './lib/sections.mjs';
import { scoreSources } from './lib/score.mjs';
import { scoreStep, throughputRow } from './lib/throughput.mjs';

const common = { task: 'pretraining', optimizer: 'Adam', num_gpus: '64', gpus_per_node: '8',
    tp: '8', pp: '8', dp: '1', global_batch_sequences: '64', micro_batch: '1', measured_step_s: '13.75',
    topology_id: 't', scored: '1', completeness: 'full' };
const gpt = { ...common, id: 'kor22t5-004', framework: 'Megatron-LM', software: 'megatron-lm-2022',
    model: 'GPT 175B', layers: '96', hidden: '12288', ffn_hidden: '49152', heads: '96',
    kv_heads: '96', head_dim: '128', vocab: '51200', seq_len: '2048', gpu: 'A100 SXM 80GB',
    inter_node_link: '8x200Gb/s HDR IB', vpp: '3', sequence_parallel: '1', recompute: 'selective',
    precision: 'fp16 mixed', schedule: 'interleaved 1F1B', flash_attention: '0' };
const llama = { ...common, layers: '32', hidden: '4096', ffn_hidden: '14336', heads: '32',
    kv_heads: '8', head_dim: '128', vocab: '128256', seq_len: '8192', model: 'Llama 3.1 8B',
    tp: '1', pp: '1', dp: '64', cp: '1', global_batch_sequences: '128', micro_batch: '2' };
const titan = { ...llama, id: 'titan2412-002', framework: 'torchtitan (nightly)',
    software: 'torchtitan-2024-12', gpu: 'H100 SXM 96GB HBM2e 2.4TB/s 500W cap (Grand Teton)',
    inter_node_link: 'RDMA 400Gb/s per GPU', zero_stage_or_fsdp: 'FSDP2 full shard',
    recompute: 'selective', precision: 'bf16', flash_attention: '1', flags: 'compile' };
const foundry = { ...llama, id: 'foundry-001', framework: 'llm-foundry/Composer (PyTorch FSDP)',
    software: 'llm-foundry-torch2.0', model: 'MPT 7b', kv_heads: '32', ffn_hidden: '16384',
    vocab: '50368', gpu: 'A100 40GB', inter_node_link: '1600 Gb/s RoCE per node',
    zero_stage_or_fsdp: 'FSDP SHARD_GRAD_OP', recompute: 'full',
    precision: 'amp_bf16 (fsdp mixed_precision=DEFAULT)', flash_attention: '1' };
const bridge = { ...common, id: 'mbridge-001', framework: 'Megatron-Bridge / Megatron-Core',
    software: 'mbridge-26.04', model: 'DeepSeekV3', layers: '61', hidden: '7168',
    ffn_hidden: '2048', heads: '128', kv_heads: 'MLA', vocab: '129280', seq_len: '4096',
    experts: '256', experts_topk: '8', gpu: 'GB200 186GB', gpus_per_node: '4', num_gpus: '256',
    tp: '1', pp: '4', vpp: '4', dp: '64', cp: '1', ep: '64', sequence_parallel: '0',
    zero_stage_or_fsdp: 'DDP + distributed optimizer (assumed)', precision: 'FP8-MX',
    recompute: 'selective (mla_up_proj, mlp)', flags: 'cuda_graphs|forced_balance|mtp' };
const sweep = { ...gpt, id: 'vtrain1n-0001', framework: 'Megatron-DeepSpeed',
    software: 'megatron-deepspeed-2023', model: 'GPT L24 h1024', vocab: '', precision: '',
    schedule: 'none', vpp: '', inter_node_link: '', flash_attention: '', completeness:
    'partial: precision vocab' };

const request = (row) => requestOf(throughputRow(row)).request;

test('a Megatron row, with the cards that its link names', () => {
    assert.deepEqual(request(gpt), {
        model: { config: { architectures: ['GPT2LMHeadModel'], model_type: 'gpt2', n_layer: 96,
            n_embd: 12288, n_head: 96, n_inner: 49152, vocab_size: 51200, n_positions: 2048,
            activation_function: 'gelu_pytorch_tanh' } },
        workload: { kind: 'pretraining', framework: 'megatron', software: 'megatron-lm-2022',
            sequence_length: 2048, global_batch_size: 64, micro_batch_size: 1, precision: 'fp16',
            optimizer: 'adamw', recompute: 'selective', attention: 'unfused' },
        cluster: { accelerator: 'nvidia-a100-sxm4-80gb', nodes: 8, accelerators_per_node: 8,
            nics: [{ count: 8, bytes_per_s: 25e9, kind: 'infiniband' }] },
        parallelism: { tensor: 8, sequence: true, pipeline: 8, virtual_pipeline: 3,
            schedule: 'interleaved_1f1b', data: 1 },
    });
    const deepspeed = request({ ...gpt, framework: 'DeepSpeed ZeRO-3 (Megatron-LM)',
        software: 'deepspeed-2021', zero_stage_or_fsdp: 'ZeRO-3' });
    assert.equal(deepspeed.workload.framework, 'deepspeed');
    assert.equal(deepspeed.parallelism.zero_stage, 3);
    assert.equal(request({ ...gpt, zero_stage_or_fsdp: '0' }).parallelism.zero_stage, 0);
});

test('a torchtitan row keeps its own part, kernel and compilation', () => {
    const { workload, cluster, parallelism } = request(titan);
    assert.equal(workload.software, 'torchtitan-2024-12');
    assert.equal(workload.attention, 'sdpa');
    assert.equal(workload.compile, true);
    assert.deepEqual(workload.recompute, { mode: 'op_sac' });
    assert.deepEqual(cluster.accelerator_overrides,
        { memory_bytes: Math.round(94.99 * 2 ** 30), memory_bandwidth_bytes_per_s: 2.4e12,
            power_limit_w: 500 });
    assert.deepEqual(cluster.nics, [{ count: 8, bytes_per_s: 50e9 }]);
    assert.equal(parallelism.zero_stage, 3);
    assert.equal(request({ ...titan, flags: '', notes: 'eager' }).workload.compile, false);
    assert.equal(request({ ...titan, flags: '' }).workload.compile, undefined);
    const eight = request({ ...titan, precision: 'fp8 tensorwise (fp8 all-gather) + bf16' });
    assert.deepEqual(eight.workload.fp8, { recipe: 'tensorwise', all_gather: true });
});

test('an llm-foundry row is the first FSDP, its link a total of the node', () => {
    const { model, workload, cluster, parallelism } = request(foundry);
    assert.deepEqual(model.config, { architectures: ['MptForCausalLM'], model_type: 'mpt',
        n_layers: 32, d_model: 4096, n_heads: 32, vocab_size: 50368, max_seq_len: 8192 });
    assert.equal(workload.framework, 'fsdp1');
    assert.equal(workload.software, 'llm-foundry-torch2.1');
    assert.equal(workload.precision, 'bf16');
    assert.equal(workload.attention, 'flash');
    assert.equal(workload.loss, undefined, 'the release fuses its own');
    assert.equal(parallelism.zero_stage, 2);
    assert.equal(parallelism.grad_reduce_dtype, undefined);
    const pure = request({ ...foundry, precision: 'bf16 (fsdp mixed_precision=PURE)' });
    assert.equal(pure.parallelism.grad_reduce_dtype, 'bf16');
    assert.equal(pure.workload.software, 'llm-foundry-torch2.0');
    assert.equal(cluster.accelerator, 'nvidia-a100-sxm4-40gb');
    assert.deepEqual(cluster.nics, [{ count: 8, bytes_per_s: 25e9, kind: 'roce' }]);
});

test('a Megatron-Bridge row takes from the published config what no column says', () => {
    const { model: { config }, workload, cluster, parallelism } = request(bridge);
    assert.equal(parallelism.grad_reduce_dtype, 'bf16');
    assert.equal(config.model_type, 'deepseek_v3');
    assert.equal(config.intermediate_size, 18432);
    assert.equal(config.moe_intermediate_size, 2048);
    assert.equal(config.first_k_dense_replace, 3);
    assert.equal(config.kv_lora_rank, 512);
    assert.equal(config.num_key_value_heads, 128);
    assert.equal(workload.framework, 'megatron');
    assert.equal(workload.precision, 'mxfp8');
    assert.deepEqual(workload.recompute, { mode: 'modules', modules: ['mla_up_proj', 'mlp'] });
    assert.deepEqual(workload.moe, { balance: 'forced' });
    assert.equal(workload.cuda_graphs, 'layer');
    assert.equal(workload.mtp, true);
    const moe = (row) => request({ ...bridge, ...row }).workload.moe;
    assert.deepEqual(moe({ notes: 'tokendrop' }), { balance: 'forced', dispatcher: 'alltoall' });
    const recipe = { precision: 'MXFP8', software: 'mbridge-26.06.01' };
    assert.deepEqual(moe(recipe), { balance: 'forced', dispatcher: 'hybridep', overlap: true });
    assert.deepEqual(moe({ ...recipe, software: 'mbridge-26.04.01' }), { balance: 'forced' });
    assert.deepEqual(moe({ ...recipe, ep: '32' }), { balance: 'forced' });
    assert.equal(cluster.accelerators_per_node, 4);
    assert.equal(cluster.nics, undefined);
    assert.equal(parallelism.zero_stage, 1);
    assert.equal(parallelism.expert_tensor, 1); // of its base configurations
    const split = (row) => request({ ...bridge, framework: 'Megatron-LM', ...row })
        .parallelism.expert_tensor;
    assert.equal(split({}), undefined);
    assert.equal(split({ tp: '2', dp: '32' }), 1);
    assert.equal(split({ tp: '2', notes: 'expert tensor 2' }), 2);
});

test('graphs, overlap and context that the notes of a row say', () => {
    const asked = (notes) => request({ ...bridge, notes });
    assert.equal(asked('CUDA graph of the full iteration').workload.cuda_graphs, 'full');
    assert.equal(asked('free routing, moe_a2a_overlap').workload.moe.overlap, true);
    assert.equal(asked('a2a context parallelism').parallelism.context_kind, 'a2a');
    const laid = asked('no MTP; layout Et*2|(tt|)*2tmL: embedding and two; FP8 primary weights, bf16 moments');
    assert.deepEqual(laid.parallelism.pipeline_layout, [2, 2, 2, 1]);
    assert.deepEqual(laid.workload.layout, { optimizer_bytes: 4 });
    const said = { ...bridge, framework: 'NeMo Framework', flags: '' };
    const fp8 = (precision) => request({ ...said, precision }).workload.fp8;
    assert.deepEqual(fp8('FP8 (TE hybrid delayed, fp8 primary weights) + bf16'),
        { recipe: 'delayed', primary_weights: true });
    assert.equal(request({ ...said, task: 'lora', precision: 'FP8 (fp8 primary weights)',
        notes: 'base stored in fp8, transposes not cached' }).workload.fp8.transpose_cache, false);
    assert.equal(request({ ...said, precision: 'FP8 (TE hybrid) + bf16',
        notes: 'SwiGLU inputs kept in fp8' }).workload.fp8.activation_input_store, true);
    const attending = request({ ...said, precision: 'FP8 (TE hybrid) + bf16', flash_attention: '1',
        notes: 'median of 4 logs, fp8 attention' }).workload;
    assert.deepEqual([attending.fp8.dot_product_attention, attending.attention], [true, 'cudnn']);
    assert.deepEqual(fp8('fp8 rowwise (bf16 all-gather) + bf16'), { recipe: 'rowwise' });
    assert.deepEqual(fp8('fp8 tensorwise (fp8 all-gather) + bf16'),
        { recipe: 'tensorwise', all_gather: true });
});

test('words of Megatron-Bridge: recipes, blocks, its own FSDP, offload, adapters, cards', () => {
    const workload = (row) => request({ ...bridge, ...row }).workload;
    assert.deepEqual(workload({ precision: 'FP8-CS' }).fp8,
        { recipe: 'current', primary_weights: true });
    assert.deepEqual(workload({ precision: 'FP8', task: 'lora' }).fp8, undefined);
    assert.deepEqual(workload({ precision: 'FP8-MX', software: 'mbridge-25.11' }).fp8,
        { recipe: 'mxfp8' });
    assert.equal(workload({ precision: 'MXFP8', software: 'mbridge-26.08' }).fp8.primary_weights,
        true);
    assert.deepEqual(workload({ precision: 'FP8 subchannel (128x128/1x128)' }).fp8,
        { recipe: 'block' });
    assert.equal(workload({ precision: 'NVFP4' }).precision, 'nvfp4');
    assert.deepEqual(workload({ recompute: 'full (block, 5 layers per stage)' }).recompute,
        { mode: 'full', method: 'block', layers: 5 });
    assert.deepEqual(workload({ flags: 'activation_offload' }).offload, { activations: 'cpu' });
    assert.deepEqual(workload({ flags: 'activation_offload',
        notes: 'activation CPU offload of 20 layers' }).offload,
    { activations: 'cpu', activation_layers: 20 });
    assert.equal(workload({ task: 'sft' }).kind, 'finetuning');
    assert.deepEqual(workload({ task: 'lora' }).adapter,
        { method: 'lora', targets: ['q_proj', 'k_proj', 'v_proj'] });
    assert.deepEqual(workload({ task: 'lora', software: 'nemo-24.07' }).adapter,
        { method: 'lora', targets: ['q_proj', 'k_proj', 'v_proj'] });
    assert.deepEqual(workload({ task: 'lora', software: 'of-nobody' }).adapter, { method: 'lora' });
    const sharded = request({ ...bridge, zero_stage_or_fsdp: 'Megatron-FSDP group 64' });
    assert.equal(sharded.parallelism.zero_stage, 3);
    assert.equal(sharded.parallelism.shard_group, 64);
    assert.deepEqual(request({ ...bridge, gpu: 'B300 SXM 270GB', inter_node_link: 'IB NDR400' })
        .cluster.nics, [{ count: 4, bytes_per_s: 50e9, kind: 'infiniband' }]);
});

test('nodes of four are boards without a switch where the source says what they are', () => {
    const cluster = (row) => request({ ...bridge, gpu: 'H200 SXM 141GB', ...row }).cluster;
    const source = 'a/b:c.md, Llama-3 on 4 x H200 nodes';
    assert.equal(cluster({ source }).node_type, 'hgx-h200-4');
    assert.equal(cluster({ source, num_gpus: '2', gpus_per_node: '2', dp: '2', tp: '1', pp: '1' })
        .node_type, 'hgx-h200-4');
    assert.equal(cluster({}).node_type, undefined);
    assert.equal(cluster({ source: 'a/b:c.md, on 8 x H200 nodes' }).node_type, undefined);
    const notes = '4 x A100 nodes';
    assert.equal(cluster({ gpu: 'A100 SXM 80GB', notes }).node_type, 'hgx-a100-4');
    assert.equal(cluster({ gpu: 'A100 SXM 64GB', notes }).node_type, 'leonardo-booster');
    assert.equal(cluster({ gpu: 'A100 SXM 40GB', notes }).node_type, 'juwels-booster');
    assert.equal(cluster({ gpu: 'A100 PCIe 80GB', notes }).node_type, undefined);
});

test('a vocabulary that a row does not say is that of its family, where one has one', () => {
    const vocabularyOf = (model, vocab = '') => throughputRow({ ...sweep, model, vocab }).vocab;
    assert.equal(vocabularyOf('Llama 2 7B'), '32000');
    assert.equal(vocabularyOf('Llama 3.1 8B'), '128256');
    assert.equal(vocabularyOf('Qwen2.5 7B', '152064'), '152064');
    assert.equal(vocabularyOf('Llama 7B'), '');
});

test('a row without profile, precision and vocabulary leaves the first two open', () => {
    const { model, workload, cluster, parallelism } = request({ ...sweep, framework: 'Megatron-LM',
        software: 'of-nobody' });
    assert.equal(model.config.vocab_size, 50257);
    assert.equal(workload.framework, 'megatron');
    assert.equal(workload.software, undefined);
    assert.equal(workload.precision, undefined);
    assert.equal(workload.attention, undefined);
    assert.equal(cluster.nics, undefined);
    assert.equal(parallelism.schedule, undefined);
});

test('Megatron-DeepSpeed without a release is the one that is known of it', () => {
    assert.equal(request({ ...sweep, software: '' }).workload.software, 'megatron-deepspeed-2023');
});

test('a release says whose the stages of ZeRO are that a row names', () => {
    const stage = { zero_stage_or_fsdp: 'ZeRO-1' };
    const named = request({ ...sweep, ...stage });
    assert.equal(named.workload.framework, 'megatron');
    assert.equal(named.parallelism.zero_stage, 1);
    assert.equal(request({ ...sweep, ...stage, software: '' }).workload.framework, 'deepspeed');
});

test("torchtitan's pipelines split a replica's batch into as many as they have stages", () => {
    const of = (row) => request({ ...titan, pp: '8', dp: '8', micro_batch: '',
        global_batch_sequences: '256', schedule: '1F1B', ...row })
        .workload.micro_batch_size;
    assert.equal(of({}), 4);
    assert.equal(of({ schedule: 'interleaved 1F1B' }), 2);
    assert.equal(of({ micro_batch: '1' }), 1);
    assert.equal(of({ pp: '1' }), undefined);
    assert.equal(of({ global_batch_sequences: '40' }), undefined);
    assert.equal(of({ software: 'torchtitan-2025-09' }), undefined);
});

test("NeMo's recipes overlap tensor parallelism and reduce in bf16, as Megatron-Bridge's do", () => {
    for (const framework of ['NeMo Framework / Megatron-Core', 'Megatron-Bridge (Megatron-Core)']) {
        const { parallelism } = request({ ...bridge, framework, tp: '4', sequence_parallel: '' });
        assert.deepEqual(parallelism.overlap, { tensor: 'userbuffer' });
        assert.equal(parallelism.grad_reduce_dtype, 'bf16');
    }
    assert.equal(request({ ...gpt, tp: '4' }).parallelism.overlap, undefined);
});

test('whole gradients and the type they are reduced in are said by the words of the row', () => {
    const { parallelism } = request({ ...llama, framework: 'somebody (FSDP2)',
        precision: 'pure bf16, fp32 reduce', notes: 'compile, no_sync' });
    assert.equal(parallelism.gradient_sync, 'last');
    assert.equal(parallelism.grad_reduce_dtype, 'fp32');
    assert.equal(request(llama).parallelism.gradient_sync, undefined);
});

test('a framework that the contract has no word for is refused by name', () => {
    assert.match(requestOf(throughputRow({ ...llama, framework: 'MaxText/JAX' })).refusal,
        /no word for framework "MaxText\/JAX"/);
});

test('a precision that the contract has no word for is refused by name', () => {
    assert.match(requestOf(throughputRow({ ...llama, precision: 'MXFP4 + bf16' })).refusal, /precision "MXFP4"/);
});

test('flags say what lies beneath an adapter and beside which layers it stands', () => {
    const { adapter } = requestOf(throughputRow({ ...llama, task: 'lora', model: 'santacoder',
        framework: 'HF PEFT', precision: 'bf16 base amp',
        flags: 'peft=LoRA_c_attn,_dropout_0.1|lora_rank=16|base_quant=nf4_double' })).request.workload;
    assert.deepEqual([adapter.targets, adapter.base, adapter.dropout], [['c_attn'], 'nf4_double', 0.1]);
});

test('a step is compared in seconds, scored rows make the headline, keys are of the id', () => {
    const row = throughputRow(gpt);
    const estimate = { time: { step_s: 12.5 }, interval: { step_s: [12, 14] } };
    assert.deepEqual(scoreStep(row, estimate),
        { predicted_s: 12.5, error: Math.log(12.5 / 13.75), covered: true });
    assert.equal(scoreStep(row, { ...estimate, interval: { step_s: [12, 13] } }).covered, false);
    assert.equal(throughputRow(sweep).completeness, 'full');
    assert.equal(throughputRow({ ...gpt, scored: '0' }).completeness, 'partial');
    const results = ['vtrainMn-1', 'vtrainMn-2'].map((id) =>
        ({ row: throughputRow({ ...gpt, id }), refusal: 'no' }));
    assert.deepEqual([...scoreSources(results).keys()], ['vtrainmn']);
});

test('a rate of tokens is a step, a rate of FLOPs is not', () => {
    const rated = throughputRow({ ...gpt, measured_step_s: '',
        measured_tokens_per_s_per_gpu: '128', measured_tflops_per_gpu: '150' });
    assert.equal(Number(rated.measured_step_s), 64 * 2048 / (128 * 64));
    assert.equal(throughput.unscorable(rated), undefined);
    const unrated = throughputRow({ ...gpt, measured_step_s: '', measured_tflops_per_gpu: '150' });
    assert.match(throughput.unscorable(unrated), /neither the time of a step nor a rate/);
});

test('a release that is not known runs as its neighbour within a year', () => {
    for (const [said, known] of [['nemo-24.07', 'nemo-24.07'], ['nemo-24.10', 'nemo-24.09'],
        ['mbridge-26.10', 'mbridge-26.08'], ['mbridge-25.10', 'mbridge-25.09'],
        ['torchtitan-2025-07', 'torchtitan-2025-06'], ['torchtitan-2024-05', 'torchtitan-2024-12'],
        ['torchtitan-2026-07', 'torchtitan-2026-05'], ['torchtitan-2026-04', 'torchtitan-2025-10'], ['megatron-lm-2023-09', 'megatron-lm-2023'],
        ['megatron-lm-2024', 'megatron-lm-2023'], ['megatron-lm-2025', undefined], ['a-tool-1.0', undefined], ['', undefined]])
        assert.equal(knownRelease(said), known, said);
    const nemo = { ...bridge, framework: 'NeMo Framework / Megatron-Core' };
    assert.equal(request({ ...nemo, software: 'nemo-24.10' }).workload.software, 'nemo-24.09');
    assert.equal(request({ ...nemo, software: '' }).workload.software, 'nemo-24.07');
});

test("Grok-1's configuration hides no tensor parallelism and pads to a capacity of one", () => {
    const row = { ...bridge, framework: 'NeMo Framework / Megatron-Core', tp: '4', dp: '4',
        sequence_parallel: '1', experts: '8', experts_topk: '2', flags: 'token_drop' };
    const other = request(row);
    assert.deepEqual(other.parallelism.overlap, { tensor: 'userbuffer' });
    assert.equal(other.workload.moe.capacity_factor, undefined);
    const grok = request({ ...row, model: 'Grok-1 314B' });
    assert.equal(grok.parallelism.overlap, undefined);
    assert.equal(grok.workload.moe.capacity_factor, 1);
});

test("NeMo's fp8 has delayed scales, AutoModel's GPT-OSS attends by FlexAttention", () => {
    const nemo = { ...bridge, framework: 'NeMo Framework / Megatron-Core', precision: 'FP8' };
    assert.equal(request(nemo).workload.fp8.recipe, 'delayed');
    assert.equal(request({ ...bridge, precision: 'FP8' }).workload.fp8.recipe, undefined);
    const own = { ...bridge, framework: 'NeMo AutoModel (FSDP2)', flash_attention: '1' };
    assert.equal(request({ ...own, model: 'GPT-OSS 20B' }).workload.attention, 'flex');
    assert.equal(request({ ...own, model: 'Qwen3 MoE 30B' }).workload.attention, 'flash');
});

test('dropped tokens are the flag of the table as well as the word of its notes', () => {
    for (const words of [{ flags: 'token_drop' }, { flags: '', notes: 'tokendrop' }])
        assert.equal(request({ ...bridge, ...words }).workload.moe.dispatcher, 'alltoall');
});
