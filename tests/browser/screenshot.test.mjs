/**
 * The pictures of the README, of a plan of the examples, as a first visitor sees them. Taken anew into a folder with
 *
 *     SHARDLINE_SCREENSHOTS=tests/browser/pictures node --test tests/browser/screenshot.test.mjs
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { answering, inTab } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';
import { drawn, stepReady } from './lib/step.mjs';

const LEAST_BYTES = 20_000;
const MOST_BYTES = 300_000;

let folder;

before(async () => {
    folder = process.env.SHARDLINE_SCREENSHOTS ?? await mkdtemp(join(tmpdir(), 'slshot-'));
});
after(async () => {
    if (!process.env.SHARDLINE_SCREENSHOTS)
        await rm(folder, { recursive: true, force: true });
});

/** @type {[string, any, (page: any) => Promise<any>][]} name, options of the tab, from the planner's answer to what is seen */
const PICTURES = [
    ['planner', {}, (page) => page.locator('[data-testid="what-if"][data-ready="true"]').waitFor()],
    ['step', { height: 1250 }, async (page) => {
        await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
        await stepReady(page);
        await page.getByLabel('Time cursor', { exact: true }).fill('1.2');
        await page.locator('.tabs').evaluate((tabs) => tabs.scrollIntoView());
    }],
    ['search', { height: 1150, colorScheme: 'dark' }, async (page) => {
        await page.getByRole('tab', { name: 'Search' }).click();
        await page.getByTestId('search').getByRole('button', { name: 'Search', exact: true }).click();
        await page.waitForSelector('[data-testid="search"][data-phase="done"]');
        await page.locator('.tabs').evaluate((tabs) => tabs.scrollIntoView());
    }],
];

for (const [name, options, show] of PICTURES) {
    it(`can be photographed: ${name}`, async () => {
        await inTab(browser, server, { reducedMotion: 'reduce', ...options }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-70b"]'));
            await show(page);
            await page.mouse.move(0, 0);
            await page.evaluate(() => document.activeElement.blur());
            await drawn(page);
            const picture = await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
            assert.ok(picture.length > LEAST_BYTES && picture.length < MOST_BYTES, `${picture.length} bytes`);
        });
    });
}
