/** What searches answer: plans that are estimates again, and what is said about them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { accelerator, estimate, inventory, large, llama, mixtral } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { mergePatch } from './lib/merge.mjs';
import { assertProblem } from './lib/problems.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const path = '/api/v1/searches';
const client = await clientOfFile();
const close = (actual, expected, what) =>
    assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.abs(expected), `${what}: ${actual}, ${expected}`);

/** About seven billion parameters. */
const seven = {
    ...llama,
    hidden_size: 4096,
    intermediate_size: 11008,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 32,
    vocab_size: 32000,
    max_position_embeddings: 4096,
};

/** The estimate fixture without what a search chooses; with time enough to end on a machine that is busy. */
function search({ config = seven, workload = {}, cluster = { nodes: 2 }, ...rest } = {}) {
    const base = estimate({ config, cluster });
    const { framework, micro_batch_size: size, recompute, attention, ...open } = base.workload;
    const asked = {
        model: base.model,
        workload: { ...open, sequence_length: 2048, global_batch_size: 64, ...workload },
        cluster: base.cluster,
        time_limit_s: 300,
        ...rest,
    };
    if (rest.clusters !== undefined)
        delete asked.cluster;
    return asked;
}

async function answered(request, asking = client) {
    const response = await asking.post(path, request);
    assert.equal(response.status, 200, response.text.slice(0, 1000));
    return response.json;
}

const searched = (parts) => answered(search(parts));

/** The plan as an estimate request. */
function asEstimate(request, plan) {
    return {
        model: request.model,
        workload: mergePatch(request.workload, plan.workload),
        parallelism: mergePatch(request.parallelism ?? {}, plan.parallelism),
        cluster: mergePatch(request.clusters?.[plan.cluster_index] ?? request.cluster, plan.cluster),
    };
}

/** POST /estimates says of each plan what the search says of it, to the last digit. */
async function assertEstimates(request, plans, asking = client) {
    for (const plan of plans) {
        const response = await asking.post('/api/v1/estimates', asEstimate(request, plan));
        assert.equal(response.status, 200, `${JSON.stringify(plan)}: ${response.text.slice(0, 800)}`);
        const { memory, time, throughput, interval, fits, ...totals } = response.json;
        assert.equal(fits, true);
        assert.equal(plan.step_s, time.step_s);
        assert.equal(plan.tokens_per_s, throughput.tokens_per_s);
        for (const key of ['peak_reserved_bytes', 'device_total_bytes', 'headroom_bytes'])
            assert.equal(plan[key], memory[key], key);
        for (const key of ['time_to_train_s', 'cost', 'energy_j'])
            assert.equal(plan[key], totals[key], key);
        if (plan.interval !== null)
            assert.deepEqual(plan.interval, interval);
        const { accelerators, nodes } = response.json.resolved.cluster;
        assert.deepEqual([plan.accelerators, plan.nodes], [accelerators, nodes]);
    }
    return plans.length;
}

const spaces = {
    'the whole of one cluster': {},
    'sizes down to a part of a node, for the least cost': {
        objective: 'cost', limit: 100, workload: { tokens: 1e9 },
        cluster: { nodes: 2, price_per_node_hour: 98.32 },
    },
    'shards of a node each': {
        workload: { framework: 'fsdp2' }, space: { sharding: ['full_shard', 'hybrid_shard'] },
        cluster: { nodes: 4 },
    },
    'blocks that are rebuilt, and states in the host\'s memory': {
        workload: { recompute: 'full' }, cluster: { node_type: 'hgx-h100-8', nodes: 2 },
        space: { recompute_layers: [0, 2], offload: ['none', 'optimizer'] },
    },
    'experts on one of two clusters': {
        config: { ...mixtral, num_hidden_layers: 8, hidden_size: 1024, intermediate_size: 2048 },
        clusters: [{ accelerator, nodes: 2 }, { node_type: 'dgx-a100-640gb', nodes: 1 }],
    },
    'two pools as one cluster': {
        cluster: { nodes: undefined, accelerator: undefined, accelerators_per_node: undefined,
            pools: [{ accelerator, nodes: 1 }, { node_type: 'dgx-a100-640gb', nodes: 1 }] },
    },
    'context parallelism by all-to-all': {
        workload: { sequence_length: 16384, global_batch_size: 16 },
        space: { context: [2, 4], context_kind: ['a2a', 'p2p'] },
    },
};

