/** The URL is the state; what is copied works; preferences stay. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { llama } from '../e2e/lib/fixtures.mjs';
import { run } from '../e2e/lib/processes.mjs';
import { answering, becomes, choose, chosen, inTab, openPlan, told, type } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';
import { withSubject } from '../../static/src/state/fields.js';

const pathOf = (page) => page.evaluate(() => location.pathname + location.search + location.hash);

/** Every control as it stands. */
const controls = (page) => page.locator('.controls').evaluate((panel) => ({
    radios: [...panel.querySelectorAll('input[type=radio]:checked')].map((input) => `${input.name} ${input.value}`),
    sliders: [...panel.querySelectorAll('input[type=range]')].map((input) => `${input.id} ${input.dataset.stops} ${input.value}`),
    switches: [...panel.querySelectorAll('[role=switch]')].map((input) => input.checked),
    texts: [...panel.querySelectorAll('input[type=text], select')].map((input) => `${input.id} ${input.value}`),
}));

describe('the URL', () => {
    it('holds the plan: a reload shows the same', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="qwen-32b"]'));
            await answering(tab, () => choose(page, 'recompute', 'full'));
            const before = await answering(tab, () => type(page, 'tokens', '1.5T'));
            const shown = await controls(page);
            const after = await answering(tab, () => page.reload());
            assert.deepEqual(after.request, before.request);
            assert.deepEqual(after.answer.time, before.answer.time);
            await becomes(() => controls(page), shown, 'the controls');
        });
    });

    it('holds a pasted config.json, which no request to the service shows', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await page.locator('label', { hasText: 'config.json' }).first().click();
            await page.fill('#field-config', JSON.stringify(llama));
            await answering(tab, () => page.getByRole('button', { name: 'Use this config' }).click());
            const path = await pathOf(page);
            assert.match(path, /#config=/);
            assert.ok(!path.split('#')[0].includes('hidden'));
            const { tab: other, request } = await openPlan(browser, server, path);
            assert.deepEqual(request.model, { config: llama });
            await other.expectClean();
            await other.close();
        });
    });

    it('makes back undo a change and forward do it again', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const first = await answering(tab, () => page.click('[data-example="llama-8b"]'));
            const second = await answering(tab, () => choose(page, 'tensor', '4'));
            assert.equal(second.request.parallelism.tensor, 4);
            const undone = await answering(tab, () => page.goBack());
            assert.deepEqual(undone.request, first.request);
            assert.equal(await chosen(page, 'tensor'), '2');
            const redone = await answering(tab, () => page.goForward());
            assert.deepEqual(redone.request, second.request);
            await page.goBack();
            await page.goBack();
            await page.locator('.starter').first().waitFor();
            assert.equal(await pathOf(page), '/');
        });
    });

    it('that is damaged opens as a page without a model', async () => {
        await inTab(browser, server, { path: '/?tp=many&nodes=-4&extra=%5B#config=%%%' }, async ({ page }) => {
            await page.locator('.starter').first().waitFor();
            assert.equal(await page.inputValue('#field-nodes'), '1');
        });
    });
});

/** The words that a shell makes of a command, its program left out. */
async function wordsOf(command) {
    const { code, stdout, stderr } = await run('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`]);
    assert.equal(code, 0, stderr);
    return stdout.split('\0').slice(0, -1);
}

describe('a refusal', () => {
    it('says what it is about', () => {
        const detail = 'must divide it';
        assert.equal(withSubject({ detail }), detail);
        assert.deepEqual(['/parallelism/data', '/parallelism/zero_stage', '/cluster/price_per_node_hour'].map((pointer) => withSubject({ pointer, detail })),
            ['data parallel: must divide it', 'ZeRO stage: must divide it', 'price per node hour: must divide it']);
    });
});

describe('what is copied', () => {
    it('as curl posts the plan of the page', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { answer } = await answering(tab, () => page.click('[data-example="llama-70b"]'));
            await page.getByRole('button', { name: 'Copy as curl' }).click();
            await told(page, 'Command copied');
            const words = await wordsOf(await page.evaluate(() => navigator.clipboard.readText()));
            const value = (option) => words[words.indexOf(option) + 1];
            const url = words.find((word) => word.startsWith('http'));
            assert.equal(url, `${server.url}/api/v1/estimates`);
            const [name, type] = value('--header').split(': ');
            const response = await fetch(url, { method: 'POST', headers: { [name]: type }, body: value('--data') });
            assert.equal(response.status, 200);
            assert.deepEqual(await response.json(), answer);
        });
    });

    it('as a link opens the same plan', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { request } = await answering(tab, () => page.click('[data-example="qwen-32b"]'));
            await page.getByRole('button', { name: 'Copy link' }).click();
            await told(page, 'Link copied');
            const link = await page.evaluate(() => navigator.clipboard.readText());
            assert.ok(link.startsWith(`${server.url}/?`));
            const opened = await openPlan(browser, server, link.slice(server.url.length));
            assert.deepEqual(opened.request, request);
            await opened.tab.close();
        });
    });
});

describe('the link of a page that plans nothing', () => {
    it('is copied like that of a plan', async () => {
        await inTab(browser, server, { path: '/?page=concepts' }, async ({ page }) => {
            await page.getByRole('button', { name: 'Copy link' }).click();
            await told(page, 'Link copied');
            assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
            assert.match(page.url(), /page=concepts/);
        });
    });
});

describe('a preference', () => {
    it('for the theme follows the system until the reader chooses, then stays', async () => {
        await inTab(browser, server, { colorScheme: 'dark' }, async ({ page }) => {
            const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
            const dark = await ground();
            await page.emulateMedia({ colorScheme: 'light' });
            await becomes(async () => await ground() !== dark, true);
            await page.getByRole('button', { name: 'Dark theme' }).click();
            await becomes(ground, dark);
            await page.reload();
            await becomes(ground, dark);
        });
    });
});
