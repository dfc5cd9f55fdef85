/** What tools print of a cluster, stored beside its spec as it comes from cron, and what follows. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { accelerator, estimate, inventory } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { eventually } from './lib/processes.mjs';
import { assertProblem } from './lib/problems.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const base = '/api/v1/inventories';
let server;
let client;

before(async () => {
    server = await startServer({ database: true });
    client = await connectTo(server);
});
after(() => stopClean(server));

/** scontrol show nodes of eight-way H100 nodes; `states` by host. */
function scontrol(states) {
    return Object.entries(states).map(([host, state]) => {
        const [word, reason] = state.split(':');
        return `NodeName=${host} Arch=x86_64 CoresPerSocket=56\n`
            + '   CPUAlloc=0 CPUTot=112 CPULoad=0.10\n'
            + '   Gres=gpu:h100:8(S:0-1)\n'
            + `   NodeAddr=${host} NodeHostName=${host} Version=24.05.1\n`
            + '   RealMemory=2000000 AllocMem=0 FreeMem=1900000 Sockets=2 Boards=1\n'
            + `   State=${word} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A\n`
            + '   Partitions=main\n'
            + (reason === undefined ? '' : `   Reason=${reason} [root@2026-01-31T09:00:00]\n`);
    }).join('\n');
}

const hosts = (count) => Array.from({ length: count }, (_, i) => `gpu00${i + 1}`);
const all = (count, state = 'IDLE') =>
    Object.fromEntries(hosts(count).map((host) => [host, state]));

const named = (nodes = 4) => inventory({ pools: [{
    ...inventory().pools[0], nodes, hosts: [`gpu[001-00${nodes}]`] }] });

async function store(slug, spec = named()) {
    const response = await client.put(`${base}/${slug}`, spec);
    assert.ok([200, 201].includes(response.status), response.text);
    return response;
}

const send = (slug, source, body, query = '', headers = {}) =>
    client.request('PUT', `${base}/${slug}/observations/${source}${query}`,
        { body, headers: { 'Content-Type': 'text/plain', ...headers } });

async function observe(slug, source, body, query = '') {
    const response = await send(slug, source, body, query);
    assert.ok([200, 201].includes(response.status), response.text);
    return response;
}

const statusOf = async (slug) => (await client.get(`${base}/${slug}`)).json.status;

test('what a tool says is stored beside the spec, which it leaves alone', async () => {
    const { headers: { etag }, json: { spec } } = await store('first');
    const created = await observe('first', 'slurm', scontrol({ ...all(4), gpu002: 'IDLE+DRAIN:bad link' }));
    assert.equal(created.status, 201);
    assert.equal(created.json.format, 'slurm_nodes_text');
    assert.equal(created.json.revision, 1);
    assert.equal(created.json.hosts, 4);
    assert.equal(created.json.stale_after_s, 86400);
    assert.deepEqual(created.json.facts.groups.map(({ state, hosts: names }) => [state, names]),
        [['usable', ['gpu[001,003-004]']], ['drained', ['gpu002']]]);
    const fact = created.json.facts.kinds[0].accelerators;
    assert.equal(fact.value, 8);
    assert.equal(fact.line, 3);
    const { json, headers } = await client.get(`${base}/first`);
    assert.equal(json.revision, 1);
    assert.deepEqual(json.spec, spec);
    assert.notEqual(headers.etag, etag, 'the status changed');
    const { text } = await client.get(`${base}/first?view=spec`);
    assert.deepEqual(JSON.parse(text), spec);
    const got = await client.get(`${base}/first/observations/slurm`);
    assert.deepEqual(got.json, created.json);
    assert.equal(got.headers.etag, created.headers.etag);
});

test('the status names who is drained, down, missing and not expected', async () => {
    await store('states');
    const before = (await statusOf('states')).hosts;
    assert.equal(before.usable, 4);
    await observe('states', 'slurm', scontrol({
        gpu001: 'IDLE', gpu002: 'IDLE+DRAIN:bad link', gpu003: 'DOWN*:not responding', gpu009: 'ALLOCATED' }));
    const { hosts: status } = await statusOf('states');
    assert.equal(status.usable, 1);
    assert.deepEqual(status.drained.map(({ hosts: names, source }) => [names, source]),
        [[['gpu002'], 'slurm']]);
    assert.match(status.drained[0].reason, /bad link/);
    assert.deepEqual(status.down[0].hosts, ['gpu003']);
    assert.deepEqual(status.missing, ['gpu004']);
    assert.deepEqual(status.unexpected, ['gpu009']);
    assert.equal(status.sources[0].stale, false);
    assert.equal(status.pools[0].left_out,
        'node gpu002 is drained, node gpu003 is down, node gpu004 is missing: '
        + '1 of 4 nodes are usable');
});

