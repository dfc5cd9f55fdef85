/** Comparisons: every column is an estimate of its own, and what is recommended follows from them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networks } from '../fixtures/layers/generate.mjs';
import { clientOfFile } from './lib/client.mjs';
import { accelerator, estimate, large, llama, mixtral, t5 } from './lib/fixtures.mjs';
import { mergePatch } from './lib/merge.mjs';
import { assertProblem } from './lib/problems.mjs';

const path = '/api/v1/comparisons';
const client = await clientOfFile();

/** The estimate fixture without what a comparison chooses. */
function comparison({ config = llama, workload = {}, cluster = {}, ...rest } = {}) {
    const { model, workload: usual, cluster: one } = estimate({ config, cluster });
    const { framework, micro_batch_size: size, recompute, ...open } = usual;
    return { model, workload: { ...open, ...workload }, cluster: one, ...rest };
}

async function answered(request) {
    const response = await client.post(path, request);
    assert.equal(response.status, 200, response.text.slice(0, 1000));
    return response.json;
}

const compared = (parts) => answered(comparison(parts));
const column = (answer, name) => answer.strategies.find((strategy) => strategy.name === name);

/** The change of every applicable column, sent as an estimate, gives the figures of the column. */
async function assertReproduced(request, columns) {
    let count = 0;
    for (const entry of columns) {
        if (!entry.applicable)
            continue;
        const what = `${entry.name ?? JSON.stringify(entry)}`.slice(0, 200);
        const response = await client.post('/api/v1/estimates', mergePatch(request, entry.change));
        assert.equal(response.status, 200,
            `${what}: ${JSON.stringify(entry.change)}: ${response.text.slice(0, 500)}`);
        const { fits, fits_certain: certain, memory, time, interval, throughput, communication, resolved } = response.json;
        assert.deepEqual([entry.fits, entry.fits_certain], [fits, certain], what);
        for (const key of ['usable_bytes', 'device_total_bytes', 'headroom_bytes',
            'peak_allocated_bytes', 'peak_reserved_bytes', 'host_bytes_per_node'])
            assert.equal(entry.memory[key], memory[key], `${what} ${key}`);
        const fullest = memory.ranks.find((rank) => rank.device_total_bytes === memory.device_total_bytes);
        assert.deepEqual(entry.memory.terms.map(({ bytes }) => bytes),
            fullest.terms.map(({ bytes }) => bytes), what);
        assert.equal(entry.time.step_s, time.step_s, what);
        assert.deepEqual(entry.time.step_interval_s, interval.step_s, what);
        assert.deepEqual(entry.time.terms, time.terms.map(({ name, seconds }) => ({ name, seconds })), what);
        assert.equal(entry.throughput.tokens_per_s, throughput.tokens_per_s, what);
        const withoutLatency = ({ message_latency_s: latency, ...row }) => row;
        assert.deepEqual(entry.communication.map((row) => ({ ...withoutLatency(row), explain: withoutLatency(row.explain) })),
            communication, what);
        assert.equal(entry.resolved.software, resolved.workload.software, what);
        assert.equal(entry.resolved.data, resolved.parallelism.data, what);
        count++;
    }
    return count;
}

test('every strategy is a column, in words and in numbers, or says which rule it breaks', async () => {
    const { strategies, of } = await compared();
    assert.equal(of, 'strategies');
    assert.equal(strategies.length, 16);
    for (const entry of strategies) {
        for (const word of ['definition', 'how_it_works', 'use_when', 'scalability', 'adoption',
            'latency', 'fault_tolerance', 'examples', 'source'])
            assert.ok(entry[word].length > 0, `${entry.name} ${word}`);
        assert.ok(entry.supported_by.length > 0, entry.name);
        assert.equal(entry.refused === null, entry.applicable, entry.name);
        assert.equal(entry.memory !== null, entry.applicable, entry.name);
        if (entry.applicable)
            assert.ok(entry.scaling.sentence.length > 0, entry.name);
        else
            assert.match(entry.refused.code, /^[a-z_]+$/, entry.name);
    }
    assert.equal(column({ strategies }, 'hsdp').refused.code, 'one_node');
});

test('the words name no number', async () => {
    const { strategies } = await compared();
    for (const { name, ...entry } of strategies)
        for (const word of ['definition', 'use_when', 'scalability', 'latency', 'fault_tolerance'])
            assert.doesNotMatch(entry[word].replace(/ZeRO \d|1F1B/g, ''), /\d/, `${name} ${word}`);
});

