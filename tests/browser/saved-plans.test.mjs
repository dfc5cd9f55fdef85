/** A saved plan is opened by its link. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { planOfExample, planOfRequest, requestOf } from '../../static/src/state/plan.js';
import { estimate, llama } from '../e2e/lib/fixtures.mjs';
import { startServer, stopClean } from '../e2e/lib/server.mjs';
import { expectAccessible } from './lib/axe.mjs';
import { becomes, inTab, launch, openPlan, seen } from './lib/browser.mjs';
import { spec, tools } from './lib/inventories.mjs';

let browser;
let server;
let api;
const saved = estimate({ workload: { framework: 'fsdp2', recompute: 'full', attention: null, tokens: 2e9 },
    parallelism: { tensor: 4, pipeline: 1, data: 2, zero_stage: 3, gradient_sync: 'last', shard_group: 2 } });

before(async () => {
    [browser, server] = await Promise.all([launch(), startServer({ database: true })]);
    api = tools(server);
    await api.inventory('prod-eu', spec);
    await api.plan('nightly', { name: 'Nightly run', request: saved });
    const { micro_batch_size: open, ...workload } = saved.workload;
    await api.plan('loose', { request: { ...saved, workload, cluster: { inventory: 'prod-eu' } } });
});
after(async () => {
    await browser?.close();
    if (server)
        await stopClean(server);
});

const notice = (page) => seen(page.getByTestId('notice').locator('p'));

describe('a request as a plan', () => {
    it('comes back as it was sent', () => {
        for (const request of [requestOf(planOfExample('llama-70b')), requestOf({ ...planOfExample('qwen-32b'), software: '', attention: '', tokens: 0, zero: 0 })])
            assert.deepEqual(requestOf(planOfRequest(request).plan), request);
    });
    it('keeps what has no control, and says what it settles', () => {
        const { plan, open } = planOfRequest({ model: { hub: 'a/b', revision: null }, cluster: { inventory: 'x' },
            workload: { framework: 'fsdp1', sequence_length: 8, global_batch_size: 4, recompute: { mode: 'modules', modules: ['mlp'] } } });
        assert.deepEqual(requestOf(plan), { model: { hub: 'a/b' }, cluster: { inventory: 'x', nodes: 1 },
            workload: { kind: 'pretraining', framework: 'fsdp1', sequence_length: 8, global_batch_size: 4, micro_batch_size: 1, precision: 'bf16',
                recompute: { mode: 'modules', modules: ['mlp'] } },
            parallelism: { tensor: 1, pipeline: 1, virtual_pipeline: 1, context: 1, expert: 1, zero_stage: 3, data: 'auto' } });
        assert.deepEqual(open.map(({ key }) => key), ['nodes', 'microBatch', 'zero']);
    });
});

describe('the link of a saved plan', () => {
    it('opens it in the planner, and the address is the plan from then on', async () => {
        const { tab, request, answer } = await openPlan(browser, server, '/?plan=nightly');
        const { page } = tab;
        const { attention, ...workload } = saved.workload;
        assert.deepEqual(request.model, { config: llama });
        assert.deepEqual(request.workload, workload);
        assert.deepEqual(request.cluster, saved.cluster);
        assert.deepEqual(request.parallelism, { ...saved.parallelism, data: 'auto' });
        assert.equal(answer.resolved.parallelism.data, saved.parallelism.data);
        assert.equal(await notice(page), '');
        const address = new URL(page.url());
        assert.equal(address.searchParams.get('plan'), null);
        assert.match(address.hash, /^#config=/);
        const again = await openPlan(browser, server, address.pathname + address.search + address.hash);
        assert.deepEqual(again.request, request);
        await again.tab.close();
        await tab.expectClean();
        await tab.close();
    });

    it('says what the plan leaves open and the page does not', async () => {
        const { tab } = await openPlan(browser, server, '/?plan=loose');
        assert.equal(await notice(tab.page), 'The saved plan loose leaves open what stands here as: Nodes 1, Micro-batch 1.');
        await tab.page.getByTestId('notice').getByRole('button', { name: 'Dismiss' }).click();
        await becomes(() => notice(tab.page), '');
        await tab.close();
    });

    it('says so where there is no such plan', async () => {
        await inTab(browser, server, { path: '/?plan=nowhere', faults: ['404 GET /api/v1/plans/nowhere'] }, async ({ page }) => {
            await becomes(async () => /^The saved plan nowhere cannot be opened: .+\.$/.test(await notice(page)), true);
            await page.locator('.starter').first().waitFor();
            await expectAccessible(page, 'a plan that is not there');
        });
    });

    it('stands on the page of its inventory', async () => {
        await inTab(browser, server, { path: '/?page=inventories&p.inv=prod-eu' }, async ({ page }) => {
            await page.getByRole('link', { name: 'loose' }).click();
            await becomes(async () => (await notice(page)).startsWith('The saved plan loose leaves open'), true);
        });
    });
});
