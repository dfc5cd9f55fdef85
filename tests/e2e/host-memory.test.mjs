/** What goes to the host has to have room there: where a node's memory is known, nothing that needs more of it is advised. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { accelerator, estimate, large } from './lib/fixtures.mjs';
import { mergePatch } from './lib/merge.mjs';
import { assertProblem } from './lib/problems.mjs';

const client = await clientOfFile();
const half = 2 ** 39;

async function answered(path, request) {
    const response = await client.post(`/api/v1/${path}`, request);
    assert.equal(response.status, 200, response.text.slice(0, 1000));
    return response.json;
}

/** Sixty-four billion parameters on one node: sixteen bytes of each are more than its devices have. */
const asked = ({ workload = {}, cluster = {}, parallelism = {} } = {}) => estimate({
    config: large,
    workload: { sequence_length: 4096, global_batch_size: 64, framework: 'deepspeed', software: null, recompute: 'full',
        dropout: false, ...workload },
    cluster: { host_memory_bytes: half, ...cluster },
    parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage: 3, ...parallelism },
});
const offloaded = (parts = {}) => asked({ ...parts, workload: { offload: { optimizer: 'cpu' }, ...parts.workload } });
const codes = ({ warnings }) => warnings.map(({ code }) => code);

test('a plan whose nodes lack memory fits the devices, not surely, and says by how much', async () => {
    const request = offloaded();
    const { fits, fits_certain: certain, memory, binding, ...rest } = await answered('estimates', request);
    assert.ok(memory.headroom_bytes > 0 && memory.host_bytes_per_node > half);
    assert.deepEqual([fits, certain, binding.limit], [true, false, 'host_memory']);
    assert.match(binding.sentence, new RegExp(`^Host memory: .*lacks ${memory.host_bytes_per_node - half} bytes`));
    assert.ok(codes(rest).includes('host_memory_exceeded'));
    assert.equal((await client.post('/api/v1/estimates?require=fits', request)).status, 200, 'the devices are asked for');
    const gate = await client.post('/api/v1/estimates?require=fits_certain', request);
    assert.equal(gate.status, 409, gate.text.slice(0, 500));
    assert.deepEqual(gate.json.errors.map(({ code }) => code), ['host_memory_exceeded']);
});

test('as much as it needs is enough, and what is not known asks for nothing', async () => {
    const { host_bytes_per_node: needed } = (await answered('estimates', offloaded())).memory;
    for (const known of [needed, null]) {
        const answer = await answered('estimates', offloaded({ cluster: { host_memory_bytes: known } }));
        assert.deepEqual([answer.fits, answer.fits_certain], [true, true]);
        assert.notEqual(answer.binding.limit, 'host_memory');
    }
    const short = await answered('estimates', offloaded({ cluster: { host_memory_bytes: needed - 1 } }));
    assert.equal(short.fits_certain, false);
});

test('no fix leaves a node without memory, and a node without memory has fixes', async () => {
    for (const request of [asked(), offloaded(), asked({ parallelism: { zero_stage: 2 } })]) {
        const { binding } = await answered('estimates', request);
        assert.ok(binding.fixes.length > 0);
        for (const { change } of binding.fixes) {
            const fixed = await answered('estimates', mergePatch(request, change));
            assert.ok(!codes(fixed).includes('host_memory_exceeded'), JSON.stringify(change));
        }
    }
    const roomy = await answered('estimates', asked({ cluster: { host_memory_bytes: 4 * half } }));
    assert.ok(roomy.binding.fixes.some(({ change }) => change.workload?.offload?.optimizer === 'cpu'));
});

test('what nodes have no room for may come back where devices have it', async () => {
    const request = offloaded({ cluster: { nodes: 4, host_memory_bytes: 2 ** 36 }, parallelism: { data: 32 } });
    const { fits, binding } = await answered('estimates', request);
    assert.ok(fits && binding.limit === 'host_memory');
    const back = binding.fixes.find(({ change }) => change.workload?.offload?.optimizer === 'none');
    assert.ok(back?.fits_certain, JSON.stringify(binding.fixes));
});

test('a plan that lacks both says both', async () => {
    const { fits, memory, binding } = await answered('estimates', offloaded({ parallelism: { zero_stage: 1 } }));
    assert.deepEqual([fits, binding.limit], [false, 'memory']);
    assert.match(binding.sentence, new RegExp(`^Memory: .*Host memory: .*lacks ${memory.host_bytes_per_node - half} bytes`));
});

const compared = (host) => answered('comparisons', {
    model: { config: large },
    workload: { kind: 'pretraining', sequence_length: 4096, global_batch_size: 64, precision: 'bf16', optimizer: 'adamw' },
    cluster: { accelerator, nodes: 1, accelerators_per_node: 8, host_memory_bytes: host },
});

test('no strategy is recommended whose nodes lack memory', async () => {
    const short = await compared(half);
    const offload = short.strategies.find(({ name }) => name === 'offload');
    assert.deepEqual([offload.fits, offload.fits_certain], [true, false]);
    assert.ok(codes(offload).includes('host_memory_exceeded'));
    assert.notEqual(short.recommendation.strategy, 'offload', short.recommendation.reason);
    assert.match(short.recommendation.reason, /^Nothing fits/);
    assert.ok(short.recommendation.use_when.every(({ strategy }) => strategy !== 'offload'));
    assert.equal((await compared(4 * half)).recommendation.strategy, 'offload');
});

test('a search refuses what nodes have no room for, and says how much lacks', async () => {
    const space = { offload: ['optimizer'], nodes: [1] };
    const { model, cluster, workload: { framework, software, recompute, micro_batch_size: size, ...workload } } = asked();
    const searched = (host) => answered('searches', { model, cluster: { ...cluster, host_memory_bytes: host },
        workload: { ...workload, framework: 'deepspeed' }, space, simulate: false, limit: 5 });
    const { best, rejected, nothing } = await searched(half);
    assert.deepEqual(best, []);
    const reason = rejected.find(({ reason: rule }) => rule === 'host_memory');
    assert.ok(reason.misses_by > 0 && reason.limit === half && reason.needed === half + reason.misses_by);
    assert.match(reason.sentence, /host memory/);
    assert.match(nothing, /memory/);
    const roomy = await searched(4 * half);
    assert.ok(roomy.best.length > 0 && roomy.rejected.every(({ reason: rule }) => rule !== 'host_memory'));
});

test('a plan held against the best says that its nodes lack memory', async () => {
    const { model, workload, cluster, parallelism } = offloaded();
    const { framework, software, recompute, micro_batch_size: size, offload, ...open } = workload;
    const { why_not: why } = await answered('searches', { model, cluster, workload: { ...open, framework: 'deepspeed' },
        simulate: false, limit: 1, why_not: { workload: { offload, recompute, micro_batch_size: size }, parallelism } });
    assert.deepEqual([why.fits, why.breaks], [true, 'host_memory']);
    assert.match(why.sentence, /lacks .* of the memory of a node/);
});

test('limits count nothing that nodes have no room for', async () => {
    const request = offloaded({ workload: { software: 'deepspeed-0.x' } });
    const { limits, plan } = await answered('limits', request);
    assert.deepEqual([plan.fits, plan.fits_certain], [true, false]);
    const { at, next, end, reason } = limits.layers;
    assert.ok(at.value < large.num_hidden_layers && end === 'memory', reason);
    assert.match(reason, /of the memory of a node$/);
    assert.deepEqual([at.fits_certain, next.fits, next.fits_certain], [true, true, false]);
    assert.ok(limits.nodes.at.value > 1);
});
