/** What the search view works out without a page: events, rows, orders, scales, changes of the plan. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { splitEvents } from '../../static/src/state/event-stream.js';
import { asking } from '../../static/src/state/look.js';
import { applyPatch, emptyPlan, requestOf } from '../../static/src/state/plan.js';
import { changeTo } from '../../static/src/search/apply.js';
import { DIMENSIONS, searchOf, valuesOf } from '../../static/src/search/ask.js';
import { keyOf, rowsOf, splitDimensions } from '../../static/src/search/plans.js';
import { edgeOf, nearestTo, roundTicks, scaleOf } from '../../static/src/search/scales.js';
import { eventsOf, planOf } from './lib/searches.mjs';

describe('events', () => {
    const stream = 'retry: 60000\n\n: \n\nevent: progress\ndata: {"evaluated":1}\n\nevent: result\ndata: {"state":\ndata: "done"}\n\nevent: pro';

    it('are read whole, and what is not whole waits for its rest', () => {
        const { events, rest } = splitEvents(stream);
        assert.deepEqual(events, [{ name: 'progress', data: { evaluated: 1 } }, { name: 'result', data: { state: 'done' } }]);
        assert.equal(rest, 'event: pro');
    });

    it('are the same wherever the stream is cut', () => {
        const whole = splitEvents(stream).events;
        for (let cut = 0; cut <= stream.length; cut += 1) {
            const head = splitEvents(stream.slice(0, cut));
            assert.deepEqual([...head.events, ...splitEvents(head.rest + stream.slice(cut)).events], whole, `cut at ${cut}`);
        }
    });

    it('may end their lines as on other systems', () => {
        assert.deepEqual(splitEvents(stream.replaceAll('\n', '\r\n')).events, splitEvents(stream).events);
    });
});

describe('rows', () => {
    const { data } = eventsOf({ best: 20, front: 40 }).at(-1);

    it('hold each plan once, the best first in their order', () => {
        const rows = rowsOf(data);
        assert.equal(new Set(rows.map(({ key }) => key)).size, rows.length);
        assert.deepEqual(rows.slice(0, 20).map(({ rank }) => rank), Array.from({ length: 20 }, (_, at) => at + 1));
        assert.deepEqual(rows.filter(({ front }) => front).length, data.pareto.length);
        assert.deepEqual(new Set(rows.map(({ plan }) => plan)), new Set([...data.best, ...data.pareto]));
    });

    it('know a plan by what it is, not by its figures or the order of its members', () => {
        const plan = planOf(7);
        assert.equal(keyOf(plan), keyOf({ ...plan, step_s: 1, parallelism: Object.fromEntries(Object.entries(plan.parallelism).reverse()) }));
        assert.notEqual(keyOf(plan), keyOf({ ...plan, accelerators: 99 }));
        assert.equal(new Set(Array.from({ length: 20_000 }, (_, at) => keyOf(planOf(at)))).size,
            new Set(Array.from({ length: 20_000 }, (_, at) => { const { parallelism, workload, nodes } = planOf(at);
                return JSON.stringify([parallelism, workload, nodes]); })).size);
    });

    it('tell dimensions that differ from those that all share', () => {
        const { varied, same } = splitDimensions(rowsOf(data));
        assert.ok(varied.includes('tensor') && varied.includes('nodes'));
        assert.ok(same.includes('zero_stage') && same.includes('cluster'));
        assert.ok(!varied.includes('expert_tensor') && !same.includes('expert_tensor'), 'nobody says it');
        assert.deepEqual(splitDimensions([]), { varied: [], same: [] });
    });
});

describe('scales', () => {
    it('hold what they are made of with some room, one value too', () => {
        for (const values of [[1, 2, 3], [-5, 5], [7], [0], [1e9, 1e9]]) {
            const scale = scaleOf(values);
            assert.ok(values.every((value) => scale.at(value) > 0 && scale.at(value) < 1), String(values));
        }
    });

    it('have round ticks within, in the unit that is read', () => {
        assert.deepEqual(roundTicks({ from: -1, to: 9 }, 5), [0, 2, 4, 6, 8]);
        const gib = 2 ** 30;
        assert.ok(roundTicks({ from: -3.1 * gib, to: 41 * gib }, 5, gib).every((tick) => Number.isInteger(tick / gib)));
    });

    it('the edge is what no other point beats in both', () => {
        const points = Array.from({ length: 300 }, (_, at) => ({ x: Math.sin(at * 1.7) ** 2, y: Math.cos(at * 2.9) ** 2 }));
        for (const [x, y] of [[1, 1], [1, -1], [-1, 1], [-1, -1]]) {
            const beaten = (one) => points.some((other) => other !== one && x * (other.x - one.x) >= 0 && y * (other.y - one.y) >= 0
                && (other.x !== one.x || other.y !== one.y));
            assert.deepEqual(edgeOf(points, x, y), points.filter((one) => !beaten(one)).sort((a, b) => a.x - b.x));
        }
    });

    it('the nearest point is within reach or none', () => {
        const points = [{ left: 0, top: 0 }, { left: 10, top: 0 }];
        assert.equal(nearestTo(points, 7, 1, 24), 1);
        assert.equal(nearestTo(points, 60, 0, 24), -1);
    });
});

describe('what is asked', () => {
    const base = { ...emptyPlan(), example: 'llama-8b', tensor: 4, pipeline: 2, recompute: 'full', microBatch: 2,
        extra: { parallelism: { order: 'tp-cp-ep-pp-dp', context: 2 }, workload: { offload: { optimizer: 'cpu' } } } };

    it('leaves open what is searched and keeps the rest of the plan', () => {
        asking.value = {};
        const { parallelism, workload, space, objective, constraints, limit, pareto } = searchOf(base);
        assert.deepEqual(parallelism, { order: 'tp-cp-ep-pp-dp' });
        assert.deepEqual(Object.keys(workload).sort(), ['attention', 'framework', 'global_batch_size', 'kind', 'offload', 'precision', 'sequence_length']);
        assert.deepEqual({ space, objective, constraints, limit, pareto }, { space: {}, objective: 'throughput', constraints: {}, limit: 20, pareto: true });
    });

    it('reads the address under the names of the request, and takes no nonsense', () => {
        asking.value = { tensor: '8,2,2,x', sequence: 'true', recompute: 'none,magic', global_batch_size: '512', nodes: 'any', objective: 'cost',
            deadline_s: '86400', budget: '-3', headroom_ratio: '0.1', limit: '50', anywhere: '1' };
        const { space, objective, constraints, limit, workload } = searchOf(base);
        assert.deepEqual(space, { tensor: [2, 8], sequence: [true], global_batch_size: [512], recompute: ['none'], nodes: 'any', tensor_across_domains: true });
        assert.deepEqual({ objective, constraints, limit }, { objective: 'cost', constraints: { deadline_s: 86400, headroom_ratio: 0.1 }, limit: 50 });
        assert.ok(!('global_batch_size' in workload), 'what is searched is not fixed');
        asking.value = { objective: 'beauty', limit: '7' };
        assert.equal(searchOf(base).objective, 'throughput');
        assert.equal(searchOf(base).limit, 20);
        asking.value = {};
    });

    it('names further clusters: as many nodes of a part, or a whole inventory', () => {
        asking.value = { also: 'part:amd-mi300x,inventory:prod,nonsense', price_per_node_hour: '30' };
        const { clusters, cluster } = searchOf({ ...base, nodes: 4 });
        assert.equal(cluster, undefined);
        assert.equal(clusters[0].price_per_node_hour, 30);
        assert.deepEqual(clusters.slice(1), [{ accelerator: 'amd-mi300x', nodes: 4 }, { inventory: 'prod' }]);
        asking.value = {};
    });

    it('takes typed values in any order, each once', () => {
        const tensor = DIMENSIONS.find(({ name }) => name === 'tensor');
        assert.deepEqual(valuesOf(tensor, ' 4, 2;2 1k '), [2, 4, 1000]);
    });
});

describe('a plan that is applied', () => {
    it('takes the place of the cut, what goes without saying left out', () => {
        const base = { ...emptyPlan(), example: 'llama-8b', extra: { parallelism: { order: 'tp-cp-ep-pp-dp', context: 2, schedule: 'zb_h1' } } };
        const { plan, patch } = changeTo(base, planOf(6), {}, {});
        const request = requestOf(applyPatch(plan, patch));
        const { parallelism, workload, cluster } = planOf(6);
        assert.equal(request.parallelism.tensor, parallelism.tensor);
        assert.equal(request.parallelism.pipeline, parallelism.pipeline);
        assert.equal(request.workload.recompute, workload.recompute);
        assert.equal(request.cluster.nodes, cluster.nodes);
        assert.deepEqual(applyPatch(plan, patch).extra, { parallelism: { order: 'tp-cp-ep-pp-dp' } });
    });

    it('takes its cluster along, where that is another', () => {
        const base = { ...emptyPlan(), example: 'llama-8b', inventory: 'prod', pool: 'h100' };
        const request = { clusters: [{ inventory: 'prod' }, { accelerator: 'nvidia-b200-sxm-180gb', nodes: 4 }] };
        const found = { ...planOf(2), cluster_index: 1, cluster: { nodes: 2 } };
        const { plan, patch } = changeTo(base, found, request, { clusters: [{}, { nodes: 4, accelerators: 32 }] });
        assert.deepEqual(requestOf(applyPatch(plan, patch)).cluster, { accelerator: 'nvidia-b200-sxm-180gb', accelerators_per_node: 8, nodes: 2 });
    });

    it('keeps what has no control of its own', () => {
        const found = { ...planOf(1), parallelism: { ...planOf(1).parallelism, context: 4, context_kind: 'a2a', expert: 8, expert_tensor: 1 }, workload: {} };
        const { plan, patch } = changeTo({ ...emptyPlan(), example: 'llama-8b' }, found, {}, {});
        const applied = applyPatch(plan, patch);
        assert.deepEqual([applied.context, applied.expert], [4, 8]);
        assert.deepEqual(applied.extra, { parallelism: { context_kind: 'a2a', expert_tensor: 1 } });
    });
});
