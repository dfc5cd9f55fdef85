/** Searches that run: streams, their ends, what is kept of them, and who else gets a core meanwhile. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCaddy } from './lib/caddy.mjs';
import { endlessSearch, estimate, inventory, search as anySearch } from './lib/fixtures.mjs';
import { connectTo, openSocket } from './lib/http.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { assertProblem } from './lib/problems.mjs';
import { eventually } from './lib/processes.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const path = '/api/v1/searches';
const lines = 'application/x-ndjson';
const sse = 'text/event-stream';

let postgres;
let server;
let client;

before(async () => {
    postgres = await startPostgres();
    server = await startServer({ database: postgres });
    client = await connectTo(server);
});
after(async () => {
    await stopClean(server);
    await postgres.stop();
});

/** A search that takes a moment; `changes` are members of the request. */
const search = (changes = {}) => anySearch({ objective: 'throughput', limit: 3, simulate: false,
    space: { tensor: [4, 8], pipeline: [1, 2, 4], micro_batch_size: [1, 2] }, ...changes });

const endless = (changes = {}) => endlessSearch({ objective: 'throughput', limit: 3, ...changes });

/** The events in a text, of either form. */
function eventsOf(text, accept) {
    if (accept === lines)
        return text.split('\n').slice(0, -1).map((line) => JSON.parse(line));
    return text.split('\n\n').slice(0, -1).filter((block) => block.startsWith('event: '))
        .map((block) => {
            const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block);
            return { event, data: JSON.parse(data) };
        });
}

/**
 * Opens a stream. `events` grows as they arrive, each with the time `at` in ms since the start;
 * `ended` is fulfilled when the body is whole, and rejected when it is cut.
 */
async function open(json, { accept = lines, on = server } = {}) {
    const started = performance.now();
    const body = JSON.stringify(json);
    const { hostname, port } = new URL(on.url);
    const request = http.request({ hostname, port, method: 'POST', path, agent: false, headers: {
        'Content-Type': 'application/json', Accept: accept } });
    const stream = { events: [], text: '', close: () => request.destroy() };
    stream.ended = new Promise((done, fail) => {
        request.on('error', fail);
        request.on('response', (response) => {
            stream.status = response.statusCode;
            stream.headers = response.headers;
            response.setEncoding('utf8');
            response.on('data', (chunk) => {
                stream.text += chunk;
                const found = eventsOf(stream.text, accept);
                for (const event of found.slice(stream.events.length))
                    stream.events.push({ ...event, at: performance.now() - started });
            });
            response.on('end', () => done(stream));
            response.on('aborted', () => fail(new Error('cut')));
        });
    });
    stream.ended.catch(() => {});
    request.end(body);
    return stream;
}

async function metric(name, on = server) {
    const { text } = await (await connectTo(on)).get('/metrics');
    return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1]);
}

const running = (on) => metric('shardline_searches_running', on);
const cancelled = () => metric('shardline_searches_ended_total{state="cancelled"}');

/** Waits until no search runs: some milliseconds, or seconds on a machine that is busy otherwise. */
async function idle(context) {
    const started = performance.now();
    await eventually(async () => await running() === 0, 'the crew is idle');
    const elapsed = performance.now() - started;
    context?.diagnostic(`idle after ${elapsed.toFixed(0)} ms`);
    assert.ok(elapsed < 5000, `idle after ${elapsed} ms`);
}

/** Everything of an answer that does not depend on when and from where it was given. */
const lasting = ({ elapsed_s, from_store, ...rest }) => rest;

test('the answer comes in the POST, and a stream ends with the same', async () => {
    const request = search();
    const { status, json } = await client.post(path, request);
    assert.equal(status, 200);
    assert.equal(json.state, 'done');
    assert.ok(json.best.length > 0);
    for (const accept of [lines, sse]) {
        const stream = await (await open({ ...request, annotations: { accept } }, { accept })).ended;
        assert.equal(stream.status, 200);
        assert.equal(stream.headers['content-type'], accept);
        assert.equal(stream.headers['content-length'], undefined);
        assert.equal(stream.headers['cache-control'], 'no-store');
        assert.equal(stream.headers['x-accel-buffering'], 'no');
        if (accept === sse)
            assert.match(stream.text, /^retry: \d+\n\n/);
        const [first] = stream.events;
        const { event, data } = stream.events.at(-1);
        assert.equal(first.event, 'progress');
        assert.equal(first.data.evaluated, 0);
        assert.equal(event, 'result');
        assert.equal(data.from_store, false);
        client.contract.validate('result', { $ref: '#/components/schemas/SearchResult' }, data);
        assert.deepEqual({ ...lasting(data), input_hash: '' }, { ...lasting(json), input_hash: '' });
    }
});

