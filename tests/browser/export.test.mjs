/** Every figure can be taken away: as a drawing, as a picture, as the data behind it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { expectAccessible } from './lib/axe.mjs';
import { answering, inTab } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';
import { openStep } from './lib/step.mjs';

const open = (page, title) => page.getByRole('button', { name: `Export: ${title}` }).click();

/** Exports one figure; its file. */
async function exported(page, title, format) {
    await open(page, title);
    const [download] = await Promise.all([page.waitForEvent('download'),
        page.locator('.export-menu').getByRole('button', { name: format }).click()]);
    return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

/** Fields of RFC 4180, whatever they hold. */
function rowsOf(text) {
    const rows = [[]];
    for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|$)/g)) {
        rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
        if (end === '\r\n')
            rows.push([]);
        else if (end === '')
            break;
    }
    const [head, ...lines] = rows.filter((row) => row.length > 1);
    return lines.map((line) => Object.fromEntries(head.map((name, at) => [name, line[at]])));
}

/** What a picture is, as the browser decodes it. */
const decoded = (page, bytes) => page.evaluate(async (base64) => {
    const blob = new Blob([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))], { type: 'image/png' });
    const image = await createImageBitmap(blob);
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const colours = new Map();
    for (let at = 0; at < data.length; at += 4) {
        const colour = `${data[at]},${data[at + 1]},${data[at + 2]},${data[at + 3]}`;
        colours.set(colour, (colours.get(colour) ?? 0) + 1);
    }
    return { width: image.width, height: image.height, colours: [...colours].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([colour]) => colour),
        translucent: [...colours.keys()].some((colour) => !colour.endsWith(',255')) };
}, Buffer.from(bytes).toString('base64'));

