/**
 * Plans of every kind that is modelled: answered by estimates and shardings alike, in documents that
 * are what the schemas say, which the client checks of every answer, and agree on the parameters.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { estimate, gpt2, llama, mixtral } from './lib/fixtures.mjs';

const client = await clientOfFile();

/** The base of all: eight devices, data parallel only. */
const flat = { tensor: 1, sequence: false, pipeline: 1, data: null };

const plans = {
    'experts dealt out': {
        config: mixtral,
        parallelism: { ...flat, tensor: 2, sequence: true, expert: 4 },
    },
    'experts that are not cut, over the tensor group': {
        config: mixtral,
        parallelism: { ...flat, tensor: 4, sequence: true, expert: 4, expert_tensor: 1 },
    },
    'experts cut over fewer ranks than the rest': {
        config: mixtral,
        parallelism: { ...flat, tensor: 4, sequence: true, expert: 2, expert_tensor: 2 },
    },
    'experts in a pipeline, unbalanced': {
        config: mixtral,
        workload: { moe: { balance: 'free', imbalance: 1.5, dispatcher: 'deepep' } },
        parallelism: { ...flat, pipeline: 2, expert: 2 },
    },
    'experts under FSDP 2': {
        config: mixtral,
        workload: { framework: 'fsdp2' },
        parallelism: { ...flat, zero_stage: null, expert: 4, sharding: 'full_shard' },
    },
    'hybrid sharding by its word': {
        cluster: { nodes: 2 },
        workload: { framework: 'fsdp1' },
        parallelism: { ...flat, zero_stage: null, sharding: 'hybrid_shard' },
    },
    'hybrid sharding by its copies': {
        workload: { framework: 'fsdp2' },
        parallelism: { ...flat, zero_stage: 3, replicate: 4, reshard_after_forward: true },
    },
    'a ring of ranks on each sequence': { parallelism: { ...flat, context: 4 } },
    'sequences exchanged for heads': {
        parallelism: { ...flat, context: 2, context_kind: 'a2a' },
    },
    'sequences gathered under FSDP 2': {
        workload: { framework: 'fsdp2' },
        parallelism: { ...flat, context: 2, zero_stage: 3 },
    },
    'stages of unequal numbers of layers': {
        config: { ...llama, num_hidden_layers: 7 },
        parallelism: { ...flat, pipeline: 2 },
    },
    'stages as they are laid out': {
        config: gpt2,
        parallelism: { ...flat, pipeline: 4, pipeline_layout: [0, 2, 2, 0] },
    },
    'chunks that alternate': {
        config: { ...llama, num_hidden_layers: 8 },
        parallelism: { ...flat, pipeline: 2, virtual_pipeline: 2, schedule: 'interleaved_1f1b' },
    },
    'a pipeline there and back': {
        config: { ...llama, num_hidden_layers: 8 },
        parallelism: { ...flat, pipeline: 2, virtual_pipeline: 2, schedule: 'zb_v' },
    },
    'micro-batches from both ends': {
        parallelism: { ...flat, pipeline: 2, schedule: 'dualpipe' },
    },
    'gradients of weights that wait': {
        parallelism: { ...flat, pipeline: 4, schedule: 'zb_h1' },
    },
    'some blocks rebuilt, and parts of them': {
        workload: { recompute: { mode: 'modules', modules: ['mlp', 'layernorm'] } },
        parallelism: flat,
    },
    'the optimizer in backward': {
        workload: { framework: 'fsdp2', optimizer_in_backward: true, global_batch_size: 8 },
        parallelism: { ...flat, zero_stage: 3 },
    },
    'adapters on a quantised base': {
        workload: { framework: 'ddp', kind: 'finetuning', adapter: { method: 'lora', rank: 8,
            targets: ['q_proj', 'v_proj'], base: 'nf4' } },
        parallelism: { ...flat, zero_stage: 0 },
    },
    'adapters on sharded weights': {
        workload: { framework: 'fsdp2', kind: 'finetuning', adapter: { method: 'lora', rank: 8 } },
        parallelism: { ...flat, zero_stage: 3 },
    },
    'the optimizer in the host': {
        workload: { framework: 'deepspeed', offload: { optimizer: 'cpu' } },
        parallelism: { ...flat, zero_stage: 2 },
    },
    'parameters and activations in the host': {
        workload: { framework: 'deepspeed',
            offload: { optimizer: 'cpu', parameters: 'cpu', activations: 'cpu' } },
        parallelism: { ...flat, zero_stage: 3 },
    },
    'as little said as possible': {
        workload: { framework: null, micro_batch_size: null, precision: null, optimizer: null,
            recompute: null, attention: null },
        parallelism: { ...flat, tensor: null, sequence: null, pipeline: null, zero_stage: null },
    },
};

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** How many ranks a text of ranks stands for. */
const countOf = (text) => sum(text.split(',').map((item) => {
    const [, first, last, step] = item.match(/^(\d+)(?:-(\d+)(?::(\d+))?)?$/);
    return 1 + Math.floor((Number(last ?? first) - Number(first)) / Number(step ?? 1));
}));

