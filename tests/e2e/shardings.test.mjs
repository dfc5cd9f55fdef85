/** Sharding maps: every tensor covered once per replica, filters, pages, and what is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { accelerator, estimate, gpt2, mixtral } from './lib/fixtures.mjs';
import { assertProblem } from './lib/problems.mjs';

const path = '/api/v1/shardings';
const client = await clientOfFile();

const ask = (parts, query = '') => client.post(path + query, estimate(parts));

async function answered(parts, query) {
    const response = await ask(parts, query);
    assert.equal(response.status, 200, response.text);
    return response.json;
}

/** The numbers a text of ranks stands for. */
const ranksOf = (text) => text.split(',').flatMap((item) => {
    const [, first, last, step] = item.match(/^(\d+)(?:-(\d+)(?::(\d+))?)?$/);
    const ranks = [];
    for (let rank = Number(first); rank <= Number(last ?? first); rank += Number(step ?? 1))
        ranks.push(rank);
    return ranks;
});

const product = (numbers) => numbers.reduce((total, number) => total * number, 1);
const volume = (slice) => product(slice.map(([begin, end]) => end - begin));
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** Bytes of parameters that a rank holds, padding among them. */
const bytesOf = (map, rank) => sum(map.tensors.flatMap(({ shards }) => shards)
    .filter(({ ranks }) => ranksOf(ranks).includes(rank))
    .map(({ bytes, padding_bytes: padding }) => bytes + padding));

test('every tensor is held once per replica, on the ranks of one stage', async () => {
    const map = await answered();
    assert.equal(map.next_cursor, null);
    assert.equal(map.tensors.length, 1 + 4 * 9 + 2);
    for (const { name, shape, pipeline, shards } of map.tensors) {
        assert.equal(sum(shards.map(({ ranks, slice }) => ranksOf(ranks).length * volume(slice)))
            % product(shape), 0, name);
        for (const { ranks } of shards)
            for (const rank of ranksOf(ranks))
                assert.equal(map.ranks[rank].coordinates.pipeline, pipeline, name);
    }
    const find = (name) => map.tensors.find((tensor) => tensor.name === name).shards;
    assert.deepEqual(find('model.layers.3.mlp.down_proj.weight').map(({ ranks, slice }) =>
        [ranks, slice]), [['4-6:2', [[0, 256], [0, 344]]], ['5-7:2', [[0, 256], [344, 688]]]]);
    assert.deepEqual(find('model.norm.weight').map(({ ranks, slice }) => [ranks, slice]),
        [['4-7', [[0, 256]]]]);
});

const lora = { method: 'lora', rank: 8, targets: ['q_proj'] };
const whole = { tensor: 1, sequence: false, data: 4 };
/** @param {string} framework  over more ranks than divide anything of the model evenly */
const over24 = (framework, parallelism = {}) => ({ workload: { framework, software: null, global_batch_size: 48 },
    cluster: { nodes: 3 },
    parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 24, zero_stage: 3, ...parallelism } });
const stored = {
    'a table that is padded': { config: { ...gpt2, vocab_size: 2001 } },
    'weights in fp8': { workload: { precision: 'fp8', attention: null, fp8: { primary_weights: true } }, parallelism: whole },
    'weights in MXFP8, a router in 16 bits': { config: mixtral, cluster: { accelerator: 'nvidia-b200-sxm-180gb' },
        workload: { precision: 'mxfp8', attention: null, fp8: { primary_weights: true } }, parallelism: whole },
    'a frozen base in fp8': { workload: { precision: 'fp8', attention: null, fp8: { primary_weights: true }, adapter: lora },
        parallelism: whole },
    'a frozen base in four bits': { workload: { framework: 'ddp', software: null, adapter: { ...lora, base: 'nf4' } },
        parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage: 0 } },
    'one flat unit': over24('fsdp1', { fsdp_unit: 'root' }),
    'flat units of blocks': over24('fsdp1'),
    'rows of each tensor': over24('fsdp2'),
    'each tensor flat': over24('deepspeed'),
};
for (const [what, parts] of Object.entries(stored))
    test(`the bytes of a rank are the parameters of the estimate: ${what}`, async () => {
        const map = await answered(parts);
        const { json } = await client.post('/api/v1/estimates', estimate(parts));
        for (const { rank, terms } of json.memory.ranks)
            assert.equal(bytesOf(map, rank),
                terms.find(({ name }) => name === 'parameters').bytes, `rank ${rank}`);
    });

