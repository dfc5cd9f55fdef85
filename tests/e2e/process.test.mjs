/** What any client of the service meets first: operations, and the manners of HTTP. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import addFormats from 'ajv-formats';
import Ajv from 'ajv/dist/2020.js';
import { estimate, inventory } from './lib/fixtures.mjs';
import { connectTo, exchange, send } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { eventually } from './lib/processes.mjs';
import { startServer, stopClean } from './lib/server.mjs';

let server;
let client;

before(async () => {
    server = await startServer({ env: { SHARDLINE_MAX_BODY_BYTES: '65536' } });
    client = await connectTo(server);
});
after(() => stopClean(server));

const estimates = '/api/v1/estimates';
const json = { 'Content-Type': 'application/json' };
const post = (body, headers = json) => client.request('POST', estimates, { body, headers });

test('the first line on stdout is the URL', () => {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
});

test('it says that it lives, what it is, and what it can be asked', async () => {
    assert.equal((await client.get('/healthz')).status, 200);
    const version = await client.get('/version');
    assert.equal(version.status, 200);
    assert.match(version.json.engine_version, /^\d+\.\d+\.\d+\+[0-9a-f]{12}$/);
    const contract = await client.get('/openapi.json');
    assert.match(contract.json.openapi, /^3\.1\./);
});

test('ready without a database says that planning works and storage does not', async () => {
    const response = await client.get('/readyz');
    assert.ok([200, 503].includes(response.status));
    assert.match(response.text, /database/);
});

test('every operation of the contract has a summary, an answer and is reachable', async () => {
    const { document } = client.contract;
    const methods = ['get', 'put', 'post', 'delete', 'patch'];
    for (const [path, item] of Object.entries(document.paths)) {
        const verbs = Object.keys(item).filter((key) => methods.includes(key));
        assert.ok(verbs.length > 0, path);
        for (const verb of verbs) {
            assert.ok(item[verb].summary, `${verb} ${path} has no summary`);
            assert.ok(Object.keys(item[verb].responses).length > 0, `${verb} ${path}`);
        }
        const { headers } = await send(server.url, 'OPTIONS', path.replace(/\{[^}]*\}/g, 'x'));
        const allowed = (headers.allow ?? '').split(', ').map((name) => name.toLowerCase());
        for (const verb of verbs)
            assert.ok(allowed.includes(verb), `${path} does not allow ${verb}: ${headers.allow}`);
    }
});

test('each schema of the contract can be fetched and judges documents by itself', async () => {
    const response = await client.get('/schemas/InventorySpec');
    assert.equal(response.status, 200);
    assert.equal(response.type, 'application/schema+json');
    const ajv = addFormats(new Ajv({ strict: false }));
    const valid = ajv.compile(response.json);
    assert.ok(valid({ name: 'a', pools: [{ name: 'p', nodes: 1,
        node: { accelerator: 'nvidia-h100-sxm5-80gb' } }] }), JSON.stringify(valid.errors));
    assert.ok(!valid({ name: 'a', pools: 3 }));
    assertProblem(await client.get('/schemas/Nothing'), 404);
});

/** The samples of a scrape: [name, labels, value]; throws on a line that is none. */
function samplesOf(text) {
    const families = new Map();
    const samples = [];
    assert.ok(text.endsWith('\n'));
    for (const line of text.slice(0, -1).split('\n')) {
        const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
        if (comment !== null) {
            const [, kind, name, value] = comment;
            const family = families.get(name) ?? {};
            assert.equal(family[kind], undefined, `twice: ${line}`);
            families.set(name, { ...family, [kind]: value });
            continue;
        }
        const [, name, , list, value] =
            /^([a-z_]+)(\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (\d+(?:\.\d+)?)$/.exec(line)
            ?? assert.fail(`not a sample: ${line}`);
        const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
        assert.ok(family?.HELP && /^(counter|gauge|histogram)$/.test(family.TYPE), line);
        const pairs = (list ?? '').matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g);
        const labels = Object.fromEntries([...pairs].map(([, label, text]) => [label, text]));
        samples.push([name, labels, Number(value)]);
    }
    const keys = samples.map(([name, labels]) => JSON.stringify([name, labels]));
    assert.equal(new Set(keys).size, keys.length, 'a series twice');
    return samples;
}

