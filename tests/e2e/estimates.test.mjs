/** Estimates: what they promise, what they refuse, and that the same question has one answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { accelerator, bert, estimate, large, llamaParameters, mixtral, t5 } from './lib/fixtures.mjs';
import { mergePatch } from './lib/merge.mjs';
import { assertProblem } from './lib/problems.mjs';

const path = '/api/v1/estimates';
const client = await clientOfFile();

const ask = (parts, query = '') => client.post(path + query, estimate(parts));

async function answered(parts) {
    const response = await ask(parts);
    assert.equal(response.status, 200, response.text);
    return response.json;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function assertNear(actual, expected, what) {
    assert.ok(Math.abs(actual - expected) <= 1e-6 * Math.abs(expected),
        `${what}: ${actual} is not ${expected}`);
}

const alone = { parallelism: { tensor: 1, pipeline: 1, data: 8 }, workload: { sequence_length: 256,
    global_batch_size: 32, dropout: null, attention: null } };

test('an encoder is planned, and trains with the dropout of its config', async () => {
    const { time, memory, throughput, warnings, assumptions, resolved } = await answered({ config: bert, ...alone });
    assert.ok(time.step_s > 0 && memory.peak_allocated_bytes > 0);
    assert.equal(throughput.mfu_full, throughput.mfu_causal, 'no score is masked');
    assert.equal(resolved.workload.dropout, true);
    assert.ok(warnings.some(({ code }) => code === 'encoder_unvalidated'));
    assert.ok(!assumptions.some(({ code }) => code === 'source_length_assumed'));
});

test('an encoder with a decoder is planned on one stage, its attention unfused', async () => {
    const { time, throughput, assumptions, resolved } = await answered({ config: t5, ...alone });
    assert.ok(time.step_s > 0 && throughput.mfu_causal < throughput.mfu_full);
    assert.equal(resolved.workload.attention, 'unfused');
    for (const code of ['source_length_assumed', 'bias_unfused'])
        assert.ok(assumptions.some((note) => note.code === code), code);
    const refused = await ask({ config: t5, ...alone, parallelism: { tensor: 1, pipeline: 2, data: 4 } });
    assertProblem(refused, 422, { pointer: '/parallelism/pipeline' });
    assert.equal(refused.json.errors[0].code, 'not_modelled');
});

const tooLarge = {
    config: large,
    parallelism: { tensor: 8, sequence: true, pipeline: 1, data: 1 },
    workload: { sequence_length: 4096, global_batch_size: 8 },
};

test('a small model fits, and the figures hang together', async () => {
    const { fits, memory, time, throughput, interval } = await answered();
    assert.equal(fits, true);
    assert.equal(memory.headroom_bytes, memory.usable_bytes - memory.device_total_bytes);
    assert.ok(memory.headroom_bytes > 0);
    assert.ok(memory.usable_bytes <= memory.capacity_bytes);
    assert.ok(memory.peak_allocated_bytes <= memory.peak_reserved_bytes);
    assert.ok(memory.peak_reserved_bytes <= memory.device_total_bytes);
    assertNear(throughput.tokens_per_s, 512 * 32 / time.step_s, 'tokens per second');
    assertNear(throughput.tokens_per_s_per_accelerator, throughput.tokens_per_s / 8, 'per device');
    for (const ratio of ['mfu_full', 'mfu_causal', 'hfu'])
        assert.ok(throughput[ratio] > 0 && throughput[ratio] < 1, ratio);
    assert.ok(interval.step_s[0] <= time.step_s && time.step_s <= interval.step_s[1]);
});

test('the terms of the time add up to the step', async () => {
    const { time } = await answered();
    assertNear(sum(time.terms.map((term) => term.seconds)), time.step_s, 'step_s');
    for (const term of time.terms)
        assert.ok(term.seconds >= 0, term.name);
});

test('the terms of every rank add up to its peak, and every device has a rank', async () => {
    const { memory } = await answered();
    assert.equal(sum(memory.ranks.map((rank) => rank.count)), 8);
    const bytesOf = (terms) => sum(terms.map((term) => term.bytes));
    for (const rank of memory.ranks) {
        const allocated = rank.terms.filter((term) =>
            term.lifetime !== 'outside_allocator' && term.name !== 'fragmentation');
        assert.equal(bytesOf(allocated), rank.peak_allocated_bytes, rank.role);
    }
    const binding = memory.ranks.find((rank) => rank.rank === memory.binding_rank);
    assert.equal(bytesOf(binding.terms), memory.device_total_bytes);
    assert.equal(memory.peak_allocated_bytes,
        Math.max(...memory.ranks.map((rank) => rank.peak_allocated_bytes)));
});

test('memory terms come from the fixed vocabulary and say how they were computed', async () => {
    const vocabulary = new Set(['parameters', 'gradients', 'optimizer', 'master_weights',
        'activations', 'logits', 'communication_buffers', 'gathered_parameters', 'temporary',
        'kv_cache', 'adapters', 'fragmentation', 'context']);
    const { memory } = await answered();
    for (const term of memory.ranks.flatMap((rank) => rank.terms)) {
        assert.ok(vocabulary.has(term.name), term.name);
        assert.ok(term.formula.length > 0 && term.source.length > 0, term.name);
        assert.equal(typeof term.inputs, 'object', term.name);
    }
});

test('an answer says what it evaluated and where it comes from', async () => {
    const answer = await answered();
    assert.equal(answer.model.parameters.total ?? answer.model.parameters, llamaParameters);
    assert.equal(answer.resolved.parallelism.tensor, 2);
    assert.match(answer.input_hash, /^[0-9a-f]{16,}$/);
    assert.ok(answer.engine_version.length > 0 && answer.catalog_revision.length > 0);
    for (const [pointer, explanation] of Object.entries(answer.explanations)) {
        const value = pointer.slice(1).split('/').reduce((at, key) => at?.[key], answer);
        assert.notEqual(value, undefined, `${pointer} points at nothing`);
        assert.ok(explanation.formula.length > 0, pointer);
    }
});

test('the formula of a step names every term that it adds up', async () => {
    const { time, explanations: { '/time/step_s': { formula, inputs } } } = await answered();
    const terms = time.terms.map(({ name }) => name);
    assert.deepEqual([formula.split(' + '), Object.keys(inputs)], [terms, terms]);
});

test('the same question has the same answer, to the byte', async () => {
    const [first, second] = [await ask(), await ask()];
    assert.equal(first.text, second.text);
});

test('the hash is that of the meaning: order and spacing do not matter, values do', async () => {
    const { json: { input_hash: hash } } = await ask();
    const request = estimate();
    const reversed = Object.fromEntries(Object.entries(request).reverse());
    const spaced = await client.request('POST', path, {
        body: JSON.stringify(reversed, null, 4),
        headers: { 'Content-Type': 'application/json' },
    });
    assert.equal(spaced.json.input_hash, hash);
    const other = await answered({ workload: { sequence_length: 1024 } });
    assert.notEqual(other.input_hash, hash);
});

test('what does not fit is an answer with the deficit and ways out', async () => {
    const answer = await answered(tooLarge);
    assert.equal(answer.fits, false);
    assert.ok(answer.memory.headroom_bytes < 0);
    assert.equal(answer.binding.limit, 'memory');
    assert.ok(answer.binding.sentence.length > 0);
    for (const fix of answer.binding.fixes)
        assert.equal(typeof fix.change, 'object');
});

test('a fix does what it says when it is applied', async () => {
    /* Also where fields were left open, and where the accumulation has to follow. */
    const base = estimate(tooLarge);
    const open = mergePatch(base, { workload: { micro_batch_size: null, recompute: null,
        attention: null, software: null }, parallelism: { sequence: null, zero_stage: null } });
    const accumulated = mergePatch(base, { workload: { micro_batch_size: 2,
        gradient_accumulation: 4 } });
    const rebuilt = [{ mode: 'full', method: 'block', layers: 2 },
        { mode: 'modules', modules: ['mlp', 'layernorm'] }]
        .map((recompute) => mergePatch(base, { workload: { recompute } }));
    for (const asked of [base, open, accumulated, ...rebuilt]) {
        const first = await client.post(path, asked);
        assert.equal(first.status, 200, first.text.slice(0, 500));
        assert.ok(first.json.binding.fixes.length > 0, JSON.stringify(asked.workload));
        for (const { change, fits, fits_certain: certain, step_s: step } of first.json.binding.fixes) {
            const what = JSON.stringify(change);
            const response = await client.post(path, mergePatch(asked, change));
            assert.equal(response.status, 200, `${what}: ${response.text.slice(0, 500)}`);
            assert.deepEqual([response.json.fits, response.json.fits_certain], [fits, certain], what);
            assertNear(response.json.time.step_s, step, what);
        }
    }
});

