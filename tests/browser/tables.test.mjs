/** Tables: widths of columns, set with the pointer and with keys, and what a phone shows of a wide one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { becomes, fitsAcross, inTab, openPlan, unfold } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';
import { eventsOf, startSearches } from './lib/searches.mjs';

const PATH = '/?example=llama-70b&nodes=16&seq=8192&gbs=512&attn=flash3&tp=8&sp=1&pp=4&vpp=2&tokens=2000000000000&view=search&s.run=1';

/** A page with the plans of a search of our own making in its table. */
async function withPlans(use, options = {}, sizes = {}) {
    const standIn = await startSearches(server, { events: eventsOf(sizes) });
    try {
        await inTab(browser, standIn, { path: PATH, ...options }, async ({ page }) => {
            await page.waitForSelector('[data-testid="search"][data-phase="done"]');
            await use(page, page.getByRole('grid', { name: 'Plans found' }));
        });
    } finally {
        await standIn.stop();
    }
}

/** Of every column, in whole pixels. */
const widthsOf = (grid) => grid.locator('thead th').evaluateAll((heads) => heads.map((head) => Math.round(head.getBoundingClientRect().width)));
const headOf = (grid, name) => grid.locator(`thead th[data-name="${name}"]`);

/** The widths with one of them another. */
const withOne = (widths, at, width) => widths.map((own, place) => (place === at ? width : own));

/** Pulls the edge of a head sideways, as a hand does. */
async function pull(page, head, by) {
    await head.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await head.locator('.grip').boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + by / 2, y + height / 2);
    await page.mouse.move(x + width / 2 + by, y + height / 2);
    await page.mouse.up();
}

describe('the width of a column', () => {
    it('follows the pointer on the edge of its head, the others stay, a double click undoes it', async () => {
        await withPlans(async (page, grid) => {
            const before = await widthsOf(grid);
            const at = await headOf(grid, 'headroom_bytes').evaluate((head) => head.cellIndex);
            const sorted = await headOf(grid, 'headroom_bytes').getAttribute('aria-sort');
            await pull(page, headOf(grid, 'headroom_bytes'), 60);
            await becomes(() => widthsOf(grid), withOne(before, at, before[at] + 60));
            await pull(page, headOf(grid, 'headroom_bytes'), -90);
            await becomes(() => widthsOf(grid), withOne(before, at, before[at] - 30), 'narrower than its words');
            await pull(page, headOf(grid, 'headroom_bytes'), -900);
            await becomes(async () => (await widthsOf(grid))[at], 44, 'never less than can be taken hold of');
            assert.equal(await headOf(grid, 'headroom_bytes').getAttribute('aria-sort'), sorted, 'pulling is no sorting');
            await fitsAcross(page);
            await headOf(grid, 'headroom_bytes').locator('.grip').dblclick();
            await becomes(() => widthsOf(grid), before);
        });
    });

    it('follows Shift and an arrow on its head, and Delete undoes it; the cursor stays', async () => {
        await withPlans(async (page, grid) => {
            const before = await widthsOf(grid);
            const at = await headOf(grid, 'step_s').evaluate((head) => head.cellIndex);
            await headOf(grid, 'step_s').getByRole('button').focus();
            for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowRight'])
                await page.keyboard.press(`Shift+${key}`);
            await becomes(() => widthsOf(grid), withOne(before, at, before[at] + 32));
            assert.equal(await page.evaluate(() => document.activeElement.closest('th')?.dataset.name), 'step_s');
            await page.keyboard.press('Delete');
            await becomes(() => widthsOf(grid), before);
        });
    });

    it('outlasts a reload, which nothing that is kept there can break', async () => {
        await withPlans(async (page, grid) => {
            const before = await widthsOf(grid);
            await pull(page, headOf(grid, 'rank'), 40);
            const wide = await widthsOf(grid);
            assert.notDeepEqual(wide, before);
            const reload = async () => {
                await page.reload();
                await page.waitForSelector('[data-testid="search"][data-phase="done"]');
            };
            await reload();
            await becomes(() => widthsOf(grid), wide);
            const names = await grid.locator('thead th').evaluateAll((heads) => heads.map(({ dataset }) => dataset.name));
            const all = (width) => JSON.stringify({ 'Plans found': Object.fromEntries(names.map((name) => [name, width])) });
            for (const nonsense of ['{', 'null', '7', '[3]', '{"Plans found":null}', all('90'), all(-90), all(1e9), all(null)]) {
                await page.evaluate((text) => localStorage.setItem('shardline.widths', text), nonsense);
                await reload();
                await becomes(() => widthsOf(grid), before, nonsense);
            }
        });
    });

    it('outlasts a look at another view, and rows that come into sight', async () => {
        await withPlans(async (page, grid) => {
            await pull(page, headOf(grid, 'rank'), 40);
            const wide = await widthsOf(grid);
            await page.locator('.virtual').evaluate((scroller) => { scroller.scrollTop = scroller.scrollHeight; });
            await becomes(() => widthsOf(grid), wide);
            await page.getByRole('tab', { name: 'Memory and time' }).click();
            await page.getByTestId('memory').waitFor();
            await page.getByRole('tab', { name: 'Search' }).click();
            await becomes(() => widthsOf(grid), wide);
        });
    });
});

