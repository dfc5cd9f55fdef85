/** Networks given as plain lists of layers: the examples of tests/fixtures/layers, end to end. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { networks, text } from '../fixtures/layers/generate.mjs';
import { clientOfFile } from './lib/client.mjs';
import { accelerator } from './lib/fixtures.mjs';
import { assertProblem } from './lib/problems.mjs';

const path = '/api/v1/estimates';
const client = await clientOfFile();

function request(layers, { workload = {}, cluster = {}, parallelism = {} } = {}) {
    return {
        model: { layers },
        workload: { global_batch_size: 256, recompute: 'none', precision: 'bf16', ...workload },
        cluster: { accelerator, nodes: 1, accelerators_per_node: 8, ...cluster },
        parallelism: { zero_stage: 0, ...parallelism },
    };
}

async function answered(layers, parts) {
    const response = await client.post(path, request(layers, parts));
    assert.equal(response.status, 200, response.text);
    return response.json;
}

const onFour = {
    workload: { micro_batch_size: 32, software: 'megatron-lm-2022' },
    cluster: { accelerators_per_node: 4 },
    parallelism: { pipeline: 4 },
};

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const total = (layers, key) => sum(layers.map((layer) => (layer.count ?? 1) * layer[key]));
const bytesOf = ({ terms }, name) =>
    sum(terms.filter((term) => term.name === name).map(({ bytes }) => bytes));
const codes = ({ warnings, assumptions }) => [...warnings, ...assumptions].map(({ code }) => code);

test('the examples are what their definitions give', () => {
    for (const [name, layers] of Object.entries(networks)) {
        const file = new URL(`../fixtures/layers/${name}.json`, import.meta.url);
        assert.equal(readFileSync(file, 'utf8'), text(layers), `${name}: run generate.mjs`);
    }
});

test('replicas of every example: states of its parameters, activations of its batch', async () => {
    for (const [name, layers] of Object.entries(networks)) {
        const answer = await answered(layers);
        const [rank] = answer.memory.ranks;
        const parameters = total(layers, 'parameters');
        assert.equal(answer.model.parameters, parameters, name);
        assert.equal(answer.resolved.workload.framework, 'ddp', name);
        assert.equal(answer.resolved.workload.micro_batch_size, 32, name);
        assert.equal(bytesOf(rank, 'parameters'), 4 * parameters, name);
        assert.equal(bytesOf(rank, 'optimizer'), 8 * parameters, name);
        assert.equal(bytesOf(rank, 'activations'), 32 * total(layers, 'activation_bytes'), name);
        assert.equal(answer.communication[0].bytes_per_step, 4 * parameters, name);
        assert.equal(answer.throughput.tokens_per_s, answer.throughput.samples_per_s, name);
        assert.ok(answer.throughput.mfu_full > 0 && answer.throughput.mfu_full < 1, name);
        for (const code of ['per_sample', 'layers_unmeasured', 'micro_batch_size_assumed'])
            assert.ok(codes(answer).includes(code), `${name}: ${code}`);
    }
});

test('four devices in a pipeline hold a quarter of the layers each', async () => {
    for (const [name, layers] of Object.entries(networks)) {
        const answer = await answered(layers, onFour);
        assert.equal(answer.resolved.workload.framework, 'megatron', name);
        assert.equal(answer.memory.ranks.length, 4, name);
        for (const [stage, rank] of answer.memory.ranks.entries()) {
            const own = layers.slice(stage * layers.length / 4, (stage + 1) * layers.length / 4);
            assert.equal(bytesOf(rank, 'parameters'), 2 * total(own, 'parameters'), name);
            // 1F1B: 4 - stage micro-batches alive
            assert.equal(bytesOf(rank, 'activations'),
                (4 - stage) * 32 * total(own, 'activation_bytes'), name);
        }
        assert.ok(answer.time.bubble_ratio > 0.1, name);
    }
});

test('one batch on three devices of equal layers leaves two thirds idle', async () => {
    const layers = [{ name: 'dense', count: 12, parameters: 1e6, activation_bytes: 1e6,
        forward_flops: 1e10, output_bytes: 1e5 }];
    const { time } = await answered(layers, {
        workload: { micro_batch_size: 256, software: 'megatron-lm-2022' },
        cluster: { accelerators_per_node: 3 },
        parallelism: { pipeline: 3 },
    });
    assert.ok(Math.abs(time.bubble_ratio - 2 / 3) < 1e-9, `${time.bubble_ratio}`);
});

test('what a list of layers says nothing about is refused at its field', async () => {
    const { vgg16 } = networks;
    for (const [parts, pointer, rule] of [
        [{ parallelism: { tensor: 2 }, workload: { framework: 'megatron' } },
            '/parallelism/tensor', 'no_tensors'],
        [{ parallelism: { sequence: true } }, '/parallelism/sequence', 'no_sequence'],
        [{ workload: { sequence_length: 224 } }, '/workload/sequence_length', 'no_sequence'],
        [{ workload: { attention: 'flash2' } }, '/workload/attention', 'no_attention'],
        [{ workload: { recompute: 'selective' } }, '/workload/recompute', 'no_attention'],
        [{ workload: { dropout: true } }, '/workload/dropout', 'no_dropout'],
        [{ parallelism: { pipeline: 8 }, workload: { framework: 'ddp' } },
            '/parallelism/pipeline', 'framework_replicates'],
    ]) {
        const { code, hint } = assertProblem(await client.post(path, request(vgg16, parts)), 422,
            { pointer });
        assert.equal(code, rule);
        assert.ok(hint.length > 0, pointer);
    }
});

test('layers are judged with the rest of the document, each fault at its place', async () => {
    const asked = request([{ name: 'a', parameters: -1, activation_bytes: 1 }, { nam: 'b' }],
        { workload: { precision: 'bf61' } });
    const { json } = await client.post(path, asked);
    const pointers = json.errors.map(({ pointer }) => pointer);
    for (const pointer of ['/workload/precision', '/model/layers/0/parameters',
        '/model/layers/0/forward_flops', '/model/layers/1/nam', '/model/layers/1/name'])
        assert.ok(pointers.includes(pointer), `${pointer} is not among ${pointers}`);
});

test('the choices are those a list of layers leaves', async () => {
    const { json } = await client.post(`${path}:choices`, request(networks.resnet50, onFour));
    assert.equal(json.valid, true, JSON.stringify(json.errors));
    assert.deepEqual(json.choices.tensor, [1]);
    assert.deepEqual(json.choices.pipeline, [1, 2, 4]);
    assert.deepEqual(json.choices.attention, ['unfused']);
    assert.deepEqual(json.choices.recompute, ['none', 'full']);
});

test('a fix of a plan that does not fit is accepted as it stands', async () => {
    const asked = request(networks.densenet121, { workload: { global_batch_size: 32768 } });
    const { json } = await client.post(path, asked);
    assert.equal(json.fits, false);
    assert.ok(json.binding.fixes.length > 0);
    for (const { change, memory_bytes: bytes } of json.binding.fixes) {
        const changed = { ...asked, workload: { ...asked.workload, ...change.workload },
            parallelism: { ...asked.parallelism, ...change.parallelism } };
        const again = await client.post(path, changed);
        assert.equal(again.status, 200, again.text);
        assert.equal(again.json.memory.device_total_bytes, bytes, JSON.stringify(change));
    }
});

test('an accounting stands beside the exact figures', async () => {
    const { accounting } = await answered(networks.resnet50,
        { workload: { accounting: 'fp32-16n' } });
    assert.equal(accounting.total_bytes, 16 * 25557032);
});

test('a list of layers can be inspected', async () => {
    for (const [name, layers] of Object.entries(networks)) {
        const { status, json } = await client.post('/api/v1/models:inspect', { layers, name });
        assert.equal(status, 200);
        const parameters = total(layers, 'parameters');
        assert.equal(json.name, name);
        assert.equal(json.parameters.total, parameters);
        assert.equal(json.parameters.other, parameters);
        assert.equal(json.weights_bytes, 4 * parameters);
        assert.equal(json.kv_cache.bytes_per_token, 0);
        assert.deepEqual(json.layers.map(({ kind }) => kind), layers.map((layer) => layer.name));
        assert.equal(json.warnings.length, 1);
    }
    const both = { layers: networks.vgg16, config: {} };
    assertProblem(await client.post('/api/v1/models:inspect', both), 422, { pointer: '' });
    assertProblem(await client.post('/api/v1/models:inspect', { layers: {} }), 422,
        { pointer: '/layers' });
});
