/** The concepts: words, formula and a miniature whose every number is the service's answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, clickAtOnce, fitsAcross, inTab, openPlan, openTab, seen } from './lib/browser.mjs';
import { gib, percent, threeDigits } from './lib/format.mjs';
import { browser, server } from './lib/here.mjs';

const at = (term, more = '') => `/?page=concepts&p.term=${term}${more}`;
const done = (page) => page.waitForSelector('[data-testid="miniature"][data-phase="done"]');
const title = (page) => page.locator('article > h2');

/** Goes to a concept through the list, until its miniature is answered. */
async function open(page, id) {
    const link = page.locator(`.terms a[href$="p.term=${id}"]`);
    await link.click();
    await becomes(() => seen(title(page)), await link.textContent());
    await done(page);
}

/** The answers of a kind that come while `act` runs, by the text of their request. */
async function answersOf(page, path, act) {
    const found = [];
    const note = (response) => {
        if (new URL(response.url()).pathname === path)
            found.push(response.json().then((answer) => ({ request: response.request().postDataJSON(), answer })));
    };
    page.on('response', note);
    await act();
    await done(page);
    page.off('response', note);
    return Promise.all(found);
}

/** A row of figures, as read. */
const figure = (page, name) => page.locator(`tr[data-figure="${name}"] td`).evaluateAll((cells) =>
    cells.map((cell) => [...cell.querySelectorAll('.num')].map((num) => num.firstChild.textContent.trim())[0] ?? cell.textContent.trim()));

describe('every concept', () => {
    it('has words, a formula, a source and a miniature that the service answers', async () => {
        await inTab(browser, server, { path: at('data') }, async ({ page }) => {
            await done(page);
            const ids = await page.locator('.terms li a').evaluateAll((links) =>
                links.map((link) => new URL(link.href).searchParams.get('p.term')));
            assert.equal(ids.length, 21);
            for (const id of ids) {
                await open(page, id);
                assert.ok((await page.locator('.prose').allTextContents()).join(' ').length > 200, id);
                assert.ok((await seen(page.locator('article > .formula'))).length > 10, id);
                assert.match(await seen(page.locator('article > .source')), /^Source .{10}/, id);
                assert.equal(await page.getByTestId('problem').count(), 0, `${id} is answered`);
                assert.ok(await page.locator('[data-testid="miniature"] tbody tr').count() > 1, id);
                assert.equal(await page.getByTestId('assumptions').getByText(/evaluated/).count(), 0, `${id} leaves nothing open`);
                assert.equal(await page.locator('.see a').evaluateAll((links, known) =>
                    links.every((link) => known.includes(new URL(link.href).searchParams.get('p.term'))), ids), true, id);
            }
        });
    });

    it('is in sight in the list, on a phone too', async () => {
        await inTab(browser, server, { path: at('cache'), width: 390, height: 844 }, async ({ page }) => {
            await done(page);
            const [list, own] = await Promise.all(['.terms', '.terms [aria-current]'].map((of) => page.locator(of).boundingBox()));
            assert.ok(own.y >= list.y && own.y + own.height <= list.y + list.height, JSON.stringify({ list, own }));
        });
    });

    it('has on a phone room between the numbers of its axis', async () => {
        for (const term of ['microBatch', 'context']) await inTab(browser, server, { path: `/?page=concepts&p.term=${term}`, width: 390, height: 844 }, async ({ page }) => {
            await done(page);
            const ends = await page.locator('.bar-plot .tick').evaluateAll((ticks) => ticks.map((tick) => tick.getBoundingClientRect()).map(({ left, right }) => [left, right]));
            assert.ok(ends.length > 2, term);
            for (const [at, [left]] of ends.slice(1).entries())
                assert.ok(left > ends[at][1] + 2, `${term}: ${ends[at]} and ${left}`);
        });
    });

    it('is found by typing, and opened from a link, in order and by stepping back', async () => {
        await inTab(browser, server, { path: at('zero') }, async ({ page }) => {
            await done(page);
            assert.equal(await seen(title(page)), 'ZeRO stages');
            await page.fill('#field-terms', 'checkpointing');
            assert.deepEqual(await page.locator('.terms li').allTextContents(), ['Recomputation']);
            await page.keyboard.press('Tab');
            await page.keyboard.press('Enter');
            await becomes(() => seen(title(page)), 'Recomputation');
            assert.equal(await title(page).evaluate((node) => node === document.activeElement), true, 'reading goes on there');
            await page.getByRole('link', { name: 'Fused attention →' }).click();
            await becomes(() => seen(title(page)), 'Fused attention');
            assert.match(page.url(), /p\.term=attention$/);
            await page.goBack();
            await page.goBack();
            await becomes(() => seen(title(page)), 'ZeRO stages');
        });
    });
});

