/** Plans, strategies and ways of fine-tuning side by side: each figure is the service's, each column can be taken over. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOST_PINS, pinOf } from '../../static/src/state/pins.js';
import { requestOf } from '../../static/src/state/plan.js';
import { planOfUrl } from '../../static/src/state/url.js';
import { scaled, seconds } from '../../static/src/units.js';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, choose, fitsAcross, inTab, seen, told } from './lib/browser.mjs';
import { gib } from './lib/format.mjs';
import { browser, server } from './lib/here.mjs';

const QUERY = '?example=llama-70b&nodes=16&seq=8192&gbs=512&attn=flash3&tp=8&sp=1&pp=4&vpp=2&tokens=2000000000000';
const OWN = planOfUrl(QUERY, '');
const planWith = (changes) => ({ ...OWN, ...changes });
const pinPart = (plan) => `&pin=${pinOf(plan).replaceAll('%', '%25')}`;
const VIEW = `/${QUERY}&view=compare`;
const [WIDE, DEEP] = [planWith({ tensor: 4, pipeline: 4 }), planWith({ pipeline: 8, virtualPipeline: 1 })];
const PAIR = VIEW + pinPart(WIDE) + pinPart(DEEP);

async function post(path, body) {
    const response = await fetch(`${server.url}/api/v1/${path}`,
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    return response.json();
}

const ready = (page, id = 'compared-plans') => page.waitForSelector(`[data-testid="${id}"][data-phase="done"]`);
const query = (page) => new URL(page.url()).searchParams;
const line = (page, label) => page.locator('[role="grid"] tbody tr',
    { has: page.locator('th', { hasText: new RegExp(`^\\s*(≠)?\\s*(differs: )?${label}$`) }) }).first();

/** What the cells of a row say, without what they are against the baseline. */
const cells = (page, label) => line(page, label).locator('td').evaluateAll((list) => list.map((cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll('.visually-hidden, .delta').forEach((hidden) => hidden.remove());
    return copy.textContent.replace(/\s+/g, ' ').trim();
}));

