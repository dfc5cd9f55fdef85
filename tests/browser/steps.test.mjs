/** Changes of the plan are undone and done again, and the page says which. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planOfExample } from '../../static/src/state/plan.js';
import { changeWords } from '../../static/src/state/steps.js';
import { answering, becomes, choose, inTab, seen } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';

const button = (page, name) => page.getByRole('group', { name: 'Changes of the plan' }).getByRole('button', { name });
const tensorOf = ({ request }) => request.parallelism.tensor;

describe('a change of the plan', () => {
    it('acceptance 13: is undone and done again with keys and buttons, which say what it is', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            assert.equal(await seen(button(page, 'Undo')), '↶ Undo model Llama 3.1 8B');
            assert.ok(await button(page, 'Redo').isDisabled());
            await answering(tab, () => choose(page, 'tensor', '4'));
            await page.getByRole('tab', { name: 'Search' }).click();
            await answering(tab, () => choose(page, 'recompute', 'full'));
            assert.equal(await seen(button(page, 'Undo')), '↶ Undo recompute selective → full');

            const first = await answering(tab, () => page.keyboard.press('Control+z'));
            assert.deepEqual([first.request.workload.recompute, tensorOf(first)], ['selective', 4]);
            assert.equal(await seen(button(page, 'Undo')), '↶ Undo tensor 2 → 4', 'a look at another view is no change');
            assert.equal(await seen(button(page, 'Redo')), '↷ Redo recompute selective → full');
            assert.equal(tensorOf(await answering(tab, () => button(page, 'Undo').click())), 2);
            assert.equal(tensorOf(await answering(tab, () => page.keyboard.press('Control+Shift+Z'))), 4);

            const reloaded = await answering(tab, () => page.reload());
            assert.equal(tensorOf(reloaded), 4);
            assert.equal(await seen(button(page, 'Redo')), '↷ Redo recompute selective → full', 'a reload forgets nothing');
            assert.equal(tensorOf(await answering(tab, () => button(page, 'Undo').click())), 2);

            await answering(tab, () => choose(page, 'zero', '2'));
            assert.ok(await button(page, 'Redo').isDisabled(), 'a new change ends what was undone');
            assert.equal(await seen(button(page, 'Undo')), '↶ Undo ZeRO stage 1 → 2');
        });
    });

    it('undone in the moment after a look leaves the look where it was', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
            await page.getByTestId('map').waitFor();
            await page.waitForTimeout(400); /* the address of the view itself is written */
            await page.evaluate(() => {
                const chosen = document.querySelector('input[name="map-axis"][value="tensor"]');
                chosen.click();
                history.back();
            });
            await page.getByTestId('memory').waitFor();
            assert.doesNotMatch(page.url(), /by=/, 'what was looked at there is not said here');
            await page.goForward();
            await page.getByTestId('map').waitFor();
            await becomes(() => page.locator('input[name="map-axis"]:checked').inputValue(), 'tensor');
            await becomes(() => new URL(page.url()).searchParams.get('by'), 'tensor');
        });
    });

    it('leaves the keys to a text that is being typed', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            const address = page.url();
            await page.focus('#field-hub');
            await page.keyboard.type('abc');
            await page.keyboard.press('Control+z');
            await becomes(async () => await page.inputValue('#field-hub') !== 'abc', true);
            assert.equal(page.url(), address);
        });
    });

    it('in words: the model, what was set, and how much more', () => {
        const plan = planOfExample('llama-8b');
        const words = (changes) => changeWords(plan, { ...plan, ...changes });
        assert.equal(words({ tensor: 4, sequence: false }), 'tensor 2 → 4, sequence parallel on → off');
        assert.equal(words({ tensor: 4, sequence: false, pipeline: 2, zero: 0 }), 'tensor 2 → 4, sequence parallel on → off and 2 more');
        assert.equal(words({ hub: 'a/b', example: '' }), 'model a/b');
        assert.equal(words({ config: {}, example: '' }), 'model pasted config.json');
        assert.equal(words({ recompute: '' }), 'recompute selective → unknown');
        const aside = { extra: { workload: { offload: { optimizer: 'cpu' } } } };
        assert.equal(words(aside), 'optimizer states in host memory');
        assert.equal(words({ extra: { workload: { offload: { optimizer: 'cpu', optimizer_fraction: 0.25 } } } }), '25 % of optimizer states in host memory');
        assert.equal(changeWords({ ...plan, ...aside }, plan), 'without optimizer states in host memory');
    });
});
