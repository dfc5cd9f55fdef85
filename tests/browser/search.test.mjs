/** The search view: what it asks, how it draws what streams in, and what hands and keys do with it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endlessSearch } from '../e2e/lib/fixtures.mjs';
import { run } from '../e2e/lib/processes.mjs';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, chosen, fitsAcross, inTab, seen, told, unfold } from './lib/browser.mjs';
import { seconds } from '../../static/src/units.js';
import { browser, server } from './lib/here.mjs';
import { eventsOf, startSearches } from './lib/searches.mjs';

const PLAN = '/?example=llama-70b&nodes=16&seq=8192&gbs=512&attn=flash3&tp=8&sp=1&pp=4&vpp=2&tokens=2000000000000';
const VIEW = `${PLAN}&view=search`;

const ready = (page, phase = 'done') => page.waitForSelector(`[data-testid="search"][data-phase="${phase}"]`);
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const query = (page) => Object.fromEntries([...new URL(page.url()).searchParams].filter(([name]) => name.startsWith('s.')));

/** The address follows the page with a little delay. */
const says = (page, name, value) => becomes(() => query(page)[name], value, `${name} in the address`);
const column = (page, at) => page.locator(`.virtual tbody tr[data-key] > :nth-child(${at})`).evaluateAll((cells) =>
    cells.map((cell) => (cell.querySelector('.num')?.firstChild ?? cell).textContent.trim()));
const expected = (value, digits) => value.toFixed(digits);

/** A page on a stand-in that streams made events. given: of startSearches, and more of the address */
async function withStream(given, use, options = {}) {
    const standIn = await startSearches(server, given);
    try {
        await inTab(browser, standIn, { path: `${VIEW}${given.more ?? ''}`, ...options }, (tab) => use(tab.page, standIn, tab));
    } finally {
        await standIn.stop();
    }
}

describe('the search view', () => {
    it('is loaded when it is opened', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const scripts = [];
            page.on('request', (request) => scripts.push(request.url()));
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            await page.getByRole('tab', { name: 'Search' }).click();
            await ready(page, 'idle');
            const html = await (await fetch(server.url)).text();
            const later = scripts.filter((url) => url.endsWith('.js') && !html.includes(new URL(url).pathname));
            assert.equal(later.length, 1, 'one script has all that the first screen does not need');
        });
    });

    it('asks for what the planner holds, less what is searched, and for what the form says', async () => {
        await withStream({ events: eventsOf() }, async (page, standIn) => {
            await page.getByRole('radio', { name: 'Fewest accelerators' }).check();
            await page.fill('#ask-max_accelerators', '64');
            await page.fill('#ask-deadline_s', '30');
            await page.fill('#ask-headroom_ratio', '5');
            await page.fill('#ask-price_per_node_hour', '98.5');
            assert.deepEqual(await page.locator('.limit .unit').allTextContents(), ['s', 'days', '%', 'samples', '/ h'], 'a count has no unit');
            await unfold(page.getByTestId('search-space'));
            const dimension = (name) => page.locator(`[data-dimension="${name}"]`);
            for (const [name, value] of [['tensor', '8'], ['tensor', '4'], ['sequence', 'true']])
                await dimension(name).locator(`input[value="${value}"]`).check();
            await page.fill('#ask-data', '16 8');
            await page.press('#ask-data', 'Tab');
            await page.getByRole('radio', { name: 'any number up to it' }).check();
            await press(page, 'Search');
            await ready(page);
            const [request] = standIn.requests;
            assert.equal(request.model.config.hidden_size, 8192);
            assert.deepEqual(request.cluster, { accelerator: 'nvidia-h100-sxm5-80gb', accelerators_per_node: 8, nodes: 16, price_per_node_hour: 98.5 });
            assert.equal(request.workload.global_batch_size, 512);
            assert.ok(!('micro_batch_size' in request.workload) && !('recompute' in request.workload) && !('parallelism' in request));
            assert.deepEqual(request.space, { tensor: [4, 8], sequence: [true], data: [8, 16], nodes: 'any' });
            assert.equal(request.objective, 'accelerators');
            assert.deepEqual(request.constraints, { max_accelerators: 64, deadline_s: 30 * 86400, headroom_ratio: 0.05 });
            await becomes(() => query(page), { 's.objective': 'accelerators', 's.max_accelerators': '64', 's.deadline_s': '2592000',
                's.headroom_ratio': '0.05', 's.price_per_node_hour': '98.5', 's.tensor': '4,8', 's.sequence': 'true', 's.data': '8,16', 's.nodes': 'any', 's.run': '1' });

            /* The address is all of it: whoever opens the link sees the same question answered. */
            await page.reload();
            await ready(page);
            assert.deepEqual(standIn.requests[1], request);
            assert.equal(await page.inputValue('#ask-deadline_s'), '30');
        });
    });

    it('copies the question as a command', async () => {
        await withStream({ events: eventsOf() }, async (page, standIn) => {
            await press(page, 'Search');
            await ready(page);
            await press(page, 'Copy search as curl');
            await told(page, 'Command copied');
            const command = await page.evaluate(() => navigator.clipboard.readText());
            const { code, stdout } = await run('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`]);
            assert.equal(code, 0);
            const words = stdout.split('\0');
            assert.ok(words.includes(`${standIn.url}/api/v1/searches`));
            assert.deepEqual(JSON.parse(words[words.indexOf('--data') + 1]), standIn.requests[0]);
        });
    });

    it('takes no figure that is none', async () => {
        await withStream({ events: eventsOf() }, async (page) => {
            await unfold(page.getByTestId('search-space'));
            const any = page.locator('[data-dimension="data"] input[value="any"]');
            await any.click();
            assert.equal(await any.isChecked(), true);
            await page.fill('#ask-data', 'many');
            await page.press('#ask-data', 'Tab');
            assert.equal(await page.inputValue('#ask-data'), '');
            await page.fill('#ask-max_accelerators', '6.5');
            await page.press('#ask-max_accelerators', 'Tab');
            assert.equal(await page.getAttribute('#ask-max_accelerators', 'aria-invalid'), 'true');
            await page.fill('#ask-min_tokens_per_s', '1.5M');
            await page.press('#ask-min_tokens_per_s', 'Tab');
            await becomes(() => query(page), { 's.min_tokens_per_s': '1500000' });
        });
    });
});

