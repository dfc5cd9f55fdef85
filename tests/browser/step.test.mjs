/** The timeline and the sharding map: what they draw, what hands and keys do, and the same in words. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, choose, clickAtOnce, fitsAcross, inTab, openPlan, openTab, seen, told, type, unfold } from './lib/browser.mjs';
import { threeDigits } from './lib/format.mjs';
import { browser, server } from './lib/here.mjs';
import { drawn, lookOf, openStep, pixel, placesOn, stepReady, stopClock, tone } from './lib/step.mjs';
import { madeTimeline, recorded } from './lib/timelines.mjs';

const start = (tab, id = 'llama-70b') => answering(tab, () => tab.page.click(`[data-example="${id}"]`));

/** Four stages of two chunks, and few micro-batches: spans wide enough to be told apart. */
const PLAN = '/?example=llama-70b&nodes=16&seq=8192&gbs=32&attn=flash3&tp=8&sp=1&pp=4&vpp=2';

const withStep = async (use, options = {}) => {
    const { tab } = await openPlan(browser, server, PLAN, options);
    try {
        await use(tab.page, await openStep(tab), tab);
        await tab.expectClean();
    } finally {
        await tab.close();
    }
};

/** Numbers of the spans of a kind on a stage, by start. */
const spansOf = ({ kinds, lanes, spans }, kind, stage) => spans.kind.flatMap((own, at) =>
    (kinds[own] === kind && lanes[spans.lane[at]].stage === stage ? [at] : []))
    .sort((a, b) => spans.start_s[a] - spans.start_s[b]);

/** When the computing of a stage begins or ends something, after the start. */
const edgesOf = ({ lanes, spans }, stage) => [...new Set(spans.lane.flatMap((lane, at) =>
    (lanes[lane].stage === stage && lanes[lane].stream === 'compute' ? [spans.start_s[at], spans.end_s[at]] : [])))]
    .filter((edge_s) => edge_s > 0).sort((a, b) => a - b);
const exact = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 6 });
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const TONES = { forward: 'sky', backward: 'blue', optimizer: 'green' };

