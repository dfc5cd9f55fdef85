/** Rows to requests: one rule for all of them, and nothing where the row says nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestOf } from './lib/request.mjs';

const llama = { model: 'llama3-8b', L: '32', h: '4096', a: '32', kv: '8', head_dim: '128',
    ffn: '14336', vocab: '128256', tied: '0' };
const dense = { ...llama, framework: 'torchtitan (FSDP2)', gpu: 'H100', gpu_mem_gib: '94.99',
    num_gpus: '16', tp: '2', sp: '1', pp: '1', dp: '8', cp: '1', ep: '1',
    sharding: 'fsdp2 full shard', micro_batch: '2', seq_len: '8192',
    recompute: 'selective per-op SAC', optimizer: 'AdamW (fused)', attention: 'SDPA flash',
    precision_layout: 'fp32 sharded params+grads+Adam; bf16 compute/all-gather',
    compile: '1', ce_impl: 'fp32 logits CE', metric: 'reserved', measured_peak_gib: '40' };
const megatron = { ...dense, framework: 'Megatron-LM (TransformerEngine 2.11)', pp: '2', dp: '4',
    sharding: 'megatron distributed optimizer (ZeRO-1 over dp*cp)', recompute: 'none',
    precision_layout: 'bf16 param + fp32 main grad', ce_impl: 'TE fused cross-entropy' };

const request = (row) => requestOf(row).request;
const workload = (row) => request({ ...dense, ...row }).workload;
const parallelism = (row) => request({ ...dense, ...row }).parallelism;

test('a torchtitan row is asked in the words of the contract', () => {
    assert.deepEqual(request(dense), {
        model: { config: { architectures: ['LlamaForCausalLM'], model_type: 'llama',
            num_hidden_layers: 32, hidden_size: 4096, num_attention_heads: 32,
            num_key_value_heads: 8, head_dim: 128, intermediate_size: 14336, vocab_size: 128256,
            max_position_embeddings: 8192, tie_word_embeddings: false } },
        workload: { kind: 'pretraining', framework: 'fsdp2', software: 'torchtitan-2025-10',
            sequence_length: 8192, global_batch_size: 16, micro_batch_size: 2, precision: 'bf16',
            optimizer: 'adamw', profile: { step_lists: 0 }, recompute: { mode: 'op_sac' },
            attention: 'sdpa', compile: true },
        cluster: { accelerator: 'nvidia-h100-sxm5-80gb', nodes: 2, accelerators_per_node: 8,
            accelerator_overrides: { memory_bytes: 101994735862 } },
        parallelism: { tensor: 2, sequence: true, pipeline: 1, context: 1, expert: 1, data: 8,
            zero_stage: 3 },
    });
});

test('a Megatron row keeps its stage of ZeRO and fills its pipeline', () => {
    const { workload: work, parallelism: plan } = request(megatron);
    assert.equal(work.framework, 'megatron');
    assert.equal(work.software, 'megatron-core-0.15');
    assert.equal(work.loss, 'fused');
    assert.equal(work.recompute, 'none');
    assert.equal(work.global_batch_size, 2 * 2 * 4);
    assert.equal(plan.zero_stage, 1);
    assert.equal(request({ ...megatron, num_microbatches: '4/8/32 (same)' }).workload
        .global_batch_size, 2 * 4 * 4);
});

test('what a Megatron row says of kernels replaces the figures of its release', () => {
    assert.equal(workload({ ...megatron, ce_impl: 'TE fused cross-entropy' }).profile.fused_logits_peak_bytes, 2);
    const { loss, profile } = workload({ ...megatron, ce_impl: 'parallel', notes: 'weight gradients not fused' });
    assert.equal(loss, 'parallel');
    assert.equal(profile.gradient_accumulation_fusion, 0);
    assert.equal(profile.fused_logits_peak_bytes, undefined);
    const attention = (gpu) => workload({ ...megatron, gpu, attention: 'TE fused/flash' }).attention;
    assert.deepEqual(['A100 SXM4 80GB', 'H100 SXM5 80GB', 'GB200'].map(attention), ['flash', 'cudnn', 'cudnn']);
});

test('states that are divided within groups of ranks have a group', () => {
    const group = (sharding) => request({ ...megatron, sharding }).parallelism.shard_group;
    assert.equal(group('megatron distributed optimizer group 2'), 2);
    assert.equal(group('megatron zero-3 group 4'), 4);
    assert.equal(group('megatron distributed optimizer'), undefined);
});

test('a torchtitan row runs the release of its source, with the loss that release computes', () => {
    const of = (row) => {
        const { software, loss } = workload(row);
        return [software, loss];
    };
    assert.deepEqual(of({ source: 'torchtitan benchmarks 2024-12' }),
        ['torchtitan-2024-12', undefined]);
    assert.deepEqual(of({ source: 'torchtitan commit e23bb707d', ce_impl: 'chunked CE' }),
        ['torchtitan-2025-03', 'chunked']);
    assert.equal(of({ ce_impl: 'chunked, compiled' })[1], 'chunked');
    assert.equal(of({ ce_impl: 'chunked/compiled CE' })[1], 'fused');
    assert.deepEqual(of({ source: 'torchtitan of 2025-06', compile: '1' }),
        ['torchtitan-2025-06', undefined]);
    assert.deepEqual(of({ source: 'torchtitan commit f738a03bf', compile: 'loss' }),
        ['torchtitan-2025-08', 'fused']);
    const cut = { source: 'torchtitan on MI355X (2026-08)', ce_impl: '' };
    assert.deepEqual(of(cut), ['torchtitan-2026-05', undefined]);
    assert.equal(of({ ...cut, ce_impl: 'fp32 logits CE' })[1], 'eager');
    assert.equal(of({ ...cut, framework: 'torchtitan graph_trainer' })[0], 'torchtitan-graph-2025-04');
    assert.equal(of({ ...cut, framework: 'torchtitan (a decoder after it)' })[0], 'torchtitan-2025-10');
    assert.equal(of({ ...cut, source: 'torchtitan on B200 (2026-04)' })[0], 'torchtitan-2025-10');
    assert.deepEqual(of({ source: 'torchtitan commit a764c9815', compile: '0' }),
        ['torchtitan-2025-10', undefined]);
    assert.deepEqual(of({ framework: 'torchtitan SimpleFSDP', compile: 'aot_eager' }),
        ['torchtitan-graph-2025-04', undefined]);
    assert.deepEqual(of({ sharding: 'fsdp1 full shard' }), [undefined, 'eager']);
    const graph = { framework: 'torchtitan graph_trainer' };
    assert.equal(parallelism(graph).reshard_after_forward, false);
    assert.equal(parallelism({ ...graph, recompute: 'full' }).reshard_after_forward, undefined);
});

test('what is blank is left out, not guessed', () => {
    const { workload: work, cluster, parallelism: plan } = request({ ...llama });
    assert.deepEqual(work, { kind: 'pretraining' });
    assert.deepEqual(cluster, { accelerators_per_node: 8 });
    assert.deepEqual(plan, {});
});

test('experts and latent attention become the keys of their class', () => {
    const { config } = request({ model: 'deepseek-v2(4 layers)', L: '4', h: '5120', a: '128',
        kv: '128', ffn: '12288', vocab: '102400', tied: '0',
        moe: 'E=160;topk=6;moe_ffn=1536;shared_ffn=3072;dense_layers=1;capacity_factor=1',
        mla: 'q_lora=0;kv_lora=512;qk_nope=128;qk_rope=64;v=128' }).model;
    assert.equal(config.model_type, 'deepseek_v2');
    assert.equal(config.n_routed_experts, 160);
    assert.equal(config.n_shared_experts, 2);
    assert.equal(config.first_k_dense_replace, 1);
    assert.equal(config.q_lora_rank, null);
    assert.equal(config.kv_lora_rank, 512);
    assert.equal(config.head_dim, undefined);
    const mixtral = request({ ...llama, model: 'mixtral-8x7b', moe: 'E=8;topk=2;moe_ffn=14336' });
    assert.equal(mixtral.model.config.num_local_experts, 8);
    const qwen = request({ ...llama, model: 'qwen3-30b-a3b', moe: 'E=128;topk=8;moe_ffn=768' });
    assert.equal(qwen.model.config.model_type, 'qwen3_moe');
});

test('a name that nobody knows is built as most are, by what the row says it has', () => {
    const typeOf = (row) => request({ ...dense, ...row }).model.config.model_type;
    assert.equal(typeOf({ model: 'somebody-7b' }), 'llama');
    assert.equal(typeOf({ model: 'somebody-8x7b', moe: 'E=8;topk=2;moe_ffn=1024' }), 'deepseek');
    assert.equal(typeOf({ model: 'pythia-6.9b' }), 'gpt_neox');
    const falcon = request({ ...dense, model: 'falcon-7b', kv: '1' }).model.config;
    assert.deepEqual([falcon.multi_query, falcon.new_decoder_architecture], [true, false]);
});

test('a model that cannot be described is refused with the reason', () => {
    assert.match(requestOf({ ...dense, L: '', vocab: '' }).refusal, /does not give L, vocab/);
    assert.match(requestOf({ ...megatron, schedule: 'interlaced vocabulary' }).refusal,
        /no word for schedule/);
});

test('recomputation is told by mode', () => {
    assert.deepEqual(workload({ h: '4096', cp: '2', seq_len: '81921', recompute: 'full, tiled MLP, tiled loss' }).recompute,
        { mode: 'full', mlp_tiles: 11 });
    const of = (recompute) => workload({ framework: 'Megatron-Bridge', sharding: '', recompute })
        .recompute;
    assert.equal(of('full (recipe default)'), 'full');
    assert.equal(of('none (not stated)'), undefined);
    assert.equal(of('HF gradient checkpointing'), 'full');
    assert.equal(of('selective'), 'selective');
    assert.deepEqual(of('core_attn selective'), { mode: 'core_attention' });
    assert.deepEqual(of('mlp + core_attn'), { mode: 'modules', modules: ['mlp', 'core_attn'] });
    assert.deepEqual(of('every 2nd layer'), { mode: 'full', method: 'block', layers: 16 });
});

test('a quantised base belongs to the adapter, without one the linears compute in it', () => {
    const adapted = workload({ peft: 'QLoRA all linear', lora_rank: '8', base_quant: 'bnb nf4' });
    assert.equal(adapted.kind, 'finetuning');
    assert.equal(adapted.precision, 'bf16');
    assert.deepEqual(adapted.adapter, { method: 'lora', rank: 8, base: 'nf4',
        targets: ['all-linear'] });
    const sharded = { framework: 'HF PEFT', peft: 'QLoRA' };
    assert.equal(workload({ ...sharded, base_quant: 'bnb nf4' }).adapter.unquantized, 'fp32');
    assert.deepEqual(workload({ ...sharded, base_quant: 'bnb nf4, bf16 storage' }).adapter,
        { method: 'lora', targets: ['q_proj', 'v_proj'], dtype: 'bf16', base: 'nf4_double', dropout: 0.1 });
    assert.deepEqual(workload({ ...sharded, sharding: 'none', base_quant: 'bnb nf4' }).adapter,
        { method: 'lora', targets: ['q_proj', 'v_proj'], base: 'nf4', unquantized: 'fp32' });
    assert.equal(workload({ ...sharded, notes: 'regathered input' }).adapter
        .sequence_parallel_input_regather, true);
    const eight = workload({ base_quant: 'float8 tensorwise + float8 all-gather' });
    assert.equal(eight.precision, 'fp8');
    assert.deepEqual(eight.fp8, { recipe: 'tensorwise', all_gather: true });
    assert.equal(workload({ base_quant: 'NVFP4 layers 0-26, bf16 tail' }).fp8.bf16_layers, 5);
});

test('what torchtune does by itself: scales quantised too, and chunks since Llama 3.1', () => {
    const row = { framework: 'torchtune single device', peft: 'QLoRA' };
    assert.equal(workload({ ...row, base_quant: 'nf4' }).adapter.base, 'nf4_double');
    assert.equal(workload(row).adapter.base, 'nf4_double');
    const lossOf = (source) => workload({ ...row, ce_impl: '', source }).loss;
    assert.equal(lossOf('torchtune README 2024 table (Llama2)'), 'eager');
    assert.equal(workload({ ...row, ce_impl: 'eager, bf16 logits' }).loss, 'eager_16bit');
    assert.equal(lossOf('torchtune README Llama3.1 table'), 'chunked');
});

test('optimizers, layouts and offload are read from their words', () => {
    assert.equal(workload({ optimizer: 'torchao 4-bit AdamW' }).optimizer, 'adamw_4bit');
    assert.equal(workload({ optimizer: '8-bit Adam (bnb)' }).optimizer, 'adamw_8bit');
    assert.equal(workload({ optimizer: 'AdamW or paged/8-bit per recipe' }).optimizer, undefined);
    assert.deepEqual(workload({ optimizer: 'AdamW foreach' }).profile, { step_lists: 1 });
    assert.equal(workload({ optimizer: 'AdamW', source: 'somebody 2024' }).profile, undefined);
    assert.deepEqual(workload({ optimizer: 'AdamW', source: 'somebody 2022' }).profile, { step_lists: 0 });
    assert.deepEqual(workload({ precision_layout: 'pure bf16 params/grads/Adam states (2+2+4)' })
        .layout, { parameter_bytes: 2, gradient_bytes: 2, master_weight_bytes: 0,
        optimizer_bytes: 4 });
    assert.deepEqual(workload({ cpu_offload: 'fsdp cpu offload' }).offload,
        { optimizer: 'cpu', parameters: 'cpu' });
    assert.deepEqual(workload({ cpu_offload: 'on (params, grads, Adam)' }).offload, { optimizer: 'cpu', parameters: 'cpu' });
    assert.equal(workload({ cpu_offload: 'optimizer offload fraction 0' }).offload, undefined);
    assert.deepEqual(workload({ cpu_offload: 'optimizer offload fraction 0.25' }).offload, { optimizer: 'cpu', optimizer_fraction: 0.25 });
});

test('plans: sharding words, schedules, resharding, context parallelism', () => {
    assert.equal(parallelism({ sharding: 'zero2', framework: 'DeepSpeed' }).zero_stage, 2);
    assert.equal(parallelism({ sharding: 'none', framework: 'HF Trainer' }).zero_stage, 0);
    assert.equal(parallelism({ sharding: 'fsdp1 shard_grad_op' }).zero_stage, 2);
    assert.equal(parallelism({ sharding: 'fsdp2 hybrid' }).sharding, 'hybrid_shard');
    assert.equal(parallelism({ reshard_after_forward: 'never' }).reshard_after_forward, false);
    assert.equal(parallelism({ reshard_after_forward: 'default (true)' }).reshard_after_forward,
        undefined);
    const interleaved = parallelism({ pp: '4', schedule: 'interleaved 1F1B' });
    assert.equal(interleaved.schedule, 'interleaved_1f1b');
    assert.equal(interleaved.virtual_pipeline, 2);
    assert.equal(parallelism({ attention: 'TE fused/flash; cp a2a' }).context_kind, 'a2a');
});

test('a part that comes in two sizes is told by the row\'s memory', () => {
    const part = (gpu, gpu_mem_gib) => request({ ...dense, gpu, gpu_mem_gib }).cluster.accelerator;
    assert.equal(part('A100', '79.1'), 'nvidia-a100-sxm4-80gb');
    assert.equal(part('A100', '39.4'), 'nvidia-a100-sxm4-40gb');
    assert.equal(part('GB200', '184.3'), 'nvidia-gb200');
    assert.equal(part('24GB GPU', ''), undefined);
    assert.equal(part('24GB GPU', '23.6'), 'nvidia-a100-sxm4-80gb');
});

test('a part is known by the words that sources have for it', () => {
    const part = (gpu) => request({ ...dense, gpu, gpu_mem_gib: '' }).cluster.accelerator;
    assert.equal(part('NVIDIA H100 80GB HBM3'), 'nvidia-h100-sxm5-80gb');
    assert.equal(part('8xH100 PCIe'), 'nvidia-h100-pcie-80gb');
    assert.equal(part('A100/H100/consumer'), 'nvidia-a100-sxm4-80gb');
    assert.equal(part('A100 PCIe 40GB'), 'nvidia-a100-pcie-40gb');
    assert.equal(part('A10G 24GB'), 'nvidia-a10g');
    assert.equal(part('H20 96GB'), 'nvidia-h20-96gb');
    assert.equal(part('AMD Instinct MI355X'), 'amd-mi355x');
    assert.equal(part('MI300A'), 'amd-mi300a');
    assert.equal(part('Intel Gaudi 3'), 'intel-gaudi3');
    assert.equal(part('TPU v5p 95GB'), undefined);
});

test('a tool that cuts a model does not do what it does by itself', () => {
    assert.equal(workload({ framework: 'HF Accelerate', sharding: '', tp: '1' }).framework, 'ddp');
    assert.equal(workload({ framework: 'HF Accelerate', sharding: '', tp: '8' }).framework, undefined);
    assert.equal(workload({ framework: 'HF Accelerate', sharding: 'FULL_SHARD' }).framework, 'fsdp1');
    assert.equal(workload({ framework: 'NeMo 2.0', sharding: '' }).framework, 'megatron');
    assert.equal(parallelism({ framework: 'DeepSpeed', sharding: 'ZeRO 3' }).zero_stage, 3);
    assert.equal(parallelism({ framework: 'DeepSpeed', sharding: '2' }).zero_stage, 2);
    assert.equal(parallelism({ framework: 'FSDP', sharding: 'HSDP' }).sharding, 'hybrid_shard');
    assert.equal(parallelism({ pp: '4', schedule: 'Interleaved-1F1B' }).schedule, 'interleaved_1f1b');
    assert.equal(parallelism({ pp: '4', schedule: 'ZB-H1' }).schedule, 'zb_h1');
    assert.equal(workload({ recompute: 'no' }).recompute, 'none');
    assert.equal(workload({ recompute: 'selective (core attention)' }).recompute.mode, 'core_attention');
});

test('a row whose lengths vary is asked so', () => {
    const longest = { mean_length: 8192, packed: false, padding: 'longest' };
    assert.deepEqual(workload({ notes: 'seq_len is the longest sample' }).documents, longest);
    assert.deepEqual(workload({ notes: 'sequence length varies; alpaca; unpacked' }).documents, longest);
    assert.equal(workload({ notes: 'packed' }).documents, undefined);
    assert.equal(workload({ notes: 'longest sequence that fits' }).documents, undefined);
});

test('words of tools beside the known ones: autocast, adapters on all of attention, AutoModel', () => {
    assert.equal(workload({ precision_layout: 'fp32 params, bf16 amp' }).precision, 'bf16');
    assert.equal(workload({ precision_layout: 'fp32 params, fp16 autocast' }).precision, 'fp16');
    assert.equal(workload({ precision_layout: 'fp32' }).precision, 'fp32');
    assert.deepEqual(workload({ peft: 'LoRA q, k, v, o' }).adapter.targets,
        ['q_proj', 'k_proj', 'v_proj', 'o_proj']);
    assert.deepEqual(workload({ peft: 'LoRA q, k, v' }).adapter.targets,
        ['q_proj', 'k_proj', 'v_proj']);
    const automodel = workload({ framework: 'NeMo AutoModel', sharding: '' });
    assert.deepEqual([automodel.framework, automodel.software], ['fsdp2', 'automodel-2025']);
});

test('an adapter stands beside the layers that the row names, in the words of its family', () => {
    const targets = (row) => workload(row).adapter.targets;
    assert.deepEqual(targets({ peft: 'LoRA all linear' }), ['all-linear']);
    assert.deepEqual(targets({ peft: 'LoRA all linear + output' }), ['all-linear', 'lm_head']);
    assert.deepEqual(targets({ peft: 'LoRA q_proj,v_proj' }), ['q_proj', 'v_proj']);
    assert.deepEqual(targets({ peft: 'LoRA (attention)' }), ['q_proj', 'k_proj', 'v_proj', 'o_proj']);
    assert.deepEqual(targets({ peft: 'LoRA (attn + MLP)' }), ['all-linear']);
    assert.deepEqual(targets({ model: 'phi-3-mini', peft: 'LoRA q, v' }), ['qkv_proj']);
    assert.deepEqual(targets({ model: 'phi-2', peft: 'LoRA MLP' }), ['fc1', 'fc2']);
    assert.deepEqual(targets({ model: 'gpt2-xl', peft: 'LoRA q, k, v, o' }), ['c_attn', 'attn.c_proj']);
    assert.deepEqual(targets({ model: 'pythia-1b', peft: 'LoRA q, v' }), ['query_key_value']);
});

test('a base of 4 or 8 bits is one by whatever name', () => {
    const base = (base_quant) => workload({ peft: 'LoRA q, v', base_quant }).adapter.base;
    assert.deepEqual(['bnb fp4', '4-bit', 'gptq int4', '8-bit', 'bnb int8'].map(base),
        ['nf4', 'nf4', 'nf4_double', 'int8', 'int8']);
});

test('adapters under FSDP multiply in 32 bits where the row denies autocast', () => {
    const autocast = (precision_layout) => workload({ framework: 'HF PEFT', sharding: 'fsdp1 full shard',
        peft: 'LoRA q, v', precision_layout }).adapter.autocast;
    assert.equal(autocast('bf16 base, no autocast; adapters fp32'), false);
    assert.equal(autocast('bf16 base, bf16 mixed'), undefined);
});

test("Trainer's FSDP 1 recomputes reentrantly, a script of its own need not", () => {
    const software = (framework) => workload({ framework, sharding: 'fsdp1', peft: 'LoRA q, v' }).software;
    assert.equal(software('HF PEFT'), 'transformers-fsdp1-4.x');
    assert.equal(software('HF PEFT custom script'), undefined);
    const mechanism = (sharding) => workload({ framework: 'HF Trainer', sharding }).framework;
    assert.deepEqual(['FSDP full shard', 'fsdp2'].map(mechanism), ['fsdp1', 'fsdp2']);
});

test("nanotron's stage 1 of ZeRO is its own, that of DeepSpeed's kin is not", () => {
    const of = (framework) => {
        const { framework: mechanism, software } = workload({ framework, sharding: 'zero-1' });
        return [mechanism, software];
    };
    assert.deepEqual(of('nanotron'), ['megatron', 'nanotron-2024']);
    assert.deepEqual(of('Megatron-DeepSpeed'), ['deepspeed', undefined]);
    assert.deepEqual(of('GPT-NeoX'), ['deepspeed', undefined]);
});

test('94 GB of an H100 are the NVL part in one node and what CUDA shows of 96 GB in more', () => {
    const part = (num_gpus) => request({ ...dense, gpu: 'H100 94GB', num_gpus }).cluster.accelerator;
    assert.equal(part('8'), 'nvidia-h100-nvl-94gb');
    assert.equal(part('16'), 'nvidia-h100-sxm5-80gb');
});

test('autocast with FSDP gathers what is stored in 32 bits, a base under adapters too', () => {
    const amp = { sharding: 'fsdp1 full shard', precision_layout: 'fp32 params, bf16 amp' };
    assert.equal(parallelism(amp).gather_dtype, 'fp32');
    assert.equal(workload(amp).layout, undefined);
    assert.deepEqual(workload({ ...amp, peft: 'LoRA q, v' }).layout, { parameter_bytes: 4 });
    assert.equal(parallelism({ ...amp, sharding: 'ZeRO-3' }).gather_dtype, undefined);
    const policy = { ...amp, precision_layout: 'amp_bf16 (fsdp mixed_precision=DEFAULT)' };
    assert.equal(parallelism(policy).gather_dtype, undefined);
});

test('dropout and its absence, MTP and its absence', () => {
    const of = (notes) => {
        const { dropout, mtp } = workload({ notes });
        return [dropout, mtp];
    };
    assert.deepEqual(of(''), [undefined, undefined]);
    assert.deepEqual(of('learned positions, residual and attention dropout 0.1'), [true, undefined]);
    assert.deepEqual(of('resid_pdrop 0.1, mtp'), [true, true]);
    assert.deepEqual(of('no dropout, no mtp'), [undefined, false]);
});
