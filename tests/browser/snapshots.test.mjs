/**
 * How the page looks: a few views of fixed answers, compared with small pictures beside this file.
 *
 * A picture is shrunk to a sixth before it is kept or compared, so that the edge of a letter counts for little, and
 * every text is set in one font. A view that looks different on purpose is taken anew, then looked at, with
 *
 *     SHARDLINE_SNAPSHOTS=renew node --test tests/browser/snapshots.test.mjs
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import { inTab } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';
import { eventsOf } from './lib/searches.mjs';
import { drawn } from './lib/step.mjs';
import { madeTimeline } from './lib/timelines.mjs';

const folder = new URL('./snapshots/', import.meta.url);
const renew = process.env.SHARDLINE_SNAPSHOTS === 'renew';
const answers = JSON.parse(await readFile(new URL('answers.json', folder), 'utf8'));

/** Side of the square that becomes one pixel. */
const SHRUNK = 6;

/** A pixel differs from here on, of 255; so many of a hundred may. */
const DIFFERENT = 36;
const MOST_PERCENT = 1;

/** Four stages of eight devices, for the map. */
const PLACES = {
    ranks: Array.from({ length: 32 }, (_, rank) => ({ rank, node: Math.floor(rank / 8), local_rank: rank % 8,
        coordinates: { tensor: rank % 8, pipeline: Math.floor(rank / 8), data: 0, context: 0, expert: 0 } })),
    groups: [], tensors: [], units: [], next_cursor: null,
};

/** Everything a view asks for, answered here. @param {any} page @param {{estimate: any, choices: any, model: any}} given */
async function answerFixed(page, given) {
    const json = (body) => (route) => route.fulfill({ contentType: 'application/json', body: JSON.stringify(body) });
    const events = eventsOf().map(({ name, data }) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join('');
    await page.route('**/api/v1/**', json({ items: [], next_cursor: null }));
    await page.route('**/readyz', json({ status: 'ready', checks: [{ name: 'database', status: 'not_configured' }] }));
    await page.route('**/api/v1/accelerators*', json(answers.accelerators));
    await page.route('**/api/v1/models:inspect', json(given.model));
    await page.route('**/api/v1/estimates', json(given.estimate));
    await page.route('**/api/v1/estimates:batch', (route) => {
        const lines = route.request().postData().split('\n').map(() => JSON.stringify(given.estimate));
        return route.fulfill({ contentType: 'application/x-ndjson', body: `${lines.join('\n')}\n` });
    });
    await page.route('**/api/v1/estimates:choices', json(given.choices));
    await page.route('**/api/v1/timelines?*', json(madeTimeline({ ranksPerStage: 8 })));
    await page.route('**/api/v1/shardings?*', json(PLACES));
    await page.route('**/api/v1/searches', (route) => route.fulfill({ contentType: 'text/event-stream', body: events }));
}

/** One font for all, where it is installed, and nothing that blinks. */
const settle = (page) => page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`* { font-family: "DejaVu Sans", sans-serif !important; transition: none !important; caret-color: transparent !important; }
        .provenance, .printed-link { visibility: hidden; }`);
    document.adoptedStyleSheets.push(sheet);
    document.activeElement?.blur();
    return document.fonts.ready.then(() => {});
});

/** The picture shrunk, by a browser. @returns {Promise<Buffer>} */
const shrunk = async (blank, picture) => Buffer.from(await blank.evaluate(async ({ base64, by }) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(Math.ceil(image.width / by), Math.ceil(image.height / by));
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}, { base64: picture.toString('base64'), by: SHRUNK }), 'base64');

/** @returns {Promise<{sizes: number[][], percent: number}>} how much differs */
const compared = (blank, one, other) => blank.evaluate(async ({ pictures, different }) => {
    const read = async (base64) => {
        const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))]));
        const canvas = new OffscreenCanvas(image.width, image.height);
        canvas.getContext('2d').drawImage(image, 0, 0);
        return canvas.getContext('2d').getImageData(0, 0, image.width, image.height);
    };
    const [a, b] = await Promise.all(pictures.map(read));
    let count = 0;
    for (let at = 0; at < Math.min(a.data.length, b.data.length); at += 4) {
        const far = [0, 1, 2].some((part) => Math.abs(a.data[at + part] - b.data[at + part]) >= different);
        count += far ? 1 : 0;
    }
    return { sizes: [[a.width, a.height], [b.width, b.height]], percent: 400 * count / a.data.length };
}, { pictures: [one, other].map((bytes) => bytes.toString('base64')), different: DIFFERENT });

