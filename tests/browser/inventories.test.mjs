/** The page of inventories, on a real database: what is wrong, uploads, revisions, and the way back. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { estimate } from '../e2e/lib/fixtures.mjs';
import { ownPort } from '../e2e/lib/ports.mjs';
import { startServer, stopClean } from '../e2e/lib/server.mjs';
import { mergeSpecs } from '../../static/src/inventories/merge.js';
import { expand, rackOf } from '../../static/src/inventories/names.js';
import { expectAccessible } from './lib/axe.mjs';
import { becomes, fitsAcross, inTab, launch, seen, unfold } from './lib/browser.mjs';
import { ansible, hosts, node, slurm, spec, tools } from './lib/inventories.mjs';

let browser;
let server;
let api;

/** All but one, which is missing. */
const listed = hosts.filter((name) => name !== 'r3-gpu08');
const drained = { 'r1-gpu06': ['IDLE+DRAIN', 'row remapping pending'], 'r2-gpu01': ['DOWN*', 'does not answer'] };
const odd = (name) => ({ 'r1-gpu03': { rates: [...Array(7).fill(400000), 200000] }, 'r1-gpu05': { rates: Array(8).fill(100000) },
    'r2-gpu04': { driver: '535.161.08' }, 'r3-gpu01': { gpu: 'NVIDIA A100-SXM4-80GB' } })[name] ?? {};

/** A plan of the small llama on so many nodes of an inventory. */
const planOn = (inventory, nodes) => {
    const { cluster, ...request } = estimate({ workload: { global_batch_size: 12 * 23 * 8 }, parallelism: { data: 'auto' } });
    return { name: `on ${nodes}`, request: { ...request, cluster: { inventory, nodes } } };
};

before(async () => {
    [browser, server] = await Promise.all([launch(), startServer({ database: true })]);
    api = tools(server);
    await api.inventory('prod-eu', { ...spec, labels: {} });
    await api.inventory('prod-eu', spec);
    await api.observe('prod-eu', 'ansible', ansible(listed, odd));
    await api.plan('whole', planOn('prod-eu', 23));
    await api.plan('half', planOn('prod-eu', 12));
    await api.observe('prod-eu', 'slurm', slurm(listed, drained));
    await api.inventory('corner', { name: 'Old corner', pools: [{ name: 'martian', nodes: 2, hosts: ['m[1-2]'], node: { ...node, accelerator: 'martian-9' } }] });
    await api.observe('corner', 'slurm', slurm(['m1', 'm2']), `?stale_after_s=3600&observed_at=${new Date(Date.now() - 5 * 86400e3).toISOString()}`);
});
after(async () => {
    await browser?.close();
    if (server)
        await stopClean(server);
});

describe('names of hosts', () => {
    it('are those that the service means by a list', () => {
        assert.deepEqual(expand(['gpu[008-010,2]', 'x1']), ['gpu008', 'gpu009', 'gpu010', 'gpu2', 'x1']);
        assert.deepEqual(expand(['r[1-2]n[01-02],y[3]']), ['r1n01', 'r1n02', 'r2n01', 'r2n02', 'y3']);
        assert.deepEqual(expand([]), []);
    });

    it('tell a rack where a number stands before the last one', () => {
        assert.deepEqual(['rack03-node12', 'r1n2.hall.example', 'gpu017', 'login'].map(rackOf), ['rack03', 'r1', '', '']);
    });
});

