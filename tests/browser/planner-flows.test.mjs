/** The flows of the planner: a model and a cluster from anywhere, what if, sliders, palette, launchers, measurements. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { llama, mixtral } from '../e2e/lib/fixtures.mjs';
import { startServer, stopClean } from '../e2e/lib/server.mjs';
import { startHub } from '../hub/standin.mjs';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, choose, chosen, inTab, launch, offered, openPlan, seen, told, type, unfold } from './lib/browser.mjs';

let browser;
let hub;
let server;

before(async () => {
    hub = await startHub({ repositories: {
        'org/llama-small': { files: { 'config.json': llama } },
        'org/llama-large': { files: { 'config.json': llama } },
        'org/other': { files: { 'config.json': mixtral } },
    } });
    [browser, server] = await Promise.all([launch(), startServer({ hub })]);
});
after(async () => {
    await browser?.close();
    if (server)
        await stopClean(server);
    await hub?.close();
});

const start = (tab, id) => answering(tab, () => tab.page.click(`[data-example="${id}"]`));

const SCONTROL = `NodeName=gpu[1-3] Arch=x86_64 CPUTot=112
   Gres=gpu:h100:8(S:0-1)
   RealMemory=2063937 State=IDLE

NodeName=gpu4 Arch=x86_64 CPUTot=112
   Gres=gpu:h100:8(S:0-1)
   RealMemory=2063937 State=IDLE+DRAIN
   Reason=row remapping [root@2026-11-20T08:00:00]
`;
const SMI = `name, memory.total [MiB], driver_version
${'NVIDIA H200, 143771 MiB, 570.211.01\n'.repeat(8)}`;

/** Drops files on the page as the file manager does. */
const drop = (page, files) => page.evaluate((list) => {
    const carried = new DataTransfer();
    for (const [name, text] of list)
        carried.items.add(new File([text], name));
    for (const kind of ['dragover', 'drop'])
        document.querySelector('main').dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
}, files);

describe('a model', () => {
    it('acceptance 1: is found by a part of its name, with the keyboard', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const field = page.locator('#field-hub');
            await field.pressSequentially('llama');
            const list = page.getByRole('listbox', { name: 'Models' });
            await becomes(() => list.getByRole('option').count(), 2);
            await expectAccessible(page, 'suggestions');
            await field.press('ArrowDown');
            const id = await field.getAttribute('aria-activedescendant');
            const name = await page.locator(`#${id} .option-name`).textContent();
            const { status, request } = await answering(tab, () => field.press('Enter'));
            assert.equal(status, 200);
            assert.deepEqual(request.model, { hub: name });
            assert.equal(await field.inputValue(), name);
            assert.equal(await list.count(), 0, 'the list is gone');
        });
    });

    it('that the Hub cannot be asked for is still typed whole, and the page says so', async () => {
        hub.breakSearch('error');
        try {
            await inTab(browser, server, {}, async (tab) => {
                const { page } = tab;
                await page.locator('#field-hub').pressSequentially('nothing like it');
                await page.getByText('The Hub does not answer').waitFor();
                await page.fill('#field-hub', 'org/llama-small');
                const { status } = await answering(tab, () => page.press('#field-hub', 'Enter'));
                assert.equal(status, 200);
            });
        } finally {
            hub.breakSearch(null);
        }
    });

    it('that is typed stays and is loaded when the field is left, by a click elsewhere as by the Tab key', async () => {
        for (const leave of [(page) => page.locator('#empty-title, .verdict').first().click(), (page) => page.keyboard.press('Tab')]) {
            await inTab(browser, server, {}, async (tab) => {
                const { page } = tab;
                await page.locator('#field-hub').pressSequentially('org/llama-small');
                const { status, request } = await answering(tab, () => leave(page));
                assert.equal(status, 200);
                assert.deepEqual(request.model, { hub: 'org/llama-small' });
                assert.equal(await page.inputValue('#field-hub'), 'org/llama-small');
            });
        }
    });

    it('acceptance 1: is dropped anywhere as its config.json', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { status, request } = await answering(tab, () => drop(tab.page, [['config.json', JSON.stringify(llama)]]));
            assert.equal(status, 200);
            assert.deepEqual(request.model, { config: llama });
        });
    });

    it('acceptance 1: is pasted as its config.json where an id would stand', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { request } = await answering(tab, () => tab.page.fill('#field-hub', JSON.stringify(llama)));
            assert.deepEqual(request.model, { config: llama });
            assert.equal(await tab.page.locator('#field-config').inputValue(), JSON.stringify(llama, null, 2));
        });
    });

    it('acceptance 15: is taken to the cluster that was chosen before it', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await drop(page, [['gpus.csv', SMI]]);
            await page.getByText('planned on', { exact: true }).waitFor();
            const starter = page.locator('[data-example="llama-8b"]');
            await becomes(async () => /1 node of 8 × NVIDIA H200/.test(await starter.innerText()), true);
            const { request } = await answering(tab, () => starter.click());
            assert.deepEqual([request.cluster.accelerator, request.cluster.nodes], ['nvidia-h200-sxm-141gb', 1]);
        });
    });

    it('acceptance 15: goes with each of the three ready clusters', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const models = await page.locator('[name="ready-model"]').evaluateAll((all) => all.map(({ value }) => value));
            const clusters = await page.locator('[name="ready-cluster"]').evaluateAll((all) => all.map(({ value }) => value));
            assert.deepEqual([models.length, clusters.length], [3, 3]);
            for (const model of models) {
                for (const cluster of clusters) {
                    await page.locator(`[name="ready-model"][value="${model}"]`).check();
                    await page.locator(`[name="ready-cluster"][value="${cluster}"]`).check();
                    const { status, answer } = await answering(tab, () => page.getByRole('button', { name: 'Plan it' }).click());
                    assert.equal(status, 200, `${model} on ${cluster}`);
                    assert.ok(answer.fits || cluster === 'h100-1', `${model} fits on ${cluster}`);
                    await page.goBack();
                    await page.locator('.starter').first().waitFor();
                }
            }
        });
    });
});