describe('plans side by side', () => {
    it('acceptance 7: two to four plans in columns, aligned, what differs marked and held against a baseline', async () => {
        const answers = await Promise.all([OWN, WIDE, DEEP].map((plan) => post('estimates', requestOf(plan))));
        await inTab(browser, server, { path: PAIR }, async ({ page }) => {
            await ready(page);
            assert.deepEqual(await cells(page, 'Step time'), answers.map(({ time }) => seconds(time.step_s)));
            assert.deepEqual(await cells(page, 'Headroom'), answers.map(({ memory }) => `${gib(memory.headroom_bytes)} GiB`));
            assert.deepEqual(await cells(page, 'Tokens/s'), answers.map(({ throughput }) => scaled(throughput.tokens_per_s)));
            assert.deepEqual(await cells(page, 'Activations'), answers.map(({ memory }) => {
                const rank = memory.ranks.find(({ rank: one }) => one === memory.binding_rank);
                return `${gib(rank.terms.filter(({ name }) => name === 'activations').reduce((sum, { bytes }) => sum + bytes, 0))} GiB`;
            }));
            assert.deepEqual(await cells(page, 'Forward'), answers.map(({ time }) => seconds(time.terms.find(({ name }) => name === 'forward').seconds)));
            assert.deepEqual(await cells(page, 'Tensor'), ['8', '4', '8']);
            assert.deepEqual(await cells(page, 'What binds'), answers.map(({ binding }) => binding.sentence));

            assert.equal(await line(page, 'Tensor').getAttribute('data-differs'), 'true');
            assert.match(await line(page, 'Tensor').locator('th').textContent(), /≠ differs/);
            assert.equal(await line(page, 'Sequence length').getAttribute('data-differs'), 'false');
            const change = (at, base) => ((answers[at].time.step_s / answers[base].time.step_s - 1) * 100).toFixed(1).replace('-', '−');
            const delta = (at) => line(page, 'Step time').locator('td').nth(at).locator('.delta').textContent();
            assert.ok((await delta(1)).includes(`${change(1, 0)} %`));

            await page.getByRole('button', { name: 'Baseline: pin 2' }).click();
            assert.ok((await delta(0)).includes(`${change(0, 2)} %`));
            assert.match(await delta(0), /(better|worse) than Pin 2/);
            await page.getByLabel('Only differences').check();
            assert.equal(await line(page, 'Sequence length').count(), 0);
            assert.equal(await line(page, 'Tensor').count(), 1);
            await becomes(() => query(page).get('c.only'), '1');

            const link = page.url();
            const shown = await page.getByRole('grid').textContent();
            await page.goto('about:blank');
            await page.goto(link);
            await ready(page);
            assert.equal(await page.getByRole('grid').textContent(), shown, 'a link opens the same comparison');
        });
    });

    for (const width of [1400, 390]) {
        it(`have figures, short words and heads of a column on one edge, ${width} pixels wide`, async () => {
            await inTab(browser, server, { path: PAIR, width }, async ({ page }) => {
                await ready(page);
                const edges = (name) => page.locator(`[role="grid"] [data-name="${name}"]`).evaluateAll((cells) => cells
                    .filter((cell) => !cell.closest('.words') && cell.textContent !== '').map((cell) => {
                        const range = document.createRange();
                        const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT,
                            (text) => (text.parentElement.closest('.visually-hidden') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
                        const rights = [];
                        while (walker.nextNode()) {
                            range.selectNodeContents(walker.currentNode);
                            rights.push(...[...range.getClientRects()].filter(({ width: wide }) => wide > 1).map(({ right }) => right));
                        }
                        return Math.round(Math.max(...rights));
                    }));
                const columns = await page.locator('[role="grid"] thead th').evaluateAll((heads) => heads.slice(1).map(({ dataset }) => dataset.name));
                assert.equal(columns.length, 3);
                for (const name of columns) {
                    const all = await edges(name);
                    assert.ok(all.length > 20, `${all.length}`);
                    assert.ok(Math.max(...all) - Math.min(...all) <= 2, `${name}: ${[...new Set(all)].join(', ')}`);
                }
                assert.equal(await line(page, 'What binds').locator('td').first().evaluate((cell) => getComputedStyle(cell).textAlign), 'left', 'sentences are read from the left');
            });
        });
    }

    it('stand close where there is but one, however wide the page is', async () => {
        await inTab(browser, server, { path: `/${QUERY}&view=compare`, width: 1600 }, async ({ page }) => {
            await ready(page);
            const width = (locator) => locator.evaluate((node) => node.getBoundingClientRect().width);
            assert.ok(await width(page.getByTestId('compare')) > 1000);
            assert.ok(await width(page.getByRole('grid')) <= 700, `${await width(page.getByRole('grid'))} pixels of one plan`);
        });
    });

    it('are pinned in the planner by button and key, never more than stand side by side', async () => {
        await inTab(browser, server, { path: `/${QUERY}` }, async (tab) => {
            const { page } = tab;
            const pin = page.getByRole('button', { name: /^Pin(ned)?$/ });
            await page.waitForSelector('[data-testid="verdict"][data-phase="done"]');
            await pin.click();
            await becomes(() => query(page).getAll('pin').length, 1);
            assert.equal(await pin.getAttribute('aria-pressed'), 'true');
            for (const tensor of ['4', '2', '1']) {
                await answering(tab, () => choose(page, 'tensor', tensor));
                await page.keyboard.press('p');
            }
            await becomes(() => query(page).getAll('pin').length, MOST_PINS);
            await answering(tab, () => choose(page, 'tensor', '16'));
            assert.ok(await pin.isDisabled());
            await page.keyboard.press('p');
            assert.equal(query(page).getAll('pin').length, MOST_PINS);
            await page.getByRole('tab', { name: /Compare/ }).click();
            await ready(page);
            assert.deepEqual(await cells(page, 'Tensor'), ['16', '8', '4', '2', '1']);
            await page.getByRole('button', { name: 'Remove pin 2' }).click();
            assert.deepEqual(await cells(page, 'Tensor'), ['16', '8', '2', '1']);
            await page.goBack();
            await becomes(() => cells(page, 'Tensor'), ['16', '8', '4', '2', '1'], 'the step back undoes it');
        });
    });

    it('are taken over by the planner, whose own plan then is the pinned one', async () => {
        await inTab(browser, server, { path: PAIR }, async (tab) => {
            const { page } = tab;
            await ready(page);
            const { request } = await answering(tab, () => page.getByRole('button', { name: 'Apply pin 1 to the planner' }).click());
            assert.deepEqual(request, requestOf(WIDE));
            await ready(page);
            assert.deepEqual(await cells(page, 'Tensor'), ['4', '8'], 'it stands there once');
            assert.equal(await page.getByRole('button', { name: "Pin the planner's plan" }).getAttribute('aria-pressed'), 'true');
        });
    });

    it('that have no answer say why, and a pasted model that is gone is not replaced by another', async () => {
        const wrong = planWith({ tensor: 7 });
        const pasted = { ...OWN, example: '', config: { model_type: 'llama', hidden_size: 1024 } };
        await inTab(browser, server, { path: VIEW + pinPart(wrong) + pinPart(pasted), faults: ['422 POST /api/v1/estimates'] }, async ({ page }) => {
            await ready(page);
            const head = await seen(page.locator('[role="grid"] thead'));
            assert.match(head, /Pin 1.*7.*Pin 2.*pasted config\.json that this page no longer holds/);
            assert.deepEqual((await cells(page, 'Step time')).slice(1), ['–', '–']);
            assert.deepEqual(await cells(page, 'Tensor'), ['8', '7', '8']);
            assert.equal(await line(page, 'Tensor').getAttribute('data-differs'), 'true', 'settings are known without an answer');
            await expectAccessible(page, 'refused columns');
        });
    });

    it('whose answer failed get it when asked again, and the others stay', async () => {
        const { time } = await post('estimates', requestOf(DEEP));
        await inTab(browser, server, { path: '/version', faults: ['500 POST /api/v1/estimates'] }, async ({ page }) => {
            let broken = true;
            await page.route('**/api/v1/estimates', (route) => {
                const isDeep = route.request().postDataJSON().parallelism.pipeline === DEEP.pipeline;
                return broken && isDeep ? route.fulfill({ status: 500, body: '' }) : route.continue();
            });
            await page.goto(server.url + PAIR);
            await ready(page);
            const [own, wide, deep] = await cells(page, 'Step time');
            assert.equal(deep, '–');
            broken = false;
            await page.getByRole('button', { name: 'Try again: Pin 2' }).click();
            await becomes(() => cells(page, 'Step time'), [own, wide, seconds(time.step_s)]);
            await page.unroute('**/api/v1/estimates');
        });
    });

    it('are asked for at once, and withdrawn when nobody wants them any more', async () => {
        await inTab(browser, server, { path: '/version' }, async ({ page }) => {
            let held = 0;
            const withdrawn = [];
            const isOwn = (request) => JSON.stringify(request.postDataJSON()) === JSON.stringify(requestOf(OWN));
            await page.route('**/api/v1/estimates', (route) => {
                if (isOwn(route.request())) return route.continue();
                held += 1;
                return undefined; /* it never comes */
            });
            page.on('requestfailed', (request) => withdrawn.push(request.postDataJSON().parallelism.pipeline));
            await page.goto(server.url + PAIR);
            await becomes(() => held, 2, 'both at once');
            await page.getByRole('button', { name: 'Remove pin 2' }).click();
            await becomes(() => withdrawn, [8]);
            await page.getByRole('radio', { name: 'Strategies' }).check();
            await becomes(() => withdrawn.length, 2, 'leaving withdraws the other');
            await page.unroute('**/api/v1/estimates');
        });
    });
});

describe('the table of a comparison', () => {
    it('is walked cell by cell, heads too, with one stop of the Tab key', async () => {
        await inTab(browser, server, { path: PAIR }, async ({ page }) => {
            await ready(page);
            const at = () => page.evaluate(() => {
                const cell = document.activeElement.closest('[data-name]');
                return [Number(cell.parentElement.getAttribute('aria-rowindex')), [...cell.parentElement.children].indexOf(cell)];
            });
            const grid = page.getByRole('grid', { name: 'Plans side by side' });
            assert.equal(await grid.locator('tbody [tabindex="0"]').count(), 1);
            await grid.locator('tbody [tabindex="0"]').focus();
            const [row] = await at();
            for (const [key, to] of [['ArrowDown', [row + 1, 0]], ['ArrowRight', [row + 1, 1]], ['End', [row + 1, 3]], ['ArrowRight', [row + 1, 3]],
                ['Home', [row + 1, 0]], ['Control+End', [Number(await grid.getAttribute('aria-rowcount')), 3]], ['Control+Home', [2, 0]], ['ArrowUp', [1, 0]]]) {
                await page.keyboard.press(key);
                await becomes(at, to, key);
            }
            await page.keyboard.press('Control+End');
            await becomes(() => page.evaluate(() => {
                const box = document.activeElement.getBoundingClientRect();
                const scroller = document.activeElement.closest('.grid-scroll').getBoundingClientRect();
                return box.bottom <= scroller.bottom + 1 && box.top >= scroller.top;
            }), true, 'it comes into view');
        });
    });

    it('goes to the clipboard and to a file with all its rows and digits', async () => {
        const answers = await Promise.all([OWN, WIDE, DEEP].map((plan) => post('estimates', requestOf(plan))));
        await inTab(browser, server, { path: PAIR }, async ({ page }) => {
            await ready(page);
            await page.evaluate(() => {
                const make = URL.createObjectURL.bind(URL);
                URL.createObjectURL = (file) => {
                    void file.text().then((text) => { globalThis.saved = text; });
                    return make(file);
                };
            });
            await page.getByRole('button', { name: 'Copy table' }).click();
            await told(page, 'Table copied');
            const copied = (await page.evaluate(() => navigator.clipboard.readText())).split('\n').map((text) => text.split('\t'));
            assert.deepEqual(copied[0].slice(1), ["The planner's", 'Pin 1', 'Pin 2']);
            assert.deepEqual(copied.find(([name]) => name === 'Step time (s)').slice(1).map(Number), answers.map(({ time }) => time.step_s));

            const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()]);
            assert.equal(download.suggestedFilename(), 'shardline-plans.csv');
            const text = await (await page.waitForFunction(() => globalThis.saved)).jsonValue();
            const lines = text.split('\r\n');
            assert.equal(lines.length, copied.length + 1, 'all rows, and the end of the last');
            assert.ok(lines.includes(`Step time (s),${answers.map(({ time }) => time.step_s).join(',')}`));
        });
    });
});

