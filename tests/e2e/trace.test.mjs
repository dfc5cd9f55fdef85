/** A recorded trace beside the prediction: figures by hand, tens of MB in little memory, bad bodies. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { estimate } from './lib/fixtures.mjs';
import { connectTo, send } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { root, startServer, stopClean } from './lib/server.mjs';

const path = '/api/v1/timelines:compare';
let server;
let client;

before(async () => {
    server = await startServer();
    client = await connectTo(server);
});
after(() => stopClean(server));

const event = (cat, name, pid, tid, ts, dur, args = {}) =>
    ({ ph: 'X', cat, name, pid, tid, ts, dur, args });
const kernel = (name, stream, ts, dur, correlation) =>
    event('kernel', name, 0, stream, ts, dur, { device: 0, stream, correlation });
const launch = (ts, correlation) =>
    event('cuda_runtime', 'cudaLaunchKernel', 41, 42, ts, 3, { correlation });
const step = (number, ts, dur) => event('user_annotation', `ProfilerStep#${number}`, 41, 42, ts, dur);

const trace = (events) => ({
    schemaVersion: 1,
    deviceProperties: [{ id: 0, name: 'NVIDIA H100' }],
    distributedInfo: { backend: 'nccl', rank: 0, world_size: 8 },
    traceEvents: events,
});

/** A step of 1 ms: products 300 us, attention 100, norms 200, a gather of 250 of which 150 are bare. */
const oneStep = (number, ts) => [
    step(number, ts, 1000),
    launch(ts, 10 * number + 1), launch(ts + 5, 10 * number + 2), launch(ts + 10, 10 * number + 3),
    launch(ts + 950, 10 * number + 4),
    kernel('nvjet_tst_128x256_64x4_h_bz_coopA_NTN', 7, ts + 20, 300, 10 * number + 1),
    kernel('void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>', 7, ts + 320, 100,
        10 * number + 2),
    kernel('void vllm::rms_norm_kernel<c10::BFloat16>', 7, ts + 420, 200, 10 * number + 3),
    kernel('ncclDevKernel_AllGather_RING_LL', 13, ts + 520, 250, 0),
    kernel('multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>', 7, ts + 960, 20,
        10 * number + 4),
    kernel('a_kernel_of_our_own', 7, ts + 980, 5, 0),
];

const body = (parts, document) => Buffer.concat([parts, document].map((part) =>
    Buffer.isBuffer(part) ? part : Buffer.from(JSON.stringify(part))));

const post = (bytes, headers = { 'Content-Type': 'application/octet-stream' }, query = '') =>
    client.request('POST', path + query, { body: bytes, headers });

async function compared(document, parts = estimate()) {
    const response = await post(body(parts, document));
    assert.equal(response.status, 200, response.text);
    return response.json;
}

function near(actual, expected, what) {
    assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.abs(expected) + 1e-15,
        `${what}: ${actual} for ${expected}`);
}

const small = trace([...oneStep(3, 1732255200000000), ...oneStep(4, 1732255200001000)]);
const named = (list, name, key = 'name') => list.find((entry) => entry[key] === name);

test('what a step spent is laid beside what was predicted for it', async () => {
    const answer = await compared(small);
    const { json: predicted } = await client.post('/api/v1/estimates', estimate());
    near(answer.step_s.measured, 1e-3, 'step');
    assert.equal(answer.step_s.predicted, predicted.time.step_s);
    assert.deepEqual([answer.trace.steps, answer.trace.steps_marked, answer.trace.rank,
        answer.trace.world_size], [2, true, 0, 8]);
    for (const [name, measured] of [['products', 3e-4], ['attention', 1e-4], ['streaming', 2e-4],
        ['optimizer', 2e-5], ['communication', 2.5e-4], ['other', 5e-6]])
        near(named(answer.categories, name).measured_s, measured, name);
    assert.equal(named(answer.categories, 'copies').predicted_s, null);
    near(answer.exposed_communication_s.measured, 1.5e-4, 'exposed');
    near(answer.device.computing_s, 625e-6, 'computing');
    // 770 to 960 and, between the steps, 985 to 1020: the second is idle once only.
    near(answer.device.idle_s, (2 * 190e-6 + 35e-6) / 2, 'idle');
    near(answer.device.host_bound_s, (2 * 190e-6 + 35e-6) / 2, 'of the host');
    assert.deepEqual(answer.unmatched.map(({ name, calls }) => [name, calls]),
        [['a_kernel_of_our_own', 2]]);
});

test('computing by category is the forward, the backward and the recomputation', async () => {
    for (const parts of [estimate(), estimate({ workload: { recompute: 'full' } })]) {
        const { categories } = await compared(small, parts);
        const { json: { time } } = await client.post('/api/v1/estimates', parts);
        const term = (name) => time.terms.find((each) => each.name === name).seconds;
        const sum = ['products', 'attention', 'streaming', 'embedding', 'loss']
            .reduce((total, name) => total + named(categories, name).predicted_s, 0);
        near(sum, term('forward') + term('backward') + term('recompute'), 'sum');
        assert.equal(named(categories, 'optimizer').predicted_s, term('optimizer'));
    }
});

