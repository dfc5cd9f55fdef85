/** One moment of a step in depth: memory by term, links in use, operators, a second schedule, traces, levels of the map. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { treemap } from '../../static/src/step/sharding/treemap.js';
import { answering, becomes, choose, inTab, openPlan, seen, unfold } from './lib/browser.mjs';
import { threeDigits } from './lib/format.mjs';
import { browser, server } from './lib/here.mjs';
import { drawn, lookOf, openStep, pixel, placesOn, stepReady, stopClock, tone } from './lib/step.mjs';
import { recorded } from './lib/timelines.mjs';

const PLAN = '/?example=llama-70b&nodes=16&seq=8192&gbs=32&attn=flash3&tp=8&sp=1&pp=4&vpp=2';
const GIB = 2 ** 30;

const withStep = async (use, path = PLAN, options = {}) => {
    const { tab, answer, request } = await openPlan(browser, server, path, options);
    try {
        const opened = await openStep(tab);
        await use({ page: tab.page, tab, estimate: answer, request, ...opened });
        await tab.expectClean();
    } finally {
        await tab.close();
    }
};

const asks = async (path, body) => (await fetch(`${server.url}/api/v1/${path}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const rowsOf = (table) => table.locator('tbody tr').evaluateAll((trs) =>
    trs.map((tr) => [...tr.children].map((cell) => {
        const copy = cell.cloneNode(true);
        copy.querySelectorAll('.visually-hidden').forEach((hidden) => hidden.remove());
        return copy.textContent.trim();
    })));
/** What the staircase of a stage says at a moment. */
const keptAt = ({ at_s, bytes }, time_s) => bytes[at_s.findLastIndex((from_s) => from_s <= time_s)] ?? 0;
/** Puts the cursor on a moment of a stage. */
const clickAt = async (page, timeline, stage, time_s) => {
    const on = await placesOn(page, timeline);
    await page.getByTestId('timeline-plot').click({ position: on.point(stage, time_s) });
    await drawn(page);
    return page.getByLabel('Time cursor', { exact: true }).evaluate((slider) => Number(slider.value));
};

describe('memory at the cursor', () => {
    it('is what stays by the estimate, term by term, and the staircase of the timeline', async () => {
        await withStep(async ({ page, timeline, estimate }) => {
            await unfold(page.getByTestId('memory-table'));
            const seenAt = [];
            for (const share of [0.15, 0.5]) {
                const now_s = await clickAt(page, timeline, 0, share * timeline.step_s);
                const rows = await rowsOf(page.getByTestId('memory-table'));
                assert.equal(rows.length, 4);
                estimate.memory.ranks.forEach((rank, stage) => {
                    const stays = rank.terms.filter(({ lifetime }) => ['persistent', 'outside_allocator'].includes(lifetime));
                    const kept = keptAt(timeline.memory[stage], now_s);
                    const [, ...cells] = rows[stage];
                    const together = sum(stays.map(({ bytes }) => bytes)) + kept;
                    assert.equal(cells.at(-3), (kept / GIB).toFixed(1), `kept by stage ${stage} at ${now_s}`);
                    assert.equal(cells.at(-2), (together / GIB).toFixed(1));
                    assert.equal(cells[0], (stays.find(({ name }) => name === 'parameters').bytes / GIB).toFixed(1));
                });
                const bars = page.getByTestId('memory-now').locator('rect[data-term=kept]');
                const bytes = await bars.evaluateAll((rects) => rects.map((rect) => Number(rect.dataset.bytes)));
                assert.deepEqual(bytes, timeline.memory.map((stairs) => keptAt(stairs, now_s)));
                seenAt.push(String(bytes));
            }
            assert.notEqual(seenAt[0], seenAt[1]);
        });
    });

    it('moves with the cursor while the step plays', async () => {
        await withStep(async ({ page }) => {
            const kept = () => page.getByTestId('memory-now').locator('rect[data-term=kept]').first()
                .evaluate((rect) => Number(rect.dataset.bytes));
            assert.equal(await kept(), 0);
            const pass = await stopClock(page);
            await page.getByLabel('Time of the cursor across the view').selectOption('5');
            await page.getByTestId('timeline-plot').focus();
            await page.keyboard.press('Space');
            await pass(2000);
            assert.ok(await kept() > 5 * GIB, `${await kept()} bytes`);
            await page.keyboard.press('Space');
        }, PLAN, { ownClock: true });
    });
});