describe('a table that is wider than its place', () => {
    it('says so, for as long as it is', async () => {
        await withPlans(async (page, grid) => {
            const hint = page.getByTestId('plans').locator('.scroll-hint');
            await becomes(() => hint.count(), 1);
            for (const head of await grid.locator('thead th').all())
                await pull(page, head, -300);
            await becomes(() => hint.count(), 0);
        });
    });
});

describe('a table that is taller than its place', () => {
    it('fades at its lower edge for as long as it goes on there', async () => {
        await inTab(browser, server, { path: PATH.replace('view=search&s.run=1', 'view=compare') }, async ({ page }) => {
            await page.waitForSelector('[data-testid="compared-plans"][data-phase="done"]');
            const region = page.getByRole('grid').locator('..');
            const faded = () => region.evaluate((node) => getComputedStyle(node).maskImage !== 'none');
            await becomes(faded, true, 'at first');
            await region.evaluate((node) => node.scrollTo(0, node.scrollHeight));
            await becomes(faded, false, 'at its end');
            await region.evaluate((node) => node.scrollTo(0, 0));
            await becomes(faded, true, 'again');
            await page.emulateMedia({ media: 'print' });
            assert.equal(await faded(), false, 'on paper');
        });
    });
});

describe('a wide table on a phone', () => {
    const PLAN = '/?example=llama-70b&nodes=16&tp=8&sp=1&pp=4&vpp=2&gbs=512&seq=8192';

    it('has the words of a row below its figures, all in view, and is a table still', async () => {
        const { tab } = await openPlan(browser, server, PLAN, { width: 390, height: 844 });
        const { page } = tab;
        await page.keyboard.press('e');
        for (const name of [/^Memory per device by term/, /^Step time by term/]) {
            const table = page.getByRole('table', { name });
            await table.locator('td.how').first().waitFor();
            assert.equal(await table.locator('td.how').first().evaluate((cell) => getComputedStyle(cell, '::before').content), '"Formula "', 'words have their own head');
            const names = await table.locator('tbody th').evaluateAll((heads) => heads.flatMap((head) => {
                const text = [...head.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
                const range = document.createRange();
                return [...text.data.matchAll(/\S+/g)].filter(({ index, 0: word }) => {
                    range.setStart(text, index);
                    range.setEnd(text, index + word.length);
                    return range.getClientRects().length > 1;
                }).map(([word]) => word);
            }));
            assert.deepEqual(names, [], 'no word of a name is broken');
            const rows = await table.locator('tbody tr').evaluateAll((lines) => lines.map((line) => {
                const [head, ...cells] = [...line.children].map((cell) => cell.getBoundingClientRect());
                const words = cells.pop();
                const seen = line.closest('.scroll').getBoundingClientRect();
                return { below: cells.every((cell) => cell.bottom <= words.top + 1) && head.bottom <= words.top + 1,
                    inView: words.left >= seen.left - 1 && words.right <= seen.right + 1, name: head.width <= seen.width / 2 + 1 };
            }));
            assert.ok(rows.length > 5);
            assert.deepEqual(rows.filter(({ below, inView, name: short }) => !below || !inView || !short), []);
            assert.equal(await table.getByRole('rowheader').count(), rows.length + await table.locator('tfoot th').count());
            assert.equal(await table.getByRole('columnheader', { name: 'Formula' }).count(), 1);
        }
        await fitsAcross(page);
        await page.keyboard.press('e');
        await unfold(page.getByTestId('communication'));
        await becomes(() => page.getByTestId('communication').locator('.scroll').getAttribute('data-over'), 'false', 'collectives');
        await tab.expectClean();
        await tab.close();
    });

    const kept = (scroller) => scroller.evaluate((node) => {
        const view = node.getBoundingClientRect();
        return [...node.querySelectorAll('tbody :is(th, td), tfoot :is(th, td)')].filter((cell) => {
            const { left, right, width } = cell.getBoundingClientRect();
            return width > 0 && (left < view.left - 1 || right > view.right + 1);
        }).length;
    });

    for (const width of [390, 512, 1024]) {
        it(`has every figure of fine-tuning and every word of its methods in view, with heads that sort, ${width} pixels wide`, async () => {
            const options = { path: '/?example=llama-8b&nodes=1&fw=fsdp2&zero=3&view=compare&c.of=finetuning', width, height: 844 };
            await inTab(browser, server, options, async ({ page }) => {
                await page.getByTestId('tuning-reason').waitFor();
                for (const name of ['Ways of fine-tuning', 'Methods in words']) {
                    const grid = page.getByRole('grid', { name });
                    await becomes(() => kept(grid.locator('..')), 0, name);
                    assert.ok(await grid.getByRole('rowheader').count() > 4);
                }
                const grid = page.getByRole('grid', { name: 'Ways of fine-tuning' });
                const cell = grid.locator('tbody tr').first().locator('[data-name="step_s"]');
                assert.equal(await cell.evaluate((node) => getComputedStyle(node, '::before').content), '"Step"', 'a figure has its own head');
                await grid.getByRole('button', { name: 'Step', exact: true }).click();
                const steps = async () => (await grid.locator('[data-name="step_s"] .num').allTextContents()).map(parseFloat);
                await becomes(async () => (await steps())[0], Math.min(...await steps()), 'sorted by the step');
                await fitsAcross(page);
            });
        });
    }

    it('has the memory of a long pipeline in view, and of all its stages the names of the terms wherever it is scrolled to', async () => {
        const { tab } = await openPlan(browser, server, '/?example=llama-70b&nodes=16&tp=8&sp=1&pp=16&gbs=512&seq=8192', { width: 390, height: 844 });
        const scroller = tab.page.getByTestId('memory').locator('.scroll');
        await becomes(() => scroller.getAttribute('data-over'), 'false');
        assert.equal(await kept(scroller), 0);
        await tab.page.getByRole('button', { name: 'Show all 16 distinct ranks' }).click();
        await becomes(() => scroller.getAttribute('data-over'), 'true');
        await scroller.evaluate((node) => { node.scrollLeft = node.scrollWidth; });
        const [left, names] = await scroller.evaluate((node) => [node.getBoundingClientRect().left,
            [...node.querySelectorAll('tbody th')].map((head) => head.getBoundingClientRect().left)]);
        assert.deepEqual(names.filter((at) => Math.abs(at - left) > 1), []);
        await fitsAcross(tab.page);
        await tab.expectClean();
        await tab.close();
    });

    it('has every figure of the KV cache of models in view', async () => {
        await inTab(browser, server, { path: '/?page=concepts&p.term=cache', width: 390, height: 844 }, async ({ page }) => {
            const table = page.getByRole('table', { name: /^KV cache of models/ });
            await table.waitFor();
            await becomes(() => kept(table.locator('..')), 0);
        });
    });

    it('says of every plan how it is cut, in view wherever it is scrolled to, beneath heads that stay', async () => {
        await withPlans(async (page, grid) => {
            await grid.scrollIntoViewIfNeeded();
            /* What the eye meets where a text begins and ends. */
            const unseen = () => page.locator('.virtual').evaluate((scroller) => {
                const view = scroller.getBoundingClientRect();
                const heads = scroller.querySelector('thead th').getBoundingClientRect();
                const rows = [...scroller.querySelectorAll('tbody tr[data-key]')].filter((row) => {
                    const { top, bottom } = row.getBoundingClientRect();
                    return top >= heads.bottom && bottom <= view.bottom;
                });
                const texts = rows.map((row) => {
                    const range = document.createRange();
                    range.selectNodeContents(row.querySelector('[data-name="cut"]'));
                    return range.getBoundingClientRect();
                });
                const covered = texts.filter(({ left, right, top, bottom }) => left < view.left || right > view.right
                    || [left + 1, right - 1].some((x) => document.elementFromPoint(x, (top + bottom) / 2)?.dataset.name !== 'cut'));
                return { rows: rows.length > 4, covered: covered.length, heads: heads.top - view.top };
            });
            const all = { rows: true, covered: 0, heads: 0 };
            await becomes(unseen, all, 'at first');
            await page.locator('.virtual').evaluate((scroller) => scroller.scrollTo(150, 1234));
            await becomes(unseen, all, 'below and aside');
            await grid.locator('tbody tr[data-key] .pin').first().focus();
            await page.keyboard.press('Control+End');
            await becomes(() => page.evaluate(() => document.activeElement.closest('tr').getAttribute('aria-rowindex')), await grid.getAttribute('aria-rowcount'));
            await becomes(() => page.evaluate(() => {
                const { bottom } = document.activeElement.getBoundingClientRect();
                return bottom <= document.querySelector('.virtual').getBoundingClientRect().bottom;
            }), true, 'the last row is in view');
        }, { width: 390, height: 844 }, { best: 100, front: 300 });
    });
});
