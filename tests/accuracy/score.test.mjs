/** The arithmetic of the score, against figures worked out by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeRow } from './lib/request.mjs';
import { deniesRun, keyOf, measuredBytes, metricOf, quantile, scoreRow, scoreSources, summarize }
    from './lib/score.mjs';
import { jsonReport, textReport } from './lib/report.mjs';
import { TOLERANCE, baselineOf, improvements, regressions } from './lib/baseline.mjs';

const GIB_BYTES = 2 ** 30;
const row = (rest) => completeRow({ source: 'a b', completeness: 'full', metric: 'allocated',
    measured_peak_gib: '10', ...rest });

/** 10 GiB allocated, 12 reserved between 11 and 14, 13 in all; the first stage holds 8. */
const estimate = {
    memory: {
        peak_allocated_bytes: 10 * GIB_BYTES,
        peak_reserved_bytes: 12 * GIB_BYTES,
        device_total_bytes: 13 * GIB_BYTES,
        ranks: [
            { role: 'last stage', rank: 4, peak_allocated_bytes: 10 * GIB_BYTES },
            { role: 'first stage', rank: 0, peak_allocated_bytes: 8 * GIB_BYTES },
        ],
    },
    interval: { peak_reserved_bytes: [11 * GIB_BYTES, 14 * GIB_BYTES] },
};
const score = (rest) => scoreRow(row(rest), estimate);