for (const [name, parts] of Object.entries(plans))
    test(`${name}: an estimate and its map`, async () => {
        const request = estimate(parts);
        const answer = await client.post('/api/v1/estimates', request);
        assert.equal(answer.status, 200, answer.text);
        const map = await client.post('/api/v1/shardings', request);
        assert.equal(map.status, 200, map.text);
        assert.equal(map.json.next_cursor, null);

        /* On average over all ranks; what the host holds is in no term of the device. */
        if (parts.workload?.offload?.parameters === 'cpu')
            return;
        const { ranks } = answer.json.memory;
        const counted = sum(ranks.map(({ count, terms }) =>
            count * terms.find((term) => term.name === 'parameters').bytes));
        const held = sum(map.json.tensors.flatMap(({ shards }) => shards).map((shard) =>
            countOf(shard.ranks) * (shard.bytes + (map.json.sharding.of === 'all_states'
                ? 0 : shard.padding_bytes))));
        assert.ok(Math.abs(held / counted - 1) < 1e-3, `${held} held, ${counted} counted`);
    });

test('an accounting alone is a document of its own', async () => {
    for (const accounting of ['mixed-2-2-12', 'fp32-16n', 'train-adamw-rule', 'inference-1.2']) {
        const answer = await client.post('/api/v1/estimates', {
            ...estimate({ workload: { accounting } }), model: { parameters: 7e9 } });
        assert.equal(answer.status, 200, answer.text);
    }
    const rule = await client.post('/api/v1/estimates', {
        ...estimate({ workload: { accounting: 'train-adamw-rule' } }), model: { parameters: 70e9 } });
    // The course's 652 GiB, and 782 with a fifth more.
    assert.equal(rule.json.accounting.total_bytes, 700e9);
    assert.equal(rule.json.accounting.total_with_20_percent_bytes, 840e9);
    assert.match(rule.json.accounting.source, /publisher speaks of 500/);
    const served = await client.post('/api/v1/estimates', {
        ...estimate({ workload: { accounting: 'inference-1.2' } }), model: { parameters: 70e9 } });
    assert.equal(served.json.accounting.total_bytes, 168e9);
    assert.equal(served.json.accounting.total_with_20_percent_bytes, 168e9, 'a fifth once');
    const beside = await client.post('/api/v1/estimates', estimate({
        workload: { accounting: 'mixed-2-2-12', activation_accounting: null } }));
    assert.equal(beside.status, 200, beside.text);
    const stages = await client.post('/api/v1/estimates', estimate({
        workload: { accounting: 'mixed-2-2-12' }, parallelism: { ...flat, zero_stage: 3 } }));
    assert.equal(stages.status, 200, stages.text);
    const words = await client.post('/api/v1/estimates', estimate({
        workload: { accounting: 'mixed-2-2-12' },
        parallelism: { ...flat, zero_stage: null, sharding: 'full_shard' } }));
    assert.equal(words.status, 200, words.text);
    assert.ok(words.json.warnings.some(({ code }) => code === 'accounting_alone'));
    assert.deepEqual(words.json.memory, stages.json.memory);
});

test('the words of FSDP are refused where they were said', async () => {
    const refused = await client.post('/api/v1/estimates', estimate({
        workload: { framework: 'fsdp2' },
        parallelism: { ...flat, zero_stage: 3, replicate: 3 } }));
    assert.equal(refused.status, 422, refused.text);
    assert.deepEqual(refused.json.errors.map(({ pointer }) => pointer), ['/parallelism/replicate']);
});