describe('the second view', () => {
    it('is loaded when it is opened, and asks for the plan of the page', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const scripts = [];
            page.on('request', (request) => {
                if (request.url().endsWith('.js'))
                    scripts.push(request.url());
            });
            const { request } = await start(tab);
            const opened = await openStep(tab);
            assert.equal(scripts.filter((url) => url.includes('/rest-')).length, 1);
            assert.deepEqual(opened.request, request);
        });
    });

    it('leaves the first screen under 60 kB of script and the whole page under 120 kB, packed', async () => {
        const packed = (page) => page.evaluate(() => performance.getEntriesByType('resource')
            .filter(({ name }) => name.endsWith('.js')).reduce((total, { encodedBodySize }) => total + encodedBodySize, 0));
        await withStep(async (page) => {
            const all = await packed(page);
            const { url } = server;
            const html = await (await fetch(url)).text();
            const named = [...html.matchAll(/"(\/assets\/[^"]+\.js)"/g)].map((match) => match[1]);
            const first = await page.evaluate((names) => performance.getEntriesByType('resource')
                .filter(({ name }) => names.includes(new URL(name).pathname))
                .reduce((total, { encodedBodySize }) => total + encodedBodySize, 0), named);
            assert.ok(first > 10_000 && first <= 60_000, `first ${first}`);
            assert.ok(all > first && all <= 120_000, `all ${all}`);
        });
    });

    it('is in the address: back closes it, a reload shows the same', async () => {
        await withStep(async (page) => {
            await page.getByTestId('timeline-plot').focus();
            await page.keyboard.press('w');
            await page.keyboard.press('ArrowDown');
            await page.keyboard.press('ArrowRight');
            await page.locator('input[name=map-axis][value=tensor]').check();
            await page.getByTestId('map').click({ position: { x: 10, y: 25 } });
            await page.getByTestId('tensors').locator('input').fill('*q_proj*');
            await clickAtOnce(page, 'input[name=map-axis][value=pipeline]', '.tools button:nth-child(3)', 'input[name=map-axis][value=tensor]');
            await told(page, 'Link copied');
            assert.match(await page.evaluate(() => navigator.clipboard.readText()), /&by=pipeline/, 'what was just chosen');
            const before = await lookOf(page);
            assert.equal(before.stage, 1);
            assert.ok(before.from !== null && before.at > 0);
            const readout = await seen(page.getByTestId('readout'));
            await page.reload();
            await stepReady(page);
            assert.deepEqual(await lookOf(page), before);
            assert.equal(await seen(page.getByTestId('readout')), readout);
            assert.equal(await page.locator('input[name=map-axis]:checked').inputValue(), 'tensor');
            await becomes(() => page.getByTestId('tensors').locator('tbody tr').count(), 20);
            await page.goBack();
            await page.getByTestId('memory').waitFor();
            assert.equal(await page.getByTestId('timeline').count(), 0);
        });
    });

    it('never shows a timeline of an older plan, and forgets its times', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab);
            await openStep(tab);
            await page.getByTestId('timeline-plot').focus();
            await page.keyboard.press('w');
            const answers = [madeTimeline({ microbatches: 16 }), madeTimeline({ microbatches: 24 })];
            const asked = [];
            let come;
            const late = new Promise((resolve) => { come = resolve; });
            const first = page.waitForRequest('**/api/v1/timelines?*');
            await page.route('**/api/v1/timelines?*', async (route) => {
                const number = asked.push(route.request().postDataJSON()) - 1;
                if (number === 0)
                    await late;
                await route.fulfill({ json: answers[number] }).catch(() => {}); /* withdrawn */
            });
            await answering(tab, () => choose(page, 'recompute', 'full'));
            await becomes(() => asked.length, 1);
            await answering(tab, () => choose(page, 'recompute', 'none'));
            await stepReady(page);
            come();
            assert.equal(await (await first).response(), null, 'it was withdrawn');
            await drawn(page);
            assert.deepEqual(asked.map(({ workload }) => workload.recompute), ['full', 'none']);
            const head = await seen(page.getByTestId('timeline').locator('.panel-head'));
            assert.ok(head.includes((answers[1].step_s).toFixed(2)) || head.includes((1000 * answers[1].step_s).toFixed(0)), head);
            assert.equal((await lookOf(page)).from, null);
        });
    });

    it('of a plan without an answer says that once, and draws when it has one', async () => {
        await inTab(browser, server, { path: '/?example=llama-8b&nodes=1&tp=7&view=step', faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            await page.locator('#view .unanswered').waitFor();
            assert.equal(await page.getByTestId('problem').count(), 0);
            await answering(tab, () => page.getByRole('button', { name: 'Reset the parallelism' }).click());
            await stepReady(page);
        });
    });

    it('says what the service refuses, and draws again when that is mended', async () => {
        const faults = ['422 POST /api/v1/timelines'];
        await inTab(browser, server, { faults }, async (tab) => {
            const { page } = tab;
            await start(tab);
            await openStep(tab);
            const errors = [{ pointer: '/parallelism/schedule', code: 'not_simulated', detail: 'is not simulated yet' }];
            await page.route('**/api/v1/timelines?*', (route) => route.fulfill({ status: 422,
                contentType: 'application/problem+json',
                body: JSON.stringify({ type: '/problems/validation', title: 'Not possible', status: 422, detail: '', errors }) }));
            await answering(tab, () => choose(page, 'recompute', 'full'));
            await becomes(() => page.getByTestId('timeline').getByTestId('problem').count(), 1);
            assert.match(await seen(page.getByTestId('timeline')), /Not possible.*\/parallelism\/schedule is not simulated yet/);
            assert.equal(await page.getByTestId('sharding').getByTestId('problem').count(), 0);
            await page.unroute('**/api/v1/timelines?*');
            await answering(tab, () => choose(page, 'recompute', 'none'));
            await stepReady(page);
            assert.ok(await page.getByTestId('timeline-lanes').evaluate((canvas) => canvas.width) > 300);
        });
    });
});

