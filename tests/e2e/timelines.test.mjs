/** Timelines: a step as columns and as a Chrome trace, beside the estimate of the same plan. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { clientOfFile } from './lib/client.mjs';
import { accelerator, estimate, gpt2, llama } from './lib/fixtures.mjs';
import { assertProblem } from './lib/problems.mjs';

const { buildModel } = createRequire(import.meta.url)('@tracerbench/trace-model');

const path = '/api/v1/timelines';
const trace = 'application/vnd.chrome-trace+json';
const client = await clientOfFile();

const ask = (parts, query = '', headers = {}) =>
    client.post(path + query, estimate(parts), { headers });

async function answered(parts, query) {
    const response = await ask(parts, query);
    assert.equal(response.status, 200, response.text);
    return response.json;
}

/** Spans as objects, their lane and kind by name. */
const rowsOf = ({ spans, lanes, kinds }) => spans.lane.map((lane, i) => ({
    ...lanes[lane], lane, kind: kinds[spans.kind[i]], microbatch: spans.microbatch[i],
    chunk: spans.chunk[i], operator: spans.operator[i], layer: spans.layer[i], start: spans.start_s[i], end: spans.end_s[i],
}));

const eight = { accelerator, nodes: 1, accelerators_per_node: 8 };
const sharded = { tensor: 1, sequence: false, pipeline: 1, data: 8 };

test('columns are of one length, and nothing of a lane overlaps', async () => {
    const timeline = await answered();
    const lengths = new Set(Object.values(timeline.spans).map(({ length }) => length));
    assert.deepEqual([...lengths], [timeline.span_count]);
    assert.equal(timeline.left_out, 0);
    const last = new Map();
    for (const { lane, start, end } of rowsOf(timeline)) {
        assert.ok(end >= start && start >= (last.get(lane) ?? 0) - 1e-12 && end <= timeline.end_s);
        last.set(lane, end);
    }
});

/** Each with its chunks of a rank. */
const schedules = { '1f1b': 1, gpipe: 1, naive: 1, interleaved_1f1b: 2, zb_h1: 1, zb_h2: 1, zb_v: 2, dualpipe: 1 };

test('a step takes what its estimate says, whatever the schedule', async () => {
    for (const [schedule, chunks] of Object.entries(schedules)) {
        const parts = { config: { ...llama, num_hidden_layers: 16 },
            workload: { global_batch_size: 32 },
            parallelism: { pipeline: 4, data: 1, schedule, virtual_pipeline: chunks } };
        const timeline = await answered(parts);
        const { json } = await client.post('/api/v1/estimates', estimate(parts));
        assert.equal(timeline.closed_form_s, json.time.step_s, schedule);
        const off = Math.abs(Math.log(timeline.step_s / timeline.closed_form_s));
        assert.ok(off < 0.06, `${schedule}: ${timeline.step_s} for ${timeline.closed_form_s}`);
    }
});

test('what stages keep alive ends where the memory of the estimate does', async () => {
    const waiting = ['kept for backward', 'for weight gradients that wait'];
    for (const [schedule, chunks] of Object.entries(schedules))
        for (const layers of [16, 13])
            for (const recompute of ['none', 'full']) {
                const parts = { config: { ...llama, num_hidden_layers: layers },
                    workload: { sequence_length: 1024, micro_batch_size: 8, global_batch_size: 96, recompute },
                    parallelism: { tensor: 2, pipeline: 4, data: 1, schedule, virtual_pipeline: chunks } };
                const { memory } = await answered(parts);
                const { json } = await client.post('/api/v1/estimates', estimate(parts));
                for (const { phase, first_stage: first, stages, terms } of json.memory.ranks) {
                    if (phase === 'last_backward')
                        continue; /* the most of all is there when little is kept */
                    const kept = terms.filter(({ what }) => waiting.includes(what))
                        .reduce((sum, { bytes }) => sum + bytes, 0);
                    for (const { bytes } of memory.slice(first, first + stages)) {
                        const most = Math.max(...bytes);
                        assert.ok(Math.abs(most - kept) <= 64, `${schedule}, stage ${first}: ${most} of ${kept}`);
                    }
                }
            }
});