describe('a link to a moment', () => {
    it('after the end of the step shows the end', async () => {
        const { tab, request } = await openPlan(browser, server, `${PLAN}&view=step&at=99`);
        const { page } = tab;
        await stepReady(page);
        const { end_s } = await asks('timelines?limit=20000', request);
        await becomes(async () => (await seen(page.getByTestId('readout'))).startsWith(`At ${Number(end_s.toPrecision(6))} s`), true);
        await becomes(async () => (await lookOf(page)).at, Number(end_s.toPrecision(12)));
        await tab.expectClean();
        await tab.close();
    });
});

describe('a part without marks', () => {
    it('has no canvas of marks over it, and the one below is filled', async () => {
        await withStep(async ({ page, timeline }) => {
            const shown = () => page.getByTestId('timeline-marks').evaluate((canvas) => getComputedStyle(canvas).visibility);
            assert.equal(await shown(), 'visible', 'the cursor is at the start');
            await page.goto(`${page.url()}&from=${timeline.step_s / 2}&to=${timeline.step_s}`);
            await stepReady(page);
            await becomes(shown, 'hidden');
            await page.getByTestId('timeline-plot').focus();
            await page.keyboard.press('0');
            await becomes(shown, 'visible');
            assert.equal(await page.getByTestId('timeline-lanes').evaluate((canvas) => canvas.getContext('2d').getImageData(0, 0, 1, 1).data[3]), 255);
        });
    });
});

describe('a link to moments that the step does not have', () => {
    /** What the address says once the view is held. */
    const held = async (query) => {
        const { tab, request } = await openPlan(browser, server, `${PLAN}&view=step&${query}`);
        await stepReady(tab.page);
        const { end_s } = await asks('timelines?limit=20000', request);
        const end = String(Number(end_s.toPrecision(12)));
        const now = async () => {
            const { searchParams } = new URL(tab.page.url());
            return ['from', 'to', 'at', 'marks', 'sum'].filter((name) => searchParams.has(name))
                .map((name) => `${name}=${searchParams.get(name).replaceAll(end, 'end')}`).join('&');
        };
        return { tab, now };
    };

    for (const [query, shown, selected] of [
        ['marks=1e9,1e300', 'marks=end,end', 0], ['marks=0.1,9e99&at=1e999', 'marks=0.1,end', 0], ['sum=7e7,9e9', '', 0],
        ['sum=0.1,1e300', 'sum=0.1,end', 1], ['from=0.1&to=1e300', 'from=0.1&to=end', 0], ['from=5e5&to=6e5', '', 0],
    ]) {
        it(`shows what there is of ${query}`, async () => {
            const { tab, now } = await held(query);
            await becomes(now, shown);
            assert.equal(await tab.page.getByTestId('selected').count(), selected);
            assert.doesNotMatch(await seen(tab.page.getByTestId('timeline')), /NaN|Infinity|e\+\d/);
            await tab.expectClean();
            await tab.close();
        });
    }

    it('keeps those that what stands beside has', async () => {
        const { tab, now } = await held('marks=0.1,9e99&beside=/parallelism/schedule=gpipe');
        await tab.page.waitForSelector('[data-testid="beside"][data-phase="done"]');
        await becomes(async () => {
            const [, last] = (await now()).split('marks=0.1,');
            return last === 'end' || Number(last) < 1e4;
        }, true);
        await tab.expectClean();
        await tab.close();
    });
});