describe('a search that runs', () => {
    it('says the length of a training with no more digits in a row without an interval than in those that have one', async () => {
        const events = eventsOf({ best: 2, front: 6 });
        for (const { data } of events)
            for (const plan of new Set([...data.best, ...data.pareto])) plan.time_to_train_s = 1.23456e6 * plan.step_s;
        for (const plan of events.at(-1).data.best) plan.interval = { step_s: [0.8 * plan.step_s, 1.25 * plan.step_s] };
        await withStream({ events }, async (page) => {
            await press(page, 'Search');
            await ready(page);
            const days = await page.locator('.virtual tbody [data-name="time_to_train_s"]').allTextContents();
            assert.equal(days.length, 8);
            assert.deepEqual(days.filter((text) => !/^([1-9]\d0|[1-9]\d) days/.test(text)), [], 'two digits');
        });
    });

    it('draws what comes as it comes', async () => {
        const events = eventsOf({ best: 20, front: 60, steps: 6 });
        const gates = events.map(() => {
            const gate = {};
            gate.opened = new Promise((open) => { gate.open = open; });
            return gate;
        });
        await withStream({ events, before: (at) => gates[at].opened }, async (page) => {
            await press(page, 'Search');
            const points = page.locator('.plot circle.bar');
            for (const [at, { name, data: { best, pareto, evaluated } }] of events.entries()) {
                assert.equal(await page.locator('[data-testid="search"][data-phase="running"]').count(), 1, `before event ${at}`);
                gates[at].open();
                if (name === 'progress')
                    await becomes(async () => (await seen(page.getByTestId('search-counts'))).includes(`${evaluated.toLocaleString('en-US')} evaluated`), true);
                await becomes(() => points.count(), new Set([...best, ...pareto]).size, `after event ${at}`);
            }
            await ready(page);
            assert.equal(await points.count(), 80);
            assert.match(await seen(page.getByTestId('search-counts')), /Done\s*900,000 evaluated\s*400,000 fit\s*7,000,000 ruled out unevaluated\s*900 ms/);
        });
    });

    it('acceptance 8: points appear while it runs, the time left is told, and cancelling closes it and keeps what was found', async () => {
        await withStream({ events: eventsOf().slice(0, 2), hold: true }, async (page, standIn) => {
            await press(page, 'Search');
            await page.locator('.plot circle.bar').first().waitFor();
            const { units, units_done: done, elapsed_s: spent } = standIn.events[1].data;
            await page.locator('.counts', { hasText: seconds(spent * (units - done) / done) }).waitFor();
            await press(page, 'Cancel');
            await ready(page, 'cancelled');
            await becomes(() => standIn.closed, 1, 'the connection is closed');
            assert.ok(await page.locator('.virtual tbody tr[data-key]').count() > 5);
            assert.match(await seen(page.getByTestId('search-counts')), /Cancelled/);
            standIn.events = [];
            await page.getByRole('radio', { name: 'Least energy' }).check();
            await press(page, 'Search');
            await becomes(() => standIn.requests.length, 2);
            await page.locator('.search .answer[data-phase="loading"]').waitFor();
            assert.ok(await page.locator('.virtual tbody tr[data-key]').count() > 5, 'until there is something new');
            await page.goto('about:blank');
            await becomes(() => standIn.closed, 2, 'leaving cancels too');
            await page.goto(standIn.url);
        });
    });

    it('says so when it breaks off, and when the plan has moved on', async () => {
        await withStream({ events: eventsOf().slice(0, 2) }, async (page) => {
            await press(page, 'Search');
            await ready(page, 'problem');
            assert.match(await seen(page.getByTestId('problem')), /broke off/);
            assert.ok(await page.locator('.plot circle.bar').count() > 0);
            await page.getByRole('radio', { name: 'Least energy' }).check();
            await page.getByText('answers an earlier question').waitFor();
        });
    });
});