/** The value of the one sample with these labels, or 0. */
const sampleOf = (samples, name, labels = {}) => samples.find(([found, own]) => found === name
    && Object.entries(labels).every(([label, value]) => own[label] === value))?.[2] ?? 0;

test('metrics are samples of known families, line by line', async () => {
    const response = await client.get('/metrics');
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'text/plain; version=0.0.4');
    const samples = samplesOf(response.text);
    const { json: version } = await client.get('/version');
    const build = samples.find(([name]) => name === 'shardline_build_info');
    assert.deepEqual(build, ['shardline_build_info', {
        version: version.version,
        engine_version: version.engine_version,
        catalog_revision: version.catalog_revision,
    }, 1]);
    for (const lane of ['compute', 'store', 'hub'])
        for (const name of ['shardline_lane_depth', 'shardline_lane_rejected_total'])
            assert.ok(samples.some(([found, labels]) => found === name && labels.lane === lane));
    assert.ok(sampleOf(samples, 'shardline_http_requests_in_flight') >= 1);
    assert.ok(sampleOf(samples, 'process_resident_memory_bytes') > 0);
    assert.ok(Math.abs(sampleOf(samples, 'process_start_time_seconds') - Date.now() / 1000) < 3600);
    for (const [name, labels, count] of samples.filter(([found]) => /_count$/.test(found))) {
        const buckets = samples.filter(([found, { le, ...others }]) =>
            found === name.replace('_count', '_bucket') && JSON.stringify(others) === JSON.stringify(labels));
        const values = buckets.map(([, , value]) => value);
        assert.deepEqual(values, [...values].sort((a, b) => a - b), `${JSON.stringify(labels)} falls`);
        assert.equal(buckets.at(-1)[1].le, '+Inf');
        assert.equal(values.at(-1), count);
    }
});

test('what is planned counts by kind, and the plans of a search by what became of them', async () => {
    const { model, workload, cluster } = estimate();
    const seen = async (name, labels) => sampleOf(samplesOf((await client.get('/metrics')).text), name, labels);
    const counts = async () => [
        await seen('shardline_plan_duration_seconds_count', { kind: 'estimate' }),
        await seen('shardline_plan_duration_seconds_count', { kind: 'search' }),
        await seen('shardline_search_candidates_total', { result: 'feasible' }),
        await seen('shardline_searches_evaluated_plans_total'),
    ];
    const before = await counts();
    assert.equal((await post(JSON.stringify(estimate()))).status, 200);
    const space = { sequence: true, virtual_pipeline: 1, schedule: '1f1b', layout: 'rule', context: 1, recompute: ['none', 'full'],
        recompute_layers: 0, micro_batch_size: 1 };
    const found = await client.post('/api/v1/searches', { model, space, cluster,
        workload: { ...workload, recompute: undefined, micro_batch_size: undefined } });
    assert.equal(found.status, 200, found.text.slice(0, 500));
    const grown = (await counts()).map((count, i) => count - before[i]);
    assert.deepEqual(grown, [1, 1, found.json.feasible, found.json.evaluated]);
    const samples = samplesOf((await client.get('/metrics')).text);
    assert.deepEqual(samples.filter(([name]) => name === 'shardline_search_candidates_total').map(([, { result }]) => result).sort(),
        ['feasible', 'infeasible', 'pruned', 'refused']);
    for (const name of ['shardline_db_pool_in_use', 'shardline_hub_fetch_total', 'shardline_http_request_duration_seconds_count'])
        assert.ok(samples.some(([one]) => one === name), name);
});