describe('a cluster', () => {
    it('acceptance 1: is what a dropped file says, planned on at once', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-8b');
            const { status, request, answer } = await answering(tab, () => drop(page, [['smi.csv', SMI]]));
            assert.equal(status, 200);
            assert.deepEqual(request.cluster, { accelerator: 'nvidia-h200-sxm-141gb', accelerators_per_node: 8, nodes: 1,
                memory_bytes: 143771 * 2 ** 20 });
            assert.equal(answer.resolved.cluster.memory_bytes, 143771 * 2 ** 20);
            const card = page.getByTestId('intake');
            assert.match(await seen(card), /smi\.csv.*nvidia-smi.*planned on.*figures read or of the catalogue, \d+ guessed/);
            await unfold(card.locator('details'));
            assert.match(await seen(card.locator('tr', { hasText: 'memory of a GPU' }).first()), /140\.4 GiB|line 2/);
            assert.match(await seen(card.locator('[data-origin="default"]').first()), /guessed: /);
            await expectAccessible(page, 'what the files say');
            const shown = page.getByRole('list', { name: 'Further settings of the cluster' });
            assert.match(await seen(shown), /memory 140 GiB/);
            /* It is in the address, and gone with the machine. */
            const { tab: other, request: again } = await openPlan(browser, server,
                await page.evaluate(() => location.pathname + location.search));
            assert.deepEqual(again, request);
            await other.close();
            const moved = await answering(tab, () => page.selectOption('#field-accelerator', 'nvidia-h100-sxm5-80gb'));
            assert.ok(!('memory_bytes' in moved.request.cluster));
        });
    });

    it('acceptance 1: of another generation has its answer at once, with attention and precision of its own', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            for (const [part, printed, accelerator, precision] of [['Tesla T4', 'Tesla T4, 15360 MiB, 570.211.01', 'nvidia-t4', 'fp16'],
                ['A100', 'NVIDIA A100-SXM4-80GB, 81920 MiB, 570.211.01', 'nvidia-a100-sxm4-80gb', 'bf16']]) {
                await page.goto(server.url);
                await start(tab, 'llama-8b');
                const { status, request } = await answering(tab, () => drop(page, [['smi.csv', SMI.replaceAll(/^NVIDIA .*$/gm, printed)]]));
                assert.equal(status, 200, part);
                assert.deepEqual([request.cluster.accelerator, request.workload.precision, request.workload.attention], [accelerator, precision, undefined]);
                await told(page, 'Attention and precision go with the part');
            }
        });
    });

    it('whose part has several meanings is asked for, and drained nodes stay out', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-8b');
            await answering(tab, () => type(page, 'globalBatch', '120'));
            await drop(page, [['nodes.txt', SCONTROL]]);
            const card = page.getByTestId('intake');
            await card.getByText('may be several parts').waitFor();
            assert.match(await seen(card), /4 nodes, 32 accelerators, 1 drained or down/);
            const { status, request } = await answering(tab, () => card.getByRole('button', { name: /H100 SXM5/ }).click());
            assert.equal(status, 200);
            assert.equal(request.cluster.accelerator, 'nvidia-h100-sxm5-80gb');
            assert.equal(request.cluster.nodes, 3);
            assert.equal(request.cluster.host_memory_bytes, 2063937 * 2 ** 20);
        });
    });

    it('that no reader knows is refused in the words of the service', async () => {
        await inTab(browser, server, { faults: ['422 POST /api/v1/inventories:parse'] }, async ({ page }) => {
            await page.setInputFiles('#read-files', { name: 'poem.txt', mimeType: 'text/plain', buffer: Buffer.from('a rose is a rose') });
            await page.getByTestId('intake').getByText('no format recognises').waitFor();
        });
    });
});

