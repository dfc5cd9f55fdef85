/** Every number opens its explanation, by mouse and by keyboard; the other single-key commands. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answering, becomes, clickAtOnce, inTab, seen } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';

const withAnswer = (use) => inTab(browser, server, {}, async (tab) => {
    const { answer } = await answering(tab, () => tab.page.click('[data-example="llama-70b"]'));
    await use(tab.page, answer);
});
const mfu = (page) => page.getByTestId('mfu').locator('.num').first();
const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);

describe('an explanation', () => {
    it('opens with a click: formula, inputs, source and every digit', async () => {
        await withAnswer(async (page, answer) => {
            const about = answer.explanations['/throughput/mfu_full'];
            await mfu(page).click();
            const dialog = page.getByRole('dialog', { name: 'Model FLOPs utilisation' });
            const text = await seen(dialog);
            assert.ok(text.includes(about.formula), text);
            assert.ok(text.includes(about.source));
            for (const name of Object.keys(about.inputs))
                assert.ok(text.includes(name), name);
            assert.ok(text.includes(about.inputs.accelerators.toLocaleString('en-US')));
            await page.getByRole('button', { name: 'Close the explanation' }).click();
            assert.equal(await dialog.count(), 0);
        });
    });

    it('closes when the reader clicks elsewhere', async () => {
        await withAnswer(async (page) => {
            await mfu(page).click();
            await page.getByRole('dialog').waitFor();
            await page.getByTestId('verdict').locator('.badge').click();
            await becomes(() => page.getByRole('dialog').count(), 0);
            await clickAtOnce(page, '[data-testid="mfu"] .num', '[data-testid="verdict"] .badge');
            assert.equal(await page.getByRole('dialog').count(), 0, 'it heard the second click too');
        });
    });

    it('opens with Enter, closes with Escape, and the focus returns', async () => {
        await withAnswer(async (page) => {
            await mfu(page).focus();
            await page.keyboard.press('Enter');
            const dialog = page.getByRole('dialog');
            await dialog.waitFor();
            assert.equal(await isFocused(dialog), true, 'the focus is in the explanation');
            await page.keyboard.press('Escape');
            await becomes(() => dialog.count(), 0);
            assert.equal(await isFocused(mfu(page)), true, 'the focus is back on the number');
        });
    });

    it('of a memory term is that of the service', async () => {
        await withAnswer(async (page, answer) => {
            const term = answer.memory.ranks[0].terms.find(({ name }) => name === 'activations');
            await page.locator('[data-testid="memory"] tbody tr', { hasText: 'Activations' }).locator('.num').first().click();
            const text = await seen(page.getByRole('dialog'));
            assert.ok(text.includes(term.formula));
            assert.ok(text.includes(`${term.bytes.toLocaleString('en-US')} bytes`));
            assert.ok(text.includes(term.source));
        });
    });

    it('stands behind every number of the answer', async () => {
        await withAnswer(async (page) => {
            const numbers = page.locator('main .num');
            const silent = [];
            for (let at = 0; at < await numbers.count(); at += 1) {
                await numbers.nth(at).click();
                const dialog = page.getByRole('dialog');
                if (await dialog.locator('.formula').count() === 0)
                    silent.push((await dialog.getByRole('heading').innerText()));
                await page.keyboard.press('Escape');
            }
            // The memory a device reports is a figure of the catalogue, and says that it is.
            assert.deepEqual(silent, ['Memory the device reports']);
        });
    });
});

describe('the keys', () => {
    it('e explains the whole page and takes it back', async () => {
        await withAnswer(async (page, answer) => {
            const { formula } = answer.explanations['/throughput/mfu_full'];
            await page.keyboard.press('e');
            await page.getByTestId('mfu').locator('.formula-line').waitFor();
            assert.ok((await seen(page.getByTestId('mfu'))).includes(formula));
            const rows = page.locator('[data-testid="memory"] tbody tr');
            assert.equal(await page.locator('[data-testid="memory"] tbody td.how').count(), await rows.count());
            assert.equal(await page.getByRole('button', { name: 'Explain', exact: true }).getAttribute('aria-pressed'), 'true');
            await page.keyboard.press('e');
            await becomes(() => page.locator('.formula-line, td.how').count(), 0);
        });
    });

    it('? lists them all, Escape puts the list away', async () => {
        await inTab(browser, server, {}, async ({ page }) => {
            await page.locator('.starter').first().waitFor();
            await page.keyboard.press('?');
            const dialog = page.getByRole('dialog', { name: 'Keys' });
            await dialog.waitFor();
            assert.ok(await dialog.locator('kbd').count() >= 7);
            await page.keyboard.press('Escape');
            await becomes(() => dialog.isVisible(), false);
        });
    });

    it('belong to the field while someone types, and can be turned off', async () => {
        await inTab(browser, server, {}, async ({ page }) => {
            await page.fill('#field-hub', '');
            await page.locator('#field-hub').pressSequentially('eat/?');
            assert.equal(await page.inputValue('#field-hub'), 'eat/?');
            assert.equal(await page.getByRole('button', { name: 'Explain', exact: true }).getAttribute('aria-pressed'), 'false');

            await page.fill('#field-hub', '');
            await page.getByRole('button', { name: 'Keys' }).click();
            await page.getByRole('checkbox', { name: 'Single-key commands' }).uncheck();
            await page.keyboard.press('Escape');
            await page.keyboard.press('e');
            assert.equal(await page.getByRole('button', { name: 'Explain', exact: true }).getAttribute('aria-pressed'), 'false');
        });
    });
});
