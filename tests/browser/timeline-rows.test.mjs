/** The timeline and the map as figures, without a browser: windows, merging, sums, cells, sets of ranks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { panned, showing, zoomed } from '../../static/src/step/window.js';
import { countOf, eachRank, groupOf, runsOf } from '../../static/src/step/sharding/rank-sets.js';
import { cellAt, cellsOf, neighbour } from '../../static/src/step/sharding/cells.js';
import { axisTimes } from '../../static/src/step/timeline/axis.js';
import { bytesAt, fillRuns, kindAt, runsFor, spanAt, timelineOf, visible } from '../../static/src/step/timeline/rows.js';
import { busyTimes, commonLength, lengthOf, sumsOf } from '../../static/src/step/timeline/sums.js';
import { madeTimeline } from './lib/timelines.mjs';

const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${what}: ${a}, not ${b}`);

/** A timeline of one lane. @param {[number, number, number][]} spans  kind, start, end */
function laneOf(spans, kinds = 3) {
    const column = (read) => spans.map(read);
    return timelineOf({
        step_s: 10, end_s: 10, kinds: Array.from({ length: kinds }, (_, kind) => `k${kind}`), stages: [], memory: [],
        lanes: [{ rank: 0, stage: 0, stream: 'compute' }],
        spans: { lane: column(() => 0), kind: column(([kind]) => kind), microbatch: column(() => null), chunk: column(() => null), layer: column(() => null),
            operator: column(() => null), step: column(() => null),
            start_s: column(([, start]) => start), end_s: column(([, , end]) => end) },
    }).rows[0];
}

/** Small numbers that are the same in every run. */
function* numbers(seed) {
    let state = seed;
    for (;;) {
        state = (state * 1103515245 + 12345) % 2147483648;
        yield state / 2147483648;
    }
}

describe('a row', () => {
    it('knows its spans by start, though they came in any order', () => {
        const row = laneOf([[1, 4, 5], [0, 0, 2], [2, 2, 3]]);
        assert.deepEqual([...row.start_s], [0, 2, 4]);
        assert.deepEqual([...row.kind], [0, 2, 1]);
        assert.deepEqual([...row.microbatch], [-1, -1, -1]);
    });

    it('has in a window what the window cuts, also a long span that began before shorter ones', () => {
        const row = laneOf([[0, 0, 9], [1, 1, 2], [2, 3, 4]]);
        assert.deepEqual(visible(row, 5, 6), [0, 3], 'spans that overlap stay in order');
        assert.deepEqual(visible(laneOf([[0, 0, 1], [1, 2, 3], [2, 4, 5]]), 1.5, 3.5), [1, 2]);
        assert.equal(spanAt(row, 3.5), 2);
        assert.equal(spanAt(row, 5), 0);
        assert.equal(spanAt(row, 9), -1);
        assert.equal(spanAt(row, -1), -1);
    });

    it('at a moment is the span that a search one by one finds', () => {
        const next = numbers(7);
        const spans = [];
        for (let at = 0, now = 0; at < 300; at += 1) {
            const start = now + next.next().value * 0.02;
            now = start + next.next().value * 0.03;
            spans.push([at % 3, start, now]);
        }
        const row = laneOf(spans);
        for (let at = 0; at < 500; at += 1) {
            const time = next.next().value * 10;
            assert.equal(spanAt(row, time), spans.findIndex(([, start, end]) => start <= time && time < end));
        }
    });
});