describe('the timeline', () => {
    for (const colorScheme of ['light', 'dark']) {
        it(`draws every wide span in the colour of its kind, and nothing where nothing runs: ${colorScheme}`, async () => {
            await withStep(async (page, { timeline }) => {
                const on = await placesOn(page, timeline);
                let checked = 0;
                for (const [kind, name] of Object.entries(TONES)) {
                    const expected = await tone(page, name);
                    for (const at of [0, 1, 2, 3].flatMap((stage) => spansOf(timeline, kind, stage).slice(0, 4))) {
                        if (on.length(at) < 5)
                            continue;
                        const { x, y } = on.middle(at);
                        // The letter stands in the middle; the colour a little above it.
                        assert.deepEqual(await pixel(page, 'timeline-lanes', { x, y: y - 9 }), expected, `${kind} ${at}`);
                        checked += 1;
                    }
                }
                assert.ok(checked >= 30, `${checked} spans`);
                const raised = await tone(page, 'raised');
                const waits = on.point(3, timeline.stages[3].begin_s / 2);
                assert.deepEqual(await pixel(page, 'timeline-lanes', waits), raised, 'the last stage waits');
            }, { colorScheme });
        });
    }

    it('shows the memory of the chosen stage as stairs on the same axis', async () => {
        await withStep(async (page, { timeline }) => {
            const { layout, end_s } = await placesOn(page, timeline);
            const orange = await tone(page, 'orange');
            const { bytes, at_s } = timeline.memory[0];
            const most = Math.max(...bytes);
            const perSecond = layout.plot / end_s;
            const wide = at_s.flatMap((from_s, at) => ((at_s[at + 1] - from_s) * perSecond > 8 && bytes[at] > 0 ? [at] : []));
            assert.ok(wide.length > 10, `${wide.length} steps`);
            for (const at of wide) {
                const x = layout.left + ((at_s[at] + at_s[at + 1]) / 2) * perSecond;
                const top = layout.stairsEnd - (bytes[at] / (1.1 * most)) * (layout.stairsEnd - layout.stairsTop);
                assert.deepEqual(await pixel(page, 'timeline-lanes', { x, y: top + 3 }), orange, `below step ${at}`);
                assert.notDeepEqual(await pixel(page, 'timeline-lanes', { x, y: top - 3 }), orange, `above step ${at}`);
            }
        });
    });

    it('shows the letters of both marks, however near they are', async () => {
        await withStep(async (page, { timeline }) => {
            const { layout, end_s } = await placesOn(page, timeline);
            await page.getByTestId('timeline-plot').focus();
            await page.keyboard.press('ArrowRight');
            for (let mark = 0; mark < 2; mark += 1)
                await page.keyboard.press('m');
            await page.waitForURL(/[?&]marks=/);
            const [at_s] = new URL(page.url()).searchParams.get('marks').split(',');
            const x = Math.round(layout.left + (Number(at_s) / end_s) * layout.plot) + 1;
            const accent = await tone(page, 'accent');
            for (const up of [12, 25])
                await becomes(() => pixel(page, 'timeline-marks', { x, y: layout.stairsEnd - up }), accent);
        });
    });

    it('tells the exact figures of the span under the pointer', async () => {
        await withStep(async (page, { timeline }) => {
            const on = await placesOn(page, timeline);
            const plot = page.getByTestId('timeline-plot');
            for (const [kind, stage, number] of [['forward', 0, 5], ['backward', 2, 3], ['optimizer', 3, 0]]) {
                const at = spansOf(timeline, kind, stage)[number];
                await plot.hover({ position: on.middle(at) });
                const text = await seen(page.getByTestId('tip'));
                const { start_s, end_s, microbatch } = timeline.spans;
                assert.ok(text.toLowerCase().includes(kind), text);
                assert.ok(text.includes(`${exact(end_s[at] - start_s[at])} s, from ${exact(start_s[at])} to ${exact(end_s[at])} s`), text);
                assert.ok(text.includes(`stage ${stage}, compute, rank ${timeline.stages[stage].rank}`), text);
                const { chunk } = timeline.spans;
                assert.equal(text.includes(`micro-batch ${microbatch[at]}, chunk ${chunk[at]}`), microbatch[at] !== null, text);
            }
            await page.mouse.move(5, 5);
            await becomes(() => page.getByTestId('tip').count(), 0);
        });
    });

    it('zooms at the pointer with Ctrl and the wheel, pans with a drag', async () => {
        await withStep(async (page, { timeline }) => {
            const { layout, end_s } = await placesOn(page, timeline);
            const box = await page.getByTestId('timeline-plot').boundingBox();
            const share = 0.25;
            await page.mouse.move(box.x + layout.left + share * layout.plot, box.y + 60);
            await page.keyboard.down('Control');
            await page.mouse.wheel(0, -200);
            await page.keyboard.up('Control');
            const near = await lookOf(page);
            assert.ok(near.to - near.from < 0.6 * end_s, 'closer');
            assert.ok(Math.abs(near.from + share * (near.to - near.from) - share * end_s) < 1e-3 * end_s,
                'the moment under the pointer stays');
            await page.mouse.down();
            await page.mouse.move(box.x + layout.left + share * layout.plot - 120, box.y + 60, { steps: 4 });
            await page.mouse.up();
            const moved = await lookOf(page);
            const expected = (120 / layout.plot) * (near.to - near.from);
            assert.ok(Math.abs(moved.from - near.from - expected) < 1e-6, `${moved.from - near.from}, not ${expected}`);
            assert.ok(Math.abs((moved.to - moved.from) - (near.to - near.from)) < 1e-9);
            await page.mouse.wheel(0, 50);
            assert.deepEqual((await lookOf(page)).from, moved.from, 'the wheel alone scrolls the page');
            await page.getByRole('button', { name: 'Whole step' }).click();
            assert.equal((await lookOf(page)).from, null);
        });
    });

    it('zooms with two fingers', async () => {
        await withStep(async (page, { timeline }, { context }) => {
            const { layout, end_s } = await placesOn(page, timeline);
            const box = await page.getByTestId('timeline-plot').boundingBox();
            const fingers = await context.newCDPSession(page);
            const middle = box.x + layout.left + layout.plot / 2;
            const touch = (type, apart) => fingers.send('Input.dispatchTouchEvent', { type, touchPoints: apart === 0 ? []
                : [-1, 1].map((side, id) => ({ x: middle + (side * apart) / 2, y: box.y + 70, id })) });
            await touch('touchStart', 100);
            for (const apart of [120, 150, 200])
                await touch('touchMove', apart);
            await touch('touchEnd', 0);
            const { from, to } = await lookOf(page);
            assert.ok(Math.abs((to - from) / end_s - 0.5) < 0.02, `${(to - from) / end_s}`);
            assert.ok(Math.abs((from + to) / 2 - end_s / 2) < 0.02 * end_s);
        });
    });

    it('is worked by keys alone', async () => {
        await withStep(async (page, { timeline }) => {
            const { spans } = timeline;
            const { end_s } = await placesOn(page, timeline);
            await page.getByTestId('timeline-plot').focus();
            const press = async (...keys) => {
                for (const key of keys)
                    await page.keyboard.press(key);
                return lookOf(page);
            };
            const near = (a, b, what) => assert.ok(Math.abs(a - b) < 1e-7, `${what}: ${a}, not ${b}`);
            const zoomed = await press('w', 'w');
            near(zoomed.to - zoomed.from, end_s / 2.25, 'two steps closer');
            const panned = await press('d');
            near(panned.from - zoomed.from, 0.15 * (zoomed.to - zoomed.from), 'to the right');
            assert.deepEqual(await press('a'), { ...zoomed, from: (await lookOf(page)).from }, 'and back');
            assert.equal((await press('0')).from, null);
            const forwards = spansOf(timeline, 'forward', 0);
            const edges = edgesOf(timeline, 0);
            near((await press('ArrowRight')).at, edges[0], 'the next edge');
            assert.equal(edges[0], spans.start_s[forwards[0]]);
            near((await press(']', ']')).at, spans.start_s[forwards[2]], 'the next micro-batch');
            near((await press('[')).at, spans.start_s[forwards[1]], 'the one before');
            const focused = await press('f');
            near(focused.to - focused.from, 1.2 * (spans.end_s[forwards[1]] - spans.start_s[forwards[1]]), 'the span fills the view');
            assert.equal((await press('ArrowDown', 'ArrowDown', 'ArrowUp')).stage, 1);
            near((await press('End')).at, end_s, 'the end');
            assert.equal((await press('Home')).at, null);
            await press('0', 'ArrowUp', 'Shift+ArrowRight', 'Shift+ArrowRight');
            assert.ok((await seen(page.getByTestId('selected'))).startsWith(`${threeDigits(1000 * edges[1])} ms selected`));
            await press('Escape');
            assert.equal(await page.getByTestId('selected').count(), 0);
        });
    });

    it('says which layer a pass is of, where a stage is simulated layer by layer', async () => {
        const { tab } = await openPlan(browser, server, '/?example=llama-8b&gbs=8&tp=2&sp=1');
        const { timeline } = await openStep(tab);
        const on = await placesOn(tab.page, timeline);
        const at = spansOf(timeline, 'backward', 0)[7];
        await tab.page.getByTestId('timeline-plot').hover({ position: on.middle(at) });
        const { microbatch, layer } = timeline.spans;
        assert.ok((await seen(tab.page.getByTestId('tip'))).startsWith(`Backward of micro-batch ${microbatch[at]}, layer ${layer[at]}`));
        await tab.expectClean();
        await tab.close();
    });

    it('sums a part that Shift and a drag select', async () => {
        await withStep(async (page, { timeline }) => {
            const { layout, end_s: length_s } = await placesOn(page, timeline);
            const box = await page.getByTestId('timeline-plot').boundingBox();
            await page.keyboard.down('Shift');
            await page.mouse.move(box.x + layout.left + 1, box.y + 60);
            await page.mouse.down();
            await page.mouse.move(box.x + box.width - 1, box.y + 60, { steps: 3 });
            await page.mouse.move(box.x + box.width + 60, box.y + 60);
            await page.mouse.up();
            await page.keyboard.up('Shift');
            const share = async (id) => Number((await seen(page.getByTestId(id).locator('td').nth(1))).replace(' %', ''));
            const { start_s, end_s, lane, kind } = timeline.spans;
            const works = (at) => timeline.lanes[lane[at]].stream === 'compute' && !['barrier', 'overhead'].includes(timeline.kinds[kind[at]]);
            const busy = sum(start_s.map((from_s, at) => (works(at) ? end_s[at] - from_s : 0))) / (4 * length_s);
            assert.ok(Math.abs(await share('sum-busy') - 100 * busy) < 0.3, `${await share('sum-busy')}`);
            assert.ok(Math.abs(await share('sum-idle') - 100 * (1 - busy)) < 0.3);
            assert.ok(await share('sum-exposed') > 0);
            await page.getByRole('button', { name: 'Clear' }).click();
            assert.equal(await page.getByTestId('selected').count(), 0);
        });
    });

    it('says the same in tables: the stages, and what runs at the cursor', async () => {
        await withStep(async (page, { timeline }) => {
            for (const id of ['stages', 'at-cursor'])
                await unfold(page.getByTestId(id));
            await page.getByTestId('stages').locator('tbody tr').first().waitFor();
            const rows = await page.getByTestId('stages').locator('tbody tr').evaluateAll((trs) =>
                trs.map((tr) => [...tr.children].map((cell) => cell.textContent.trim().replace(/, explain .*/, ''))));
            assert.deepEqual(rows.map((row) => row[4]), timeline.stages.map(({ idle_ratio: idle }) => (idle < 1e-9 ? '0 %' : idle < 0.0005 ? '<0.1 %' : `${(100 * idle).toFixed(1)} %`)));
            const at = spansOf(timeline, 'backward', 1)[4];
            const on = await placesOn(page, timeline);
            await page.getByTestId('timeline-plot').click({ position: on.middle(at) });
            const now = (timeline.spans.start_s[at] + timeline.spans.end_s[at]) / 2;
            const running = timeline.spans.start_s.flatMap((start_s, n) => (start_s <= now && now < timeline.spans.end_s[n] ? [n] : []));
            await becomes(() => page.getByTestId('at-cursor').locator('tbody tr').count(), running.length);
            const cells = await page.getByTestId('at-cursor').locator('tbody tr').evaluateAll((trs) =>
                trs.map((tr) => [...tr.children].map((cell) => cell.textContent.trim())));
            const own = cells.find(([stage, lane]) => stage === 'stage 1' && lane === 'compute');
            const { microbatch, chunk, start_s, end_s } = timeline.spans;
            assert.deepEqual(own.slice(2), ['Backward', `${microbatch[at]}`, `${chunk[at]}`, '–', exact(start_s[at]), exact(end_s[at])]);
            const text = await seen(page.getByTestId('readout'));
            assert.ok(text.includes(`stage 1: backward of micro-batch ${microbatch[at]}, chunk ${chunk[at]}, `), text);
            assert.match(text, /GiB of activations$/);
        });
    });
});