describe('a slider', () => {
    it('acceptance 2: stops on legal values only, and the product stands beneath', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { choices } = await start(tab, 'llama-70b');
            for (const [name, list] of [['tensor', 'tensor'], ['pipeline', 'pipeline'], ['virtualPipeline', 'virtual_pipeline'], ['context', 'context']])
                await becomes(() => offered(page, name), choices[list].map(String), name);
            const slider = page.locator('#field-tensor');
            await slider.focus();
            const { request } = await answering(tab, () => slider.press('ArrowLeft'));
            assert.equal(request.parallelism.tensor, 4);
            await becomes(() => seen(page.getByTestId('product')), '4 TP × 4 PP × 8 DP = 128 accelerators');
            assert.match(await slider.getAttribute('aria-valuetext'), /^4, of 1, 2, 4, 8/);
        });
    });

    it('acceptance 2: that another change made illegal says which rule and offers the nearest', async () => {
        await inTab(browser, server, { faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-70b');
            await answering(tab, () => type(page, 'globalBatch', '480'));
            const { status, answer, choices } = await answering(tab, () => type(page, 'nodes', '10'));
            assert.equal(status, 422);
            assert.match(await seen(page.getByTestId('product')), /^8 TP × 4 PP = 32 does not divide the cluster$/);
            assert.ok(!choices.pipeline.includes(4), choices.pipeline.join());
            const nearest = choices.pipeline.find((value) => value > 4);
            assert.match(await seen(page.locator('[aria-labelledby="group-parallelism"]')), /4 is not possible now/);
            assert.ok(answer.errors.some(({ pointer }) => pointer === '/parallelism'));
            const mended = await answering(tab, () => page.getByRole('button', { name: `Set Pipeline to ${nearest}` }).click());
            assert.equal(mended.request.parallelism.pipeline, nearest);
            assert.equal(await chosen(page, 'pipeline'), String(nearest));
        });
    });

    it('or a choice that no rate is known for is mended from the verdict, which offers no reset that changes nothing', async () => {
        await inTab(browser, server, { path: '/version', faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            const { status } = await answering(tab, () => page.goto(`${server.url}/?example=llama-8b&acc=nvidia-quadro-rtx-8000`));
            assert.equal(status, 422);
            const verdict = page.getByTestId('verdict');
            assert.equal(await verdict.getByRole('button', { name: 'Reset the parallelism' }).count(), 0);
            await answering(tab, () => verdict.getByRole('button', { name: 'Set Precision to fp16' }).click());
            const { request, status: mended } = await answering(tab, () => verdict.getByRole('button', { name: 'Set Attention to unfused' }).click());
            assert.deepEqual([request.workload.precision, mended], ['fp16', 200]);
        });
        await inTab(browser, server, { path: '/version', faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            const batch = '/?example=llama-8b&nodes=64&acc=google-tpu-v6e&pernode=4&tp=';
            const reset = page.getByRole('button', { name: 'Reset the parallelism' });
            await answering(tab, () => page.goto(`${server.url}${batch}1`));
            assert.equal(await reset.count(), 0, 'nothing is cut');
            await answering(tab, () => page.goto(`${server.url}${batch}3`));
            const { request } = await answering(tab, () => page.getByTestId('verdict').getByRole('button', { name: 'Set Tensor to 2' }).click());
            assert.equal(request.parallelism.tensor, 2);
        });
    });

    it('of an id that no repository can have offers no word of its rule as a value', async () => {
        const faults = ['422 POST /api/v1/estimates', '422 POST /api/v1/estimates:choices', '422 GET /api/v1/models/org/name-'];
        await inTab(browser, server, { path: '/version', faults }, async (tab) => {
            const { page } = tab;
            const { answer: { errors: [{ hint }] } } = await answering(tab, () => page.goto(`${server.url}/?model=org/name-`));
            assert.match(hint, /^as in org\/name/);
            assert.equal(await page.getByRole('button', { name: /^Set Model to/ }).count(), 0);
        });
    });

    it('of a switch offers no counts to set it to', async () => {
        await inTab(browser, server, { path: '/version', faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.goto(`${server.url}/?example=llama-8b&nodes=1&tp=3&sp=1&gbs=128&seq=8192`));
            await page.getByTestId('verdict').getByRole('button', { name: 'Sequence parallel', exact: true }).waitFor();
            assert.equal(await page.getByRole('button', { name: /^Set Sequence parallel to/ }).count(), 0);
            assert.ok(await page.getByRole('button', { name: /^Set Tensor to/ }).count() > 0);
        });
    });

    it('that leaves replicas no even share of the batch is mended by the nearest batch', async () => {
        await inTab(browser, server, { path: '/version', faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            const { status } = await answering(tab, () => page.goto(`${server.url}/?example=llama-8b&nodes=21`));
            assert.equal(status, 422);
            const { request, status: mended } = await answering(tab, () => page.getByTestId('verdict').getByRole('button', { name: 'Set Global batch to 168' }).click());
            assert.deepEqual([request.workload.global_batch_size, mended], [168, 200]);
        });
    });

    it('that another setting could mend as well offers its own values', async () => {
        await inTab(browser, server, { path: '/version', faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            const { answer } = await answering(tab, () => page.goto(`${server.url}/?example=llama-8b&fw=ddp&zero=1`));
            assert.deepEqual(answer.errors.map(({ hint }) => hint), ['0, or framework megatron with zero_stage 1']);
            const { request, status } = await answering(tab, () => page.getByTestId('verdict').getByRole('button', { name: /^Set ZeRO stage to/ }).click());
            assert.deepEqual([request.parallelism.zero_stage, status], [0, 200]);
        });
    });

    it('for experts is there where the model has some', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => drop(page, [['config.json', JSON.stringify(mixtral)]]));
            const { choices } = await answering(tab, () => type(page, 'nodes', '2'));
            await becomes(() => offered(page, 'expert'), choices.expert.map(String));
            const { request } = await answering(tab, () => choose(page, 'expert', 4));
            assert.equal(request.parallelism.expert, 4);
            await page.goto(server.url);
            await start(tab, 'llama-8b');
            await becomes(() => page.locator('[data-field="expert"]').count(), 0);
        });
    });

    it('answers at once, and a drag is one step back', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-8b');
            const asked = await page.locator('#field-tensor').evaluate((input) => {
                const { fetch } = globalThis;
                const paths = [];
                globalThis.fetch = (path, ...more) => {
                    paths.push(path);
                    return fetch(path, ...more);
                };
                input.value = '0';
                input.dispatchEvent(new Event('input', { bubbles: true }));
                input.dispatchEvent(new Event('change', { bubbles: true }));
                /* By now, before any of it is drawn: the service works meanwhile. */
                return paths;
            });
            assert.ok(asked.includes('/api/v1/estimates'), `asked at once: ${asked}`);
            await page.goto(server.url);
            const { request: first } = await start(tab, 'llama-8b');
            await answering(tab, () => page.locator('#field-tensor').evaluate((input) => {
                for (const value of [0, 1, 2, 3, 2]) {
                    input.value = String(value);
                    input.dispatchEvent(new Event('input', { bubbles: true }));
                }
                input.dispatchEvent(new Event('change', { bubbles: true }));
            }));
            await becomes(() => chosen(page, 'tensor'), '4');
            const { request } = await answering(tab, () => page.goBack());
            assert.equal(request.parallelism.tensor, first.parallelism.tensor);
        });
    });
});

