/** For everyone: axe-core in both themes, keyboard alone, narrow and wide, less motion. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, fitsAcross, inTab, openPlan, seen, type, unfold } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';

const start = (tab, id = 'llama-70b') => answering(tab, () => tab.page.click(`[data-example="${id}"]`));

describe('axe-core', () => {
    for (const colorScheme of ['light', 'dark']) {
        it(`finds nothing in ${colorScheme}: empty, answered, explained, list of keys`, async () => {
            await inTab(browser, server, { colorScheme }, async (tab) => {
                const { page } = tab;
                await page.locator('.starter').first().waitFor();
                await expectAccessible(page, 'empty');
                await start(tab);
                for (const fold of await page.locator('details').all())
                    await unfold(fold);
                await expectAccessible(page, 'answered');
                await page.getByTestId('mfu').locator('.num').first().click();
                await page.getByRole('dialog').waitFor();
                await expectAccessible(page, 'an explanation is open');
                await page.keyboard.press('Escape');
                await page.keyboard.press('e');
                await page.locator('td.how').first().waitFor();
                await expectAccessible(page, 'everything is explained');
                await page.keyboard.press('?');
                await page.getByRole('dialog').waitFor();
                await expectAccessible(page, 'the keys are shown');
            });
        });

        it(`finds nothing in ${colorScheme}: does not fit, impossible, narrow`, async () => {
            const faults = ['422 POST /api/v1/estimates'];
            await inTab(browser, server, { colorScheme, faults }, async (tab) => {
                const { page } = tab;
                await start(tab, 'llama-8b');
                const { answer } = await answering(tab, () => type(page, 'sequenceLength', '65536'));
                assert.equal(answer.fits, false);
                await expectAccessible(page, 'does not fit');
                await page.setViewportSize({ width: 320, height: 640 });
                await expectAccessible(page, 'narrow');
                await page.getByText('Model, cluster and settings').click();
                await answering(tab, () => type(page, 'globalBatch', '127'));
                await expectAccessible(page, 'impossible');
            });
        });
    }
});

describe('the keyboard', () => {
    it('is enough to get an answer, change the plan and have a number explained', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const focused = () => page.evaluate(() => {
                const { id, value, className, dataset } = document.activeElement;
                return { id, value, className, example: dataset.example ?? '', stops: dataset.stops ?? '' };
            });
            /** Walks on with Tab until the focus is where `holds` says; every stop must be visible. */
            const walk = async (holds) => {
                for (let step = 0; step < 120; step += 1) {
                    const at = await focused();
                    if (holds(at))
                        return at;
                    await page.keyboard.press('Tab');
                    assert.ok(await page.evaluate(() => {
                        const element = document.activeElement;
                        const shown = element.matches('.chip input') ? element.nextElementSibling : element;
                        const style = getComputedStyle(shown);
                        return element === document.body
                            || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2);
                    }), `the focus shows at ${JSON.stringify(await focused())}`);
                }
                throw new Error('the walk did not arrive');
            };
            await walk(({ className }) => className === 'skip');
            await page.keyboard.press('Enter');
            assert.equal((await focused()).id, 'answer', 'the skip link leads to the answer');
            await walk(({ example }) => example === 'llama-8b');
            await answering(tab, () => page.keyboard.press('Enter'));

            await page.keyboard.press('/');
            assert.equal((await focused()).id, 'field-hub');
            const { value, stops } = await walk(({ id }) => id === 'field-tensor');
            assert.equal(stops.split(' ')[value], '2');
            const changed = await answering(tab, () => page.keyboard.press('ArrowRight'));
            assert.equal(changed.request.parallelism.tensor, 4);
            await walk(({ id }) => id === 'field-globalBatch');
            const doubled = await answering(tab, () => page.keyboard.press('ArrowUp'));
            assert.equal(doubled.request.workload.global_batch_size, 256);

            await walk(({ className }) => className === 'num');
            await page.keyboard.press('Enter');
            await page.getByRole('dialog').waitFor();
            await page.keyboard.press('Escape');
            assert.equal((await focused()).className, 'num');
        });
    });
});

describe('the page', () => {
    for (const width of [320, 768, 1400]) {
        it(`at ${width} pixels does not scroll sideways, and nothing is cut`, async () => {
            await inTab(browser, server, { width, height: 900 }, async (tab) => {
                const { page } = tab;
                await page.locator('.starter').first().waitFor();
                await fitsAcross(page, 'empty');
                await start(tab);
                await fitsAcross(page, 'answered');
                // A table that is too wide scrolls by itself, says so, and takes the focus.
                for (const fold of await page.locator('details').all())
                    await unfold(fold);
                const regions = () => page.locator('.scroll').evaluateAll((list) => list.map((region) => ({
                    over: region.scrollWidth > region.clientWidth + 1,
                    reachable: region.tabIndex === 0 && region.getAttribute('role') === 'region'
                        && region.previousElementSibling?.className.includes('scroll-hint') === true,
                })));
                await becomes(async () => (await regions()).filter(({ over, reachable }) => over !== reachable), []);
                if (width === 1400)
                    assert.ok((await regions()).every(({ over }) => !over), 'four stages fit side by side');
                // The last setting can be reached: beside the answer, which stays in sight, or above it.
                await page.evaluate(() => scrollTo(0, 0));
                await page.locator('#field-tokens').scrollIntoViewIfNeeded();
                if (width > 900)
                    assert.equal(await page.evaluate(() => scrollY), 0, 'the answer stays where it was');
                else
                    assert.equal(await page.locator('.controls').evaluate((panel) =>
                        panel.scrollHeight - panel.clientHeight), 0, 'the settings do not scroll apart');
                await page.keyboard.press('e');
                await page.locator('td.how').first().waitFor();
                await fitsAcross(page, 'explained');
            });
        });
    }

    it('reads its verdict aloud', async () => {
        await inTab(browser, server, {}, async (tab) => {
            await start(tab);
            const status = tab.page.getByTestId('verdict').getByRole('status');
            assert.equal(await status.getAttribute('aria-live'), 'polite');
            assert.match(await seen(status), /Fits/);
        });
    });

    it('does not move for those who want it still', async () => {
        const moving = (page) => page.evaluate(() => [...document.querySelectorAll('*')].filter((element) => {
            const { transitionDuration, animationName } = getComputedStyle(element);
            return transitionDuration.split(', ').some((time) => parseFloat(time) > 0) || animationName !== 'none';
        }).length);
        for (const [reducedMotion, moves] of [['no-preference', true], ['reduce', false]]) {
            const { tab } = await openPlan(browser, server, '/?example=llama-8b', { reducedMotion });
            await becomes(async () => await moving(tab.page) > 0, moves, reducedMotion);
            await tab.expectClean();
            await tab.close();
        }
    });
});
