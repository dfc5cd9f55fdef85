/** What a manager reads: the answer on one page of paper. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answering, becomes, inTab, openPlan } from './lib/browser.mjs';
import { gib, percent } from './lib/format.mjs';
import { browser, server } from './lib/here.mjs';
import { readPdf } from './lib/pdf.mjs';

const joined = (text) => text.replace(/\s+/g, '');

/** Asserts that the page is printed on one sheet of A4, with these texts; its words. */
async function printed(page, texts) {
    const { pages, width, height, words } = readPdf(await page.pdf({ preferCSSPageSize: true }));
    assert.equal(pages, 1);
    assert.deepEqual([Math.round(width), Math.round(height)], [595, 842]);
    for (const text of texts)
        assert.ok(words.includes(joined(text)), `${text} in ${words}`);
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
                `${gib(memory.device_total_bytes)} of ${gib(memory.usable_bytes)} GiB per device`, 'Memory per device', 'Optimizer states',
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
});
