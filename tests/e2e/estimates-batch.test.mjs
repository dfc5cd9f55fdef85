/** Estimates by the line: each answered as it would be alone, at the pace of the client. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHub } from '../hub/standin.mjs';
import { estimate, inventory, large, llama } from './lib/fixtures.mjs';
import { connectTo, exchange, openSocket } from './lib/http.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { assertProblem } from './lib/problems.mjs';
import { eventually } from './lib/processes.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const path = '/api/v1/estimates:batch';
const type = 'application/x-ndjson';

let hub;
let postgres;
let server;
let client;

before(async () => {
    hub = await startHub({});
    postgres = await startPostgres();
    server = await startServer({ hub, database: postgres });
    client = await connectTo(server);
});
after(async () => {
    await stopClean(server);
    await postgres.stop();
    await hub.close();
});

const post = (body, { query = '', headers = {} } = {}) =>
    client.request('POST', path + query, { body, headers: { 'Content-Type': type, ...headers } });

/** The answers to lines of text. */
async function answersTo(texts, query = '') {
    const response = await post(texts.join('\n'), { query });
    assert.equal(response.status, 200, response.text);
    assert.equal(response.type, type);
    assert.ok(response.text.endsWith('\n'));
    const lines = response.text.slice(0, -1).split('\n');
    assert.equal(lines.length, texts.length, 'a line for each line');
    const { schema } = client.contract.document.paths[path].post.responses[200].content[type];
    for (const line of lines)
        client.contract.validate(path, schema.contentSchema, JSON.parse(line));
    return lines;
}

const tooLarge = estimate({ config: large, parallelism: { tensor: 8, sequence: true, pipeline: 1, data: 1 },
    workload: { sequence_length: 4096, global_batch_size: 8 } });
const impossible = estimate({ parallelism: { tensor: 3 } });

/** Whose request it was is all that an answer may differ in. */
const lasting = (text) => text.replace(/"instance":"[^"]*"/, '');

test('each line is answered as it would be alone, errors in place', async () => {
    const plans = [estimate(), impossible, tooLarge, estimate({ workload: { recompute: 'full' } }),
        { ...estimate(), wrkload: {} }];
    const lines = await answersTo(plans.map((plan) => JSON.stringify(plan)));
    for (const [at, plan] of plans.entries()) {
        const alone = await client.post('/api/v1/estimates', plan);
        assert.equal(lasting(lines[at]), lasting(alone.text), `line ${at + 1}`);
    }
    assert.deepEqual(lines.map((line) => JSON.parse(line).status), [undefined, 422, undefined, undefined, 422]);
});

test('lines that are no requests are refused where they stand', async () => {
    const good = JSON.stringify(estimate());
    const lines = await answersTo([good, '', '{"model"', `${good}\r`, '[1]', 'null', good]);
    const [first, ...rest] = lines.map((line) => JSON.parse(line));
    assert.equal(first.fits, true);
    assert.deepEqual(rest.map(({ status }) => status), [400, 400, undefined, 422, 422, undefined]);
});

test('a line feed at the end begins no line', async () => {
    const { text } = await post(`${JSON.stringify(estimate())}\n`);
    assert.equal(text.split('\n').length, 2);
});

test('what is asked of all lines holds for each', async () => {
    const plans = [estimate(), tooLarge, { ...estimate(), wrkload: {} }].map((plan) => JSON.stringify(plan));
    const [fits, lacks, lenient] = (await answersTo(plans, '?require=fits&unknown=warn'))
        .map((line) => JSON.parse(line));
    assert.equal(fits.fits, true);
    assert.equal(lacks.type, '/problems/does-not-fit');
    assert.equal(lacks.estimate.fits, false);
    assert.ok(lenient.warnings.some(({ code }) => code === 'unknown_field'));
});