test('recomputation of some blocks lies between none and all, and is answered as it was asked',
    async () => {
        const peak = async (recompute) => {
            const { memory, resolved } = await answered({ config: large,
                workload: { recompute }, parallelism: { tensor: 1, sequence: false, data: 4 } });
            assert.deepEqual(resolved.workload.recompute, recompute);
            return memory.peak_allocated_bytes;
        };
        const none = await peak('none');
        const full = await peak('full');
        const some = await peak({ mode: 'full', method: 'block', layers: 4 });
        assert.ok(full < some && some < none, `${full} < ${some} < ${none}`);
        assert.ok(await peak({ mode: 'full', method: 'uniform', layers: 2 }) < none);
        assert.ok(await peak({ mode: 'modules', modules: ['layernorm', 'mlp'] }) < none);
    });

test('what a workload says of kernels, graphs, documents and early steps is answered as said',
    async () => {
        const said = { activation_profile: 'eager', cuda_graphs: 'layer',
            documents: { mean_length: 128, packed: true } };
        const { resolved, warnings } = await answered({ workload: said });
        for (const [name, value] of Object.entries(said))
            assert.deepEqual(resolved.workload[name], value, name);
        const codes = warnings.map(({ code }) => code);
        assert.ok(codes.includes('cuda_graphs_coarse') && codes.includes('documents_alike'));
        const documents = { mean_length: 128, packed: false, padding: 'longest' };
        const varying = await answered({ workload: { documents } });
        assert.deepEqual(varying.resolved.workload.documents, documents);
        assert.ok(varying.warnings.some(({ code }) => code === 'documents_longest'));
        assertProblem(await ask({ workload: { documents: { ...documents, packed: true } } }), 422,
            { pointer: '/workload/documents/padding', code: 'inconsistent' });
        const response = await ask({ workload: { optimizer_in_backward: true } });
        assertProblem(response, 422, { pointer: '/workload/optimizer_in_backward',
            code: 'optimizer_not_of_framework' });
        const eager = await ask({ workload: { compile: true, activation_profile: 'eager' } });
        assertProblem(eager, 422, { pointer: '/workload/activation_profile',
            code: 'conflicting_fields' });
    });