for (const [name, parts] of Object.entries(spaces))
    test(`every plan is an estimate with the same figures: ${name}`, async () => {
        const request = search(parts);
        const { best, pareto, state } = await answered(request);
        assert.equal(state, 'done');
        assert.ok(await assertEstimates(request, best) > 0);
        assert.ok(await assertEstimates(request, pareto.slice(0, 40)) > 0);
    });

test('plain layers are searched as well', async () => {
    const layer = { name: 'block', count: 12, parameters: 4e7, activation_bytes: 2e7, forward_flops: 2e12 };
    const request = { model: { layers: [layer] }, workload: { global_batch_size: 256 },
        cluster: { accelerator, nodes: 2 } };
    const { best } = await answered(request);
    assert.ok(await assertEstimates(request, best) > 0);
});

test('what the request says is fixed, what the space says restricts, and the space has the last word',
    async () => {
        const { best, space } = await searched({
            parallelism: { tensor: 4, zero_stage: 1 },
            workload: { micro_batch_size: 4, recompute: 'none' },
            space: { micro_batch_size: [2, 1, 2], pipeline: 2, sequence: true, schedule: ['1f1b'] },
        });
        assert.deepEqual(space.tensor, [4]);
        assert.deepEqual(space.micro_batch_size, [1, 2]);
        assert.deepEqual([space.pipeline, space.sequence, space.schedule, space.recompute],
            [[2], [true], ['1f1b'], ['none']]);
        assert.deepEqual(space.sizes, [[16]]);
        assert.ok(best.length > 0);
        for (const { parallelism, workload } of best) {
            assert.deepEqual([parallelism.tensor, parallelism.pipeline, parallelism.sequence], [4, 2, true]);
            assert.equal(workload.recompute, 'none');
            assert.ok(workload.micro_batch_size <= 2);
        }
    });

test('batches to choose from take the place of the workload\'s', async () => {
    const request = search({ space: { global_batch_size: [32, 64] },
        constraints: { critical_batch_size: 32 } });
    delete request.workload.global_batch_size;
    const { best, space } = await answered(request);
    assert.deepEqual(space.global_batch_size, [32, 64]);
    for (const plan of best) {
        const batch = plan.workload.global_batch_size;
        close(plan.tokens_per_s, Math.min(batch, 32) * 2048 / plan.step_s, 'tokens that count');
    }
    assert.equal(best[0].workload.global_batch_size, 32);
});

test('nothing is left out that matters: pruning and the whole space have the same answer', async () => {
    const parts = { cluster: { nodes: 1, price_per_node_hour: 90 }, workload: { tokens: 1e9 },
        space: { nodes: 'any' }, simulate: false, neighbours: false };
    const pruned = await searched(parts);
    const whole = await searched({ ...parts, exhaustive: true });
    assert.ok(pruned.pruned > 0);
    assert.equal(whole.pruned, 0);
    assert.deepEqual(pruned.best, whole.best);
    assert.deepEqual(pruned.pareto, whole.pareto);
});

test('the same question has the same answer but for the time it took', async () => {
    const [first, second] = [await searched(), await searched()];
    for (const answer of [first, second]) {
        assert.ok(answer.elapsed_s > 0);
        delete answer.elapsed_s;
    }
    assert.deepEqual(first, second);
});

test('what is not wanted is left away', async () => {
    const answer = await searched({ limit: 3, pareto: false, simulate: false, neighbours: false });
    assert.equal(answer.best.length, 3);
    assert.deepEqual([answer.pareto, answer.neighbours, answer.why_not], [[], [], null]);
    assert.ok(answer.best.every(({ simulation, simulated_step_s: step }) =>
        simulation === 'not_asked' && step === null));
    assert.deepEqual(answer.best.map(({ rank }) => rank), [1, 2, 3]);
    assert.equal(answer.reranking.simulated, 0);
});

test('a first plan that fits by less than its memory is sure of says so', async () => {
    const told = async (constraints) => {
        const { best: [first], warnings } = await searched({ constraints });
        const sure = first.interval.peak_reserved_bytes[1] - first.peak_reserved_bytes
            <= first.headroom_bytes;
        assert.equal(first.fits_certain, sure);
        assert.equal(warnings.some(({ code }) => code === 'little_room'), !sure);
        return !sure;
    };
    assert.equal(await told({}), true);
    assert.equal(await told({ headroom_ratio: 0.2 }), false);
});