test('on several pools a column is what its change is answered with, too', async () => {
    const request = { ...comparison({ workload: { global_batch_size: 192 } }),
        cluster: { pools: [
            { name: 'fast', accelerator: 'nvidia-h100-sxm5-80gb', nodes: 2, accelerators_per_node: 8 },
            { name: 'slow', accelerator: 'nvidia-a100-sxm4-80gb', nodes: 2, accelerators_per_node: 4 },
        ] } };
    const answer = await answered(request);
    assert.ok(answer.warnings.some(({ code }) => code === 'pools_in_common'));
    assert.ok(await assertReproduced(request, answer.strategies) >= 8);
    assert.ok(answer.strategies.some(({ refused }) => refused?.code === 'not_modelled'));
});

test('what a column shows is what its change is answered with', async () => {
    for (const [parts, applicable] of [
        [{}, 12],
        [{ cluster: { nodes: 2 } }, 13],
        [{ config: large, workload: { sequence_length: 4096, global_batch_size: 512 },
            cluster: { nodes: 16 } }, 13],
        [{ config: mixtral, cluster: { nodes: 2 } }, 13],
        [{ config: t5, workload: { sequence_length: 256, dropout: null, attention: null } }, 10],
        [{ cluster: { accelerators_per_node: 1 } }, 4],
        [{ workload: { software: 'torchtitan-2024-12', framework: 'fsdp2', attention: 'flash',
            micro_batch_size: 2, profile: { host_operator_s: 1e-5 } } }, 12],
        [{ workload: { attention: null, dropout: null, recompute: 'full' } }, 12],
        [{ workload: { adapter: { rank: 8, base: 'nf4', unquantized: 'fp32' } } }, 12],
        [{ workload: { offload: { optimizer: 'cpu' } } }, 11],
        [{ workload: { offload: { optimizer_fraction: 0.5 } } }, 12],
    ]) {
        const request = comparison(parts);
        const { strategies } = await answered(request);
        const count = await assertReproduced(request, strategies);
        assert.equal(count, applicable, JSON.stringify(parts).slice(0, 80));
    }
});

test('a plan of one\'s own stands beside the strategies, which take nothing of its cut', async () => {
    const request = { ...comparison({ cluster: { nodes: 2 },
        workload: { framework: 'megatron', micro_batch_size: 1, gradient_accumulation: 8 } }),
    parallelism: { tensor: 2, pipeline: 2, data: 4, virtual_pipeline: 2, zero_stage: 1, sequence: true,
        grad_reduce_dtype: 'bf16', overlap: { p2p: false }, order: 'tp-cp-ep-pp-dp' } };
    const answer = await answered(request);
    const given = column(answer, 'given');
    assert.equal(answer.strategies.length, 17);
    assert.deepEqual(given.change, {});
    assert.equal(given.resolved.tensor, 2);
    assert.equal(column(answer, 'ddp').resolved.tensor, 1);
    assert.equal(await assertReproduced(request, answer.strategies),
        answer.strategies.filter(({ applicable }) => applicable).length);
    const sharded = { ...comparison({ cluster: { nodes: 2 }, workload: { framework: 'fsdp2' } }),
        parallelism: { sharding: 'hybrid_shard', reshard_after_forward: false, fsdp_unit: 'root',
            gather_dtype: 'bf16' } };
    await assertReproduced(sharded, (await answered(sharded)).strategies);
    for (const workload of [{ framework: 'megatron', precision: 'fp8', fp8: { dot_product_attention: true }, attention: null },
        { framework: 'megatron', precision: 'fp8', fp8: { recipe: 'current', primary_weights: true, transpose_cache: false,
            activation_input_store: true }, recompute: { mode: 'modules', modules: ['core_attn', 'layernorm'] } },
        { framework: 'fsdp2', recompute: 'op_sac' },
        { framework: 'fsdp2', recompute: { mode: 'none', mlp_tiles: 8 } },
        { framework: 'fsdp2', recompute: { mode: 'full', method: 'block', layers: 4, mlp_tiles: 8 } }]) {
        const of = comparison({ workload });
        const { strategies } = await answered(of);
        assert.ok(['zero_3', 'fsdp_full_shard', 'pipeline'].every((name) => column({ strategies }, name).applicable));
        await assertReproduced(of, strategies);
    }
    const impossible = await answered({ ...comparison(), parallelism: { tensor: 3, data: 1 } });
    assert.equal(column(impossible, 'given').applicable, false);
    assert.ok(column(impossible, 'ddp').applicable);
});

