/** Addresses that were mistyped or cut: the page opens, and says what it left out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expectAccessible } from './lib/axe.mjs';
import { becomes, inTab, openPlan, seen } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';

const PLAN = '/?example=llama-8b&nodes=1&tp=2&sp=1&gbs=128&seq=8192';
const notice = (page) => seen(page.getByTestId('notice').locator('p'));
const LEFT_OUT = 'The address asks for what is not here, which is left out: ';
const EXAMPLES = '(there are llama-8b, qwen-32b, llama-70b)';
const FIGURES = 'tokens_per_s, step_s, headroom_bytes, simulated_step_s, peak_reserved_bytes, accelerators, rate_per_accelerator, cost, time_to_train_s, energy_j';
const DIMENSIONS = 'cluster, nodes, tensor, sequence, pipeline, virtual_pipeline, schedule, context, expert, expert_tensor, data, zero_stage, '
    + 'micro_batch_size, global_batch_size, recompute, offload, layout';

/** @type {[string, string][]} */
const MISREAD = [
    ['/?example=gpt-9', `example “gpt-9” ${EXAMPLES}`],
    ['/?example=constructor&tp=x', `example “constructor” ${EXAMPLES}; tp “x” (a whole number is meant)`],
    ['/?exmaple=llama-8b', 'exmaple “llama-8b” (nothing here is called so)'],
    ['/?page=nowhere', 'page “nowhere” (there are planner, inventories, models, concepts)'],
    ['/?page=models&p.a=example:gpt-9', `p.a “example:gpt-9” ${EXAMPLES}`],
    ['/?page=models&p.of=c&p.gpus=4', 'p.of “c” (there are a, b); p.gpus “4” (nothing here is called so)'],
    ['/?page=concepts&p.term=zero&p.m=gpt-9&p.nodes=3&p.luck=1', 'p.m “gpt-9” (there are plan, llama-8b, qwen-32b, llama-70b); '
        + 'p.nodes “3” (there are 1, 2, 4, 8, 16, 32); p.luck “1” (nothing here is called so)'],
    [`${PLAN}&view=search&s.only.tensor=8..2&s.only.headroom_bytes=-9..1e9`, 's.only.tensor “8..2” (from..to is meant)'],
    [`${PLAN}&view=cake`, 'view “cake” (there are summary, step, search, compare)'],
    [`${PLAN}&sp=yes&mbs=-1&sw=unknown&pp=unknown`, 'sp “yes” (there are 0, 1); mbs “-1” (a whole number is meant); pp “unknown” (a whole number is meant)'],
    [`${PLAN}&extra={`, 'extra “{” (a JSON object is meant)'],
    [`${PLAN}&view=step&at=noon&by=luck`, 'at “noon” (seconds are meant); by “luck” (there are activity, fill, pipeline, tensor, data, context, expert)'],
    [`${PLAN}&view=step&lanes=some&marks=1,noon&sum=1,2,3&beside=luck`, 'lanes “some” (there are compute); marks “1,noon” (two times in seconds are meant); '
        + 'sum “1,2,3” (two times in seconds are meant); beside “luck” (a pointer and a value are meant, as in /parallelism/pipeline=4)'],
    ['/#config=bm90', 'the config (the link is damaged)'],
    [`${PLAN}&view=search&s.objective=glory&s.limit=7&s.tensor=8,x&s.sequence=true&s.recompute=some&s.offload=optimizer`,
        's.objective “glory” (there are throughput, time_to_train, cost, accelerators, energy); s.limit “7” (there are 20, 50, 100); '
        + 's.tensor “8,x” (whole numbers are meant); s.recompute “some” (there are none, selective, full, op_sac)'],
    [`${PLAN}&view=search&s.budget=-1&s.nodes=some&s.also=moon&s.x=y&s.sort=-luck&s.only.cost=3&s.run=yes&s.luck=1`,
        `s.budget “-1” (a number above 0 is meant); s.nodes “some” (any or whole numbers are meant); s.also “moon” (part: or inventory: with a name is meant); `
        + `s.x “y” (there are ${FIGURES}); s.sort “-luck” (there are rank, verdict, ${FIGURES}, ${DIMENSIONS}); s.only.cost “3” (from..to is meant); `
        + 's.run “yes” (there are 0, 1); s.luck “1” (nothing here is called so)'],
    [`${PLAN}&view=compare&c.of=cakes&c.only=maybe`, 'c.of “cakes” (there are strategies, finetuning); c.only “maybe” (there are 0, 1)'],
    [`${PLAN}&view=compare&c.of=finetuning&c.sort=luck`,
        'c.sort “luck” (there are method, recompute, attention, verdict, device_total_bytes, gain_bytes, step_s, cost_s, tokens_per_s)'],
];