describe('the plans found', () => {
    const events = eventsOf({ best: 100, front: 4900 });
    const { best, pareto } = events.at(-1).data;
    const all = new Set([...best, ...pareto]).size;

    it('are a table of thousands that makes only the rows in sight', async () => {
        await withStream({ events, more: '&s.run=1' }, async (page) => {
            await ready(page);
            const grid = page.getByRole('grid', { name: 'Plans found' });
            assert.equal(await grid.getAttribute('aria-rowcount'), String(all + 1));
            assert.ok(await grid.locator('tbody tr').count() < 60);
            const rows = await page.evaluate(async () => {
                const scroller = document.querySelector('.virtual');
                let most = 0;
                for (let at = 0; at < 90; at += 1) {
                    scroller.scrollTop += 1500;
                    await new Promise(requestAnimationFrame);
                    most = Math.max(most, scroller.querySelectorAll('tbody tr').length);
                }
                return most;
            });
            assert.ok(rows < 60, `${rows} rows are made`);
            await page.evaluate(() => { const scroller = document.querySelector('.virtual'); scroller.scrollTop = scroller.scrollHeight; });
            await page.locator(`tr[aria-rowindex="${all + 1}"]`).waitFor();
        });
    });

    it('are sorted by any column: the better end first, then the other, then as found', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1' }, async (page) => {
            await ready(page);
            const found = await column(page, 4);
            const head = page.getByRole('columnheader', { name: 'Headroom' });
            const headroom = async () => (await column(page, 6)).map(Number);
            await head.getByRole('button').click();
            assert.equal(await head.getAttribute('aria-sort'), 'descending');
            assert.deepEqual(await headroom(), (await headroom()).sort((a, b) => b - a));
            await says(page, 's.sort', '-headroom_bytes');
            await head.getByRole('button').click();
            assert.deepEqual(await headroom(), (await headroom()).sort((a, b) => a - b));
            await head.getByRole('button').click();
            assert.equal(await head.getAttribute('aria-sort'), 'none');
            assert.deepEqual(await column(page, 4), found);
        });
    });

    it('are one with the points: pointing, clicking and walking mean the same plan', async () => {
        await withStream({ events, more: '&s.run=1' }, async (page) => {
            await ready(page);
            const rows = page.locator('.virtual tbody tr[data-key]');
            await rows.nth(4).hover();
            await page.locator('.ring.hovered').waitFor();
            assert.match(await seen(page.getByTestId('scatter-tip')), /Rank 5/);
            await rows.nth(2).click();
            assert.match(await seen(page.getByTestId('scatter-readout')), /^Rank 3/);
            await page.keyboard.press('ArrowDown');
            await becomes(() => page.evaluate(() => document.activeElement.closest('tr').getAttribute('aria-rowindex')), '5');
            assert.match(await seen(page.getByTestId('scatter-readout')), /^Rank 4/);
            await page.keyboard.press('Control+End');
            await becomes(() => page.evaluate(() => document.activeElement.closest('tr').getAttribute('aria-rowindex')), String(all + 1));

            await page.getByTestId('scatter').focus();
            await page.keyboard.press('End');
            const key = await page.locator('.virtual tr[aria-selected="true"]').getAttribute('data-key');
            await page.keyboard.press('ArrowLeft');
            await becomes(async () => await page.locator('.virtual tr[aria-selected="true"]').getAttribute('data-key') !== key, true);
            await page.keyboard.press('p');
            await page.locator('.ring.pinned').waitFor();
            assert.equal(await page.locator('.virtual tr[aria-selected="true"] .pin').getAttribute('aria-pressed'), 'true');
        });
    });

    it('that are none stand in grey with their reason', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1' }, async (page) => {
            await ready(page);
            const cross = page.locator('.plot path.rejected');
            assert.equal(await cross.count(), 1);
            await page.getByTestId('scatter').focus();
            await page.keyboard.press('Home');
            assert.match(await seen(page.getByTestId('scatter-readout')), /No answer: out of memory: the nearest plan lacks 1.3 GiB/);
            await page.getByLabel('Show plans that do not work').uncheck();
            assert.equal(await cross.count(), 0);
        });
    });

    it('are drawn on any two axes and coloured by a third, as the address says', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1&s.x=accelerators&s.y=step_s&s.colour=recompute' }, async (page) => {
            await ready(page);
            assert.equal(await page.getByLabel('Across').inputValue(), 'accelerators');
            const legend = page.getByRole('list', { name: 'Colours' });
            assert.match(await seen(legend), /full\s*none\s*selective/);
            const others = 2;
            await page.getByRole('combobox', { name: 'Colour' }).selectOption('step_s');
            assert.equal(await legend.locator('li').count(), 5 + others);
            await says(page, 's.colour', 'step_s');
        });
    });
});