test('a layer for multi-token prediction counts, and is on the last stage', async () => {
    const [without, beside] = [await answered(), await answered({ workload: { mtp: 1 } })];
    assert.equal(beside.resolved.workload.mtp, 1);
    assert.ok(beside.model.parameters > without.model.parameters);
    const [first, last] = beside.memory.ranks;
    assert.equal(first.peak_allocated_bytes, without.memory.ranks[0].peak_allocated_bytes);
    assert.ok(last.peak_allocated_bytes > without.memory.ranks[1].peak_allocated_bytes);
    assertProblem(await ask({ workload: { mtp: 3 } }), 422,
        { pointer: '/workload/mtp', code: 'not_modelled' });
});

test('as a gate, what does not fit fails and still carries the estimate', async () => {
    const response = await ask(tooLarge, '?require=fits');
    assertProblem(response, 409);
    assert.equal(response.json.type, '/problems/does-not-fit');
    const carried = response.json.estimate ?? response.json;
    assert.equal(carried.fits, false);
    assert.ok(carried.memory.headroom_bytes < 0);
    assert.equal((await ask({}, '?require=fits')).status, 200);
});

test('what fits in the middle of its interval alone passes one gate and not the other', async () => {
    const { memory, interval } = await answered();
    const outside = memory.device_total_bytes - memory.peak_reserved_bytes;
    const kept = memory.capacity_bytes - memory.usable_bytes;
    const most = interval.peak_reserved_bytes[1] + outside + kept;
    for (const [bytes, certain] of [[most, true], [most - 1, false]]) {
        const parts = { cluster: { memory_bytes: bytes, reserved_bytes: kept } };
        const { fits, fits_certain: told, warnings } = await answered(parts);
        assert.deepEqual([fits, told], [true, certain]);
        assert.equal(warnings.some(({ code }) => code === 'little_room'), !certain);
        assert.equal((await ask(parts, '?require=fits')).status, 200);
        const strict = await ask(parts, '?require=fits_certain');
        if (certain) {
            assert.equal(strict.status, 200);
        } else {
            assertProblem(strict, 409, { code: 'fits_uncertain' });
            assert.equal(strict.json.estimate.fits_certain, false);
        }
    }
});