describe('an address', () => {
    for (const [path, words] of MISREAD) {
        it(`is read as far as it goes, and the rest is said: ${path.slice(0, 60)}`, async () => {
            await inTab(browser, server, { path }, async ({ page }) => {
                await becomes(() => notice(page), `${LEFT_OUT}${words}.`);
                await becomes(() => page.locator('[aria-busy="true"]').count(), 0); /* what is about to change is pale */
                await expectAccessible(page, path);
                await page.getByRole('button', { name: 'Dismiss' }).click();
                await becomes(() => notice(page), '');
            });
        });
    }

    it('of a device that the plan does not have says so at the map', async () => {
        await inTab(browser, server, { path: `${PLAN}&view=step&rank=99999&node=777` }, async ({ page }) => {
            await page.waitForSelector('[data-testid="sharding"][data-phase="done"]');
            await becomes(async () => (await seen(page.getByTestId('map-readout'))).split('. ')[0], 'This plan has no rank 99999 and no node 777');
            await page.getByTestId('map').press('ArrowRight');
            await becomes(async () => /^Rank 0: node 0/.test(await seen(page.getByTestId('map-readout'))), true);
        });
    });

    for (const [what, rest] of [['a search', 'view=search&s.objective=cost&s.tensor=2,64&s.recompute=none,full&s.nodes=any&s.limit=100&s.price_per_node_hour=98.5'
        + '&s.also=part:nvidia-a100-sxm4-80gb&s.x=step_s&s.colour=pipeline&s.sort=-tensor&s.only.tensor=2..8&s.rejected=0'],
    ['strategies', 'view=compare&c.of=strategies&c.show=all&c.fixed=1&c.base=zero_3'], ['ways of fine-tuning', 'view=compare&c.of=finetuning&c.sort=-cost_s'],
    ['a concept', 'page=concepts&p.term=zero&p.m=llama-70b&p.gpus=4'], ['models', 'page=models&p.a=example:llama-8b&p.b=plan&p.find=mlp']]) {
        it(`of ${what} that is all known has nothing to be left out`, async () => {
            await inTab(browser, server, { path: `${PLAN}&${rest}` }, async ({ page }) => {
                await page.waitForLoadState('networkidle');
                assert.equal(await notice(page), '');
            });
        });
    }

    it('says which baseline of strategies and of pins there is none of', async () => {
        for (const of of ['strategies', '']) {
            await inTab(browser, server, { path: `${PLAN}&view=compare&c.of=${of}&c.base=luck` }, async ({ page }) => {
                await becomes(async () => (await notice(page)).startsWith(`${LEFT_OUT}c.base “luck” (there are `), true);
            });
        }
    });

    it('that the page wrote has nothing to be left out', async () => {
        const { tab } = await openPlan(browser, server, `${PLAN}&view=step&at=0.1&rank=1&by=fill&lanes=compute&rings=1&marks=0.1,0.2`);
        const { page } = tab;
        await page.getByLabel('Time cursor', { exact: true }).fill('0.2');
        await becomes(() => new URL(page.url()).searchParams.has('fw'), true);
        await page.reload();
        await page.waitForSelector('[data-testid="timeline"][data-phase="done"]');
        assert.equal(await notice(page), '');
        await tab.expectClean();
        await tab.close();
    });

    it('pasted over another one is looked at as well', async () => {
        await inTab(browser, server, { path: '/' }, async ({ page }) => {
            await page.locator('.starter').first().waitFor();
            assert.equal(await notice(page), '');
            await page.evaluate(() => { location.hash = '#config=bm90'; });
            await becomes(() => notice(page), `${LEFT_OUT}the config (the link is damaged).`);
        });
    });
});