test('the same output again renews only when it was observed', async () => {
    await store('again');
    const text = scontrol(all(4));
    const first = await observe('again', 'slurm', text, '?observed_at=2026-01-31T12:00:00Z');
    const second = await observe('again', 'slurm', text, '?observed_at=2026-01-31T12:05:00Z');
    assert.equal(second.status, 200);
    assert.equal(second.json.revision, 1);
    assert.equal(second.json.changed_at, first.json.changed_at);
    assert.equal(second.json.observed_at, '2026-01-31T12:05:00.000Z');
    assert.deepEqual(second.json.facts, first.json.facts);
    const third = await observe('again', 'slurm', scontrol({ ...all(4), gpu001: 'DRAINED' }));
    assert.equal(third.json.revision, 2);
});

test('a host is drained since it was first seen so', async () => {
    await store('since');
    await observe('since', 'slurm', scontrol({ ...all(4), gpu001: 'DRAINED:fan' }),
        '?observed_at=2026-01-31T12:00:00Z&stale_after_s=31622400');
    await observe('since', 'slurm', scontrol({ ...all(4), gpu001: 'DRAINED:fan', gpu002: 'DRAINED:fan' }),
        '?observed_at=2026-01-31T13:00:00Z');
    const { hosts: { drained } } = await statusOf('since');
    assert.deepEqual(drained.map(({ hosts: names, since }) => [names[0], since]), [
        ['gpu001', '2026-01-31T12:00:00.000Z'], ['gpu002', '2026-01-31T13:00:00.000Z']]);
});

test('an observation older than the one that is there is refused', async () => {
    await store('order');
    await observe('order', 'slurm', scontrol(all(4)), '?observed_at=2026-01-31T12:00:00Z');
    assertProblem(await send('order', 'slurm', scontrol({ ...all(4), gpu001: 'DOWN' }),
        '?observed_at=2026-01-31T11:59:59Z'), 409, { code: 'stale_observation' });
    const { json } = await client.get(`${base}/order/observations/slurm`);
    assert.equal(json.facts.groups.length, 1);
});

test('what is stale is flagged and does not count; how long is remembered', async () => {
    await store('stale');
    const text = scontrol({ ...all(4), gpu001: 'DOWN' });
    await observe('stale', 'slurm', text, '?observed_at=2026-01-31T12:00:00Z&stale_after_s=60');
    const { hosts: status } = await statusOf('stale');
    assert.equal(status.usable, 4);
    assert.deepEqual(status.down, []);
    assert.equal(status.sources[0].stale, true);
    const fresh = await observe('stale', 'slurm', text);
    assert.equal(fresh.json.stale_after_s, 60);
    assert.equal((await statusOf('stale')).hosts.usable, 3);
});

test('what contradicts the spec is named with both values', async () => {
    await store('contradicts', named(2));
    await observe('contradicts', 'slurm',
        scontrol(all(2)).replace('Gres=gpu:h100:8', 'Gres=gpu:h100:4'));
    const { hosts: { contradictions } } = await statusOf('contradicts');
    assert.deepEqual(contradictions, [{ pool: 'main', hosts: ['gpu001'], field: 'accelerators',
        spec: 8, observed: 4, source: 'slurm' }]);
});