describe('links in use', () => {
    it('are told with the communicator, its slowest link, and drawn on the map', async () => {
        await withStep(async ({ page, timeline, sharding }) => {
            const { spans, lanes, kinds } = timeline;
            const gather = spans.kind.findIndex((kind, at) => kinds[kind] === 'gather' && lanes[spans.lane[at]].stage === 0);
            await clickAt(page, timeline, 0, (spans.start_s[gather] + spans.end_s[gather]) / 2);
            const data = sharding.groups.find(({ kind }) => kind === 'data');
            const own = (await rowsOf(page.getByTestId('moving'))).find(([stage]) => stage.startsWith('0'));
            assert.deepEqual(own, [`0 to ${timeline.stages.length - 1}`, 'Gather parameters', 'network of the data group', String(data.size), 'network']);
            const [first, second] = [0, 1].map((at) => sharding.ranks[at * data.stride]);
            assert.notEqual(first.node, second.node, 'below the letters, from node to node');
            const between = [0, 1, 2, 3].map((at) => ({ x: 93 * at + 40, y: 15 + 24 }));
            const line = await Promise.all(between.map((point) => pixel(page, 'map-lit', point)));
            assert.ok(line.some((colour) => colour.some((part) => part > 0)), `a line is drawn: ${JSON.stringify(line)}`);
            const letters = await Promise.all(between.map(({ x }) => pixel(page, 'map-lit', { x, y: 15 + 14 })));
            assert.ok(letters.flat().every((part) => part === 0), `none at the height of the letters: ${JSON.stringify(letters)}`);
        });
    });

    it('of a send are its two ends, not every stage of the pipeline', async () => {
        await withStep(async ({ page, timeline }) => {
            const { spans, lanes, kinds } = timeline;
            const send = spans.kind.findIndex((kind, at) => kinds[kind] === 'send_output' && lanes[spans.lane[at]].stage === 0);
            await clickAt(page, timeline, 0, (spans.start_s[send] + spans.end_s[send]) / 2);
            const own = (await rowsOf(page.getByTestId('moving'))).find(([stage]) => stage === '0');
            assert.equal(own[3], '2');
        });
    });

    it('alike on many stages are told once, with the stages that they are of', async () => {
        await withStep(async ({ page, timeline }) => {
            const { spans, lanes, kinds, stages } = timeline;
            const running = (at_s) => spans.lane.flatMap((lane, at) => (!['compute', 'host'].includes(lanes[lane].stream)
                && spans.start_s[at] <= at_s && at_s < spans.end_s[at] ? [{ kind: kinds[spans.kind[at]], stage: lanes[lane].stage }] : []));
            const gathers = spans.kind.flatMap((kind, at) => (kinds[kind] === 'gather' ? [(spans.start_s[at] + spans.end_s[at]) / 2] : []));
            const on_s = gathers.find((at_s) => running(at_s).length === stages.length && running(at_s).every(({ kind }) => kind === 'gather'));
            await clickAt(page, timeline, 0, on_s);
            assert.deepEqual((await rowsOf(page.getByTestId('moving'))).map(([stage, does]) => [stage, does]), [[`0 to ${stages.length - 1}`, 'Gather parameters']]);
        });
    });

    it('are none while all compute, which is said', async () => {
        await withStep(async ({ page, timeline }) => {
            const { spans, lanes } = timeline;
            const linked = spans.lane.flatMap((lane, at) => (['compute', 'host'].includes(lanes[lane].stream) ? [] : [[spans.start_s[at], spans.end_s[at]]]));
            const free = spans.start_s.find((_, at) => {
                const middle = (spans.start_s[at] + spans.end_s[at]) / 2;
                return linked.every(([from, to]) => middle < from - 0.01 || middle > to + 0.01);
            });
            const at = spans.start_s.indexOf(free);
            await clickAt(page, timeline, 0, (free + spans.end_s[at]) / 2);
            assert.match(await seen(page.getByTestId('moving')), /Nothing is on its way/);
        });
    });
});