describe('the moment of reducing gradients', () => {
    it('is one that the framework has, goes with the plan, and is left to another framework', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { request, choices } = await start(tab, 'llama-8b');
            assert.equal(request.parallelism.gradient_sync, undefined);
            await becomes(() => offered(page, 'gradientSync'), [...choices.gradient_sync, '']);
            const fsdp = await answering(tab, () => choose(page, 'framework', 'fsdp2'));
            assert.deepEqual(fsdp.choices.gradient_sync, ['each', 'last']);
            const last = await answering(tab, () => choose(page, 'gradientSync', 'last'));
            assert.equal(last.request.parallelism.gradient_sync, 'last');
            assert.equal(last.answer.resolved.parallelism.gradient_sync, 'last');
            assert.ok(last.answer.memory.device_total_bytes > fsdp.answer.memory.device_total_bytes, 'they are kept whole');
            const again = await answering(tab, () => page.reload());
            assert.deepEqual(again.request, last.request);
            await page.getByRole('button', { name: 'Copy as…' }).click();
            assert.match(await seen(page.getByTestId('unwritten')), /Check by hand.*gradient sync last/);
            await page.keyboard.press('Escape');
            const stage3 = await answering(tab, () => choose(page, 'framework', 'megatron'));
            assert.equal(stage3.request.parallelism.gradient_sync, undefined);
            const divided = await answering(tab, () => choose(page, 'zero', '2'));
            await becomes(() => offered(page, 'gradientSync'), [...divided.choices.gradient_sync, '']);
            assert.deepEqual(divided.choices.gradient_sync, ['each']);
        });
    });
});