describe('strategies side by side', () => {
    it('have the figures of the service, your own plan first, the recommended next', async () => {
        const { parallelism, workload: { micro_batch_size: size, recompute, ...workload }, ...rest } = requestOf(OWN);
        const answer = await post('comparisons', { ...rest, workload });
        const own = await post('estimates', requestOf(OWN));
        await inTab(browser, server, { path: `${VIEW}&c.of=strategies` }, async (tab) => {
            const { page } = tab;
            await ready(page, 'strategies');
            const { recommendation, strategies } = answer;
            assert.ok((await seen(page.getByTestId('recommendation'))).includes(recommendation.reason));
            const possible = strategies.filter(({ applicable }) => applicable);
            const best = possible.find(({ name }) => name === recommendation.strategy);
            const order = [best, ...possible.filter((one) => one !== best)];
            assert.deepEqual(await cells(page, 'Step time'), [own, ...order].map(({ time }) => seconds(time.step_s)));
            assert.deepEqual(await cells(page, 'Definition'), ['The plan of the request, as it is.', ...order.map(({ definition }) => definition)]);
            assert.deepEqual((await cells(page, 'Volume per step and device')).slice(1), order.map(({ communication }) =>
                scaled(communication.reduce((sum, { bytes_per_step: bytes }) => sum + bytes, 0), 'B')));
            assert.deepEqual((await cells(page, 'Degree, 1 to 5')).slice(1), order.map(({ complexity }) => String(complexity)));
            for (const [label, read] of [['Use case', (s) => s.use_when], ['How it works', (s) => s.how_it_works], ['Grows until', (s) => s.scalability],
                ['Its limit here', (s) => s.scaling.sentence], ['Who waits for whom', (s) => s.latency], ['A lost device', (s) => s.fault_tolerance],
                ['Examples', (s) => s.examples], ['Source', (s) => s.source]])
                assert.deepEqual((await cells(page, label)).slice(1), order.map(read), label);
            for (const { framework } of best.supported_by)
                assert.ok((await cells(page, 'Supported by'))[1].includes(framework));
            const reasons = new Set(strategies.filter(({ applicable }) => !applicable).map(({ refused }) => refused.detail));
            const listed = (await page.getByTestId('not-possible').locator('li').allTextContents()).map((text) => text.slice(text.indexOf(': ') + 2));
            assert.deepEqual(listed, [...reasons], 'each reason once');

            await page.getByRole('button', { name: 'Copy comparison as curl' }).click();
            await told(page, 'Command copied');
            const command = await page.evaluate(() => navigator.clipboard.readText());
            assert.ok(command.includes(`${server.url}/api/v1/comparisons`));
            assert.deepEqual(JSON.parse(/--data '([^]*)'\n$/.exec(command)[1]), { ...rest, workload, of: 'strategies' });

            await page.getByRole('radio', { name: 'that fit' }).check();
            assert.equal((await cells(page, 'Step time')).length, 1 + possible.filter(({ fits }) => fits).length);
            await becomes(() => query(page).get('c.show'), 'fits');
            const applied = await answering(tab, () => page.getByRole('button', { name: /Apply it to the planner/ }).click());
            assert.equal(applied.answer.time.step_s, best.time.step_s);
            assert.equal(applied.answer.memory.device_total_bytes, best.memory.device_total_bytes);
        });
    });

    it('take micro-batch and recomputation of the planner when asked to, and are taken over whatever they are', async () => {
        const { parallelism, ...rest } = requestOf(OWN);
        const { strategies } = await post('comparisons', rest);
        await inTab(browser, server, { path: `${VIEW}&c.of=strategies&c.fixed=1` }, async (tab) => {
            const { page } = tab;
            await ready(page, 'strategies');
            for (const [words, name] of [['FSDP, everything', 'fsdp_full_shard'], ['Offload', 'offload'], ['HSDP', 'hsdp']]) {
                const one = strategies.find((other) => other.name === name);
                const applied = await answering(tab, () => page.getByRole('button', { name: `Apply ${words} to the planner`, exact: true }).click());
                assert.equal(applied.answer.time.step_s, one.time.step_s, name);
                assert.equal(applied.answer.memory.device_total_bytes, one.memory.device_total_bytes, name);
                await answering(tab, () => page.goBack());
                await ready(page, 'strategies');
            }
        });
    });

    it('say what is refused and answer when asked again', async () => {
        await inTab(browser, server, { path: '/version', faults: ['503 POST /api/v1/comparisons'] }, async ({ page }) => {
            await page.route('**/api/v1/comparisons', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json',
                body: JSON.stringify({ type: '/problems/busy', title: 'Too busy', status: 503, detail: 'try again', errors: [] }) }));
            await page.goto(`${server.url}${VIEW}&c.of=strategies`);
            await page.getByTestId('problem').waitFor();
            await page.unroute('**/api/v1/comparisons');
            await page.getByRole('button', { name: 'Try again' }).click();
            await ready(page, 'strategies');
        });
    });
});