describe('moments', () => {
    it('A and B are marked with M, told apart, and in the address', async () => {
        await withStep(async ({ page, timeline }) => {
            await page.getByTestId('timeline-plot').focus();
            for (const key of ['ArrowRight', 'm', 'ArrowRight', 'ArrowRight', 'm'])
                await page.keyboard.press(key);
            await lookOf(page);
            const [a_s, b_s] = new URL(page.url()).searchParams.get('marks').split(',').map(Number);
            const { start_s, end_s, lane } = timeline.spans;
            const edges = [...new Set(lane.flatMap((own, at) => (own === 0 ? [start_s[at], end_s[at]] : [])))].filter((edge) => edge > 0).sort((a, b) => a - b);
            assert.deepEqual([a_s, b_s], [edges[0], edges[2]]);
            const text = await seen(page.getByTestId('marked'));
            assert.ok(text.includes(`${threeDigits(1000 * (b_s - a_s))} ms on`), text);
            await page.reload();
            await stepReady(page);
            assert.equal(await seen(page.getByTestId('marked')), text);
            await page.getByRole('button', { name: 'Remove the marks' }).click();
            assert.equal(await page.getByTestId('marked').count(), 0);
            await page.locator('main').focus();
            await page.keyboard.press('?');
            assert.match(await seen(page.getByRole('dialog', { name: 'Keys' })), /TimelineW S Zoom in and out.*M Mark A, then B/, 'with all others');
            await page.keyboard.press('Escape');
        });
    });

    it('what is summed and what is drawn are in the address too, until the plan changes', async () => {
        await withStep(async ({ page, tab }) => {
            await page.getByTestId('timeline-plot').focus();
            for (const key of ['ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight'])
                await page.keyboard.press(key);
            await page.getByLabel('Ring steps').check();
            await page.getByLabel('Show links, copies, host').uncheck();
            const text = await seen(page.getByTestId('selected'));
            const lookOfStep = () => page.evaluate(() => ['sum', 'rings', 'lanes'].map((name) => new URLSearchParams(location.search).get(name)));
            await becomes(async () => (await lookOfStep()).slice(1), ['1', 'compute']);
            const [sum] = await lookOfStep();
            assert.match(sum, /^[0-9.e-]+,[0-9.e-]+$/);
            await page.reload();
            await stepReady(page);
            assert.equal(await seen(page.getByTestId('selected')), text);
            assert.equal(await page.getByLabel('Ring steps').isChecked(), true);
            assert.equal(await page.getByLabel('Show links, copies, host').isChecked(), false);
            await answering(tab, () => choose(page, 'recompute', 'full'));
            await becomes(() => page.getByTestId('selected').count(), 0, 'what was summed of another plan');
            await becomes(lookOfStep, [null, '1', 'compute']);
            await page.goBack();
            await becomes(() => seen(page.getByTestId('selected')), text);
        });
    });

    it('the steady state is told, shown and marked on the mini-map', async () => {
        await withStep(async ({ page, timeline }) => {
            const from_s = Math.max(...timeline.stages.map(({ begin_s }) => begin_s));
            const to_s = Math.min(...timeline.stages.map(({ end_s }) => end_s));
            assert.ok((await seen(page.getByTestId('steady'))).includes(`${(100 * (to_s - from_s) / timeline.step_s).toFixed(1)} % of the step`));
            const { layout, end_s } = await placesOn(page, timeline);
            const under = (time_s) => pixel(page, 'timeline-mini', { x: layout.left + (time_s / end_s) * layout.plot, y: 35 });
            const good = await tone(page, 'good');
            assert.deepEqual(await under((from_s + to_s) / 2), good);
            assert.notDeepEqual(await under(from_s / 2), good);
            await page.getByRole('button', { name: 'Show this steady state' }).click();
            const { from, to } = await lookOf(page);
            assert.ok(Math.abs(from - from_s) < 1e-9 && Math.abs(to - to_s) < 1e-9);
        });
    });
});