describe('merging', () => {
    const merge = (row, from, to, width) => {
        const runs = runsFor(width, 3);
        fillRuns(row, from, to, width, runs);
        return Array.from({ length: runs.count }, (_, at) => [runs.from[at], runs.to[at], runs.kind[at], runs.span[at]]);
    };

    it('gives a pixel column to the kind that covers most of it', () => {
        assert.deepEqual(merge(laneOf([[0, 0, 0.3], [1, 0.3, 1]]), 0, 10, 10), [[0, 1, 1, -1]]);
        assert.deepEqual(merge(laneOf([[0, 0, 0.2], [1, 0.2, 0.5], [0, 0.5, 0.7]]), 0, 10, 10), [[0, 1, 0, -1]]);
    });

    it('gives it to the first kind of those that cover as much, whichever comes first', () => {
        for (const spans of [[[1, 0, 0.5], [0, 0.5, 1]], [[0, 0, 0.5], [1, 0.5, 1]]])
            assert.deepEqual(merge(laneOf(spans), 0, 10, 10), [[0, 1, 0, -1]]);
    });

    it('shows a column the paler the less of it is covered, in all by whatever kinds', () => {
        const shades = (spans, width) => {
            const runs = runsFor(width, 3);
            fillRuns(laneOf(spans), 0, 10, width, runs);
            return [...runs.shade.subarray(0, runs.count)];
        };
        assert.deepEqual(shades([[0, 0, 0.3], [1, 0.3, 1]], 10), [255]);
        const [sparse, half, full] = shades([[0, 0, 0.05], [0, 1.2, 1.4], [1, 1.6, 1.9], [0, 2, 5]], 10);
        assert.ok(sparse >= 85 && sparse < half && half < full, `${sparse} ${half} ${full}`);
        assert.equal(full, 255);
    });

    it('keeps a wide span to itself, for its edge and its letter', () => {
        assert.deepEqual(merge(laneOf([[0, 0, 4], [1, 4, 8]]), 0, 8, 80).filter(([, , , span]) => span >= 0),
            [[1, 40, 0, 0], [41, 80, 1, 1]]);
    });

    it('never has two runs in a column, none out of the window, and leaves gaps empty', () => {
        const next = numbers(3);
        for (let round = 0; round < 200; round += 1) {
            const spans = Array.from({ length: 60 }, () => {
                const start = next.next().value * 10;
                return [Math.floor(next.next().value * 3), start, start + next.next().value ** 4 * 3];
            });
            const row = laneOf(spans);
            const from = next.next().value * 5;
            const to = from + 0.05 + next.next().value * 5;
            const width = 1 + Math.floor(next.next().value * 300);
            let last = 0;
            for (const [start, end] of merge(row, from, to, width)) {
                assert.ok(start >= last && end > start && end <= width, `${start} to ${end} after ${last} of ${width}`);
                last = end;
                const left = from + (start / width) * (to - from);
                const right = from + (end / width) * (to - from);
                assert.ok(spans.some(([, a, b]) => b > left - 1e-9 && a < right + 1e-9), 'something is there');
            }
        }
    });

    it('of 100,000 spans in 64 rows takes a small part of a frame', (t) => {
        const next = numbers(1);
        const rows = Array.from({ length: 64 }, () => {
            const spans = [];
            for (let at = 0, now = 0; at < 1563; at += 1) {
                const start = now + next.next().value * 0.002;
                now = start + next.next().value * 0.008;
                spans.push([at % 3, start, now]);
            }
            return laneOf(spans);
        });
        const runs = runsFor(1400, 3);
        const draw = (from, to) => rows.forEach((row) => fillRuns(row, from, to, 1400, runs));
        for (const [what, from, to] of [['whole', 0, 10], ['ten times closer', 4, 5]]) {
            for (let warm = 0; warm < 30; warm += 1)
                draw(from, to);
            // Time of the processor, so that what else the machine does counts little.
            const begin = process.cpuUsage();
            for (let turn = 0; turn < 21; turn += 1)
                draw(from, to);
            const { user, system } = process.cpuUsage(begin);
            const each_ms = (user + system) / 1000 / 21;
            t.diagnostic(`${what}: ${each_ms.toFixed(2)} ms`);
            assert.ok(each_ms < 16, `${what} takes ${each_ms} ms`);
        }
    });
});

describe('the sums of a part', () => {
    const answer = madeTimeline();
    const timeline = timelineOf(answer);
    const total = (kind) => answer.spans.kind.reduce((sum, own, at) =>
        sum + (own === kind ? answer.spans.end_s[at] - answer.spans.start_s[at] : 0), 0);

    it('over the whole step are those of the service', () => {
        const sums = sumsOf(timeline, 0, timeline.end_s);
        near(sums.busy_s, answer.stages.reduce((sum, { busy_s }) => sum + busy_s, 0), 'busy');
        near(sums.busy_s + sums.idle_s, 4 * answer.step_s, 'busy and idle');
        for (const { kind, seconds } of sums.kinds)
            near(seconds, total(kind), answer.kinds[kind]);
        assert.ok(sums.exposed_s > 0 && sums.exposed_s < total(2) + total(3), 'some of it is hidden');
    });

    it('of two halves are those of the whole', () => {
        const whole = sumsOf(timeline, 0, timeline.end_s);
        const halves = [sumsOf(timeline, 0, 0.123), sumsOf(timeline, 0.123, timeline.end_s)];
        for (const name of ['busy_s', 'idle_s', 'exposed_s', 'whole_s'])
            near(halves[0][name] + halves[1][name], whole[name], name);
    });

    it('count waiting as idle', () => {
        const kinds = answer.kinds.map((kind) => (kind === 'optimizer' ? 'overhead' : kind));
        const waits = sumsOf(timelineOf({ ...answer, kinds }), 0, timeline.end_s);
        near(waits.busy_s, sumsOf(timeline, 0, timeline.end_s).busy_s - total(4), 'busy');
        near(waits.idle_s, waits.whole_s - waits.busy_s, 'idle');
    });

    it('count communication as exposed only where nothing computes', () => {
        assert.deepEqual(busyTimes([laneOf([[0, 0, 2], [0, 1, 3], [0, 5, 6]])], 0.5, 5.5), [0.5, 3, 5, 5.5]);
        near(lengthOf([0.5, 3, 5, 5.5]), 3, 'length');
        near(commonLength([0, 4, 6, 8], [1, 2, 3, 7]), 3, 'both');
    });

    it('know what a stage does, and what it keeps, at a moment', () => {
        const rows = timeline.rowsOfStage.get(0);
        assert.equal(answer.kinds[kindAt(rows, 0.005)], 'forward');
        assert.equal(kindAt(rows, timeline.end_s), -1);
        const stairs = timeline.stairsOfStage.get(0);
        assert.equal(bytesAt(stairs, 0), 0);
        assert.equal(bytesAt(stairs, answer.memory[0].at_s[2]), answer.memory[0].bytes[2]);
        assert.equal(Math.max(...stairs.bytes), 12e9, 'four micro-batches are in flight on the first of four stages');
    });
});