describe('miniatures', () => {
    it('draw the memory of each ZeRO stage as the estimates have it', async () => {
        await inTab(browser, server, { path: '/?page=concepts' }, async ({ page }) => {
            await done(page);
            const answers = await answersOf(page, '/api/v1/estimates', () => open(page, 'zero'));
            const stages = [0, 1, 2, 3].map((stage) => answers.find(({ request }) => request.parallelism.zero_stage === stage).answer);
            const drawn = await page.locator('g[data-variant]').evaluateAll((groups) => groups.map((group) =>
                [...group.querySelectorAll('[data-term]')].reduce((sum, rect) => sum + Number(rect.dataset.bytes), 0)));
            assert.deepEqual(drawn, stages.map(({ memory }) => memory.device_total_bytes));
            assert.deepEqual(await figure(page, 'mfu'), stages.map(({ throughput }) => percent(throughput.mfu_full)));
            assert.equal(await seen(page.locator('tr[data-term="parameters"] th')), 'Parameters, GiB');
            const parameters = await page.locator('tr[data-term="parameters"] .num').allTextContents();
            assert.deepEqual(parameters.map((text) => text.trim().split(',')[0]),
                stages.map(({ memory }) => gib(memory.ranks[0].terms.find(({ name }) => name === 'parameters').bytes)));
            for (const { request, answer } of answers)
                assert.ok(!answer.assumptions.some(({ code }) => code.endsWith('_open')), `nothing is left open: ${JSON.stringify(request)}`);
            await page.locator('tr[data-figure="mfu"] .num').first().click();
            assert.equal(await seen(page.locator('.popover .formula').first()), stages[0].explanations['/throughput/mfu_full'].formula);
            assert.ok(stages[0].memory.device_total_bytes > stages[3].memory.device_total_bytes);
        });
    });

    it('of the pipeline follow stages and micro-batches, by keyboard and in the address', async () => {
        const faults = ['422 POST /api/v1/estimates', '422 POST /api/v1/timelines'];
        await inTab(browser, server, { path: at('pipeline'), faults }, async ({ page }) => {
            await done(page);
            const answers = await answersOf(page, '/api/v1/timelines', async () => {
                await page.locator('input[name="batches"]').focus();
                await page.keyboard.press('ArrowRight');
                await becomes(async () => new URL(page.url()).searchParams.get('p.batches'), '12');
                await becomes(async () => (await figure(page, 'bubble'))[0], percent(3 / 15), '(p - 1)/(m + p - 1)');
            });
            const named = ['gpipe', '1f1b', 'interleaved_1f1b', 'zb_h1'].map((name) =>
                answers.find(({ request }) => request.parallelism.schedule === name).answer);
            assert.deepEqual(await figure(page, 'idle'), named.map((answer) => percent(answer.idle_ratio)));
            assert.deepEqual(await figure(page, 'step'), named.map((answer) =>
                (answer.step_s < 1 ? `${threeDigits(answer.step_s * 1000)} ms` : `${threeDigits(answer.step_s)} s`)));
            assert.equal(await page.locator('.drawn-step canvas').count(), 4);
            await clickAtOnce(page, '[aria-label="Dark theme"]', '.terms a[href$="p.term=zero"]');
            await becomes(() => seen(title(page)), 'ZeRO stages', 'drawings that were due are left, and not drawn');
            await page.goBack();
            await done(page);
            await page.locator('input[name="batches"]').focus();
            await page.keyboard.press('Home');
            await becomes(() => page.locator('.refused').allTextContents().then((texts) => texts.map((text) => text.slice(0, 11))),
                ['Interleaved'], 'what cannot be is refused by name');
            await becomes(async () => (await figure(page, 'bubble'))[0], percent(3 / 4), 'one micro-batch');
        });
    });

    it('say what the courses say: two thirds idle, 2 (n - 1) steps, 16 bytes', async () => {
        await inTab(browser, server, { path: at('naive') }, async ({ page }) => {
            await done(page);
            assert.equal((await figure(page, 'bubble'))[0], '66.7 %');
            await open(page, 'ring');
            assert.deepEqual(await figure(page, 'rounds'), ['14']);
            await page.locator('input[name="gpus"]').focus();
            await page.keyboard.press('Home');
            await becomes(() => figure(page, 'rounds'), ['2']);
            await open(page, 'states');
            assert.deepEqual(await figure(page, 'perParameter'), ['8', '12', '16', '18', '16', '10', '5', '2.4']);
            assert.equal(await page.locator('.concepts tbody tr', { hasText: 'Fullest during' }).count(), 0, 'nobody can say it of any');
            await open(page, 'cache');
            assert.deepEqual(await page.locator('tr[data-bytes]').evaluateAll((rows) => rows.map((row) => Number(row.dataset.bytes))),
                [131072, 262144, 327680, 524288, 70272, 16384]);
            assert.match(await seen(page.locator('tr[data-bytes] td').last()), /^8\.31\sMiB$/, 'states of a sequence are told where there are any');
        });
    });

    it('take the model of the reader\'s plan where there is one', async () => {
        const { tab } = await openPlan(browser, server, '/?example=qwen-32b');
        const { page } = tab;
        await page.getByRole('link', { name: 'Concepts' }).click();
        await done(page);
        const [{ request }] = await answersOf(page, '/api/v1/estimates', () => open(page, 'tensor'));
        assert.equal(request.model.config.hidden_size, 5120);
        const [other] = await answersOf(page, '/api/v1/estimates', () => Promise.all([
            page.waitForResponse('**/api/v1/estimates'), page.selectOption('select[name="m"]', 'llama-8b')]));
        assert.equal(other.request.model.config.hidden_size, 4096);
        await tab.expectClean();
        await tab.close();
    });
});

