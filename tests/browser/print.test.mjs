/** What a manager reads: the answer on one page of paper. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answering, becomes, inTab, openPlan } from './lib/browser.mjs';
import { borneSize, gib, percent } from './lib/format.mjs';
import { browser, server } from './lib/here.mjs';
import { readPdf } from './lib/pdf.mjs';
import { eventsOf, startSearches } from './lib/searches.mjs';
import { openStep, pixel, placesOn } from './lib/step.mjs';

const joined = (text) => text.replace(/\s+/g, '');

/** Asserts that the page is printed on one sheet of A4, with these texts; its words. */
async function printed(page, texts) {
    const { pages, width, height, words } = readPdf(await page.pdf({ preferCSSPageSize: true }));
    assert.equal(pages, 1);
    assert.deepEqual([Math.round(width), Math.round(height)], [595, 842]);
    for (const text of texts)
        assert.ok(words.includes(joined(text)), `${text} in ${words}`);
    const margin = { top: '11mm', bottom: '11mm', left: '11mm', right: '11mm' };
    assert.equal(readPdf(await page.pdf({ format: 'Letter', margin })).pages, 1, 'and on one of Letter');
    return words;
}

describe('the printed page', () => {
    it('acceptance 12: is one sheet with verdict, figures, memory, waterfall, settings and link, without controls', async () => {
        await inTab(browser, server, { colorScheme: 'dark' }, async (tab) => {
            const { page } = tab;
            const { answer } = await answering(tab, () => page.click('[data-example="llama-70b"]'));
            await page.getByText('NVIDIA H100 SXM5 80GB').first().waitFor({ state: 'attached' });
            const { memory, throughput } = answer;
            const words = await printed(page, ['Llama 3.1 70B on 16 nodes of 8 × NVIDIA H100 SXM5 80GB', '✓ Fits',
                `${borneSize(answer, memory.device_total_bytes, 2 ** 30)} of ${gib(memory.usable_bytes)} GiB per device`, 'Memory per device', 'Optimizer states',
                'Where the time goes', 'Pipeline bubble', `${percent(throughput.mfu_full)} MFU`, 'Virtual pipeline 2', 'Global batch 512',
                `Warning: ${answer.warnings[0].message}`, `${answer.assumptions.length} assumptions`, page.url()]);
            for (const control of ['Export', 'Undo', 'Copy as curl', 'Hub id', 'Search'])
                assert.ok(!words.includes(joined(control)), control);
            await page.emulateMedia({ media: 'print' });
            assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
            assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.verdict-text')).color), 'rgb(23, 33, 45)');
        });
    });

    it('is one sheet for a long pipeline that does not fit, explained or not', async () => {
        const { tab, answer } = await openPlan(browser, server, '/?example=llama-70b&nodes=8&tp=2&sp=1&pp=16&vpp=1&gbs=512&seq=8192&rc=none');
        try {
            assert.equal(answer.fits, false);
            assert.ok(answer.memory.ranks.length > 6);
            await tab.page.keyboard.press('e');
            await becomes(() => tab.page.locator('td.how').count().then((count) => count > 0), true);
            const words = await printed(tab.page, ['✕ Does not fit', 'Memory per device', 'Where the time goes', tab.page.url()]);
            assert.ok(!words.includes('Formula'));
            await tab.expectClean();
        } finally {
            await tab.close();
        }
    });

    it('has every plan of a search, not only those in sight, and nothing that is pressed', async () => {
        const standIn = await startSearches(server, { events: eventsOf({ best: 100, front: 60 }) });
        try {
            await inTab(browser, standIn, { path: '/?example=llama-70b&nodes=16&tp=8&pp=4&gbs=512&view=search&s.run=1' }, async ({ page }) => {
                await page.waitForSelector('[data-testid="search"][data-phase="done"]');
                const rows = () => page.getByRole('grid', { name: 'Plans found' }).locator('tbody tr:not(.gap)').count();
                const inSight = await rows();
                await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
                await becomes(rows, Number(await page.getByRole('grid', { name: 'Plans found' }).getAttribute('aria-rowcount')) - 1);
                assert.ok(await rows() > inSight);
                await page.evaluate(() => dispatchEvent(new Event('afterprint')));
                await becomes(rows, inSight);
                const { words } = readPdf(await page.pdf({ preferCSSPageSize: true }));
                assert.ok(words.includes('Tokens/s'), words);
                for (const control of ['Export CSV', 'Why not another plan', 'Objective', 'Pin to compare'])
                    assert.ok(!words.includes(joined(control)), control);
            });
        } finally {
            await standIn.stop();
        }
    });

    it('draws what the screen shows in the dark for white paper', async () => {
        const { tab } = await openPlan(browser, server, '/?example=llama-8b&nodes=1&tp=2&sp=1&gbs=128&seq=8192', { colorScheme: 'dark' });
        try {
            const { page } = tab;
            const { timeline } = await openStep(tab);
            const { y } = (await placesOn(page, timeline)).point(0, 0);
            const name = () => pixel(page, 'timeline-lanes', { x: 4, y });
            const dark = await name();
            assert.ok(Math.max(...dark) < 128 && Math.max(...dark) > 0, `a dark ground behind the name of the first stage: ${dark}`);
            await page.evaluate(() => addEventListener('beforeprint', () => { globalThis.atPrint = document.documentElement.dataset.theme; }));
            await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
            const light = await name();
            assert.ok(Math.min(...light) > 128, `a pale one: ${light}`);
            await page.evaluate(() => dispatchEvent(new Event('afterprint')));
            await becomes(name, dark);
            await page.pdf();
            assert.equal(await page.evaluate(() => globalThis.atPrint), 'light');
            await tab.expectClean();
        } finally {
            await tab.close();
        }
    });
});