describe('how surely a plan fits', () => {
    /** Of the best the first `narrow` fit narrowly, the others surely; of the rest of the front it is not known. */
    const events = (narrow) => eventsOf({ best: 5, front: 5 }).map(({ name, data }) => ({ name, data: name !== 'result' ? data
        : { ...data, best: data.best.map((plan, at) => ({ ...plan, fits_certain: at >= narrow })) } }));
    const words = ['≈ fits narrowly', '≈ fits narrowly', '✓ fits', '✓ fits', '✓ fits'];

    it('stands beside the best, with the best that surely fits, in its row, its point and its words', async () => {
        await withStream({ events: events(2), more: '&s.run=1' }, async (page) => {
            await ready(page);
            const best = page.getByTestId('best');
            assert.match(await seen(best), /^The best: rank 1, .*, ≈ fits narrowly with [\d.]+ GiB to spare\. The best that fits surely: rank 3, .*, ✓ fits with [\d.]+ GiB to spare\.$/);
            const verdicts = page.locator('.virtual tbody tr[data-key] [data-name="verdict"]');
            assert.deepEqual((await verdicts.allTextContents()).slice(0, 6), [...words, '–']);
            assert.equal(await page.locator('[data-testid="scatter"] circle.bar.narrow').count(), 2);
            await best.getByRole('button').last().click();
            const readout = page.getByTestId('scatter-readout');
            await becomes(async () => /^Rank 3: .*, fits(,|$)/.test(await seen(readout)), true);
            await best.getByRole('button').first().click();
            await becomes(async () => /^Rank 1: .*, fits narrowly(,|$)/.test(await seen(readout)), true);
            await page.getByRole('grid', { name: 'Plans found' }).getByRole('button', { name: 'Verdict' }).click();
            await becomes(async () => (await verdicts.allTextContents()).slice(0, 3), words.slice(2), 'what surely fits first');
            await expectAccessible(page);
        });
    });

    it('is said of the best alone where it is sure, and where no plan is', async () => {
        for (const [narrow, said] of [[0, /✓ fits with [\d.]+ GiB to spare\.$/], [5, /None of the best fits surely\.$/]]) {
            await withStream({ events: events(narrow), more: '&s.run=1' }, async (page) => {
                await ready(page);
                assert.match(await seen(page.getByTestId('best')), said);
                assert.equal(await page.getByTestId('best').getByRole('button').count(), 1);
            });
        }
    });

    it('is in view on a phone', async () => {
        await withStream({ events: events(2), more: '&s.run=1' }, async (page) => {
            await ready(page);
            const cell = page.locator('.virtual tbody [data-name="verdict"]').first();
            await cell.scrollIntoViewIfNeeded();
            const { x, width } = await cell.boundingBox();
            assert.ok(x > 0 && x + width < 390);
            await fitsAcross(page);
        }, { width: 390, height: 844 });
    });
});

