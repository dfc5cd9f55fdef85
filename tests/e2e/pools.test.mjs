/** Plans on several pools of nodes, inline and of a stored inventory: who stands where, and what binds. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accelerator, estimate, inventory } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const server = await startServer({ database: true });
after(() => stopClean(server));
const client = await connectTo(server);
const slower = 'nvidia-a100-sxm4-80gb';

const fast = { name: 'fast', accelerator, nodes: 1, accelerators_per_node: 8 };
const slow = { name: 'slow', accelerator: slower, nodes: 1, accelerators_per_node: 8 };
const several = (pools, rest) => ({ accelerator: undefined, nodes: undefined,
    accelerators_per_node: undefined, pools, ...rest });

const staged = { tensor: 2, pipeline: 2, data: 4 };
const spread = { parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 16, zero_stage: 3 },
    workload: { framework: 'fsdp2', software: 'torchtitan-2024-12', recompute: 'none' } };

/** Large enough for the parts to differ: small models wait for the host on any of them. */
const wide = { ...estimate().model.config, hidden_size: 4096, intermediate_size: 14336,
    num_hidden_layers: 24 };

async function answered(parts, path = '/api/v1/estimates') {
    const response = await client.post(path, estimate(parts));
    assert.equal(response.status, 200, response.text);
    return response.json;
}

async function refused(parts, place, path = '/api/v1/estimates') {
    const response = await client.post(path, estimate(parts));
    assertProblem(response, 422, { pointer: place.pointer, code: place.code });
    return response.json.errors[0];
}

const codes = (notes) => notes.map(({ code }) => code);

test('stages fill the pools in the order given, each with the memory of its own', async () => {
    const { memory, resolved, assumptions } =
        await answered({ cluster: several([fast, slow]), parallelism: staged });
    assert.deepEqual(resolved.cluster.pools.map((pool) => [pool.name, pool.accelerator,
        pool.first_rank, pool.first_stage, pool.stages]),
    [['fast', accelerator, 0, 0, 1], ['slow', slower, 8, 1, 1]]);
    assert.equal(resolved.cluster.accelerators, 16);
    assert.deepEqual(memory.ranks.map(({ pool, rank, count }) => [pool, rank, count]),
        [['fast', 0, 8], ['slow', 8, 8]]);
    for (const rank of memory.ranks)
        assert.equal(rank.headroom_bytes, rank.usable_bytes - rank.device_total_bytes);
    assert.equal(memory.headroom_bytes, Math.min(...memory.ranks.map((r) => r.headroom_bytes)));
    assert.ok(codes(assumptions).includes('pools_staged'));
});

test('two pools of one part take what one pool of both takes, and a slower one never less', async () => {
    for (const plan of [{ parallelism: staged }, spread]) {
        const whole = await answered({ ...plan, cluster: { nodes: 2 } });
        const halves = await answered({ ...plan, cluster: several([fast, { ...fast, name: 'more' }]) });
        const uneven = await answered({ ...plan, cluster: several([fast, slow]) });
        assert.ok(Math.abs(halves.time.step_s / whole.time.step_s - 1) < 1e-9);
        assert.equal(halves.memory.headroom_bytes, whole.memory.headroom_bytes);
        assert.ok(uneven.time.step_s > whole.time.step_s);
        assert.equal(whole.memory.ranks[0].pool, undefined, 'one pool is answered as ever');
    }
});

test('replicas on uneven pools wait for the slowest, and the answer says so', async () => {
    const asked = { ...spread, config: wide };
    const alone = await answered({ ...asked, cluster: { accelerator: slower, nodes: 2 } });
    const { time, memory, warnings } = await answered({ ...asked, cluster: several([fast, slow]) });
    assert.ok(Math.abs(time.step_s / alone.time.step_s - 1) < 0.01);
    assert.ok(codes(warnings).includes('pools_uneven'));
    assert.deepEqual(memory.ranks.map(({ pool, count }) => [pool, count]), [['fast', 8], ['slow', 8]]);
});

test('a layout that goes with the speed of the pools is a fix, and holds when it is asked for', async () => {
    const asked = { config: wide, cluster: several([fast, slow]), parallelism: staged,
        workload: { sequence_length: 1024, global_batch_size: 64, software: 'mbridge-26.04', dropout: false } };
    const { binding, time } = await answered(asked);
    const fix = binding.fixes.find(({ what }) => what === 'pipeline_layout');
    assert.ok(fix.fits && fix.step_s < time.step_s);
    const { pipeline_layout: layout } = fix.change.parallelism;
    assert.equal(layout[0] + layout[1], 24);
    assert.ok(layout[0] > layout[1]);
    const changed = await answered({ ...asked,
        parallelism: { ...staged, pipeline_layout: layout } });
    assert.ok(Math.abs(changed.time.step_s / fix.step_s - 1) < 1e-9);
});

