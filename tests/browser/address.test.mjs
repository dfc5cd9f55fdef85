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

/** @type {[string, string][]} */
const MISREAD = [
    ['/?example=gpt-9', `example “gpt-9” ${EXAMPLES}`],
    ['/?example=constructor&tp=x', `example “constructor” ${EXAMPLES}; tp “x” (a whole number is meant)`],
    ['/?exmaple=llama-8b', 'exmaple “llama-8b” (nothing here is called so)'],
    ['/?page=nowhere', 'page “nowhere” (there are planner, inventories, models, concepts)'],
    ['/?page=models&p.a=example:gpt-9', `p.a “example:gpt-9” ${EXAMPLES}`],
    [`${PLAN}&view=cake`, 'view “cake” (there are summary, step, search, compare)'],
    [`${PLAN}&sp=yes&mbs=-1&sw=unknown&pp=unknown`, 'sp “yes” (there are 0, 1); mbs “-1” (a whole number is meant); pp “unknown” (a whole number is meant)'],
    [`${PLAN}&extra={`, 'extra “{” (a JSON object is meant)'],
    [`${PLAN}&view=step&at=noon&by=luck`, 'at “noon” (seconds are meant); by “luck” (there are activity, fill, pipeline, tensor, data, context, expert)'],
    ['/#config=bm90', 'the config (the link is damaged)'],
];

describe('an address', () => {
    for (const [path, words] of MISREAD) {
        it(`is read as far as it goes, and the rest is said: ${path.slice(0, 60)}`, async () => {
            await inTab(browser, server, { path }, async ({ page }) => {
                await becomes(() => notice(page), `${LEFT_OUT}${words}.`);
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