describe('ways of fine-tuning', () => {
    it('are sorted by any figure, and taken over with what they train', async () => {
        const request = requestOf(OWN);
        const { choices, recommendation } = await post('comparisons', { ...request, workload: { ...request.workload, kind: 'finetuning' } });
        await inTab(browser, server, { path: `${VIEW}&c.of=finetuning` }, async (tab) => {
            const { page } = tab;
            await ready(page, 'tuning');
            assert.equal(await seen(page.getByTestId('tuning-reason')), recommendation.reason);
            const grid = page.getByRole('grid', { name: 'Ways of fine-tuning' });
            assert.equal(await grid.locator('tbody tr').count(), choices.length);
            const peak = () => grid.locator('tbody tr td:nth-child(5)').evaluateAll((cells) => cells.map((cell) => (cell.querySelector('.num')?.firstChild ?? cell).textContent.trim()));
            await grid.getByRole('button', { name: /^Peak/ }).click();
            const bytes = choices.map(({ memory }) => memory?.device_total_bytes ?? null).filter((size) => size !== null).sort((a, b) => a - b);
            assert.deepEqual((await peak()).slice(0, bytes.length), bytes.map(gib));
            await becomes(() => query(page).get('c.sort'), 'device_total_bytes');
            const lora = choices.find(({ method, recompute, attention }) => method === 'qlora' && recompute === 'full' && attention !== 'unfused');
            const applied = await answering(tab, () => page.getByRole('button',
                { name: `Apply QLoRA, checkpointing full, ${lora.attention} attention`, exact: true }).click());
            assert.equal(applied.request.workload.kind, 'finetuning');
            assert.equal(applied.answer.time.step_s, lora.time.step_s);
            assert.equal(applied.answer.memory.device_total_bytes, lora.memory.device_total_bytes);
        });
    });
});

