/** Every number opens its explanation, by mouse and by keyboard; the other single-key commands. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answering, becomes, clickAtOnce, inTab, seen, unfold } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';
import { stepReady } from './lib/step.mjs';

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
            const cell = page.locator('[data-testid="memory"] tbody tr', { hasText: 'Activations' }).locator('.num').first();
            assert.equal(await seen(page.locator('.popover-value strong')), `${await seen(cell)} GiB`, 'what a cell leaves to the head of its column');
        });
    });

    it('acceptance 5: is told to who only points, and each term of it leads to its own and back', async () => {
        await withAnswer(async (page, answer) => {
            const step = page.getByTestId('step').locator('.num').first();
            const { formula, inputs, source } = answer.explanations['/time/step_s'];
            await step.hover();
            const [name, filled, value] = (await step.getAttribute('title')).split('\n');
            assert.equal(name, `Step time = ${formula}`);
            assert.ok(filled.startsWith('= ') && filled.includes(Number(inputs.forward.toFixed(6)).toLocaleString('en-US', { maximumFractionDigits: 6 })), filled);
            assert.match(value, /^= [\d.]+ s$/);

            await step.click();
            const [low, high] = answer.interval.step_s.map((value) => Number(value.toPrecision(3)));
            const [, from, to] = /Interval ([\d.]+) s – ([\d.]+) s/.exec(await seen(page.getByRole('dialog'))) ?? [];
            assert.deepEqual([Number(from), Number(to)], [low, high], 'with its interval');
            await page.getByTestId('train').locator('.num').first().click();
            const dialog = page.getByRole('dialog');
            await dialog.getByRole('button', { name: 'Explain step_s' }).click();
            await dialog.getByRole('heading', { name: 'step_s' }).waitFor();
            assert.ok((await seen(dialog)).includes(formula) && (await seen(dialog)).includes(source));
            const term = answer.time.terms.find(({ name: of }) => of === 'tensor_communication');
            await dialog.getByRole('button', { name: 'Explain tensor_communication' }).press('Enter');
            await dialog.getByRole('heading', { name: 'tensor_communication' }).waitFor();
            assert.ok((await seen(dialog)).includes(term.formula) && (await seen(dialog)).includes(term.source));
            assert.equal(await isFocused(dialog), true, 'the keyboard stays in the explanation');
            await dialog.getByRole('button', { name: '← step_s' }).click();
            await dialog.getByRole('button', { name: '← Time to train' }).click();
            await dialog.getByRole('heading', { name: 'Time to train' }).waitFor();
            await page.keyboard.press('Escape');
            await becomes(() => dialog.count(), 0);

            const rank = answer.memory.ranks[0];
            await page.getByTestId('memory').locator('tfoot .num').first().click();
            await dialog.getByRole('button', { name: 'Explain gradients' }).click();
            assert.ok((await seen(dialog)).includes(rank.terms.find(({ name: of }) => of === 'gradients').formula));
        });
    });

    it('of an input of the same name and another value is not passed off as its own', async () => {
        await withAnswer(async (page) => {
            await page.locator('[data-testid="memory"] tbody tr', { hasText: 'Parameters' }).locator('.num').first().click();
            const dialog = page.getByRole('dialog');
            await dialog.getByRole('rowheader', { name: 'parameters', exact: true }).waitFor();
            assert.equal(await dialog.getByRole('button', { name: /^Explain / }).count(), 0);
        });
    });

    it('of plans that are answered in few members says how, in a search, in strategies and in ways of fine-tuning', async () => {
        await withAnswer(async (page, answer) => {
            const ofTerm = (terms, of) => terms.find(({ name }) => name === of);
            const opens = async (grid, cell, { formula, source } = answer.explanations['/time/step_s']) => {
                await page.getByRole('grid', { name: grid }).locator(cell).first().click();
                const dialog = page.getByRole('dialog');
                const text = await seen(dialog);
                assert.ok(text.includes(formula) && text.includes(source), `${grid}: ${text}`);
                assert.equal(await dialog.locator('.filled, .inputs').count(), 0, 'nothing is filled in from another plan');
                await page.keyboard.press('Escape');
            };
            await page.getByRole('tab', { name: 'Search' }).click();
            await page.getByTestId('search').getByRole('button', { name: 'Search', exact: true }).click();
            await page.waitForSelector('[data-testid="search"][data-phase="done"]');
            const cell = page.getByRole('grid', { name: 'Plans found' }).locator('tr[aria-rowindex="3"] [data-name="step_s"]');
            await cell.click();
            assert.equal(await page.getByRole('dialog').count(), 0, 'a click chooses the row first');
            await opens('Plans found', 'tr[aria-selected="true"] [data-name="step_s"] .num');
            await page.getByRole('tab', { name: 'Compare' }).click();
            await page.getByRole('radio', { name: 'Strategies' }).check();
            await opens('Strategies side by side', 'tr[data-key="/time/step_s"] .num');
            await opens('Strategies side by side', 'tr[data-key="seconds forward"] .num', ofTerm(answer.time.terms, 'forward'));
            await opens('Strategies side by side', 'tr[data-key="bytes activations"] .num', ofTerm(answer.memory.ranks[0].terms, 'activations'));
            await page.getByRole('radio', { name: 'Fine-tuning' }).check();
            await opens('Ways of fine-tuning', '[data-name="step_s"] .num');
        });
    });

    it('of what ranks send each other leads from a row to its term of the step', async () => {
        await withAnswer(async (page, answer) => {
            await unfold(page.getByTestId('communication'));
            const table = page.getByRole('table', { name: 'Collectives of one step, for one device' });
            const { calls, explain } = answer.communication[1];
            const row = table.locator('tbody tr').nth(1).locator('.num');
            assert.equal(await table.locator('tbody .num').count(), 3 * answer.communication.length);
            const dialog = page.getByRole('dialog');
            for (const [at, of] of ['bytes_per_step', 'seconds', 'exposed_s'].entries()) {
                await row.nth(at).click();
                const { formula, source } = explain[of];
                assert.ok((await seen(dialog)).includes(formula) && (await seen(dialog)).includes(source), of);
                assert.match(await seen(dialog.locator('.filled')), /^= [\d.,]+( [x/+-] [\d.,]+)+$/, 'words after the symbols are not filled in');
            }
            await dialog.getByRole('button', { name: 'Explain seconds' }).click();
            assert.ok((await seen(dialog)).includes(`= ${calls.toLocaleString('en-US')} x `), 'calls of the step');
            await dialog.getByRole('button', { name: /^← / }).click();
            await dialog.getByRole('button', { name: 'Explain tensor_communication' }).click();
            const term = answer.time.terms.find(({ name }) => name === 'tensor_communication');
            assert.ok((await seen(dialog)).includes(term.formula) && (await seen(dialog)).includes(term.source));
        });
    });

    it('of the traffic of plans and of strategies says which collectives it is the sum of', async () => {
        await withAnswer(async (page, answer) => {
            await page.getByRole('tab', { name: 'Compare' }).click();
            const [first] = answer.communication;
            const dialog = page.getByRole('dialog');
            await page.locator(`tr[data-key="bytes_per_step ${first.group} ${first.collective.replace('_', ' ')}, ${first.level.replace('_', ' ')}"] .num`).click();
            assert.ok((await seen(dialog)).includes(first.explain.bytes_per_step.formula));
            await page.getByRole('radio', { name: 'Strategies' }).check();
            await page.locator('tr[data-key="bytes_per_step data all reduce, network"] .num').first().click();
            assert.ok((await seen(dialog)).includes('gradients of what the rank computes with'), 'one collective of a strategy');
            await page.keyboard.press('Escape');
            for (const [name, text] of [['bytes', / \+ tensor_/], ['seconds', / \+ tensor_/], ['latency_s', /the largest of tensor_/]]) {
                await page.locator(`tr[data-key="/traffic/${name}"] .num`).first().click();
                assert.match(await seen(dialog), text, name);
                await page.keyboard.press('Escape');
            }
        });
    });

    it('of a stage of the timeline gives its begin, end and busy time', async () => {
        await withAnswer(async (page) => {
            await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
            await unfold(page.getByTestId('stages'));
            const figures = page.getByTestId('stages').locator('tbody tr').nth(1).locator('.num');
            assert.equal(await figures.count(), 7);
            const dialog = page.getByRole('dialog');
            await figures.nth(1).click();
            const [, end, begin, busy] = /= ([\d.]+) - ([\d.]+) - ([\d.]+)/.exec(await seen(dialog)).map(Number);
            const text = await seen(dialog.locator('.popover-value'));
            assert.ok(Math.abs(Number(/([\d.]+) s$/.exec(text)[1]) - (end - begin - busy)) < 1e-5, text);
            await figures.nth(2).click();
            assert.ok((await seen(dialog)).includes('1 - busy_s / (end_s - begin_s)'));
        });
    });

    it('of a selected part of the timeline is filled in with its ends and its stages', async () => {
        await withAnswer(async (page) => {
            await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
            await page.getByTestId('timeline-plot').focus();
            for (const key of ['Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight'])
                await page.keyboard.press(key);
            const numbers = page.getByTestId('selected').locator('.num');
            const dialog = page.getByRole('dialog');
            await page.getByTestId('sum-idle').locator('.num').first().click();
            const [, stages, to, from, busy] = /= (\d+) x \(([\d.]+) - ([\d.]+)\) - ([\d.]+)/.exec(await seen(dialog)).map(Number);
            const text = await seen(dialog.locator('.popover-value'));
            assert.ok(Math.abs(Number(/([\d.]+) s$/.exec(text)[1]) - (stages * (to - from) - busy)) < 1e-5, text);
            await page.keyboard.press('Escape');
            for (let at = 0; at < await numbers.count(); at += 1) {
                await numbers.nth(at).click();
                assert.match(await seen(dialog), /from_s.*Source/, String(at));
                await page.keyboard.press('Escape');
            }
        });
    });

    it('of what a tensor takes is its elements, in the model view and on a device', async () => {
        await withAnswer(async (page) => {
            const dialog = page.getByRole('dialog');
            const opens = async () => {
                const figure = page.getByTestId('tensors').locator('tbody .num').first();
                await figure.click();
                const [, elements, each] = /= ([\d,]+) x ([\d.]+)/.exec(await seen(dialog)).map((text) => Number(text.replaceAll(',', '')));
                const [, bytes] = /([\d,]+) bytes/.exec(await seen(dialog.locator('.popover-value')));
                assert.equal(Number(bytes.replaceAll(',', '')), elements * each);
                await page.keyboard.press('Escape');
            };
            await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
            await stepReady(page);
            await page.getByTestId('map').click({ position: { x: 10, y: 25 } });
            await opens();
            await page.getByRole('link', { name: 'Models' }).click();
            await opens();
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
