/** The life of an inventory: changed in part, deleted, restored, found again, and who did it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accelerator, inventory } from './lib/fixtures.mjs';
import { connectTo, send } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const base = '/api/v1/inventories';
const operations = { headers: { 'Content-Type': 'application/json-patch+json' } };
let server;
let client;

before(async () => {
    server = await startServer({ database: true });
    client = await connectTo(server);
});
after(() => stopClean(server));

/** What must work: the answer. */
async function ok(pending, status = 200) {
    const response = await pending;
    assert.equal(response.status, status, response.text);
    return response;
}

const put = (slug, spec = inventory(), options = {}) =>
    ok(client.put(`${base}/${slug}`, spec, options), options.expect ?? 201);
const restore = (slug, options) => client.request('POST', `${base}/${slug}:restore`, options);
const auditOf = async (slug) => (await ok(client.get(`${base}/${slug}/audit`))).json.items;
const actions = async (slug) => (await auditOf(slug)).map(({ action }) => action);

function withHosts(nodes, hosts, rest = {}) {
    const spec = inventory({ nodes, ...rest });
    spec.pools[0].hosts = hosts;
    return spec;
}

test('a merge patch changes what it names and leaves the rest as it was written', async () => {
    const text = '{"name":"as sent","pools":[{"nodes":4,"name":"b","node":{"accelerators":8,'
        + `"accelerator":"${accelerator}"},"fabric":{"oversubscription":1.50,"kind":"fat_tree"}}],`
        + '"annotations":{"zebra":1e2,"ant":[3,1,2]},"labels":{"site":"one"}}';
    const headers = { 'Content-Type': 'application/json' };
    await ok(client.request('PUT', `${base}/merged`, { body: text, headers }), 201);
    const patched = await ok(client.patch(`${base}/merged`,
        { labels: { tier: 'gold' }, description: 'two racks' }));
    assert.equal(patched.json.revision, 2);
    const spec = await ok(client.get(`${base}/merged?view=spec`));
    assert.equal(spec.text,
        `${text.slice(0, -2)},"tier":"gold"},"description":"two racks"}`);
    const bare = await ok(client.patch(`${base}/merged?view=spec`, { labels: { site: null } }));
    assert.equal(bare.text, spec.text.replace('"site":"one",', ''));
    assert.equal(bare.headers.etag, '"3"');
});

test('a list of a merge patch replaces the whole list', async () => {
    await put('lists');
    const pools = [{ ...inventory().pools[0], name: 'other' }];
    const { json } = await ok(client.patch(`${base}/lists`, { pools }));
    assert.deepEqual(json.spec.pools, pools);
});

test('operations of a JSON Patch are made all or none', async () => {
    await put('operated');
    const change = [
        { op: 'test', path: '/pools/0/nodes', value: 4 },
        { op: 'replace', path: '/pools/0/nodes', value: 6 },
        { op: 'add', path: '/labels/tier', value: 'gold' },
    ];
    const { json } = await ok(client.patch(`${base}/operated`, change, operations));
    assert.equal(json.spec.pools[0].nodes, 6);
    assert.deepEqual(json.spec.labels, { site: 'one', tier: 'gold' });
    assertProblem(await client.patch(`${base}/operated`, change, operations), 409,
        { code: 'test_failed', pointer: '/0' });
    assertProblem(await client.patch(`${base}/operated`,
        [{ op: 'remove', path: '/labels' }, { op: 'remove', path: '/nowhere' }], operations), 409,
        { code: 'path_not_found', pointer: '/1' });
    assertProblem(await client.patch(`${base}/operated`, [{ op: 'remvoe', path: '/labels' }],
        operations), 422, { code: 'unknown_value', pointer: '/0/op' });
    assert.equal((await ok(client.get(`${base}/operated`))).json.revision, 2);
});

test('a patch is checked like what is put, and refused as a whole', async () => {
    await put('checked');
    for (const [patch, pointer] of [
        [{ poools: [] }, '/poools'],
        [{ pools: null }, '/pools'],
        [{ name: 7 }, '/name'],
        [{ pools: [{ ...inventory().pools[0], nodes: -1 }] }, '/pools/0/nodes'],
        [[1], ''],
    ])
        assertProblem(await client.patch(`${base}/checked`, patch), 422, { pointer });
    const warned = await ok(client.patch(`${base}/checked?unknown=warn`, { rack: 7 }));
    assert.deepEqual(warned.json.warnings.map(({ code }) => code), ['unknown_field']);
    assertProblem(await client.patch(`${base}/nowhere`, { name: 'b' }), 404,
        { code: 'inventory_not_found' });
    assertProblem(await client.request('PATCH', `${base}/checked`, { body: '{"name":',
        headers: { 'Content-Type': 'application/merge-patch+json' } }), 400,
        { code: 'malformed_json' });
});