/** The drawing as a browser reads it. */
const read = (page, bytes) => page.evaluate((text) => {
    const drawing = new DOMParser().parseFromString(text, 'image/svg+xml');
    const all = [...drawing.querySelectorAll('*')];
    const names = [...text.matchAll(/url\(#([\w-]+)\)/g)].map(([, name]) => name);
    return {
        fault: drawing.querySelector('parsererror')?.textContent ?? '', root: drawing.documentElement.localName,
        texts: [...drawing.querySelectorAll('text')].map((node) => node.textContent),
        fills: [...new Set(all.map((node) => node.getAttribute('fill')).filter(Boolean))],
        active: all.filter((node) => ['script', 'style', 'foreignObject'].includes(node.localName) || node.hasAttribute('style') || node.hasAttribute('class')).length,
        dangling: names.filter((name) => drawing.getElementById(name) === null), hatches: new Set(names).size,
        width: Number(drawing.documentElement.getAttribute('width')), height: Number(drawing.documentElement.getAttribute('height')),
    };
}, bytes.toString('utf8'));

describe('a figure of the planner', () => {
    it('keeps its button beneath the head of the page', async () => {
        await inTab(browser, server, { height: 500 }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-70b"]'));
            const button = page.getByRole('button', { name: 'Export: Memory per device' });
            assert.equal(await button.evaluate((own) => {
                scrollBy(0, own.getBoundingClientRect().top - 12);
                const { x, y, width, height } = own.getBoundingClientRect();
                return document.elementFromPoint(x + width / 2, y + height / 2).closest('.top') !== null;
            }), true);
        });
    });

    it('as a drawing has title, key, figures and link, with every style in it', async () => {
        await inTab(browser, server, { acceptDownloads: true }, async (tab) => {
            const { page } = tab;
            const { answer } = await answering(tab, () => page.click('[data-example="llama-70b"]'));
            await open(page, 'Memory per device');
            await expectAccessible(page, 'the formats are offered');
            await page.keyboard.press('Escape');
            const { name, bytes } = await exported(page, 'Memory per device', 'SVG');
            assert.equal(name, 'shardline-memory.svg');
            const drawing = await read(page, bytes);
            assert.equal(drawing.fault, '');
            assert.deepEqual([drawing.root, drawing.active, drawing.dangling], ['svg', 0, []]);
            assert.ok(drawing.hatches >= 2);
            for (const text of ['Memory per device', 'comes and goes', 'stage 0', 'Optimizer states', 'Total'])
                assert.ok(drawing.texts.includes(text), text);
            assert.ok(!drawing.texts.some((text) => text.includes('Export')), 'what only serves the hand is left out');
            const foot = drawing.texts.slice(drawing.texts.findIndex((text) => text.startsWith('Shardline, engine')));
            assert.equal(foot.slice(1).join(''), page.url());
            assert.ok(foot[0].includes(answer.input_hash.slice(0, 12)));
            assert.ok(drawing.fills.every((fill) => !fill.includes('var(')));

            const picture = await decoded(page, (await exported(page, 'Memory per device', 'PNG')).bytes);
            assert.deepEqual([picture.width, picture.height], [2 * drawing.width, 2 * drawing.height]);
            assert.equal(picture.colours[0], '255,255,255,255');
            assert.ok(picture.colours.includes('230,159,0,255'), `the orange of activations is among ${picture.colours.join(' ')}`);
            assert.equal(picture.translucent, false);
        });
    });

    it('as data says what the service said, in bytes and seconds, every rank and every term', async () => {
        await inTab(browser, server, { acceptDownloads: true }, async (tab) => {
            const { page } = tab;
            const { answer } = await answering(tab, () => page.click('[data-example="llama-70b"]'));
            await page.keyboard.press('u');
            const terms = answer.memory.ranks.flatMap((rank) => rank.terms.map((term) => [rank.rank, term.name, term.lifetime, term.bytes, term.formula]));
            const csv = rowsOf((await exported(page, 'Memory per device', 'CSV')).bytes.toString('utf8'));
            assert.deepEqual(csv.map((row) => [Number(row.rank), row.name, row.lifetime, Number(row.bytes), row.formula]), terms);
            const json = JSON.parse((await exported(page, 'Memory per device', 'JSON')).bytes.toString('utf8'));
            assert.deepEqual(json.rows.map((row) => [row.rank, row.name, row.lifetime, row.bytes, row.formula]), terms);
            assert.deepEqual([json.link, json.input_hash, json.engine_version], [page.url(), answer.input_hash, answer.engine_version]);

            const time = rowsOf((await exported(page, 'Where the time goes', 'CSV')).bytes.toString('utf8'));
            assert.deepEqual(time.map((row) => [row.name, Number(row.seconds)]), answer.time.terms.map((term) => [term.name, term.seconds]));
        });
    });
});

describe('a figure on a canvas', () => {
    it('is a picture in its drawing, and its data are the spans and the devices', async () => {
        await inTab(browser, server, { acceptDownloads: true, colorScheme: 'dark' }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="qwen-32b"]'));
            const { timeline, sharding } = await openStep(tab);
            const drawing = await read(page, (await exported(page, 'Timeline of one step', 'SVG')).bytes);
            assert.deepEqual([drawing.fault, drawing.active, drawing.dangling], ['', 0, []]);
            const picture = await decoded(page, (await exported(page, 'Timeline of one step', 'PNG')).bytes);
            assert.deepEqual([picture.width, picture.height], [2 * drawing.width, 2 * drawing.height]);
            assert.equal(picture.colours[0], '20,27,35,255', 'the ground of the dark theme');
            assert.ok(picture.colours.includes('46,143,214,255'), 'the blue of the backward passes');

            const spans = rowsOf((await exported(page, 'Timeline of one step', 'CSV')).bytes.toString('utf8'));
            assert.equal(spans.length, timeline.spans.kind.length);
            const sum = (list) => list.reduce((total, value) => total + value, 0);
            const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-6 * b, `${a}, not ${b}`);
            close(sum(spans.map((row) => Number(row.end_s) - Number(row.start_s))), sum(timeline.spans.duration_s ?? timeline.spans.end_s.map((end, at) => end - timeline.spans.start_s[at])));
            const places = rowsOf((await exported(page, 'Sharding map', 'CSV')).bytes.toString('utf8'));
            assert.deepEqual(places.map((row) => [Number(row.rank), Number(row.node), Number(row.pipeline), Number(row.tensor)]),
                sharding.ranks.map(({ rank, node, coordinates }) => [rank, node, coordinates.pipeline, coordinates.tensor]));
        });
    });
});

