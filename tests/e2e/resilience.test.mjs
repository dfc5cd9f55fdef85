/** What happens when something breaks: the database, a client, the time to stop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startHub } from '../hub/standin.mjs';
import { estimate, inventory, llama } from './lib/fixtures.mjs';
import { connectTo, openSocket, send } from './lib/http.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { assertProblem } from './lib/problems.mjs';
import { eventually } from './lib/processes.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const base = '/api/v1/inventories';
const files = { 'config.json': llama };

async function assertPlans(client) {
    const response = await client.post('/api/v1/estimates', estimate());
    assert.equal(response.status, 200, response.text);
}

/** Storage says that it is not there and when to try again, and planning goes on. */
async function assertStorageAway(client, code) {
    for (const response of [
        await client.get(base),
        await client.get(`${base}/kept`),
        await client.put(`${base}/kept`, inventory()),
    ]) {
        assertProblem(response, 503, { code });
        assert.match(response.headers['retry-after'], /^\d+$/);
    }
    await assertPlans(client);
}

test('without a database, storage names the setting and planning works', async (t) => {
    const server = await startServer();
    t.after(() => stopClean(server));
    const client = await connectTo(server);
    await assertStorageAway(client, 'database_not_configured');
    assert.match((await client.get(base)).text, /SHARDLINE_DATABASE_URL/);
});

test('a database that is not there yet is used as soon as it is', async (t) => {
    const database = await startPostgres();
    t.after(() => database.stop());
    await database.shutDown();
    const server = await startServer({ database });
    t.after(() => stopClean(server));
    const client = await connectTo(server);
    assert.equal((await client.get('/healthz')).status, 200);
    assert.equal((await client.get('/readyz')).status, 503);
    await assertStorageAway(client, 'database_unavailable');
    await database.start();
    await eventually(async () => (await client.get('/readyz')).status === 200, 'ready');
    assert.equal((await client.put(`${base}/kept`, inventory())).status, 201);
});

test('a database that is killed comes back without anyone restarting the server', async (t) => {
    const database = await startPostgres();
    t.after(() => database.stop());
    const server = await startServer({ database });
    t.after(() => stopClean(server));
    const client = await connectTo(server);
    await eventually(async () => (await client.get('/readyz')).status === 200, 'ready');
    assert.equal((await client.put(`${base}/kept`, inventory())).status, 201);
    for (let round = 0; round < 2; round++) {
        await database.kill();
        await assertStorageAway(client, 'database_unavailable');
        assert.equal((await client.get('/readyz')).status, 503);
        await database.start();
        await eventually(async () => (await client.get(`${base}/kept`)).status === 200, 'recovery');
        /* Whichever thread answers: one that got through brings all the others back. */
        for (let i = 0; i < 12; i++)
            assert.equal((await client.get('/readyz')).status, 200);
    }
});

test('two servers that start at once on an empty database migrate it once', async (t) => {
    const database = await startPostgres();
    t.after(() => database.stop());
    const servers = await Promise.all([0, 1, 2].map(() => startServer({ database })));
    t.after(() => Promise.all(servers.map(stopClean)));
    const clients = await Promise.all(servers.map(connectTo));
    for (const client of clients)
        await eventually(async () => (await client.get('/readyz')).status === 200, 'ready');
    assert.equal((await clients[0].put(`${base}/one`, inventory())).status, 201);
    assert.equal((await clients[1].get(`${base}/one`)).status, 200);
});

async function heldRequest(t) {
    const hub = await startHub({ repositories: { 'org/held': { files, fault: 'held' } } });
    t.after(() => hub.close());
    const server = await startServer({ hub });
    t.after(() => server.stop());
    const pending = send(server.url, 'GET', '/api/v1/models/org/held')
        .catch((error) => ({ status: 0, text: String(error) }));
    await hub.seen('/org/held/');
    return { hub, server, pending };
}

test('SIGTERM lets a running request finish, takes no new one, and exits 0', async (t) => {
    const { hub, server, pending } = await heldRequest(t);
    server.signal('SIGTERM');
    /* One that comes just then may be left unanswered, so none is waited for. */
    const turnedAway = new Set();
    const come = () => send(server.url, 'GET', '/healthz', { headers: { Connection: 'close' } })
        .then(({ status }) => status, ({ code }) => code)
        .then((how) => { if (how !== 200) turnedAway.add(how); });
    await eventually(() => {
        void come();
        return turnedAway.size > 0;
    }, 'it no longer serves');
    for (const how of turnedAway)
        assert.ok([503, 'ECONNREFUSED', 'ECONNRESET'].includes(how), String(how));
    hub.release();
    const response = await pending;
    assert.equal(response.status, 200, response.text);
    assert.equal(await server.ended(), 0, server.log());
});

