/** Schedules that cannot be: whoever follows the hints of the refusals comes to an answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { dice } from './lib/drawn.mjs';
import { estimate, llama } from './lib/fixtures.mjs';

const client = await clientOfFile();
const schedules = ['naive', 'gpipe', '1f1b', 'interleaved_1f1b', 'zb_h1', 'zb_h2', 'zb_v', 'dualpipe'];
const inWorkload = ['global_batch_size', 'micro_batch_size'];
const stepsMax = 7;

/** Chunks, stages, layers and micro-batches as they come; the cut is one of the cluster. */
function drawSchedule({ any }) {
    const pipeline = any(1, 2, 3, 4, 5, 6, 7, 8, 16);
    const tensor = any(1, 1, 2);
    return estimate({
        config: { ...llama, num_hidden_layers: any(4, 6, 12, 13, 16) },
        workload: {
            global_batch_size: any(1, 2, 3, 5, 7, 8, 12, 13, 16, 32, 64), micro_batch_size: any(1, 1, 2, 3),
        },
        cluster: { nodes: pipeline, accelerators_per_node: 2 },
        parallelism: {
            tensor, pipeline, data: any(null, 2 / tensor), schedule: any(...schedules),
            virtual_pipeline: any(1, 1, 2, 3, 7),
        },
    });
}

/** "4" of the field at fault, "schedule 1f1b", "2 with global_batch_size 14". */
function follow(request, { pointer }, words) {
    const next = structuredClone(request);
    for (const part of words.split(' with ')) {
        const [value, name = pointer.split('/').at(-1)] = part.split(' ').reverse();
        const within = inWorkload.includes(name) ? next.workload : next.parallelism;
        within[name] = /^\d+$/.test(value) ? Number(value) : value;
    }
    return next;
}

/** Every number of stages that the cluster can be shared by, and nothing beside them. */
function cutsOf(request) {
    const all = request.cluster.nodes * request.cluster.accelerators_per_node;
    return Array.from({ length: all }, (_, i) => i + 1).filter((stages) => all % stages === 0).map((pipeline) => ({
        ...request, parallelism: { ...request.parallelism, tensor: 1, sequence: false, pipeline, data: null },
    }));
}

/** What each alternative of the hints makes of a request. */
function followed(request, errors) {
    return errors.flatMap((error) => {
        if (error.pointer === '/parallelism')
            return cutsOf(request);
        assert.ok(error.hint, `${error.code} at ${error.pointer} has no hint`);
        return error.hint.split(', ').filter((words) => words !== '...')
            .map((words) => follow(request, error, words.replace(/^or /, '')));
    });
}

/** Steps in which a request comes to no answer. */
const known = new Map();

async function leads(request, steps) {
    const key = JSON.stringify(request);
    if ((known.get(key) ?? -1) >= steps)
        return false;
    const { status, json } = await client.post('/api/v1/estimates', request);
    if (status === 200)
        return true;
    assert.equal(status, 422);
    for (const next of steps > 0 ? followed(request, json.errors) : [])
        if (await leads(next, steps - 1))
            return true;
    known.set(key, steps);
    return false;
}

test('each alternative of a hint leads to an answer, whatever else is at fault', async () => {
    const drawn = dice(7);
    const refused = new Map(schedules.map((schedule) => [schedule, 0]));
    for (let i = 0; i < 240; i++) {
        const request = drawSchedule(drawn);
        const { status, json } = await client.post('/api/v1/estimates', request);
        if (status === 200)
            continue;
        const { schedule } = request.parallelism;
        refused.set(schedule, refused.get(schedule) + 1);
        for (const next of followed(request, json.errors))
            assert.ok(await leads(next, stepsMax),
                `${JSON.stringify(request.parallelism)} refused with ${JSON.stringify(json.errors)}: `
                + `${JSON.stringify(next)} leads nowhere`);
    }
    for (const [schedule, count] of refused)
        assert.ok(count >= 10, `${schedule}: ${count} refused`);
});
