/** A database that stands still: connections stay open and nothing answers, until it goes on where it stood. */
import assert from 'node:assert/strict';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { accelerator, estimate, inventory } from './lib/fixtures.mjs';
import { connectTo, send } from './lib/http.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { assertProblem } from './lib/problems.mjs';
import { eventually } from './lib/processes.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const base = '/api/v1/inventories';
/** Of a request that needs the database; a stop ends within it as well. */
const PATIENCE_S = 11;

const secondsSince = (start) => (performance.now() - start) / 1000;
const named = (name) => ({ ...inventory(), name });

/** A request whose answer may be awaited later. */
const asked = (server, method, path, body) => send(server.url, method, path, {
    headers: { 'Content-Type': 'application/json' }, ...body !== undefined && { body: JSON.stringify(body) },
}).then((response) => response, (error) => ({ status: 0, text: String(error) }));

async function serverWith(t, database, url = database) {
    const server = await startServer({ database: url });
    const client = await connectTo(server);
    await eventually(async () => (await client.get('/readyz')).status === 200, 'ready');
    return { server, client };
}

async function ownDatabase(t) {
    const database = await startPostgres();
    t.after(() => database.stop());
    return database;
}

/**
 * What stands between server and database: from the moment that it sees `word` it holds that connection back, or
 * only what comes `behind` it.
 */
async function holdingProxy(t, database, word, { behind = false } = {}) {
    const held = [];
    let armed = false;
    const sockets = new Set();
    const relay = createServer((client) => {
        const upstream = createConnection(join(database.folder, '.s.PGSQL.5432'));
        let holds = false;
        sockets.add(client).add(upstream);
        client.on('data', (bytes) => {
            const heldBefore = holds;
            holds = holds || (armed && bytes.includes(word));
            if (behind ? heldBefore : holds)
                held.push(() => upstream.write(bytes));
            else
                upstream.write(bytes);
        });
        upstream.on('data', (bytes) => client.writable && client.write(bytes));
        client.on('close', () => holds || upstream.destroy()); // as a proxy that did not notice
        upstream.on('close', () => client.destroy());
        client.on('error', () => {});
        upstream.on('error', () => {});
    });
    await new Promise((done) => relay.listen(join(database.folder, '.s.PGSQL.5433'), done));
    t.after(() => {
        sockets.forEach((socket) => socket.destroy());
        relay.close();
    });
    return {
        url: database.url.replace('port=5432', 'port=5433'),
        held,
        arm: () => { armed = true; },
        release() {
            armed = false;
            held.splice(0).forEach((write) => write());
        },
    };
}

