/** Saved plans: judged when they are saved, and again whenever what they depend on changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { estimate, inventory, large } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const base = '/api/v1/plans';
let server;
let client;

before(async () => {
    server = await startServer({ database: true });
    client = await connectTo(server);
});
after(() => stopClean(server));

/** A plan of the small llama on `nodes` of an inventory, all of its healthy ones when absent. */
function plan(slug, nodes, changes = {}) {
    const { cluster, ...request } = estimate({ workload: { global_batch_size: 256 },
        parallelism: { data: 'auto' }, ...changes });
    return { name: `on ${slug}`, labels: { team: 'a' },
        request: { ...request, cluster: slug === null ? cluster : { inventory: slug, nodes } } };
}

const names = (count) => Array.from({ length: count }, (_, i) => `gpu0${String(i + 1).padStart(2, '0')}`);

async function cluster(slug, nodes = 4) {
    const spec = inventory({ pools: [{ ...inventory().pools[0], nodes,
        hosts: names(nodes) }] });
    const response = await client.put(`/api/v1/inventories/${slug}`, spec);
    assert.ok([200, 201].includes(response.status), response.text);
}

/** What Slurm says of the hosts of a cluster of `nodes`, of which some are drained. */
async function observe(slug, nodes, drained = [], on = client) {
    const body = names(nodes).map((host) => `NodeName=${host} Arch=x86_64 CoresPerSocket=56\n`
        + '   CPUAlloc=0 CPUTot=112 CPULoad=0.10\n   Gres=gpu:h100:8(S:0-1)\n'
        + `   NodeAddr=${host} NodeHostName=${host} Version=24.05.1\n`
        + `   RealMemory=2000000\n   State=${drained.includes(host) ? 'IDLE+DRAIN' : 'IDLE'}`
        + ' ThreadsPerCore=1\n').join('\n');
    const response = await on.request('PUT', `/api/v1/inventories/${slug}/observations/slurm`,
        { body, headers: { 'Content-Type': 'text/plain' } });
    assert.ok([200, 201].includes(response.status), response.text);
}

async function save(slug, document) {
    const response = await client.put(`${base}/${slug}`, document);
    assert.ok([200, 201].includes(response.status), response.text);
    return response;
}

const read = async (slug) => (await client.get(`${base}/${slug}`)).json;

/** Asks until it holds: the list becomes current by itself. */
async function until(ask, holds) {
    for (let i = 0; i < 200; i++) {
        const found = await ask();
        if (holds(found))
            return found;
        await sleep(25);
    }
    return assert.fail(`it never held: ${JSON.stringify(await ask())}`);
}

test('a plan is saved under its name and judged', async () => {
    await cluster('saved');
    const document = plan('saved', 4);
    const created = await save('first', document);
    assert.equal(created.status, 201);
    assert.equal(created.json.revision, 1);
    assert.equal(created.json.permalink, '/?plan=first');
    assert.deepEqual(created.json.spec, document);
    const { status } = created.json;
    assert.equal(status.verdict, 'fits');
    assert.equal(status.reason, null);
    assert.equal(status.inventory, 'saved');
    const asked = await client.post('/api/v1/estimates', document.request);
    assert.equal(status.evaluation.fits_certain, asked.json.fits_certain);
    assert.equal(status.evaluation.headroom_bytes, asked.json.memory.headroom_bytes);
    assert.equal(status.evaluation.step_s, asked.json.time.step_s);
    assert.equal(status.evaluation.binding, asked.json.binding.sentence);
    assert.equal(status.evaluation.inventory_revision, 1);
    assert.deepEqual(await read('first'), created.json);
    const { text } = await client.get(`${base}/first?view=spec`);
    assert.equal(text, JSON.stringify(document));
});