test('the plans shown are ranked by simulation, which is that of their timelines', async () => {
    const request = search({ limit: 10 });
    const { best, reranking } = await answered(request);
    assert.equal(reranking.simulated, best.length);
    best.slice(1).forEach((plan, i) =>
        assert.ok(plan.simulated_step_s >= best[i].simulated_step_s, `rank ${plan.rank}`));
    assert.deepEqual(best.map(({ closed_form_rank: rank }) => rank).sort((a, b) => a - b),
        best.map((_, i) => i + 1));
    assert.equal(reranking.moved, best.filter((plan) => plan.rank !== plan.closed_form_rank).length);
    for (const plan of best.slice(0, 3)) {
        const { status, json } = await client.post('/api/v1/timelines?limit=1', asEstimate(request, plan));
        assert.equal(status, 200);
        assert.equal(plan.simulated_step_s, json.step_s);
    }
});

test('a plan that misses a constraint by simulation alone says so', async () => {
    const { best } = await searched({ limit: 50 });
    const slower = best.find((plan) => plan.simulated_step_s > plan.step_s * 1.001);
    assert.ok(slower !== undefined);
    const limit = slower.step_s * 1.0005;
    const kept = await searched({ limit: 50, constraints: { max_step_s: limit } });
    const same = kept.best.find(({ id }) => id === slower.id);
    assert.match(same.simulation_note, /^by simulation it misses \/constraints\/max_step_s by /);
    for (const plan of kept.best)
        assert.equal(plan.simulation_note !== null, plan.simulated_step_s > limit, plan.simulation_note);
});

test('a step of too many spans keeps the figure of the closed form, and says so', async () => {
    const { best, reranking } = await searched({ limit: 100, cluster: { nodes: 1 },
        workload: { global_batch_size: 65536 },
        space: { pipeline: [8], micro_batch_size: [1], virtual_pipeline: [2, 4] } });
    const kept = best.filter(({ simulation }) => simulation === 'too_large');
    assert.ok(kept.length > 0);
    for (const plan of kept) {
        assert.equal(plan.simulated_step_s, null);
        assert.match(plan.simulation_note, /too many spans/);
    }
    assert.equal(reranking.simulated, best.length - kept.length);
});

test('neighbours of the winner are estimates too, or say which rule they break', async () => {
    const request = search();
    const { best, neighbours, robustness } = await answered(request);
    const winner = best.find(({ id }) => id === robustness.winner);
    const dimensions = new Set(neighbours.map(({ dimension }) => dimension));
    for (const name of ['tensor', 'micro_batch_size', 'accelerators', 'recompute', 'zero_stage'])
        assert.ok(dimensions.has(name), name);
    for (const neighbour of neighbours) {
        const { dimension, to, legal, refused, figures } = neighbour;
        assert.ok(neighbour.sentence.length > 0);
        assert.equal(legal, refused === null);
        if (!legal)
            continue;
        close(neighbour.step_difference_s + winner.step_s, figures.step_s, dimension);
        assert.equal(neighbour.memory_difference_bytes,
            figures.device_total_bytes - winner.device_total_bytes);
        assert.equal(neighbour.fits, figures.headroom_bytes >= 0);
        if (!['micro_batch_size', 'recompute', 'zero_stage', 'tensor'].includes(dimension))
            continue;
        const where = dimension in winner.workload ? 'workload' : 'parallelism';
        const changed = asEstimate(request, mergePatch(winner,
            { [where]: { [dimension]: to }, parallelism: { data: 'auto', ...(where === 'parallelism'
                && { [dimension]: to }) } }));
        const { status, json, text } = await client.post('/api/v1/estimates', changed);
        assert.equal(status, 200, text);
        assert.equal(neighbour.fits_certain, json.fits_certain, `${dimension} ${to}`);
        close(figures.step_s, json.time.step_s, `${dimension} ${to}`);
        assert.equal(figures.device_total_bytes, json.memory.device_total_bytes);
    }
});