test('progress comes at once and then at most ten times a second', async () => {
    const stream = await open(endless());
    await eventually(() => stream.events.length >= 12, 'a dozen events');
    stream.close();
    const { events } = stream;
    assert.ok(events[0].at < 500, `the first came after ${events[0].at} ms`);
    // Events are paced where they are made; what arrives may be bunched by a busy machine.
    const span = events.at(-1).at - events[0].at;
    assert.ok(span > (events.length - 1) * 90 - 300, `${events.length} events in ${span} ms`);
    for (let i = 1; i < events.length; i++)
        assert.ok(events[i].data.units_done > events[i - 1].data.units_done);
    assert.ok(events.some(({ data }) => data.best.length > 0), 'what was found so far');
    for (const { event, data } of events) {
        assert.equal(event, 'progress');
        client.contract.validate('progress', { $ref: '#/components/schemas/SearchProgress' }, data);
    }
    await idle();
});

test('a client that closes the connection gives the search up', async (context) => {
    for (const accept of [lines, sse, 'application/json']) {
        const before = await cancelled();
        const stream = await open(endless(), { accept });
        await eventually(async () => await running() === 1, 'it runs');
        stream.close();
        await idle(context);
        /* The crew lets go of a search before the search notes how it ended. */
        await eventually(async () => await cancelled() > before, 'its end is counted');
        assert.equal(await cancelled(), before + 1);
    }
});

test('two searches at once advance alike', async () => {
    const streams = await Promise.all([open(endless()), open(endless({ limit: 4 }))]);
    /* What a stream last told may be a slice old; were one served before the other, they would only part. */
    await eventually(() => {
        const [a, b] = streams.map(({ events }) => events.at(-1)?.data.units_done ?? 0);
        return Math.min(a, b) > 1500 && a / b > 0.5 && a / b < 2;
    }, 'both get on, neither twice as far as the other');
    streams.forEach((stream) => stream.close());
    await idle();
});

test('what is found before the time is over is the answer, and is not kept', async () => {
    for (const accept of [lines, 'application/json']) {
        const stream = await open(endless({ time_limit_s: 1 }), { accept });
        await stream.ended;
        const data = accept === lines ? stream.events.at(-1).data : JSON.parse(stream.text);
        assert.equal(data.state, 'deadline');
        assert.ok(data.elapsed_s >= 1 && data.elapsed_s < 10, `after ${data.elapsed_s} s`);
        assert.ok(data.evaluated > 0);
        assertProblem(await client.get(`${path}/${data.input_hash}`), 404,
            { code: 'search_not_found' });
    }
});

test('whole results are kept, on every replica and beyond a restart', async () => {
    const request = search({ limit: 5 });
    const first = (await client.post(path, request)).json;
    assert.equal(first.from_store, false);
    const again = (await client.post(path, request)).json;
    assert.deepEqual(again, { ...first, from_store: true });
    const reordered = Object.fromEntries(Object.entries(request).reverse());
    assert.deepEqual((await client.post(path, reordered)).json, again);

    const stored = await client.get(`${path}/${first.input_hash}`);
    assert.deepEqual(stored.json, again);
    const known = await client.get(`${path}/${first.input_hash}`,
        { headers: { 'If-None-Match': stored.headers.etag } });
    assert.equal(known.status, 304);

    const stream = await (await open(request)).ended;
    assert.deepEqual(stream.events.map(({ event }) => event), ['result']);
    assert.deepEqual(stream.events[0].data, again);

    const anew = await client.post(path, request, { headers: { 'Cache-Control': 'no-cache' } });
    assert.equal(anew.json.from_store, false);
    assert.deepEqual(lasting(anew.json), lasting(first));
    const renewed = await client.get(`${path}/${first.input_hash}`);
    assert.notEqual(renewed.headers.etag, stored.headers.etag);

    const replica = await startServer({ database: postgres });
    try {
        const there = await (await connectTo(replica)).post(path, request);
        assert.equal(there.json.from_store, true);
        assert.deepEqual(lasting(there.json), lasting(first));
    } finally {
        await stopClean(replica);
    }
});

test('another state of an inventory is another question', async () => {
    const pools = [{ ...inventory().pools[0], nodes: 4, hosts: ['gpu[001-004]'] }];
    await client.put('/api/v1/inventories/searched', inventory({ pools }));
    const request = search({ cluster: { inventory: 'searched' },
        model: { config: estimate().model.config }, workload: estimate().workload });
    delete request.workload.micro_batch_size;
    const before = (await client.post(path, request)).json;
    assert.equal((await client.post(path, request)).json.from_store, true);
    const body = ['gpu001', 'gpu002', 'gpu003', 'gpu004'].map((host, i) =>
        `NodeName=${host} Arch=x86_64 CoresPerSocket=56\n   CPUAlloc=0 CPUTot=112 CPULoad=0.10\n`
        + `   Gres=gpu:h100:8(S:0-1)\n   NodeAddr=${host} NodeHostName=${host} Version=24.05.1\n`
        + `   RealMemory=2000000\n   State=${i === 3 ? 'IDLE+DRAIN' : 'IDLE'} ThreadsPerCore=1\n`)
        .join('\n');
    const put = await client.request('PUT', '/api/v1/inventories/searched/observations/slurm',
        { body, headers: { 'Content-Type': 'text/plain' } });
    assert.equal(put.status, 201);
    const after = (await client.post(path, request)).json;
    assert.equal(after.from_store, false);
    assert.notEqual(after.input_hash, before.input_hash);
});

