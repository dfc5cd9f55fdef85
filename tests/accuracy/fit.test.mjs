/** The arithmetic of the fits by hand, and that the table of constants says what the code has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../e2e/lib/processes.mjs';
import { readConstants, valuesAt } from './lib/constants.mjs';
import { DRIFT_TOLERANCE, LEAVE_OUT_MARGIN, allFacts, faultsOf, fitOf, fitted, intervalsOf,
    parameters } from './lib/fit.mjs';

const parameter = (name) => parameters.find((one) => one.name === name);
const ratio = parameter('torchtitan fragmentation_ratio');

/** 100 bytes allocated, 10 of freed gradients, so much reserved. */
const facts = (source, measured) => ({ id: source + measured, source, topology: source + measured,
    metric: 'reserved', measured, allocated: 100, idle: 10, ratio: 1.05,
    profile: 'torchtitan-2024-12', rank: { phase: 'head', terms: [
        { name: 'logits', bytes: 28, inputs: { logits: 2, bytes_per_logit: 14 } }] } });

test('the value of a fit is one that makes a row exact, with the least mean error', () => {
    const rows = [facts('a', 110), facts('a', 120), facts('b', 160)];
    assert.equal(fitted(ratio, rows, 1.05), 1.1);
});

test('a source that is left out is scored with the value of the others', () => {
    const fit = fitOf(ratio, [facts('a', 110), facts('b', 130)], 1);
    const [a, b] = fit.bySource;
    assert.deepEqual([a.value, b.value], [1.2, 1]);
    assert.ok(Math.abs(a.error - Math.log(130 / 110)) < 1e-12);
    assert.ok(Math.abs(b.error - Math.log(130 / 110)) < 1e-12);
    assert.ok(Math.abs(fit.leftOut - Math.log(130 / 110)) < 1e-12);
    assert.equal(fitOf(ratio, [facts('a', 110)], 1).leftOut, null);
    assert.equal(fitOf(ratio, [], 1).rows.length, 0);
});

test('bytes of a logit are fitted from the term that has them', () => {
    // (100 + 2 (v - 14)) 1.05 + 10 = 119.2 where v is 16.
    const fit = fitOf(parameter('eager logits_peak_bytes'), [facts('a', 119.2)], 14);
    assert.ok(Math.abs(fit.refitted - 16) < 1e-9);
});

test('a constant that only knows its own sources, or drifted, is a fault', () => {
    const fit = { name: 'x', committed: 1, rows: [1], refitted: 1.1, drift: 0, inSample: 0.1,
        leftOut: 0.1 };
    assert.deepEqual(faultsOf(fit), []);
    assert.match(faultsOf({ ...fit, drift: 2 * DRIFT_TOLERANCE })[0], /x: 1.100 fits the rows/);
    assert.match(faultsOf({ ...fit, leftOut: 0.101 + LEAVE_OUT_MARGIN })[0], /has not seen/);
    assert.deepEqual(faultsOf({ ...fit, leftOut: null }), []);
});

test('an interval is told by the ratio that each measurement would need', () => {
    const ends = { 'torchtitan fragmentation_low_ratio': 1,
        'torchtitan fragmentation_high_ratio': 1.1 };
    const found = intervalsOf([facts('a', 115), facts('a', 125)], (name) => ends[name])
        .find(({ family }) => family === 'torchtitan');
    assert.equal(found.covered, 1);
    assert.equal(found.rows, 2);
});

test('refused, partial and bounded rows decide no constant', () => {
    assert.deepEqual(allFacts([{ row: { completeness: 'full' }, refusal: 'no' },
        { row: { completeness: 'partial' } }]), []);
});

test('every constant in the table has the value of the place it lives in', async () => {
    for (const { name, value, lives_in: place } of await readConstants()) {
        for (const found of await valuesAt(place) ?? [undefined]) {
            assert.ok(found !== undefined, `${name}: nothing at ${place}`);
            assert.ok(Math.abs(found - Number(value)) <= 1e-12 * Math.abs(found),
                `${name} is ${found} at ${place}, not ${value}`);
        }
    }
});

test('a constant says where it is from, and none that is fitted is missing', async () => {
    const constants = await readConstants();
    const names = constants.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const { name, unit, fitted_on: on, method } of constants)
        assert.ok(unit && on && method, name);
    for (const { name } of parameters)
        assert.ok(names.includes(name), name);
    for (const family of ['low', 'high'].flatMap((end) => parameters
        .filter(({ name }) => / fragmentation_ratio$/.test(name))
        .map(({ name }) => name.replace('_ratio', `_${end}_ratio`))))
        assert.ok(names.includes(family), family);
});

test('the committed constants hold on sources they were not fitted on', async () => {
    const script = fileURLToPath(new URL('fit.mjs', import.meta.url));
    const { code, stdout, stderr } = await run(process.execPath, [script, '--check']);
    assert.equal(code, 0, `${stderr}\n${stdout}`);
});
