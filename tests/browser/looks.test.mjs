/** Figures in the reader's units, and the page as different readers must see it: little room, more contrast, colours of their own. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lookOf, TIME_TERMS } from '../../static/src/widgets/terms.js';
import { expectAccessible } from './lib/axe.mjs';
import { answering, atRest, becomes, fitsAcross, inTab, openPlan, seen, type, unfold } from './lib/browser.mjs';
import { borne, borneSize, offOf, threeDigits } from './lib/format.mjs';
import { browser, server } from './lib/here.mjs';

const PRICED = `/?example=llama-70b&nodes=16&tp=8&sp=1&pp=4&vpp=2&gbs=512&seq=8192&attn=flash3&tokens=2000000000000&extra=${
    encodeURIComponent('{"cluster":{"price_per_node_hour":98.5}}')}`;

const valueOf = (page, id) => seen(page.getByTestId(id).locator('dd').first());

describe('units', () => {
    it('acceptance 16: bytes, rates and costs are written as the reader chose, which is remembered; the service hears nothing of it', async () => {
        const { tab, request, answer } = await openPlan(browser, server, PRICED);
        const { page } = tab;
        const shown = async () => [await valueOf(page, 'peak'), await valueOf(page, 'tokens'), await valueOf(page, 'cost')];
        const { throughput, memory, cost, resolved: { cluster } } = answer;
        const sure = (value) => borne(value, offOf(answer) * value);
        const peak = (unit) => borneSize(answer, memory.peak_reserved_bytes, unit);
        const usual = [`${peak(2 ** 30)} GiB`, `${sure(throughput.tokens_per_s / 1e3)} k`, `${sure(cost / 1e6)} M`];
        const other = [`${peak(1e9)} GB`, sure(throughput.samples_per_s), `${threeDigits(cluster.nodes * 98.5 / 1e3)} k`];
        assert.deepEqual(await shown(), usual);
        await page.locator('[data-testid="what-if"][data-ready="true"]').waitFor(); /* the last that a plan asks by itself */
        const asked = [];
        page.on('request', (each) => asked.push(each.url()));
        await page.getByRole('button', { name: 'Units: GiB' }).click();
        await page.getByRole('button', { name: 'Tokens/s. Switch to samples/s' }).click();
        await page.getByRole('button', { name: 'Cost of the run. Switch to cost per hour' }).click();
        await becomes(shown, other);
        assert.deepEqual(asked, []);
        const again = await answering(tab, () => page.reload());
        assert.deepEqual(again.request, request);
        await becomes(shown, other);
        await page.getByTestId('cost').locator('.num').first().click();
        assert.match(await page.locator('.popover .formula').first().innerText(), /nodes x price_per_node_hour/);
        await tab.expectClean();
        await tab.close();
    });
});

/** The look of every row of a figure, as a swatch draws it. */
const swatches = (page, id) => page.getByTestId(id).locator('tbody th').evaluateAll((heads) => heads.map((head) => {
    const rect = head.querySelector('.swatch rect');
    return { name: head.textContent.trim(), look: `${rect.getAttribute('class')} ${rect.getAttribute('fill') ?? 'solid'}` };
}));

