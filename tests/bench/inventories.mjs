/**
 * What stored inventories cost, by hand and never by the suite: npm ci in tests/e2e, build release, then
 *
 *     SHARDLINED=build/release/shardlined node tests/bench/inventories.mjs
 *
 * Times are those of the server's own log, from the head of a request to the end of its answer: the
 * database's work is among them, with fsync.
 */
import assert from 'node:assert/strict';
import { inventory } from '../e2e/lib/fixtures.mjs';
import { send } from '../e2e/lib/http.mjs';
import { startPostgres } from '../e2e/lib/postgres.mjs';
import { startServer } from '../e2e/lib/server.mjs';

const NODES = 1000;
const STORED = 10_000;
const ROUNDS = 200;
const base = '/api/v1/inventories';
const headers = { 'Content-Type': 'application/json' };

function quantiles(times) {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return `median ${at(0.5).toFixed(2)} ms, p99 ${at(0.99).toFixed(2)} ms`;
}

/** Milliseconds in the server of the requests that `work` makes. */
async function serverTimes(server, work) {
    const before = server.output().stderr.length + server.output().stdout.length;
    await work();
    await new Promise((next) => setTimeout(next, 200));
    const { stdout, stderr } = server.output();
    return (stdout + stderr).slice(before).split('\n')
        .filter((line) => line.includes('"msg":"request"'))
        .map((line) => JSON.parse(line).duration_s * 1000);
}

/** The hardware of a pool: of the catalogue, or a part that it does not know and each pool names anew. */
const known = () => inventory().pools[0].node;
const unknown = (p) => ({ accelerator: `Prototype Accelerator P${p}`, accelerators: 8,
    memory_bytes: 96 * 2 ** 30 });

/** A cluster of that many nodes, each named: in one pool, or in racks of eight. */
function cluster(pools, node, salt = 0) {
    const each = NODES / pools;
    const name = (i) => `gpu${String(i + 1).padStart(4, '0')}`;
    const [pool] = inventory().pools;
    return JSON.stringify(inventory({ labels: { salt: String(salt) },
        pools: Array.from({ length: pools }, (_, p) => ({ ...pool, name: `pool-${p}`, nodes: each,
            node: node(p), hosts: Array.from({ length: each }, (_, i) => name(p * each + i)) })) }));
}

async function must(url, method, path, options) {
    const response = await send(url, method, path, options);
    assert.ok(response.status < 300, response.text);
    return response;
}

async function measureOne(server, pools, node) {
    const path = `${base}/large`;
    const puts = await serverTimes(server, async () => {
        for (let i = 0; i < ROUNDS; i++)
            await must(server.url, 'PUT', path, { headers, body: cluster(pools, node, i) });
    });
    const gets = await serverTimes(server, async () => {
        for (let i = 0; i < ROUNDS; i++)
            await must(server.url, 'GET', path);
    });
    const views = await serverTimes(server, async () => {
        for (let i = 0; i < ROUNDS; i++)
            await must(server.url, 'GET', `${path}?view=spec`);
    });
    const diffs = await serverTimes(server, async () => {
        for (let i = 0; i < ROUNDS; i++)
            await must(server.url, 'GET', `${path}/diff?from=0`);
    });
    console.log(`${NODES} nodes in ${pools} pools of ${node.name} parts, ${
        cluster(pools, node).length} bytes`);
    for (const [what, times] of Object.entries({ PUT: puts, GET: gets, 'GET spec': views,
        'GET diff': diffs }))
        console.log(`  ${what.padEnd(9)} ${quantiles(times)}`);
}

/** As many inventories as a large team has, put into the tables as a put would leave them. */
const fill = (database) => database.query(`
    WITH specs AS (SELECT i, 'inv-' || lpad(i::text, 5, '0') AS slug, 'Cluster ' || i * 7919 % 10000
            AS name, format('{"name":"Cluster %s","labels":{"site":"s%s"},"pools":[{"name":"main",
            "nodes":4,"hosts":[%s],"node":{"accelerator":"a","accelerators":8}}]}', i * 7919 % 10000,
            i % 50, (SELECT string_agg('"gpu' || n || '"', ',') FROM generate_series(1, 100) n))::json
            AS spec, now() - (i * 7919 % 10000) * interval '1 minute' AS at
        FROM generate_series(1, ${STORED}) i),
    made AS (INSERT INTO inventories (slug, revision, name, spec, spec_hash, created_at, updated_at,
            accelerators) SELECT slug, 1, name, spec, 'h', at, at,
            ARRAY['part-' || i % 40] FROM specs RETURNING slug)
    INSERT INTO inventory_revisions SELECT slug, 1, name, spec, 'h', at FROM specs;
    ANALYZE inventories`);

async function measureList(server, database) {
    await fill(database);
    for (const query of ['', '&sort=-slug', '&sort=updated_at', '&sort=-updated_at', '&sort=name', '&sort=observed_at',
        '&gpu=part-7', '&label=site:s7', '&name=99', '&name=cluster%209', '&name=zq',
        '&name=nowhere', '&sort=-updated_at&name=nowhere', '&gpu=nowhere',
        '&label=site', '&label=nowhere', '&problems=true', '&updated_since=2126-01-01T00:00:00Z', '&deleted=true',
        '&sort=name&gpu=part-7&label=site:s7']) {
        let pages = 0;
        const times = await serverTimes(server, async () => {
            // Lists of few pages again and again: one answer says little.
            for (let sent = 0; sent < 60; sent += pages) {
                let path = `${base}?limit=100${query}`;
                for (pages = 0; path !== undefined; pages++) {
                    const { headers: { link } } = await must(server.url, 'GET', path);
                    path = link?.match(/^<([^>]*)>/)[1];
                }
            }
        });
        console.log(`  ${(query || '(none)').padEnd(38)} ${String(pages).padStart(3)} pages, ${
            quantiles(times)}`);
    }
}

const database = await startPostgres({ fsync: true });
const server = await startServer({ database });
try {
    await measureOne(server, 1, known);
    await measureOne(server, 125, known);
    await measureOne(server, 125, unknown);
    console.log(`list of ${STORED} inventories, pages of 100`);
    await measureList(server, database);
} finally {
    await server.stop();
    await database.stop();
}