test('the same document again changes nothing, another one is another revision', async () => {
    const document = plan(null);
    const first = await save('twice', document);
    const second = await save('twice', Object.fromEntries(Object.entries(document).reverse()));
    assert.equal(second.status, 200);
    assert.equal(second.json.revision, 1);
    assert.equal(second.headers.etag, first.headers.etag);
    const third = await save('twice', { ...document, name: 'another' });
    assert.equal(third.json.revision, 2);
    const options = { headers: { 'If-Match': first.headers.etag } };
    assertProblem(await client.put(`${base}/twice`, document, options), 412,
        { code: 'revision_mismatch' });
    assertProblem(await client.put(`${base}/twice`, document,
        { headers: { 'If-None-Match': '*' } }), 412, { code: 'plan_exists' });
    const known = await client.get(`${base}/twice`,
        { headers: { 'If-None-Match': third.headers.etag } });
    assert.equal(known.status, 304);
});

test('a dry run is judged, and nothing is kept', async () => {
    const { json } = await client.put(`${base}/dry?dry_run=true`, plan(null));
    assert.equal(json.revision, 0);
    assert.equal(json.status.verdict, 'fits');
    assertProblem(await client.get(`${base}/dry`), 404, { code: 'plan_not_found' });
});

test('what does not fit and what cannot be answered are told apart', async () => {
    const big = await save('big', plan(null, 1, { config: large }));
    assert.equal(big.json.status.verdict, 'does_not_fit');
    assert.ok(big.json.status.evaluation.headroom_bytes < 0);
    assert.equal(big.json.status.reason, null, 'it never fitted');
    const offloaded = estimate({ config: large, workload: { global_batch_size: 64, framework: 'deepspeed', software: null,
        recompute: 'full', dropout: false, offload: { optimizer: 'cpu' } }, cluster: { host_memory_bytes: 2 ** 39 },
    parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage: 3 } });
    const starved = await save('starved', { ...plan(null), request: offloaded });
    assert.equal(starved.json.status.verdict, 'does_not_fit');
    assert.ok(starved.json.status.evaluation.headroom_bytes > 0, 'its devices have room');
    assert.match(starved.json.status.evaluation.binding, /^Host memory: .*lacks \d+ bytes/);
    const odd = await save('odd', plan(null, 1, { parallelism: { tensor: 3, data: 'auto' } }));
    assert.equal(odd.json.status.verdict, 'refused');
    assert.ok(odd.json.status.evaluation.errors.length > 0);
});

test('a request that is none is refused at its place', async () => {
    const document = plan(null);
    assertProblem(await client.put(`${base}/wrong`,
        { ...document, request: { ...document.request, workloda: {} } }), 422,
    { pointer: '/request/workloda', code: 'unknown_field' });
    assertProblem(await client.put(`${base}/wrong`, { name: 'x' }), 422,
        { pointer: '/request', code: 'required_field' });
    assertProblem(await client.put(`${base}/wrong`, { request: { model: { hub: 'a/b' } } }), 422,
        { pointer: '/request/cluster', code: 'required_field' });
    assertProblem(await client.put(`${base}/wrong`, { ...document, labels: { a: 1 } }), 422,
        { pointer: '/labels/a' });
    assertProblem(await client.put(`${base}/wrong`, plan('nowhere', 1)), 404,
        { pointer: '/request/cluster/inventory', code: 'inventory_not_found' });
    assertProblem(await client.put(`${base}/Wrong`, document), 422, { code: 'invalid_slug' });
    assertProblem(await client.get(`${base}/wrong`), 404);
});

test('a plan that fitted says which node it lacks, in itself, the status, the list and the metric',
    async () => {
        await cluster('prod', 32);
        await save('nightly', plan('prod', 32));
        assert.equal((await read('nightly')).status.verdict, 'fits');
        await observe('prod', 32);
        assert.equal((await read('nightly')).status.verdict, 'fits');
        await observe('prod', 32, ['gpu017']);
        const reason = 'no longer fits because node gpu017 is drained: 31 of 32 nodes are usable';
        const { status } = await read('nightly');
        assert.equal(status.verdict, 'does_not_fit');
        assert.equal(status.reason, reason);
        assert.equal(status.evaluation.errors[0].code, 'not_enough_hosts');
        /* What is listed becomes current by itself: one that is read may be a moment ahead of it. */
        const shown = async () => (await client.get('/api/v1/inventories/prod')).json.status.plans;
        await until(shown, (all) => all.every((item) => item.verdict !== 'pending'));
        assert.deepEqual((await shown()).map((item) => [item.slug, item.reason]),
            [['nightly', reason]]);
        const { items } = (await client.get(`${base}?inventory=prod&fits=false`)).json;
        assert.deepEqual(items.map((item) => [item.slug, item.verdict, item.reason]),
            [['nightly', 'does_not_fit', reason]]);
        await until(async () => (await client.get('/metrics')).text,
            (text) => /^shardline_plans\{verdict="does_not_fit"\} [1-9]/m.test(text)
                && /^shardline_plans\{verdict="pending"\} 0$/m.test(text));
        await observe('prod', 32);
        const again = (await read('nightly')).status;
        assert.equal(again.verdict, 'fits');
        assert.equal(again.reason, null);
    });