test('robustness names the winners at both ends, all of them plans shown', async () => {
    const dense = await searched();
    const ids = dense.best.map(({ id }) => id);
    const { winner, fast_winner: fast, slow_winner: slow, stays_winner: stays } = dense.robustness;
    assert.equal(stays, winner === fast && winner === slow);
    for (const id of [winner, fast, slow])
        assert.ok(ids.includes(id));
    assert.ok(dense.robustness.spread_ratio >= 0.09 && dense.robustness.spread_ratio < 0.15);
    const first = dense.best.find(({ id }) => id === winner);
    assert.equal(first.closed_form_rank, 1);
    const within = dense.best.filter(({ step_s: step }) =>
        step < first.step_s * (1 + dense.robustness.spread_ratio));
    assert.equal(dense.robustness.within_spread, within.length);
    const experts = await searched({ config: { ...mixtral, hidden_size: 1024 } });
    assert.ok(experts.robustness.spread_ratio >= Math.hypot(0.09, 0.05) - 1e-9);
});

test('why not this one: the terms add up to the difference', async () => {
    const plan = { parallelism: { tensor: 8, pipeline: 2 },
        workload: { micro_batch_size: 1, recompute: 'full', attention: 'flash2', dropout: false,
            software: 'mbridge-26.04' } };
    const request = search({ why_not: plan });
    const { why_not: why, best } = await answered(request);
    assert.deepEqual([why.legal, why.fits, why.breaks, why.refused], [true, true, null, []]);
    const sum = why.time.reduce((total, term) => total + term.difference_s, 0);
    assert.ok(Math.abs(sum - (why.figures.step_s - why.best.step_s)) < 1e-9);
    assert.equal(why.against, best.find(({ closed_form_rank: rank }) => rank === 1).id);
    const { json } = await client.post('/api/v1/estimates', { ...asEstimate(request, { ...plan, cluster: {} }) });
    close(why.figures.step_s, json.time.step_s, 'step');
    const largest = why.time.toSorted((a, b) => b.difference_s - a.difference_s)[0];
    const words = { launch: 'waiting for the host' }[largest.name] ?? largest.name.replaceAll('_', ' ');
    assert.ok(why.sentence.includes(words), why.sentence);
});

test('why not the best itself, one outside the space, one too large, one that is no plan', async () => {
    const found = await searched();
    const itself = await searched({ why_not: (({ parallelism, workload, cluster, cluster_index }) =>
        ({ parallelism, workload, cluster, cluster_index }))(found.best.find((p) => p.closed_form_rank === 1)) });
    assert.deepEqual(itself.why_not.outside_space, []);
    assert.equal(itself.why_not.figures.step_s, itself.why_not.best.step_s);
    assert.match(itself.why_not.sentence, /as good as the best/);

    const outside = await searched({ space: { tensor: [1, 2] },
        why_not: { parallelism: { tensor: 4 }, workload: { micro_batch_size: 1, recompute: 'none' } } });
    assert.deepEqual(outside.why_not.outside_space, ['tensor']);

    const wide = await searched({ config: large, cluster: { nodes: 8 },
        why_not: { parallelism: { tensor: 1, pipeline: 1 }, workload: { micro_batch_size: 1 } } });
    assert.equal(wide.why_not.fits, false);
    assert.match(wide.why_not.sentence, /does not fit.* lacks .* GiB/);

    const wrong = await searched({ why_not: { parallelism: { tensor: 3 } } });
    assert.equal(wrong.why_not.legal, false);
    assert.ok(wrong.why_not.refused.some(({ pointer }) => pointer.startsWith('/parallelism')));
    assert.match(wrong.why_not.sentence, /no plan/);
    assert.equal(wrong.why_not.figures, null);

    const slow = await searched({ constraints: { max_step_s: found.best[0].step_s * 1.05 },
        why_not: { parallelism: { tensor: 8 }, workload: { micro_batch_size: 1, recompute: 'full' } } });
    assert.equal(slow.why_not.breaks, 'max_step_s');
    assert.match(slow.why_not.sentence, /max_step_s/);
});