describe('the window', () => {
    it('zooms about a moment, which stays where it is', () => {
        const [from, to] = zoomed([2, 6], 3, 0.5, 10);
        near((3 - from) / (to - from), 0.25, 'share of the view');
        near(to - from, 2, 'length');
    });

    it('never leaves the step, nor turns inside out', () => {
        assert.deepEqual(zoomed([2, 6], 3, 100, 10), [0, 10]);
        assert.deepEqual(panned([2, 6], -5, 10), [0, 4]);
        assert.deepEqual(panned([2, 6], 50, 10), [6, 10]);
        const [from, to] = zoomed([5, 5.00002], 5, 1e-9, 10);
        assert.ok(to > from && from >= 0);
        assert.deepEqual(showing([2, 6], 4, 10), [2, 6]);
        assert.deepEqual(showing([2, 4], 5, 10), [5, 7]);
    });

    it('has round times with as many digits as tell them apart', () => {
        assert.deepEqual(axisTimes([0, 1], 4).map(({ text }) => text), ['0.0 s', '0.5 s', '1.0 s']);
        assert.deepEqual(axisTimes([1.0001, 1.0003], 2).map(({ text }) => text), ['1000.1 ms', '1000.2 ms', '1000.3 ms']);
    });
});

describe('the cells', () => {
    const placesOf = (nodes, perNode) => Array.from({ length: nodes * perNode }, (_, rank) =>
        ({ rank, node: Math.floor(rank / perNode), local_rank: rank % perNode, coordinates: { data: rank } }));

    for (const [nodes, perNode, width] of [[1, 8, 900], [16, 8, 900], [2048, 8, 1000], [64, 72, 700], [3, 1, 300]]) {
        it(`of ${nodes} nodes of ${perNode} are each found where they are drawn`, () => {
            const places = placesOf(nodes, perNode);
            const cells = cellsOf(places, width);
            const seen = new Set();
            for (let at = 0; at < places.length; at += 1) {
                assert.equal(cellAt(cells, cells.x[at] + 0.5, cells.y[at] + 0.5), at);
                assert.ok(cells.x[at] + cells.cell <= width + 1 && cells.y[at] + cells.cell <= cells.height);
                seen.add(`${cells.x[at]} ${cells.y[at]}`);
            }
            assert.equal(seen.size, places.length, 'no two stand in one place');
            assert.equal(cellAt(cells, -1, 5), -1);
            assert.equal(cellAt(cells, 5, cells.height + 5), -1);
        });
    }

    it('of one node have room, be it all there is or one of many', () => {
        assert.deepEqual([cellsOf(placesOf(1, 8), 900).cell, cellsOf(placesOf(16, 8), 900, 3).cell, cellsOf(placesOf(1, 8), 200).cell], [64, 64, 46]);
    });

    it('become pixels before the map grows out of the screen', () => {
        const cells = cellsOf(placesOf(2048, 8), 1000);
        assert.ok(cells.cell <= 4 && cells.height <= 400, `${cells.cell} pixels, ${cells.height} high`);
    });

    it('have neighbours where the arrow keys go', () => {
        const cells = cellsOf(placesOf(2, 8), 900);
        assert.equal(neighbour(cells, 0, 1, 0), 1);
        assert.equal(neighbour(cells, 0, 0, 1), 4);
        assert.equal(neighbour(cells, 3, 1, 0), 8, 'on to the next node');
        assert.equal(neighbour(cells, 0, -1, 0), 0);
    });
});

describe('a set of ranks', () => {
    it('is told in order, neighbours by the first and the last', () => {
        assert.deepEqual([[], [7], [3, 1, 2], [0, 1, 5, 9, 8, 9]].map(runsOf), ['', '7', '1 to 3', '0 to 1, 5, 8 to 9']);
    });

    const all = (text) => {
        const found = [];
        eachRank(text, (rank) => found.push(rank));
        return found;
    };

    it('is read as the service writes it', () => {
        assert.deepEqual(all('0-2,7'), [0, 1, 2, 7]);
        assert.deepEqual(all('1-17:8,4'), [1, 9, 17, 4]);
        assert.deepEqual(all(''), []);
        assert.equal(countOf('0-16383'), 16384);
    });

    it('tells the group of a rank', () => {
        const data = { size: 4, stride: 8, starts: '0-7,32-39' };
        assert.deepEqual(groupOf(data, 17), [1, 9, 17, 25]);
        assert.deepEqual(groupOf(data, 40), [32, 40, 48, 56]);
        assert.deepEqual(groupOf({ size: 2, stride: 1, starts: '0' }, 5), []);
    });
});