describe('terms', () => {
    it('of a step are told apart by tone or hatch, all that there are', () => {
        const looks = [...TIME_TERMS.keys()].map((name) => {
            const { tone, hatched = false } = lookOf(TIME_TERMS, name);
            return `${tone} ${hatched}`;
        });
        assert.equal(new Set(looks).size, looks.length, looks.join(', '));
    });

    for (const path of ['/?example=llama-70b&nodes=16&tp=8&sp=1&pp=4', '/?example=llama-8b&fw=fsdp2&zero=3&nodes=2', '/?example=llama-8b&fw=deepspeed&zero=2']) {
        it(`of memory too, and a hatch is never a mere colour: ${path}`, async () => {
            const { tab } = await openPlan(browser, server, path);
            const rows = await swatches(tab.page, 'memory');
            assert.ok(rows.length > 5);
            const looks = [...new Set(rows.map(({ look }) => look))];
            const named = (look) => [...new Set(rows.filter((row) => row.look === look).map(({ name }) => name.split(/[,(]/)[0].trim()))];
            const alike = looks.map(named).filter((names) => names.length > 1);
            assert.deepEqual(alike, []);
            await tab.expectClean();
            await tab.close();
        });
    }
});

describe('the page in little room', () => {
    for (const [what, options] of [['on a phone', { width: 390, height: 844 }], ['at 200 % on 700 pixels', { width: 350, height: 500 }]]) {
        it(`${what} does not scroll sideways in any view`, async () => {
            await inTab(browser, server, { ...options, path: '/version' }, async (tab) => {
                const { page } = tab;
                await answering(tab, () => page.goto(server.url + PRICED));
                await fitsAcross(page, 'the answer');
                await page.getByRole('button', { name: 'Export: Memory per device' }).click();
                await fitsAcross(page, 'the formats of a file');
                await page.keyboard.press('Escape');
                await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
                for (const id of ['timeline', 'sharding'])
                    await page.waitForSelector(`[data-testid="${id}"][data-phase="done"]`);
                await fitsAcross(page, 'the step');
                await page.getByRole('tab', { name: 'Search' }).click();
                await page.getByTestId('search').waitFor();
                await fitsAcross(page, 'the search');
            });
        });
    }

    it('of 320 pixels breaks words that are longer: pointers of what is refused, names in an explanation', async () => {
        await inTab(browser, server, { width: 320, height: 640, path: '/version', faults: ['422 POST /api/v1/estimates', '422 POST /api/v1/estimates:choices'] }, async (tab) => {
            const { page } = tab;
            const extra = encodeURIComponent(JSON.stringify({ workload: { [`a_member_that_nobody_${'knows_'.repeat(8)}of`]: 1 } }));
            await answering(tab, () => page.goto(`${server.url}/?example=llama-8b&extra=${extra}`));
            await fitsAcross(page, 'what is refused');
            await answering(tab, () => page.goto(server.url + PRICED));
            await page.getByTestId('memory').locator('.bar-totals .num').first().click();
            const inputs = page.locator('.popover .inputs');
            assert.match(await seen(inputs), /temporary_gradients_of_activations/);
            await fitsAcross(page, 'an explanation');
            const [popover, table] = [await page.locator('.popover').boundingBox(), await inputs.boundingBox()];
            assert.ok(table.x + table.width < popover.x + popover.width, 'within its edge');
        });
    });

    it('on a phone shows tables of many columns row by row, each cell with its head', async () => {
        await inTab(browser, server, { width: 390, height: 844, path: '/version' }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.goto(`${server.url}${PRICED}&view=step&at=1`));
            for (const id of ['timeline', 'sharding'])
                await page.waitForSelector(`[data-testid="${id}"][data-phase="done"]`);
            const scrolled = () => page.locator('main .scroll:visible').evaluateAll((list) => list
                .filter((region) => region.scrollWidth > region.clientWidth + 1).map((region) => region.getAttribute('aria-label')));
            for (const id of ['stages', 'at-cursor', 'memory-table'])
                await unfold(page.getByTestId(id));
            const busy = page.getByTestId('stages').locator('td').nth(1);
            assert.equal(await busy.evaluate((cell) => getComputedStyle(cell, '::before').content), '"Busy"');
            await becomes(scrolled, [], 'of a step');
            await page.getByRole('tab', { name: 'Search' }).click();
            await page.getByTestId('search').getByRole('button', { name: 'Search', exact: true }).click();
            await page.waitForSelector('[data-testid="search"][data-phase="done"]');
            for (const id of ['neighbours', 'rejected'])
                await unfold(page.getByTestId(id));
            await becomes(scrolled, [], 'of a search');
            await page.setViewportSize({ width: 1400, height: 1000 });
            await becomes(() => page.locator('thead:visible', { hasText: 'The nearest' }).count(), 1);
        });
    });

    it('on a phone has the verdict on the first screen, and the settings fold open where they are asked for', async () => {
        const faults = ['422 POST /api/v1/estimates'];
        await inTab(browser, server, { width: 390, height: 844, path: '/version', faults }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.goto(server.url + PRICED));
            assert.ok((await page.locator('.top').boundingBox()).height < 90, 'the header takes two lines');
            const { y, height } = await page.getByTestId('sentence').boundingBox();
            assert.ok(y + height < 844, `ends at ${y + height}`);
            const batch = page.locator('#field-globalBatch');
            assert.ok(!await batch.isVisible());
            const fold = page.getByText('Model, cluster and settings');
            await fold.click();
            await answering(tab, () => type(page, 'globalBatch', '511'));
            await fold.click();
            await page.getByTestId('verdict').getByRole('button', { name: 'Global batch' }).first().click();
            await becomes(() => page.evaluate(() => document.activeElement.id), 'field-globalBatch');
            assert.ok(await batch.isVisible());
            await page.setViewportSize({ width: 1400, height: 1000 });
            await fold.waitFor({ state: 'hidden' });
            assert.ok(await batch.isVisible(), 'beside the answer there is nothing to fold');
        });
    });
});