/** Words that mean something to who has the page under the hand, and nothing in a picture. */
const TALK = /click|\barrow|keys|drag|zoom|colour by|compare them|perfetto|is chosen|^cluster$/i;

describe('a picture', () => {
    it('says nothing of what the page can do, and nothing stands on its foot', async () => {
        const path = '/?example=llama-70b&nodes=16&tp=8&sp=1&pp=4&vpp=2&gbs=512&seq=8192&view=step';
        await inTab(browser, server, { acceptDownloads: true, path: `${path}&rank=3` }, async ({ page }) => {
            /** Texts of the figure that reach down to the lines of its foot. */
            const below = (bytes) => page.evaluate((text) => {
                const texts = [...new DOMParser().parseFromString(text, 'image/svg+xml').querySelectorAll('text')];
                const foot = texts.findIndex((node) => node.textContent.startsWith('Shardline, engine'));
                return texts.slice(0, foot).filter((node) => Number(node.getAttribute('y')) >= Number(texts[foot].getAttribute('y'))).map((node) => node.textContent);
            }, bytes.toString('utf8'));
            const look = async (title) => {
                const { bytes } = await exported(page, title, 'SVG');
                const { texts } = await read(page, bytes);
                const foot = texts.findIndex((text) => text.startsWith('Shardline, engine'));
                assert.deepEqual(texts.slice(0, foot).filter((text) => TALK.test(text)), [], title);
                assert.deepEqual(await below(bytes), [], title);
                return texts;
            };
            await page.waitForSelector('[data-testid="tensors"][data-phase="done"]');
            await page.getByTestId('units').waitFor();
            assert.ok((await look('Sharding map')).some((text) => text.startsWith('Rank 3: node 0')), 'what is chosen is said');
            await page.goto(server.url + path);
            for (const id of ['timeline', 'sharding'])
                await page.waitForSelector(`[data-testid="${id}"][data-phase="done"]`);
            await look('Timeline of one step');
            await look('Sharding map');
            await page.goto(server.url + path.replace('view=step', 'view=search&s.run=1'));
            await page.waitForSelector('[data-testid="search"][data-phase="done"]');
            await page.keyboard.press('Escape');
            await look('What there is to choose from');
        });
    });
});

describe('the scatter of a search', () => {
    it('is drawn and told as data, every plan that was found', async () => {
        const path = '/?example=llama-8b&view=search&s.context=1';
        await inTab(browser, server, { acceptDownloads: true, path }, async ({ page }) => {
            await page.getByRole('button', { name: 'Search', exact: true }).click();
            await page.waitForSelector('[data-testid="search"][data-phase="done"]');
            const drawing = await read(page, (await exported(page, 'What there is to choose from', 'SVG')).bytes);
            assert.deepEqual([drawing.fault, drawing.active, drawing.dangling], ['', 0, []]);
            assert.ok(drawing.texts.includes('best'));
            const plans = rowsOf((await exported(page, 'What there is to choose from', 'CSV')).bytes.toString('utf8'));
            const shown = Number((await page.getByTestId('plans').locator('h2 .tag').innerText()).replaceAll(',', ''));
            assert.ok(shown > 50, `${shown} plans`);
            assert.equal(plans.length, shown);
            assert.ok(plans.every((row) => Number(row.step_s) > 0 && row.tensor !== ''));
        });
    });
});
