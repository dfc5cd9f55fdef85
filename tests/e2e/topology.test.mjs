/**
 * What docker/compose.yml starts, as processes on loopback: PostgreSQL, two servers, and the proxy
 * with the repository's own Caddyfile before them.
 */
import assert from 'node:assert/strict';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { startCaddy } from './lib/caddy.mjs';
import { estimate, inventory } from './lib/fixtures.mjs';
import { send } from './lib/http.mjs';
import { startNames } from './lib/names.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { assertProblem } from './lib/problems.mjs';
import { cleanEnvironment, eventually, run } from './lib/processes.mjs';
import { root, startServer, stopClean } from './lib/server.mjs';
import { kubectlNode } from './lib/tools.mjs';

const base = '/api/v1/inventories';
const json = { 'Content-Type': 'application/json' };
const env = { SHARDLINE_ALLOWED_HOSTS: 'planner.test', SHARDLINE_TRUSTED_PROXIES: '127.0.0.1' };

let folder;
let database;
let servers;
let proxy;
const killed = new Set();

before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sltopo-'));
    database = await startPostgres();
    servers = [await startServer({ database, env }), await startServer({ database, env })];
    proxy = await startCaddy(servers.map(({ url }) => new URL(url).host));
});
after(async () => {
    await proxy?.stop();
    for (const server of servers ?? [])
        await (killed.has(server) ? server.stop() : stopClean(server));
    await database?.stop();
    await rm(folder, { recursive: true, force: true });
});

const put = (url, slug, spec, headers = {}) => send(url, 'PUT', `${base}/${slug}`,
    { headers: { ...json, ...headers }, body: JSON.stringify(spec) });

/**
 * How many requests for /version a server has answered; asked over a connection of its own, as a
 * server that hung may close a kept one under the question.
 */
async function versionsAnswered({ url }) {
    const { text } = await send(url, 'GET', '/metrics', { agent: false });
    const sample = /^shardline_http_requests_total\{[^}]*"\/version"[^}]*\} (\d+)$/gm;
    return [...text.matchAll(sample)].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Asks for /version in several loops at once until told; the status of every answer. */
function askSteadily(url, loops = 4) {
    const statuses = [];
    let asking = true;
    const loop = async () => {
        while (asking)
            statuses.push((await send(url, 'GET', '/version')).status);
    };
    const done = Promise.all(Array.from({ length: loops }, loop));
    return {
        statuses,
        stop: () => {
            asking = false;
            return done;
        },
    };
}

test('behind the proxy the page of its name writes, and no other does', async () => {
    const from = (Origin, site) => put(proxy.url, 'paged', inventory(),
        { Host: 'planner.test', Origin, 'Sec-Fetch-Site': site });
    // What a browser sends where the proxy ends TLS: another scheme and port than the server's.
    assert.equal((await from('https://planner.test', 'same-origin')).status, 201);
    assert.equal((await from('https://evil.example', 'cross-site')).status, 403);
    assert.equal((await from('https://evil.test', 'same-site')).status, 403);
});

test('requests through the proxy reach both servers', async () => {
    for (let i = 0; i < 40; i++)
        assert.equal((await send(proxy.url, 'GET', '/version')).status, 200);
    const answered = await Promise.all(servers.map(versionsAnswered));
    assert.equal(answered[0] + answered[1], 40);
    assert.ok(answered[0] > 0 && answered[1] > 0, answered.join(' and '));
});

test('what is stored through the proxy is read from either server', async () => {
    const created = await put(proxy.url, 'shared', inventory());
    assert.equal(created.status, 201, created.text);
    for (const { url } of servers)
        assert.equal((await send(url, 'GET', `${base}/shared`)).headers.etag, created.headers.etag);
});