describe('all dimensions at once', () => {
    it('keep a part of an axis by hand or key, in table, points and address alike', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1' }, async (page) => {
            await ready(page);
            const { best, pareto } = eventsOf().at(-1).data;
            const plans = [...new Set([...best, ...pareto])];
            await unfold(page.getByTestId('parallel-fold'));
            const plot = page.getByTestId('parallel');
            assert.equal(await plot.locator('path.line').count(), plans.length);
            const rows = async () => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;

            await plot.focus();
            const named = (name) => becomes(async () => /^\S+/.exec(await seen(page.getByTestId('parallel-readout')))[0], name);
            while (!(await seen(page.getByTestId('parallel-readout'))).startsWith('Tensor'))
                await page.keyboard.press('ArrowRight');
            await named('Tensor');
            await page.keyboard.press('ArrowUp');
            await page.keyboard.press('Shift+ArrowDown');
            const wanted = plans.filter(({ parallelism: { tensor } }) => tensor === 2 || tensor === 4).length;
            assert.equal(await rows(), wanted);
            assert.equal(await page.locator('.plot circle.off').count(), plans.length - wanted);
            assert.equal(await plot.locator('path.off').count(), plans.length - wanted);
            await says(page, 's.only.tensor', '2..4');
            await page.reload();
            await ready(page);
            assert.equal(await rows(), wanted, 'a link has it');
            await page.getByRole('list', { name: 'Parts that are kept' }).getByRole('button').click();
            assert.equal(await rows(), plans.length);

            await unfold(page.getByTestId('parallel-fold'));
            const box = await plot.boundingBox();
            await page.mouse.move(box.x + 54, box.y + 40);
            await page.mouse.down();
            await page.mouse.move(box.x + 54, box.y + 120, { steps: 4 });
            await page.mouse.up();
            assert.ok(await rows() < plans.length && await rows() > 0);
            await becomes(async () => {
                const [from, to] = (query(page)['s.only.tokens_per_s'] ?? '').split('..').map(Number);
                return await rows() === plans.filter(({ tokens_per_s: rate }) => rate >= from - 1e-3 && rate <= to + 1e-3).length;
            }, true, 'the address says what is kept');
        });
    });
});

describe('a part of the scatter', () => {
    it('is kept by drawing over it: in both axes, table, chips and address, until it is let go', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1&s.x=step_s' }, async (page) => {
            await ready(page);
            const { best, pareto } = eventsOf().at(-1).data;
            const plans = [...new Set([...best, ...pareto])];
            const rows = async () => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;
            const plot = page.getByTestId('scatter');
            await plot.scrollIntoViewIfNeeded();
            const box = await plot.boundingBox();
            const at = (across, down) => page.mouse.move(box.x + box.width * across, box.y + box.height * down, { steps: 5 });
            await at(0.15, 0.1);
            await page.mouse.down();
            await at(0.6, 0.7);
            assert.equal(await page.locator('.brush.drawn').count(), 1);
            await page.mouse.up();
            assert.equal(await page.locator('.brush.drawn').count(), 0);
            assert.equal(await page.locator('.ring.chosen').count(), 0, 'drawing chooses no plan');

            await becomes(() => Boolean(query(page)['s.only.step_s'] && query(page)['s.only.tokens_per_s']), true, 'the address has both');
            const bounds = (name) => query(page)[`s.only.${name}`].split('..').map(Number);
            const within = (value, [from, to]) => value >= from - 1e-6 && value <= to + 1e-6;
            const kept = plans.filter((plan) => within(plan.step_s, bounds('step_s')) && within(plan.tokens_per_s, bounds('tokens_per_s')));
            assert.ok(kept.length > 0 && kept.length < plans.length, `${kept.length} of ${plans.length}`);
            assert.equal(await rows(), kept.length);
            assert.equal(await page.locator('.plot circle.off').count(), plans.length - kept.length);
            await becomes(() => seen(page.getByTestId('plans-count')), `${kept.length} of ${plans.length} plans in the table`);

            const chips = page.getByRole('list', { name: 'Parts that are kept' }).getByRole('button');
            assert.equal(await chips.count(), 2);
            await page.reload();
            await ready(page);
            assert.equal(await rows(), kept.length, 'a link has it');
            await chips.first().click();
            assert.equal(await chips.count(), 1);
            await plot.press('Backspace');
            assert.equal(await rows(), plans.length);
        });
    });
});

