/** Limits: both sides of each are what an estimate of its own says, and nothing between them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networks } from '../fixtures/layers/generate.mjs';
import { clientOfFile } from './lib/client.mjs';
import { accelerator, bert, estimate, gpt2, llama, mixtral, t5 } from './lib/fixtures.mjs';
import { mergePatch } from './lib/merge.mjs';
import { assertProblem } from './lib/problems.mjs';

const path = '/api/v1/limits';
const client = await clientOfFile();

/** A plan of which nothing is left open, so that an estimate of it has one answer. */
function planned({ workload = {}, ...rest } = {}) {
    return estimate({
        workload: { software: 'megatron-lm-2022', dropout: false, ...workload },
        ...rest,
    });
}

async function answered(request) {
    const response = await client.post(path, request);
    assert.equal(response.status, 200, response.text.slice(0, 1000));
    return response.json;
}

async function estimated(request) {
    const response = await client.post('/api/v1/estimates', request);
    assert.equal(response.status, 200, response.text.slice(0, 1000));
    return response.json;
}

function assertFigures(point, { fits, fits_certain: certain, memory, time, throughput }, what) {
    assert.equal(point.fits_certain, certain, what);
    assert.equal(point.fits, fits, what);
    assert.equal(point.device_total_bytes, memory.device_total_bytes, what);
    assert.equal(point.usable_bytes, memory.usable_bytes, what);
    assert.equal(point.headroom_bytes, memory.headroom_bytes, what);
    assert.equal(point.step_s, time.step_s, what);
    assert.equal(point.tokens_per_s, throughput.tokens_per_s, what);
}

/** The changes of both sides, sent as estimates, are answered with their figures. @returns how many */
async function assertReproduced(request, limits) {
    let count = 0;
    for (const [name, limit] of Object.entries(limits))
        for (const side of ['at', 'next']) {
            const point = limit[side];
            if (point === null || point.change === null)
                continue;
            const what = `${name} ${side} ${JSON.stringify(point.change)}`;
            assertFigures(point, await estimated(mergePatch(request, point.change)), what);
            assert.equal(point.fits, side === 'at', what);
            count++;
        }
    return count;
}

test('both sides of every limit are estimates of their own', async () => {
    const request = planned({ workload: { global_batch_size: 512 } });
    const { limits, plan } = await answered(request);
    assert.ok(await assertReproduced(request, limits) >= 4);
    assertFigures(plan, await estimated(request), 'the plan as it is');
    assert.equal(limits.micro_batch_size.now, 1);
    assert.equal(limits.layers.now, 4);
    assert.equal(limits.scale.now, 1);
});

test('a rule that ends a limit is said as an estimate says it', async () => {
    const request = planned();
    const { limits } = await answered(request);
    assert.equal(limits.micro_batch_size.end, 'rule');
    const { refused, value } = limits.micro_batch_size.next;
    const response = await client.post('/api/v1/estimates',
        mergePatch(request, { workload: { micro_batch_size: value } }));
    assertProblem(response, 422);
    assert.deepEqual(response.json.errors[0], refused);
});

test('layers and widths are those of the config that has them', async () => {
    const request = planned({ cluster: { memory_bytes: 8e9 } });
    const { limits } = await answered(request);
    assert.equal(limits.layers.end, 'memory');
    assert.equal(limits.scale.end, 'memory');
    for (const side of ['at', 'next']) {
        const deep = limits.layers[side];
        if (deep !== null)
            assertFigures(deep, await estimated(mergePatch(request,
                { model: { config: { num_hidden_layers: deep.value } } })), `layers ${side}`);
        const wide = limits.scale[side];
        if (wide === null)
            continue;
        const ratio = wide.hidden_size / llama.hidden_size;
        const config = {
            hidden_size: wide.hidden_size,
            intermediate_size: Math.round(llama.intermediate_size * ratio),
            num_attention_heads: Math.round(llama.num_attention_heads * ratio),
            num_key_value_heads: Math.round(llama.num_key_value_heads * ratio),
        };
        const own = await estimated(mergePatch(request, { model: { config } }));
        assertFigures(wide, own, `scale ${side}`);
        assert.equal(own.model.parameters, wide.parameters);
    }
    assert.equal(limits.layers.value, limits.layers.at.layers);
    assert.ok(limits.scale.value > 1);
});

