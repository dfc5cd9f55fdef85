/** What controls offer beside each other, and what the page says while one holds no value. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mixtral } from '../e2e/lib/fixtures.mjs';
import { answering, becomes, choose, inTab, offered, openPlan, seen, type } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';

const DENSE = '/?example=llama-8b&nodes=1&tp=2&sp=1&gbs=128&seq=8192';

describe('experts beside tensor ranks', () => {
    it('are reached from one tensor rank without sequence parallelism, which comes with them', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await page.locator('label', { hasText: 'config.json' }).first().click();
            await page.fill('#field-config', JSON.stringify(mixtral));
            await answering(tab, () => page.getByRole('button', { name: 'Use this config' }).click());
            const { request } = await answering(tab, () => choose(page, 'expert', 2));
            assert.deepEqual([request.parallelism.tensor, 'sequence' in request.parallelism], [1, false]);
            await becomes(async () => (await offered(page, 'tensor')).includes('2'), true, 'tensor 2 is offered');
            const spread = await answering(tab, () => choose(page, 'tensor', 2));
            assert.equal(spread.status, 200);
            assert.deepEqual([spread.request.parallelism.tensor, spread.request.parallelism.sequence], [2, true]);
            const back = await answering(tab, () => choose(page, 'tensor', 1));
            assert.deepEqual([back.status, back.request.parallelism.tensor], [200, 1]);
            await becomes(async () => (await offered(page, 'tensor')).includes('2'), true, 'tensor 2 is offered again');
        });
    });
});

describe('experts beside tensor ranks without sequence parallelism', () => {
    it('are offered, bring it along, are told as one change, and go in one step', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await page.locator('label', { hasText: 'config.json' }).first().click();
            await page.fill('#field-config', JSON.stringify(mixtral));
            await answering(tab, () => page.getByRole('button', { name: 'Use this config' }).click());
            const split = await answering(tab, () => choose(page, 'tensor', 2));
            assert.deepEqual([split.status, split.request.parallelism.sequence], [200, false]);
            await becomes(async () => (await offered(page, 'expert')).includes('4'), true, 'expert 4 is offered');
            const hint = page.getByText('More than 1 expert rank switches sequence parallelism on.');
            assert.equal(await hint.count(), 1);
            const spread = await answering(tab, () => choose(page, 'expert', 4));
            assert.deepEqual([spread.status, spread.request.parallelism.expert, spread.request.parallelism.sequence], [200, 4, true]);
            assert.equal(await page.locator('#field-sequence').isChecked(), true);
            assert.equal(await hint.count(), 0);
            const undo = page.locator('.step-back').first();
            assert.match(await undo.innerText(), /sequence parallel off → on/);
            const back = await answering(tab, () => undo.click());
            assert.deepEqual([back.status, back.request.parallelism.expert ?? 1, back.request.parallelism.sequence], [200, 1, false]);
        });
    });
});

describe('a fault that another setting mends', () => {
    it('offers the value of the other, by its name', async () => {
        await inTab(browser, server, { path: '/version', faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            const { status } = await answering(tab, () => page.goto(`${server.url}${DENSE.replace('8192', '8191')}`));
            assert.equal(status, 422);
            const button = page.getByTestId('verdict').getByRole('button', { name: 'Set Sequence length to 8192' });
            assert.equal(await seen(button), 'Sequence length 8192');
            const { request, status: mended } = await answering(tab, () => button.click());
            assert.deepEqual([request.workload.sequence_length, mended], [8192, 200]);
        });
    });
});

describe('a count that cannot be read', () => {
    it('leaves an answer that is marked as that of the last valid plan', async () => {
        const { tab } = await openPlan(browser, server, DENSE);
        const { page } = tab;
        const mark = page.getByTestId('stale');
        assert.equal(await mark.count(), 0);
        await type(page, 'nodes', 'many');
        await becomes(() => seen(mark), '▲ What stands below answers the last valid plan, without what stands in Nodes.');
        await type(page, 'globalBatch', '12x');
        await becomes(() => seen(mark), '▲ What stands below answers the last valid plan, without what stands in Nodes, Global batch.');
        await type(page, 'globalBatch', '128');
        await answering(tab, () => type(page, 'nodes', '2'));
        await becomes(() => mark.count(), 0);
        await tab.expectClean();
        await tab.close();
    });
});

describe('a change that is not possible', () => {
    it('is refused with what the rule is about', async () => {
        const { tab } = await openPlan(browser, server, '/?example=llama-70b&nodes=16&tp=8&sp=1&pp=4&vpp=2&gbs=512&seq=8192&zero=1');
        const refused = tab.page.locator('[data-move="zero"].barred');
        await becomes(() => seen(refused.locator('span')).then((text) => text.startsWith('not possible: ZeRO stage: ')), true);
        await tab.close();
    });
});

describe('a setting without a control', () => {
    it('is undone, and listed, in words', async () => {
        const { tab } = await openPlan(browser, server, DENSE);
        const { page } = tab;
        await answering(tab, () => page.goto(`${server.url}${DENSE}&extra=${encodeURIComponent('{"workload":{"compile":true},"parallelism":{"order":"tp-cp-ep-pp-dp"}}')}`));
        const extras = page.getByRole('list', { name: 'Further settings' }).locator('li');
        await becomes(() => extras.locator('code').allTextContents(), ['order tp-cp-ep-pp-dp', 'compile on']);
        await answering(tab, () => extras.last().getByRole('button').click());
        await becomes(() => seen(page.locator('.step-back').first()), '↶ Undo without compile on');
        await tab.close();
    });
});

describe('the list of keys', () => {
    it('has undo and redo', async () => {
        await inTab(browser, server, {}, async ({ page }) => {
            await page.keyboard.press('?');
            const rows = page.locator('dialog.keys dl > div');
            await becomes(async () => (await rows.evaluateAll((all) => all.map((row) => row.textContent.replace(/\s+/g, ' ').trim())))
                .filter((text) => / a change of the plan$/.test(text)), ['Ctrl Z Undo a change of the plan', 'Ctrl Shift Z Redo a change of the plan']);
        });
    });
});

describe('a price', () => {
    it('has the currency that is listed, or is in that of the reader', async () => {
        for (const [cluster, currency] of [['{"node_type":"aws-p5.48xlarge"}', 'USD'], ['{"price_per_node_hour":98.5}', 'in your currency']]) {
            const { tab } = await openPlan(browser, server, `${DENSE}&tokens=1000000000&extra=${encodeURIComponent(`{"cluster":${cluster}}`)}`);
            await becomes(() => seen(tab.page.getByTestId('cost').locator('.tile-note')).then((text) => text.endsWith(`per node and hour, ${currency}`)), true, currency);
            await tab.close();
        }
    });
});

describe('what comes late', () => {
    it('moves no setting from under the pointer', async () => {
        await inTab(browser, server, { path: '/version' }, async (tab) => {
            const { page } = tab;
            let release;
            const late = new Promise((resolve) => { release = resolve; });
            await page.route(/\/api\/v1\/(accelerators|models:inspect|estimates:batch)$/, (route) => late.then(() => route.continue()));
            await answering(tab, () => page.goto(`${server.url}/?example=llama-8b&nodes=1&pernode=1&zero=0`));
            await becomes(async () => (await offered(page, 'framework')).includes('fsdp2'), true, 'FSDP 2 is offered');
            const tops = () => page.locator('[data-field]').evaluateAll((rows) => rows.map((row) => [row.dataset.field, row.getBoundingClientRect().top]));
            const chip = page.locator('[data-field="framework"] .chip', { hasText: 'FSDP 2' });
            await chip.hover();
            const before = await tops();
            await page.mouse.down();
            release();
            await page.locator('[data-field="pipeline"] + .hint', { hasText: ': ' }).waitFor();
            await page.locator('.facts', { hasText: 'LlamaForCausalLM' }).waitFor();
            await page.locator('.part', { hasText: 'FLOP/s' }).waitFor();
            assert.deepEqual(await tops(), before);
            await page.mouse.up();
            assert.equal(await chip.locator('input').isChecked(), true);
        });
    });
});