describe('files laid over a stored spec', () => {
    const stored = { name: 'A', labels: { site: 'x' }, pools: [
        { name: 'h100', nodes: 4, hosts: ['g[1-4]'], node, price_per_node_hour: 20 }, { name: 'old', nodes: 1, hosts: ['o1'], node }] };
    const pool = (changes) => ({ name: 'batch', nodes: 4, hosts: ['g[1-4]'], node: { accelerator: node.accelerator, accelerators: 8 }, ...changes });

    it('take the pool that shares their hosts, and keep what they do not say', () => {
        const { spec: { name, labels, pools: [first, old] }, kept } = mergeSpecs(stored, { pools: [pool({ hosts: ['g[2-5]'] })] }, [[]], true);
        assert.deepEqual([name, labels, first.name, first.hosts, first.price_per_node_hour, first.node], ['A', { site: 'x' }, 'h100', ['g[2-5]'], 20, { ...node }]);
        assert.equal(old, stored.pools[1]);
        assert.deepEqual(kept, ['pool h100 keeps price per node hour, memory bytes', 'pools that the files do not name stay: old']);
    });

    it('forget the memory of another part, pools when asked to, and pools whose hosts moved', () => {
        const other = pool({ node: { accelerator: 'nvidia-b200', accelerators: 8 } });
        assert.deepEqual(mergeSpecs(stored, { pools: [other] }, [[]], false).spec.pools, [{ ...other, name: 'h100', price_per_node_hour: 20 }]);
        const moved = mergeSpecs(stored, { pools: [pool({ hosts: ['g[1-4]', 'o1'], nodes: 5 })] }, [[]], true);
        assert.deepEqual(moved.spec.pools.map(({ name }) => name), ['h100']);
    });

    it('settle a name of several parts by what is stored, and only then', () => {
        const read = { pools: [pool({ node: { accelerator: 'h100', accelerators: 8 } })] };
        assert.equal(mergeSpecs(stored, read, [[node.accelerator, 'other']], true).spec.pools[0].node.accelerator, node.accelerator);
        assert.equal(mergeSpecs(stored, read, [['other']], true).spec.pools[0].node.accelerator, 'h100');
    });

    it('let the larger part of a pool that is split go on as that pool', () => {
        const parts = [pool({ name: 'a', hosts: ['g1'], nodes: 1 }), pool({ name: 'b', hosts: ['g[2-4]'], nodes: 3 })];
        assert.deepEqual(mergeSpecs(stored, { pools: parts }, [[], []], false).spec.pools.map(({ name }) => name), ['a', 'h100']);
    });

    it('give a new pool a name of its own', () => {
        const fresh = pool({ name: 'old', hosts: ['n[1-4]'] });
        const { spec: { pools } } = mergeSpecs(stored, { pools: [pool({}), { ...pool({ hosts: ['o1'], nodes: 1 }), name: 'x' }, fresh] }, [[], [], []], true);
        assert.deepEqual(pools.map(({ name }) => name), ['h100', 'old', 'old-2']);
    });
});

const at = (rest = '') => ({ path: `/?page=inventories${rest}` });
const row = (page, slug) => page.locator(`tr[data-slug="${slug}"]`);
const toast = (page) => page.locator('.toast');
const button = (page, name) => page.getByRole('button', { name, exact: true });

/** Slugs of those by such a name that have problems. */
const troubled = async (name) => (await api.get(`inventories?name=${name}&problems=true`)).items.map(({ slug }) => slug);

describe('the list', () => {
    it('shows what was seen longest ago first, what is wrong there, and why a plan stopped fitting', async () => {
        await becomes(async () => (await api.get('plans/whole')).status.verdict, 'does_not_fit', 'the plan is judged');
        const { status } = await api.get('plans/whole');
        assert.notEqual(status.reason, null);
        await inTab(browser, server, at(), async ({ page }) => {
            await row(page, 'prod-eu').waitFor();
            assert.deepEqual(await page.locator('tr[data-slug]').evaluateAll((rows) => rows.map(({ dataset }) => dataset.slug)), ['corner', 'prod-eu']);
            const [corner, prod] = [await seen(row(page, 'corner')), await seen(row(page, 'prod-eu'))];
            assert.match(corner, /5 days ago.*slurm is stale.*unknown part/);
            assert.match(prod, /1 drained · 1 down · 1 missing/);
            assert.match(prod, /192 × NVIDIA H100 SXM5 80GB/);
            assert.match(prod, /3 fields/);
            assert.ok(prod.includes(`✕ on 23: ${status.reason}`), prod);
        });
    });

    it('names three plans that stopped fitting, and counts the others', async () => {
        await api.inventory('crowded', { ...spec, name: 'Crowded' });
        for (const nodes of [5, 7, 9, 10, 11])
            await api.plan(`crowd-${nodes}`, planOn('crowded', nodes));
        const verdicts = async () => (await api.get('inventories/crowded')).status.plans.map(({ verdict }) => verdict);
        await becomes(async () => (await verdicts()).filter((verdict) => verdict === 'refused').length, 5, 'they are judged');
        await inTab(browser, server, at('&p.q=crowded'), async ({ page }) => {
            await becomes(async () => (await row(page, 'crowded').locator('[data-name="plans"] p').allTextContents()).map((text) => text.trim().slice(0, 6)),
                ['✕ on 1', '✕ on 1', '✕ on 5', '✕ 2 mo']);
        });
        await api.remove('crowded');
    });

    it('is filtered by name and by what is wrong, in the address too', async () => {
        await api.inventory('fine', { name: 'Fine', pools: [{ name: 'a', nodes: 1, node }] });
        await inTab(browser, server, at(), async ({ page }) => {
            await row(page, 'fine').waitFor();
            await becomes(() => troubled('Fine'), [], 'it was looked at');
            await page.getByLabel('Only with problems').check();
            await row(page, 'fine').waitFor({ state: 'detached' });
            await page.getByLabel('Only with problems').uncheck();
            await page.fill('#filter-name', 'CORNER');
            await row(page, 'prod-eu').waitFor({ state: 'detached' });
            await becomes(() => page.evaluate(() => new URLSearchParams(location.search).get('p.q')), 'CORNER');
            await page.reload();
            await row(page, 'corner').waitFor();
            assert.equal(await page.locator('tr[data-slug]').count(), 1);
        });
    });

    it('counts a host that is unlike the others of its pool among the problems', async () => {
        await api.inventory('motley', { ...spec, name: 'Motley', labels: {} });
        await api.observe('motley', 'ansible', ansible(hosts, () => ({})));
        await becomes(() => troubled('Motley'), [], 'it was looked at');
        await api.observe('motley', 'ansible', ansible(hosts, (name) => (name === 'r2-gpu04' ? { driver: '535.161.08', rates: Array(8).fill(100000) } : {})));
        await becomes(() => troubled('Motley'), ['motley']);
        await inTab(browser, server, at('&p.bad=1'), async ({ page }) => {
            await row(page, 'motley').waitFor();
            assert.match(await seen(row(page, 'motley')), /1 host unlike the others/);
        });
        await api.remove('motley');
    });

    it('comes in pages of one order, each with its way back: what was seen last stands on the last', async () => {
        const zones = Array.from({ length: 51 }, (_, place) => `zone-${place}`);
        for (const slug of zones)
            await api.inventory(slug, { name: slug, pools: [{ name: 'a', nodes: 1, node }] });
        await api.observe('zone-0', 'slurm', slurm(['z1']));
        await inTab(browser, server, at('&p.q=zone'), async ({ page }) => {
            await row(page, 'zone-50').waitFor();
            assert.equal(await page.locator('tr[data-slug]').count(), 50);
            await button(page, 'Next page').click();
            await row(page, 'zone-0').waitFor();
            assert.equal(await page.locator('tr[data-slug]').count(), 1);
            await page.goBack();
            await row(page, 'zone-50').waitFor();
            await api.observe('zone-0', 'slurm', slurm(['z1'], { z1: ['DRAIN', 'fan'] }));
            await becomes(() => troubled('zone'), ['zone-0']);
            await page.getByLabel('Only with problems').check();
            await row(page, 'zone-0').waitFor();
            assert.equal(await page.locator('tr[data-slug]').count(), 1, 'whatever page it stands on');
        });
        await Promise.all(zones.map((slug) => api.remove(slug)));
    });

    it('says without a database what to do, and reads files all the same', async (t) => {
        const plain = await startServer();
        t.after(() => stopClean(plain));
        await inTab(browser, plain, at(), async ({ page }) => {
            assert.match(await seen(page.getByTestId('no-database')), /SHARDLINE_DATABASE_URL/);
            await page.fill('#field-pasted', slurm(hosts));
            await button(page, 'Read it').click();
            assert.match(await seen(page.getByTestId('report')), /24 nodes: 24 usable/);
            assert.equal(await page.getByTestId('save').count(), 0);
        });
    });
});