test('of 12 equal layers on 3 devices one after another, two thirds are idle', async () => {
    const layers = [{ name: 'layer', count: 12, parameters: 1e6, activation_bytes: 1e6,
        forward_flops: 1e12 }];
    const response = await client.post(path, { model: { layers },
        workload: { kind: 'pretraining', framework: 'megatron', sequence_length: 1,
            global_batch_size: 1, micro_batch_size: 1, recompute: 'none' },
        cluster: { accelerator, nodes: 1, accelerators_per_node: 3 },
        parallelism: { pipeline: 3, data: 1, schedule: 'naive', zero_stage: 0 } });
    assert.equal(response.status, 200, response.text);
    assert.ok(Math.abs(response.json.idle_ratio - 2 / 3) < 0.01, `${response.json.idle_ratio}`);
});

test('fsdp gathers a unit before its layer runs and reduces it after', async () => {
    const timeline = await answered({ workload: { framework: 'fsdp2', recompute: 'none' },
        parallelism: { ...sharded, zero_stage: null, sharding: 'full_shard' } });
    assert.equal(timeline.passes_of, 'layers');
    const rows = rowsOf(timeline).filter(({ microbatch }) => microbatch === 0);
    const of = (kind, layer) => rows.filter((row) => row.kind === kind && row.layer === layer);
    for (let layer = 1; layer <= llama.num_hidden_layers; layer++) {
        const [first, second] = of('gather', layer);
        assert.ok(first.end <= of('forward', layer)[0].start + 1e-12);
        assert.ok(second.end <= of('backward', layer)[0].start + 1e-12);
        assert.ok(of('reduce', layer)[0].start >= of('backward', layer)[0].end - 1e-12);
    }
    const { bytes, peak_bytes: peak } = timeline.memory[0];
    assert.equal(Math.max(...bytes), peak);
    assert.equal(bytes.at(-1), 0);
});

test('the highest step is what the estimate keeps in flight', async () => {
    const parts = { config: gpt2, workload: { global_batch_size: 16, recompute: 'none' },
        parallelism: { tensor: 1, sequence: false, pipeline: 4, data: 2 } };
    const timeline = await answered(parts);
    const { json } = await client.post('/api/v1/estimates', estimate(parts));
    const kept = json.memory.ranks[0].terms.find(({ formula }) => /in.flight/i.test(formula))
        ?? json.memory.ranks[0].terms.find(({ name }) => name === 'activations');
    assert.ok(Math.abs(timeline.memory[0].peak_bytes / kept.bytes - 1) < 1e-4,
        `${timeline.memory[0].peak_bytes} for ${kept.bytes}`);
});

test('ranks and windows keep what is asked for', async () => {
    const all = await answered();
    const stage = await answered({}, '?rank=5');
    assert.deepEqual([...new Set(stage.lanes.map((lane) => lane.stage))], [1]);
    assert.deepEqual(stage.stages.map(({ rank }) => rank), [4]);
    const middle = all.end_s / 2;
    const window = await answered({}, `?from_s=${middle}&to_s=${middle}`);
    assert.ok(window.spans.lane.length < all.spans.lane.length);
    for (const { start, end } of rowsOf(window))
        assert.ok(start <= middle && end >= middle);
    for (const query of ['?from_s=0.2&to_s=0.1', '?from_s=0x1', '?from_s=%201', '?to_s=inf', '?to_s=-1'])
        assertProblem(await ask({}, query), 422, { code: 'out_of_range' });
    const few = await answered({}, '?limit=3');
    assert.deepEqual([few.spans.lane.length, few.left_out], [3, all.span_count - 3]);
});

test('a chrome trace has slices with details, names of tracks, arrows and counters', async () => {
    const response = await ask({ parallelism: { data: 2 } }, '', { accept: trace });
    assert.equal(response.headers['content-type'], trace);
    const { traceEvents: events, otherData } = response.json;
    const columns = await answered();
    assert.equal(otherData.step_s, columns.step_s);
    const of = (phase) => events.filter(({ ph }) => ph === phase);
    assert.equal(of('X').length, columns.span_count);
    for (const { ts, dur, pid, tid, cat, args } of of('X'))
        assert.ok(ts >= 0 && dur >= 0 && pid >= 0 && tid >= 0 && cat && typeof args === 'object');
    assert.ok(of('M').some(({ name, args }) => name === 'process_name' && /^stage 1/.test(args.name)));
    assert.equal(of('s').length, of('f').length);
    const slices = of('X').filter(({ name }) => /^send/.test(name));
    assert.equal(of('s').length, slices.length);
    for (const start of of('s')) {
        const end = of('f').find(({ id }) => id === start.id);
        assert.ok(end.ts >= start.ts && end.pid !== start.pid);
    }
    assert.ok(of('C').every(({ args }) => Number.isInteger(args.bytes)));

    // A reader of others, which sorts events into processes and threads.
    const model = buildModel(events);
    assert.deepEqual(model.processes.map(({ name }) => name), ['stage 0, rank 0', 'stage 1, rank 4']);
    const threads = model.processes.flatMap((process) => process.threads);
    assert.ok(threads.some(({ name }) => name === 'compute'));
    const complete = threads.flatMap((thread) => thread.events).filter((event) => event.isComplete());
    assert.equal(complete.length, columns.span_count);
    // Nothing of a thread lies inside anything else of it.
    assert.deepEqual(complete.filter(({ parent, duration }) => parent && duration > 0), []);
});