test('an impossible plan is refused at the field, with the nearest legal values', async () => {
    for (const [parts, pointer] of [
        [{ parallelism: { tensor: 3 } }, '/parallelism/tensor'],
        [{ parallelism: { data: 3 } }, '/parallelism/data'],
        [{ parallelism: { virtual_pipeline: 5, schedule: 'interleaved_1f1b' } },
            '/parallelism/virtual_pipeline'],
        [{ workload: { global_batch_size: 31 } }, '/parallelism/data'],
        [{ workload: { micro_batch_size: 64 } }, '/workload/micro_batch_size'],
        [{ parallelism: { zero_stage: 4 } }, '/parallelism/zero_stage'],
    ]) {
        const response = await ask(parts);
        assertProblem(response, 422);
        const found = response.json.errors.find((error) => error.pointer === pointer);
        assert.ok(found, `${pointer} is not among ${response.text}`);
    }
    const { errors } = (await ask({ parallelism: { tensor: 3 } })).json;
    assert.match(errors.find((e) => e.pointer === '/parallelism/tensor').hint, /2/);
});

test('every schedule of a pipeline is answered by its name', async () => {
    const of = (schedule, workload = {}) => answered({
        workload, parallelism: { virtual_pipeline: null, schedule, tensor: 1, data: 4 } });
    const bubbles = {};
    for (const schedule of ['naive', 'gpipe', '1f1b', 'zb_h1', 'zb_h2', 'zb_v', 'dualpipe']) {
        const plan = await of(schedule);
        bubbles[schedule] = plan.time.terms.find(({ name }) => name === 'bubble').seconds;
        assert.equal(plan.resolved.parallelism.schedule, schedule);
        assert.equal(plan.resolved.parallelism.virtual_pipeline, schedule === 'zb_v' ? 2 : 1);
        const split = /^(zb|dual)/.test(schedule);
        assert.equal(plan.warnings.some(({ code }) => code === 'schedule_support'), split, schedule);
    }
    assert.ok(bubbles.naive > bubbles['1f1b'] && bubbles.gpipe === bubbles['1f1b']);
    assert.ok(bubbles['1f1b'] > bubbles.zb_h1 && bubbles.zb_h1 > bubbles.zb_h2);
    assert.equal(bubbles.dualpipe, 0, 'two stages from both ends leave nothing idle');

    const [meeting] = (await of('zb_v')).memory.ranks;
    assert.equal(meeting.role, 'first and last stage');
    const dual = await of('dualpipe');
    assert.ok(dual.communication.some(({ group, collective }) =>
        group === 'copies' && collective === 'all_reduce'));
});