describe('one inventory', () => {
    it('acceptance 14: draws racks with their problems named, and plans without these hosts', async () => {
        await inTab(browser, server, at('&p.inv=prod-eu'), async ({ page }) => {
            const wrong = await seen(page.getByTestId('troubles'));
            for (const words of [/drained 1 r1-gpu06 row remapping pending h100 slurm/, /down 1 r2-gpu01 does not answer/, /missing 1 r3-gpu08/,
                /driver mismatch 1 r2-gpu04 driver 535\.161\.08, but 550\.90\.07 on 22 others/,
                /slower network card 1 r1-gpu05 rate of a network card 12\.5 GB\/s, but 50\.0 GB\/s on 22 others/,
                /mixed GPUs 1 r3-gpu01 accelerator NVIDIA A100-SXM4-80GB, but NVIDIA H100 80GB HBM3 on 22 others/,
                /network card missing 1 r1-gpu03 network cards 7, but 8 on 22 others/])
                assert.match(wrong, new RegExp(words.source.replaceAll(' ', ' ?')));
            const pool = page.locator('[data-pool=h100]');
            assert.match(await seen(pool.locator('.key').last()), /17 usable.*≠ 4 usable, but not as expected.*D 1 drained.*X 1 down.*M 1 missing/);

            await pool.getByTestId('rack').focus();
            await page.keyboard.press('ArrowRight');
            await becomes(() => seen(pool.getByRole('status')), 'r1-gpu01: usable, seen by a source');
            await button(page, 'Leave out the 4 that differ').click();
            await button(page, 'Plan without these 7 hosts: 17 nodes').click();
            await page.waitForSelector('#field-inventory');
            assert.equal(await page.locator('#field-inventory').inputValue(), 'prod-eu');
            assert.equal(await page.locator('#field-nodes').inputValue(), '17');
            await page.goBack();
            await page.getByTestId('troubles').waitFor();
        });
    });

    it('has racks whose names stay where they are when it is drawn again', async () => {
        await inTab(browser, server, at('&p.inv=prod-eu'), async ({ page }) => {
            const drawing = page.getByTestId('rack').locator('canvas').first();
            const picture = () => drawing.evaluate((canvas) => canvas.toDataURL());
            await becomes(async () => (await picture()).length > 3000, true, 'it is drawn');
            const first = await picture();
            await page.getByRole('button', { name: 'Dark theme' }).click();
            await becomes(async () => await picture() !== first, true, 'it is drawn in the other theme');
            await page.getByRole('button', { name: 'Dark theme' }).click();
            await becomes(async () => await picture() === first, true, 'it is drawn as before');
        });
    });

    it('plans on what is there: the estimate takes the healthy hosts of the pool', async () => {
        await inTab(browser, server, { path: '/?example=llama-8b&page=inventories&p.inv=prod-eu', faults: ['422 POST /api/v1/estimates'] }, async ({ page }) => {
            const asked = page.waitForRequest((request) => request.url().endsWith('/api/v1/estimates')
                && request.postDataJSON().cluster.inventory === 'prod-eu');
            await button(page, 'Plan without these 3 hosts: 21 nodes').click();
            assert.deepEqual((await asked).postDataJSON().cluster, { inventory: 'prod-eu', pool: 'h100', nodes: 21 });
            await page.waitForSelector('[data-testid="verdict"][data-phase="problem"]');
        });
    });

    it('tells what was guessed and why, who saw it when, and how plans stand', async () => {
        await inTab(browser, server, at('&p.inv=prod-eu'), async ({ page }) => {
            await becomes(async () => /network cards ?8 ?of the node usually built around this part/.test(await seen(page.getByTestId('guessed'))), true, 'guessed');
            assert.match(await seen(page.getByTestId('observed')), /ansible_facts/);
            assert.match(await seen(page.getByTestId('plans-on')), /on 12 ?✓ fits.*on 23 ?✕ does not fit/);
        });
    });

    it('draws 2,000 hosts', async () => {
        const names = Array.from({ length: 2000 }, (_, place) => `rack${String(Math.floor(place / 16) + 1).padStart(3, '0')}-node${String(place % 16 + 1).padStart(2, '0')}`);
        const bad = Object.fromEntries(names.filter((_, place) => place % 97 === 5).map((name, place) => [name, ['IDLE+DRAIN', `ticket ${place}`]]));
        await api.inventory('huge', { name: 'Huge', pools: [{ name: 'h100', nodes: 2000, hosts: ['rack[001-125]-node[01-16]'], node }] });
        await api.observe('huge', 'slurm', slurm(names, bad));
        await inTab(browser, server, at('&p.inv=huge'), async ({ page }) => {
            await button(page, 'Plan without these 21 hosts: 1,979 nodes').waitFor();
            const troubles = page.getByTestId('troubles');
            assert.equal(await troubles.locator('tbody tr').count(), 20, 'a page of them at first');
            await troubles.getByRole('button', { name: 'Show all 21' }).click();
            await becomes(() => troubles.locator('tbody tr').count(), 21);
            const drawing = page.getByTestId('rack').locator('canvas').first();
            const colours = () => drawing.evaluate((canvas) => {
                /* Of a copy: Chromium warns of a canvas that is read again and again. */
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
                copy.drawImage(canvas, 0, 0);
                return new Set(new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
            });
            await becomes(async () => await colours() > 3, true, 'it is drawn');
            await page.setViewportSize({ width: 390, height: 800 });
            await becomes(() => drawing.evaluate((canvas) => canvas.getBoundingClientRect().right <= innerWidth), true, 'it fits a phone');
            await fitsAcross(page);
        });
        await api.inventory('huge', { name: 'Huge', pools: [{ name: 'h100', nodes: 1, node }] });
    });
});

describe('many pools', () => {
    const pools = Array.from({ length: 40 }, (_, at) => String(at + 1).padStart(3, '0'));
    const parts = ['nvidia-h100-sxm5-80gb', 'nvidia-h200-sxm-141gb'];

    it('are one drawing and a table with the bad ones first, and what is said of many is said once', async () => {
        await api.inventory('campus', { name: 'Campus', pools: pools.map((pool, at) => ({ name: `rack-${pool}`, nodes: 8, hosts: [`k${pool}-n[01-08]`],
            node: at < 37 ? { accelerator: parts[at % 2], accelerators: 8 } : { ...node, accelerator: `martian-${at}` } })) });
        const names = pools.flatMap((pool) => Array.from({ length: 8 }, (_, at) => `k${pool}-n0${at + 1}`));
        await api.observe('campus', 'slurm', slurm(names, { 'k020-n03': ['IDLE+DRAIN', 'fan'] }));
        await inTab(browser, server, at('&p.inv=campus'), async ({ page }) => {
            const panel = page.getByTestId('many-pools');
            const rows = panel.getByRole('grid', { name: 'Pools' }).locator('tbody tr');
            await becomes(() => rows.count(), 40);
            assert.equal(await page.getByTestId('rack').count(), 1);
            assert.match(await seen(rows.first()), /^rack-020 ?1 drained · 7 usable, but not as expected/, 'of as many problems what cannot be used is first');
            await panel.getByRole('button', { name: 'Pool', exact: true }).click();
            await becomes(async () => (await seen(rows.first())).startsWith('rack-001'), true, 'sorted by name');
            const bad = panel.locator('tr[data-key="rack-020"]');
            assert.match(await seen(bad), /1 drained.*Plan without this host: 7 nodes/);
            assert.ok(await page.getByTestId('troubles').locator('tbody tr').count() < 5, 'the same of twenty pools is one row');
            assert.match(await seen(page.getByTestId('troubles')), /unknown part ?24 ?k038-n\[01-08\], k039.*rack-038, rack-039, rack-040/);
            assert.match(await seen(panel), /\? 24 of a part that the catalogue does not know/, 'they are no usable ones');
            assert.match(await seen(panel.locator('tr[data-key="rack-038"]')), /8 of a part that the catalogue does not know/);
            assert.equal(await panel.locator('tr[data-key="rack-002"]').getByRole('button', { name: /Leave out/ }).count(), 0, 'else no host is left');
            await becomes(async () => await page.getByTestId('guessed').locator('tbody tr').count() > 0, true);
            assert.match(await seen(page.getByTestId('guessed')), /rack-001, rack-0\d\d, rack-0\d\d and \d+ more/);
            assert.ok(await page.evaluate(() => document.documentElement.scrollHeight) < 4000, 'a few screens');
            await expectAccessible(page, 'many pools');
            await page.setViewportSize({ width: 390, height: 844 });
            await fitsAcross(page);
            await bad.getByRole('button', { name: 'Plan without this host: 7 nodes' }).click();
            await page.locator('#field-inventory').waitFor({ state: 'attached' });
            assert.equal(await page.locator('#field-nodes').inputValue(), '7');
        });
        await api.remove('campus');
    });
});

describe('on a phone', () => {
    /** Cells of words without a head of their own in sight, and heads of such cells that stand apart. */
    const unnamed = (page) => page.locator('.figures:has(.how)').evaluateAll((tables) => tables.flatMap((table) => [
        ...[...table.querySelectorAll('td.how:not(:empty)')].filter((cell) => {
            const { content } = getComputedStyle(cell, '::before');
            return content !== JSON.stringify(`${cell.dataset.head} `) || cell.dataset.head === '';
        }).map((cell) => cell.textContent),
        ...[...table.querySelectorAll('thead .how')].filter((head) => getComputedStyle(head).clipPath === 'none').map((head) => head.textContent)]));

    it('words below the figures of a row have their heads, in the list and in what is said of one', async () => {
        await inTab(browser, server, { ...at(), width: 390, height: 844 }, async ({ page }) => {
            await row(page, 'prod-eu').waitFor();
            assert.ok(await page.locator('td.how').count() > 4);
            await becomes(() => unnamed(page), []);
            assert.ok((await row(page, 'prod-eu').getByRole('link').first().boundingBox()).height >= 24, 'a finger hits its name');
            await row(page, 'prod-eu').getByRole('link').first().click();
            await page.getByRole('table', { name: 'Revisions' }).waitFor();
            await unfold(page.getByTestId('audit'));
            const trail = page.getByRole('table', { name: 'Audit trail' });
            await trail.waitFor();
            await becomes(() => unnamed(page), []);
            assert.equal(await trail.getByRole('columnheader', { name: 'Request' }).count(), 1, 'it is a table still');
            await becomes(() => page.locator('.scroll', { has: trail }).getAttribute('data-over'), 'false');
        });
    });

    it('observations and revisions need no scrolling sideways', async () => {
        await inTab(browser, server, { ...at('&p.inv=prod-eu'), width: 390, height: 844 }, async ({ page }) => {
            for (const label of ['Observations', 'Revisions', 'Hosts with problems'])
                await becomes(() => page.locator('.scroll', { has: page.getByRole('table', { name: label }) }).getAttribute('data-over'), 'false', label);
        });
    });
});

/** `nvidia-smi --query-gpu --format=csv` of one node, without its name: it speaks for all like it. */
const csv = `name, memory.total [MiB], memory.reserved [MiB]\n${'NVIDIA H100 80GB HBM3, 81559 MiB, 480 MiB\n'.repeat(8)}`;

const upload = (text, name = 'nodes.txt') => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

describe('an upload', () => {
    it('acceptance 1: is read before it is stored: format, pools, what is guessed, missing and odd', async () => {
        await inTab(browser, server, at('&p.add=1'), async ({ page }) => {
            await page.setInputFiles('#field-files', [upload(slurm(hosts, drained)), upload(csv, 'smi.csv')]);
            const report = await seen(page.getByTestId('report'));
            assert.match(report, /nodes\.txt: scontrol show node.*smi\.csv: nvidia-smi/);
            assert.match(report, /24 nodes: 22 usable, 1 drained, 1 down/);
            assert.match(report, /r1-gpu06 drained: row remapping pending/);
            assert.match(await seen(page.getByTestId('report-guessed')), /scale-up domain/);
            assert.equal((await api.get('inventories?name=fresh')).items.length, 0, 'nothing is stored');

            await page.fill('#field-slug', 'fresh');
            await page.fill('#field-title', 'Fresh hall');
            await button(page, 'Store as a new inventory').click();
            await page.locator('[data-testid=pool]').first().waitFor();
            const stored = await api.get('inventories/fresh');
            assert.equal(stored.spec.name, 'Fresh hall');
            assert.equal(stored.status.hardware.nodes, 24);
            await button(page, 'Undo').click();
            await becomes(async () => (await api.get('inventories?name=fresh')).items.length, 0, 'undone');
        });
    });

    it('asks for the part that a name does not decide, and names the lines that are odd', async () => {
        await inTab(browser, server, at('&p.add=1'), async ({ page }) => {
            await page.fill('#field-pasted', 'NodeName=ai[1-2] Arch=x86_64\n   Gres=(null)\n   RealMemory=1000 State=IDLE\n   CfgTRES=cpu=8,gres/gpu:h100=8\n');
            await button(page, 'Read it').click();
            assert.match(await seen(page.getByTestId('odd')), /pasted ?[0-9]+ ?Gres names no accelerator/);
            const store = button(page, 'Store as a new inventory');
            assert.ok(await store.isDisabled());
            await page.getByTestId('missing').locator('select').selectOption('nvidia-h100-sxm5-80gb');
            await page.fill('#field-slug', 'settled');
            await store.click();
            await page.locator('[data-testid=pool]').waitFor();
            assert.equal((await api.get('inventories/settled')).spec.pools[0].node.accelerator, 'nvidia-h100-sxm5-80gb');
        });
    });

    it('of many hosts out of use names the first of them, and says how many more', async () => {
        await inTab(browser, server, at('&p.add=1'), async ({ page }) => {
            await page.setInputFiles('#field-files', [upload(slurm(hosts, Object.fromEntries(hosts.slice(0, 12).map((name, place) => [name, ['IDLE+DRAIN', `ticket ${place}`]]))))]);
            const pools = await seen(page.getByRole('table', { name: 'Pools that were read' }));
            assert.match(pools, /r2-gpu03 drained: ticket 10 and 9 more/);
            assert.ok(!pools.includes('ticket 11'), pools);
        });
    });

    it('as a revision whose part is open asks for that, and does not call it impossible', async () => {
        await api.inventory('open', { name: 'Open', pools: [{ name: 'old', nodes: 1, hosts: ['o1'], node: { accelerator: 'nvidia-a100-sxm4-80gb', accelerators: 8 } }] });
        await inTab(browser, server, { ...at('&p.add=1&p.into=open'), faults: ['422 POST /api/v1/inventories/open/diff'] }, async ({ page }) => {
            await page.setInputFiles('#field-files', [upload(slurm(hosts))]);
            await page.getByTestId('save').getByText('Choose the part of pool h100 first, above.').waitFor();
            assert.equal(await page.getByTestId('save').getByTestId('problem').count(), 0);
            assert.ok(await button(page, 'Store as the next revision').isDisabled());
            await page.getByTestId('missing').locator('select').selectOption('nvidia-h100-sxm5-80gb');
            await page.getByTestId('diff').waitFor();
            assert.ok(await button(page, 'Store as the next revision').isEnabled());
        });
        await api.remove('open');
    });

    it('as a revision tells first what changes, and keeps what the files do not say', async () => {
        await api.inventory('grown', { ...spec, pools: [{ ...spec.pools[0], price_per_node_hour: 22 }, { name: 'spare', nodes: 1, hosts: ['s1'], node }] });
        await inTab(browser, server, at('&p.add=1&p.into=grown'), async ({ page }) => {
            await page.setInputFiles('#field-files', [upload(slurm([...hosts, 'r3-gpu09', 'r3-gpu10']))]);
            const diff = await seen(page.getByTestId('diff'));
            assert.match(diff, /pool h100 grew from 24 to 26 nodes.*hosts added: r3-gpu\[09-10\]/);
            assert.match(await seen(page.getByTestId('save')), /pool h100 keeps fabric, price per node hour.*spare/);
            await button(page, 'Store as the next revision').click();
            await page.locator('[data-testid=pool]').first().waitFor();
            const { spec: { pools: [h100, spare] } } = await api.get('inventories/grown');
            assert.deepEqual([h100.price_per_node_hour, h100.nodes, h100.node.accelerator, spare.name], [22, 26, node.accelerator, 'spare']);
        });
    });

    it('loses nobody’s change: who was faster is told, and the upload stays', async () => {
        await api.inventory('raced', spec);
        await inTab(browser, server, { ...at('&p.add=1&p.into=raced'), faults: ['412 PUT /api/v1/inventories/raced'] }, async ({ page }) => {
            await page.setInputFiles('#field-files', [upload(slurm([...hosts, 'r3-gpu09']))]);
            await page.getByText('Against revision 1 of raced').waitFor();
            await api.inventory('raced', { ...spec, description: 'of somebody else' });
            await button(page, 'Store as the next revision').click();
            assert.match(await seen(page.getByTestId('lost-race')), /raced was changed meanwhile.*Nothing was stored/);
            await button(page, 'Compare with what is there now').click();
            await page.getByText('Against revision 2 of raced').waitFor();
            await button(page, 'Store as the next revision').click();
            await page.locator('[data-testid=pool]').first().waitFor();
            const stored = await api.get('inventories/raced');
            assert.deepEqual([stored.revision, stored.spec.description, stored.spec.pools[0].nodes], [3, 'of somebody else', 25]);
        });
    });

    it('of what nobody can read is refused by name, and what was typed stays', async () => {
        await inTab(browser, server, { ...at('&p.add=1'), faults: ['422 POST /api/v1/inventories:parse'] }, async ({ page }) => {
            const dropped = await page.evaluateHandle(() => {
                const data = new DataTransfer();
                data.items.add(new File(['hello, nothing'], 'hello.txt'));
                return data;
            });
            await page.dispatchEvent('.drop', 'drop', { dataTransfer: dropped });
            assert.match(await seen(page.getByTestId('problem')), /no format recognises the text/);
            await button(page, 'Leave out hello.txt').click();
            await page.getByTestId('problem').waitFor({ state: 'detached' });
            await page.fill('#field-pasted', 'hello, nothing');
            await button(page, 'Read it').click();
            assert.match(await seen(page.getByTestId('problem')), /no format recognises the text/);
            await page.getByRole('link', { name: 'All inventories' }).click();
            await page.goBack();
            assert.equal(await page.locator('#field-pasted').inputValue(), 'hello, nothing');
        });
    });
});

describe('the past', () => {
    it('is listed, compared in words and as JSON, and brought back as a new revision', async () => {
        for (const nodes of [4, 8, 6])
            await api.inventory('past', { ...spec, pools: [{ name: 'h100', nodes, node }] });
        await inTab(browser, server, at('&p.inv=past'), async ({ page }) => {
            assert.match(await seen(page.getByTestId('diff')), /pool h100 shrank from 8 to 6 nodes/);
            await page.getByLabel('Compare from revision 1').check();
            await becomes(async () => /pool h100 grew from 4 to 6 nodes/.test(await seen(page.getByTestId('revisions'))), true, 'compared');
            await unfold(page.getByTestId('diff-json'));
            assert.deepEqual(JSON.parse(await page.locator('[data-testid=diff-json] pre').textContent()), await api.get('inventories/past/diff?from=1&to=3'));
            await button(page, 'Bring back revision 1').click();
            await becomes(async () => (await api.get('inventories/past')).spec.pools[0].nodes, 4, 'brought back');
            assert.equal((await api.get('inventories/past')).revision, 4);
            await button(page, 'Undo').click();
            await becomes(async () => (await api.get('inventories/past')).spec.pools[0].nodes, 6, 'undone');
            await unfold(page.getByTestId('audit'));
            await becomes(async () => /put ?5/.test(await seen(page.getByTestId('audit'))), true, 'the trail');
        });
    });

    it('acceptance 13: a deleted inventory comes back from the toast, and from the list of deleted ones', async () => {
        await api.inventory('gone', { ...spec, name: 'Gone' });
        await inTab(browser, server, at('&p.inv=gone'), async ({ page }) => {
            const revisions = page.getByRole('table', { name: 'Revisions' });
            await revisions.waitFor(); /* what is asked about an inventory that is deleted meanwhile is refused */
            await button(page, 'Delete').click();
            await becomes(() => seen(toast(page)), 'Gone is deletedUndo✕', 'the toast');
            assert.equal((await api.get('inventories?name=Gone')).items.length, 0);
            await button(page, 'Undo').click();
            await page.locator('[data-testid=pool]').first().waitFor();
            assert.equal((await api.get('inventories/gone')).revision, 2);

            await revisions.waitFor();
            await page.getByTestId('diff').waitFor();
            await button(page, 'Delete').click();
            await page.getByLabel('Deleted ones').check();
            await button(page, 'Restore Gone').click();
            await page.locator('[data-testid=pool]').first().waitFor();
            assert.equal((await api.get('inventories/gone')).revision, 3);
        });
    });

    it('stands among the deleted ones, the one deleted last first', async () => {
        for (const slug of ['bin-b', 'bin-a', 'bin-c']) {
            await api.inventory(slug, { name: slug, pools: [{ name: 'a', nodes: 1, node }] });
            await api.remove(slug);
        }
        await inTab(browser, server, at('&p.gone=1&p.q=bin'), async ({ page }) => {
            await button(page, 'Restore bin-c').waitFor();
            assert.deepEqual(await page.getByRole('table', { name: 'Deleted inventories' }).locator('tbody th').allTextContents(), ['bin-c', 'bin-a', 'bin-b']);
        });
    });
});

describe('a service in trouble', () => {
    it('is asked again by itself, and what stands on the page stays', async () => {
        const faults = ['503 GET /api/v1/inventories/prod-eu'];
        await inTab(browser, server, { ...at('&p.inv=prod-eu'), faults }, async ({ page }) => {
            await page.getByTestId('troubles').waitFor();
            let failing = true;
            await page.route('**/api/v1/inventories/prod-eu', (route) => (failing
                ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify({ title: 'Busy', detail: 'it restarts', status: 503, errors: [] }) })
                : route.continue()));
            await page.getByRole('link', { name: 'All inventories' }).click();
            await row(page, 'prod-eu').waitFor();
            await page.goBack();
            assert.match(await seen(page.getByTestId('problem')), /Busy.*it restarts/);
            failing = false;
            await page.getByTestId('troubles').waitFor();
            assert.equal(await page.getByTestId('problem').count(), 0);
        });
    });
});