/** The middle of a pause of a stage, in computing and sending, of some length. */
function idleMoment({ lanes, spans }, stage, length_s) {
    const own = spans.lane.flatMap((lane, at) => (lanes[lane].stage === stage && lanes[lane].stream !== 'host' ? [at] : []))
        .sort((a, b) => spans.start_s[a] - spans.start_s[b]);
    let reach_s = 0;
    for (const at of own) {
        if (spans.start_s[at] - reach_s > length_s)
            return (spans.start_s[at] + reach_s) / 2;
        reach_s = Math.max(reach_s, spans.end_s[at]);
    }
    throw new Error('the stage never pauses');
}

describe('the time cursor', () => {
    it('is one for both: the map shows what runs at it', async () => {
        await withStep(async (page, { timeline }) => {
            const on = await placesOn(page, timeline);
            const cell = { x: 4, y: 19 };
            const at = async (stage, time_s) => {
                await page.getByTestId('timeline-plot').click({ position: on.point(stage, time_s) });
                await drawn(page);
                return pixel(page, 'map-cells', cell);
            };
            const middle = (n) => (timeline.spans.start_s[n] + timeline.spans.end_s[n]) / 2;
            assert.deepEqual(await at(0, middle(spansOf(timeline, 'forward', 0)[1])), await tone(page, 'sky'));
            assert.deepEqual(await at(0, middle(spansOf(timeline, 'backward', 0)[2])), await tone(page, 'blue'));
            assert.deepEqual(await at(0, idleMoment(timeline, 0, 8 * on.end_s / on.layout.plot)), await tone(page, 'line'));
            await unfold(page.getByTestId('devices'));
            assert.equal(await page.getByTestId('devices').locator('tbody tr').first().locator('td').last().textContent(), 'idle');
        });
    });

    it('plays, pauses and is moved by its slider', async () => {
        await withStep(async (page) => {
            const slider = page.getByLabel('Time cursor', { exact: true });
            const now = () => slider.evaluate((input) => Number(input.value));
            const pass = await stopClock(page);
            await page.getByLabel('Time of the cursor across the view').selectOption('5');
            await page.getByRole('button', { name: 'Play' }).click();
            assert.equal(await now(), 0);
            await pass(1000);
            const share = await now() / Number(await slider.getAttribute('max'));
            assert.ok(Math.abs(share - 0.2) < 0.01, `${share} of the way in a fifth of its time`);
            assert.ok(!page.url().includes('&at='), 'the address waits for the cursor to rest');
            await page.getByRole('button', { name: 'Pause' }).click();
            const stopped = await now();
            await pass(1000);
            assert.equal(await now(), stopped);
            assert.ok(Math.abs(new URL(page.url()).searchParams.get('at') - stopped) < 1e-8);
            await slider.fill('0.19');
            await becomes(now, 0.19);
            await page.getByTestId('timeline-plot').focus();
            await page.keyboard.press('Space');
            await pass(200);
            assert.ok(await now() > 0.195);
            await page.getByRole('tab', { name: 'Memory and time' }).click();
            await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
            assert.equal(await page.getByRole('button', { name: 'Play' }).count(), 1, 'it does not go on unseen');
        }, { ownClock: true });
    });
});