test('a list of those with problems has what is drained, missing, stale, contradicted, not known or fits no plan', async () => {
    const watched = (rest = {}) => ({ ...named(), labels: { watched: 'yes' }, ...rest });
    const listed = async (rest = '') => (await client.get(`${base}?label=watched&problems=true${rest}`)).json;
    const becomes = (...slugs) => eventually(async () =>
        (await listed()).items.map(({ slug }) => slug).join() === slugs.join(), slugs.join());
    for (const slug of ['watched-a', 'watched-b', 'watched-c', 'watched-d'])
        await store(slug, watched());
    await becomes();
    await observe('watched-a', 'slurm', scontrol({ ...all(4), gpu002: 'IDLE+DRAIN:fan' }));
    await becomes('watched-a');
    await observe('watched-b', 'slurm', scontrol(all(4)), '?observed_at=2026-01-31T12:00:00Z&stale_after_s=60');
    await observe('watched-c', 'slurm', scontrol(all(4)).replace('Gres=gpu:h100:8', 'Gres=gpu:h100:4'));
    await becomes('watched-a', 'watched-b', 'watched-c');
    const { cluster, ...request } = estimate({ parallelism: { data: 'auto' }, workload: { global_batch_size: 192 } });
    const saved = await client.put('/api/v1/plans/watched',
        { request: { ...request, cluster: { inventory: 'watched-d', nodes: 5 } } });
    assert.equal(saved.status, 201, saved.text);
    await becomes('watched-a', 'watched-b', 'watched-c', 'watched-d');

    const first = await listed('&sort=-slug&limit=3');
    assert.deepEqual(first.items.map(({ slug }) => slug), ['watched-d', 'watched-c', 'watched-b']);
    const rest = await listed(`&sort=-slug&limit=3&cursor=${first.next_cursor}`);
    assert.deepEqual([rest.items.map(({ slug }) => slug), rest.next_cursor], [['watched-a'], null]);

    await client.delete('/api/v1/plans/watched');
    await becomes('watched-a', 'watched-b', 'watched-c');
    await observe('watched-b', 'slurm', scontrol(all(4)));
    await client.delete(`${base}/watched-c/observations/slurm`);
    await becomes('watched-a');
    await store('watched-a', watched({ pools: [{ ...named(3).pools[0], hosts: ['gpu00[1,3-4]'] }] }));
    await becomes();
    await observe('watched-b', 'slurm', scontrol(all(3)));
    await store('watched-d', watched({ pools: [{ ...named().pools[0], node: { accelerator: 'martian-9', accelerators: 8, memory_bytes: 2 ** 36 } }] }));
    await becomes('watched-b', 'watched-d');
    assertProblem(await client.get(`${base}?problems=some`), 422, { code: 'unknown_value' });
});

test('several sources are listed page by page, and one is forgotten', async () => {
    await store('several');
    for (const source of ['a', 'b', 'c'])
        await observe('several', source, scontrol(all(4)));
    const { json: page } = await client.get(`${base}/several/observations?limit=2`);
    assert.deepEqual(page.items.map(({ source }) => source), ['a', 'b']);
    const { json: rest } = await client.get(
        `${base}/several/observations?cursor=${page.next_cursor}`);
    assert.deepEqual(rest.items.map(({ source }) => source), ['c']);
    assert.equal((await client.delete(`${base}/several/observations/b`)).status, 200);
    assertProblem(await client.get(`${base}/several/observations/b`), 404,
        { code: 'observation_not_found' });
    assertProblem(await client.delete(`${base}/several/observations/b`), 404);
    assert.equal((await statusOf('several')).hosts.sources.length, 2);
});

test('If-Match and If-None-Match guard an observation as they guard an inventory', async () => {
    await store('guarded');
    const text = scontrol(all(4));
    const { headers: { etag } } = await observe('guarded', 'slurm', text);
    assertProblem(await send('guarded', 'slurm', text, '', { 'If-None-Match': '*' }), 412);
    assert.equal((await send('guarded', 'slurm', scontrol({ ...all(4), gpu001: 'DOWN' }), '',
        { 'If-Match': etag })).status, 200);
    assertProblem(await send('guarded', 'slurm', text, '', { 'If-Match': etag }), 412);
    const known = await client.get(`${base}/guarded/observations/slurm`);
    const again = await client.get(`${base}/guarded/observations/slurm`,
        { headers: { 'If-None-Match': known.headers.etag } });
    assert.equal(again.status, 304);
});

test('an observation can be rehearsed, and who changed what it says is written down', async () => {
    await store('rehearsed');
    const query = '?dry_run=true';
    const shown = await send('rehearsed', 'slurm', scontrol(all(4)), query);
    assert.deepEqual([shown.status, shown.json.revision, shown.headers.etag], [200, 1, undefined]);
    const path = `${base}/rehearsed/observations/slurm`;
    assertProblem(await client.get(path), 404, { code: 'observation_not_found' });
    assertProblem(await client.get(`${path}/audit`), 404, { code: 'observation_not_found' });
    await send('rehearsed', 'slurm', scontrol(all(4)));
    await send('rehearsed', 'slurm', scontrol(all(4)));
    assert.equal((await client.delete(`${path}?dry_run=true`)).status, 200);
    assert.equal((await client.get(path)).json.revision, 1);
    assert.equal((await client.delete(path)).status, 200);
    const { json } = await client.get(`${path}/audit`);
    assert.deepEqual(json.items.map(({ action, revision }) => [action, revision]),
        [['delete', 1], ['put', 1]], 'the same output again is no change');
});

test('packed output is read as it is', async () => {
    await store('packed');
    const { json } = await observe('packed', 'slurm', gzipSync(scontrol(all(4))));
    assert.equal(json.hosts, 4);
});

