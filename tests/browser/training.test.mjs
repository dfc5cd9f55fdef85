/** What is trained, and stops that are the only one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, chosen, inTab, offered, openPlan, seen } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';

const start = (tab, id) => answering(tab, () => tab.page.click(`[data-example="${id}"]`));
const adaptersOf = ({ memory }) => memory.ranks[0].terms.find(({ name }) => name === 'adapters')?.bytes ?? 0;

describe('what is trained', () => {
    it('is chosen among the settings: all weights, LoRA or QLoRA, its rank and modules', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const pick = (name, value) => answering(tab, () => page.locator(`[data-field="${name}"] label`).filter({ hasText: new RegExp(`^${value}$`) }).click());
            const whole = await start(tab, 'llama-8b');
            assert.equal(await chosen(page, 'trained'), 'pretraining');
            assert.equal(await page.locator('[data-field="rank"]').count(), 0);
            assert.equal((await pick('trained', 'all weights')).request.workload.kind, 'finetuning');
            const lora = await pick('trained', 'LoRA');
            assert.deepEqual(lora.request.workload.adapter, { method: 'lora', rank: 16 });
            assert.ok(lora.answer.memory.device_total_bytes < whole.answer.memory.device_total_bytes);
            const larger = await pick('rank', '64');
            assert.equal(adaptersOf(larger.answer), 4 * adaptersOf(lora.answer));
            assert.deepEqual(await offered(page, 'targets'), ['', 'self_attn.*', 'mlp.*'], 'such as the model has');
            const attention = await pick('targets', 'attention');
            assert.ok(adaptersOf(attention.answer) < adaptersOf(larger.answer));
            const quantised = await pick('trained', 'QLoRA');
            assert.deepEqual(quantised.request.workload.adapter, { method: 'lora', rank: 64, base: 'nf4', targets: 'self_attn.*' });
            assert.ok(quantised.answer.memory.device_total_bytes < attention.answer.memory.device_total_bytes);
            assert.equal(await page.getByRole('list', { name: 'Further settings', exact: true }).count(), 0, 'it has a control of its own');
            await expectAccessible(page, 'adapters');
            const back = await pick('trained', 'from scratch');
            assert.deepEqual(back.request, whole.request);
        });
    });

    it('stands in the address, and the step back takes it back', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-8b');
            await answering(tab, () => page.locator('[data-field="trained"] input[value="qlora"]').check());
            const address = page.url();
            await answering(tab, () => page.getByRole('button', { name: /^Undo/ }).click());
            assert.equal(await chosen(page, 'trained'), 'pretraining');
            const again = await openPlan(browser, server, address.slice(server.url.length));
            assert.equal(await chosen(again.tab.page, 'trained'), 'qlora');
            assert.equal(again.request.workload.adapter.base, 'nf4');
            await again.tab.close();
        });
    });

    it('by adapters of another kind keeps them, in words, until another is chosen', async () => {
        const extra = encodeURIComponent(JSON.stringify({ workload: { kind: 'finetuning', adapter: { method: 'dora', rank: 8 } } }));
        const { tab } = await openPlan(browser, server, `/?example=llama-8b&extra=${extra}`);
        assert.equal(await seen(tab.page.locator('[data-field="trained"] label:has(input:checked)')), 'other adapters');
        assert.match(await seen(tab.page.getByRole('list', { name: 'Further settings', exact: true })), /dora of rank 8/);
        await tab.close();
    });
});

describe('a slider', () => {
    it('acceptance 2: with a single stop says what the next value would break, in the words of the service', async () => {
        const { tab, request } = await openPlan(browser, server, '/?example=llama-8b&nodes=1&pernode=1&zero=0');
        const { page } = tab;
        assert.deepEqual(await offered(page, 'pipeline'), ['1']);
        const response = await fetch(`${server.url}/api/v1/estimates`, { method: 'POST', headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ ...request, parallelism: { ...request.parallelism, pipeline: 2 } }) });
        const { errors } = await response.json();
        const why = page.locator('[data-field="pipeline"] + .hint');
        await becomes(() => seen(why), `1 only: ${errors.at(-1).detail.split(', got')[0]}`);
        await answering(tab, () => page.fill('#field-nodes', '2').then(() => page.press('#field-nodes', 'Tab')));
        await becomes(() => why.count(), 0, 'it has more than one now');
        await tab.expectClean();
        await tab.close();
    });
});