describe('what if', () => {
    it('acceptance 4: shows what each change does before it is made, and why some cannot be', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { answer, request } = await start(tab, 'llama-70b');
            const ribbon = page.locator('[data-testid="what-if"][data-ready="true"]');
            const offer = ribbon.locator('[data-move="context"]');
            await offer.waitFor();
            const { json: asked } = await (async () => {
                const response = await fetch(`${server.url}/api/v1/estimates`, { method: 'POST', headers: { 'content-type': 'application/json' },
                    body: JSON.stringify({ ...request, workload: { ...request.workload, sequence_length: 2 * request.workload.sequence_length } }) });
                return { json: await response.json() };
            })();
            const more = (asked.memory.device_total_bytes - answer.memory.device_total_bytes) / 2 ** 30;
            const text = await seen(offer);
            assert.ok(text.includes(`+${more.toFixed(1)} GiB`), text);
            const longer = 100 * (asked.time.step_s / answer.time.step_s - 1);
            assert.ok(text.includes(`+${longer.toFixed(longer < 99.95 ? 1 : 0)} % step`), text);
            assert.ok(text.includes(asked.fits ? 'fits' : 'does not fit'), text);
            const barred = ribbon.locator('[data-move="zero"]');
            assert.match(await seen(barred), /ZeRO 1 → 2not possible: .+/);
            assert.equal(await barred.locator('button').count(), 0);
            assert.equal(await barred.evaluate((item) => item.matches('button')), false);
            await offer.locator('.num').first().click();
            const dialog = page.getByRole('dialog', { name: 'Change of memory' });
            assert.ok((await seen(dialog)).includes('after - before'), await seen(dialog));
            await dialog.getByRole('button', { name: 'Explain after' }).click();
            assert.ok((await seen(page.getByRole('dialog', { name: 'after' }))).includes(asked.explanations['/memory/device_total_bytes'].formula));
            await page.keyboard.press('Escape');
            assert.deepEqual(await chosen(page, 'tensor'), String(request.parallelism.tensor), 'looking changes nothing');
            const { x, y, width, height } = await offer.boundingBox();
            const made = await answering(tab, () => page.mouse.click(x + width - 4, y + height - 4)); /* beside its words too */
            assert.equal(made.request.workload.sequence_length, 2 * request.workload.sequence_length);
            assert.deepEqual(made.answer.memory.device_total_bytes, asked.memory.device_total_bytes);
        });
    });
});