/** Each has a database and a server of its own and waits for most of its time: all at once. */
describe('while the database stands still', { concurrency: 6 }, () => {
    test('with a database that stands still', async (t) => {
        const database = await ownDatabase(t);
        const { server, client } = await serverWith(t, database);
        t.after(() => stopClean(server));
        assert.equal((await client.put(`${base}/kept`, named('first'))).status, 201);
        /** Every thread of the store has a connection that is open. */
        const connectAll = () => Promise.all(Array.from({ length: 40 }, () => client.get(`${base}/kept`)));
        await connectAll();

        await t.test('writes that could not begin end by name within their time, and nothing comes of them', async () => {
            await database.freeze();
            const start = performance.now();
            const answers = await Promise.all(['second', 'third', 'fourth'].map((name) =>
                asked(server, 'PUT', `${base}/kept`, named(name))));
            const created = await asked(server, 'PUT', `${base}/new`, named('new'));
            assert.ok(secondsSince(start) < 2 * PATIENCE_S, `${secondsSince(start)} s`);
            for (const answer of answers) {
                assertProblem(answer, 504, { code: 'database_timeout' });
                assert.match(answer.text, /nothing was changed/);
            }
            assert.ok([503, 504].includes(created.status), created.text);
            database.thaw();
            await eventually(async () => (await client.get('/readyz')).status === 200, 'ready again');
            await new Promise((next) => setTimeout(next, 1000));
            assert.equal((await client.get(`${base}/kept`)).json.spec.name, 'first');
            assert.equal((await client.get(`${base}/new`)).status, 404);
            assert.equal(await database.query("SELECT count(*) FROM inventory_audit WHERE slug = 'kept'"), '1');
        });

        await t.test('it is not ready, and says so soon; what needs no database is answered', async () => {
            await connectAll();
            await database.freeze();
            const start = performance.now();
            const ready = await client.get('/readyz');
            assert.equal(ready.status, 503);
            assert.ok(secondsSince(start) < 4, `${secondsSince(start)} s`);
            assert.equal((await client.get('/healthz')).status, 200);
            assert.equal((await client.post('/api/v1/estimates', estimate())).status, 200);
            database.thaw();
            await eventually(async () => (await client.get('/readyz')).status === 200, 'ready again');
        });

        await t.test('readiness waits behind no request, and answers in time while it connects anew', async () => {
            await connectAll();
            await database.freeze();
            const load = Promise.all(Array.from({ length: 8 }, () => asked(server, 'GET', `${base}/kept`)));
            await new Promise((next) => setTimeout(next, 300));
            // Behind these: what reads, what would change nothing.
            const behind = Promise.all([['POST', '/diff'], ['PUT', '?dry_run=true']].map(([method, rest]) =>
                asked(server, method, `${base}/kept${rest}`, named('behind'))));
            for (let round = 0; round < 6; round++) {
                const start = performance.now();
                const answers = await Promise.all(Array.from({ length: 4 }, () => asked(server, 'GET', '/readyz')));
                assert.ok(secondsSince(start) < 3, `round ${round}: ${secondsSince(start)} s`);
                for (const { status, text } of answers)
                    assert.equal(status, 503, text);
                await new Promise((next) => setTimeout(next, 500));
            }
            await load;
            for (const { status, text } of await behind) {
                assert.ok([200, 503, 504].includes(status), text);
                assert.doesNotMatch(text, /may have been made/);
            }
            database.thaw();
            await eventually(async () => (await client.get('/readyz')).status === 200, 'ready again');
            assert.equal((await client.get(`${base}/kept`)).json.spec.name, 'first');
        });

        await t.test('what is written afterwards stands, whatever was given up before', async () => {
            await connectAll();
            await database.freeze();
            const given = asked(server, 'PUT', `${base}/kept`, named('given up'));
            assert.equal((await given).status, 504);
            database.thaw();
            await eventually(async () => (await client.put(`${base}/kept`, named('last'))).status === 200, 'written');
            await new Promise((next) => setTimeout(next, 1000));
            assert.equal((await client.get(`${base}/kept`)).json.spec.name, 'last');
        });

        await t.test('a search that needs it fails by name, one that does not is answered', async () => {
            const search = (cluster) => ({ model: estimate().model, workload: estimate().workload, cluster });
            await database.freeze();
            const start = performance.now();
            const [stored, plain] = await Promise.all([
                asked(server, 'POST', '/api/v1/searches', search({ inventory: 'kept' })),
                asked(server, 'POST', '/api/v1/searches', search(estimate().cluster)),
            ]);
            assert.ok(secondsSince(start) < 2 * PATIENCE_S, `${secondsSince(start)} s`);
            assert.ok([503, 504].includes(stored.status), stored.text);
            assert.match(stored.json.errors[0].code, /^database_/);
            assert.equal(plain.status, 200, plain.text);
            database.thaw();
            await eventually(async () => (await client.get('/readyz')).status === 200, 'ready again');
        });
    });

    test('SIGTERM ends a server whose database stands still, and the log says what was given up', async (t) => {
        const database = await ownDatabase(t);
        const { server, client } = await serverWith(t, database);
        t.after(() => server.stop());
        assert.equal((await client.put(`${base}/kept`, named('first'))).status, 201);
        await database.freeze();
        const waiting = Promise.all(Array.from({ length: 6 }, (_, i) =>
            asked(server, 'PUT', `${base}/kept`, named(`late ${i}`))));
        await new Promise((next) => setTimeout(next, 200));
        const start = performance.now();
        server.signal('SIGTERM');
        assert.equal(await server.ended(), 0, server.log());
        assert.ok(secondsSince(start) < PATIENCE_S, `${secondsSince(start)} s`);
        await waiting;
        assert.match(server.log(), /"msg":"the database does not answer: given up"/);
        database.thaw();
        await new Promise((next) => setTimeout(next, 1000));
        assert.equal(await database.query("SELECT name FROM inventories WHERE slug = 'kept'"), 'first');
    });

    test('SIGTERM ends a server that came up beside a database that stands still', async (t) => {
        const database = await ownDatabase(t);
        await database.freeze();
        const server = await startServer({ database });
        t.after(() => server.stop());
        await new Promise((next) => setTimeout(next, 500));
        const start = performance.now();
        server.signal('SIGTERM');
        assert.equal(await server.ended(), 0, server.log());
        assert.ok(secondsSince(start) < PATIENCE_S, `${secondsSince(start)} s`);
    });

    test('SIGTERM ends a server that waits where nothing interrupts it, and says that it gave up', async (t) => {
        const database = await ownDatabase(t);
        await database.freeze();
        const server = await startServer({ database: `${database.url} connect_timeout=0` });
        t.after(() => server.stop());
        await new Promise((next) => setTimeout(next, 500));
        const start = performance.now();
        server.signal('SIGTERM');
        assert.equal(await server.ended(), 1, server.log());
        assert.ok(secondsSince(start) < 17, `${secondsSince(start)} s`);
        assert.match(server.log(), /threads that do not come to an end are given up/);
    });

    test('a commit that is held up is not made after its request was answered', async (t) => {
        const database = await ownDatabase(t);
        const proxy = await holdingProxy(t, database, '; COMMIT');
        const { server, client } = await serverWith(t, database, proxy.url);
        t.after(() => stopClean(server));
        assert.equal((await client.put(`${base}/kept`, named('first'))).status, 201);
        proxy.arm();
        const start = performance.now();
        const answer = await asked(server, 'PUT', `${base}/kept`, named('held'));
        assert.ok(secondsSince(start) < PATIENCE_S, `${secondsSince(start)} s`);
        assertProblem(answer, 504, { code: 'outcome_unknown' });
        assert.match(answer.text, /read it back/);
        assert.ok(proxy.held.length > 0);
        proxy.release();
        await new Promise((next) => setTimeout(next, 1000));
        assert.equal(await database.query("SELECT name FROM inventories WHERE slug = 'kept'"), 'first');
        await eventually(async () => (await client.put(`${base}/kept`, named('after'))).status === 200, 'written');
    });

    test('a write that was made is never answered as one that was not', async (t) => {
        const database = await ownDatabase(t);
        const proxy = await holdingProxy(t, database, '; COMMIT', { behind: true });
        const { server, client } = await serverWith(t, database, proxy.url);
        t.after(() => stopClean(server));
        for (const [path, body, table, key] of [
            [`${base}/kept`, named('first'), 'inventories', 'slug'],
            ['/api/v1/plans/kept', { name: 'kept', request: estimate() }, 'plans', 'slug'],
            ['/api/v1/node-types/own-node', { accelerator, accelerators_per_node: 8 }, 'private_hardware', 'id'],
        ]) {
            proxy.arm();
            const answer = await asked(server, 'PUT', path, body);
            proxy.release();
            assertProblem(answer, 504, { code: 'made_not_shown' });
            assert.match(answer.text, /it is stored: read it back/);
            assert.doesNotMatch(answer.text, /nothing was changed/);
            const id = path.split('/').at(-1);
            assert.equal(await database.query(`SELECT count(*) FROM ${table} WHERE ${key} = '${id}'`), '1');
            await eventually(async () => (await client.get(path)).status === 200, `${path} is there`);
        }
        proxy.arm();
        const removed = await asked(server, 'DELETE', '/api/v1/node-types/own-node');
        proxy.release();
        assertProblem(removed, 504, { code: 'made_not_shown' });
        assert.match(removed.text, /it is removed: read it back/);
    });
});