test('faults of the whole are problems before the first line', async () => {
    const line = JSON.stringify(estimate());
    assertProblem(await post(''), 400, { code: 'empty_body' });
    assertProblem(await post(line, { query: '?require=much' }), 422, { code: 'unknown_value' });
    assertProblem(await post(line, { query: '?require=much&unknown=what' }), 422, { code: 'unknown_value' });
    assertProblem(await post(line, { query: '?limit=3' }), 422);
    assertProblem(await post(line, { headers: { 'Content-Type': 'text/csv' } }), 415);
    const announced = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${2 ** 24 + 1}\r\n\r\n`;
    assert.match(await exchange(server.url, announced), /^HTTP\/1.1 413 /);
});

test('a line may be as long as the body of one estimate', async () => {
    const lines = await answersTo([`${JSON.stringify(estimate())}${' '.repeat(2 ** 20)}`, JSON.stringify(estimate())]);
    assert.equal(JSON.parse(lines[0]).status, 413);
    assert.equal(JSON.parse(lines[1]).fits, true);
});

test('lines name models of the Hub and stored clusters, and each goes where it must', async () => {
    hub.put('org/model', { files: { 'config.json': llama } });
    const put = await client.put('/api/v1/inventories/batch', inventory());
    assert.ok(put.status < 300, put.text);
    const from = (id) => ({ ...estimate(), model: { hub: id } });
    const stored = (slug) => ({ ...estimate({ parallelism: { data: 'auto' } }), cluster: { inventory: slug } });
    const plans = [from('org/model'), stored('batch'), from('org/none'), stored('nowhere'), from('org/model'), estimate(),
        { ...stored('batch'), model: { hub: 'org/model' } }];
    const answers = (await answersTo(plans.map((plan) => JSON.stringify(plan)))).map((line) => JSON.parse(line));
    assert.deepEqual(answers.map(({ status }) => status),
        [undefined, undefined, 404, 404, undefined, undefined, undefined]);
    assert.equal(answers[0].memory.peak_allocated_bytes, answers[5].memory.peak_allocated_bytes);
    assert.equal(answers[4].input_hash, answers[0].input_hash);
});

async function metric(name, on = client) {
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec((await on.get('/metrics')).text)[1]);
}

const inFlight = () => metric('shardline_http_requests_in_flight');

/** A batch on a connection of its own, not read yet. */
async function begin(t, count, on = server) {
    const body = `${JSON.stringify(estimate())}\n`.repeat(count);
    const socket = await openSocket(on.url);
    t.after(() => socket.destroy());
    socket.pause();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`
        + `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    return socket;
}

/** All that comes, at most so much of it every 50 ms. */
async function readAll(socket, { most = Infinity } = {}) {
    const chunks = [];
    let read = 0;
    const pace = setInterval(() => { read = 0; socket.resume(); }, 50);
    socket.on('data', (chunk) => {
        chunks.push(chunk);
        read += chunk.length;
        if (read >= most)
            socket.pause();
    });
    socket.resume();
    await new Promise((done) => socket.once('close', done));
    clearInterval(pace);
    return Buffer.concat(chunks).toString('utf8');
}

/** Lines that were answered; where a chunk ends in the middle of the word, its frame is left out. */
const answered = (text) => (text.replaceAll(/\r\n[0-9a-f]+\r\n/gi, '').match(/"engine_version"/g) ?? []).length;

test('a client that reads slowly loses nothing and holds up nobody', async (t) => {
    const LINES = 3000;
    // What a sanitizer keeps of memory that was freed is no memory of the service.
    const its = await startServer({ env: { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:quarantine_size_mb=1` } });
    t.after(() => stopClean(its));
    const beside = await connectTo(its);
    const { bytes } = await beside.request('POST', path, { body: JSON.stringify(estimate()), headers: { 'Content-Type': type } });
    const before = await metric('process_resident_memory_bytes', beside);
    const socket = await begin(t, LINES, its);
    await sleep(1500);
    assert.equal((await beside.post('/api/v1/estimates', estimate())).status, 200);
    const grown = await metric('process_resident_memory_bytes', beside) - before;
    assert.ok(grown < LINES * bytes.length / 2, `${grown} bytes more, for ${LINES * bytes.length} of answers`);
    const text = await readAll(socket);
    assert.equal(answered(text), LINES);
    assert.match(text, /\r\n0\r\n\r\n$/, 'the body is whole');
});

test('a client that leaves is let go', async (t) => {
    const socket = await begin(t, 3000);
    await eventually(async () => await inFlight() === 2, 'it runs');
    socket.destroy();
    await eventually(async () => await inFlight() === 1, 'it is given up');
});

test('a service that stops says which lines it did not answer', async (t) => {
    const its = await startServer();
    t.after(() => its.stop());
    const socket = await begin(t, 20000, its);
    setTimeout(() => its.signal('SIGTERM'), 500);
    const text = await readAll(socket, { most: 400000 });
    const last = JSON.parse(text.split('\n').filter((line) => line.startsWith('{')).at(-1));
    assert.equal(last.errors[0].code, 'stopping');
    assert.match(last.detail, new RegExp(`the first ${answered(text)} lines`));
    assert.match(text, /\r\n0\r\n\r\n$/);
    await stopClean(its);
});

test('an old client reads to the end of the connection', async () => {
    const body = `${JSON.stringify(estimate())}\n${JSON.stringify(impossible)}`;
    const text = await exchange(server.url, `POST ${path} HTTP/1.0\r\nHost: localhost\r\n`
        + `Content-Type: application/jsonl\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    assert.match(text, /^HTTP\/1\.[01] 200 /);
    assert.equal(text.split('\r\n\r\n')[1].trimEnd().split('\n').length, 2);
});