describe('a fold that the keyboard is on', () => {
    it('is outlined clear of its words, and the outline is not cut', async () => {
        await inTab(browser, server, { path: '/version' }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.goto(server.url + PRICED));
            const cramped = () => page.locator('summary:visible').evaluateAll((all) => all.filter((summary) => {
                summary.focus({ focusVisible: true });
                const { outlineOffset, outlineWidth } = getComputedStyle(summary);
                const range = document.createRange();
                range.selectNodeContents(summary);
                const [box, words] = [summary.getBoundingClientRect(), range.getBoundingClientRect()];
                const room = summary.parentElement.getBoundingClientRect();
                const inner = -parseFloat(outlineOffset) + 1; /* the sign of a fold stands before its words */
                return parseFloat(outlineWidth) < 2 || parseFloat(getComputedStyle(summary).paddingLeft) < inner + 2
                    || box.top + inner > words.top || box.bottom - inner < words.bottom || (summary.matches('.fold > *') && box.left < room.left);
            }).map((summary) => summary.textContent));
            assert.deepEqual(await cramped(), []);
            await page.getByRole('tab', { name: 'Search' }).click();
            await page.getByTestId('search').waitFor();
            assert.deepEqual(await cramped(), [], 'of a search');
        });
    });
});

describe('what binds', () => {
    it('acceptance 16: is told in the unit that the reader chose, in the very figures beside it', async () => {
        const { tab, answer: { memory } } = await openPlan(browser, server, '/?example=llama-70b&nodes=1&tp=8&sp=1&gbs=128&seq=8192&attn=flash3');
        const { page } = tab;
        const binding = page.getByTestId('verdict').locator('.binding');
        assert.match(await seen(binding), /^Memory: rank 0 .* needs [\d,.]+ GiB of 79\.2 GiB usable/);
        await page.getByRole('button', { name: 'Units: GiB' }).click();
        const told = (bytes) => (bytes / 1e9 >= 99.95 ? Math.round(bytes / 1e9).toLocaleString('en-US') : (bytes / 1e9).toFixed(1));
        const [needs, usable] = [memory.device_total_bytes, memory.usable_bytes].map(told);
        const words = await seen(binding);
        assert.ok(words.includes(`needs ${needs} GB of ${usable} GB usable`), words);
        assert.ok(!words.includes('GiB'), words);
        await page.goto(`${page.url()}&view=compare`);
        await page.waitForSelector('[data-testid="compared-plans"][data-phase="done"]');
        assert.ok((await seen(page.getByTestId('compare'))).includes(`needs ${needs} GB of ${usable} GB usable`));
        await tab.expectClean();
        await tab.close();
    });
});

describe('the page for a reader', () => {
    it('who wants more contrast has lines of 3 to 1 in both themes, and nothing for axe-core to find', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await page.emulateMedia({ contrast: 'more' });
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            const contrast = () => page.evaluate(() => {
                const bright = (colour) => colour.match(/\d+/g).slice(0, 3).map((part) => part / 255)
                    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
                    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0.05);
                const { borderTopColor, backgroundColor } = getComputedStyle(document.querySelector('.panel'));
                const both = [bright(borderTopColor), bright(backgroundColor)];
                return Math.max(...both) / Math.min(...both);
            });
            assert.ok(await contrast() >= 3, `light: ${await contrast()}`);
            await page.emulateMedia({ contrast: 'more', colorScheme: 'dark' });
            await becomes(() => page.evaluate(() => document.documentElement.dataset.theme), 'dark');
            assert.ok(await contrast() >= 3, `dark: ${await contrast()}`);
            await expectAccessible(page, 'more contrast, dark');
        });
    });

    it('with colours of their own sees which switch, tab and choice is on', async () => {
        await inTab(browser, server, { colorScheme: 'dark', path: '/version' }, async (tab) => {
            const { page } = tab;
            await page.emulateMedia({ forcedColors: 'active' });
            await answering(tab, () => page.goto(server.url + PRICED));
            const look = (selector) => page.locator(selector).first().evaluate((node) => {
                const { backgroundColor, outlineStyle, outlineWidth } = getComputedStyle(node);
                return `${backgroundColor} ${outlineStyle === 'none' ? '' : outlineWidth}`;
            });
            const on = await look('#field-sequence');
            assert.notEqual(await look('.tabs [aria-selected="true"]'), await look('.tabs [aria-selected="false"]'));
            assert.notEqual(await look('[data-field="zero"] input:checked + span'), await look('[data-field="zero"] input:not(:checked) + span'));
            assert.match(await look('.pages a[aria-current]'), / 2px$/);
            await answering(tab, () => page.locator('#field-sequence').click());
            await atRest(page);
            assert.notEqual(await look('#field-sequence'), on);
        });
    });
});