test('collectives are those of the trace and those of the plan', async () => {
    const { communication, streams } = await compared(small);
    const { json: { communication: rows } } = await client.post('/api/v1/estimates', estimate());
    for (const { collective, predicted_s: predicted } of communication)
        near(predicted, rows.filter((row) => row.collective === collective)
            .reduce((total, { seconds }) => total + seconds, 0), collective);
    const gather = named(communication, 'all_gather', 'collective');
    near(gather.measured_s, 2.5e-4, 'gather');
    near(gather.measured_exposed_s, 1.5e-4, 'bare');
    assert.deepEqual(streams.map(({ device, stream, calls }) => [device, stream, calls]),
        [['0', '7', 10], ['0', '13', 2]]);
    assert.deepEqual(streams[1].categories.map(({ name }) => name), ['communication']);
});

test('a trace without marks is one step, and says so', async () => {
    const { trace: summary, step_s: steps, warnings } =
        await compared(oneStep(1, 500).filter(({ cat }) => cat !== 'user_annotation'));
    assert.deepEqual([summary.steps, summary.steps_marked, summary.rank], [1, false, null]);
    near(steps.measured, 985e-6, 'first event to the end of the last');
    const codes = warnings.map(({ code }) => code);
    assert.ok(codes.includes('steps_not_marked') && codes.includes('slowest_stage'), codes.join());
});

test('request and trace may be packed, each and both', async () => {
    const plain = await compared(small);
    const text = (part) => Buffer.from(JSON.stringify(part));
    const gzip = { 'Content-Type': 'application/gzip' };
    for (const [bytes, headers] of [
        [body(estimate(), gzipSync(text(small))), gzip],
        [body(gzipSync(text(estimate())), gzipSync(text(small))), gzip],
        [gzipSync(body(estimate(), small)), { ...gzip, 'Content-Encoding': 'gzip' }],
        [body(Buffer.concat([text(estimate()), Buffer.from('\r\n')]), small),
            { 'Content-Type': 'application/json', 'Content-Encoding': 'identity' }],
    ]) {
        const response = await post(bytes, headers);
        assert.equal(response.status, 200, response.text);
        assert.deepEqual(response.json, plain);
    }
});

/** Resident bytes of the server, now and at most. */
function resident() {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    const of = (name) => Number(status.match(new RegExp(`${name}:\\s+(\\d+) kB`))[1]) * 1024;
    return { now: of('VmRSS'), most: of('VmHWM') };
}

/** Steps of `microbatches` times 100 kernels, each with what PyTorch writes around it. */
function longTrace(steps, microbatches) {
    const operator = (ts, id) => event('cpu_op', 'aten::_scaled_dot_product_flash_attention', 41, 42,
        ts, 4, { 'External id': id, 'Record function id': 0, 'Concrete Inputs': ['', '', '0.', 'True'],
            'Input type': ['c10::BFloat16', 'c10::BFloat16', 'Scalar', 'Scalar'],
            'Input Strides': [[8388608, 128, 4096, 1], [8388608, 128, 4096, 1], [], []],
            'Input Dims': [[2, 32, 2048, 128], [2, 32, 2048, 128], [], []], 'Ev Idx': id });
    const parts = [];
    let id = 1;
    for (let s = 0; s < steps; s++) {
        const events = [step(s, s * 1e6, 1e6)];
        for (let k = 0; k < microbatches * 100; k++, id++) {
            const ts = s * 1e6 + k * 10;
            events.push(operator(ts, id), launch(ts + 1, id), { ph: 's', id, pid: 41, tid: 42,
                ts: ts + 1, cat: 'ac2g', name: 'ac2g' },
            kernel(k % 4 === 0 ? 'ncclDevKernel_AllGather_RING_LL' : `sm90_xmma_gemm_${k % 97}`,
                k % 4 === 0 ? 13 : 7, ts + 5, k % 4 === 0 ? 12 : 8, id));
        }
        parts.push(events.map((each) => JSON.stringify(each)).join(',\n'));
    }
    return `{"schemaVersion": 1, "traceEvents": [\n${parts.join(',\n')}\n], "traceName": "t.json"}`;
}

test('a trace of tens of MB takes little memory, packed or not', async (t) => {
    // The release: sanitizers keep what was freed, and their memory is not the server's.
    const program = `${root}/build/release/shardlined`;
    const released = await startServer({ program });
    const before = { server, client };
    server = released;
    client = await connectTo(released);
    t.after(async () => {
        await stopClean(released);
        ({ server, client } = before);
    });
    await compared(small);
    const text = Buffer.from(longTrace(3, 200));
    assert.ok(text.length > 40e6, `${text.length} bytes`);
    const start = resident();
    const started = performance.now();
    const answer = await compared(text);
    const seconds = (performance.now() - started) / 1000;
    assert.equal(named(answer.categories, 'products').calls, 45000);
    near(named(answer.categories, 'products').measured_s, 15000 * 8e-6, 'products');
    near(named(answer.communication, 'all_gather', 'collective').measured_s, 5000 * 12e-6, 'gather');
    // 5 to 17 of each 40 us against products at 15 to 23: 10 us of each are bare.
    near(answer.exposed_communication_s.measured, 5000 * 10e-6, 'bare');
    const packed = await compared(gzipSync(text));
    assert.deepEqual(packed, answer);
    const grown = (resident().most - start.now) / 2 ** 20;
    t.diagnostic(`${(text.length / 1e6).toFixed(1)} MB in ${seconds.toFixed(2)} s, ${
        grown.toFixed(1)} MiB more at most`);
    assert.ok(grown < 32, `${grown} MiB`);
});

