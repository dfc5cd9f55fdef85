/** The way to an answer and what the answer says: verdict, bars, waterfall, figures. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, choose, inTab, openTab, seen, type, unfold } from './lib/browser.mjs';
import { borne, borneSize, gb, gib, offOf, percent, sureDigits, threeDigits } from './lib/format.mjs';
import { browser, server } from './lib/here.mjs';

const start = (tab, id) => answering(tab, () => tab.page.click(`[data-example="${id}"]`));

describe('from the empty page', () => {
    it('offers three plans, each of which answers with one click', async () => {
        for (const id of ['llama-8b', 'qwen-32b', 'llama-70b']) {
            await inTab(browser, server, {}, async (tab) => {
                assert.equal(await tab.page.locator('.starter').count(), 3);
                const { status, answer } = await start(tab, id);
                assert.equal(status, 200);
                assert.equal(answer.fits, true, `${id} fits`);
                assert.match(await seen(tab.page.getByTestId('verdict')), /Fits/);
            });
        }
    });

    it('asks for nothing that has to fail when there is no database', async () => {
        await inTab(browser, server, {}, async ({ page }) => {
            await page.getByText('inventories need a database').waitFor();
        });
    });

    it('keeps the commands that need a plan off until there is one', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const curl = tab.page.getByRole('button', { name: 'Copy as curl' });
            assert.equal(await curl.isDisabled(), true);
            await start(tab, 'llama-8b');
            assert.equal(await curl.isDisabled(), false);
        });
    });
});

describe('the policy of the page', () => {
    it('lets nothing run but what the server sends, and the tests would see a breach', async () => {
        const { headers } = await fetch(server.url);
        const policy = headers.get('content-security-policy');
        assert.match(policy, /default-src 'none'/);
        assert.match(policy, /script-src 'self'(;|$)/);
        assert.match(policy, /style-src 'self'(;|$)/);
        const tab = await openTab(browser, server);
        await tab.page.evaluate(() => {
            const script = document.createElement('script');
            script.textContent = 'globalThis.intruded = true';
            document.head.append(script);
        });
        await becomes(() => tab.page.evaluate(() => globalThis.violations.length), 1);
        assert.equal(await tab.page.evaluate(() => globalThis.intruded), undefined);
        await assert.rejects(tab.expectClean());
        await tab.close();
    });
});

describe('the verdict', () => {
    it('acceptance 6: says in one sentence by how much a plan fits, how fast, how long, with no false digit', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { answer } = await start(tab, 'llama-70b');
            const { memory, throughput, interval, time_to_train_s: train_s, binding } = answer;
            const text = await seen(tab.page.getByTestId('sentence'));
            const [, spare, rate, below, above, days] = /^with ([\d.]+) GiB to spare, ([\d,.]+) TFLOP\/s per device (?:± |−)(\d+) %(?: \+(\d+) %)?, ([\d,.]+) days uncalibrated$/.exec(text) ?? assert.fail(text);
            const off = offOf(answer);
            assert.equal(Math.max(Number(below), Number(above ?? 0)), Math.round(100 * off));
            const peaks = interval.peak_reserved_bytes;
            for (const [shown, exact, spread] of [
                [spare, memory.headroom_bytes / 2 ** 30, (peaks[1] - peaks[0]) / 2 ** 31],
                [rate, throughput.model_flops_per_s_per_accelerator / 1e12, off * throughput.model_flops_per_s_per_accelerator / 1e12],
                [days, train_s / 86400, off * train_s / 86400],
            ]) {
                const value = Number(shown.replaceAll(',', ''));
                assert.ok(Math.abs(value - exact) <= spread / 2, `${shown} stands for ${exact}`);
                assert.ok(sureDigits(shown) <= 2, `${shown} claims more than ± ${spread} bears out`);
            }
            const verdict = await seen(tab.page.getByTestId('verdict'));
            assert.ok(verdict.includes(binding.sentence), verdict);
            const [, held] = new RegExp(`([\\d.]+) of ${gib(memory.usable_bytes)} GiB per device`).exec(verdict) ?? assert.fail(verdict);
            assert.ok(Math.abs(Number(held) * 2 ** 30 - memory.device_total_bytes) <= (peaks[1] - peaks[0]) / 4 && sureDigits(held) <= 2, held);
        });
    });

    it('acceptance 2: offers the nearest cuts that are possible where no single setting mends it', async () => {
        await inTab(browser, server, { path: '/version', faults: ['422 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            const { choices } = await answering(tab, () => page.goto(`${server.url}/?example=llama-70b&nodes=10&tp=8&sp=1&pp=4&vpp=2&gbs=512&seq=8192`));
            assert.deepEqual([choices.tensor, choices.pipeline], [[], []], 'no slider has a way out');
            const near = page.getByRole('group', { name: 'The nearest cuts that are possible' }).getByRole('button');
            await near.first().waitFor();
            await expectAccessible(page, 'cuts that are possible');
            const { status, request: { parallelism: { tensor, pipeline } } } = await answering(tab, () => near.first().click());
            assert.equal(status, 200);
            assert.equal(80 % (tensor * pipeline), 0);
            await becomes(() => near.count(), 0);
        });
    });

    it('acceptance 3: says by how much a plan does not fit, and mends it with one click', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-8b');
            const { answer } = await answering(tab, () => type(page, 'sequenceLength', '65536'));
            assert.equal(answer.fits, false);
            assert.ok(answer.memory.headroom_bytes < 0);
            const verdict = page.getByTestId('verdict');
            assert.match(await seen(verdict), /Does not fit/);
            const [, deficit] = /^by ([\d,.]+) GiB/.exec(await seen(page.getByTestId('sentence')));
            assert.ok(Math.abs(Number(deficit.replace(',', '')) * 2 ** 30 + answer.memory.headroom_bytes) < -0.05 * answer.memory.headroom_bytes);
            assert.ok((await seen(verdict)).includes(answer.binding.sentence));
            assert.ok(await page.locator('.deficit').count() > 0, 'the deficit is drawn');

            const { fixes } = answer.binding;
            const at = fixes.findIndex((fix) => fix.fits);
            assert.ok(at >= 0, 'one of the fixes is enough');
            assert.equal(await verdict.locator('.fix').count(), fixes.length);
            const mended = await answering(tab, () => verdict.locator('.fix').nth(at).click());
            assert.equal(mended.answer.fits, true);
            for (const [group, members] of Object.entries(fixes[at].change)) {
                for (const [name, value] of Object.entries(members))
                    assert.deepEqual(mended.request[group][name], value);
            }
            assert.match(await seen(verdict), /Fits/);
            assert.equal(await page.locator('.deficit').count(), 0);
        });
    });

    it('calls a fix that fits within its peak alone what an estimate is called', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            let certain = true;
            await page.route('**/api/v1/estimates', async (route) => {
                const response = await route.fetch();
                const json = await response.json();
                for (const fix of json.binding.fixes.filter(({ fits }) => fits)) {
                    fix.fits_certain = certain;
                    certain = !certain;
                }
                await route.fulfill({ response, json });
            });
            const { answer: { binding: { fixes } } } = await start(tab, 'qwen-32b');
            const fitting = fixes.filter(({ fits }) => fits);
            assert.ok(fitting.some((fix) => fix.fits_certain) && fitting.some((fix) => !fix.fits_certain));
            const said = page.getByTestId('verdict').locator('.fix em');
            assert.deepEqual(await said.allTextContents(), fixes.map((fix) =>
                (fix.fits ? `fits${fix.fits_certain ? '' : ' narrowly'}` : 'not enough')));
            assert.deepEqual(await said.evaluateAll((list) => list.map(({ className }) => className)),
                fixes.map((fix) => (fix.fits ? fix.fits_certain ? 'good' : 'narrow' : '')));
        });
    });

    it('says that nodes lack memory where devices have it', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await page.route('**/api/v1/estimates', (route) => {
                const { workload, cluster, ...rest } = route.request().postDataJSON();
                return route.continue({ postData: JSON.stringify({ ...rest, workload: { ...workload, offload: { optimizer: 'cpu' } },
                    cluster: { ...cluster, host_memory_bytes: 1e9 } }) });
            });
            const { answer } = await start(tab, 'llama-70b');
            assert.deepEqual([answer.fits, answer.fits_certain, answer.binding.limit], [true, false, 'host_memory']);
            const verdict = await seen(page.getByTestId('verdict'));
            assert.match(verdict, /Lacks host memory/);
            assert.match(verdict, /Host memory: a node needs/);
            await page.getByRole('button', { name: 'Copy as…' }).click();
            assert.match(await seen(page.getByTestId('unwritten')), /This plan lacks host memory: it would run out of memory/);
        });
    });

    it('shards what DDP holds whole, framework and release at once', async () => {
        await inTab(browser, server, { path: '/version' }, async (tab) => {
            const { page } = tab;
            const { answer } = await answering(tab, () => page.goto(`${server.url}/?example=llama-8b&fw=ddp&zero=0`));
            const at = answer.binding.fixes.findIndex(({ what }) => what === 'framework');
            const { request, answer: mended } = await answering(tab, () => page.getByTestId('verdict').locator('.fix').nth(at).click());
            assert.deepEqual([request.workload.framework, request.workload.software, request.parallelism.zero_stage, mended.fits],
                ['fsdp2', 'pytorch-fsdp2-2.x', 3, true]);
            assert.equal(await page.locator('[data-field="framework"] input:checked').inputValue(), 'fsdp2');
        });
    });

    it('says in words what a fix moves and how many nodes it takes', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'qwen-32b');
            await answering(tab, () => choose(page, 'pipeline', '1'));
            await answering(tab, () => type(page, 'nodes', '1'));
            const { answer: { binding: { fixes } } } =
                await answering(tab, () => type(page, 'sequenceLength', '8192'));
            const buttons = page.getByTestId('verdict').locator('.fix');
            const said = async (what) => seen(buttons.nth(fixes.findIndex(what)));
            const offload = (state) => ({ change }) => change.workload?.offload?.[state] === 'cpu';
            assert.match(await said(offload('optimizer')), /^(\d+ % of )?optimizer states in host memory/);
            assert.match(await said(offload('activations')),
                /^activations in host memory.* % time/);
            assert.match(await said(({ what }) => what === 'nodes'), /^\d+ nodes/);

            await answering(tab, () => buttons.nth(fixes.findIndex(offload('optimizer'))).click());
            assert.match(await seen(page.getByRole('list', { name: 'Further settings' })),
                /optimizer states in host memory/);
        });
    });

    it('shows what a change did to the figures', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const first = await start(tab, 'llama-8b');
            const next = await answering(tab, () => choose(tab.page, 'recompute', 'full'));
            const ratio = next.answer.time.step_s / first.answer.time.step_s - 1;
            assert.ok(ratio > 0);
            assert.match(await seen(tab.page.getByTestId('step')),
                new RegExp(`\\+${(100 * ratio).toFixed(1).replace('.', '\\.')} %`));
        });
    });
});