test('the list becomes current by itself, and says pending until then', async () => {
    await cluster('moving', 4);
    for (let i = 0; i < 20; i++)
        await save(`moving-${String(i).padStart(2, '0')}`, plan('moving', 4));
    const list = async () => (await client.get(`${base}?inventory=moving`)).json.items;
    assert.ok((await list()).every(({ verdict }) => verdict === 'fits'));
    await observe('moving', 4, ['gpu002']);
    const items = await list();
    assert.ok(items.every(({ verdict }) => ['pending', 'does_not_fit'].includes(verdict)),
        'none is said to fit any more');
    await until(list, (all) => all.every(({ verdict, reason }) =>
        verdict === 'does_not_fit' && reason.includes('gpu002')));
    const { items: pending } = (await client.get(`${base}?inventory=moving&fits=pending`)).json;
    assert.deepEqual(pending, []);
});

test('an inventory with more plans than it shows says how many there are', async () => {
    await cluster('crowded', 4);
    const status = async () => (await client.get('/api/v1/inventories/crowded')).json.status;
    for (let i = 0; i < 100; i++)
        await save(`crowded-${String(i).padStart(3, '0')}`, plan('crowded', 4));
    const all = await status();
    assert.deepEqual([all.plans.length, all.plan_count, all.plans_truncated], [100, 100, false]);
    await save('crowded-more', plan('crowded', 4));
    const some = await status();
    assert.deepEqual([some.plans.length, some.plan_count, some.plans_truncated], [100, 101, true]);
});

test('another revision of the inventory is a reason too', async () => {
    await cluster('shrinks', 4);
    await save('shrinking', plan('shrinks', 4));
    await cluster('shrinks', 3);
    const { status } = await read('shrinking');
    assert.notEqual(status.verdict, 'fits');
    assert.match(status.reason,
        /^no longer fits because its inventory is at revision 2, and it fitted revision 1/);
});

test('the reason follows what keeps a plan from fitting, and names what it fitted', async () => {
    await cluster('causes');
    await save('causes', plan('causes', 4));
    const reason = async () => (await read('causes')).status;
    await observe('causes', 4, ['gpu004']);
    assert.match((await reason()).reason, /because node gpu004 is drained/);
    await cluster('causes', 3);
    await observe('causes', 3);
    const shrunk = await reason();
    assert.match(shrunk.reason, /its inventory is at revision 2, and it fitted revision 1: .*3 nodes/);
    assert.equal(shrunk.evaluation.fitted.inventory_revision, 1);
    const small = inventory({ pools: [{ ...inventory().pools[0], nodes: 4, hosts: names(4) }] });
    small.pools[0].node = { ...small.pools[0].node, memory_bytes: 1e9 };
    assert.equal((await client.put('/api/v1/inventories/causes', small)).status, 200);
    await observe('causes', 4);
    const cramped = await reason();
    assert.equal(cramped.verdict, 'does_not_fit');
    assert.match(cramped.reason, /at revision 3, and it fitted revision 1\. Memory: /);
    await cluster('causes');
    const whole = await reason();
    assert.deepEqual([whole.verdict, whole.reason, whole.evaluation.fitted], ['fits', null, null]);
});