test('arrows lead from the end of a send to the start of the pass that it feeds', async () => {
    const schedules = { '1f1b': 1, interleaved_1f1b: 2, zb_v: 2, dualpipe: 1 };
    for (const [schedule, chunks] of Object.entries(schedules)) {
        const { json } = await ask({ config: { ...llama, num_hidden_layers: 8 },
            workload: { global_batch_size: schedule === 'zb_v' ? 32 : 8 },
            parallelism: { pipeline: 4, data: 1, schedule, virtual_pipeline: chunks } }, '',
        { accept: trace });
        const slices = buildModel(json.traceEvents).processes
            .flatMap((process) => process.threads).flatMap((thread) => thread.events)
            .filter((event) => event.isComplete());
        const on = ({ pid, tid }) => slices.filter((slice) => slice.pid === pid && slice.tid === tid);
        const of = (phase) => json.traceEvents.filter(({ ph }) => ph === phase);
        assert.equal(of('s').length, slices.filter(({ name }) => /^send/.test(name)).length);
        const fed = new Set();
        for (const start of of('s')) {
            const end = of('f').find(({ id }) => id === start.id);
            const sent = on(start).find((slice) => slice.start <= start.ts && start.ts < slice.end);
            assert.ok(sent.end - start.ts < 0.002, schedule);
            // Passes beside each other begin together.
            const taker = on(end).find((slice) => slice.start === end.ts
                && slice.args.microbatch === sent.args.microbatch
                && (slice.name === 'forward') === (sent.name === 'send_output'));
            assert.ok(taker.start >= sent.end - 1e-6, schedule);
            assert.ok(!fed.has(taker), `${schedule} feeds one pass twice`);
            fed.add(taker);
            if (schedule === 'zb_v') { // chunks go there and back
                const chunkOf = ({ pid, args: { chunk } }) => (chunk === 0 ? pid - 1 : 8 - pid);
                assert.equal(chunkOf(taker), chunkOf(sent) + (sent.name === 'send_output' ? 1 : -1));
            }
            if (schedule !== 'interleaved_1f1b' || sent.name !== 'send_output') continue;
            assert.equal(taker.args.chunk, sent.args.chunk + (taker.pid < sent.pid));
        }
    }
});