test('the answer does not depend on the number of threads', async () => {
    const request = search({ limit: 10, simulate: true });
    const answers = [];
    for (const workers of ['1', '3']) {
        const one = await startServer({ env: { SHARDLINE_WORKERS: workers } });
        try {
            answers.push(lasting((await (await connectTo(one)).post(path, request)).json));
        } finally {
            await stopClean(one);
        }
    }
    assert.deepEqual(answers[0], answers[1]);
});

test('without a database a search is answered and none is kept', async () => {
    const alone = await startServer();
    try {
        const other = await connectTo(alone);
        const { json } = await other.post(path, search());
        assert.equal(json.from_store, false);
        assertProblem(await other.get(`${path}/${json.input_hash}`), 503,
            { code: 'database_not_configured' });
    } finally {
        await stopClean(alone);
    }
});

test('a database that goes away costs a search nothing but its place', async () => {
    const database = await startPostgres();
    const one = await startServer({ database });
    try {
        const other = await connectTo(one);
        const { json } = await other.post(path, search());
        await database.kill();
        const again = await other.post(path, search());
        assert.equal(again.json.from_store, false);
        assert.deepEqual(lasting(again.json), lasting(json));
        assertProblem(await other.get(`${path}/${json.input_hash}`), 503,
            { code: 'database_unavailable' });
        await database.start();
        await eventually(async () => (await other.post(path, search())).json.from_store,
            'what was kept is there again');
    } finally {
        await stopClean(one);
        await database.stop();
    }
});

test('faults are problems before the first byte, whatever was asked for', async () => {
    for (const accept of [lines, sse, 'application/json']) {
        const response = await client.post(path, search({ objectve: 'cost' }),
            { headers: { Accept: accept } });
        assertProblem(response, 422, { code: 'unknown_field' });
    }
    assertProblem(await client.get(`${path}/none`), 404, { code: 'search_not_found' });
});

test('a client that reads nothing costs little, and is given up when it leaves', async () => {
    const resident = () => metric('process_resident_memory_bytes');
    const body = JSON.stringify(endless());
    const socket = await openSocket(server.url);
    socket.pause();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: ${lines}\r\n`
        + `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await eventually(async () => await running() === 1, 'it runs');
    const start = await resident();
    await sleep(3000);
    const grown = await resident() - start;
    assert.ok(grown < 64 * 2 ** 20, `${grown} bytes more`);
    assert.equal((await client.post('/api/v1/estimates', estimate())).status, 200);
    socket.destroy();
    await idle();
});

test('more than may run wait, and more than may wait are refused', async () => {
    const RUNNING = 4;
    const WAITING = 16;
    const streams = await Promise.all(Array.from({ length: RUNNING + WAITING }, () =>
        open(endless())));
    await eventually(async () => await metric('shardline_searches_waiting') === WAITING,
        'all are taken');
    assert.equal(await running(), RUNNING);
    const refused = await client.post(path, endless());
    assertProblem(refused, 503, { code: 'busy' });
    assert.ok(Number(refused.headers['retry-after']) > 0);
    await eventually(() => streams.every(({ events }) => events.length > 0), 'all said so');
    // One that waits has nothing to tell, and says now and then that it is there.
    streams.pop().close();
    await eventually(async () => await metric('shardline_searches_waiting') === WAITING - 1,
        'one has left');
    streams.push(await open(endless(), { accept: sse }));
    await eventually(() => streams.at(-1).text.includes('\n\n:\n\n'), 'a comment');
    await eventually(() => streams.at(-2).events.length > 1, 'progress again');
    streams.forEach((stream) => stream.close());
    await eventually(async () => await metric('shardline_searches_waiting') === 0, 'none waits');
    await idle();
});

test('a proxy passes events as they come, and a client that leaves', async (context) => {
    const proxy = await startCaddy([new URL(server.url).host]);
    try {
        for (const accept of [lines, sse]) {
            const stream = await open(endless(), { accept, on: proxy });
            await eventually(() => stream.events.length > 3, 'events come through');
            stream.close();
            await idle(context);
        }
    } finally {
        await proxy.stop();
    }
});

test('a stop ends a search with an event that says so, in time', async () => {
    const one = await startServer();
    const stream = await open(endless(), { on: one });
    await eventually(() => stream.events.length > 2, 'it runs');
    const started = performance.now();
    one.signal('SIGTERM');
    await stream.ended;
    const { event, data } = stream.events.at(-1);
    assert.equal(event, 'error');
    assert.equal(data.status, 503);
    assert.equal(data.errors[0].code, 'cancelled');
    assert.equal(await one.ended(), 0);
    assert.ok(performance.now() - started < 10_000);
    await stopClean(one);
});