describe('between the planner and the concepts', () => {
    it('a term and a control lead to their concept', async () => {
        const { tab } = await openPlan(browser, server, '/?example=llama-8b');
        const { page } = tab;
        await page.getByTestId('memory').locator('tbody tr', { hasText: 'Optimizer states' }).locator('.num').first().click();
        await page.getByRole('link', { name: 'Read about Mixed precision and optimizer states' }).click();
        await becomes(() => seen(title(page)), 'Mixed precision and optimizer states');
        assert.equal(await page.getByRole('dialog').count(), 0, 'the explanation is closed');
        await page.goBack();
        await page.locator('[data-field="zero"]').getByRole('link', { name: 'ZeRO stage' }).click();
        await becomes(() => seen(title(page)), 'ZeRO stages');
        await tab.expectClean();
        await tab.close();
    });

    it('a concept puts its setting on the plan, and the step back takes it off', async () => {
        const { tab } = await openPlan(browser, server, '/?example=llama-8b');
        const { page } = tab;
        await page.getByRole('link', { name: 'Concepts' }).click();
        await open(page, 'recompute');
        const { request, answer } = await answering(tab, () =>
            page.getByRole('button', { name: 'Plan it: Full, in your plan' }).click());
        assert.equal(request.workload.recompute, 'full');
        assert.equal(request.cluster.nodes, 1);
        assert.ok(answer.time.terms.find(({ name }) => name === 'recompute').seconds > 0);
        await page.goBack();
        await page.goBack();
        await becomes(() => seen(title(page)), 'Recomputation');
        await tab.expectClean();
        await tab.close();
    });
});

describe('for everyone', () => {
    for (const colorScheme of ['light', 'dark']) {
        it(`words stand on a plain ground where a span is hatched, in ${colorScheme}`, async () => {
            const tab = await openTab(browser, server, { colorScheme, path: '/version' });
            await tab.page.addInitScript(() => {
                globalThis.grounds = new Set();
                const { fillRect, fillText } = CanvasRenderingContext2D.prototype;
                let ground = '';
                CanvasRenderingContext2D.prototype.fillRect = function paint(x, y, width, height) {
                    if (width > 4) ground = typeof this.fillStyle;
                    return fillRect.call(this, x, y, width, height);
                };
                CanvasRenderingContext2D.prototype.fillText = function write(text, ...where) {
                    if (text.startsWith('step ')) globalThis.grounds.add(ground);
                    return fillText.call(this, text, ...where);
                };
            });
            await tab.page.goto(server.url + at('ring'));
            await becomes(() => tab.page.evaluate(() => [...globalThis.grounds]), ['string'], 'no pattern');
            await tab.close();
        });

        it(`axe-core finds nothing in ${colorScheme}, and a phone needs no scrolling sideways`, async () => {
            await inTab(browser, server, { colorScheme, path: at('zero') }, async ({ page }) => {
                for (const id of ['zero', 'pipeline', 'cache']) {
                    await open(page, id);
                    await expectAccessible(page, id);
                    await page.setViewportSize({ width: 390, height: 844 });
                    await fitsAcross(page, id);
                    await page.setViewportSize({ width: 1440, height: 900 });
                }
                await page.setViewportSize({ width: 390, height: 844 });
                await expectAccessible(page, 'on a phone');
            });
        });
    }
});