test('a tied embedding is held on both ends of a pipeline', async () => {
    const { tensors } = await answered({ config: gpt2 });
    const tables = tensors.filter(({ shape }) => shape[0] === 2048);
    assert.deepEqual(tables.map(({ pipeline, tied }) => [pipeline, tied]), [[0, false], [1, true]]);
    const whole = await answered({ config: gpt2, parallelism: { pipeline: 1, data: 4 } });
    assert.equal(whole.tensors.filter(({ shape }) => shape[0] === 2048).length, 1);
});

test('the way back of zb_v ends at the first rank, and dualpipe holds everything twice', async () => {
    const there = await answered({ config: gpt2, parallelism: { schedule: 'zb_v', virtual_pipeline: 2 } });
    assert.deepEqual(there.tensors.filter(({ shape }) => shape[0] === 2048)
        .map(({ pipeline }) => pipeline), [0]);
    assert.deepEqual([...new Set(there.tensors.filter(({ name }) => /\.h\.[0-9]/.test(name))
        .map(({ layer, pipeline }) => `${layer}:${pipeline}`))], ['1:0', '2:1', '3:1', '4:0']);
    const once = await answered({ config: gpt2, parallelism: { pipeline: 1, data: 4 } });
    const twice = await answered({ config: gpt2, parallelism: { schedule: 'dualpipe' } });
    assert.equal(twice.tensors.length, 2 * once.tensors.length);
    for (const { name } of once.tensors)
        assert.deepEqual(twice.tensors.filter((tensor) => tensor.name === name)
            .map(({ pipeline }) => pipeline).sort(), [0, 1], name);
});

test('places and groups follow the order tp-cp-dp-pp', async () => {
    const { ranks, groups } = await answered({ cluster: { nodes: 4 },
        parallelism: { tensor: 4, pipeline: 2, data: 4 } });
    assert.equal(ranks.length, 32);
    for (const { rank, node, local_rank: local, coordinates } of ranks) {
        assert.equal(rank, node * 8 + local);
        const { tensor, context, data, pipeline } = coordinates;
        assert.equal(rank, tensor + 4 * (context + data + 4 * pipeline));
    }
    const kinds = Object.fromEntries(groups.map((group) => [group.kind, group]));
    assert.deepEqual([kinds.tensor.members, kinds.tensor.count, kinds.tensor.level],
        ['0-3', 8, 'scale_up']);
    assert.deepEqual([kinds.data.members, kinds.data.starts, kinds.data.level],
        ['0-12:4', '0-3,16-19', 'network']);
    assert.equal(kinds.pipeline.members, '0-16:16');
    for (const { starts, count } of groups)
        assert.equal(ranksOf(starts).length, count);
});

test('hybrid sharding divides over one kind of group and copies over another', async () => {
    const hybrid = (shard) => ({ workload: { framework: 'fsdp2', software: null }, cluster: { nodes: 2 },
        parallelism: { tensor: 1, sequence: null, pipeline: 1, data: 16, zero_stage: 3, shard_group: shard } });
    const map = await answered(hybrid(8));
    const of = (kind, { groups } = map) => groups.find((group) => group.kind === kind);
    const seen = ({ size, count, members, starts, level }) => [size, count, members, starts, level];
    assert.deepEqual(seen(of('data')), [8, 2, '0-7', '0-8:8', 'scale_up']);
    assert.deepEqual(seen(of('replicas')), [2, 8, '0-8:8', '0-7', 'network']);
    for (const { name, shards } of map.tensors)
        for (const { ranks } of shards)
            for (const rank of ranksOf(ranks))
                assert.ok(ranksOf(ranks).includes((rank + 8) % 16), `${name}: what ${rank} has is there twice`);
    const { json } = await client.post('/api/v1/estimates', estimate(hybrid(8)));
    for (const { group, level } of json.communication)
        assert.equal(level, of(group).level, group);
    assert.equal(of('replicas', await answered(hybrid(null))), undefined);
});