function near(actual, expected) {
    assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} is not ${expected}`);
}

test('a row is compared in its own metric', () => {
    assert.equal(measuredBytes(row()), 10 * GIB_BYTES);
    near(score().error, 0);
    near(score({ metric: 'active' }).error, 0);
    near(score({ metric: 'reserved/unspecified' }).error, Math.log(1.2));
    near(score({ metric: 'nvml_total' }).error, Math.log(1.3));
    assert.equal(metricOf(row({ metric: 'unknown' })).figure, 'peak_reserved_bytes');
    assert.equal(metricOf(row({ metric: 'watts' })), undefined);
});

test('a stage is compared with its rank group, else the fullest', () => {
    near(score({ stage: 'first' }).error, Math.log(0.8));
    near(score({ stage: 'last' }).error, 0);
    near(score({ stage: 'all' }).error, 0);
    // A group without the figure has the answer's, in proportion: 12 * 8/10 = 9.6 of 10.
    near(score({ stage: 'first', metric: 'reserved' }).error, Math.log(0.96));
});

test('roles without a name are told by rank', () => {
    const ranks = estimate.memory.ranks.map((group) => ({ ...group, role: `rank ${group.rank}` }));
    const unnamed = { ...estimate, memory: { ...estimate.memory, ranks } };
    near(scoreRow(row({ stage: 'first' }), unnamed).error, Math.log(0.8));
    near(scoreRow(row({ stage: 'last' }), unnamed).error, 0);
});

test('a bound is only wrong on its far side', () => {
    near(score({ metric: 'capacity_bound', measured_peak_gib: '16' }).error, 0);
    near(score({ metric: 'capacity_bound' }).error, Math.log(1.3));
    near(score({ metric: 'oom', measured_peak_gib: '16' }).error, Math.log(13 / 16));
    near(score({ metric: 'oom' }).error, 0);
});

test('the interval covers what lies in it, in proportion for other figures', () => {
    const covered = (metric, measured_peak_gib) => score({ metric, measured_peak_gib }).covered;
    assert.equal(covered('reserved', '11'), true);
    assert.equal(covered('reserved', '10.9'), false);
    assert.equal(covered('allocated', '9.2'), true); // 10 * 11/12 = 9.17
    assert.equal(covered('allocated', '9.1'), false);
});

test('a topology counts once, a refused complete row as 100 %', () => {
    const results = [
        { row: row({ L: '1' }), error: 0.1, covered: true },
        { row: row({ L: '1', metric: 'reserved' }), error: -0.3, covered: false },
        { row: row({ L: '2' }), error: 0.4, covered: true },
        { row: row({ L: '3' }), refusal: 'no' },
    ];
    const summary = summarize(results);
    assert.equal(summary.topologies, 3);
    assert.equal(summary.answered, 3);
    near(summary.mape, (0.2 + 0.4 + 1) / 3);
    near(summary.median, 0.4);
    near(summary.p90, 0.4 + 0.8 * 0.6);
    near(summary.bias, (-0.1 + 0.4) / 2);
    near(summary.coverage90, (0.5 + 1 + 0) / 3);
});

test('releases repeat a topology, degrees make another', () => {
    const of = (...rows) =>
        summarize(rows.map((rest) => ({ row: row(rest), error: 0, covered: true }))).topologies;
    assert.equal(of({ framework: 'X, torch 2.13' }, { framework: 'X, torch 2.14' }), 1);
    assert.equal(of({ tp: '1' }, { tp: '2' }), 2);
    assert.equal(of({ tp: '1', topology_id: 'q' }, { tp: '2', topology_id: 'q' }), 1);
});

test('quantiles lie between neighbours, and of nothing there is none', () => {
    near(quantile([3, 1, 2], 0.5), 2);
    near(quantile([1, 2], 0.5), 1.5);
    near(quantile([0, 10], 0.9), 9);
    assert.equal(quantile([], 0.5), null);
    assert.equal(summarize([]).mape, null);
});

test('partial and doubtful rows stay out of the headline', () => {
    const sources = scoreSources([
        { row: row(), error: 0.1, covered: true },
        { row: row({ completeness: 'partial' }), error: 5, covered: false },
        { row: row({ completeness: 'full-doubtful' }), refusal: 'no' },
    ]);
    assert.deepEqual(jsonReport(sources), { 'a-b': { n: 3, scored: 1, answered: 1, mape: 0.1,
        median: 0.1, p90: 0.1, bias: 0.1, coverage90: 1 } });
    assert.match(textReport([], sources), /a-b +3 +1 +1 +10.0 %/);
});

test('a source is called by a slug of its name', () => {
    assert.equal(keyOf('SimuMax B200 v1.2 (TE 2.11)'), 'simumax-b200-v1-2-te-2-11');
});

test('refused rows are listed under their reason', () => {
    const results = ['M1', 'M2'].map((row_id) => ({ row: row({ row_id }), refusal: 'too odd' }));
    assert.match(textReport(results, scoreSources(results)), /^M1 M2: too odd$/m);
});

test('the baseline notices a worse mean, fewer answers and sources that come or go', () => {
    const at = (error) => scoreSources([
        { row: row({ L: '1' }), error, covered: true },
    ]);
    const baseline = baselineOf(at(0.1));
    assert.deepEqual(baseline, { 'a-b': { mape: 0.1, answered: 1, denied: 0 } });
    assert.deepEqual(regressions(baseline, at(-0.1)), []);
    assert.deepEqual(regressions(baseline, at(0.1 + 0.9 * TOLERANCE)), []);
    assert.equal(regressions(baseline, at(0.1 + 1.1 * TOLERANCE)).length, 1);
    assert.match(regressions({ 'a-b': { mape: 1, answered: 2 } }, at(0))[0], /1 rows answered/);
    assert.match(regressions({}, at(0.1))[0], /not in the baseline/);
    assert.match(regressions(baseline, new Map())[0], /no complete rows/);
    assert.deepEqual(improvements(baseline, at(0.05)), ['a-b']);
    assert.deepEqual(improvements(baseline, at(0.1)), []);
});

test('a run that took place and is called too large is listed, counted and held against', () => {
    const tight = { fits: false, memory: { device_total_bytes: 102, usable_bytes: 100 } };
    assert.equal(deniesRun(row(), tight), true);
    assert.equal(deniesRun(row(), { ...tight, fits: true }), false);
    assert.equal(deniesRun(row({ metric: 'oom' }), tight), false);

    const at = (denied) => [{ row: row({ row_id: 'M7' }), error: 0, covered: true, denied,
        estimate: tight }];
    const sources = scoreSources(at(true));
    assert.equal(sources.get('a-b').headline.denied, 1);
    assert.match(textReport(at(true), sources), /too large for their devices: 1\nM7 by 2\.0 %$/);
    const baseline = baselineOf(scoreSources(at(false)));
    assert.match(regressions(baseline, sources)[0], /1 runs called too large/);
    assert.deepEqual(improvements(baselineOf(sources), scoreSources(at(false))), ['a-b']);
});

test('a run that ran out of memory is listed with what is answered to it', () => {
    const memory = { device_total_bytes: 95, usable_bytes: 100 };
    const results = [{ fits: false }, { fits: true, fits_certain: false }, { fits: true, fits_certain: true }].map((verdict, at) => ({
        row: row({ row_id: `K${at}`, metric: 'oom' }), error: 0, covered: true, estimate: { ...verdict, memory } }));
    assert.match(textReport(results, scoreSources(results)),
        /ran out of memory: 3\nK0 does not fit \(95\.0 %\), K1 fits, not surely \(95\.0 %\), K2 fits \(95\.0 %\)$/);
});