describe('two schedules', () => {
    it('share the axis and the cursor, and their differences are named', async () => {
        await withStep(async ({ page, timeline, request, estimate }) => {
            await page.getByLabel('Timeline drawn beside this one').selectOption('/parallelism/schedule=gpipe');
            await page.waitForSelector('[data-testid="beside"][data-phase="done"]');
            const changed = { ...request, parallelism: { ...request.parallelism, schedule: 'gpipe', virtual_pipeline: 1 } };
            const [its, peak] = await Promise.all([asks('timelines', changed), asks('estimates', changed)]);
            const cells = async (id) => (await seen(page.getByTestId(id).locator('td').nth(2)));
            const differs = await cells('differs-step');
            assert.ok(its.step_s > timeline.step_s, 'GPipe is slower here');
            assert.ok(differs.startsWith(`+${(1000 * (its.step_s - timeline.step_s)).toFixed(0)} ms`), differs);
            assert.equal(await cells('differs-idle'), `+${(100 * (its.idle_ratio - timeline.idle_ratio)).toFixed(1)} points`);
            const more = (peak.memory.device_total_bytes - estimate.memory.device_total_bytes) / GIB;
            assert.ok((await cells('differs-peak')).startsWith(`+${more.toFixed(1)} GiB`), await cells('differs-peak'));

            const own = await placesOn(page, timeline);
            const end_s = Math.max(timeline.end_s, its.end_s);
            const forward = its.spans.kind.findIndex((kind, at) => its.kinds[kind] === 'forward' && its.lanes[its.spans.lane[at]].stage === 0);
            const middle_s = (its.spans.start_s[forward] + its.spans.end_s[forward]) / 2;
            const x = own.layout.left + (middle_s / end_s) * own.layout.plot;
            await page.getByTestId('beside-plot').scrollIntoViewIfNeeded();
            assert.deepEqual(await pixel(page, 'beside-lanes', { x, y: 26 }), await tone(page, 'sky'));
            await page.getByTestId('beside-plot').hover({ position: { x, y: 34 } });
            assert.match(await seen(page.getByTestId('beside').getByTestId('tip')), /^Forward of micro-batch 0/);
            await page.getByTestId('beside-plot').click({ position: { x, y: 34 } });
            await drawn(page);
            for (const id of ['timeline-marks', 'beside-marks'])
                assert.deepEqual(await pixel(page, id, { x: Math.round(x) - 1, y: 60 }), await tone(page, 'bad'), `${id} has the cursor`);
            assert.match(page.url() + (await lookOf(page), page.url()), /beside=\/parallelism\/schedule=gpipe/);
            await page.getByTestId('beside').getByRole('button', { name: 'Close' }).click();
            assert.equal(await page.getByTestId('beside').count(), 0);
        });
    });

    it('say what the service refuses of the second, and keep the first', async () => {
        const { tab } = await openPlan(browser, server, '/?example=llama-70b&nodes=16&gbs=32&tp=8&pp=4');
        const { page } = tab;
        await openStep(tab);
        await page.getByLabel('Timeline drawn beside this one').selectOption('/parallelism/schedule=interleaved_1f1b');
        await page.getByTestId('beside').getByTestId('problem').waitFor();
        assert.match(await seen(page.getByTestId('beside')), /\/parallelism\/(schedule|virtual_pipeline)/);
        assert.equal(await page.getByTestId('timeline-plot').count(), 1);
        await tab.expectClean(['422 POST /api/v1/timelines', '422 POST /api/v1/estimates']);
        await tab.close();
    });
});