test('blocks on the cpu leave the device, and what they cost is said', async () => {
    const alone = { tensor: 1, sequence: false, pipeline: 1, data: 1, zero_stage: 0 };
    const one = { workload: { framework: 'ddp', profile: { host_operator_s: 0 } }, cluster: { accelerators_per_node: 1 } };
    const placement = [{ layers: '1-2', device: 'cpu' }];
    const whole = await answered({ ...one, parallelism: alone });
    const split = await answered({ ...one, parallelism: { ...alone, placement } });
    assert.deepEqual(whole.resolved.parallelism.placement, []);
    assert.deepEqual(split.resolved.parallelism.placement,
        [{ layers: '1-2', device: 'cpu', flops_per_s: null, memory_bytes_per_s: null }]);
    assert.ok(split.memory.device_total_bytes < whole.memory.device_total_bytes);
    assert.ok(split.memory.host_bytes_per_node > 0 && whole.memory.host_bytes_per_node === 0);
    assert.ok(split.time.step_s > whole.time.step_s);
    assert.ok(split.communication.some(({ group, level }) => group === 'host' && level === 'host'));
    assert.ok(split.warnings.some(({ code }) => code === 'host_blocks_coarse'));
    assert.ok(split.assumptions.some(({ code }) => code === 'host_rates_assumed'));
    const faster = await answered({ ...one, parallelism: { ...alone,
        placement: [{ ...placement[0], flops_per_s: 1e15, memory_bytes_per_s: 1e13 }] } });
    assert.ok(faster.time.step_s < split.time.step_s);
    assert.ok(!faster.assumptions.some(({ code }) => code === 'host_rates_assumed'));

    assertProblem(await ask({ parallelism: { placement } }), 422,
        { pointer: '/parallelism/placement' });
    assertProblem(await ask({ ...one, parallelism: { ...alone,
        placement: [{ layers: '2-9', device: 'cpu' }] } }), 422,
    { pointer: '/parallelism/placement/0/layers' });
    assertProblem(await client.post('/api/v1/shardings',
        estimate({ ...one, parallelism: { ...alone, placement } })), 422,
    { pointer: '/parallelism/placement' });
});

test('an impossible schedule is refused with the nearest legal values', async () => {
    for (const [parts, pointer, hint] of [
        [{ parallelism: { schedule: 'zb_v', virtual_pipeline: 3 } },
            '/parallelism/virtual_pipeline', /^2/],
        [{ parallelism: { schedule: 'zb_h1', virtual_pipeline: 2 } },
            '/parallelism/schedule', /interleaved_1f1b, zb_v/],
        [{ parallelism: { schedule: 'dualpipe', pipeline: 1, data: 4 } },
            '/parallelism/pipeline', /2/],
        [{ parallelism: { schedule: 'dualpipe' }, workload: { global_batch_size: 6 } },
            '/workload/global_batch_size', /^8$/],
    ]) {
        const error = assertProblem(await ask(parts), 422, { pointer });
        assert.match(error.hint, hint);
    }
});

test('an unknown name is refused with the nearest known one', async () => {
    const wrong = accelerator.replace('h100', 'h10');
    const error = assertProblem(await ask({ cluster: { accelerator: wrong } }), 422,
        { pointer: '/cluster/accelerator' });
    assert.match(error.hint, /h100/);
    assertProblem(await ask({ workload: { framework: 'megatrom' } }), 422,
        { pointer: '/workload/framework', says: /megatron/ });
});