/** The drawn bars: terms in order, with their length on the screen. */
const readBars = (page) => page.locator('[data-testid="memory"] [data-rank]').evaluateAll((groups) =>
    groups.map((group) => ({
        rank: Number(group.dataset.rank),
        terms: [...group.querySelectorAll('[data-term]')].map((bar) => ({
            name: bar.dataset.term,
            lifetime: bar.dataset.lifetime,
            bytes: Number(bar.dataset.bytes),
            hatched: bar.getAttribute('fill')?.startsWith('url(') ?? false,
            left: bar.getBBox().x,
            width: bar.getBBox().width,
        })),
    })));

describe('the memory bars', () => {
    it('draw every term of every rank, as long as its bytes', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { answer: { memory } } = await start(tab, 'llama-70b');
            const drawn = await readBars(tab.page);
            assert.deepEqual(drawn.map(({ rank }) => rank), memory.ranks.map(({ rank }) => rank));
            const widest = drawn[0].terms.reduce((a, b) => (a.bytes > b.bytes ? a : b));
            const perByte = widest.width / widest.bytes;
            for (const [at, { terms }] of memory.ranks.entries()) {
                const key = ({ name, lifetime, bytes }) => `${name} ${lifetime} ${bytes}`;
                assert.deepEqual(drawn[at].terms.map(key).sort(),
                    terms.filter(({ bytes }) => bytes > 0).map(key).sort());
                let left = 0;
                for (const bar of drawn[at].terms) {
                    assert.ok(Math.abs(bar.width - bar.bytes * perByte) < 0.05, bar.name);
                    assert.ok(Math.abs(bar.left - left) < 0.05, `${bar.name} joins the bar before`);
                    left += bar.width;
                    assert.equal(bar.hatched, ['activation', 'transient'].includes(bar.lifetime),
                        `${bar.name} ${bar.lifetime} is hatched when it comes and goes`);
                }
            }
            const line = await tab.page.locator('.bar-plot .usable').evaluate((l) => l.getBBox().x);
            assert.ok(Math.abs(line - memory.usable_bytes * perByte) < 0.5, 'the limit is to scale');
        });
    });

    const tableTwin = async (tab, memory) => {
        const rows = await tab.page.locator('[data-testid="memory"] tbody tr').evaluateAll((trs) =>
            trs.map((tr) => [...tr.querySelectorAll('td.n')].map((td) =>
                (td.querySelector('.num') ?? td).firstChild.textContent.trim())));
        const columns = memory.ranks.map(({ terms }) => terms.filter(({ bytes }) => bytes > 0)
            .map(({ bytes }) => gib(bytes)).sort());
        for (const [at, column] of columns.entries())
            assert.deepEqual(rows.map((row) => row[at]).filter((text) => text !== '–').sort(), column);
        const totals = await tab.page.locator('[data-testid="memory"] tfoot td .num').evaluateAll((all) => all.map((num) => num.firstChild.textContent.trim()));
        assert.deepEqual(totals,
            memory.ranks.map(({ device_total_bytes }) => gib(device_total_bytes)));
    };

    it('have a table twin with the same figures and totals', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { answer: { memory } } = await start(tab, 'llama-70b');
            await tableTwin(tab, memory);
        });
    });

    it('tell terms apart that are called the same and live as long', async () => {
        await inTab(browser, server, {}, async (tab) => {
            await start(tab, 'llama-8b');
            const { answer: { memory } } = await answering(tab, () => choose(tab.page, 'precision', 'fp8'));
            const names = memory.ranks[0].terms.filter(({ bytes }) => bytes > 0)
                .map(({ name, lifetime }) => `${name} ${lifetime}`);
            assert.ok(new Set(names).size < names.length, 'two terms share a name and a lifetime');
            await tableTwin(tab, memory);
        });
    });

    it('stay a handful when the pipeline is long, and name the stages they stand for', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await start(tab, 'llama-70b');
            await answering(tab, () => choose(page, 'tensor', '4'));
            await answering(tab, () => choose(page, 'virtualPipeline', '1'));
            const { answer: { memory } } = await answering(tab, () => choose(page, 'pipeline', '16'));
            assert.ok(memory.ranks.length > 6, 'more distinct ranks than fit side by side');
            const bars = await readBars(page);
            assert.ok(bars.length <= 6, `${bars.length} bars`);
            assert.equal(bars[0].rank, memory.ranks[0].rank);
            assert.equal(bars.at(-1).rank, memory.ranks.at(-1).rank);
            assert.ok(bars.some(({ rank }) => rank === memory.binding_rank), 'the worst is among them');
            await page.getByRole('button', { name: /^Show all/ }).click();
            assert.deepEqual((await readBars(page)).map(({ rank }) => rank),
                memory.ranks.map(({ rank }) => rank));
        });
    });
});