describe('operators', () => {
    it('come with a narrow view, for the chosen stage and its part of time, and are told under the pointer', async () => {
        await withStep(async ({ page, timeline }) => {
            const isDetail = (request) => request.url().includes('/timelines?') && request.postDataJSON().detail === 'operator';
            const asked = [];
            page.on('request', (request) => { if (isDetail(request)) asked.push(new URL(request.url()).searchParams); });
            await page.getByTestId('timeline-plot').focus();
            const answered = page.waitForResponse((response) => isDetail(response.request())
                && Number(new URL(response.url()).searchParams.get('rank')) === 32);
            for (const key of ['ArrowDown', ']', ']', 'f'])
                await page.keyboard.press(key);
            const detail = await (await answered).json();
            const { from, to } = await lookOf(page);
            const query = asked.at(-1);
            assert.equal(query.get('rank'), '32');
            assert.ok(Number(query.get('from_s')) <= from && Number(query.get('to_s')) >= to);
            assert.ok(Number(query.get('to_s')) - Number(query.get('from_s')) <= 4 * (to - from), 'and not much more');
            const { layout } = await placesOn(page, timeline);
            const widest = detail.spans.operator.map((operator, at) => ({ operator, at, length: detail.spans.end_s[at] - detail.spans.start_s[at] }))
                .filter(({ operator, at }) => operator !== null && detail.spans.start_s[at] > from && detail.spans.end_s[at] < to)
                .sort((a, b) => b.length - a.length)[0];
            const middle_s = (detail.spans.start_s[widest.at] + detail.spans.end_s[widest.at]) / 2;
            const at = { x: layout.left + ((middle_s - from) / (to - from)) * layout.plot, y: layout.details[0].top + 8 };
            await page.getByTestId('timeline-plot').hover({ position: at });
            const text = await seen(page.getByTestId('tip'));
            assert.ok(text.includes(`: ${detail.operators[widest.operator].replaceAll('_', ' ')}`), text);
            assert.ok(text.includes(`layer ${detail.spans.layer[widest.at]}`), text);
            const before = asked.length;
            for (let n = 0; n < 6; n += 1)
                await page.keyboard.press('d');
            await lookOf(page);
            assert.ok(asked.length - before <= 2, `neighbouring views share what was asked: ${asked.length - before}`);
        });
    });

    it('withdraw what an older view asked', async () => {
        await withStep(async ({ page }) => {
            const ends = [];
            await page.route('**/api/v1/timelines?*', (route) => {
                const { searchParams } = new URL(route.request().url());
                return ends.push(searchParams.get('rank')) === 1 ? undefined /* it never comes */ : route.continue();
            });
            const withdrawn = page.waitForEvent('requestfailed');
            await page.getByTestId('timeline-plot').focus();
            for (const key of [']', ']', 'f', 'w'])
                await page.keyboard.press(key);
            await becomes(() => ends.length, 1);
            await page.keyboard.press('ArrowDown');
            assert.equal((await withdrawn).failure().errorText, 'net::ERR_ABORTED');
            await becomes(() => ends, ['0', '32']);
        });
    });

    it('and the steps of rings, where parameters are gathered and reduced', async () => {
        await withStep(async ({ page, timeline }) => {
            const { spans, kinds, lanes } = timeline;
            assert.ok(['gather', 'reduce'].every((name) => spans.kind.some((kind) => kinds[kind] === name)), 'their lanes are there');
            const gather = spans.kind.findIndex((kind, at) => kinds[kind] === 'gather' && lanes[spans.lane[at]].group === 'data'
                && spans.start_s[at] > 0.1 * timeline.step_s);
            await page.getByLabel('Ring steps').check();
            const answered = page.waitForResponse((response) => response.url().includes('rings=true'));
            await clickAt(page, timeline, 0, spans.start_s[gather] + 0.6 * (spans.end_s[gather] - spans.start_s[gather]));
            await page.getByTestId('timeline-plot').focus();
            for (let n = 0; n < 12; n += 1)
                await page.keyboard.press('w');
            await answered;
            const { from, to, at } = await lookOf(page);
            const { layout } = await placesOn(page, timeline);
            const point = { x: layout.left + ((at - from) / (to - from)) * layout.plot, y: layout.details[0].top + 34 };
            await becomes(async () => {
                await page.getByTestId('timeline-plot').hover({ position: { ...point, y: point.y - 3 } });
                await page.getByTestId('timeline-plot').hover({ position: point });
                return await page.getByTestId('tip').count() === 1
                    && /^Gather parameters, step \d+ of the ring/.test(await page.getByTestId('tip').textContent());
            }, true);
        }, '/?example=llama-8b&gbs=64&fw=fsdp2&zero=3&nodes=2');
    });
});

