/** Cases of other estimators: the way to a request, and sums of components. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../e2e/lib/processes.mjs';
import { readTable } from './lib/csv.mjs';
import { formulas } from './lib/oracle_formulas.mjs';
import { compare, holds, hostBytes, questionOf, reasonOf } from './lib/oracles.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const validation = here('../../../shared/data/validation');
const noOracles = existsSync(join(validation, 'memory_oracles.jsonl')) ? false
    : 'the validation data are not beside this checkout';

const dims = { L: 32, h: 4096, a: 32, kv: 8, hd: 128, f: 14336, V: 128256, tied: false,
    swiglu: true };
const plan = { model: 'llama3-8b', dims, tp: 2, pp: 2, vpp: null, dp: 2, cp: 1, ep: 1, etp: 2,
    micro_batch: 1, seq_len: 4096, num_microbatches: 8, distributed_optimizer: true };

test('a case of Megatron becomes the request of a row', () => {
    const { request } = questionOf({ tool: 'Megatron-LM', input: plan });
    assert.equal(request.model.config.model_type, 'llama');
    assert.equal(request.model.config.vocab_size, 128256);
    assert.equal(request.workload.global_batch_size, 16);
    assert.equal(request.workload.recompute, 'selective');
    assert.deepEqual(request.parallelism, { tensor: 2, sequence: true, pipeline: 2, context: 1,
        expert: 1, data: 2, zero_stage: 1 });
    const plain = { ...plan, model: 'x-1t', dims: { ...dims, swiglu: false },
        padded_vocab: 128512 };
    const { config } = questionOf({ tool: 'Megatron-Bridge', input: plain }).request.model;
    assert.equal(config.model_type, 'gpt2');
    assert.equal(config.vocab_size, 128512);
});

test('DeepSpeed is asked as an accounting, and for layers where it offloads', () => {
    const input = { total_params: 1e9, gpus_per_node: 8, num_nodes: 2, cpu_offload: false };
    const { request } = questionOf({ tool: 'DeepSpeed-ZeRO2', input });
    assert.deepEqual(request.model, { parameters: 1e9 });
    assert.deepEqual(request.parallelism, { data: 16, zero_stage: 2 });
    const offloaded = { ...input, cpu_offload: true };
    const layered = questionOf({ tool: 'DeepSpeed-ZeRO2', input: offloaded }).request;
    assert.deepEqual(layered.workload.offload, { optimizer: 'cpu', parameters: 'none' });
    assert.equal(layered.model.layers[0].count * layered.model.layers[0].parameters, 1e9);
    assert.match(questionOf({ tool: 'abacus', input }).refusal, /no estimator "abacus"/);
});

test('components are sums of the first stage, and nothing is compared with nothing', () => {
    const ranks = [
        { role: 'last stage', rank: 1, terms: [{ name: 'parameters', bytes: 7 }] },
        { role: 'first stage', rank: 0, terms: [{ name: 'parameters', bytes: 2 },
            { name: 'gradients', bytes: 4 }, { name: 'logits', bytes: 9 }] },
    ];
    const errors = compare({ states: [['p', 'more'], ['parameters', 'gradients']],
        absent: [['none'], ['parameters']] }, { p: 3 }, { memory: { ranks } });
    assert.deepEqual(errors, { states: { error: Math.log(2), figure: 3 } });
});

test('a host holds what is there or, outside of zero.Init, what starts there', () => {
    const memory = { host_high_bytes_per_node: 30, host_start_bytes_per_node: 40 };
    assert.equal(hostBytes(memory, { zero_init: false, additional_buffer_factor: 1.5 }), 60);
    assert.equal(hostBytes(memory, { additional_buffer_factor: 1.5 }), 60);
    assert.equal(hostBytes(memory, { zero_init: true, additional_buffer_factor: 1.5 }), 30);
    assert.equal(hostBytes({ ...memory, host_start_bytes_per_node: 10 }, { additional_buffer_factor: 1.5 }), 30);
    const ranks = [{ role: 'only stage', terms: [] }];
    assert.equal(compare({ host: [['cpu'], hostBytes] }, { cpu: 60 }, { memory: { ...memory, ranks } },
        { additional_buffer_factor: 1.5 }).host.error, 0);
});

test('with a layout the stage with most parameters is compared', () => {
    const input = { ...plan, pp: 4, first_stage_layers: 6, last_stage_layers: 4 };
    const { request } = questionOf({ tool: 'Megatron-Bridge', input });
    assert.deepEqual(request.parallelism.pipeline_layout, [6, 11, 11, 4]);
    const rank = (role, bytes) => ({ role, terms: [{ name: 'parameters', bytes }] });
    const memory = { ranks: [rank('first stage', 2), rank('middle stage', 3)] };
    const found = compare({ states: [['p'], ['parameters']] }, { p: 3 }, { memory }, input);
    assert.equal(found.states.error, 0);
});

test('a condition names inputs and dimensions of the case', () => {
    assert.ok(holds('pp>1 and E=0 and swiglu=true', plan));
    assert.ok(!holds('pp>2', plan));
    assert.ok(holds('uneven=1', { ...plan, pp: 3 }));
    assert.ok(!holds('uneven=1', plan));
    assert.ok(holds('zero_stage<=1', { zero_stage: 1 }));
});

test('a reason counts in its direction, and where the formula it names gives their figure', () => {
    const reason = { oracle: 'Megatron-LM', component: 'activations', condition: 'pp>1',
        ours: 'more', theirs: 'megatron_activation' };
    const given = (changed, facts) => reasonOf([{ ...reason, ...changed }],
        { tool: 'Megatron-LM', input: plan }, 'activations',
        { error: 0.1, figure: formulas.megatron_activation(plan), open: false, ...facts });
    assert.ok(given({}, {}));
    assert.equal(given({}, { error: -0.1 }), undefined);
    assert.equal(given({}, { figure: 1 }), undefined);
    assert.equal(given({ condition: 'pp>2' }, {}), undefined);
    assert.ok(given({ theirs: 'parts' }, { figure: 1 }));
    assert.equal(given({ theirs: 'parts' }, { open: true }), undefined);
});

test('every reason has a direction, a sentence and a formula that exists', async () => {
    const reasons = readTable(await readFile(new URL('oracles.csv', import.meta.url), 'utf8'));
    for (const { oracle, component, condition, ours, theirs, reason } of reasons) {
        assert.ok(oracle && component && reason);
        assert.ok(['more', 'less', 'any'].includes(ours), reason);
        assert.ok(['', 'parts', ...Object.keys(formulas)].includes(theirs), reason);
        assert.equal(typeof holds(condition, plan), 'boolean');
    }
});

test('no disagreement is unexplained', { skip: noOracles }, async () => {
    const { code, stdout } = await run(process.execPath,
        [here('main.mjs'), '--oracles', '--data', validation]);
    assert.equal(code, 0);
    assert.match(stdout, /^all .* 0 not;/m);
    const [, refused] = stdout.split('\nrefused\n');
    assert.match(refused.trim(), /^2 x EleutherAI-cookbook: \/parallelism\/zero_stage not_modelled: .*$/,
        'experts that DeepSpeed deals out in stage 3, and nothing else');
});
