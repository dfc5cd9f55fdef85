/** The model explorer: what a config says, as the service reads it; two models side by side. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { llama } from '../e2e/lib/fixtures.mjs';
import { startServer, stopClean } from '../e2e/lib/server.mjs';
import { startHub } from '../hub/standin.mjs';
import { expectAccessible } from './lib/axe.mjs';
import { becomes, clickAtOnce, fitsAcross, inTab, launch, openPlan, openTab, seen, unfold } from './lib/browser.mjs';
import { gib, threeDigits } from './lib/format.mjs';

const experts = { ...llama, model_type: 'mixtral', architectures: ['MixtralForCausalLM'],
    num_local_experts: 4, num_experts_per_tok: 2, sliding_window: null };

/** As long as the Hub lets an id be. */
const longest = `organisation-of-a-long-name/${'a-model-of-many-words'.padEnd(96 - 'organisation-of-a-long-name/'.length, '-and-more')}`;

let browser;
let server;
let hub;

before(async () => {
    hub = await startHub({ repositories: {
        'org/small': { files: { 'config.json': llama } }, 'org/experts': { files: { 'config.json': experts } },
        'org/DeepSeekLike': { files: { 'config.json': experts } }, [longest]: { files: { 'config.json': llama } },
        'org/fp8': { files: { 'config.json': { ...llama, quantization_config: { quant_method: 'fp8', fmt: 'e4m3', activation_scheme: 'dynamic', weight_block_size: [128, 128] } } } },
    } });
    [browser, server] = await Promise.all([launch(), startServer({ hub })]);
});
after(async () => {
    await browser?.close();
    if (server)
        await stopClean(server);
    await hub?.close();
});

const done = async (page) => {
    await page.waitForSelector('[data-testid="models"][data-phase="done"]');
    await page.waitForSelector('[data-testid="tensors"][data-phase="done"] tbody');
};
const fact = async (page, label) => Promise.all((await page.locator(`tr[data-fact="${label}"] td`).all()).map(seen));
const isModel = (response) => /models(:inspect|\/)/.test(new URL(response.url()).pathname);
const isMap = (response) => new URL(response.url()).pathname === '/api/v1/shardings';

/** As the page writes a count of parameters. */
const count = (value) => (value >= 1e9 ? `${threeDigits(value / 1e9)} B` : value >= 1e6 ? `${threeDigits(value / 1e6)} M`
    : value.toLocaleString('en-US'));

/** Opens a tab there and gives what the service said of the model and of its tensors. */
async function opened(path) {
    const tab = await openTab(browser, server, { path: '/version' });
    const { page } = tab;
    const [model, map] = await Promise.all([page.waitForResponse(isModel), page.waitForResponse(isMap), page.goto(server.url + path)]);
    await done(page);
    return { tab, page, model: await model.json(), map: await map.json() };
}