describe('traces', () => {
    it('a recorded one is laid beside the predicted step, by category and by stream', async () => {
        await withStep(async ({ page, estimate }) => {
            await page.getByTestId('trace').locator('input[type=file]').setInputFiles({ name: 'run.pt.trace.json.gz',
                mimeType: 'application/gzip', buffer: gzipSync(JSON.stringify(recorded())) });
            await page.waitForSelector('[data-testid="trace"][data-phase="done"]');
            const text = await seen(page.getByTestId('trace'));
            assert.match(text, /1 step of run\.pt\.trace\.json\.gz/);
            const rows = await rowsOf(page.getByTestId('trace'));
            const row = (name) => rows.find(([first]) => first === name);
            assert.equal(row('step time')[1], '1.00 ms');
            assert.equal(row('step time')[2], `${estimate.time.step_s.toFixed(2)} s`);
            assert.equal(row('products')[1], '300 µs');
            assert.equal(row('all gather')[1], '250 µs');
            const streams = await rowsOf(page.getByTestId('streams'));
            assert.deepEqual(streams.map((cells) => cells.slice(0, 2)), [['0, 7', '400 µs'], ['0, 13', '250 µs']]);
        });
    });

    it('one that is dropped and is none is refused in words', async () => {
        await inTab(browser, server, { path: `${PLAN}&view=step`, faults: ['400 POST /api/v1/timelines:compare'] }, async ({ page }) => {
            await stepReady(page);
            await page.getByTestId('trace').evaluate((section) => {
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File(['{"traceEvents": ['], 'notes.json'));
                section.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
            });
            await page.getByTestId('trace').getByTestId('problem').waitFor();
        });
    });

    it('the predicted one is kept as the file that other tools look for', async () => {
        await withStep(async ({ page }) => {
            let packed = null;
            await page.route('**/api/v1/timelines?limit=1000000', async (route) => {
                const response = await route.fetch();
                packed = await response.body();
                await route.fulfill({ response });
            });
            const download = page.waitForEvent('download');
            await page.getByRole('button', { name: 'Download the trace' }).click();
            assert.equal((await download).suggestedFilename(), 'step.pt.trace.json.gz');
            assert.ok(JSON.parse(gunzipSync(packed)).traceEvents.length > 200);
            await page.getByText('step.pt.trace.json.gz: Perfetto').waitFor();
        });
    });

    it('goes to Perfetto, which knocks back and takes it', async () => {
        const { tab } = await openPlan(browser, server, PLAN);
        const { page, context } = tab;
        await openStep(tab);
        await context.route('https://ui.perfetto.dev/**', (route) => route.fulfill({ contentType: 'text/html', body: `<title>stand-in</title><script>
            addEventListener("message", ({ data, source, origin }) => {
                if (data === "PING") source.postMessage("PONG", origin);
                else document.title = data.perfetto.title + " " + data.perfetto.buffer.byteLength;
            });</script>` }));
        const opened = context.waitForEvent('page');
        await page.getByRole('button', { name: 'Open in Perfetto' }).click();
        const popup = await opened;
        await becomes(async () => /^Shardline: one step \d{4,}$/.test(await popup.title()), true);
        await page.getByText('Handed to Perfetto').waitFor();
        await tab.expectClean();
        await tab.close();
    });
});