const adapted = (adapter) => ({
    workload: { framework: 'ddp', global_batch_size: 8, adapter },
    parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage: 0 },
});

test('adapters are named as PEFT names them, with its defaults said', async () => {
    const { resolved, assumptions } = await answered(adapted({ method: 'vera', targets: 'q*' }));
    assert.deepEqual(resolved.workload.adapter, {
        method: 'vera', rank: 256, block_size: null, virtual_tokens: null, dtype: 'fp32',
        fused: false, autocast: false, base: 'bf16', unquantized: 'bf16', base_keeps_inputs: false, dropout: 0,
        sequence_parallel_input_regather: false, targets: ['q*'],
    });
    assert.ok(assumptions.some((note) => note.code === 'adapter_rank_assumed'));
    const megatron = adapted({ method: 'lora' });
    megatron.workload.framework = 'megatron';
    assert.equal((await answered(megatron)).resolved.workload.adapter.dtype, 'bf16');
    for (const [framework, autocast, cast] of [['ddp', undefined, false], ['ddp', true, true], ['fsdp2', undefined, true], ['fsdp2', false, false]]) {
        const asked = adapted({ method: 'lora', autocast });
        Object.assign(asked.workload, { framework });
        asked.parallelism.zero_stage = framework === 'fsdp2' ? 3 : 0;
        assert.equal((await answered(asked)).resolved.workload.adapter.autocast, cast);
    }
    const four = await answered(adapted({ base: 'nf4' }));
    assert.ok(four.assumptions.some((note) => note.code === 'adapter_unquantized_assumed'));
    const { memory } = await answered(adapted({ method: 'prompt_tuning', virtual_tokens: 9 }));
    assert.ok(memory.ranks[0].terms.some((term) => term.name === 'adapters'));
});

test('what an adapter cannot be is refused at its field', async () => {
    const refused = async (adapter, field, code, hint = /(?:)/) => {
        const pointer = `/workload/adapter/${field}`;
        assert.match(assertProblem(await ask(adapted(adapter)), 422, { code, pointer }).hint ?? '',
            hint);
    };
    await refused({ targets: ['query'] }, 'targets/0', 'no_such_module', /q_proj, k_proj/);
    await refused({ targets: '(q|v)_proj$' }, 'targets', 'not_modelled', /q_proj/);
    await refused({ method: 'fourierft' }, 'method', 'not_modelled');
    await refused({ method: 'dorra' }, 'method', 'unknown_value', /dora/);
    await refused({ method: 'ia3', rank: 4 }, 'rank', 'conflicting_fields');
    await refused({ method: 'ln_tuning', targets: ['q_proj'] }, 'targets', 'conflicting_fields');
    await refused({ unquantized: 'fp32' }, 'unquantized', 'inconsistent');
    await refused({ base_keeps_inputs: true }, 'base_keeps_inputs', 'inconsistent');
    await refused({ method: 'vera', dropout: 0.1 }, 'dropout', 'conflicting_fields');
    await refused({ fused: true, dropout: 0.1 }, 'dropout', 'conflicting_fields');
    await refused({ dropout: 1 }, 'dropout', 'out_of_range');
    await refused({ sequence_parallel_input_regather: true }, 'sequence_parallel_input_regather',
        'conflicting_fields');
});

test('what is not known is evaluated over what it may be, and said', async () => {
    const known = await answered();
    const open = await answered({ workload: { recompute: null, attention: null } });
    assert.ok(open.assumptions.length > known.assumptions.length, 'assumptions name the unknowns');
    const width = ({ interval: { step_s: [low, high] } }) => high - low;
    assert.ok(width(open) >= width(known));
    const absent = estimate();
    delete absent.workload.recompute;
    delete absent.workload.attention;
    assert.equal((await client.post(path, absent)).json.time.step_s, open.time.step_s);
});