describe('for everyone', () => {
    it('two plans stand side by side on a phone', async () => {
        await inTab(browser, server, { path: VIEW + pinPart({ ...WIDE, recompute: 'none' }), width: 390, height: 844 }, async ({ page }) => {
            await ready(page);
            assert.deepEqual(await page.locator('.sheet thead th > .muted').allTextContents(), ['TP8 PP4 VPP2 DP4 SP MB1 selective', 'TP4 PP4 VPP2 DP8 SP MB1']);
            await becomes(() => page.locator('.sheet .scroll-hint').count(), 0, 'nothing to scroll to');
        });
    });

    for (const width of [390, 1024]) {
        it(`strategies stay a table of rows that scrolls sideways, ${width} pixels wide`, async () => {
            await inTab(browser, server, { path: `${VIEW}&c.of=strategies`, width, height: 900 }, async ({ page }) => {
                await ready(page, 'strategies');
                const high = await page.locator('[role=grid]').first().locator('tbody tr:not(.part, .words)').evaluateAll((rows) => rows.map((row) => row.clientHeight));
                assert.ok(Math.max(...high) < 110, `${Math.max(...high)}`);
                await page.locator('.scroll-hint').first().waitFor();
            });
        });
    }

    for (const colorScheme of ['light', 'dark']) {
        it(`axe-core finds nothing in ${colorScheme}: plans, strategies, fine-tuning, narrow`, async () => {
            await inTab(browser, server, { path: PAIR, colorScheme }, async ({ page }) => {
                await ready(page);
                await expectAccessible(page, 'plans');
                for (const [name, id] of [['Strategies', 'strategies'], ['Fine-tuning', 'tuning']]) {
                    await page.getByRole('radio', { name, exact: true }).check();
                    await ready(page, id);
                    await expectAccessible(page, name);
                }
                if (colorScheme === 'dark')
                    return;
                await page.setViewportSize({ width: 320, height: 640 });
                await fitsAcross(page);
                await page.getByRole('radio', { name: 'Plans', exact: true }).check();
                await ready(page);
                await fitsAcross(page);
                await expectAccessible(page, 'narrow');
            });
        });
    }
});