test('an answer is packed on its way, and If-Match takes the ETag of a packed one', async () => {
    const spec = inventory({ annotations: { filler: 'long enough to be packed '.repeat(40) } });
    const created = await put(proxy.url, 'packed', spec);
    const path = `${base}/packed`;
    const packed = await send(proxy.url, 'GET', path, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.deepEqual(JSON.parse(gunzipSync(packed.bytes)).spec, spec);
    // Debian's version leaves the ETag as it is, current ones write this.
    const marked = created.headers.etag.replace(/"$/, '-gzip"');
    for (const etag of [packed.headers.etag, marked]) {
        const again = await put(proxy.url, 'packed', spec, { 'If-Match': etag });
        assert.equal(again.status, 200, again.text);
    }
    assertProblem(await put(proxy.url, 'packed', spec, { 'If-Match': '"another-gzip"' }), 412);
});

test('the answers that are packed are the large ones of every kind', async () => {
    const headers = { 'Accept-Encoding': 'gzip' };
    for (const path of ['/openapi.json', '/schemas/InventorySpec', '/metrics']) {
        const { headers: answered, bytes } = await send(proxy.url, 'GET', path, { headers });
        assert.equal(answered['content-encoding'], 'gzip', path);
        assert.ok(gunzipSync(bytes).length > 2 * bytes.length, path);
    }
});

test('the names that the servers allow are those under which the proxy is reached', async () => {
    const under = (host) => send(proxy.url, 'GET', '/version', { headers: { Host: host } });
    assert.equal((await under('planner.test')).status, 200);
    assert.equal((await under('elsewhere.test')).status, 421);
});

/** A PUT from another loopback address than the proxy's, as if from another machine. */
async function putFrom(address, url, slug, headers) {
    const { hostname, port } = new URL(url);
    const request = http.request({ hostname, port, localAddress: address, method: 'PUT',
        path: `${base}/${slug}`, headers: { ...json, ...headers }, agent: false });
    request.end(JSON.stringify(inventory()));
    const [response] = await new Promise((done, fail) => {
        request.once('response', (...args) => done(args)).once('error', fail);
    });
    response.resume();
    return response.statusCode;
}

test('the audit has the address that the proxy saw, whatever a client claims', async () => {
    const claim = { 'X-Forwarded-For': '203.0.113.9' };
    assert.equal(await putFrom('127.0.0.7', proxy.url, 'through', claim), 201);
    assert.equal(await putFrom('127.0.0.8', servers[0].url, 'past', claim), 201);
    for (const [slug, address] of [['through', '127.0.0.7'], ['past', '127.0.0.8']]) {
        const { json: audit } = await send(proxy.url, 'GET', `${base}/${slug}/audit`);
        assert.equal(audit.items[0].remote_address, address, slug);
    }
});

/** What `kubectl get nodes -o json` might print of many nodes: a list of that size, to the byte. */
async function largeFile(bytes) {
    const path = join(folder, `upload-${bytes}`);
    const file = await open(path, 'w');
    // Most of it is an annotation, so that a sanitized server reads few nodes of many bytes.
    const annotations = { note: 'x'.repeat(100_000) };
    const tail = ']}';
    let text = '{"apiVersion": "v1", "kind": "List", "items": [';
    let left = bytes - tail.length;
    for (let i = 0; text.length <= left; i++) {
        await file.write(text);
        left -= text.length;
        text = `${i > 0 ? ',' : ''}${JSON.stringify(kubectlNode(`gpu${i}`, annotations))}`;
    }
    await file.write(' '.repeat(left) + tail);
    await file.close();
    return path;
}

/** As scripts upload; curl also reads an answer that comes before it has sent everything. */
async function upload(path) {
    const out = join(folder, 'answer');
    const { code, stdout, stderr } = await run('curl', ['-sS', '-o', out, '-w', '%{http_code}',
        '-H', 'Content-Type: application/json', '--data-binary', `@${path}`,
        `${proxy.url}${base}:parse`], { env: cleanEnvironment() });
    return { code, stderr, status: stdout, text: await readFile(out, 'utf8') };
}

test('an upload of 64 MiB passes the proxy', async () => {
    const { code, status, text, stderr } = await upload(await largeFile(64 * 2 ** 20));
    assert.deepEqual([code, status], [0, '200'], `${stderr}${text.slice(0, 1000)}`);
    assert.equal(JSON.parse(text).format, 'kubernetes_nodes');
});

test('an upload that no route takes is refused by the server, not cut by the proxy', async () => {
    const { status, text } = await upload(await largeFile(129 * 2 ** 20));
    assert.equal(status, '413', text);
    assert.equal(JSON.parse(text).status, 413);
});

test('a server that hangs is left out until it answers again', async () => {
    const [, hanging] = servers;
    hanging.signal('SIGSTOP');
    try {
        // What is asked before the proxy has found out may wait.
        const { host } = new URL(hanging.url);
        await eventually(() => proxy.log().split('\n').some((line) =>
            line.includes('HTTP request failed') && line.includes(host)), 'the proxy finds out');
        for (let i = 0; i < 20; i++)
            assert.equal((await send(proxy.url, 'GET', '/version')).status, 200);
    } finally {
        hanging.signal('SIGCONT');
    }
    const before = await versionsAnswered(hanging);
    await eventually(async () => {
        await send(proxy.url, 'GET', '/version');
        return await versionsAnswered(hanging) > before;
    }, 'it is asked again');
});

test('a server that is killed is no error for any client', async () => {
    const [victim, other] = servers;
    const asking = askSteadily(proxy.url);
    await eventually(() => asking.statuses.length > 20, 'requests run');
    victim.signal('SIGKILL');
    killed.add(victim);
    const asked = asking.statuses.length;
    await eventually(() => asking.statuses.length > asked + 100, 'requests go on');
    await asking.stop();
    assert.deepEqual([...new Set(asking.statuses)], [200]);
    const posted = await send(proxy.url, 'POST', '/api/v1/estimates',
        { headers: json, body: JSON.stringify(estimate()) });
    assert.equal(posted.status, 200, posted.text);
    assert.equal((await put(proxy.url, 'afterwards', inventory())).status, 201);
    assert.equal((await send(other.url, 'GET', `${base}/afterwards`)).status, 200);
});

/** Long enough that the proxy would pack an answer that begins with it. */
const firstPiece = `data: ${'first '.repeat(200)}\n\n`;

/** In a server's place: notes what it is asked, and answers in two pieces, the second on demand. */
async function startSlowStandIn(t) {
    const seen = [];
    const waiting = [];
    const standIn = http.createServer((request, response) => {
        seen.push({ path: request.url, headers: request.headers });
        if (request.url === '/healthz')
            return response.end();
        response.writeHead(200, { 'Content-Type': request.headers['x-type'] });
        response.write(firstPiece);
        waiting.push(() => response.end('data: second\n\n'));
        return undefined;
    });
    await new Promise((done) => standIn.listen(0, '127.0.0.1', done));
    t.after(() => {
        standIn.closeAllConnections?.();
        standIn.close();
    });
    return { address: `127.0.0.1:${standIn.address().port}`, seen, goOn: () => waiting.shift()() };
}

/** The text of an answer as it comes, unpacked; `goOn` is called when the first piece is there. */
async function readInPieces(url, headers, goOn) {
    const { hostname, port } = new URL(url);
    const request = http.get({ hostname, port, path: '/stream', agent: false, headers });
    const response = await new Promise((done, fail) => {
        request.once('response', done).once('error', fail);
    });
    const packed = response.headers['content-encoding'] === 'gzip';
    const body = packed ? response.pipe(createGunzip({ flush: constants.Z_SYNC_FLUSH })) : response;
    const pieces = [];
    const ended = new Promise((done) => body.once('end', done));
    body.on('data', (chunk) => pieces.push(String(chunk)));
    await eventually(() => pieces.length > 0, 'the first piece comes alone');
    goOn();
    await ended;
    return pieces;
}

test('a stream is passed on as it comes, and the proxy names nobody but whom it saw', async (t) => {
    const standIn = await startSlowStandIn(t);
    const before = await startCaddy([standIn.address]);
    t.after(() => before.stop());
    for (const type of ['text/event-stream', 'application/x-ndjson']) {
        for (const encoding of ['identity', 'gzip', 'gzip, zstd;q=0.5']) {
            const pieces = await readInPieces(before.url, { 'X-Type': type,
                'Accept-Encoding': encoding, 'X-Forwarded-For': '203.0.113.9' }, standIn.goOn);
            assert.deepEqual(pieces, [firstPiece, 'data: second\n\n'], `${type} ${encoding}`);
        }
    }
    const asked = standIn.seen.find(({ path }) => path === '/stream');
    assert.equal(asked.headers['x-forwarded-for'], '127.0.0.1');
    await eventually(() => standIn.seen.some(({ path, headers }) =>
        path === '/healthz' && headers.host === 'localhost'), 'asked whether it lives');
});

/** The proxy's lookup of replicas as its file has it, but for the port and the name server. */
async function lookup(port, resolver) {
    const text = await readFile(join(root, 'docker/Caddyfile'), 'utf8');
    const start = text.indexOf('dynamic a {');
    const block = text.slice(start, text.indexOf('}', start) + 1);
    assert.match(block, /port 8080\n/);
    return block.replace('port 8080\n', `port ${port}\nresolvers udp/${resolver}\n`);
}

test('replicas that come and go under one name are found, and nobody notices', async (t) => {
    const start = async (listen) => {
        const server = await startServer({ env: {
            SHARDLINE_LISTEN: listen,
            SHARDLINE_ALLOWED_HOSTS: listen.split(':')[0],
        } });
        t.after(() => server.stop());
        return server;
    };
    const first = await start('127.0.0.2:0');
    const { port } = new URL(first.url);
    const second = await start(`127.0.0.3:${port}`);
    const names = await startNames(['127.0.0.2', '127.0.0.3']);
    t.after(() => names.stop());
    const before = await startCaddy(await lookup(port, names.address));
    t.after(() => before.stop());

    const asking = askSteadily(before.url);
    const reached = (server) => eventually(
        async () => await versionsAnswered(server) > 0, `${server.url} is reached`);
    await reached(first);
    await reached(second);
    first.signal('SIGKILL');
    const third = await start(`127.0.0.4:${port}`);
    names.list = ['127.0.0.3', '127.0.0.4'];
    await reached(third);
    second.signal('SIGTERM');
    await second.ended();
    const asked = asking.statuses.length;
    await eventually(() => asking.statuses.length > asked + 20, 'requests go on');
    await asking.stop();
    assert.deepEqual([...new Set(asking.statuses)], [200]);
});