test('what cannot be is refused by name', async () => {
    await store('refused');
    const text = scontrol(all(4));
    assertProblem(await send('nowhere', 'slurm', text), 404, { code: 'inventory_not_found' });
    assertProblem(await send('refused', 'Upper', text), 422, { code: 'invalid_slug' });
    assertProblem(await send('refused', 'slurm', text, '?format=nope'), 422,
        { code: 'unknown_value' });
    assertProblem(await send('refused', 'slurm', text, '?observed_at=yesterday'), 422);
    assertProblem(await send('refused', 'slurm', text, '?observed_at=2999-01-01T00:00:00Z'), 422);
    assertProblem(await send('refused', 'slurm', text, '?stale_after_s=0'), 422);
    assertProblem(await send('refused', 'slurm', ''), 400, { code: 'empty_body' });
    assertProblem(await send('refused', 'slurm', 'hello, world\n'), 422,
        { code: 'unknown_format' });
    assertProblem(await client.get(`${base}/refused/observations/slurm`), 404);
});

test('an estimate uses healthy hosts only, unless all are asked for', async () => {
    await store('healthy');
    await observe('healthy', 'slurm', scontrol({ ...all(4), gpu003: 'IDLE+DRAIN:bad link' }));
    const ask = (cluster) => client.post('/api/v1/estimates',
        { ...estimate({ parallelism: { data: 'auto' }, workload: { global_batch_size: 192 } }),
            cluster: { inventory: 'healthy', ...cluster } });
    const usual = await ask({});
    assert.equal(usual.status, 200, usual.text);
    assert.equal(usual.json.resolved.cluster.nodes, 3);
    const { message } = usual.json.assumptions.find(({ code }) => code === 'hosts_left_out');
    assert.equal(message, 'node gpu003 is drained: 3 of 4 nodes are usable');
    assertProblem(await ask({ nodes: 4 }), 422,
        { code: 'not_enough_hosts', pointer: '/cluster/nodes' });
    /* Of four nodes the batch would not divide either: who says how many is told of the batch alone. */
    const undivided = (cluster) => client.post('/api/v1/estimates',
        { ...estimate({ parallelism: { data: 'auto' }, workload: { global_batch_size: 101 } }),
            cluster: { inventory: 'healthy', ...cluster } });
    const told = async (cluster) => (await undivided(cluster)).json.errors.some(({ code }) => code === 'hosts_left_out');
    assert.deepEqual([await told({}), await told({ nodes: 2 })], [true, false]);
    const every = await ask({ hosts: 'all' });
    assert.equal(every.json.resolved.cluster.nodes, 4);
    assert.ok(every.json.assumptions.some(({ code }) => code === 'hosts_all'));
    assert.notEqual(every.json.input_hash, usual.json.input_hash);
    await observe('healthy', 'slurm', scontrol(all(4)));
    const whole = await ask({});
    assert.equal(whole.json.resolved.cluster.nodes, 4);
    assert.notEqual(whole.json.input_hash, usual.json.input_hash);
    assertProblem(await client.post('/api/v1/estimates',
        { ...estimate(), cluster: { accelerator, nodes: 1, hosts: 'all' } }), 422,
    { code: 'conflicting_fields' });
});

test('of two senders at once the later observation stays, whoever comes last', async () => {
    await store('race');
    const minute = (i) => `2026-01-31T12:${String(i).padStart(2, '0')}:00Z`;
    await Promise.all(Array.from({ length: 12 }, (_, i) =>
        send('race', 'slurm', scontrol(all(4)), `?observed_at=${minute(i)}`)));
    const { json } = await client.get(`${base}/race/observations/slurm`);
    assert.equal(json.observed_at, '2026-01-31T12:11:00.000Z');
});

test('every real output is stored and joined, or refused by name', async (t) => {
    const folder = new URL('../../../shared/inventories/', import.meta.url);
    if (!existsSync(folder))
        return t.skip('no folder of real outputs');
    await store('real');
    let stored = 0;
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile())
            continue;
        const body = readFileSync(join(entry.path, entry.name));
        const response = await send('real', `file-${stored}`, body);
        assert.ok([201, 400, 422].includes(response.status), `${entry.name}: ${response.text}`);
        stored += response.status === 201;
        if (response.status !== 201)
            assertProblem(response, response.status);
    }
    assert.ok(stored > 20, `${stored} are stored`);
    const { hosts: status } = await statusOf('real');
    assert.equal(status.sources.length, stored);
    return undefined;
});