test('who reads a plan is told what holds now, whoever else is judging it', async () => {
    await cluster('raced', 4);
    await save('raced', plan('raced', 4));
    for (let i = 0; i < 40; i++) {
        await observe('raced', 4, i % 2 === 0 ? ['gpu001'] : ['gpu002']);
        const early = [read('raced'), client.get(`${base}?inventory=raced`)];
        await observe('raced', 4, i % 2 === 0 ? ['gpu003'] : []);
        const { status } = await read('raced');
        assert.equal(status.verdict, i % 2 === 0 ? 'does_not_fit' : 'fits', `round ${i}`);
        if (i % 2 === 0)
            assert.match(status.reason, /because node gpu003 is drained/);
        await Promise.all(early);
    }
});

test('a plan without a number of nodes names the hosts that it misses as well', async () => {
    await cluster('open');
    const document = plan('open', undefined);
    document.request.parallelism = { ...document.request.parallelism, data: 8 };
    await save('open', document);
    assert.equal((await read('open')).status.verdict, 'fits');
    await observe('open', 4, ['gpu002']);
    assert.match((await read('open')).status.reason, /because node gpu002 is drained/);
});

test('a delete can be rehearsed and answer the document, and the audit outlives it', async () => {
    await cluster('audited');
    const document = plan('audited', 4);
    await save('audited', document);
    assert.equal((await client.delete(`${base}/audited?dry_run=true`)).status, 200);
    const spec = await client.get(`${base}/audited?view=spec`);
    assertProblem(await client.delete(`${base}/audited?dry_run=true`,
        { headers: { 'If-Match': '"7"' } }), 412, { code: 'revision_mismatch' });
    assert.equal((await client.delete(`${base}/audited?view=spec`)).text, spec.text);
    const { json } = await client.get(`${base}/audited/audit`);
    assert.deepEqual(json.items.map(({ action, revision }) => [action, revision]),
        [['delete', 1], ['put', 1]]);
    assertProblem(await client.get(`${base}/never-saved/audit`), 404, { code: 'plan_not_found' });
});

test('what goes stale changes a verdict without a write', async () => {
    await cluster('fades', 4);
    await observe('fades', 4, ['gpu001']);
    await save('fading', plan('fades', 4));
    assert.equal((await read('fading')).status.verdict, 'does_not_fit');
    const { text } = await client.get('/api/v1/inventories/fades/observations/slurm');
    assert.ok(text.length > 0);
    const body = 'NodeName=gpu001 Arch=x86_64 CoresPerSocket=56\n   CPUAlloc=0 CPUTot=112\n'
        + '   Gres=gpu:h100:8\n   State=IDLE+DRAIN ThreadsPerCore=1\n';
    const response = await client.request('PUT',
        '/api/v1/inventories/fades/observations/slurm?stale_after_s=1',
        { body, headers: { 'Content-Type': 'text/plain' } });
    assert.equal(response.status, 200, response.text);
    await until(() => read('fading'), ({ status }) => status.verdict === 'fits');
});

test('plans are listed page by page, and one that is deleted is gone', async () => {
    const { json: page } = await client.get(`${base}?limit=3`);
    assert.equal(page.items.length, 3);
    const { json: rest } = await client.get(`${base}?limit=1000&cursor=${page.next_cursor}`);
    const slugs = [...page.items, ...rest.items].map(({ slug }) => slug);
    assert.deepEqual(slugs, [...slugs].sort());
    assert.equal((await client.delete(`${base}/odd`)).status, 200);
    assertProblem(await client.get(`${base}/odd`), 404);
    assertProblem(await client.delete(`${base}/odd`), 404);
    const back = await save('odd', plan(null));
    assert.equal(back.status, 201);
    assert.equal(back.json.revision, 2);
});

test('two servers on one database agree', async (t) => {
    const twin = await startServer({ database: server.database });
    t.after(() => stopClean(twin));
    const other = await connectTo(twin);
    await cluster('both', 4);
    await save('shared', plan('both', 4));
    await observe('both', 4, ['gpu003'], other);
    for (const on of [client, other]) {
        const { json } = await on.get(`${base}/shared`);
        assert.equal(json.status.verdict, 'does_not_fit');
    }
});