test('a request counts under its template, and what nobody serves under none', async () => {
    const { host } = new URL(server.url);
    const get = (path, close = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${close}\r\n`;
    const paths = ['/api/v1/accelerators/none-1', '/api/v1/accelerators/none-2', '/no-1', '/no-2'];
    const template = { route: '/api/v1/accelerators/{id}', method: 'GET', code: '404' };
    const nothing = { route: 'none', method: 'GET', code: '404' };
    const counts = (samples) => [template, nothing].map((labels) =>
        sampleOf(samples, 'shardline_http_requests_total', labels));
    const before = counts(samplesOf((await client.get('/metrics')).text));
    // On one connection a request is counted before the next one begins.
    const answers = await exchange(server.url, paths.map((path) => get(path)).join('')
        + get('/metrics', 'Connection: close\r\n'));
    const text = answers.slice(answers.lastIndexOf('\r\n\r\n') + 4);
    assert.deepEqual(counts(samplesOf(text)), before.map((count) => count + 2));
    assert.doesNotMatch(text, /none-1|no-1/);
});

test('a query parameter that is not read is 422, and the contract has those that are', async () => {
    const { document } = client.contract;
    let count = 0;
    for (const [path, item] of Object.entries(document.paths))
        for (const [verb, { parameters = [] }] of Object.entries(item)) {
            const names = parameters.map((parameter) => client.contract.resolve(parameter))
                .filter((parameter) => parameter.in === 'query').map(({ name }) => name);
            const response = await client.request(verb.toUpperCase(),
                `${path.replace(/\{[^}]*\}/g, 'x')}?qqqqqqqqqqqqqqqq=1`);
            const error = assertProblem(response, 422, { code: 'unknown_parameter' });
            assert.deepEqual((error.hint ?? '').split(', ').filter(Boolean).sort(), names.sort(),
                `${verb} ${path}`);
            count += names.length;
        }
    assert.ok(count > 0);
});

test('a query parameter that stands there twice is 422', async () => {
    const response = await client.post(`${estimates}?unknown=warn&unknown=warn`, estimate());
    assertProblem(response, 422, { code: 'repeated_parameter' });
});

test('a misspelt dry run stores nothing', async (t) => {
    const stored = await startServer({ database: true });
    t.after(() => stopClean(stored));
    const own = await connectTo(stored);
    const path = '/api/v1/inventories/dry';
    const error = assertProblem(await own.put(`${path}?dryrun=true`, inventory()), 422,
        { code: 'unknown_parameter' });
    assert.equal(error.hint, 'dry_run');
    assertProblem(await own.get(path), 404, { code: 'inventory_not_found' });
    assert.equal((await own.put(path, inventory())).status, 201);
});

test('a path that is not there is 404', async () => {
    assertProblem(await client.get('/api/v1/nope'), 404);
    assertProblem(await client.get('/api/v1/estimates/nope'), 404);
});

test('a method that is not there is 405 and names those that are', async () => {
    const response = await client.request('DELETE', estimates);
    assertProblem(response, 405);
    assert.match(response.headers.allow, /\bPOST\b/);
    assert.doesNotMatch(response.headers.allow, /\bDELETE\b/);
});

test('OPTIONS names the methods and has no body', async () => {
    const response = await client.request('OPTIONS', estimates);
    assert.equal(response.status, 204);
    assert.match(response.headers.allow, /\bPOST\b/);
    assert.equal(response.bytes.length, 0);
});

test('HEAD is GET without the body', async () => {
    const get = await client.get('/openapi.json');
    const head = await client.request('HEAD', '/openapi.json');
    assert.equal(head.status, 200);
    assert.equal(Number(head.headers['content-length']), get.bytes.length);
    assert.equal(head.headers['content-type'], get.headers['content-type']);
});

test('a body over the limit is 413, announced or not', async () => {
    const big = JSON.stringify({ pad: 'x'.repeat(100_000) });
    assertProblem(await post(big), 413);
    assertProblem(await post(big, { ...json, 'Transfer-Encoding': 'chunked' }), 413);
});

test('a body of another type is 415', async () => {
    assertProblem(await post('model: llama', { 'Content-Type': 'application/yaml' }), 415);
    assertProblem(await post('{}', {}), 415);
});

test('a body that is packed where nobody unpacks it is 415 and says what is taken', async () => {
    for (const [coding, body] of [['gzip', gzipSync(JSON.stringify(estimate()))], ['br', '{}'], ['gzip, gzip', '{}']]) {
        const response = await post(body, { 'Content-Type': 'application/json', 'Content-Encoding': coding });
        assertProblem(response, 415, { code: 'content_encoding' });
        assert.equal(response.headers['accept-encoding'], 'identity');
    }
    const upload = await client.request('POST', '/api/v1/inventories:parse',
        { body: 'x', headers: { 'Content-Encoding': 'br' } });
    assertProblem(upload, 415, { code: 'content_encoding' });
    assert.equal(upload.headers['accept-encoding'], 'gzip, identity');
    const plain = { 'Content-Type': 'application/json', 'Content-Encoding': 'identity' };
    assert.equal((await post(JSON.stringify(estimate()), plain)).status, 200);
});

test('a charset does not make JSON another type', async () => {
    const response = await post(JSON.stringify(estimate()),
        { 'Content-Type': 'application/json; charset=utf-8' });
    assert.equal(response.status, 200, response.text);
});

test('a request for another host is 421, wherever it points', async () => {
    for (const path of ['/healthz', '/', '/api/v1/nope'])
        assertProblem(await client.get(path, { headers: { Host: 'rebound.example' } }), 421);
    assertProblem(await client.get('/healthz', { headers: { Host: '127.0.0.1.example' } }), 421);
    const { port } = new URL(server.url);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'LOCALHOST'])
        assert.equal((await client.get('/healthz', { headers: { Host: host } })).status, 200, host);
});

test('it says that it lives while every worker computes', async (t) => {
    const busy = await startServer({ env: { SHARDLINE_WORKERS: '1' } });
    t.after(() => stopClean(busy));
    const long = estimate({ workload: { global_batch_size: 8192 }, parallelism: { data: 1 }, cluster: { accelerators_per_node: 4 } });
    let answered = 0;
    const asked = Array.from({ length: 6 }, () => send(busy.url, 'POST', '/api/v1/timelines',
        { headers: json, body: JSON.stringify(long) }).then(({ status }) => {
        assert.equal(status, 200);
        answered++;
    }));
    const waiting = async () => (await send(busy.url, 'GET', '/healthz')).status === 200 && answered;
    await new Promise((done) => setTimeout(done, 50));
    assert.ok(await waiting() < 3, 'before those that were there first');
    await Promise.all(asked);
});

test('a page of another site can send nothing that writes', async () => {
    const parse = '/api/v1/inventories:parse';
    const restore = '/api/v1/inventories/hal:restore';
    const { port } = new URL(server.url);
    const foreign = [{ Origin: 'https://evil.example' }, { Origin: 'null' },
        { 'Sec-Fetch-Site': 'cross-site' }, { Origin: `http://localhost.evil.example:${port}` }];
    for (const headers of foreign) {
        for (const [method, path] of [['POST', restore], ['DELETE', '/api/v1/plans/one'],
            ['PUT', '/api/v1/accelerators/own']])
            assertProblem(await client.request(method, path, { headers }), 403,
                { code: 'origin_not_allowed' });
        assertProblem(await client.request('POST', parse,
            { body: 'x', headers: { ...headers, 'Content-Type': 'text/plain' } }), 403);
        assert.equal((await client.get('/healthz', { headers })).status, 200);
    }
    // Our own page: as it is, and as a browser sees it behind a proxy that ends TLS.
    for (const origin of [server.url, 'https://localhost', 'http://[::1]:1'])
        assert.equal((await post(JSON.stringify(estimate()), { ...json, Origin: origin,
            'Sec-Fetch-Site': 'same-origin' })).status, 200, origin);
});