/** @param {any} page @param {string} name */
async function looksLike(page, name) {
    await settle(page);
    await page.mouse.move(0, 0);
    await drawn(page);
    const blank = await browser.newPage();
    try {
        const now = await shrunk(blank, await page.screenshot({ animations: 'disabled' }));
        const file = new URL(`${name}.png`, folder);
        if (renew)
            await writeFile(file, now);
        const { sizes, percent } = await compared(blank, await readFile(file), now);
        assert.deepEqual(sizes[1], sizes[0], 'the size of the picture');
        assert.ok(percent <= MOST_PERCENT, `${percent.toFixed(2)} % of ${name} looks different`);
    } finally {
        await blank.close();
    }
}

/** The verdict, and every change that the ribbon tries. */
const settled = async (page) => {
    await page.waitForSelector('[data-testid="verdict"][data-phase="done"]');
    await page.waitForFunction(() => document.querySelector('.what-if .move') && !document.querySelector('.what-if .move > :disabled'));
};
const FITS = '/?example=llama-70b&nodes=16&tp=8&sp=1&pp=4&vpp=2&gbs=512&seq=8192&attn=flash3&tokens=2000000000000';
const TOO_LARGE = '/?example=llama-8b&nodes=1&tp=2&sp=1&gbs=128&seq=65536&attn=flash3';

/** @type {[string, any, any, string, (page: any) => Promise<any>][]} name, options, answers, address, until */
const VIEWS = [
    ['empty', { width: 1024, height: 768 }, answers.fits, '/', (page) => page.locator('.starter').first().waitFor()],
    ['planner-light', { width: 1440, height: 1000 }, answers.fits, FITS, settled],
    ['planner-dark', { width: 1440, height: 1000, colorScheme: 'dark' }, answers.fits, FITS, settled],
    ['too-large-phone', { width: 390, height: 844 }, answers.too_large, TOO_LARGE, async (page) => {
        await settled(page);
        await page.locator('#answer').evaluate((main) => main.scrollIntoView());
    }],
    ['printed', { width: 718, height: 1040 }, answers.fits, FITS, async (page) => {
        await settled(page);
        await page.emulateMedia({ media: 'print' });
    }],
    ['step', { width: 1200, height: 1400 }, answers.fits, `${FITS}&view=step&at=0.2`, async (page) => {
        for (const id of ['timeline', 'sharding'])
            await page.waitForSelector(`[data-testid="${id}"][data-phase="done"]`);
    }],
    ['search-dark', { width: 1200, height: 1700, colorScheme: 'dark' }, answers.fits, `${FITS}&view=search&s.run=1`,
        (page) => page.waitForSelector('[data-testid="search"][data-phase="done"]')],
];

describe('the look of the page', () => {
    for (const [name, options, given, path, until] of VIEWS) {
        it(`is as it was: ${name}`, async () => {
            await inTab(browser, server, { reducedMotion: 'reduce', ...options, path: '/version' }, async ({ page }) => {
                await answerFixed(page, given);
                await page.goto(server.url + path);
                await until(page);
                /* The last that the page asks by itself. */
                await page.getByText('inventories need a database').waitFor({ state: 'attached' });
                await page.locator('.card dd').first().waitFor(name === 'empty' ? { state: 'detached' } : { state: 'attached' });
                await looksLike(page, name);
            });
        });
    }

    it('that moved by a line is found out', async () => {
        await inTab(browser, server, { reducedMotion: 'reduce', width: 1024, height: 768, path: '/version' }, async ({ page }) => {
            await answerFixed(page, answers.fits);
            await page.goto(server.url);
            await page.getByText('inventories need a database').waitFor();
            await page.evaluate(() => { document.querySelector('.empty').style.marginTop = '70px'; });
            await assert.rejects(async () => {
                assert.ok(!renew, 'nothing is renewed from this');
                await looksLike(page, 'empty');
            }, /looks different|nothing is renewed/);
        });
    });
});
