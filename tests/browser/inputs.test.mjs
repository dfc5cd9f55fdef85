/** What goes in: a Hub id, a config.json, a stored inventory, legal values, messages at fields. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gpt2, inventory, llama, llamaParameters } from '../e2e/lib/fixtures.mjs';
import { startServer, stopClean } from '../e2e/lib/server.mjs';
import { startHub } from '../hub/standin.mjs';
import { answering, becomes, choose, inTab, launch, offered, seen, type } from './lib/browser.mjs';

let browser;
let hub;
let server;

before(async () => {
    hub = await startHub({
        repositories: {
            'org/llama': { files: { 'config.json': llama } },
            gpt2: { files: { 'config.json': gpt2 } },
            'org/gated': { files: { 'config.json': llama }, gated: true },
        },
    });
    [browser, server] = await Promise.all([launch(), startServer({ database: true, hub })]);
    const stored = await fetch(`${server.url}/api/v1/inventories/north`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(inventory({ nodes: 4, name: 'North hall' })),
    });
    assert.equal(stored.status, 201, await stored.text());
});
after(async () => {
    await browser?.close();
    if (server)
        await stopClean(server);
    await hub?.close();
});

async function paste(page, text) {
    await page.locator('label', { hasText: 'config.json' }).first().click();
    await page.fill('#field-config', text);
    await page.getByRole('button', { name: 'Use this config' }).click();
}

describe('a Hub id', () => {
    it('is loaded from the Hub and answered', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await page.fill('#field-hub', 'org/llama');
            const { status, request } = await answering(tab, () => page.press('#field-hub', 'Enter'));
            assert.equal(status, 200);
            assert.deepEqual(request.model, { hub: 'org/llama' });
            const card = page.locator('.card');
            await becomes(() => card.locator('dd').nth(1).locator('span').getAttribute('title'),
                llamaParameters.toLocaleString('en-US'), 'the parameters of the model');
            assert.match(await seen(card), /org\/llama.*LlamaForCausalLM/);
            assert.ok(hub.requests.some(({ path }) => path.includes('/org/llama/')));
        });
    });

    it('may be a bare name, a link or carry a revision', async () => {
        for (const [typed, model] of [
            ['gpt2', { hub: 'gpt2' }],
            ['https://huggingface.co/org/llama', { hub: 'org/llama' }],
            ['org/llama@main', { hub: 'org/llama', revision: 'main' }],
        ]) {
            await inTab(browser, server, { path: '/?seq=512' }, async (tab) => {
                await tab.page.fill('#field-hub', typed);
                const { status, request } = await answering(tab,
                    () => tab.page.getByRole('button', { name: 'Load' }).click());
                assert.equal(status, 200, typed);
                assert.deepEqual(request.model, model);
            });
        }
    });

    it('that is not there, or not open to us, is a message at the field', async () => {
        for (const [id, status, words] of [
            ['org/missing', 404, /not|no /i], ['org/gated', 403, /gated|restricted|access|terms/i]]) {
            const tabFaults = [`${status} GET /api/v1/models/${id}`, `${status} POST /api/v1/estimates`,
                `${status} POST /api/v1/estimates:choices`];
            await inTab(browser, server, { faults: tabFaults }, async (tab) => {
                const { page } = tab;
                await page.fill('#field-hub', id);
                await answering(tab, () => page.press('#field-hub', 'Enter'));
                await page.locator('#error-hub').waitFor();
                assert.match(await page.locator('#error-hub').innerText(), words);
                assert.equal(await page.locator('#field-hub').getAttribute('aria-invalid'), 'true');
                assert.equal(await page.locator('#field-hub').getAttribute('aria-describedby'), 'error-hub');
            });
        }
    });
});

describe('a pasted config.json', () => {
    it('is answered without a Hub', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const asked = hub.requests.length;
            const { status, request } = await answering(tab, () => paste(tab.page, JSON.stringify(llama)));
            assert.equal(status, 200);
            assert.deepEqual(request.model, { config: llama });
            assert.equal(hub.requests.length, asked);
        });
    });

    it('that is not JSON is refused before it is sent', async () => {
        await inTab(browser, server, {}, async ({ page }) => {
            for (const [text, words] of [['{"hidden_size": ', /not valid JSON/], ['[1, 2]', /must be a JSON object/]]) {
                await paste(page, text);
                await page.locator('#config-fault').waitFor();
                await becomes(async () => words.test(await page.locator('#config-fault').innerText()), true);
                assert.equal(await page.locator('#field-config').getAttribute('aria-describedby'), 'config-fault');
                assert.equal(await page.locator('#field-config').inputValue(), text, 'what was typed stays');
            }
        });
    });

    it('of an unknown architecture is a message at the field', async () => {
        const refused = ['/api/v1/models:inspect', '/api/v1/estimates', '/api/v1/estimates:choices'];
        await inTab(browser, server, { faults: refused.map((path) => `422 POST ${path}`) }, async (tab) => {
            const odd = { ...llama, architectures: ['OddForCausalLM'], model_type: 'odd' };
            const { status, answer } = await answering(tab, () => paste(tab.page, JSON.stringify(odd)));
            assert.equal(status, 422);
            assert.equal(answer.errors[0].code, 'unsupported_architecture');
            const message = tab.page.locator('[aria-labelledby="group-model"] #error-hub');
            await message.waitFor();
            assert.ok((await message.innerText()).includes(answer.errors[0].detail));
            assert.equal(await tab.page.locator('#field-config').getAttribute('aria-invalid'), 'true');
        });
    });
});

describe('a cluster', () => {
    it('can be a stored inventory and one of its pools', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            const { status, request } = await answering(tab,
                () => page.getByRole('radio', { name: 'Inventory' }).check());
            assert.equal(status, 200);
            assert.deepEqual(request.cluster, { inventory: 'north', nodes: 1 });
            assert.match(await seen(page.locator('#field-inventory')), /North hall/);

            const pool = await answering(tab, () => page.selectOption('#field-pool', 'main'));
            assert.deepEqual(pool.request.cluster, { inventory: 'north', pool: 'main', nodes: 1 });
            const grown = await answering(tab, () => type(page, 'nodes', '4'));
            assert.equal(grown.answer.resolved.cluster.accelerators, 32);
        });
    });

    it('lists the catalogue by vendor, with whole names', async () => {
        await inTab(browser, server, {}, async ({ page }) => {
            const { items } = await (await fetch(`${server.url}/api/v1/accelerators`)).json();
            const select = page.locator('#field-accelerator');
            await becomes(() => select.locator('option').count(), items.length);
            assert.deepEqual(await select.locator('optgroup').evaluateAll((groups) => groups.map((g) => g.label).sort()),
                [...new Set(items.map(({ vendor }) => vendor))]
                    .map((vendor) => ({ nvidia: 'NVIDIA', amd: 'AMD', intel: 'Intel', google: 'Google', aws: 'AWS' })[vendor] ?? vendor).sort());
            assert.equal(await select.getAttribute('title'),
                items.find(({ id }) => id === 'nvidia-h100-sxm5-80gb').name);
        });
    });
});

const CHOICES = {
    tensor: 'tensor', pipeline: 'pipeline', virtualPipeline: 'virtual_pipeline', zero: 'zero_stage',
    microBatch: 'micro_batch_size', framework: 'framework', precision: 'precision',
};

/** Asserts that each control offers exactly what the service calls legal. */
async function expectLegal(page, choices) {
    for (const [name, choice] of Object.entries(CHOICES)) {
        const legal = choices[choice].map(String).sort();
        await becomes(async () => (await offered(page, name)).sort(), legal, `${name} offers what is legal`);
    }
}