test('SIGTERM does not wait for ever for a request that never ends', async (t) => {
    const { server, pending } = await heldRequest(t);
    server.signal('SIGTERM');
    assert.equal(await server.ended(), 0, server.log());
    const response = await pending;
    assert.notEqual(response.status, 200);
});

test('SIGTERM with idle and half-sent connections exits 0', async () => {
    const server = await startServer();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(server.url)));
    sockets.slice(0, 10).forEach((socket) => socket.write('GET /healthz HTT'));
    assert.equal(await server.stop(), 0, server.log());
    sockets.forEach((socket) => socket.destroy());
});

test('SIGINT and a second SIGTERM end it as cleanly', async () => {
    const interrupted = await startServer();
    interrupted.signal('SIGINT');
    assert.equal(await interrupted.stop(), 0, interrupted.log());
    const twice = await startServer();
    twice.signal('SIGTERM');
    twice.signal('SIGTERM');
    assert.equal(await twice.stop(), 0, twice.log());
});

test('with every client misbehaving', async (t) => {
    const server = await startServer();
    t.after(() => stopClean(server));
    const client = await connectTo(server);
    const { host } = new URL(server.url);
    const head = (rest) => `POST /api/v1/estimates HTTP/1.1\r\nHost: ${host}\r\n`
        + `Content-Type: application/json\r\n${rest}`;

    /** Many connections that each sent this and no more; the rest is served as ever. */
    async function withMany(count, text) {
        const sockets = await Promise.all(Array.from({ length: count }, () =>
            openSocket(server.url)));
        sockets.forEach((socket) => socket.write(text));
        try {
            await assertPlans(client);
            assert.equal((await client.get('/healthz')).status, 200);
        } finally {
            sockets.forEach((socket) => socket.destroy());
        }
    }

    await t.test('heads that never end hold up nobody', () => withMany(300, 'GET /healthz HTTP/1'));
    await t.test('bodies that never come hold up nobody', () =>
        withMany(300, head('Content-Length: 1000\r\n\r\n{')));
    await t.test('chunks that never end hold up nobody', () =>
        withMany(300, head('Transfer-Encoding: chunked\r\n\r\n5\r\n{"mod')));
    /* libmicrohttpd of Debian 12 takes 128 events at a time, and its own threads waited after exactly so many. */
    for (const count of [127, 128, 256]) {
        await t.test(`${count} requests that come at once are all answered`, async () => {
            const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(server.url)));
            let answers = 0;
            sockets.forEach((socket) => socket.on('data', () => { answers += 1; }));
            const all = async (what) => {
                sockets.forEach((socket) => socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
                await what();
                await eventually(() => answers === count, `${count} answers`);
                answers = 0;
            };
            /* Once, so that all are open and known; then while the server stands still. */
            await all(() => {});
            server.signal('SIGSTOP');
            const stopped = performance.now();
            await all(async () => {
                await setTimeout(200);
                server.signal('SIGCONT');
            });
            assert.ok(performance.now() - stopped < 15_000, 'before the connections time out');
            sockets.forEach((socket) => socket.destroy());
        });
    }
    await t.test('clients that leave in the middle leave nothing behind', async () => {
        const body = JSON.stringify(estimate());
        for (let i = 0; i < 100; i++) {
            const socket = await openSocket(server.url);
            socket.write(head(`Content-Length: ${body.length}\r\n\r\n`)
                + body.slice(0, i % 2 === 0 ? undefined : body.length / 2));
            socket.destroy();
        }
        await assertPlans(client);
    });
    await t.test('noise is answered or dropped, and the next is served', async () => {
        const sockets = [];
        for (const noise of ['\0\0\0\0\r\n\r\n', 'GET\r\n\r\n', '\x16\x03\x01\x02\x00\x01', '\r\n',
            'GET / HTTP/9.9\r\n\r\n', `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n\r\n`]) {
            const socket = await openSocket(server.url);
            socket.end(noise);
            sockets.push(socket);
        }
        await assertPlans(client);
        sockets.forEach((socket) => socket.destroy());
    });
    await t.test('more requests than workers are all answered', async () => {
        const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => {
            const workload = { global_batch_size: 32 * (1 + i) };
            return i % 3 === 0
                ? client.get('/healthz')
                : client.post('/api/v1/estimates', estimate({ workload }));
        }));
        for (const { status, text, json } of answers)
            assert.ok(status === 200 || json.errors[0].code === 'busy', text);
        assert.ok(answers.some(({ status }) => status === 200));
    });
});