test('who asks for an estimate does not wait for a trace that is read', async (t) => {
    const single = await startServer({ env: { SHARDLINE_WORKERS: '1' } });
    t.after(() => stopClean(single));
    const ask = (where, sent, type) => send(single.url, 'POST', where, { headers: { 'Content-Type': type }, body: sent });
    const text = body(estimate(), Buffer.from(longTrace(1, 200)));
    const started = performance.now();
    const comparison = { answer: null };
    const done = ask(path, text, 'application/octet-stream').then((answer) => { comparison.answer = answer; });
    let longest = 0;
    while (comparison.answer === null) {
        const before = performance.now();
        assert.equal((await ask('/api/v1/estimates', JSON.stringify(estimate()), 'application/json')).status, 200);
        longest = Math.max(longest, performance.now() - before);
    }
    await done;
    assert.equal(comparison.answer.status, 200, comparison.answer.text);
    const took = performance.now() - started;
    assert.ok(longest < took / 2, `${longest} of ${took} ms`);
});

const refused = (bytes, status, code, expected = {}, headers) =>
    post(bytes, headers).then((response) => assertProblem(response, status, { code, ...expected }));

test('a body that is not both documents is refused by name', async () => {
    const request = Buffer.from(JSON.stringify(estimate()));
    await refused('', 400, 'malformed_json');
    await refused(request, 400, 'trace_missing');
    await refused('{"model"', 400, 'malformed_json', { says: /byte 8/ });
    await refused(body(small, small), 422, 'unknown_field', { pointer: '/traceEvents' });
    await refused(body(request, Buffer.from('no trace')), 400, 'malformed_json', { says: /byte 0/ });
    await refused(body(request, gzipSync(JSON.stringify(small)).subarray(0, 200)), 400,
        'malformed_gzip');
    const damaged = gzipSync(JSON.stringify(small));
    damaged[60] ^= 0x55;
    assert.equal((await post(body(request, damaged))).status, 400);
    await refused(request, 415, 'media_type', {}, { 'Content-Type': 'text/plain' });
    await refused(request, 415, 'content_encoding', {},
        { 'Content-Type': 'application/json', 'Content-Encoding': 'br' });
    await refused(body(request, small), 400, 'malformed_gzip', {},
        { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
    await refused(`{"a": "${'x'.repeat(1 << 20)}"}`, 413, 'request_too_large');
});

test('a fault of the estimate request is found before the trace is read', async () => {
    await refused(body(estimate({ parallelism: { tensor: 3 } }), Buffer.from('?')), 422,
        'not_divisible');
    await refused(body({ model: { parameters: 7e9 }, workload: { accounting: 'zero' } }, small), 422);
});

test('a fault of the trace points at its event', async () => {
    const faulty = (more, fields) => body(estimate(), trace([...oneStep(1, 0), { ...more, ...fields }]));
    const one = kernel('gemm', 7, 5000, 1, 9);
    const at = (member) => ({ pointer: `/traceEvents/11/${member}` });
    await refused(faulty(one, { dur: -1 }), 422, 'out_of_range', at('dur'));
    await refused(faulty(one, { ts: 'noon' }), 422, 'wrong_type', at('ts'));
    await refused(faulty(one, { dur: null }), 422, 'event_incomplete', at('dur'));
    await refused(faulty(one, { ts: 1e15 }), 422, 'out_of_range', at('ts'));
    await refused(body(estimate(), Buffer.from('[{"ts": 1e400, "ph": "X"}]')), 422, 'out_of_range');
    await refused(body(estimate(), trace([])), 422, 'no_events');
    await refused(body(estimate(), trace([launch(0, 1)])), 422, 'no_kernels');
    await refused(body(estimate(), Buffer.from('['.repeat(100000))), 400, 'too_deep');
    const huge = kernel('x'.repeat(3 << 20), 7, 0, 5, 1);
    huge.args.stack = 'y'.repeat(5 << 20);
    const { unmatched } = await compared([huge]);
    assert.equal(unmatched[0].name, 'x'.repeat(159));
});

test('a small file that unpacks to gigabytes is refused', async () => {
    const packed = gzipSync(Buffer.alloc(1 << 26, ' '), { level: 9 });
    const bomb = Buffer.concat(Array(17).fill(packed));
    assert.ok(bomb.length < 2 << 20);
    await refused(body(estimate(), bomb), 413, 'too_large');
});
