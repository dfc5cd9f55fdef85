/** The picture of the README: the planner with an answer, light, as a first visitor sees it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { startServer, stopClean } from '../e2e/lib/server.mjs';
import { answering, inTab, launch } from './lib/browser.mjs';

const MOST_BYTES = 300_000;

it('the planner can be photographed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'slshot-'));
    const path = process.env.SHARDLINE_SCREENSHOT ?? join(folder, 'planner.png');
    const [browser, server] = await Promise.all([launch(), startServer()]);
    try {
        await inTab(browser, server, { reducedMotion: 'reduce' }, async (tab) => {
            await answering(tab, () => tab.page.click('[data-example="llama-70b"]'));
            await tab.page.locator('.card dd').first().waitFor();
            await tab.page.mouse.move(0, 0);
            await tab.page.evaluate(() => document.activeElement.blur());
            const picture = await tab.page.screenshot({ path, animations: 'disabled' });
            assert.ok(picture.length > 20_000 && picture.length < MOST_BYTES, `${picture.length} bytes`);
        });
    } finally {
        await browser.close();
        await stopClean(server);
        await rm(folder, { recursive: true, force: true });
    }
});