/** Asks the service itself. */
const shardings = async (request, query) => (await fetch(`${server.url}/api/v1/shardings?${query}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) })).json();

/** Whether an edge of the cell around a place of the map has the colour, and none has another that marks cells. What is chosen is framed beyond its gap, over its neighbours' edges. */
async function isEdged(page, place, colour, other) {
    const edges = [-15, -14, -13, -12, 10, 11, 12, 13].map((by) => place + by);
    const found = await Promise.all(edges.map((x) => pixel(page, 'map-lit', { x, y: 30 })));
    const has = (wanted) => found.some((each) => each.every((part, at) => part === wanted[at]));
    return has(colour) && !has(other);
}

describe('the sharding map', () => {
    it('colours the devices by an axis, each value alike', async () => {
        await withStep(async (page, { sharding }) => {
            await page.locator('input[name=map-axis][value=tensor]').check();
            await drawn(page);
            const names = ['blue', 'sky', 'green', 'yellow', 'orange', 'vermillion', 'purple', 'ink'];
            // Two rows of four in a node: the corner of each cell, which no letter covers.
            for (const place of sharding.ranks.slice(0, 8)) {
                const corner = { x: 30 * (place.local_rank % 4) + 4, y: 15 + 30 * Math.floor(place.local_rank / 4) + 4 };
                assert.deepEqual(await pixel(page, 'map-cells', corner), await tone(page, names[place.coordinates.tensor]));
            }
            assert.equal(await page.locator('input[name=map-axis][value=expert]').count(), 0, 'no axis of one');
        });
    });

    it('frames the chosen device at the edge of the map on all sides', async () => {
        await withStep(async (page) => {
            await page.getByTestId('map').click({ position: { x: 15, y: 30 } });
            await page.getByText('Rank 0: node 0').waitFor();
            await drawn(page);
            assert.notDeepEqual(await pixel(page, 'map-lit', { x: 2, y: 30 }), [0, 0, 0], 'on the left, where the map ends');
            assert.deepEqual(await pixel(page, 'map-lit', { x: 6, y: 30 }), [0, 0, 0], 'its colour stays');
        });
    });

    it('lists what a device holds, page after page, as the service does', async () => {
        await withStep(async (page, { request }) => {
            await page.getByTestId('map').click({ position: { x: 45, y: 25 } });
            const rows = page.getByTestId('tensors').locator('tbody tr');
            await becomes(async () => await rows.count() > 0, true);
            const whole = await shardings(request, 'rank=1');
            const size = () => page.getByTestId('tensors').locator('.split .muted').textContent();
            for (let turn = 0; turn < 5 && await page.getByRole('button', { name: 'More' }).count() > 0; turn += 1) {
                const before = await size();
                await page.getByRole('button', { name: 'More' }).click();
                await becomes(async () => await size() !== before, true);
            }
            const names = await page.getByTestId('tensors').locator('tbody th code').allTextContents();
            assert.deepEqual(names, [...whole.tensors, ...whole.units].map(({ name }) => name));
            const q = whole.tensors.find(({ name }) => name.endsWith('layers.0.self_attn.q_proj.weight'));
            const [begin, end] = q.shards[0].slice[0];
            assert.ok((await seen(rows.filter({ hasText: q.name }))).includes(`[${begin}:${end}, :]`));
            await rows.filter({ hasText: q.name }).locator('.num').click();
            assert.match(await seen(page.getByRole('dialog')), new RegExp(`${q.shards[0].bytes.toLocaleString('en-US')} bytes`));
        });
    });

    it('keeps the tensors that a pattern asks for', async () => {
        await withStep(async (page, { request }) => {
            await page.getByTestId('map').click({ position: { x: 45, y: 25 } });
            await page.getByTestId('tensors').locator('input').fill('layers.1.*norm*');
            const asked = await shardings(request, `rank=1&tensor=${encodeURIComponent('layers.1.*norm*')}`);
            assert.equal(asked.tensors.length, 0, 'a pattern with a star is the whole name');
            await page.getByText('No tensor of this device is called so').waitFor();
            await page.getByTestId('tensors').locator('input').fill('layers.1.input_layernorm');
            await becomes(() => page.getByTestId('tensors').locator('tbody tr').count(), 1);
        });
    });

    it('lights every device that holds a part of the tensor under the pointer', async () => {
        await withStep(async (page, { request, sharding }) => {
            await page.getByTestId('map').click({ position: { x: 45, y: 25 } });
            const name = 'model.layers.0.mlp.up_proj.weight';
            const { tensors: [tensor] } = await shardings(request, `tensor=${name}`);
            await page.getByTestId('tensors').locator('tbody tr', { hasText: name }).hover();
            const stage = sharding.ranks.filter(({ coordinates }) => coordinates.pipeline === tensor.pipeline);
            const same = stage.filter(({ coordinates }) => coordinates.tensor === 1);
            await becomes(async () => (await seen(page.getByTestId('map-readout')))
                .includes(`${name} is held by ${stage.length} devices, ${same.length} with this very slice: ${
                    (tensor.shards[0].bytes / 2 ** 20).toFixed(1)} MiB each`), true);
            await drawn(page);
            for (const x of [45, 75])
                assert.deepEqual(await pixel(page, 'map-lit', { x, y: 30 }), [0, 0, 0], 'nothing covers its colour and its letter');
            const [very, any] = [await tone(page, 'vermillion'), await tone(page, 'text')];
            assert.ok(await isEdged(page, 45, very, any), 'the very slice');
            assert.ok(await isEdged(page, 75, any, very), 'another');
            await page.mouse.move(5, 5);
            await becomes(async () => (await seen(page.getByTestId('map-readout'))).includes('is held by'), false);
        });
    });

    it('lights the members of a group, and names the slowest link that it crosses', async () => {
        await withStep(async (page, { sharding }) => {
            await page.getByTestId('map').focus();
            await page.keyboard.press('ArrowRight');
            await page.keyboard.press('ArrowRight');
            assert.equal((await lookOf(page)).rank, 1);
            const rows = await page.getByTestId('groups').locator('tbody tr').evaluateAll((trs) =>
                trs.map((tr) => [...tr.children].map((cell) => cell.textContent.trim())));
            const groups = sharding.groups.filter(({ size }) => size > 1);
            assert.deepEqual(rows.map((row) => row.slice(0, 4)), groups.map(({ kind, size, count, level }) =>
                [kind.replaceAll('_', ' '), String(size), String(count), level.replaceAll('_', ' ')]));
            assert.ok(rows.every((row) => row.length === 5));
            await page.getByTestId('groups').getByRole('button', { name: 'tensor', exact: true }).focus();
            await drawn(page);
            assert.ok(await isEdged(page, 15, await tone(page, 'text'), await tone(page, 'vermillion')), 'the neighbour in the node');
            assert.notDeepEqual(await pixel(page, 'map-lit', { x: 145, y: 30 }), [0, 0, 0], 'the next node is in another group');
        });
    });

    it('takes 16,384 devices', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab);
            await answering(tab, () => type(page, 'globalBatch', '65536'));
            await answering(tab, () => type(page, 'nodes', '2048'));
            const { sharding } = await openStep(tab);
            assert.equal(sharding.ranks.length, 16384);
            assert.match(await seen(page.getByTestId('sharding')), /16,384 devices on 2,048 nodes/);
            const plot = page.getByTestId('map');
            assert.ok((await plot.boundingBox()).height < 420);
            const covered = await page.getByTestId('map-lit').evaluate((canvas) => {
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
                copy.drawImage(canvas, 0, 0);
                const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
                return data.filter((part, at) => at % 4 === 3 && part > 0).length / (data.length / 4);
            });
            assert.ok(covered > 0 && covered < 0.25, `lines leave the cells to be seen: ${covered}`);
            assert.match(await seen(page.getByTestId('moving')), /The map draws the links of the chosen stage alone.*Now it is stage 0\./);
            await plot.hover({ position: { x: 2, y: 2 } });
            assert.match(await seen(page.getByTestId('map-tip')), /rank 0/);
            await unfold(page.getByTestId('devices'));
            /* What is folded is made when it is opened. */
            const rows = page.getByTestId('devices').locator('tbody tr');
            await rows.nth(63).waitFor();
            assert.equal(await rows.count(), 64);
            await page.getByRole('button', { name: 'Next' }).click();
            await page.getByTestId('devices').locator('tbody th', { hasText: /^rank 64$/ }).waitFor();
        });
    });
});

describe('for everyone', () => {
    for (const colorScheme of ['light', 'dark']) {
        it(`axe-core finds nothing in ${colorScheme}: drawn, opened, selected, compared, narrow`, async () => {
            await withStep(async (page) => {
                await expectAccessible(page, 'drawn');
                await page.getByTestId('timeline-plot').focus();
                for (const key of ['Shift+ArrowRight', 'Shift+ArrowRight'])
                    await page.keyboard.press(key);
                await page.keyboard.press('m');
                await page.getByLabel('Timeline drawn beside this one').selectOption('/parallelism/schedule=gpipe');
                await page.waitForSelector('[data-testid="beside"][data-phase="done"]');
                await page.getByTestId('trace').locator('input[type=file]').setInputFiles({ name: 'run.json',
                    mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(recorded())) });
                await page.waitForSelector('[data-testid="trace"][data-phase="done"]');
                await page.locator('input[name=map-axis][value=fill]').check();
                await page.getByTestId('map').click({ position: { x: 45, y: 25 } });
                await becomes(async () => await page.getByTestId('tensors').locator('tbody tr').count() > 0, true);
                for (const fold of await page.locator('#view details').all())
                    await unfold(fold);
                await expectAccessible(page, 'opened and selected');
                await page.setViewportSize({ width: 320, height: 640 });
                await drawn(page);
                await fitsAcross(page);
                await expectAccessible(page, 'narrow');
            }, { colorScheme });
        });
    }

    it('the tabs are one stop of the keyboard, arrows go between them', async () => {
        await withStep(async (page) => {
            await page.getByRole('tab', { name: 'Timeline and sharding' }).focus();
            await page.keyboard.press('ArrowLeft');
            await page.getByTestId('memory').waitFor();
            assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Memory and time');
            assert.equal(await page.locator('[role=tab][tabindex="0"]').count(), 1);
        });
    });

    it('the whole is drawn without a breach of the policy of the page', async () => {
        const tab = await openTab(browser, server);
        await start(tab);
        await openStep(tab);
        assert.deepEqual(await tab.page.evaluate(() => globalThis.violations), []);
        await tab.close();
    });
});