describe('the controls', () => {
    it('offer what the service calls legal, also after each change', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await expectLegal(page, (await answering(tab, () => page.click('[data-example="llama-70b"]'))).choices);
            for (const [name, value] of [['tensor', '4'], ['virtualPipeline', '1'], ['pipeline', '8'], ['microBatch', '2']]) {
                const { status, choices } = await answering(tab, () => choose(page, name, value));
                assert.equal(status, 200, `${name} ${value} was offered, so it is possible`);
                await expectLegal(page, choices);
            }
        });
    });

    it('keep a framework in view that does not go with the plan, and say why', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-70b"]'));
            const ddp = page.locator('[data-field="framework"] label', { hasText: 'DDP' });
            await becomes(() => ddp.locator('input').isDisabled(), true);
            assert.match(await ddp.getAttribute('title'), /tensor|pipeline/i);
        });
    });

    it('show a problem at the setting it is about, with values that help', async () => {
        const faults = ['422 POST /api/v1/estimates'];
        await inTab(browser, server, { faults }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-70b"]'));
            const { status, answer } = await answering(tab, () => type(page, 'globalBatch', '511'));
            assert.equal(status, 422);
            const item = answer.errors.find(({ detail }) => detail.includes('511'));
            assert.ok(item, JSON.stringify(answer.errors));
            assert.ok((await page.locator('#error-globalBatch').innerText()).includes(item.detail));
            assert.equal(await page.locator('#field-globalBatch').getAttribute('aria-describedby'), 'error-globalBatch');
            // The service calls nothing else legal now; what was offered stays, as the way out.
            assert.ok((await offered(page, 'tensor')).length > 1);
            assert.equal(await page.locator('.chip.illegal').count(), 0);
            // The verdict names the setting too, and leads there.
            await page.getByTestId('verdict').getByRole('button', { name: 'Global batch', exact: true }).click();
            assert.equal(await page.evaluate(() => document.activeElement.id), 'field-globalBatch');
            const mended = await answering(tab, () => type(page, 'globalBatch', '512'));
            assert.equal(mended.status, 200);
            assert.equal(await page.locator('#error-globalBatch').count(), 0);
        });
    });

    it('take a count as people write it', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-70b"]'));
            assert.equal(await page.inputValue('#field-tokens'), '2T');
            for (const [typed, tokens, shown] of [['300 b', 3e11, '300B'], ['1,234,567', 1234567, '1,234,567']]) {
                const { request } = await answering(tab, () => type(page, 'tokens', typed));
                assert.equal(request.workload.tokens, tokens);
                assert.equal(await page.inputValue('#field-tokens'), shown);
            }
            const open = await answering(tab, () => type(page, 'tokens', ''));
            assert.ok(!('tokens' in open.request.workload));
        });
    });

    it('refuse a count that is none without asking the service', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            await type(page, 'nodes', 'many');
            await page.locator('[data-field="nodes"]').getByRole('alert').waitFor();
            assert.equal(await page.locator('#field-nodes').getAttribute('aria-invalid'), 'true');
        });
    });

    it('leave out a setting that is unknown, and the answer gets wider', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const known = await answering(tab, () => page.click('[data-example="llama-8b"]'));
            const open = await answering(tab, () => choose(page, 'recompute', ''));
            assert.ok(!('recompute' in open.request.workload));
            const width = ({ answer }) => answer.interval.step_s[1] - answer.interval.step_s[0];
            assert.ok(width(open) > width(known));
        });
    });

    it('name a release, and let go of it with its framework', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const open = await answering(tab, () => page.click('[data-example="llama-8b"]'));
            assert.ok(!('software' in open.request.workload));
            const named = await answering(tab, () => choose(page, 'software', 'mbridge-26.04'));
            assert.equal(named.request.workload.software, 'mbridge-26.04');
            assert.equal(named.answer.resolved.workload.software, 'mbridge-26.04');
            const codes = named.answer.assumptions.map(({ code }) => code);
            assert.ok(!codes.includes('software_open'), codes.join());
            await answering(tab, () => choose(page, 'tensor', 1));
            await answering(tab, () => choose(page, 'zero', 0));
            const moved = await answering(tab, () => choose(page, 'framework', 'ddp'));
            assert.ok(!('software' in moved.request.workload));
        });
    });
});