describe('what if of a small model', () => {
    it('calls memory the same whose difference is too small to be written', async () => {
        await inTab(browser, server, { path: '/version' }, async (tab) => {
            const { page } = tab;
            const { answer, request } = await answering(tab, () => page.goto(`${server.url}/?model=org/llama-small&nodes=1&seq=512&gbs=64&tp=2`));
            const ribbon = page.locator('[data-testid="what-if"][data-ready="true"]');
            await ribbon.getByText('Double: 2 nodes').waitFor();
            const response = await fetch(`${server.url}/api/v1/estimates`, { method: 'POST', headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ ...request, cluster: { ...request.cluster, nodes: 2 } }) });
            const { memory } = await response.json();
            assert.notEqual(memory.device_total_bytes, answer.memory.device_total_bytes);
            assert.match(await seen(ribbon.locator('.move', { hasText: 'Double: 2 nodes' })), /same memory/);
            assert.doesNotMatch(await seen(ribbon), /[+−]0\.00 /);
        });
    });
});

describe('the code that comes after the first answer', () => {
    it('moves nothing that the reader may be about to press', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            let come;
            const late = new Promise((resolve) => { come = resolve; });
            await page.route('**/assets/rest-*.js', (route) => late.then(() => route.continue()));
            await start(tab, 'llama-70b');
            const top = () => page.locator('.folds').evaluate((folds) => folds.getBoundingClientRect().top);
            const before = await top();
            assert.equal(await page.getByTestId('what-if').count(), 0);
            come();
            await page.getByTestId('what-if').waitFor();
            assert.equal(await top(), before);
            const fold = page.locator('.folds details').first();
            await fold.locator('summary').click(); /* with the mouse, as tests do nowhere else */
            await fold.locator(':scope[open]').waitFor();
        });
    });
});

describe('the palette', () => {
    it('acceptance 9: reaches every command and every setting by a few letters', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-70b');
            await page.keyboard.press('Control+k');
            const box = page.getByRole('combobox', { name: 'Command or setting' });
            await box.waitFor();
            const options = page.getByRole('listbox', { name: 'Commands' }).getByRole('option');
            const all = (await options.allTextContents()).join('\n');
            for (const label of await page.locator('.controls .row-label').allTextContents())
                assert.ok(all.includes(`Set: ${label}`), label);
            for (const words of ['Copy the link', 'Copy as curl', 'Open the view: Search', 'Explain every number', 'Show the keys'])
                assert.ok(all.includes(words), words);
            await expectAccessible(page, 'palette');
            await box.press('ArrowDown');
            await box.press('ArrowDown');
            await box.pressSequentially('glob bat');
            await becomes(() => options.first().getAttribute('aria-selected'), 'true');
            assert.equal(await seen(options.first()), 'Set: Global batch');
            await page.keyboard.press('Enter');
            await becomes(() => page.evaluate(() => document.activeElement.id), 'field-globalBatch');
            await page.keyboard.press('Control+k');
            await box.waitFor();
            await page.keyboard.press('Escape');
            await becomes(() => page.evaluate(() => document.activeElement.id), 'field-globalBatch', 'the focus comes back');
            await page.waitForSelector('[data-testid="what-if"][data-ready="true"]');
            await page.keyboard.press('Control+k');
            await box.pressSequentially('what if micro');
            await becomes(() => seen(options.first()), 'What if: Micro-batch 2');
            const asked = await answering(tab, () => page.keyboard.press('Enter'));
            assert.equal(asked.request.workload.micro_batch_size, 2);
            await page.locator('main').focus();
            await page.keyboard.press('?');
            assert.match(await seen(page.getByRole('dialog', { name: 'Keys' })), /Ctrl K.*Explain every number/);
        });
    });
});