test('some strategies, in their order, and the plan that they change', async () => {
    const request = comparison({ strategies: ['tensor', 'ddp'] });
    const { strategies } = await answered(request);
    assert.deepEqual(strategies.map(({ name }) => name), ['ddp', 'tensor']);
    assert.deepEqual([strategies[0].change.strategies, strategies[0].change.of], [null, undefined]);
    assert.equal(await assertReproduced(request, strategies), 2);
});

test('stages of zero need less and less, and replicas alone keep a copy elsewhere', async () => {
    const answer = await compared({ config: large, cluster: { nodes: 2 },
        workload: { micro_batch_size: 1, recompute: 'full' } });
    const bytes = ['ddp', 'zero_1', 'zero_2', 'zero_3'].map((name) =>
        column(answer, name).memory.device_total_bytes);
    assert.deepEqual(bytes, [...bytes].sort((a, b) => b - a));
    assert.equal(column(answer, 'ddp').failure.copies_left, 15);
    assert.equal(column(answer, 'zero_3').failure.copies_left, 0);
    assert.equal(column(answer, 'hsdp').failure.copies_left, 1);
    assert.ok(column(answer, 'ddp').failure.lost_s > 0);
    assert.equal(column(answer, 'dp').refused.code, 'one_node');
});

test('what is recommended fits as surely as any, in no more than three percent longer than what is fastest of those', async () => {
    for (const parts of [{}, { config: large, cluster: { nodes: 16 },
        workload: { sequence_length: 4096, global_batch_size: 512 } }]) {
        const { strategies, recommendation } = await compared(parts);
        const best = strategies.find(({ name }) => name === recommendation.strategy);
        assert.ok(best.fits);
        const sure = strategies.filter(({ fits, fits_certain }) => fits && fits_certain);
        assert.equal(best.fits_certain, sure.length > 0);
        const fitting = sure.length > 0 ? sure : strategies.filter(({ fits }) => fits);
        for (const { time } of fitting)
            assert.ok(best.time.step_s <= recommendation.alike_ratio * time.step_s);
        assert.match(recommendation.reason, /\d s a step/);
        assert.equal(recommendation.use_when.length, 4);
        for (const { situation, strategy } of recommendation.use_when)
            if (strategy !== null)
                assert.ok(column({ strategies }, strategy).suits.includes(situation));
    }
});

/** A cluster whose devices hold what a plan needs, and a byte more. */
const tightFor = ({ memory }) => ({ memory_bytes: memory.device_total_bytes + 2 ** 30 + 1, reserved_bytes: 2 ** 30 });

test('a recommendation that fits narrowly says so', async () => {
    const closed = { strategies: ['ddp'], workload: { micro_batch_size: 1, recompute: 'none' } };
    const { strategies: [roomy], recommendation } = await compared(closed);
    assert.doesNotMatch(recommendation.reason, /narrowly/);
    assert.match(recommendation.reason, /the fastest that surely fits;/);
    const { strategies: [tight], recommendation: risky } = await compared({ ...closed, cluster: tightFor(roomy) });
    assert.deepEqual([tight.fits, tight.fits_certain, risky.strategy], [true, false, 'ddp']);
    assert.match(risky.reason, /the fastest that fits;.*It fits narrowly/);
    assert.ok(tight.warnings.some(({ code }) => code === 'little_room'));
});

test('a strategy takes what fits surely before what is faster and may not fit', async () => {
    const { strategies: [roomy] } = await compared({ strategies: ['ddp'] });
    const { strategies: [tight] } = await compared({ strategies: ['ddp'], cluster: tightFor(roomy) });
    assert.deepEqual([tight.fits, tight.fits_certain], [true, true]);
    assert.ok(tight.memory.device_total_bytes < roomy.memory.device_total_bytes);
    assert.ok(tight.time.step_s > roomy.time.step_s);
});

test('what fits surely does so by every release that may be meant', async () => {
    const asked = { config: { ...large, num_hidden_layers: 48 }, cluster: { nodes: 8 }, strategies: ['fsdp_full_shard'],
        workload: { sequence_length: 4096, global_batch_size: 512 } };
    const { strategies: [entry] } = await compared(asked);
    assert.deepEqual([entry.fits, entry.fits_certain], [true, true]);
});