test('data parallelism fills the cluster when it is left to the planner', async () => {
    const answer = await answered({ parallelism: { data: 'auto' } });
    assert.equal(answer.resolved.parallelism.data, 2);
});

test('sharding the optimizer takes memory off every rank', async () => {
    const bytes = async (stage) => {
        const { memory } = await answered({ parallelism: { zero_stage: stage } });
        return sum(memory.ranks[0].terms.filter((term) => term.name === 'optimizer')
            .map((term) => term.bytes));
    };
    assert.ok(await bytes(1) < await bytes(0));
});

test('the choices are the legal values: each of them is accepted, others are not', async () => {
    const response = await client.post(`${path}:choices`, estimate());
    assert.equal(response.status, 200, response.text);
    assert.equal(response.json.valid, true);
    assert.deepEqual(response.json.errors, []);
    const { tensor } = response.json.choices;
    assert.ok(tensor.includes(2) && !tensor.includes(3));
    for (const value of tensor) {
        const accepted = await ask({ parallelism: { tensor: value, data: 'auto' } });
        assert.equal(accepted.status, 200, `tensor ${value}: ${accepted.text}`);
    }
    const wrong = await client.post(`${path}:choices`, estimate({ parallelism: { tensor: 3 } }));
    assert.equal(wrong.status, 200);
    assert.equal(wrong.json.valid, false);
    assert.ok(wrong.json.errors.length > 0);
});

test('the choices name the ranks that can share experts, and one where there are none', async () => {
    const dense = await client.post(`${path}:choices`, estimate());
    assert.deepEqual(dense.json.choices.expert, [1]);
    const { json } = await client.post(`${path}:choices`, estimate({ config: mixtral }));
    const { expert } = json.choices;
    assert.ok(expert.includes(2) && !expert.includes(3), expert.join());
    for (const value of expert) {
        const accepted = await ask({ config: mixtral, parallelism: { expert: value } });
        assert.equal(accepted.status, 200, `expert ${value}: ${accepted.text}`);
    }
    const refused = await ask({ config: mixtral, parallelism: { expert: 3 } });
    assert.equal(refused.status, 422);
});

test('the choices of tensor leave open what one rank leaves unsaid: experts are reached beside it', async () => {
    const parallelism = { tensor: 1, expert: 2, data: 'auto' };
    const { json } = await client.post(`${path}:choices`, estimate({ config: mixtral, parallelism }));
    const { tensor } = json.choices;
    assert.ok(tensor.includes(2), tensor.join());
    for (const value of tensor) {
        const accepted = await ask({ config: mixtral, parallelism: { ...parallelism, tensor: value } });
        assert.equal(accepted.status, 200, `tensor ${value}: ${accepted.text}`);
    }
    const off = await client.post(`${path}:choices`, estimate({ config: mixtral, parallelism: { ...parallelism, sequence: false } }));
    assert.deepEqual(off.json.choices.tensor, [1]);
});

test('a length that tensor or context does not divide is answered with the nearest that both do', async () => {
    const refused = (parallelism) => ask({ workload: { sequence_length: 8191 }, parallelism: { data: 'auto', ...parallelism } })
        .then(({ json }) => json.errors.map(({ hint }) => hint));
    assert.deepEqual(await refused({ tensor: 2, sequence: true }), ['false, or sequence_length 8192']);
    assert.deepEqual(await refused({ tensor: 1, context: 2 }), ['1, or sequence_length 8192']);
});

test('the catalogue lists what an estimate accepts', async () => {
    const { json } = await client.get('/api/v1/accelerators');
    assert.equal(json.next_cursor, null);
    const one = json.items.find((item) => item.id === accelerator);
    assert.ok(one.memory_bytes > 0);
    assert.equal(new Set(json.items.map((item) => item.id)).size, json.items.length);
});

test('many at once get what one alone gets', async () => {
    const alone = await ask();
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask()));
    for (const answer of answers) {
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.text, alone.text);
    }
});