test('pools of an inventory: some, in the order asked for, or all', async () => {
    const spec = inventory({ pools: [
        { name: 'h', nodes: 2, node: { accelerator, accelerators: 8 } },
        { name: 'a', nodes: 4, node: { accelerator: slower, accelerators: 8 } },
    ] });
    assert.equal((await client.put('/api/v1/inventories/mixed', spec)).status, 201);
    const stored = (rest) => several(undefined, { inventory: 'mixed', ...rest });
    const some = await answered({ parallelism: staged,
        cluster: stored({ pools: [{ pool: 'a', nodes: 1 }, { pool: 'h', nodes: 1 }] }) });
    assert.deepEqual(some.resolved.cluster.pools.map(({ name, nodes }) => [name, nodes]),
        [['a', 1], ['h', 1]]);
    const all = await answered({ cluster: stored({ pools: 'all' }),
        parallelism: { tensor: 8, pipeline: 3, data: 2 }, config: { ...estimate().model.config,
            num_attention_heads: 16, num_key_value_heads: 8, num_hidden_layers: 6 } });
    assert.deepEqual(all.resolved.cluster.pools.map(({ stages }) => stages), [1, 2]);
    const { hint } = await refused({ cluster: stored(), parallelism: staged },
        { pointer: '/cluster/pool', code: 'required_field' });
    assert.equal(hint, 'h, a');
    await refused({ cluster: stored({ pools: [{ pool: 'h', nodes: 3 }] }), parallelism: staged },
        { pointer: '/cluster/pools/0/nodes', code: 'out_of_range' });
    await refused({ cluster: stored({ pools: [{ pool: 'x' }] }), parallelism: staged },
        { pointer: '/cluster/pools/0/pool', code: 'unknown_value' });
});

test('what several pools cannot do is refused by name', async () => {
    const halves = [{ ...fast, accelerators_per_node: 4 }, { ...slow, accelerators_per_node: 4, nodes: 3 }];
    const { hint } = await refused({ cluster: several(halves), parallelism: staged },
        { pointer: '/parallelism/pipeline', code: 'pools_split_stage' });
    assert.equal(hint, 'fast takes 0.5, slow takes 1.5');
    const pools = several([fast, slow]);
    await refused({ cluster: pools, parallelism: { ...staged, schedule: 'dualpipe' } },
        { pointer: '/parallelism/schedule', code: 'not_modelled' });
    await refused({ cluster: pools, parallelism: { ...staged, order: 'tp-cp-ep-pp-dp' } },
        { pointer: '/parallelism/order', code: 'not_modelled' });
    await refused({ cluster: pools, parallelism: staged, workload: { offload: { optimizer: 'cpu' } } },
        { pointer: '/workload/offload', code: 'not_modelled' });
});

test('ranks, nodes and lanes are numbered pool by pool', async () => {
    const four = { ...slow, accelerators_per_node: 4, nodes: 2 };
    const asked = { cluster: several([fast, four]), parallelism: staged };
    const { ranks } = await answered(asked, '/api/v1/shardings');
    assert.deepEqual([0, 7, 8, 12, 15].map((rank) => [ranks[rank].pool, ranks[rank].node,
        ranks[rank].local_rank]),
    [['fast', 0, 0], ['fast', 0, 7], ['slow', 1, 0], ['slow', 2, 0], ['slow', 2, 3]]);
    const timeline = await answered(asked, '/api/v1/timelines');
    for (const { stage, pool, rank } of [...timeline.lanes, ...timeline.stages]) {
        assert.equal(pool, ['fast', 'slow'][stage]);
        assert.equal(rank, 8 * stage);
    }
    assert.ok(Math.abs(timeline.step_s / timeline.closed_form_s - 1) < 0.05);
    const { json: parts } = await client.post('/api/v1/timelines',
        { ...estimate({ ...asked, config: wide }), detail: 'operator' });
    const wanted = parts.operators.indexOf('attention');
    const seconds = [0, 1].map((stage) => parts.spans.lane.findIndex((lane, i) =>
        parts.lanes[lane].stage === stage && parts.spans.operator[i] === wanted))
        .map((i) => parts.spans.end_s[i] - parts.spans.start_s[i]);
    assert.ok(seconds[1] > 1.2 * seconds[0], `attention takes ${seconds}`);
    const { json } = await client.post('/api/v1/timelines', estimate(asked),
        { headers: { Accept: 'application/vnd.chrome-trace+json' } });
    assert.deepEqual(json.traceEvents.filter(({ name }) => name === 'process_name')
        .map(({ args }) => args.name), ['stage 0, rank 0, pool fast', 'stage 1, rank 8, pool slow']);
});

test('a faulty request is judged with the pools it names, and has its own faults alone where there are none', async () => {
    await client.put('/api/v1/inventories/judged', inventory());
    const asked = async (cluster) => {
        const response = await client.post('/api/v1/estimates', { ...estimate({ parallelism: { tensor: 3, zero_stage: 7 } }), cluster });
        assertProblem(response, 422);
        return response.json.errors.map(({ pointer }) => pointer);
    };
    const own = '/parallelism/zero_stage';
    const ofSplit = ['/parallelism/tensor', '/parallelism/sequence'];
    assert.deepEqual(await asked({ inventory: 'judged', nodes: 1 }), ['/parallelism', ...ofSplit, own]);
    assert.deepEqual(await asked({ inventory: 'judged', nodes: -1 }), ['/cluster/nodes', ...ofSplit, own]);
    assert.deepEqual(await asked({ inventory: 'judged', nodes: 1e5 }), ['/cluster/nodes', ...ofSplit, own]);
    assert.deepEqual(await asked({ inventory: 'absent', nodes: 1 }), [own]);
});