test('an allowed host is served', async (t) => {
    const hosts = 'planner.example,other,[2001:db8::7]';
    const open = await startServer({ env: { SHARDLINE_ALLOWED_HOSTS: hosts } });
    t.after(() => stopClean(open));
    for (const Host of ['planner.example', 'other:8080', '[2001:db8::7]:80'])
        assert.equal((await send(open.url, 'GET', '/healthz', { headers: { Host } })).status, 200,
            Host);
});

test('text that is not JSON is 400 and says where', async () => {
    for (const body of ['', '{', '{"model": }', '[1, 2', 'nonsense', '{} trailing'])
        assertProblem(await post(body), 400);
    assertProblem(await post('{\n "model": oops}'), 400, { says: /line 2/ });
});

test('a document of another shape is refused, never a fault of ours', async () => {
    for (const body of ['[]', 'null', '7', '"text"', '{}', '{"model": 7}', '{"model": []}']) {
        const response = await post(body);
        assert.ok([400, 422].includes(response.status), `${body}: ${response.text}`);
        assertProblem(response, response.status);
    }
});

test('a NUL in a text is 400 in words of ours', async () => {
    for (const body of ['{"a": "\\u0000"}', '{"\\u0000": 1}'])
        assert.match(assertProblem(await post(body), 400, { code: 'malformed_json' }).detail, /must not hold \\u0000$/);
});