test('experts that are dealt out have groups of those that hold the same', async () => {
    const dealt = (expert) => ({ config: mixtral, cluster: { nodes: 2 },
        parallelism: { tensor: 2, pipeline: 1, data: 8, expert, expert_tensor: 1 } });
    const map = await answered(dealt(4));
    const alike = map.groups.find(({ kind }) => kind === 'expert_data');
    assert.deepEqual([alike.size, alike.count, alike.members, alike.starts, alike.level],
        [4, 4, '0-12:4', '0-3', 'network']);
    const of = map.tensors.filter(({ name }) => /experts\.[0-9]+\./.test(name));
    assert.ok(of.length > 0);
    for (const { name, shards: [{ ranks }] } of of)
        assert.deepEqual(ranksOf(ranks), [0, 4, 8, 12].map((rank) => rank + ranksOf(ranks)[0]), name);
    const { groups } = await answered({ parallelism: { expert: 1 } });
    assert.equal(groups.find(({ kind }) => kind === 'expert_data'), undefined);
});

test('experts that are cut otherwise than the rest have groups of those that cut one', async () => {
    const plan = { config: mixtral, cluster: { nodes: 2 },
        parallelism: { tensor: 4, sequence: true, pipeline: 1, data: 4, expert: 2, expert_tensor: 2 } };
    const { groups, tensors } = await answered(plan);
    const cut = groups.find(({ kind }) => kind === 'expert_tensor');
    assert.deepEqual([cut.size, cut.count, cut.members, cut.starts, cut.level],
        [2, 8, '0-1', '0-14:2', 'scale_up']);
    const gates = tensors.filter(({ name }) => /experts\.[0-9]+\.w1/.test(name));
    assert.ok(gates.length > 0);
    for (const { name, shape: [rows], shards } of gates) {
        const halves = shards.map(({ ranks, slice: [range] }) => [ranksOf(ranks).every((rank) => rank % 2 === range[0] / (rows / 2)), ...range]);
        assert.deepEqual(halves, [[true, 0, rows / 2], [true, rows / 2, rows]], name);
    }
    const { json } = await client.post('/api/v1/estimates', estimate(plan));
    const rows = json.communication.filter(({ group }) => group === 'expert_tensor');
    assert.deepEqual(rows.map(({ collective, level }) => [collective, level]),
        [['all_gather', 'scale_up'], ['reduce_scatter', 'scale_up']]);
});

test('the distributed optimizer has flat buckets of a chunk, padded', async () => {
    const map = await answered();
    assert.deepEqual(map.sharding, { kind: 'flat', degree: 2, of: 'optimizer_states' });
    assert.deepEqual(map.units.map(({ name, tensor, pipeline }) => [name, tensor, pipeline]),
        [['chunk.0.bucket.0', 0, 0], ['chunk.0.bucket.0', 1, 0],
            ['chunk.1.bucket.0', 0, 1], ['chunk.1.bucket.0', 1, 1]]);
    for (const { name, elements, padded_elements: padded, shards } of map.units) {
        assert.ok(padded % 128 === 0 && padded - elements < 128 + 64 * 20, name);
        assert.deepEqual(shards.map(({ offset }) => offset), [0, padded / 2], name);
        assert.ok(shards.every(({ length }) => length === padded / 2), name);
    }
    const none = await answered({ parallelism: { zero_stage: 0 } });
    assert.deepEqual([none.sharding.kind, none.units], ['none', []]);
});