describe('a service that restarts', () => {
    it('loses nothing that was typed', async (t) => {
        const env = { SHARDLINE_LISTEN: `127.0.0.1:${await ownPort()}` };
        let plain = await startServer({ env });
        t.after(() => stopClean(plain));
        await inTab(browser, plain, { ...at(), faults: ['failed: POST /api/v1/inventories:parse'] }, async ({ page }) => {
            /* All that the page asks by itself is answered. */
            await page.getByTestId('no-database').waitFor();
            await page.locator('#field-format option').nth(1).waitFor({ state: 'attached' });
            await page.fill('#field-pasted', slurm(hosts));
            await stopClean(plain);
            await button(page, 'Read it').click();
            assert.match(await seen(page.getByTestId('problem')), /cannot be reached/);
            plain = await startServer({ env });
            await button(page, 'Try again').click();
            assert.match(await seen(page.getByTestId('report')), /24 nodes: 24 usable/);
            assert.equal(await page.locator('#field-pasted').inputValue(), slurm(hosts));
        });
    });
});

describe('for everyone', () => {
    for (const colorScheme of ['light', 'dark']) {
        it(`axe-core finds nothing in ${colorScheme}: list, one, upload, narrow`, async () => {
            await inTab(browser, server, { ...at(), colorScheme }, async ({ page }) => {
                await row(page, 'prod-eu').waitFor();
                await expectAccessible(page, 'the list');
                await row(page, 'prod-eu').getByRole('link').click();
                await page.getByTestId('diff').waitFor();
                await unfold(page.getByTestId('audit'));
                await page.getByRole('region', { name: 'Audit trail' }).or(page.getByText('Request')).first().waitFor();
                await expectAccessible(page, 'one inventory');
                await page.getByRole('link', { name: 'Upload a new revision' }).click();
                await page.fill('#field-pasted', slurm(hosts, drained));
                await button(page, 'Read it').click();
                await page.getByTestId('diff').waitFor();
                await expectAccessible(page, 'an upload');
                await page.setViewportSize({ width: 390, height: 800 });
                await fitsAcross(page);
                await expectAccessible(page, 'narrow');
            });
        });
    }

    it('the keyboard alone finds an inventory, leaves a host out, deletes it and brings it back', async () => {
        await api.inventory('keys', { ...spec, name: 'Keys' });
        await inTab(browser, server, at('&p.q=Keys'), async ({ page }) => {
            await row(page, 'keys').waitFor();
            const walk = async (holds) => {
                for (let step = 0; step < 60; step += 1) {
                    await page.keyboard.press('Tab');
                    if (await page.evaluate(holds)) return;
                }
                assert.fail(`the walk did not arrive: ${holds}`);
            };
            await walk(() => document.activeElement.closest('tr[data-slug=keys]') !== null);
            await page.keyboard.press('Enter');
            await page.locator('[data-testid=pool]').waitFor();
            await walk(() => document.activeElement.dataset.testid === 'rack');
            for (const key of ['ArrowRight', 'ArrowDown', 'Enter'])
                await page.keyboard.press(key);
            await button(page, 'Plan without this host: 23 nodes').waitFor();
            await becomes(() => page.evaluate(() => new URLSearchParams(location.search).get('p.out')), 'r1-gpu02');
            await page.evaluate(() => document.getElementById('answer').focus());
            await walk(() => document.activeElement.textContent === 'Delete');
            await page.keyboard.press('Enter');
            await button(page, 'Undo').waitFor();
            await walk(() => document.activeElement.textContent === 'Undo');
            await page.keyboard.press('Enter');
            await becomes(async () => (await api.get('inventories?name=Keys')).items.length, 1, 'it is back');
        });
    });
});