test('a table of positions ends a sequence, rotary ones what a request may say', async () => {
    const { limits: learned } = await answered(planned({ config: gpt2 }));
    assert.equal(learned.sequence_length.end, 'rule');
    assert.equal(learned.sequence_length.value, gpt2.n_positions ?? 1024);
    const { limits: rotary } = await answered(planned({ workload: { sequence_length: 1024 } }));
    assert.equal(rotary.sequence_length.multiple_of, 1024);
    assert.match(rotary.sequence_length.end, /memory|bound/);
});

test('what no limit ends has no value, and says why', async () => {
    const { limits } = await answered(planned({
        workload: { sequence_length: 8, global_batch_size: 2, attention: 'flash2' },
        config: { ...llama, num_hidden_layers: 1, vocab_size: 64 },
        parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 2 },
        cluster: { accelerators_per_node: 2 },
    }));
    const { value, end, reason, at } = limits.layers;
    assert.equal(end, 'bound');
    assert.equal(value, null);
    assert.equal(at.layers, 2000);
    assert.match(reason, /no limit was met/);
    assert.equal(limits.nodes.value, 1);
    assert.equal(limits.nodes.end, 'least');
});

test('a plan that does not fit still has limits, and the fewest nodes may be more', async () => {
    const wide = { ...llama, hidden_size: 8192, intermediate_size: 22016, num_attention_heads: 64,
        num_key_value_heads: 64, num_hidden_layers: 64 };
    const request = planned({
        config: wide,
        workload: { framework: 'fsdp2', software: 'torchtitan-2024-12', sequence_length: 4096,
            global_batch_size: 256, recompute: 'full' },
        parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage: 3 },
    });
    const { limits, plan } = await answered(request);
    assert.equal(plan.fits, false);
    assert.ok(limits.nodes.value > 1, limits.nodes.reason);
    assert.equal(limits.nodes.next.fits, false);
    assert.ok(limits.layers.value < 64);
    await assertReproduced(request, { nodes: limits.nodes, length: limits.sequence_length });
});

test('a plan that fits nowhere says how far off it is', async () => {
    const { limits } = await answered(planned({ cluster: { memory_bytes: 15e8 } }));
    for (const name of ['micro_batch_size', 'micro_batch_size_growing', 'nodes']) {
        assert.equal(limits[name].end, 'never', name);
        assert.equal(limits[name].value, null, name);
        assert.ok(limits[name].next.headroom_bytes < 0, name);
    }
});

test('open fields keep the values of the estimate', async () => {
    const { model, workload: { framework, sequence_length, global_batch_size }, cluster } = estimate();
    const request = { model, workload: { framework, sequence_length, global_batch_size }, cluster };
    const { plan, limits } = await answered(request);
    const own = await estimated(request);
    assert.deepEqual(plan.resolved, own.resolved);
    assert.ok(await assertReproduced(request, { nodes: limits.nodes }) >= 1);
});

test('experts, lists of layers, encoders and pools have the limits that they can have', async () => {
    const { limits: experts } = await answered(planned({ config: mixtral }));
    assert.ok(experts.scale.value >= 1);

    const list = networks[Object.keys(networks)[0]];
    const plain = await answered({
        model: { layers: list.layers ?? list },
        workload: { framework: 'ddp', global_batch_size: 64 },
        cluster: { accelerator, nodes: 1, accelerators_per_node: 8 },
    });
    assert.equal(plain.limits.sequence_length.end, 'none');
    assert.equal(plain.limits.scale.end, 'none');
    assert.ok(plain.limits.layers.value === null || plain.limits.layers.value > 0);

    const encoder = await client.post(path, planned({ config: t5 }));
    assert.ok(encoder.status === 200 || encoder.status === 422);
    const classifier = await client.post(path, planned({
        config: bert, parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8 } }));
    assert.equal(classifier.status, 200, classifier.text.slice(0, 500));
    assert.equal(classifier.json.limits.sequence_length.value, 512);
});

test('inference, a number of parameters and impossible plans are refused as elsewhere', async () => {
    assertProblem(await client.post(path, planned({ workload: { kind: 'inference' } })), 422);
    const bare = await client.post(path, {
        model: { parameters: 7e9 },
        workload: { accounting: 'mixed-2-2-12' },
    });
    assertProblem(bare, 422);
    assert.equal(bare.json.errors[0].code, 'model_required');
    const impossible = await client.post(path, planned({ parallelism: { tensor: 3 } }));
    assertProblem(impossible, 422);
});
