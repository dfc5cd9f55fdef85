/** Ratios and choices, by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesWithin, choicesBySource, rankCorrelation } from './lib/compare.mjs';
import { readConstants } from './lib/constants.mjs';
import { requestAt, spreadLine } from './lib/spread.mjs';
import { requestWithout } from './lib/without.mjs';

const constants = await readConstants();
const constantOf = (name) => Number(constants.find((one) => one.name === name).value);

const result = (published, measured, predicted) => ({
    row: { source: 'one', completeness: 'full', measured_step_s: String(measured), published },
    predicted_s: predicted, error: Math.log(predicted / measured) });

test('a change is as large as it was measured, or off by the difference of the errors', () => {
    const results = [result({ model: 'a', tp: '1' }, 10, 10), result({ model: 'a', tp: '2' }, 8, 10),
        result({ model: 'b', tp: '4' }, 1, 9), { ...result({ model: 'a', tp: '8' }, 1, 1), refusal: 'no' }];
    const [, tensor, precision] = changesWithin(results);
    assert.equal(tensor.change, 'tp');
    assert.equal(tensor.pairs, 1); // another model is another question, a refusal no answer
    assert.ok(Math.abs(tensor.median - Math.log(10 / 8)) < 1e-12);
    assert.equal(precision.pairs, 0);
    assert.equal(precision.median, null);
});

test('a source of many rows does not hide another, whose median stands beside that of all', () => {
    const many = [4, 5, 6, 7].map((predicted, tp) => result({ model: 'a', tp: String(tp) }, 1, predicted));
    const few = [1, 9].map((predicted, tp) => {
        const { row, ...rest } = result({ model: 'b', tp: String(tp) }, 1, predicted);
        return { ...rest, row: { ...row, source: 'two' } };
    });
    const [, { pairs, sources }] = changesWithin([...many, ...few]);
    assert.equal(pairs, 7);
    assert.deepEqual(sources.map(({ source, pairs: own }) => [source, own]), [['one', 6], ['two', 1]]);
    assert.ok(Math.abs(sources[1].median - Math.log(9)) < 1e-12);
});

test('rank correlation is 1 in order, -1 against it, and shares ranks of ties', () => {
    assert.equal(rankCorrelation([1, 2, 3], [10, 20, 30]), 1);
    assert.equal(rankCorrelation([1, 2, 3], [3, 2, 1]), -1);
    assert.ok(Math.abs(rankCorrelation([1, 2, 2, 3], [1, 2, 3, 4]) - Math.sqrt(0.9)) < 1e-12);
    assert.equal(rankCorrelation([1, 1], [1, 2]), null);
});

test('the regret is what the plan predicted fastest took beyond the best', () => {
    const plans = [[1, 10, 9], [2, 8, 8], [3, 12, 12], [4, 14, 14], [5, 16, 16]]
        .map(([pp, measured, predicted]) => result({ model: 'a', pp: String(pp) }, measured, predicted));
    const [choice] = choicesBySource(plans);
    assert.equal(choice.questions, 1);
    assert.equal(choice.regret, 0);
    plans[0] = result({ model: 'a', pp: '1' }, 10, 7);
    assert.ok(Math.abs(choicesBySource(plans)[0].worst - 0.25) < 1e-12);
    assert.deepEqual(choicesBySource(plans.slice(1)), []);
});

test('a source without its own constants is asked otherwise, others as they are', () => {
    const request = { workload: { framework: 'megatron', profile: { norm_ratio: 1 } },
        cluster: { accelerator: 'nvidia-gb300' } };
    const patched = requestWithout('mbridge', request);
    assert.deepEqual(patched.workload.profile,
        { norm_ratio: 1, expert_operator_s: constantOf('megatron host_operator_s') });
    assert.equal(patched.cluster.accelerator_overrides.sustained_ratio, constantOf('other sustained_ratio'));
    assert.equal(request.cluster.accelerator_overrides, undefined);
    assert.equal(requestWithout('kor22t5', request), undefined);
});

test('how alike devices are is asked beside what else a request says of its operation', () => {
    const request = { workload: {}, cluster: { accelerator: 'a', operation: { pue_ratio: 1.1 } } };
    assert.deepEqual(requestAt(0.01, request).cluster,
        { accelerator: 'a', operation: { pue_ratio: 1.1, speed_sigma_ratio: 0.01 } });
    assert.deepEqual(request.cluster.operation, { pue_ratio: 1.1 });
    const runs = [[8, 10, 10], [64, 10, 11], [512, 10, 13]].map(([devices, measured, predicted]) =>
        result({ model: 'a', num_gpus: String(devices), global_batch_sequences: String(devices) }, measured, predicted));
    assert.match(spreadLine(0.01, runs), /^0\.010 +3 pairs +median 16\.7 % +one 3: 16\.7 %$/);
});