describe('the chosen plan', () => {
    const button = (page, name) => page.getByTestId('chosen').getByRole('button', { name });

    it('is applied to the planner, and the step back undoes it', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1' }, async (page, standIn, tab) => {
            await ready(page);
            assert.ok(await button(page, 'Apply to the planner').isDisabled(), 'none is chosen');
            await page.locator('.virtual tbody tr[data-key]').nth(1).click();
            const { best } = eventsOf().at(-1).data;
            const applied = await answering(tab, () => button(page, 'Apply to the planner').click());
            const { parallelism, workload, cluster } = applied.request;
            assert.equal(parallelism.tensor, best[1].parallelism.tensor);
            assert.equal(parallelism.pipeline, best[1].parallelism.pipeline);
            assert.equal(workload.recompute, best[1].workload.recompute);
            assert.equal(cluster.nodes, best[1].cluster.nodes);
            await answering(tab, () => page.goBack());
            assert.equal(await chosen(page, 'tensor'), '8');
        });
    });

    it('acceptance 7: is pinned from the scatter with p, up to four, in a link that shows the same', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1' }, async (page) => {
            await ready(page);
            const rows = page.locator('.virtual tbody tr[data-key]');
            const plot = page.getByTestId('scatter');
            for (const at of [0, 2, 5, 6]) {
                await rows.nth(at).click();
                await plot.press('p');
            }
            const pressed = page.locator('.pin[aria-pressed="true"]');
            assert.equal(await pressed.count(), 4);
            assert.equal(await page.locator('.ring.pinned').count(), 4);
            assert.match(await seen(page.getByTestId('scatter-readout')), /pinned/);
            await rows.nth(7).click();
            assert.ok(await button(page, 'Pin to compare').isDisabled(), 'there is no fifth');
            await becomes(() => new URL(page.url()).searchParams.getAll('pin').length, 4);
            await page.reload();
            await ready(page);
            assert.deepEqual(await page.locator('.virtual tbody tr[data-key]').evaluateAll((lines) =>
                lines.flatMap((line, at) => (line.querySelector('.pin').ariaPressed === 'true' ? [at] : []))), [0, 2, 5, 6], 'a link has them');
            await page.goBack();
            await button(page, 'Compare them').click();
            await page.getByTestId('compared-plans').waitFor();
            await page.locator('[data-testid="compared-plans"][data-phase="done"]').waitFor();
            assert.match(await seen(page.getByTestId('compared-plans').locator('thead')), /Pin 1.*Pin 2/);
        }, { faults: ['422 POST /api/v1/estimates'] }); /* made plans: not all of them are legal */
    });
});