test('rejected classes say why, how many and how near the nearest is', async () => {
    const { rejected, refused, evaluated, feasible, pruned } =
        await searched({ config: large, cluster: { nodes: 8 } });
    const counts = rejected.map(({ count }) => count);
    assert.deepEqual(counts, counts.toSorted((a, b) => b - a));
    const memory = rejected.find(({ reason }) => reason === 'out_of_memory');
    assert.equal(memory.misses_by, -memory.nearest.headroom_bytes);
    assert.match(memory.sentence, /^out of memory: the nearest plan lacks \d+\.\d+ [GM]iB$/);
    assert.equal(memory.needed, memory.nearest.device_total_bytes);
    // A bound may prove that the nearest lacks less.
    assert.ok(memory.count >= evaluated - feasible && memory.count <= evaluated - feasible + pruned);
    assert.equal(counts.reduce((sum, count) => sum + count), refused + memory.count);
});

/* Of a space with nothing in it: each constraint that no plan keeps, raised to what it says it would have
 * to be, has an answer. */
const unkept = {
    max_step_s: { factor: 0.7, slack: 1e-9 },
    min_tokens_per_s: { factor: 1.4, slack: -1e-9 },
    deadline_s: { factor: 0.7, slack: 1e-9 },
    budget: { factor: 0.7, slack: 1e-9 },
};
for (const [name, { factor, slack }] of Object.entries(unkept))
    test(`without an answer ${name} is named, with the value that has one`, async () => {
        const parts = { workload: { tokens: 1e10 }, cluster: { nodes: 2, price_per_node_hour: 90 },
            space: { nodes: 2 }, simulate: false, neighbours: false, pareto: false, exhaustive: true };
        const figure = { max_step_s: 'step_s', min_tokens_per_s: 'tokens_per_s',
            deadline_s: 'time_to_train_s', budget: 'cost' }[name];
        const reached = (await searched({ ...parts, limit: 1 })).best[0][figure];
        const { best, nothing, tightest } = await searched({ ...parts,
            constraints: { [name]: reached * factor } });
        assert.deepEqual(best, []);
        assert.equal(tightest.reason, name);
        assert.equal(tightest.pointer, `/constraints/${name}`);
        assert.equal(nothing.startsWith('No plan is an answer'), true, nothing);
        close(tightest.needed, tightest.nearest[figure], 'needed');
        const again = await searched({ ...parts, constraints: { [name]: tightest.needed * (1 + slack) } });
        assert.ok(again.best.length > 0);
    });

test('a model that fits nowhere says how much memory is missing', async () => {
    const { best, tightest, nothing, robustness, neighbours, reranking } =
        await searched({ config: large, cluster: { nodes: 1 } });
    assert.deepEqual([best, robustness, neighbours, reranking.simulated], [[], null, [], 0]);
    assert.equal(tightest.reason, 'out_of_memory');
    assert.ok(tightest.nearest.headroom_bytes < 0);
    assert.match(nothing, /lacks .* [GM]iB/);
});

test('a space without a legal plan says which rule is in the way', async () => {
    const { best, tightest, nothing } = await searched({ space: { tensor: 3 } });
    assert.deepEqual([best, tightest], [[], null]);
    assert.match(nothing, /No plan of this space is legal/);
});

/* What each empty space is told: places, and values. */
const empty = {
    'a degree that divides nothing': [{ space: { tensor: [7] } }, [['/space/tensor', 8]]],
    'a degree of the plan': [{ parallelism: { pipeline: 3, tensor: 8 } }, [['/parallelism/pipeline', 2]]],
    'so many nodes that none share the batch': [{ cluster: { nodes: 67 } },
        [['/cluster/nodes', 528], ['/workload/global_batch_size', 67]]],
    'too few accelerators for a degree': [{ space: { tensor: [8] }, constraints: { max_accelerators: 4 } },
        [['/space/tensor', 4], ['/constraints/max_accelerators', 8]]],
    'a schedule without its chunks': [{ space: { schedule: ['interleaved_1f1b'], pipeline: [2], virtual_pipeline: [1] } },
        [['/space/virtual_pipeline', 2], ['/space/schedule', '1f1b']]],
    'words of FSDP': [{ workload: { framework: 'fsdp2' }, space: { sharding: ['hybrid_shard'], data: [3] } },
        [['/space/data', 8]]],
    'two degrees, of which neither helps alone': [{ space: { tensor: [7], pipeline: [5] } },
        [['/space/pipeline', 1], ['/space/tensor', 1]]],
};
for (const [name, [parts, told]] of Object.entries(empty))
    test(`an empty space is told the nearest that has an answer, and merged into the request it has: ${name}`, async () => {
        const request = search(parts);
        const { best, nothing, relaxations, relaxed_together: together, relaxations_complete: complete } = await answered(request);
        assert.deepEqual([best, complete], [[], true]);
        assert.deepEqual(relaxations.map(({ pointer, to }) => [pointer, to]), told);
        assert.match(nothing, / With .* there is one\.$/);
        const changes = relaxations.map(({ change }) => change);
        for (const patch of together ? [changes.reduce(mergePatch)] : changes) {
            const { best: [found] } = await answered(mergePatch(request, patch));
            assert.ok(found.headroom_bytes >= 0);
        }
    });