describe('a plan that no single change mends', () => {
    it('leads on to a search and to ways of fine-tuning, one that can be mended does not', async () => {
        const { tab, answer } = await openPlan(browser, server, '/?example=llama-8b&nodes=1&pernode=1&acc=nvidia-rtx-4090&gbs=16&seq=2048');
        const { page } = tab;
        assert.equal(answer.fits, false);
        assert.equal(answer.binding.fixes.some(({ fits }) => fits), false);
        await page.getByRole('button', { name: 'search for plans that fit' }).click();
        await page.getByTestId('search').waitFor();
        await page.getByRole('button', { name: 'train a part of the model' }).press('Enter');
        await page.waitForSelector('[data-testid="tuning"][data-phase="done"]');
        assert.ok(await page.getByRole('grid', { name: 'Ways of fine-tuning' }).getByText('✓ fits').count() > 0);
        await answering(tab, () => page.goto(`${server.url}/?example=llama-8b&nodes=1&tp=2&sp=1&gbs=128&seq=65536&attn=flash3`));
        assert.ok(await page.getByRole('group', { name: 'Ways to make it better' }).getByText(/fits/).count() > 0);
        assert.equal(await page.getByRole('button', { name: 'search for plans that fit' }).count(), 0);
        await tab.expectClean();
        await tab.close();
    });
});

describe('the keyboard', () => {
    it('acceptance 9: starts an example from the first letter after Ctrl-K, though later code is still on its way', async () => {
        await inTab(browser, server, { path: '/version' }, async (tab) => {
            const { page } = tab;
            await page.route('**/assets/rest-*.js', () => {}); /* it never comes */
            await page.goto(server.url);
            await page.locator('.starter').first().waitFor();
            const { request } = await answering(tab, async () => {
                await page.keyboard.press('Control+k');
                await page.keyboard.type('start 70b');
                await page.keyboard.press('Enter');
            });
            assert.equal(request.model.config.hidden_size, 8192);
            await page.keyboard.press('Control+k');
            await page.keyboard.type('view search');
            await page.keyboard.press('Enter');
            await becomes(() => page.evaluate(() => document.activeElement.id), 'tab-search', 'the keyboard goes on at the view');
            await page.keyboard.press('Control+k');
            await page.keyboard.type('qlora');
            await page.keyboard.press('Enter');
            await becomes(() => page.evaluate(() => document.activeElement.id), 'tab-compare');
            assert.equal(new URL(page.url()).searchParams.get('c.of'), 'finetuning');
            await page.unrouteAll({ behavior: 'ignoreErrors' });
        });
    });
});