describe('the levels of the map', () => {
    it('go from the cluster to a node, to a device and to its tensors, and are in the address', async () => {
        await withStep(async ({ page }) => {
            await page.getByTestId('map').focus();
            await page.keyboard.press('ArrowRight');
            await page.keyboard.press('ArrowRight');
            await page.keyboard.press('Enter');
            await becomes(() => page.getByTestId('map').locator('canvas').first().evaluate((canvas) => canvas.clientHeight < 200), true);
            await lookOf(page);
            assert.equal(new URL(page.url()).searchParams.get('node'), '0');
            await page.getByTestId('map').hover({ position: { x: 64 * 2 + 20, y: 40 } });
            assert.match(await seen(page.getByTestId('map-tip')), /rank 2/);
            const rects = page.getByTestId('areas').locator('rect');
            await becomes(async () => await rects.count() > 100, true);
            const sizes = await rects.evaluateAll((all) => all.map((rect) => rect.getAttribute('width') * rect.getAttribute('height')));
            assert.ok(sizes[0] > sizes.at(-1));
            await rects.first().hover();
            await becomes(async () => /is held by/.test(await seen(page.getByTestId('map-readout'))), true);
            await page.getByTestId('map').focus();
            await page.keyboard.press('Escape');
            await lookOf(page);
            assert.equal(new URL(page.url()).searchParams.get('node'), null);
        });
    });

    it('list every holder of a tensor that was clicked on, with its slice', async () => {
        await withStep(async ({ page, request }) => {
            await page.getByTestId('map').click({ position: { x: 45, y: 25 } });
            const name = 'model.layers.0.self_attn.o_proj.weight';
            await page.getByTestId('tensors').getByRole('button', { name, exact: true }).click();
            const { tensors: [{ shards }] } = await asks(`shardings?tensor=${name}`, request);
            await page.getByTestId('holders').waitFor();
            const rows = await rowsOf(page.getByTestId('holders'));
            assert.deepEqual(rows.map(([slice, , , ranks]) => `${slice} ${ranks}`),
                shards.map(({ slice: [, [begin, end]], ranks }) => `[:, ${begin}:${end}] ${ranks}`));
            await page.getByTestId('map').hover({ position: { x: 10, y: 25 } });
            const [{ slice: [, [begin, end]], bytes }] = shards;
            await becomes(async () => (await seen(page.getByTestId('map-tip')))
                .includes(`${bytes.toLocaleString('en-US')} bytes of the tensor: [:, ${begin}:${end}]`), true);
            await page.getByRole('button', { name: 'Close the holders' }).click();
            assert.equal(await page.getByTestId('holders').count(), 0);
        });
    });

    it('colour by what a device holds at the cursor, in percent of what it may', async () => {
        await withStep(async ({ page, timeline, estimate }) => {
            await page.locator('input[name=map-axis][value=fill]').check();
            const now_s = await clickAt(page, timeline, 0, 0.5 * timeline.step_s);
            const [rank] = estimate.memory.ranks;
            const stays = sum(rank.terms.filter(({ lifetime }) => ['persistent', 'outside_allocator'].includes(lifetime)).map(({ bytes }) => bytes));
            const fill = (100 * (stays + keptAt(timeline.memory[0], now_s))) / estimate.memory.usable_bytes;
            await page.getByTestId('map').hover({ position: { x: 10, y: 25 } });
            assert.ok((await seen(page.getByTestId('map-tip'))).includes(`${fill.toFixed(1)} % of the usable memory`));
            const [full, less] = [await pixel(page, 'map-cells', { x: 4, y: 19 }), await pixel(page, 'map-cells', { x: 4, y: 19 + 2 * 86 })];
            assert.notDeepEqual(full, less, 'the first and a later stage');
        });
    });

    it('say of a group which collectives it runs', async () => {
        await withStep(async ({ page, estimate }) => {
            await page.getByTestId('map').click({ position: { x: 45, y: 25 } });
            const rows = await rowsOf(page.getByTestId('groups'));
            for (const { group, collective } of estimate.communication)
                assert.ok(rows.find(([name]) => name === group)[4].includes(collective.replaceAll('_', ' ')), `${group} ${collective}`);
        });
    });
});

describe('areas', () => {
    it('are in proportion, within the frame and apart', () => {
        const sizes = [60, 30, 20, 20, 10, 5, 5, 1, 1, 0.5];
        const boxes = treemap(sizes, 300, 150);
        const scale = (300 * 150) / sum(sizes);
        boxes.forEach(({ x, y, width, height }, at) => {
            assert.ok(Math.abs(width * height - sizes[at] * scale) < 1e-6);
            assert.ok(x >= -1e-9 && y >= -1e-9 && x + width <= 300 + 1e-6 && y + height <= 150 + 1e-6);
            for (const other of boxes.slice(at + 1)) {
                const across = Math.min(x + width, other.x + other.width) - Math.max(x, other.x);
                const down = Math.min(y + height, other.y + other.height) - Math.max(y, other.y);
                assert.ok(across <= 1e-6 || down <= 1e-6, `${at} overlaps`);
            }
        });
        assert.deepEqual(treemap([], 10, 10), []);
    });
});