test('where no list is to blame, what is left in the way is said', async () => {
    const { best, nothing, relaxations, relaxations_complete: complete } =
        await searched({ config: large, cluster: { nodes: 1 }, space: { tensor: [7] } });
    assert.deepEqual([best, relaxations, complete], [[], [], true]);
    assert.match(nothing, /No plan of this space is legal.* Nor would any other value of what is searched help; out of memory: the nearest plan lacks .* GiB\.$/);
});

test('what is in the way of both is said once', async () => {
    const { best, nothing } = await searched({ config: large, cluster: { nodes: 1 }, space: { tensor: [1, 2, 4, 8] } });
    assert.deepEqual(best, []);
    assert.match(nothing, /^No plan is an answer; out of memory: the nearest plan lacks [\d.,]+ GiB\. Nor would any other value of what is searched help\.$/);
});

test('nothing is relaxed where there is an answer, or a constraint in its way', async () => {
    for (const parts of [{}, { constraints: { headroom_ratio: 0.97 } }]) {
        const { relaxations, relaxed_together: together, relaxations_complete: complete } = await searched(parts);
        assert.deepEqual([relaxations, together, complete], [[], false, null]);
    }
});

test('what is out of reach at any efficiency is refused before anything is tried', async () => {
    const parts = { workload: { tokens: 1e12 }, cluster: { nodes: 2, price_per_node_hour: 90 } };
    for (const [name, value] of [['deadline_s', 60], ['min_tokens_per_s', 1e9], ['max_step_s', 1e-6]]) {
        const response = await client.post(path, search({ ...parts, constraints: { [name]: value } }));
        const fault = assertProblem(response, 422, { code: 'out_of_reach', pointer: `/constraints/${name}` });
        assert.match(fault.hint, /than \d/);
    }
    const { hint } = assertProblem(await client.post(path, search({ ...parts,
        constraints: { max_accelerators: 2 }, space: { accelerators: [4, 16] } })), 422,
        { pointer: '/constraints/max_accelerators', code: 'empty_space' });
    assert.equal(hint, '4');
    assertProblem(await client.post(path, search({ constraints: { deadline_s: 1e6 } })), 422,
        { code: 'needs_tokens', pointer: '/workload/tokens' });
});

test('all faults are told at once, each at its place', async () => {
    const response = await client.post(path, search({
        space: { tensr: [1], pipeline: [], tensor: [1, 'two'], recompute: ['som'], nodes: 'every',
            zero_stage: [4], sharding: ['full_shard'] },
        objective: 'speed', limit: 0, time_limit_s: 900,
        constraints: { headroom_ratio: 2, maxaccelerators: 3 },
    }));
    for (const [pointer, code] of [['/space/tensr', 'unknown_field'], ['/space/pipeline', 'empty_space'],
        ['/space/tensor/1', 'wrong_type'], ['/space/recompute/0', 'unknown_value'],
        ['/space/nodes', 'unknown_value'], ['/space/zero_stage/0', 'out_of_range'],
        ['/space/zero_stage', 'conflicting_fields'], ['/objective', 'unknown_value'],
        ['/limit', 'out_of_range'], ['/time_limit_s', 'out_of_range'],
        ['/constraints/headroom_ratio', 'out_of_range'],
        ['/constraints/maxaccelerators', 'unknown_field']])
        assertProblem(response, 422, { pointer, code });
    assert.match(response.text, /"tensor"|tensor/);
});

test('unknown fields are warnings where the request says so', async () => {
    const response = await client.post(`${path}?unknown=warn`,
        search({ space: { tensr: [1] }, constraints: { budgt: 1 }, limit: 1 }));
    assert.equal(response.status, 200, response.text.slice(0, 500));
    assert.equal(response.json.warnings.filter(({ code }) => code === 'unknown_field').length, 2);
});