test('a trace comes as a file, and columns packed where the client takes that', async () => {
    const parts = { workload: { global_batch_size: 64 } };
    const plain = await ask(parts, '', { accept: trace });
    const file = await ask(parts, '', { accept: 'application/gzip' });
    assert.equal(file.headers['content-type'], 'application/gzip');
    assert.match(file.headers['content-disposition'], /step\.pt\.trace\.json\.gz/);
    assert.equal(gunzipSync(file.bytes).toString(), plain.text);
    const packed = await ask(parts, '', { 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.deepEqual(JSON.parse(gunzipSync(packed.bytes)), await answered(parts));
    const refused = await ask(parts, '', { 'accept-encoding': 'gzip;q=0' });
    assert.equal(refused.headers['content-encoding'], undefined);
});

test('of several forms comes the one that is weighed most, and none that is not wanted', async () => {
    const typeOf = async (accept) => (await ask({}, '?limit=3', { accept })).type;
    assert.equal(await typeOf('application/json, application/gzip;q=0'), 'application/json');
    assert.equal(await typeOf(`${trace};q=0.5, application/gzip;q=0.4`), trace);
    assert.equal(await typeOf('application/json;q=0.1, application/gzip'), 'application/gzip');
    assert.equal(await typeOf('text/html, */*'), 'application/json');
});

test('a trace of over 64 MiB is packed while it is written, and refused with what helps otherwise', async () => {
    const parts = { workload: { global_batch_size: 24576, recompute: 'none' }, cluster: { ...eight, accelerators_per_node: 1 },
        parallelism: { ...sharded, data: 1 } };
    const file = await ask(parts, '?limit=1000000', { accept: 'application/gzip' });
    assert.equal(file.status, 200, file.text);
    const text = gunzipSync(file.bytes);
    assert.ok(text.length > 2 ** 26 && file.bytes.length < 2 ** 24, `${text.length} bytes as ${file.bytes.length}`);
    const { traceEvents: events, otherData } = JSON.parse(text);
    assert.equal(otherData.left_out, 0);
    assert.ok(events.filter(({ ph }) => ph === 'X').length > 24576 * 8);
    const packed = await ask(parts, '?limit=1000000', { accept: trace, 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.ok(gunzipSync(packed.bytes).equals(text));

    const refused = await ask(parts, '?limit=1000000', { accept: trace });
    const { hint } = assertProblem(refused, 422, { code: 'answer_too_large', says: /67108864/ });
    assert.match(hint, /application\/gzip.*from_s and to_s/);
    const part = await ask(parts, '?limit=1000000&from_s=0&to_s=0.01', { accept: trace });
    assert.equal(part.status, 200, part.text);
});

test('collectives come as steps around their ring where that is asked for', async () => {
    const parts = { workload: { framework: 'fsdp2', recompute: 'none' },
        parallelism: { ...sharded, zero_stage: null, sharding: 'full_shard' } };
    const whole = await answered(parts);
    const rings = await answered(parts, '?rings=true');
    const count = (timeline, kind) => rowsOf(timeline).filter((row) => row.kind === kind).length;
    for (const kind of ['gather', 'reduce'])
        assert.equal(count(rings, kind), 7 * count(whole, kind));
    assert.equal(count(rings, 'forward'), count(whole, 'forward'));
    assert.deepEqual([...new Set(rings.spans.step)].sort(), [0, 1, 2, 3, 4, 5, 6, null]);
    const busy = (timeline) => rowsOf(timeline).filter(({ kind }) => kind === 'gather')
        .reduce((total, { start, end }) => total + end - start, 0);
    assert.ok(Math.abs(busy(rings) / busy(whole) - 1) < 1e-6);
    assertProblem(await ask(parts, '?rings=yes'), 422, { code: 'unknown_value' });
});

test('passes are made of operators where that is asked for', async () => {
    for (const parts of [{}, { workload: { framework: 'fsdp2', recompute: 'full' },
        parallelism: { ...sharded, zero_stage: null, sharding: 'full_shard' } }]) {
        const whole = rowsOf(await answered(parts));
        const { json } = await client.post(path, { ...estimate(parts), detail: 'operator' });
        const rows = rowsOf(json);
        const names = rows.map((row, i) => json.operators[json.spans.operator[i]]);
        for (const name of ['attention', 'loss'])
            assert.ok(names.includes(name), `${name} in ${json.operators}`);
        const busy = (list, kind) => list.filter((row) => row.kind === kind)
            .reduce((total, { start, end }) => total + end - start, 0);
        for (const kind of ['forward', 'backward'])
            assert.ok(Math.abs(busy(rows, kind) / busy(whole, kind) - 1) < 1e-6, kind);
        const ends = new Map();
        for (const { lane, start, end } of rows) {
            assert.ok(start >= (ends.get(lane) ?? 0) - 1e-9);
            ends.set(lane, end);
        }
    }
});

test('a slow stage slows all of them', async () => {
    const usual = await answered();
    const slow = { ...estimate(), slow_stage: { stage: 1, ratio: 2 } };
    const { json } = await client.post(path, slow);
    assert.ok(Math.abs(json.stages[1].busy_s / usual.stages[1].busy_s - 2) < 1e-6);
    assert.ok(json.step_s > 1.3 * usual.step_s);
    assert.equal(json.closed_form_s, usual.closed_form_s);
    assertProblem(await client.post(path, { ...slow, slow_stage: { stage: 2, ratio: 2 } }), 422,
        { pointer: '/slow_stage/stage', code: 'out_of_range' });
    assertProblem(await client.post(path, { ...slow, slow_stage: { stage: 0, ratio: 0.5 } }), 422,
        { pointer: '/slow_stage/ratio', code: 'out_of_range' });
    for (const [half, missing] of [[{ stage: 1 }, 'ratio'], [{ ratio: 2 }, 'stage']])
        assertProblem(await client.post(path, { ...slow, slow_stage: half }), 422,
            { pointer: `/slow_stage/${missing}`, code: 'required_field' });
});

test('micro-batches may be of several sizes, which together are the batch', async () => {
    const usual = await answered();
    const count = new Set(usual.spans.microbatch.filter((number) => number !== null)).size;
    const each = usual.resolved?.workload.micro_batch_size ?? 1;
    const sizes = Array(count).fill(each);
    sizes[0] += each;
    const uneven = (micro_batch_sizes) =>
        client.post(path, { ...estimate(), micro_batch_sizes });
    assertProblem(await uneven(sizes), 422,
        { pointer: '/micro_batch_sizes', code: 'inconsistent' });
    assertProblem(await uneven([1]), 422, { pointer: '/micro_batch_sizes', code: 'inconsistent' });
    const { status, json } = await uneven(Array(count).fill(each));
    assert.equal(status, 200);
    assert.equal(json.step_s, usual.step_s);
    assert.ok(json.warnings.some(({ code }) => code === 'micro_batches_differ'));
});

test('sends take longer beside what replicas exchange over the same links', async () => {
    const timeline = await answered({ config: { ...llama, num_hidden_layers: 8, vocab_size: 8192 },
        cluster: { accelerator, nodes: 4, accelerators_per_node: 4 },
        workload: { global_batch_size: 16 },
        parallelism: { tensor: 4, pipeline: 2, data: 2, schedule: 'interleaved_1f1b',
            virtual_pipeline: 4, zero_stage: 1 } });
    const rows = rowsOf(timeline);
    const data = rows.filter(({ kind }) => kind === 'gather' || kind === 'reduce');
    const sends = rows.filter(({ kind }) => kind.startsWith('send'));
    assert.deepEqual([...new Set([...data, ...sends].map(({ stream }) => stream))], ['network']);
    const usual = Math.min(...sends.map(({ start, end }) => end - start));
    let beside = 0;
    for (const send of sends) {
        // Both stages are an end of every send.
        const shared = data.some(({ start, end }) => start < send.end - 1e-9 && end > send.start + 1e-9);
        const longer = (send.end - send.start) / usual - 1;
        assert.ok(shared ? longer > 0 : longer < 1e-6, `${longer} longer`);
        beside += shared;
    }
    assert.ok(beside > 0 && beside < sends.length, `${beside} of ${sends.length}`);
    const off = Math.abs(Math.log(timeline.step_s / timeline.closed_form_s));
    assert.ok(off < 0.05, `${timeline.step_s} for ${timeline.closed_form_s}`);
});

test('replicas of one process are lent all for a step, which takes what its estimate says', async () => {
    const timeline = await answered({ workload: { framework: 'dp', optimizer: 'adamw',
        global_batch_size: 16, micro_batch_size: 1 }, cluster: eight,
    parallelism: { ...sharded, zero_stage: 0 } });
    assert.ok(Math.abs(timeline.step_s / timeline.closed_form_s - 1) < 1e-9);
    const rows = rowsOf(timeline).filter(({ microbatch }) => microbatch === 1)
        .sort((a, b) => a.start - b.start).map(({ kind }) => kind);
    const turns = rows.filter((kind, i) => kind !== rows[i - 1]);
    assert.deepEqual(turns, ['broadcast', 'scatter_inputs', 'forward', 'gather_outputs',
        'scatter_gradients', 'backward', 'reduce']);
});

test('what the host keeps comes up before it is used, and goes down after', async () => {
    const parts = { cluster: eight,
        workload: { framework: 'fsdp2', recompute: 'full',
            offload: { optimizer: 'cpu', parameters: 'cpu', activations: 'cpu' } },
        parallelism: { ...sharded, zero_stage: null, sharding: 'full_shard' } };
    const timeline = await answered(parts);
    assert.ok(Math.abs(Math.log(timeline.step_s / timeline.closed_form_s)) < 0.05,
        `${timeline.step_s} for ${timeline.closed_form_s}`);
    const rows = rowsOf(timeline).filter(({ microbatch }) => microbatch === 0);
    const of = (kind, layer) => rows.find((row) => row.kind === kind && row.layer === layer);
    for (let layer = 1; layer < llama.num_hidden_layers; layer++) {
        assert.ok(of('parameters_up', layer).end <= of('gather', layer).start + 1e-12);
        assert.ok(of('activations_down', layer).start >= of('forward', layer).end - 1e-12);
        assert.ok(of('activations_up', layer).start >= of('activations_down', layer).end - 1e-12);
        assert.ok(of('backward', layer).start >= of('activations_up', layer).end - 1e-12);
    }
    const last = new Map();
    for (const { lane, start, end } of rowsOf(timeline)) {
        assert.ok(start >= (last.get(lane) ?? 0) - 1e-12);
        last.set(lane, end);
    }
    const groups = timeline.lanes.filter(({ stream }) => stream === 'copy').map(({ group }) => group);
    assert.deepEqual(groups.sort(), ['from_host', 'to_host']);
});

test('of blocks some of which go to the host the others stay, and the closed form agrees', async () => {
    const timeline = await answered({ cluster: eight,
        workload: { framework: 'fsdp2', recompute: 'none',
            offload: { activations: 'cpu', activation_layers: 3 } },
        parallelism: { ...sharded, zero_stage: null, sharding: 'full_shard' } });
    assert.ok(Math.abs(Math.log(timeline.step_s / timeline.closed_form_s)) < 0.05,
        `${timeline.step_s} for ${timeline.closed_form_s}`);
    const down = rowsOf(timeline).filter(({ kind, microbatch }) =>
        kind === 'activations_down' && microbatch === 0);
    assert.deepEqual(down.map(({ layer }) => layer), [1, 2, 3]);
});

test('a schedule that cannot be is refused with what can, and that is legal', async () => {
    const four = { config: { ...llama, num_hidden_layers: 24 }, workload: { global_batch_size: 24 } };
    const refused = async (parallelism, workload = {}, cluster = {}) => {
        const body = { ...four, cluster, workload: { ...four.workload, ...workload },
            parallelism: { pipeline: 4, data: 1, virtual_pipeline: 1, ...parallelism } };
        const { status, json } = await ask(body);
        assert.equal(status, 422);
        assert.ok(json.errors[0].detail.length > 0);
        return { body, ...json.errors[0] };
    };
    /** The first alternative of a hint: a value of the field itself, or of another that it names. */
    const follow = async ({ body, pointer, hint }) => {
        const words = hint.split(/, /)[0].replace(/^or /, '').split(' ');
        const name = words.length > 1 ? words[0] : pointer.split('/').at(-1);
        const value = /^\d+$/.test(words.at(-1)) ? Number(words.at(-1)) : words.at(-1);
        const room = name in estimate().workload ? 'workload' : 'parallelism';
        const { status, text } = await ask({ ...body, [room]: { ...body[room], [name]: value } });
        assert.equal(status, 200, `${hint}: ${text.slice(0, 500)}`);
    };
    for (const [fault, pointer, ...change] of [
        ['too_few_microbatches', '/workload/global_batch_size', { schedule: 'dualpipe' }, { global_batch_size: 6 }],
        ['too_few_microbatches', '/workload/global_batch_size', { schedule: 'dualpipe' }, { global_batch_size: 9 }],
        ['schedule_mismatch', '/parallelism/virtual_pipeline', { schedule: 'zb_v', virtual_pipeline: 3 }],
        ['schedule_mismatch', '/parallelism/schedule', { schedule: '1f1b', virtual_pipeline: 2 }],
        ['schedule_mismatch', '/parallelism/schedule', { schedule: 'interleaved_1f1b' }],
        ['microbatches_not_divisible', '/parallelism/virtual_pipeline',
            { schedule: 'interleaved_1f1b', virtual_pipeline: 2 }, { global_batch_size: 6 }],
        ['microbatches_not_divisible', '/parallelism/virtual_pipeline', { virtual_pipeline: 2 }, { global_batch_size: 6 }],
    ]) {
        const found = await refused(...change);
        assert.deepEqual([found.code, found.pointer], [fault, pointer]);
        await follow(found);
    }
    // One stage is none to it either.
    const { code, hint } = await refused({ schedule: 'dualpipe', pipeline: 3 }, {},
        { accelerators_per_node: 6 });
    assert.equal(code, 'stages_not_even');
    assert.ok(!hint.split(', ').includes('1'), hint);
});

test('what cannot be drawn is refused by name', async () => {
    assertProblem(await client.post(path, { ...estimate(), detail: 'lanes' }), 422,
        { pointer: '/detail', code: 'unknown_value' });
    assertProblem(await client.post('/api/v1/estimates', { ...estimate(), detail: 'stage' }), 422,
        { pointer: '/detail', code: 'unknown_field' });
    assertProblem(await ask({}, '?rank=8'), 422, { code: 'out_of_range' });
    assertProblem(await ask({}, '?from_s=soon'), 422, { code: 'out_of_range' });
    assertProblem(await ask({ workload: { global_batch_size: 2 ** 20 } }), 422,
        { code: 'timeline_too_large' });
});