test('filters keep what is asked for', async () => {
    const map = await answered({}, '?rank=1,4-5&tensor=*.q_proj*');
    assert.deepEqual(map.ranks.map(({ rank }) => rank), [1, 4, 5]);
    assert.deepEqual(map.tensors.map(({ name }) => name), [0, 1, 2, 3].map((block) =>
        `model.layers.${block}.self_attn.q_proj.weight`));
    assert.deepEqual(map.tensors.map(({ shards }) => shards.map(({ ranks }) => ranks)),
        [['1'], ['1'], ['4', '5'], ['4', '5']]);
    const norm = await answered({}, '?rank=2-3&tensor=model.layers.0.input_layernorm.weight');
    assert.deepEqual(norm.tensors[0].shards.map(({ ranks }) => ranks), ['2-3']);
    assert.deepEqual((await answered({}, '?tensor=none')).tensors, []);
});

test('pages joined are the whole map', async () => {
    const whole = await answered();
    const joined = { tensors: [], units: [] };
    let cursor = '';
    let pages = 0;
    do {
        const page = await answered({}, `?limit=7${cursor}`);
        assert.equal(page.ranks.length, pages === 0 ? 8 : 0);
        for (const list of ['tensors', 'units']) {
            for (const entry of page[list]) {
                const last = joined[list].at(-1);
                if (last?.name === entry.name && last.tensor === entry.tensor
                    && last.pipeline === entry.pipeline)
                    last.shards.push(...entry.shards);
                else
                    joined[list].push(entry);
            }
        }
        cursor = `&cursor=${page.next_cursor}`;
        pages++;
        if (page.next_cursor === null)
            break;
    } while (pages < 100);
    assert.ok(pages > 5);
    assert.deepEqual(joined, { tensors: whole.tensors, units: whole.units });
});

test('plain layers are a tensor of their parameters each', async () => {
    const response = await client.post(path, {
        model: { layers: [{ name: 'linear', count: 4, parameters: 15, activation_bytes: 64,
            forward_flops: 1000 }] },
        workload: { global_batch_size: 16 },
        cluster: { accelerator, nodes: 1, accelerators_per_node: 8 },
        parallelism: { pipeline: 2, zero_stage: 1 },
    });
    assert.equal(response.status, 200, response.text);
    const { tensors, units } = response.json;
    assert.deepEqual(tensors.map(({ name, layer, pipeline }) => [name, layer, pipeline]),
        [0, 1, 2, 3].map((layer) => ['linear', layer, layer < 2 ? 0 : 1]));
    assert.deepEqual(units.map(({ padded_elements: padded }) => padded), [128, 128]);
});

test('what is impossible is refused as by an estimate, and by the query', async () => {
    assertProblem(await ask({ parallelism: { tensor: 3 } }), 422,
        { pointer: '/parallelism/tensor', code: 'not_divisible' });
    assertProblem(await client.post(path, { ...estimate({ workload: { accounting: 'mixed-2-2-12' } }),
        model: { parameters: 1000 } }), 422,
        { pointer: '/model', code: 'model_required' });
    assertProblem(await ask({}, '?rank=8'), 422, { pointer: '', code: 'out_of_range' });
    for (const rank of ['', 'x', '3-1', '1,1', '0-7:2', '99999999999999'])
        assertProblem(await ask({}, `?rank=${rank}`), 422, { pointer: '', code: 'invalid_ranks' });
    assertProblem(await ask({}, '?cursor=1.2'), 422, { pointer: '', code: 'invalid_cursor' });
    const beyond = await answered({}, '?cursor=999999999999.999999999999.999999999999');
    assert.deepEqual([beyond.tensors, beyond.units, beyond.next_cursor], [[], [], null]);
    for (const cursor of ['3.999999999999.1', '3.0.999999999999', '40.7.0'])
        await answered({}, `?cursor=${cursor}`);
    assertProblem(await ask({}, '?limit=0'), 422, { pointer: '', code: 'out_of_range' });
    assertProblem(await ask({}, '?page=2'), 422, { code: 'unknown_parameter' });
});