describe('copy as', () => {
    const open = async (page, format) => {
        if (await page.getByRole('dialog', { name: 'Copy as' }).count() === 0)
            await page.getByRole('button', { name: 'Copy as…' }).click();
        await page.locator(`[name="copy-format"][value="${format}"]`).check();
        return { text: await page.getByTestId('written').textContent(), notes: await seen(page.getByTestId('unwritten')) };
    };

    it('acceptance 10: writes the plan for each launcher and says what it left out', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { answer: { resolved } } = await start(tab, 'llama-70b');
            const megatron = await open(page, 'megatron');
            for (const flag of ['--tensor-model-parallel-size 8', '--pipeline-model-parallel-size 4', '--num-virtual-stages-per-pipeline-rank 2',
                '--sequence-parallel', '--use-distributed-optimizer', '--micro-batch-size 1', '--global-batch-size 512', '--seq-length 8192', '--bf16'])
                assert.ok(megatron.text.includes(flag), flag);
            await expectAccessible(page, 'copy as');
            const deepspeed = await open(page, 'deepspeed');
            const config = JSON.parse(deepspeed.text);
            assert.equal(config.train_batch_size,
                config.train_micro_batch_size_per_gpu * config.gradient_accumulation_steps * resolved.parallelism.data);
            assert.match(deepspeed.notes, /plan is for megatron.*tensor parallel 8.*pipeline 4/);
            const torchtitan = await open(page, 'torchtitan');
            assert.match(torchtitan.text, /\[parallelism\][\s\S]*tensor_parallel_degree = 8[\s\S]*pipeline_parallel_schedule = "Interleaved1F1B"/);
            assert.match(torchtitan.notes, /ZeRO 1/);
            const fsdp = await open(page, 'fsdp');
            assert.match(fsdp.text, /distributed_type: FSDP[\s\S]*num_machines: 16\nnum_processes: 128/);
            const slurm = await open(page, 'slurm');
            assert.match(slurm.text, /#SBATCH --nodes=16\n[\s\S]*--gpus-per-node=8/);
            await page.getByRole('button', { name: 'Copy', exact: true }).click();
            await told(page, 'Copied');
            assert.equal(await page.evaluate(() => navigator.clipboard.readText()), slurm.text);
        });
    });

    it('has nothing to leave out of FSDP 2 for torchtitan', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-8b');
            const { answer } = await answering(tab, () => choose(page, 'framework', 'fsdp2'));
            const { text, notes } = await open(page, 'torchtitan');
            assert.ok(text.includes(`data_parallel_shard_degree = ${answer.resolved.parallelism.data}`), text);
            assert.ok(text.includes('fsdp_reshard_after_forward = "always"'), text);
            assert.doesNotMatch(notes, /plan is for/);
        });
    });
});

describe('a measurement', () => {
    it('acceptance 11: is held against the prediction, and calibrates it', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { answer } = await start(tab, 'llama-70b');
            const measured_s = 1.1 * answer.time.step_s;
            await unfold(page.getByTestId('measured'));
            await page.fill('#measured-step', measured_s.toFixed(3));
            await page.fill('#measured-peak', '60');
            const lines = page.getByTestId('against');
            await becomes(() => lines.count(), 2);
            assert.match(await seen(lines.first()), /−9\.1 %, within the predicted range/);
            assert.match(await seen(lines.nth(1)), /outside the predicted range/);
            await page.evaluate(() => scrollTo(0, 0)); /* what lies half beneath the head of the page is no target just now */
            await expectAccessible(page, 'measured');
            const calibrated = await answering(tab, () => page.getByRole('button', { name: 'Calibrate to this step' }).click());
            const ratio = calibrated.request.cluster.accelerator_overrides.sustained_ratio;
            assert.ok(ratio > 0.1 && ratio < answer.resolved.cluster.rates.sustained_ratio.value, `${ratio}`);
            assert.ok(Math.abs(calibrated.answer.time.step_s / measured_s - 1) < 0.002, `${calibrated.answer.time.step_s}`);
            assert.match(await seen(page.getByTestId('sentence')), /calibrated on 1 run$/);
            assert.match(await seen(page.getByRole('list', { name: 'Further settings of the cluster' })), /sustained clock/);
            await page.fill('#measured-step', '1000');
            await page.getByRole('button', { name: 'Calibrate to this step' }).click();
            await page.getByText('No sustained clock explains this step').waitFor();
        });
    });
});

describe('the traffic', () => {
    it('is drawn from collective to level, and its bands and table say the same', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { answer: { communication } } = await start(tab, 'llama-70b');
            await unfold(page.getByTestId('communication'));
            const bands = page.locator('.traffic g[data-bytes]');
            await becomes(() => bands.count(), communication.length);
            const drawn = await bands.evaluateAll((all) => all.map((band) => ({
                bytes: Number(band.dataset.bytes), exposed: Number(band.dataset.exposed),
                height: band.querySelector('.exposed-part').getBBox().height > 0 })));
            assert.deepEqual(drawn.map(({ bytes }) => bytes), communication.map((item) => item.bytes_per_step));
            for (const [at, { seconds, exposed_s }] of communication.entries())
                assert.ok(Math.abs(drawn[at].exposed - exposed_s / seconds) < 1e-9);
            assert.equal(await page.getByTestId('communication').locator('tbody tr').count(), communication.length);
        });
    });
});
