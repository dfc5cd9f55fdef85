/** Inventories: stored as they were sent, versioned, safe to write from several places. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accelerator, estimate, inventory } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
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

async function put(slug, spec = inventory(), options = {}) {
    const response = await client.put(`${base}/${slug}`, spec, options);
    assert.ok([200, 201].includes(response.status), response.text);
    return response;
}

test('with a database it is ready', async () => {
    assert.equal((await client.get('/readyz')).status, 200);
});

test('a new inventory is 201, at revision 1, and read back', async () => {
    const created = await put('new');
    assert.equal(created.status, 201);
    assert.equal(created.json.slug, 'new');
    assert.equal(created.json.revision, 1);
    assert.deepEqual(created.json.spec, inventory());
    assert.equal(typeof created.json.status, 'object');
    const { status, json, headers } = await client.get(`${base}/new`);
    assert.equal(status, 200);
    assert.deepEqual(json, created.json);
    assert.match(headers.etag, /^"[^"]+"$/, 'strong');
    assert.equal(headers.etag, created.headers.etag);
});

test('the spec comes back exactly as it was sent', async () => {
    const body = '{"name":"as sent","pools":[{"nodes":4,"name":"b","node":{"accelerators":8,'
        + `"accelerator":"${accelerator}"},"fabric":{"oversubscription":1.50,"kind":"fat_tree"}},`
        + `{"name":"a","nodes":1,"node":{"accelerator":"${accelerator}","accelerators":8}}],`
        + '"annotations":{"zebra":1,"ant":[3,1,2],"text":"\\u00e9"},"labels":{}}';
    const sent = await client.request('PUT', `${base}/exact`,
        { body, headers: { 'Content-Type': 'application/json' } });
    assert.equal(sent.status, 201, sent.text);
    const { text, json } = await client.get(`${base}/exact?view=spec`);
    assert.deepEqual(json, JSON.parse(body));
    assert.equal(JSON.stringify(json), JSON.stringify(JSON.parse(body)), 'the same order of keys');
    assert.match(text, /1\.50?\b/);
    assertProblem(await client.get(`${base}/exact?view=status`), 422, { code: 'unknown_value' });
    const echoed = await client.request('PUT', `${base}/exact?view=spec`,
        { body, headers: { 'Content-Type': 'application/json' } });
    assert.deepEqual(echoed.json, JSON.parse(body));
});

test('the same spec again changes nothing', async () => {
    const first = await put('same');
    const second = await put('same');
    assert.equal(second.status, 200);
    assert.equal(second.json.revision, 1);
    assert.equal(second.headers.etag, first.headers.etag);
    const reordered = Object.fromEntries(Object.entries(inventory()).reverse());
    assert.equal((await put('same', reordered)).json.revision, 1);
});

test('another spec is another revision, and the old one is kept', async () => {
    const first = await put('history', inventory({ nodes: 4 }));
    const second = await put('history', inventory({ nodes: 5 }));
    assert.equal(second.json.revision, 2);
    assert.notEqual(second.headers.etag, first.headers.etag);
    const { json } = await client.get(`${base}/history/revisions`);
    assert.deepEqual(json.items.map((item) => item.revision), [2, 1]);
    const old = await client.get(`${base}/history/revisions/1`);
    assert.equal(old.json.spec.pools[0].nodes, 4);
    assertProblem(await client.get(`${base}/history/revisions/3`), 404,
        { code: 'revision_not_found' });
});

test('If-Match lets only the one who has seen the latest write', async () => {
    const { headers: { etag } } = await put('guarded', inventory({ nodes: 1 }));
    const options = { headers: { 'If-Match': etag } };
    const next = await put('guarded', inventory({ nodes: 2 }), options);
    const late = await client.put(`${base}/guarded`, inventory({ nodes: 3 }), options);
    assertProblem(late, 412, { code: 'revision_mismatch' });
    assert.equal((await client.get(`${base}/guarded`)).headers.etag, next.headers.etag);
    assertProblem(await client.put(`${base}/absent`, inventory(), options), 412);
});

test('If-None-Match: * creates only', async () => {
    const options = { headers: { 'If-None-Match': '*' } };
    await put('once', inventory(), options);
    assertProblem(await client.put(`${base}/once`, inventory({ nodes: 9 }), options), 412);
});

test('of several who write at once with the same If-Match, one wins', async () => {
    const { headers: { etag } } = await put('race', inventory({ nodes: 1 }));
    const options = { headers: { 'If-Match': etag } };
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) =>
        client.put(`${base}/race`, inventory({ nodes: 10 + i }), options)));
    const codes = answers.map((answer) => answer.status).sort();
    assert.deepEqual(codes, [200, ...Array(11).fill(412)]);
    assert.equal((await client.get(`${base}/race`)).json.revision, 2);
});

test('what has not changed is not sent again', async () => {
    const { headers: { etag } } = await put('known');
    const again = await client.get(`${base}/known`, { headers: { 'If-None-Match': etag } });
    assert.equal(again.status, 304);
    assert.equal(again.bytes.length, 0);
    await put('known', inventory({ nodes: 7 }));
    const changed = await client.get(`${base}/known`, { headers: { 'If-None-Match': etag } });
    assert.equal(changed.status, 200);
});

test('a dry run answers as if, and stores nothing', async () => {
    const response = await client.put(`${base}/dry?dry_run=true`, inventory());
    assert.ok([200, 201].includes(response.status), response.text);
    assertProblem(await client.get(`${base}/dry`), 404, { code: 'inventory_not_found' });
});

test('a list is read page by page, each once', async () => {
    const slugs = Array.from({ length: 7 }, (_, i) => `page-${i}`);
    for (const slug of slugs)
        await put(slug);
    const seen = [];
    let cursor = null;
    do {
        const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { status, json, text } = await client.get(`${base}?limit=3${query}`);
        assert.equal(status, 200, text);
        assert.ok(json.items.length <= 3);
        seen.push(...json.items.map((item) => item.slug));
        cursor = json.next_cursor;
    } while (cursor !== null);
    assert.deepEqual(seen.filter((slug) => slug.startsWith('page-')), slugs);
    assert.equal(new Set(seen).size, seen.length);
});

test('a page that cannot be is refused', async () => {
    for (const query of ['limit=0', 'limit=x', 'limit=100000', 'cursor=%00', 'cursor=nonsense!']) {
        const response = await client.get(`${base}?${query}`);
        assert.ok([400, 422].includes(response.status), `${query}: ${response.text}`);
    }
});

test('what is not there is 404', async () => {
    assertProblem(await client.get(`${base}/nowhere`), 404, { code: 'inventory_not_found' });
});

test('a slug or a spec that cannot be is refused at its place', async () => {
    for (const slug of ['UPPER', '-dash', 'a'.repeat(300), 'sp%20ace', 'semi;colon'])
        assertProblem(await client.put(`${base}/${slug}`, inventory()), 422);
    for (const [change, pointer] of [
        [{ pools: [{ ...inventory().pools[0], nodes: -1 }] }, '/pools/0/nodes'],
        [{ pools: [{ ...inventory().pools[0], node: { accelerator: 'nope', accelerators: 8 } }] },
            '/pools/0/node/accelerator'],
        [{ poools: [] }, '/poools'],
        [{ pools: 'all' }, '/pools'],
        [{ name: 7 }, '/name'],
    ])
        assertProblem(await client.put(`${base}/wrong`, { ...inventory(), ...change }), 422,
            { pointer });
    assertProblem(await client.get(`${base}/wrong`), 404);
});

test('text is kept as text, whatever it looks like', async () => {
    const name = 'x\'); DROP TABLE inventories; -- é 漢字 \u{1F680} "quoted" \\ /';
    await put('text', inventory({ name }));
    assert.equal((await client.get(`${base}/text`)).json.spec.name, name);
    const response = await client.put(`${base}/nul`, inventory({ name: 'a\u0000b' }));
    assert.ok([400, 422].includes(response.status), response.text);
});

test('an estimate runs on a stored cluster as on the same one inline', async () => {
    await put('plan', inventory({ nodes: 4 }));
    const layers = [{ name: 'a', parameters: 1e6, activation_bytes: 1e6, forward_flops: 1e9 }];
    const listed = { model: { layers }, workload: { global_batch_size: 64 },
        cluster: estimate().cluster };
    for (const asked of [estimate(), listed]) {
        const inline = await client.post('/api/v1/estimates', asked);
        const stored = await client.post('/api/v1/estimates',
            { ...asked, cluster: { inventory: 'plan', pool: 'main', nodes: 1 } });
        assert.equal(stored.status, 200, stored.text);
        assert.equal(stored.json.fits, true);
        assert.equal(stored.json.memory.peak_allocated_bytes,
            inline.json.memory.peak_allocated_bytes);
    }
    for (const [cluster, status] of [
        [{ inventory: 'nowhere', pool: 'main', nodes: 1 }, 404],
        [{ inventory: 'plan', pool: 'nowhere', nodes: 1 }, 422],
        [{ inventory: 'plan', pool: 'main', nodes: 5 }, 422],
    ])
        assertProblem(await client.post('/api/v1/estimates', { ...estimate(), cluster }), status);
});

test('a second server on the same database sees the same', async (t) => {
    const twin = await startServer({ database: server.database });
    t.after(() => stopClean(twin));
    const other = await connectTo(twin);
    await put('shared', inventory({ nodes: 3 }));
    assert.equal((await other.get(`${base}/shared`)).json.spec.pools[0].nodes, 3);
});