test('text that is not UTF-8 is 400', async () => {
    assertProblem(await post(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])), 400);
});

test('a repeated key is 400: neither value can be the one that was meant', async () => {
    const body = JSON.stringify(estimate()).replace('"micro_batch_size":1',
        '"micro_batch_size":1,"micro_batch_size":2');
    assertProblem(await post(body), 400, { code: 'duplicate_key' });
});

test('deep nesting is 400, however deep', async () => {
    for (const depth of [64, 5000]) {
        const body = `{"model": ${'['.repeat(depth)}${']'.repeat(depth)}}`;
        assertProblem(await post(body), 400, { code: 'too_deep' });
    }
});

test('an unknown field is 422 at its place, with the nearest known name', async () => {
    const request = estimate({ workload: { sequence_lenght: 512 } });
    delete request.workload.sequence_length;
    const error = assertProblem(await client.post(estimates, request), 422,
        { code: 'unknown_field', pointer: '/workload/sequence_lenght' });
    assert.match(error.hint, /sequence_length/);
});

test('unknown fields are warnings when that is asked for', async () => {
    const request = { ...estimate(), colour: 'blue' };
    assertProblem(await client.post(estimates, request), 422, { pointer: '/colour' });
    const response = await client.post(`${estimates}?unknown=warn`, request);
    assert.equal(response.status, 200, response.text);
    assert.match(JSON.stringify(response.json.warnings), /colour/);
});

test('annotations and $schema are welcome anywhere', async () => {
    const request = { $schema: '/schemas/estimate', annotations: { ticket: 7 }, ...estimate() };
    assert.equal((await client.post(estimates, request)).status, 200);
});

test('every fault of a document is reported at once', async () => {
    const request = estimate({
        workload: { sequence_length: -1, precision: 'bf17', colour: 'blue' },
        cluster: { nodes: 'many' },
        parallelism: { tensor: 0 },
    });
    const response = await client.post(estimates, request);
    assertProblem(response, 422);
    const pointers = response.json.errors.map((error) => error.pointer);
    for (const pointer of ['/workload/sequence_length', '/workload/precision', '/workload/colour',
        '/cluster/nodes', '/parallelism/tensor'])
        assert.ok(pointers.includes(pointer), `${pointer} is not among ${pointers}`);
});

test('more faults than are listed are counted', async () => {
    const request = estimate();
    for (let i = 0; i < 40; i++)
        request[`field_${i}`] = i;
    const response = await client.post(estimates, request);
    assertProblem(response, 422);
    assert.equal(response.json.errors.length, 16);
});

test('an answer carries the id of its request, and keeps one that was given', async () => {
    const first = await client.get('/healthz');
    const second = await client.get('/healthz');
    assert.notEqual(first.headers['x-request-id'], second.headers['x-request-id']);
    const named = await client.get('/healthz', { headers: { 'X-Request-Id': 'from-proxy-7' } });
    assert.equal(named.headers['x-request-id'], 'from-proxy-7');
    const odd = await client.get('/healthz', { headers: { 'X-Request-Id': 'no spaces, please' } });
    assert.notEqual(odd.headers['x-request-id'], 'no spaces, please');
});

