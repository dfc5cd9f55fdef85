/** Figures nobody measured on the asker's machines: each shown, replaceable, and felt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { estimate, large, mixtral } from './lib/fixtures.mjs';

const client = await clientOfFile();

async function answered(parts) {
    const request = estimate(parts);
    const response = await client.post('/api/v1/estimates', request);
    assert.equal(response.status, 200, response.text);
    client.contract.validate('an answered request', { $ref: '#/components/schemas/EstimateRequest' }, request);
    return response.json;
}

async function refused(parts, pointer, code) {
    const response = await client.post('/api/v1/estimates', estimate(parts));
    assert.equal(response.status, 422, response.text);
    assert.deepEqual(response.json.errors.map((error) => [error.pointer, error.code]), [[pointer, code]]);
}

const assumed = (answer, which = 'operation_assumed') => answer.assumptions.some(({ code }) => code === which);
const near = (value, expected) =>
    assert.ok(Math.abs(value / expected - 1) < 1e-9, `${value} is not ${expected}`);
const day_s = 86_400;

test('a run of weeks loses what failures and checkpoints take, and says by which figures', async () => {
    const asked = { workload: { tokens: 1e12 }, cluster: { price_per_node_hour: 30 } };
    const usual = await answered(asked);
    assert.ok(usual.goodput_ratio > 0.9 && usual.goodput_ratio < 1, usual.goodput_ratio);
    assert.ok(assumed(usual));
    near(usual.cost, usual.time_to_train_s / 3600 * 30);
    const steps = 1e12 / (512 * 32);
    near(usual.time_to_train_s, steps * usual.time.step_s / usual.goodput_ratio);

    // Its own answer, sent back, is the same question.
    const { operation } = usual.resolved.cluster;
    const again = await answered({ ...asked, cluster: { ...asked.cluster, operation } });
    assert.equal(again.time_to_train_s, usual.time_to_train_s);
    assert.equal(again.energy_j, usual.energy_j);
    assert.ok(!assumed(again) && !assumed(again, 'speeds_assumed'));

    const often = await answered({ ...asked,
        cluster: { ...asked.cluster, operation: { failures_per_node_day: 1, restart_s: 0.1 * day_s } } });
    assert.ok(often.goodput_ratio < 0.9, often.goodput_ratio);
    assert.ok(!assumed(often) && assumed(often, 'speeds_assumed')); // what moves the step is said all the same
    assert.equal(often.time.step_s, usual.time.step_s);
    near(often.energy_j / usual.energy_j, often.time_to_train_s / usual.time_to_train_s);
});

test('a checkpoint that takes longer than there is between two is warned of, and so are failures without end', async () => {
    const of = (operation) => answered({ workload: { tokens: 1e12 }, cluster: { operation } });
    const warned = ({ warnings }) => warnings.find(({ code }) => code === 'never_ends')?.message;
    const slow = { failures_per_node_day: 0, checkpoint_bytes_per_s: 1e6 };
    const { checkpoint_s: writes_s } = (await of({ ...slow, checkpoint_interval_s: 1e6 }))
        .explanations['/goodput_ratio'].inputs;
    assert.ok(writes_s > 0);

    const half = await of({ ...slow, checkpoint_interval_s: 2 * writes_s });
    near(half.goodput_ratio, 0.5);
    assert.equal(warned(half), undefined);

    const never = await of({ ...slow, checkpoint_interval_s: writes_s / 2 });
    assert.equal(never.goodput_ratio, 0);
    assert.deepEqual([never.time_to_train_s, never.energy_j], [null, null]);
    const [, shortest] = /shortest that leaves any is above ([\d.]+) s/.exec(warned(never));
    assert.ok(Math.abs(shortest / writes_s - 1) < 0.005, `${shortest} of ${writes_s}`);

    const failing = await of({ failures_per_node_day: 100, restart_s: day_s });
    assert.equal(failing.goodput_ratio, 0);
    assert.match(warned(failing), /every 864 s a node fails/);
});

test('a limit of power is the most that a device draws, and less energy than at full power', async () => {
    const of = async (power_limit_w) => {
        const { energy_j, explanations } = await answered({ config: large,
            workload: { tokens: 1e12, sequence_length: 4096, global_batch_size: 512 },
            cluster: { nodes: 4, accelerator_overrides: { power_limit_w } },
            parallelism: { tensor: 8, pipeline: 2, data: 2 } });
        return { energy_j, ...explanations['/energy_j'].inputs };
    };
    const free = await of(null);
    assert.equal(free.power_limit_w, free.power_w);
    for (const limit of [500, 350]) {
        const held = await of(limit);
        assert.deepEqual([held.power_w, held.power_limit_w], [free.power_w, limit]);
        assert.ok(held.energy_j < free.energy_j, `${limit} W`);
        near(held.accelerator_w / limit, free.accelerator_w / free.power_w); // busy all the time
    }
});

test('without tokens there is goodput and no total', async () => {
    const answer = await answered({ cluster: { price_per_node_hour: 30 } });
    assert.ok(answer.goodput_ratio > 0);
    assert.deepEqual([answer.time_to_train_s, answer.energy_j, answer.cost], [null, null, null]);
});

test('figures of a run that cannot be are refused where they stand', async () => {
    await refused({ cluster: { operation: { pue_ratio: 0.5 } } }, '/cluster/operation/pue_ratio', 'out_of_range');
    await refused({ cluster: { operation: { restart_s: 'soon' } } }, '/cluster/operation/restart_s', 'wrong_type');
});

test('a slower host is felt, and what was said is what is resolved', async () => {
    const slow = await answered({ workload: { profile: { host_operator_s: 0.001, step_overhead_s: 2 } } });
    const quick = await answered({ workload: { profile: { host_operator_s: 0, step_overhead_s: 0 } } });
    assert.equal(slow.resolved.workload.profile.host_operator_s, 0.001);
    const waits = (answer) => answer.time.terms.find(({ name }) => name === 'launch').seconds;
    assert.equal(waits(quick), 0);
    assert.ok(waits(slow) > 0);
    assert.ok(slow.time.step_s > quick.time.step_s + 2);
    await refused({ workload: { profile: { norm_ratio: 0 } } }, '/workload/profile/norm_ratio', 'out_of_range');
});

test('tokens of experts hide where they are said to, and where a schedule lets them', async () => {
    const of = (moe) => ({ config: mixtral, parallelism: { pipeline: 1, expert: 4, data: 4 }, workload: { software: 'mbridge-26.04', moe } });
    const open = await answered(of(null));
    const hidden = await answered(of({ overlap: true }));
    assert.ok(open.assumptions.some(({ code }) => code === 'experts_exposed'));
    assert.equal(hidden.resolved.workload.moe.overlap, true);
    const seconds = ({ time }) => time.terms.find(({ name }) => name === 'expert_communication').seconds;
    assert.ok(seconds(hidden) < seconds(open));
    assert.ok(hidden.memory.peak_allocated_bytes > open.memory.peak_allocated_bytes);
    await refused({ config: mixtral, parallelism: { expert: 2 }, workload: { moe: { overlap: true } } },
        '/workload/moe/overlap', 'overlap_not_possible');
});

test('products that were measured nowhere near are listed', async () => {
    const mixture = await answered({ config: mixtral, parallelism: { expert: 2 } });
    assert.ok(mixture.guessed_shapes.some(({ products }) => products > 1));
    assert.ok(mixture.assumptions.some(({ code }) => code === 'shapes_guessed'));
    const dense = await answered({ config: large, workload: { sequence_length: 4096 }, parallelism: { tensor: 4, data: 1 } });
    assert.deepEqual(dense.guessed_shapes, []);
});

test('a lower clock makes a longer step, never a shorter one', async () => {
    const at = async (sustained_ratio) =>
        (await answered({ config: large, cluster: { accelerator_overrides: { sustained_ratio } } })).time.step_s;
    assert.ok(await at(0.5) > await at(0.9));
    await refused({ cluster: { accelerator_overrides: { sustained_ratio: 1.5 } } },
        '/cluster/accelerator_overrides/sustained_ratio', 'out_of_range');
});

test('slower attention makes a longer step, by what attention takes of it alone', async () => {
    const of = (attention_ratio) => answered({ config: large, workload: { attention: 'flash2' },
        cluster: { accelerator_overrides: { attention_ratio } } });
    const [half, whole, twice] = [await of(0.5), await of(1), await of(2)];
    const [first, second] = [half.time.step_s - whole.time.step_s, whole.time.step_s - twice.time.step_s];
    assert.ok(first > 0 && Math.abs(first - 2 * second) <= 0.02 * first, `${first} and ${second} s`);
    assert.equal(whole.resolved.cluster.rates.attention, 'scaled');
    await refused({ cluster: { accelerator_overrides: { attention_ratio: 3 } } },
        '/cluster/accelerator_overrides/attention_ratio', 'out_of_range');
});