describe('the waterfall', () => {
    it('ends at the step time and the MFU of the service', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { answer: { time, throughput } } = await start(tab, 'llama-70b');
            const falls = await tab.page.locator('[data-testid="waterfall"] tbody tr').evaluateAll((trs) =>
                trs.map((tr) => ({ id: tr.dataset.term, seconds: Number(tr.dataset.seconds) })));
            const seconds = Object.fromEntries(falls.map((fall) => [fall.id, fall.seconds]));
            for (const term of time.terms.filter((item) => item.seconds !== 0))
                assert.equal(seconds[term.name], term.seconds, term.name);
            const sum = falls.filter(({ id }) => id !== 'forward' && id !== 'backward')
                .reduce((total, fall) => total + fall.seconds, 0);
            assert.ok(Math.abs(sum - time.step_s) < 1e-6 * time.step_s, 'the steps add up');

            const foot = await seen(tab.page.locator('[data-testid="waterfall"] tfoot'));
            assert.ok(foot.includes(threeDigits(time.step_s)), foot);
            assert.ok(foot.includes(`${percent(throughput.mfu_full)} MFU`), foot);
            // Drawn: the last step ends where the bar of the whole step ends.
            const ends = await tab.page.locator('[data-testid="waterfall"]').evaluate((panel) => {
                const right = (row) => row.querySelector('.fall .bar').getBoundingClientRect().right;
                return [right(panel.querySelector('tbody tr:last-child')), right(panel.querySelector('tfoot tr'))];
            });
            assert.ok(Math.abs(ends[0] - ends[1]) < 2, `${ends}`);
        });
    });
});