test('the log of a request names the trace it is part of', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const parent = '00f067aa0ba902b7';
    const logged = async (id, traceparent) => {
        await client.get('/healthz', { headers: { 'X-Request-Id': id, ...traceparent } });
        const line = () => server.log().split('\n').find((text) => text.includes(`"${id}"`));
        await eventually(() => line() !== undefined, `a line of ${id}`);
        return JSON.parse(line());
    };
    assert.equal((await logged('traced', { traceparent: `00-${trace}-${parent}-01` })).trace_id, trace);
    assert.equal((await logged('later', { Traceparent: `01-${trace}-${parent}-01-more` })).trace_id, trace);
    assert.ok(!('trace_id' in await logged('untraced', {})));
    const none = '0'.repeat(32);
    const odd = [`00-${trace}-${parent}`, `00-${trace}-${parent}-01-more`, `ff-${trace}-${parent}-01`,
        `00-${none}-${parent}-01`, `00-${trace}-${none.slice(16)}-01`, `00-${trace.toUpperCase()}-${parent}-01`,
        `00-${trace}${parent}-01`, `00-${trace}0-${parent}-01`, 'x'];
    for (const [i, traceparent] of odd.entries())
        assert.ok(!('trace_id' in await logged(`odd-${i}`, { traceparent })), traceparent);
});

test('a path cannot leave its folder or hide what it is', async () => {
    for (const path of ['/../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/assets/..%2f..%2fmain.c',
        '/%00', '/%zz', '/.git/config']) {
        const { status } = await send(server.url, 'GET', path);
        assert.ok([400, 404].includes(status), `${path}: ${status}`);
    }
});

test('a request that could be read in two ways is refused and the connection closed', async () => {
    const { host } = new URL(server.url);
    const smuggled = 'POST /api/v1/estimates HTTP/1.1\r\n'
        + `Host: ${host}\r\nContent-Type: application/json\r\n`
        + 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
        + `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    const answer = await exchange(server.url, smuggled);
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.equal(answer.match(/HTTP\/1\.1 /g).length, 1);
});

test('a head that is too long is refused, not remembered', async () => {
    const { status } = await send(server.url, 'GET', '/healthz',
        { headers: { 'X-Pad': 'x'.repeat(1_000_000) } }).catch(() => ({ status: 431 }));
    assert.ok([400, 413, 414, 431].includes(status), `${status}`);
    assert.equal((await client.get('/healthz')).status, 200);
});

test('one connection serves many requests', async () => {
    const { host } = new URL(server.url);
    const get = (close) => `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n${close}\r\n`;
    const answers = await exchange(server.url,
        get('') + get('') + get('Connection: close\r\n'));
    assert.equal(answers.match(/HTTP\/1\.1 200 /g).length, 3);
});

test('a setting that makes no sense stops the start and is named', async () => {
    for (const env of [{ SHARDLINE_LISTEN: 'nowhere' }, { SHARDLINE_WORKERS: 'many' },
        { SHARDLINE_LOG_LEVEL: 'loud' }, { SHARDLINE_MAX_BODY_BYTES: '-1' }]) {
        const [name] = Object.keys(env);
        await assert.rejects(startServer({ env }), new RegExp(name));
    }
});

test('a port that is taken stops the start and says so', async () => {
    const { host } = new URL(server.url);
    await assert.rejects(startServer({ env: { SHARDLINE_LISTEN: host } }), /in use|taken/);
});

test('the log has one JSON object a line and no secret', async (t) => {
    const secret = 'hf_mustnotappear';
    const logged = await startServer({
        env: {
            HF_TOKEN: secret,
            SHARDLINE_DATABASE_URL: 'host=/nonexistent dbname=x password=mustnotappear',
            SHARDLINE_LOG_LEVEL: 'debug',
        },
    });
    t.after(() => stopClean(logged));
    await send(logged.url, 'POST', estimates, { headers: json, body: JSON.stringify(estimate()) });
    await send(logged.url, 'GET', '/api/v1/inventories');
    const { stderr, stdout } = logged.output();
    assert.doesNotMatch(stderr + stdout, /mustnotappear/);
    const lines = stderr.trim().split('\n');
    assert.ok(lines.length > 0);
    for (const line of lines) {
        const entry = JSON.parse(line);
        assert.equal(typeof entry.msg, 'string', line);
        assert.ok(['debug', 'info', 'warn', 'error'].includes(entry.level), line);
    }
});