describe('one model', () => {
    it('in fp8 has tensors of that size, and their layers by the number of their name', async () => {
        const { tab, page, map } = await opened('/?page=models&p.a=org/fp8&p.find=*.3.*q_proj*');
        const [{ name, shape, dtype }] = map.tensors;
        assert.match(dtype, /^fp8/);
        const cells = page.getByTestId('tensors').locator('tbody tr').filter({ hasText: name }).locator('td');
        assert.equal(await seen(cells.first()), '3');
        await cells.last().locator('.num').click();
        await becomes(async () => (await seen(page.locator('.popover-value'))).includes((shape[0] * shape[1]).toLocaleString('en-US')), true);
        await tab.expectClean();
        await tab.close();
    });

    it('shows what the service knows, and every number says what it counts', async () => {
        const { tab, page, model } = await opened('/?page=models');
        assert.deepEqual(await fact(page, 'Architecture'), ['LlamaForCausalLM']);
        assert.deepEqual(await fact(page, 'Blocks'), ['32']);
        assert.deepEqual(await fact(page, 'Parameters'), [count(model.parameters.total)]);
        assert.deepEqual(await fact(page, 'Weights as stored'), [`${gib(model.weights_bytes)} GiB`]);
        assert.deepEqual(await fact(page, 'KV cache per token'), [`${model.kv_cache.bytes_per_token / 1024} KiB`]);
        for (const role of ['embedding', 'attention', 'mlp', 'norms', 'lm_head'])
            assert.equal(await seen(page.locator(`tr[data-role="${role}"] td`).first()), count(model.parameters[role]), role);
        for (const num of await page.locator('.models .num').all()) {
            await num.click();
            assert.ok((await seen(page.locator('.popover .formula').first())).length > 5, await num.textContent());
            await page.keyboard.press('Escape');
        }
        await tab.expectClean();
        await tab.close();
    });

    it('is drawn to scale: each run as wide as its parameters', async () => {
        const { tab, page, model } = await opened('/?page=models&p.a=org/experts');
        const widths = await page.locator('.model-map rect').evaluateAll((rects) => [...new Map(rects.map((rect) =>
            [rect.dataset.run, parseFloat(rect.getAttribute('width'))])).values()]);
        widths.forEach((width, at) => assert.ok(Math.abs(width - 100 * model.layers[at].parameters / model.parameters.total) < 0.01, `run ${at}`));
        const heights = await page.locator('.model-map rect[data-run="1"]').evaluateAll((rects) =>
            rects.reduce((sum, rect) => sum + Number(rect.getAttribute('height')), 0));
        assert.ok(Math.abs(heights - 150) < 0.01, 'tensors fill their column');
        assert.notDeepEqual(await fact(page, 'Active for a token'), await fact(page, 'Parameters'));
        await tab.expectClean();
        await tab.close();
    });

    it('opens its layers, and pages and searches its tensors as the service does', async () => {
        const { tab, page, model, map } = await opened('/?page=models');
        await unfold(page.getByTestId('run').nth(1));
        assert.deepEqual(await page.getByTestId('run').nth(1).locator('tbody th').allTextContents(), model.layers[1].tensors.map(({ name }) => name));
        const names = () => page.getByTestId('tensors').locator('tbody th').allTextContents();
        assert.deepEqual(await names(), map.tensors.map(({ name }) => name));
        /* A second click, before the page has come, is not one more page. */
        const onward = '[aria-label="Pages of tensors"] button:last-child';
        const [next] = await Promise.all([page.waitForResponse(isMap), clickAtOnce(page, onward, onward)]);
        const second = (await next.json()).tensors.map(({ name }) => name);
        await becomes(names, second);
        assert.equal(await seen(page.getByTestId('tensors').getByRole('status')), 'page 2: 50 of its tensors');
        assert.notEqual(second[0], map.tensors[0].name);
        await page.locator('[data-slot="a"] select').selectOption('example:qwen-32b');
        await becomes(async () => seen(page.getByTestId('tensors').getByRole('status')), 'page 1: 50 of its tensors', 'another model starts at its first');
        await page.goBack();
        await becomes(names, second, 'and the page that was open is there again');
        await page.getByLabel('Find', { exact: true }).fill('31.*down');
        await becomes(names, [], 'with a star the pattern is the whole name');
        await page.getByLabel('Find', { exact: true }).fill('31.mlp');
        await becomes(names, ['gate', 'up', 'down'].map((part) => `model.layers.31.mlp.${part}_proj.weight`));
        await becomes(async () => new URL(page.url()).searchParams.get('p.find'), '31.mlp');
        await page.reload();
        await becomes(async () => (await names()).length, 3, 'a link opens the same page');
        await tab.expectClean();
        await tab.close();
    });

    it('goes to the planner, and a pasted config comes from there', async () => {
        const { tab } = await openPlan(browser, server, '/?example=llama-8b&nodes=2');
        const { page } = tab;
        await page.getByRole('link', { name: 'Models' }).click();
        await done(page);
        assert.deepEqual(await page.locator('[data-slot="a"] option:checked').allTextContents(), ['The model of your plan']);
        await page.getByText('Paste or drop a config.json').click();
        await page.fill('#field-config', JSON.stringify(experts));
        await page.getByRole('button', { name: 'Use this config' }).click();
        await becomes(() => fact(page, 'Architecture'), ['MixtralForCausalLM']);
        assert.match(new URL(page.url()).hash, /^#config=/, 'it stays out of what is sent to a server');
        await page.locator('[data-slot="a"] select').selectOption('example:llama-70b');
        await becomes(() => fact(page, 'Blocks'), ['80']);
        const estimate = page.waitForResponse((response) => response.url().endsWith('/api/v1/estimates'));
        await page.locator('[data-slot="a"]').getByRole('button', { name: 'Plan with this model' }).click();
        const request = (await estimate).request().postDataJSON();
        assert.equal(request.model.config.num_hidden_layers, 80);
        assert.equal(request.cluster.nodes, 2, 'the rest of the plan stays');
        await tab.expectClean();
        await tab.close();
    });
});

describe('two models', () => {
    it('are there once an id is typed and the field left: what was typed is not lost', async () => {
        await inTab(browser, server, { path: '/?page=models&p.a=org/small' }, async ({ page }) => {
            await done(page);
            const field = page.getByLabel('Hub id of Compare with');
            await field.pressSequentially('org/experts');
            await page.locator('#panel-facts').click();
            await becomes(() => fact(page, 'Architecture'), ['LlamaForCausalLM', 'MixtralForCausalLM']);
            assert.equal(await field.inputValue(), 'org/experts');
            await field.fill('');
            assert.equal(await field.inputValue(), '', 'it can be emptied');
            await page.locator('[data-slot="b"] select').selectOption('example:qwen-32b');
            await becomes(() => fact(page, 'Architecture'), ['LlamaForCausalLM', 'Qwen2ForCausalLM']);
        });
    });

    it('stand side by side on one scale, and what differs is marked', async () => {
        await inTab(browser, server, { path: '/?page=models&p.a=org/small' }, async ({ page }) => {
            await done(page);
            await page.getByLabel('Hub id of Compare with').fill('org/experts');
            await page.keyboard.press('Enter');
            await becomes(() => fact(page, 'Architecture'), ['LlamaForCausalLM', 'MixtralForCausalLM']);
            assert.match(page.url(), /p\.a=org\/small&p\.b=org\/experts$/);
            const rows = await page.locator('tr[data-fact]').evaluateAll((list) => list.map((row) => ({
                marked: row.dataset.differs === 'true', said: row.querySelector('.tag') !== null,
                differs: new Set([...row.querySelectorAll('td')].map((cell) => cell.textContent)).size > 1 })));
            for (const row of rows)
                assert.deepEqual([row.marked, row.said], [row.differs, row.differs]);
            assert.ok(rows.some(({ differs }) => differs) && rows.some(({ differs }) => !differs));
            const ends = await page.locator('.model-map').evaluateAll((maps) => maps.map((map) => Math.max(...[...map.querySelectorAll('rect')]
                .map((rect) => parseFloat(rect.getAttribute('x')) + parseFloat(rect.getAttribute('width'))))));
            assert.ok(ends[0] < 99 && Math.abs(ends[1] - 100) < 0.01, `the smaller is drawn smaller: ${ends}`);
            await page.getByLabel('org/experts', { exact: true }).check();
            await page.getByLabel('Find', { exact: true }).fill('experts');
            await becomes(async () => (await page.getByTestId('tensors').locator('tbody th').first().textContent()).includes('experts'), true);
        });
    });

    it('one that would be a hair beside the other is drawn wider, which is said', async () => {
        await inTab(browser, server, { path: '/?page=models&p.a=example:llama-70b&p.b=org/small' }, async ({ page }) => {
            await becomes(async () => (await fact(page, 'Blocks')).length, 2);
            const figures = page.getByTestId('parts').locator('figure');
            assert.equal(await seen(figures.first().locator('figcaption')), 'Llama 3.1 70B');
            const [, times] = /^org\/small, drawn ([\d,]+) times as wide$/.exec(await seen(figures.last().locator('figcaption')));
            assert.ok(Number(times.replaceAll(',', '')) > 1000, times);
            const end = await figures.last().locator('rect').evaluateAll((rects) => Math.max(...rects.map((rect) =>
                parseFloat(rect.getAttribute('x')) + parseFloat(rect.getAttribute('width')))));
            assert.ok(end > 99 && end <= 100, `ends at ${end}`);
        });
    });

    it('one that cannot be read says why, the other stays', async () => {
        await inTab(browser, server, { path: '/?page=models&p.b=org/nowhere', faults: ['404 GET /api/v1/models/org/nowhere'] }, async ({ page }) => {
            await done(page);
            await page.locator('[data-slot="b"] .bad').waitFor();
            assert.deepEqual(await fact(page, 'Blocks'), ['32']);
        });
    });
});

describe('for everyone', () => {
    for (const colorScheme of ['light', 'dark']) {
        it(`axe-core finds nothing in ${colorScheme}, and a phone needs no scrolling sideways`, async () => {
            await inTab(browser, server, { colorScheme, path: '/?page=models&p.a=org/experts&p.b=example:llama-70b&p.find=norm' }, async ({ page }) => {
                await becomes(async () => (await fact(page, 'Blocks')).length, 2);
                await done(page);
                await unfold(page.getByTestId('run').nth(1));
                await expectAccessible(page, 'two models');
                await page.setViewportSize({ width: 390, height: 844 });
                await expectAccessible(page, 'on a phone');
                await fitsAcross(page);
                for (const id of ['facts', 'parts', 'tensors', 'layers'])
                    await becomes(() => page.getByTestId(id).locator('.scroll').first().getAttribute('data-over'), 'false', `${id} side by side`);
            });
        });
    }
});

describe('a model of the longest name', () => {
    it('keeps within its panel, on the narrowest phone too', async () => {
        assert.equal(longest.length, 96);
        await inTab(browser, server, { path: `/?page=models&p.a=${longest}&p.b=org/small` }, async ({ page }) => {
            await done(page);
            for (const width of [320, 390, 1024]) {
                await page.setViewportSize({ width, height: 800 });
                await fitsAcross(page, `${width} pixels`);
                assert.deepEqual(await page.locator('.slot').evaluateAll((slots) => slots.map((slot) => slot.scrollWidth - slot.clientWidth)), [0, 0], `${width} pixels`);
            }
        });
    });
});

describe('two models on a phone', () => {
    for (const other of ['example:qwen-32b', 'org/DeepSeekLike']) it(`have names that break between their words alone, in no more room than there is: ${other}`, async () => {
        const path = `/?page=models&p.a=example:llama-8b&p.b=${other}`;
        await inTab(browser, server, { path, width: 390, height: 844 }, async ({ page }) => {
            await done(page);
            for (const run of await page.getByTestId('run').all())
                await unfold(run);
            /** Parts of words that stand in two lines. */
            const broken = (selector) => page.locator(selector).evaluateAll((cells) => cells.flatMap((cell) => {
                const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
                const range = document.createRange();
                const found = [];
                while (walker.nextNode()) for (const { index, 0: word } of walker.currentNode.data.matchAll(/\S+/g)) {
                    range.setStart(walker.currentNode, index);
                    range.setEnd(walker.currentNode, index + word.length);
                    if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1)
                        found.push(word);
                }
                return found;
            }));
            assert.ok(await page.locator('[data-testid="run"] code').count() > 20);
            assert.deepEqual(await broken('[data-testid="layers"] th, [data-testid="facts"] :is(th, td), [data-testid="parts"] :is(th, td)'), []);
            assert.equal(await page.locator('.scroll[data-over="true"]').count(), 0);
        });
    });
});