test('a patch that copies for ever is stopped at the size of a body', async () => {
    await put('doubled', inventory({ annotations: { a: ['x'.repeat(1000)] } }));
    const copy = { op: 'copy', from: '/annotations/a', path: '/annotations/a/-' };
    assertProblem(await client.patch(`${base}/doubled`, Array(25).fill(copy), operations), 413,
        { code: 'too_large' });
});

test('a patch of another type is 415 and names those that are taken', async () => {
    await put('typed');
    const types = 'application/merge-patch+json, application/json-patch+json';
    const response = await client.patch(`${base}/typed`, { name: 'b' },
        { headers: { 'Content-Type': 'application/json' } });
    assertProblem(response, 415, { code: 'media_type' });
    assert.equal(response.headers['accept-patch'], types);
    const options = await client.request('OPTIONS', `${base}/typed`);
    assert.equal(options.headers['accept-patch'], types);
    assert.equal(options.headers.allow, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS');
    const refused = await client.request('POST', `${base}/typed`);
    assertProblem(refused, 405);
    assert.equal(refused.headers.allow, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS');
});

test('a patch that changes nothing is no revision', async () => {
    const created = await put('unpatched');
    const patched = await ok(client.patch(`${base}/unpatched`,
        { name: 'test cluster', labels: { absent: null } }));
    assert.equal(patched.json.revision, 1);
    assert.equal(patched.headers.etag, created.headers.etag);
    assert.deepEqual(await actions('unpatched'), ['put']);
});

test('patches of many writers are all there in the end', async () => {
    await put('shared');
    const names = Array.from({ length: 8 }, (_, i) => `writer-${i}`);
    await Promise.all(names.map(async (name) => {
        for (;;) {
            const { status, text } = await client.patch(`${base}/shared`,
                { labels: { [name]: 'yes' } });
            if (status === 200)
                return;
            assert.equal(status, 503, text);
        }
    }));
    const { json } = await ok(client.get(`${base}/shared`));
    assert.deepEqual(Object.keys(json.spec.labels).sort(), ['site', ...names]);
    assert.equal(json.revision, 9);
});

test('what is deleted is gone, and restored as its next revision', async () => {
    const created = await put('back');
    const { json } = await ok(client.delete(`${base}/back`));
    assert.equal(json.slug, 'back');
    assert.equal(json.revision, 1);
    assert.match(json.deleted_at, /Z$/);
    for (const path of ['', '/revisions', '/revisions/1', '/diff'])
        assertProblem(await client.get(`${base}/back${path}`), 404);
    assertProblem(await client.delete(`${base}/back`), 404, { code: 'inventory_not_found' });
    assertProblem(await client.patch(`${base}/back`, { name: 'b' }), 404);
    const listed = (await ok(client.get(`${base}?limit=1000`))).json.items;
    assert.ok(!listed.some(({ slug }) => slug === 'back'));
    const deleted = (await ok(client.get(`${base}?deleted=true`))).json.items;
    assert.deepEqual(deleted.filter(({ slug }) => slug === 'back'), [json]);

    const restored = await ok(restore('back'));
    assert.equal(restored.json.revision, 2);
    assert.deepEqual(restored.json.spec, created.json.spec);
    assert.notEqual(restored.headers.etag, created.headers.etag);
    assert.equal((await ok(client.get(`${base}/back`))).headers.etag, restored.headers.etag);
    assertProblem(await restore('back'), 409, { code: 'inventory_not_deleted' });
    assertProblem(await restore('nowhere'), 404, { code: 'inventory_not_found' });
    const { json: { items } } = await ok(client.get(`${base}/back/revisions`));
    assert.deepEqual(items.map((item) => [item.revision, item.written.action]),
        [[2, 'restore'], [1, 'put']]);
});

test('a delete and a restore answer the bare spec where every request asks for that view', async () => {
    const sent = await put('viewed', inventory(), {});
    const { text } = await ok(client.get(`${base}/viewed?view=spec`));
    assert.equal((await ok(client.delete(`${base}/viewed?view=spec&dry_run=true`))).text, text);
    assert.equal((await ok(client.delete(`${base}/viewed?view=spec`))).text, text);
    assert.equal((await ok(restore('viewed'))).json.revision,
        sent.json.revision + 1);
    /* The bare text needs no reading: one that no release reads any more is restored as it was. */
    const odd = `{"name": "twice", ${JSON.stringify(inventory()).slice(1)}`;
    await server.database.query(`UPDATE inventories SET spec = '${odd}' WHERE slug = 'viewed'`);
    assert.equal((await ok(client.delete(`${base}/viewed?view=spec`))).text, odd);
    assert.equal((await ok(client.request('POST', `${base}/viewed:restore?view=spec`))).text, odd);
});

test('a put brings a deleted one back, the same spec too', async () => {
    await put('reborn');
    await ok(client.delete(`${base}/reborn`));
    const again = await put('reborn');
    assert.equal(again.json.revision, 2);
    assert.deepEqual(await actions('reborn'), ['put', 'delete', 'put']);
});

test('If-Match is honoured by every write and required by none', async () => {
    const { headers: { etag: first } } = await put('guarded');
    const second = (await ok(client.patch(`${base}/guarded`, { name: 'b' },
        { headers: { 'If-Match': first } }))).headers.etag;
    const late = { headers: { 'If-Match': first } };
    const known = { headers: { 'If-Match': `"9", ${second}` } };
    const lines = { headers: { 'If-Match': ['"9"', second] } };
    assertProblem(await client.patch(`${base}/guarded`, { name: 'c' }, late), 412,
        { code: 'revision_mismatch' });
    assertProblem(await client.delete(`${base}/guarded`, late), 412);
    await ok(client.delete(`${base}/guarded`, known));
    assertProblem(await restore('guarded', late), 412);
    await ok(restore('guarded', lines));
    await ok(client.delete(`${base}/guarded`, { headers: { 'If-Match': '*' } }));
});

test('a dry run of any write answers as if, and leaves nothing behind', async () => {
    await put('dry');
    const patched = await ok(client.patch(`${base}/dry?dry_run=true`, { name: 'b' }));
    assert.equal(patched.json.spec.name, 'b');
    assert.equal(patched.json.revision, 0);
    assertProblem(await client.patch(`${base}/dry?dry_run=true`, { name: 7 }), 422);
    assert.equal((await ok(client.delete(`${base}/dry?dry_run=true`))).json.deleted_at, undefined);
    assertProblem(await client.delete(`${base}/nowhere?dry_run=true`), 404);
    assertProblem(await client.request('POST', `${base}/dry:restore?dry_run=true`), 409);
    assertProblem(await client.delete(`${base}/dry?dry_run=true`,
        { headers: { 'If-Match': '"7"' } }), 412);
    assert.deepEqual(await actions('dry'), ['put']);
    await ok(client.delete(`${base}/dry`));
    const restored = await ok(client.request('POST', `${base}/dry:restore?dry_run=true`));
    assert.equal(restored.json.revision, 0);
    assertProblem(await client.get(`${base}/dry`), 404);
    assert.deepEqual(await actions('dry'), ['delete', 'put']);
});

test('the audit says who wrote what, in pages, and outlives a delete', async () => {
    const headers = { 'User-Agent': 'provisioner/2.1 \u00e9', 'X-Request-Id': 'run-17' };
    await put('audited', inventory(), { headers });
    await put('audited', inventory({ nodes: 5 }), { headers, expect: 200 });
    await put('audited', inventory({ nodes: 5 }), { expect: 200 });
    await ok(client.delete(`${base}/audited`));
    const items = await auditOf('audited');
    assert.deepEqual(items.map(({ action, revision }) => [action, revision]),
        [['delete', 2], ['put', 2], ['put', 1]]);
    assert.equal(items[2].remote_address, '127.0.0.1');
    assert.equal(items[2].user_agent, 'provisioner/2.1 ??'.slice(0, items[2].user_agent.length));
    assert.equal(items[2].request_id, 'run-17');
    assert.equal(items[0].user_agent, null);
    const page = await ok(client.get(`${base}/audited/audit?limit=2`));
    assert.match(page.headers.link, /audit\?limit=2&cursor=\d+>; rel="next"/);
    const next = await ok(client.get(
        `${base}/audited/audit?limit=2&cursor=${page.json.next_cursor}`));
    assert.deepEqual([...page.json.items, ...next.json.items], items);
    assert.equal(next.json.next_cursor, null);
    assertProblem(await client.get(`${base}/nowhere/audit`), 404);
    assertProblem(await client.get(`${base}/audited/audit?cursor=x`), 422);
});

test('nobody is whom a header says, unless a trusted proxy says so', async (t) => {
    const headers = { 'X-Forwarded-For': '203.0.113.9, 192.0.2.7' };
    await put('forwarded', inventory(), { headers });
    assert.equal((await auditOf('forwarded'))[0].remote_address, '127.0.0.1');
    const proxied = await startServer({ database: server.database,
        env: { SHARDLINE_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.1' } });
    t.after(() => stopClean(proxied));
    const spec = JSON.stringify(inventory({ nodes: 6 }));
    await ok(send(proxied.url, 'PUT', `${base}/forwarded`,
        { body: spec, headers: { ...headers, 'Content-Type': 'application/json' } }));
    assert.equal((await auditOf('forwarded'))[0].remote_address, '192.0.2.7');
});

test('a diff names hosts and fields, in words and in JSON', async () => {
    await put('grown', withHosts(32, ['gpu[001-032]']));
    await put('grown', withHosts(40, ['gpu[001-040]'], { labels: { site: 'two' } }),
        { expect: 200 });
    const { json } = await ok(client.get(`${base}/grown/diff?from=1&to=2`));
    assert.deepEqual(json, {
        from: 1,
        to: 2,
        hosts: { added: ['gpu[033-040]'], removed: [], moved: [] },
        changes: [
            { pointer: '/labels/site', change: 'changed', from: 'one', to: 'two',
                text: 'labels.site changed from "one" to "two"' },
            { pointer: '/pools/0/nodes', change: 'changed', from: 32, to: 40,
                text: 'pool main grew from 32 to 40 nodes' },
        ],
        summary: 'labels.site changed from "one" to "two"; pool main grew from 32 to 40 nodes; '
            + '8 hosts added',
    });
    assert.deepEqual((await ok(client.get(`${base}/grown/diff`))).json, json);
    const back = await ok(client.get(`${base}/grown/diff?from=2&to=1`));
    assert.deepEqual(back.json.hosts.removed, ['gpu[033-040]']);
    const all = await ok(client.get(`${base}/grown/diff?from=0&to=1`));
    assert.deepEqual(all.json.hosts.added, ['gpu[001-032]']);
    assertProblem(await client.get(`${base}/grown/diff?from=1&to=3`), 404,
        { code: 'revision_not_found' });
    assertProblem(await client.get(`${base}/grown/diff?to=0`), 422);
    assertProblem(await client.get(`${base}/nowhere/diff`), 404, { code: 'inventory_not_found' });
});

test('what a spec would change is told before it is put, and nothing is stored', async () => {
    await put('draft', withHosts(32, ['gpu[001-032]']));
    const ask = (spec, slug = 'draft') => client.post(`${base}/${slug}/diff`, spec);
    const next = withHosts(40, ['gpu[001-040]'], { labels: { site: 'two' } });
    const { json } = await ok(ask(next));
    assert.deepEqual(json.hosts, { added: ['gpu[033-040]'], removed: [], moved: [] });
    assert.deepEqual((await ok(client.get(`${base}/draft`))).json.revision, 1);
    await put('draft', next, { expect: 200 });
    assert.deepEqual((await ok(client.get(`${base}/draft/diff?from=1&to=2`))).json, json);
    const same = (await ok(ask(next))).json;
    assert.deepEqual([same.from, same.to, same.changes], [2, 3, []]);
    assertProblem(await ask({ ...next, pools: [] }), 422, { pointer: '/pools' });
    assertProblem(await ask(next, 'nowhere'), 404, { code: 'inventory_not_found' });
    await ok(client.delete(`${base}/draft`));
    assertProblem(await ask(next), 404);
});

test('a list is sorted and filtered, and its pages keep both', async () => {
    const part = 'nvidia-a100-sxm4-80gb';
    for (let i = 0; i < 6; i++) {
        const spec = inventory({ name: `Zone ${9 - i}`, labels: { fleet: i % 2 ? 'odd' : 'even' } });
        if (i === 4)
            spec.pools[0].node.accelerator = part;
        await put(`zone-${i}`, spec);
    }
    const slugs = async (query) => (await ok(client.get(`${base}?${query}`))).json.items
        .map(({ slug }) => slug);
    assert.deepEqual(await slugs('label=fleet:odd'), ['zone-1', 'zone-3', 'zone-5']);
    assert.deepEqual(await slugs('label=fleet&sort=-slug&limit=2'), ['zone-5', 'zone-4']);
    assert.deepEqual(await slugs('label=fleet&sort=name&limit=2'), ['zone-5', 'zone-4']);
    assert.deepEqual(await slugs('name=zone%207'), ['zone-2']);
    assert.deepEqual(await slugs('label=fleet&gpu=A100-SXM4-80GB'), ['zone-4']);
    assert.deepEqual(await slugs(`label=fleet&gpu=${part}`), ['zone-4']);
    assert.deepEqual(await slugs('label=fleet&gpu=nowhere'), []);
    assertProblem(await client.get(`${base}?gpu=a100`), 422, { code: 'ambiguous_accelerator' });
    const { json: { items: [latest] } } = await ok(client.get(`${base}?sort=-updated_at&limit=1`));
    assert.equal(latest.slug, 'zone-5');
    const since = encodeURIComponent(latest.updated_at);
    assert.deepEqual(await slugs(`updated_since=${since}`), ['zone-5']);
    for (const time of ['yesterday', '2026-02-30T00:00:00Z', '2026-02-01', '2026-02-01T24:00:00Z'])
        assertProblem(await client.get(`${base}?updated_since=${time}`), 422,
            { code: 'malformed_time' });
    assertProblem(await client.get(`${base}?sort=size`), 422, { code: 'unknown_value' });

    const hour = 3600e3;
    for (const i of [5, 4, 3, 2]) {
        for (const [source, behind] of [['slurm', 9 - i], ['nvidia-smi', 20 + i]])
            assert.equal((await client.request('PUT',
                `${base}/zone-${i}/observations/${source}?observed_at=${new Date(Date.now() - behind * hour).toISOString()}`,
                { body: 'NodeName=gpu1 Gres=gpu:h100:8 State=IDLE', headers: { 'Content-Type': 'text/plain' } })).status, 201);
    }
    for (const sort of ['slug', '-slug', 'updated_at', '-updated_at', 'name', 'observed_at']) {
        const seen = [];
        let path = `${base}?sort=${sort}&label=fleet&name=Zone%20&limit=4`;
        while (path !== undefined) {
            const { json, headers } = await ok(client.get(path));
            seen.push(...json.items.map(({ slug }) => slug));
            path = headers.link?.match(/^<([^>]*)>; rel="next"$/)[1];
            assert.equal(path === undefined, json.next_cursor === null);
        }
        const up = Array.from({ length: 6 }, (_, i) => `zone-${i}`);
        assert.deepEqual(seen, /^-|name/.test(sort) ? up.reverse() : up, sort);
    }
    /* Its place goes by the observations that are left: without the newest of all it stands behind. */
    await ok(client.request('DELETE', `${base}/zone-5/observations/slurm`), 200);
    assert.deepEqual(await slugs('sort=observed_at&label=fleet&name=Zone%20'),
        ['zone-0', 'zone-1', 'zone-5', 'zone-2', 'zone-3', 'zone-4']);
    const { json: { next_cursor: cursor } } = await ok(client.get(`${base}?limit=1`));
    assertProblem(await client.get(`${base}?cursor=${cursor}&sort=-slug`), 422,
        { code: 'invalid_cursor' });
    for (const bad of ['', '00', 'zz', '736c7567', `${cursor}0`, cursor.slice(2)])
        assertProblem(await client.get(`${base}?cursor=${bad}`), 422, { code: 'invalid_cursor' });
});

/** What a generic REST provider of Terraform does: it compares the answer with what it sent. */
test('a provisioning tool sees no drift through a whole life', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const config = '{\n  "pools": [{"name": "main", "nodes": 4, "node": {"accelerators": 8,\n'
        + `    "accelerator": "${accelerator}"}, "price_per_node_hour": 31.20}],\n`
        + '  "name": "planned", "labels": {}\n}';
    const path = `${base}/planned?view=spec`;
    const send = (body) => client.request('PUT', path, { body, headers });
    const created = await ok(send(config), 201);
    assert.equal(created.text, config);
    for (let plan = 0; plan < 3; plan++) {
        const read = await ok(client.get(path));
        assert.equal(read.text, config, 'plan shows no change');
        assert.equal(read.headers.etag, created.headers.etag);
        const applied = await ok(send(config));
        assert.equal(applied.text, config);
        assert.equal(applied.headers.etag, created.headers.etag);
    }
    const reformatted = await ok(send(JSON.stringify(JSON.parse(config))));
    assert.equal(reformatted.headers.etag, created.headers.etag, 'spelling is no change');
    assert.deepEqual(await actions('planned'), ['put'], 'and no history');
    const wider = config.replace('"nodes": 4', '"nodes": 5');
    const updated = await ok(send(wider));
    assert.equal(updated.text, wider);
    assert.notEqual(updated.headers.etag, created.headers.etag);
    await ok(client.delete(`${base}/planned`));
    assertProblem(await client.get(path), 404);
    assertProblem(await client.delete(`${base}/planned`), 404);
    assert.deepEqual(await actions('planned'), ['delete', 'put', 'put']);
});
