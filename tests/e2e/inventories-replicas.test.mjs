/** Two servers on one database behave as one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inventory } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const base = '/api/v1/inventories';
const ROUNDS = 10;
const WRITERS = 6;

let database;
let servers;
let clients;

before(async () => {
    database = await startPostgres();
    servers = await Promise.all([0, 1].map(() => startServer({ database })));
    clients = await Promise.all(servers.map(connectTo));
});
after(async () => {
    await Promise.all(servers.map(stopClean));
    await database.stop();
});

/** Every writer at once, on one server or the other. */
const together = (write) => Promise.all(Array.from({ length: WRITERS }, (_, i) =>
    write(clients[i % clients.length], i)));

/** Revisions without a hole or a double, each with the one write that made it. */
async function assertHistory(slug, last) {
    assert.equal(await database.query(`SELECT string_agg(revision::text, ' ' ORDER BY revision)
        FROM inventory_revisions WHERE slug = '${slug}'`),
        Array.from({ length: last }, (_, i) => i + 1).join(' '));
    assert.equal(await database.query(`SELECT count(*) FROM inventory_revisions r WHERE slug = '${
        slug}' AND (SELECT count(*) FROM inventory_audit a WHERE a.slug = r.slug
            AND a.revision = r.revision AND a.action <> 'delete') <> 1`), '0');
    for (const client of clients)
        assert.equal((await client.get(`${base}/${slug}`)).json.revision, last);
}

test('of concurrent puts with one If-Match exactly one wins, whichever server it went to', async () => {
    let { headers: { etag } } = await clients[0].put(`${base}/matched`, inventory());
    for (let round = 1; round <= ROUNDS; round++) {
        const answers = await together((client, i) =>
            client.put(`${base}/matched`, inventory({ nodes: 100 * round + i }),
                { headers: { 'If-Match': etag } }));
        const statuses = answers.map(({ status }) => status).sort();
        assert.deepEqual(statuses, [200, ...Array(WRITERS - 1).fill(412)]);
        ({ headers: { etag } } = answers.find(({ status }) => status === 200));
    }
    await assertHistory('matched', ROUNDS + 1);
});

test('concurrent puts without a condition have a revision each', async () => {
    const revisions = [];
    for (let round = 0; round < ROUNDS; round++) {
        const answers = await together((client, i) =>
            client.put(`${base}/counted`, inventory({ nodes: 1 + WRITERS * round + i })));
        for (const { status, json, text } of answers) {
            assert.ok([200, 201].includes(status), text);
            revisions.push(json.revision);
        }
        assert.equal(answers.filter(({ status }) => status === 201).length, round === 0 ? 1 : 0);
    }
    assert.deepEqual(revisions.sort((a, b) => a - b),
        Array.from({ length: ROUNDS * WRITERS }, (_, i) => i + 1));
    await assertHistory('counted', ROUNDS * WRITERS);
});

test('one delete wins, and then one restore', async () => {
    await clients[0].put(`${base}/flipped`, inventory());
    for (let round = 1; round <= ROUNDS; round++) {
        const deletes = await together((client) => client.delete(`${base}/flipped`));
        assert.deepEqual(deletes.map(({ status }) => status).sort(),
            [200, ...Array(WRITERS - 1).fill(404)]);
        const restores = await together((client) =>
            client.request('POST', `${base}/flipped:restore`));
        assert.deepEqual(restores.map(({ status }) => status).sort(),
            [200, ...Array(WRITERS - 1).fill(409)]);
    }
    await assertHistory('flipped', ROUNDS + 1);
    assert.equal(await database.query(`SELECT count(*) FROM inventory_audit
        WHERE slug = 'flipped' AND action = 'delete'`), String(ROUNDS));
});

test('what one server was told the other answers at once', async () => {
    for (let round = 1; round <= ROUNDS; round++) {
        const [writer, reader] = round % 2 ? clients : [...clients].reverse();
        const { headers: { etag } } = await writer.put(`${base}/seen`, inventory({ nodes: round }));
        const read = await reader.get(`${base}/seen`);
        assert.equal(read.headers.etag, etag);
        assert.equal(read.json.spec.pools[0].nodes, round);
    }
});