test('who recommends what is slower and sure says what is faster and may not fit', async () => {
    const { strategies, recommendation } = await compared({ config: large, cluster: { nodes: 2 } });
    const best = strategies.find(({ name }) => name === recommendation.strategy);
    const [fastest] = strategies.filter(({ fits }) => fits).sort((a, b) => a.time.step_s - b.time.step_s);
    assert.deepEqual([best.fits_certain, fastest.fits_certain], [true, false]);
    assert.ok(fastest.time.step_s * recommendation.alike_ratio < best.time.step_s);
    const [, said] = /the fastest that surely fits;.* would take ([\d.]+) s and fits narrowly, with \d+\.\d GiB free\.$/.exec(recommendation.reason) ?? [];
    assert.ok(Math.abs(Number(said) / fastest.time.step_s - 1) < 0.1, recommendation.reason);
    const { recommendation: roomy } = await compared({});
    assert.doesNotMatch(roomy.reason, /would take/);
});

test('where nothing fits, that is said with what lacks least', async () => {
    const { recommendation, strategies } = await compared({ config: large,
        cluster: { accelerators_per_node: 1 }, workload: { recompute: 'none', micro_batch_size: 32,
            global_batch_size: 32, sequence_length: 8192 } });
    assert.ok(strategies.every(({ fits }) => fits !== true));
    assert.equal(recommendation.strategy, null);
    assert.match(recommendation.reason, /GiB/);
    assert.equal(recommendation.situation.name, 'model_large');
});

test('devices without room are compared, and the model is no share of them', async () => {
    for (const cluster of [{ reserved_bytes: 2 ** 50 }, { accelerator_overrides: { memory_bytes: 2 ** 20 } }]) {
        const { recommendation, strategies } = await compared({ cluster });
        assert.deepEqual([recommendation.strategy, recommendation.situation], [null, null]);
        assert.ok(strategies.every(({ applicable, fits }) => !applicable || !fits));
    }
});

test('networks as lists of layers are compared where they can be', async () => {
    for (const layers of Object.values(networks)) {
        const request = { model: { layers }, workload: { global_batch_size: 256 },
            cluster: { accelerator, nodes: 1, accelerators_per_node: 4 } };
        const answer = await answered(request);
        for (const name of ['dp', 'ddp', 'layer_wise', 'layer_wise_ddp', 'pipeline'])
            assert.ok(column(answer, name).applicable, name);
        assert.equal(column(answer, 'tensor').refused.code, 'no_tensors');
        assert.ok(column(answer, 'layer_wise').time.bubble_ratio >= 3 / 4);
        assert.equal(column(answer, 'ddp').resolved.microbatches, 1);
        assert.ok(await assertReproduced(request, answer.strategies) >= 12);
    }
});

test('equal layers on four devices, one after the other, leave three quarters idle', async () => {
    const layers = [{ name: 'dense', count: 12, parameters: 1e6, activation_bytes: 1e6,
        forward_flops: 1e10, output_bytes: 1e5 }];
    const { strategies } = await answered({ model: { layers }, workload: { global_batch_size: 256 },
        cluster: { accelerator, nodes: 1, accelerators_per_node: 4 }, strategies: ['layer_wise'] });
    const [{ time, scaling }] = strategies;
    assert.ok(Math.abs(time.bubble_ratio - 3 / 4) < 1e-9, `${time.bubble_ratio}`);
    assert.match(scaling.sentence, /75 %/);
});

test('two replicas of two devices are neighbours, and half of each waits', async () => {
    const layers = [{ name: 'dense', count: 12, parameters: 1e6, activation_bytes: 1e6,
        forward_flops: 1e10, output_bytes: 1e5 }];
    const ask = (nodes) => answered({ model: { layers }, workload: { global_batch_size: 256 },
        cluster: { accelerator, nodes, accelerators_per_node: 2 }, strategies: ['layer_wise_ddp'] });
    const [{ time, change }] = (await ask(2)).strategies;
    assert.equal(change.parallelism.pipeline, 2);
    assert.equal(change.parallelism.data, 2);
    assert.equal(change.parallelism.order, 'tp-cp-ep-pp-dp', 'dev0 = local_rank * k');
    assert.ok(Math.abs(time.bubble_ratio - 1 / 2) < 1e-9, `${time.bubble_ratio}`);
});