describe('the real search', () => {
    /* Small enough for a build that checks every access. */
    const SPACE = '&s.tensor=4,8&s.pipeline=2,4&s.virtual_pipeline=1,2&s.context=1';

    /** The same question without a page. */
    const answerOf = async (request) => (await fetch(`${server.url}/api/v1/searches`,
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) })).json();

    it('finds plans that the planner answers alike, and says what is left to say', async () => {
        await inTab(browser, server, { path: VIEW + SPACE }, async (tab) => {
            const { page } = tab;
            const [sent] = await Promise.all([page.waitForRequest('**/api/v1/searches'), press(page, 'Search')]);
            await ready(page);
            const result = await answerOf(sent.postDataJSON());
            assert.equal(result.state, 'done');
            const rows = new Set([...result.best, ...result.pareto].map(({ id }) => id)).size;
            assert.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), String(rows + 1));
            assert.match(await seen(page.getByTestId('search-counts')), new RegExp(`${result.evaluated.toLocaleString('en-US')} evaluated`));
            assert.match(await seen(page.getByTestId('robustness')), new RegExp(result.robustness.sentence.slice(0, 40)));
            for (const [id, list] of [['neighbours', result.neighbours], ['rejected', result.rejected]]) {
                const lines = page.getByTestId(id).locator('tbody tr');
                await unfold(page.getByTestId(id));
                assert.equal(await lines.count(), list.length, id);
            }

            await page.locator('.virtual tbody tr[data-key]').first().click();
            const applied = await answering(tab, () => press(page, 'Apply to the planner'));
            const [best] = result.best;
            assert.equal(applied.answer.fits, true);
            assert.equal(applied.answer.time.step_s, best.step_s);
            assert.equal(applied.answer.throughput.tokens_per_s, best.tokens_per_s);
            assert.equal(applied.answer.memory.peak_reserved_bytes, best.peak_reserved_bytes);
        });
    });

    it('says why not the plan of the planner, and why not a chosen one', async () => {
        await inTab(browser, server, { path: `${VIEW}${SPACE}&s.run=1` }, async ({ page }) => {
            await ready(page);
            const why = page.getByTestId('why');
            const answered = async (act) => {
                const heard = page.waitForRequest('**/api/v1/searches');
                await act();
                const request = (await heard).postDataJSON();
                await page.waitForSelector('[data-testid="why"][data-phase="done"]');
                return { request, answer: (await answerOf(request)).why_not };
            };
            const own = await answered(() => press(page, "Why not the planner's own?"));
            assert.equal(own.request.why_not.parallelism.tensor, 8);
            assert.equal(own.answer.legal, true);
            assert.ok((await seen(why)).includes(own.answer.sentence));
            assert.equal(await why.locator('tbody tr').count(), own.answer.time.length + own.answer.memory.length);
            await page.locator('.virtual tbody tr[data-key]').nth(5).click();
            const sixth = await answered(() => press(page, 'Why not this one?'));
            assert.equal(sixth.answer.legal, true);
            assert.ok((await seen(why)).includes(sixth.answer.sentence));
        });
    });

    it('says which cluster, and the planner takes it over with the plan', async () => {
        /* Both parts have this kernel. */
        await inTab(browser, server, { path: VIEW.replace('flash3', 'flash2') + SPACE }, async (tab) => {
            const { page } = tab;
            await page.locator('#ask-also option[value="part:nvidia-b200-sxm-180gb"]').waitFor({ state: 'attached' });
            await page.selectOption('#ask-also', 'part:nvidia-b200-sxm-180gb');
            const [sent] = await Promise.all([page.waitForRequest('**/api/v1/searches'), press(page, 'Search')]);
            await ready(page);
            const request = sent.postDataJSON();
            assert.deepEqual(request.clusters.map(({ accelerator, nodes }) => [accelerator, nodes]),
                [['nvidia-h100-sxm5-80gb', 16], ['nvidia-b200-sxm-180gb', 16]]);
            const { best: [best] } = await answerOf(request);
            assert.equal(best.cluster_index, 1, 'the faster part wins');
            assert.match(await seen(page.getByTestId('plans')), /cluster nvidia-b200/);
            await page.locator('.virtual tbody tr[data-key]').first().click();
            const applied = await answering(tab, () => press(page, 'Apply to the planner'));
            assert.equal(applied.request.cluster.accelerator, 'nvidia-b200-sxm-180gb');
            assert.equal(applied.answer.time.step_s, best.step_s);
            const heard = page.waitForRequest('**/api/v1/searches');
            await press(page, 'Why not this one?');
            assert.equal((await heard).postDataJSON().why_not.cluster_index, 1);
            await page.waitForSelector('[data-testid="why"][data-phase="done"]');
        });
    });

    it('shows a refusal at what it is about, and nothing found with what stands in the way', async () => {
        await inTab(browser, server, { path: `${VIEW}${SPACE}&s.max_step_s=0.01&s.run=1`, faults: ['422 POST /api/v1/searches'] }, async ({ page }) => {
            await ready(page, 'problem');
            assert.match(await seen(page.getByTestId('problem')), /max_step_s/);
            await page.locator('.limit .field-error').waitFor();
            await page.fill('#ask-max_step_s', '');
            await page.press('#ask-max_step_s', 'Tab');
            await page.fill('#ask-headroom_ratio', '97');
            await page.press('#ask-headroom_ratio', 'Tab');
            await press(page, 'Search');
            await ready(page);
            await page.getByTestId('nothing').waitFor();
            assert.ok((await seen(page.getByTestId('nothing'))).length > 20);
        });
    });

    it('offers what would give an empty space a plan, and searches with it', async () => {
        await inTab(browser, server, { path: `${VIEW}&s.tensor=7&s.run=1` }, async ({ page }) => {
            await ready(page);
            await press(page.getByTestId('nothing'), 'Search with Tensor 7 → 8');
            await page.getByTestId('plans').locator('tbody tr').first().waitFor();
            await becomes(() => new URL(page.url()).searchParams.get('s.tensor'), '8');
        });
    });

    it('is cancelled on the service when it is cancelled here', async () => {
        await inTab(browser, server, { path: VIEW }, async ({ page }) => {
            /* The page's own might be done before anybody has looked. */
            await page.route('**/api/v1/searches', (route) => route.continue({ postData: JSON.stringify(endlessSearch()) }));
            const running = async () => Number(/^shardline_searches_running(?:\{[^}]*\})? (\d+)/m.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1]);
            await press(page, 'Search');
            await becomes(running, 1, 'it runs');
            await press(page, 'Cancel');
            await ready(page, 'cancelled');
            await becomes(running, 0, 'it is given up');
            await page.unroute('**/api/v1/searches');
        });
    });
});

