/** Cases of other estimators: the way to a request, and sums of components. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, questionOf } from './lib/oracles.mjs';

const dims = { L: 32, h: 4096, a: 32, kv: 8, hd: 128, f: 14336, V: 128256, tied: false,
    swiglu: true };
const plan = { model: 'llama3-8b', dims, tp: 2, pp: 2, vpp: null, dp: 2, cp: 1, ep: 1, etp: 2,
    micro_batch: 1, seq_len: 4096, num_microbatches: 8, distributed_optimizer: true };

test('a case of Megatron becomes the request of a row', () => {
    const { request } = questionOf({ tool: 'Megatron-LM', input: plan });
    assert.equal(request.model.config.model_type, 'llama');
    assert.equal(request.model.config.vocab_size, 128256);
    assert.equal(request.workload.global_batch_size, 16);
    assert.equal(request.workload.recompute, 'selective');
    assert.deepEqual(request.parallelism, { tensor: 2, sequence: true, pipeline: 2, context: 1,
        expert: 1, data: 2, zero_stage: 1 });
    const plain = { ...plan, model: 'x-1t', dims: { ...dims, swiglu: false },
        padded_vocab: 128512 };
    const { config } = questionOf({ tool: 'Megatron-Bridge', input: plain }).request.model;
    assert.equal(config.model_type, 'gpt2');
    assert.equal(config.vocab_size, 128512);
});

test('DeepSpeed is asked as an accounting, except where it offloads', () => {
    const input = { total_params: 1e9, gpus_per_node: 8, num_nodes: 2, cpu_offload: false };
    const { request } = questionOf({ tool: 'DeepSpeed-ZeRO2', input });
    assert.deepEqual(request.model, { parameters: 1e9 });
    assert.deepEqual(request.parallelism, { data: 16, zero_stage: 2 });
    const offloaded = { ...input, cpu_offload: true };
    assert.match(questionOf({ tool: 'DeepSpeed-ZeRO2', input: offloaded }).refusal, /offloads/);
    assert.match(questionOf({ tool: 'abacus', input }).refusal, /no estimator "abacus"/);
});

test('components are sums of the first stage, and nothing is compared with nothing', () => {
    const ranks = [
        { role: 'last stage', rank: 1, terms: [{ name: 'parameters', bytes: 7 }] },
        { role: 'first stage', rank: 0, terms: [{ name: 'parameters', bytes: 2 },
            { name: 'gradients', bytes: 4 }, { name: 'logits', bytes: 9 }] },
    ];
    const errors = compare({ states: [['p', 'more'], ['parameters', 'gradients']],
        absent: [['none'], ['parameters']] }, { p: 3 }, { memory: { ranks } });
    assert.deepEqual(errors, { states: Math.log(2) });
});