describe('without a model', () => {
    for (const width of [1400, 390]) {
        it(`a config.json can be pasted from the first screen, ${width} px wide`, async () => {
            await inTab(browser, server, { width, height: 844 }, async (tab) => {
                const { page } = tab;
                await page.getByRole('button', { name: 'paste its config.json' }).click();
                await becomes(() => page.evaluate(() => document.activeElement.id), 'field-config');
                const { request } = await answering(tab, () => page.evaluate((text) => {
                    document.activeElement.value = text;
                    document.activeElement.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }));
                }, JSON.stringify(llama)));
                assert.equal(request.model.config.model_type, 'llama');
            });
        });
    }

    it('the name of the part is read whole', async () => {
        await inTab(browser, server, { path: '/?acc=nvidia-rtx-pro-6000-blackwell-server&nodes=1' }, async ({ page }) => {
            const part = page.locator('#field-accelerator');
            await becomes(async () => (await part.getAttribute('title')).startsWith('NVIDIA'), true);
            assert.match(await seen(page.locator('.part')), /^NVIDIA RTX PRO 6000 Blackwell Server Edition · /);
        });
    });
});

describe('a file dropped on a narrow page', () => {
    it('opens the settings, where it is told what was read', async () => {
        await inTab(browser, server, { width: 390, height: 844 }, async ({ page }) => {
            await page.locator('.starter').first().waitFor();
            assert.equal(await page.locator('#field-hub').isVisible(), false);
            const dropped = await page.evaluateHandle(() => {
                const data = new DataTransfer();
                data.items.add(new File(['NodeName=a1 CPUTot=8\n   Gres=gpu:h100:8\n   RealMemory=2063937 State=IDLE\n'], 'nodes.txt'));
                return data;
            });
            await page.dispatchEvent('body', 'drop', { dataTransfer: dropped });
            await page.getByTestId('intake').getByText('Which is it?').waitFor();
        });
    });
});