test('fine-tuning is compared method by method, each form with gain and cost', async () => {
    const request = comparison({ workload: { kind: 'finetuning', attention: null, dropout: null } });
    const { of, methods, choices, recommendation } = await answered(request);
    assert.equal(of, 'finetuning');
    assert.deepEqual(methods.map(({ name }) => name),
        ['full', 'lora', 'lora_int8', 'qlora', 'qlora_double']);
    assert.equal(choices.length, 20);
    const bytesOf = (method, recompute, unfused) => choices.find((choice) =>
        choice.method === method && choice.recompute === recompute
        && (choice.attention === 'unfused') === unfused).memory.device_total_bytes;
    for (const recompute of ['none', 'full'])
        for (const unfused of [true, false]) {
            const bytes = methods.map(({ name }) => bytesOf(name, recompute, unfused));
            assert.deepEqual(bytes, [...bytes].sort((a, b) => b - a), recompute);
        }
    const [base] = choices;
    for (const choice of choices) {
        assert.equal(choice.gain_bytes,
            base.memory.device_total_bytes - choice.memory.device_total_bytes);
        assert.ok(Math.abs(choice.cost_s - (choice.time.step_s - base.time.step_s)) < 1e-9);
        assert.equal(choice.resolved.framework, 'ddp');
    }
    assert.equal(recommendation.method, 'full');
    assert.equal(await assertReproduced(request, choices), 20);
});

test('fine-tuning keeps the plan, the framework and the adapter that are said', async () => {
    for (const parts of [
        { workload: { framework: 'fsdp2', attention: 'flash' } },
        { workload: { framework: 'megatron', adapter: { rank: 8, targets: ['q_proj'] } },
            parallelism: { tensor: 2 } },
        { workload: { adapter: { method: 'dora', rank: 4, base: 'nf4', unquantized: 'fp32' },
            recompute: { mode: 'full', method: 'block', layers: 2 } } },
        { of: 'finetuning', workload: { micro_batch_size: 2 } },
    ]) {
        const request = comparison({ ...parts, workload: { kind: 'finetuning', ...parts.workload } });
        const { choices } = await answered(request);
        assert.equal(await assertReproduced(request, choices), choices.length);
    }
    const layers = await answered({ model: { layers: networks.vgg16 }, of: 'finetuning',
        workload: { global_batch_size: 64 },
        cluster: { accelerator, nodes: 1, accelerators_per_node: 2 } });
    for (const { method, applicable, refused } of layers.choices)
        assert.equal(method === 'full' ? applicable : refused.code === 'no_tensors', true, method);
});

test('what is unknown is refused by name, with the nearest that is known', async () => {
    const wrong = (parts) => client.post(path, comparison(parts));
    const misspelt = await wrong({ strategies: ['ddp', 'zero3'] });
    assertProblem(misspelt, 422, { pointer: '/strategies/1', code: 'unknown_value' });
    assert.match(misspelt.json.errors[0].hint, /zero_3/);
    assertProblem(await wrong({ strategies: ['given'] }), 422,
        { pointer: '/strategies/0', code: 'required_field' });
    assertProblem(await wrong({ strategies: [] }), 422, { pointer: '/strategies', code: 'wrong_type' });
    assertProblem(await wrong({ of: 'strategy' }), 422, { pointer: '/of', code: 'unknown_value' });
    assertProblem(await wrong({ of: 'finetuning', strategies: ['ddp'] }), 422,
        { pointer: '/strategies', code: 'conflicting_fields' });
    assertProblem(await wrong({ strategy: ['ddp'] }), 422, { pointer: '/strategy', code: 'unknown_field' });
    assertProblem(await client.post(path, { model: { parameters: 7e9 },
        workload: { accounting: 'half-simple' }, cluster: { accelerator, nodes: 1 } }), 422,
    { pointer: '/model', code: 'model_required' });
    assertProblem(await client.post('/api/v1/estimates', { ...estimate(), strategies: ['ddp'] }), 422,
        { pointer: '/strategies', code: 'unknown_field' });
});

test('every fault of a request is named at once', async () => {
    const { json } = await client.post(path, { ...comparison({ strategies: ['zero9'] }),
        workload: { sequence_length: 0, global_batch_size: 32 } });
    const pointers = json.errors.map(({ pointer }) => pointer);
    assert.ok(pointers.includes('/strategies/0') && pointers.includes('/workload/sequence_length'));
});

test('the same comparison has the same answer, and its path the usual methods', async () => {
    const [first, second] = [await client.post(path, comparison()), await client.post(path, comparison())];
    assert.equal(first.text, second.text);
    const options = await client.request('OPTIONS', path);
    assert.equal(options.status, 204);
    assert.match(options.headers.allow, /POST/);
    assert.equal((await client.get(path)).status, 405);
    const metrics = await client.get('/metrics');
    assert.match(metrics.text, /route="\/api\/v1\/comparisons"/);
});