test('fields that follow from a plan are refused by name', async () => {
    const response = await client.post(path, search({
        parallelism: { pipeline_layout: [16, 16], replicate: 2 },
        workload: { gradient_accumulation: 4, recompute: { mode: 'modules', modules: ['mlp'] } },
    }));
    for (const pointer of ['/parallelism/pipeline_layout', '/parallelism/replicate',
        '/workload/gradient_accumulation', '/workload/recompute'])
        assertProblem(response, 422, { pointer, code: 'not_modelled' });
    assertProblem(await client.post(path, { model: { parameters: 7e9 },
        workload: { accounting: 'mixed-2-2-12' }, cluster: { accelerator, nodes: 1 } }), 422,
        { pointer: '/model', code: 'model_required' });
});

test('of several clusters each fault is at its own, and what all share is told once', async () => {
    const response = await client.post(path, search({
        clusters: [{ accelerator, nodes: 1 }, { accelerator: 'h100x', nodes: 1 }, { accelerator, nods: 1 }],
        workload: { precison: 'bf16' },
    }));
    assertProblem(response, 422, { pointer: '/clusters/1/accelerator' });
    assertProblem(response, 422, { pointer: '/clusters/2/nods', code: 'unknown_field' });
    assert.equal(response.json.errors.filter(({ pointer }) => pointer === '/workload/precison').length, 1);
    const both = search({ cluster: { nodes: 1 } });
    assertProblem(await client.post(path, { ...both, clusters: [both.cluster] }), 422,
        { pointer: '/clusters', code: 'conflicting_fields' });
    const { cluster, ...neither } = both;
    assertProblem(await client.post(path, neither), 422, { pointer: '/cluster', code: 'required_field' });
    assertProblem(await client.post(path, { ...neither, clusters: [] }), 422,
        { pointer: '/clusters', code: 'out_of_range' });
    assertProblem(await client.post(path, search({ why_not: { parallelism: { tensr: 1 } } })), 422,
        { pointer: '/why_not/parallelism/tensr', code: 'unknown_field' });
});

test('which cluster is one search, over stored and inline ones', async () => {
    const server = await startServer({ database: true });
    try {
        const stored = await connectTo(server);
        const put = await stored.put('/api/v1/inventories/hal', inventory({ nodes: 3 }));
        assert.ok(put.status < 300, put.text);
        const request = search({ clusters: [{ accelerator: 'nvidia-a100-sxm4-80gb', nodes: 2 },
            { inventory: 'hal', nodes: 2 }], objective: 'throughput',
            why_not: { cluster_index: 1, parallelism: { tensor: 8 }, workload: { micro_batch_size: 1 } } });
        const answer = await answered(request, stored);
        assert.deepEqual(answer.clusters.map(({ name }) => name), ['nvidia-a100-sxm4-80gb', 'hal']);
        assert.ok(answer.best.every((plan) => plan.cluster_index === 1 && plan.cluster_name === 'hal'));
        assert.equal(answer.why_not.legal, true);
        await assertEstimates(request, answer.best.slice(0, 5), stored);
        assertProblem(await stored.post(path, { ...request,
            clusters: [request.clusters[0], { inventory: 'hal', nodes: 9 }] }), 422,
            { pointer: '/clusters/1/nodes', code: 'out_of_range' });
    } finally {
        await stopClean(server);
    }
});

test('a number of layers whose activations leave binds no plan where none leave', async () => {
    const request = search({ workload: { framework: 'megatron', offload: { activations: 'cpu', activation_layers: 8 } },
        space: { offload: ['none', 'activations'] } });
    const { best } = await answered(request);
    assert.ok(best.some(({ workload }) => workload.offload.activations === 'none'));
    await assertEstimates(request, best.slice(0, 5));
});

test('sequences are shared as the framework does it by itself', async () => {
    for (const [framework, kind] of [['deepspeed', 'a2a'], ['fsdp2', 'allgather'], ['megatron', 'p2p']]) {
        const request = search({ workload: { framework, sequence_length: 16384, global_batch_size: 16 }, space: { context: [2, 4] } });
        const { best } = await answered(request);
        assert.ok(best.length > 0);
        assert.deepEqual([...new Set(best.map(({ parallelism }) => parallelism.context_kind))], [kind]);
        await assertEstimates(request, best.slice(0, 3));
    }
});