describe('the figures', () => {
    it('acceptance 6: are those of the service, with their ranges and no digit that these do not bear out', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { answer } = await start(tab, 'llama-70b');
            const { time, throughput, memory, interval } = answer;
            const off = offOf(answer);
            const [least, most] = interval.peak_reserved_bytes.map((bytes) => bytes / 2 ** 30);
            assert.ok(off > 0.1 && most - least > 0.1 * least, 'a third digit would be a false one');
            const per = { k: 1e3, '%': 0.01, 'ms': 1e-3 };
            for (const [id, ...exactly] of [
                ['step', time.step_s, ...interval.step_s],
                ['tokens', throughput.tokens_per_s, throughput.tokens_per_s_per_accelerator],
                ['mfu', throughput.mfu_full, throughput.mfu_causal, throughput.hfu],
                ['peak', memory.peak_reserved_bytes / 2 ** 30, least, most, memory.device_total_bytes / 2 ** 30],
                ['bubble', time.bubble_ratio, time.exposed_communication_s]]) {
                const text = await seen(tab.page.getByTestId(id));
                const shown = [...text.matchAll(/([\d,.]*\d) ?(k|%|ms)?/g)];
                assert.deepEqual([shown.length, shown.filter(([, figure]) => sureDigits(figure) > 2)], [exactly.length, []], text);
                for (const [at, exact] of exactly.entries()) {
                    const [, figure, unit] = shown[at];
                    const spread = id === 'peak' ? (most - least) / 2 : off * exact;
                    assert.ok(Math.abs(Number(figure.replace(',', '')) * (per[unit] ?? 1) - exact) <= spread / 2, `${figure} ${unit} stands for ${exact}`);
                }
            }
            assert.doesNotMatch(await tab.page.locator('main').innerText(), /90 ?%/);
        });
    });

    it('have both ends of a range in one unit', async () => {
        await inTab(browser, server, {}, async (tab) => {
            await start(tab, 'llama-70b');
            const { answer } = await answering(tab, () => type(tab.page, 'globalBatch', '1792'));
            const [low_s, high_s] = answer.interval.step_s;
            assert.ok(low_s < 120 && high_s > 120, 'by itself each would have its own');
            const [, low, high] = /range ([\d.]+) – ([\d.]+) min/.exec((await seen(tab.page.getByTestId('step'))).replaceAll(' min –', ' –'));
            assert.ok(Math.abs(60 * low - low_s) < 0.05 * low_s && Math.abs(60 * high - high_s) < 0.05 * high_s, `${low} – ${high}`);
        });
    });

    it('say what a run over weeks takes, once its tokens are known', async () => {
        await inTab(browser, server, {}, async (tab) => {
            await start(tab, 'llama-70b');
            const { answer } = await answering(tab, () => type(tab.page, 'tokens', '3T'));
            const text = await seen(tab.page.getByTestId('train'));
            const [, days] = /, ([\d,]+ days)/.exec(await seen(tab.page.getByTestId('sentence')));
            assert.ok(text.includes(days), `${text}: as the verdict says, ${days}`);
            assert.ok(Math.abs(parseFloat(days.replace(',', '')) - answer.time_to_train_s / 86400) < 0.05 * answer.time_to_train_s / 86400, days);
            assert.ok(text.includes(percent(answer.goodput_ratio)), text);
            assert.ok(text.includes(`${borne(answer.energy_j / 3600e9, offOf(answer) * answer.energy_j / 3600e9)} GWh`), text);
            await tab.page.getByRole('tab', { name: 'Compare' }).click();
            assert.equal(await seen(tab.page.locator('tr[data-key="/time_to_train_s"] td').first()), days, 'the same number has the same digits');
        });
    });

    it('change to GB on request, everywhere, and stay so', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            const { answer } = await start(tab, 'llama-70b');
            const { memory } = answer;
            await page.getByRole('button', { name: /^Units/ }).click();
            assert.ok((await seen(page.getByTestId('peak'))).includes(`${borneSize(answer, memory.peak_reserved_bytes, 1e9)} GB`));
            assert.ok((await seen(page.getByTestId('verdict'))).includes(`${gb(memory.usable_bytes)} GB`));
            assert.ok(!(await seen(page.locator('main'))).includes('GiB'));
            await answering(tab, () => page.reload());
            assert.ok((await seen(page.getByTestId('peak'))).includes('GB'));
        });
    });

    it('come with the warnings and assumptions of the service, in its words', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { answer } = await start(tab, 'llama-70b');
            for (const id of ['warnings', 'assumptions']) {
                const fold = tab.page.getByTestId(id);
                await unfold(fold);
                assert.deepEqual(await fold.locator('li').allInnerTexts(),
                    answer[id].map(({ message }) => message));
            }
        });
    });
});