describe('for everyone', () => {
    for (const colorScheme of ['light', 'dark']) {
        it(`axe-core finds nothing in ${colorScheme}: asked, found, chosen, pinned, brushed, narrow`, async () => {
            await withStream({ events: eventsOf() }, async (page) => {
                await unfold(page.getByTestId('search-space'));
                await page.locator('.card dd').first().waitFor();
                await expectAccessible(page, 'asked');
                await press(page, 'Search');
                await ready(page);
                await page.locator('.pin').nth(0).click();
                await page.locator('.pin').nth(2).click();
                await page.locator('.virtual tbody tr[data-key]').nth(1).click();
                await unfold(page.getByTestId('parallel-fold'));
                await page.getByTestId('parallel').press('ArrowUp');
                await expectAccessible(page, 'found');
                await page.setViewportSize({ width: 320, height: 640 });
                await fitsAcross(page);
                await expectAccessible(page, 'narrow');
            }, { colorScheme });
        });
    }

    it('stands still under the pointer', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1' }, async (page) => {
            await ready(page);
            await page.locator('.virtual tbody tr[data-key]').nth(3).hover();
            const heights = await page.evaluate(async () => {
                const found = new Set();
                for (let at = 0; at < 20; at += 1) {
                    await new Promise(requestAnimationFrame);
                    found.add(document.body.scrollHeight);
                }
                return [...found];
            });
            assert.equal(heights.length, 1, String(heights));
        }, { width: 390 });
    });

    it('leaves the whole page under 120 kB of script, packed', async () => {
        await withStream({ events: eventsOf(), more: '&s.run=1' }, async (page) => {
            await ready(page);
            await page.getByRole('tab', { name: 'Compare' }).click();
            await page.getByTestId('compared-plans').waitFor();
            await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
            await page.getByTestId('timeline').waitFor();
            const all_bytes = await page.evaluate(() => performance.getEntriesByType('resource')
                .filter(({ name }) => name.endsWith('.js')).reduce((total, { encodedBodySize }) => total + encodedBodySize, 0));
            assert.ok(all_bytes > 40_000 && all_bytes <= 120_000, `${all_bytes} bytes`);
            await page.waitForSelector('[data-testid="sharding"][data-phase="done"]');
        });
    });
});
