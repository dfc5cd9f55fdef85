/** Options of workload and plan that few requests have: what each changes, and what it refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { mergePatch } from './lib/merge.mjs';
import { accelerator, estimate, llama, mixtral } from './lib/fixtures.mjs';

const client = await clientOfFile();

const ask = (parts) => client.post('/api/v1/estimates', estimate(parts));

/** What is answered is also a request by the document. */
async function accepted(request) {
    const response = await client.post('/api/v1/estimates', request);
    assert.equal(response.status, 200, response.text);
    client.contract.validate('an answered request', { $ref: '#/components/schemas/EstimateRequest' }, request);
    return response.json;
}

const answered = (parts) => accepted(estimate(parts));

const flat = { tensor: 1, sequence: false, pipeline: 1, data: null };

async function refused(parts, pointer, code) {
    const response = await ask(parts);
    assert.equal(response.status, 422, response.text);
    const fault = response.json.errors.find((error) => error.pointer === pointer);
    assert.ok(fault !== undefined, response.text);
    assert.equal(fault.code, code);
    return fault;
}

const terms = (answer, rank = 0) =>
    Object.fromEntries(answer.memory.ranks[rank].terms.map((term) => [term.name, term.bytes]));
const blackwell = { accelerator: 'nvidia-b200-sxm-180gb', nodes: 1, accelerators_per_node: 8 };

test('gradients reduced in bf16 take half of what fp32 ones do', async () => {
    const whole = await answered();
    const half = await answered({ parallelism: { grad_reduce_dtype: 'bf16' } });
    assert.equal(half.resolved.parallelism.grad_reduce_dtype, 'bf16');
    assert.equal(2 * terms(half).gradients, terms(whole).gradients);
});

test('a type that the framework does not gather in is refused with what it has', async () => {
    const fault = await refused({ parallelism: { gather_dtype: 'fp32' } },
        '/parallelism/gather_dtype', 'gather_dtype_not_of_framework');
    assert.match(fault.hint, /bf16/);
});

/** Fields that change nothing, by what the note says of each: what a request has without it, and the field. */
const lora = { kind: 'finetuning', adapter: { method: 'lora', rank: 8, dtype: 'bf16' } };
const replicas = { framework: 'ddp', software: null };
const idle = {
    'context_kind (context is 1)': [{ parallelism: flat }, { parallelism: { context_kind: 'a2a' } }],
    'schedule (pipeline is 1)': [{ parallelism: flat }, { parallelism: { schedule: 'gpipe' } }],
    'overlap.p2p (pipeline is 1)': [{ parallelism: flat }, { parallelism: { overlap: { p2p: false } } }],
    'overlap.tensor (tensor is 1)': [{ parallelism: flat }, { parallelism: { overlap: { tensor: 'userbuffer' } } }],
    'overlap.param_gather (nothing is gathered)': [{ workload: replicas, parallelism: { ...flat, zero_stage: 0 } },
        { parallelism: { overlap: { param_gather: false } } }],
    'overlap.param_gather (the step waits for it)': [{ workload: { framework: 'deepspeed', software: null }, parallelism: { ...flat, zero_stage: 2 } },
        { parallelism: { overlap: { param_gather: true } } }],
    'fsdp_unit (not fsdp)': [{ parallelism: flat }, { parallelism: { fsdp_unit: 'block' } }],
    'reshard_after_forward (nothing is sharded)': [{ workload: { framework: 'fsdp1', software: null }, parallelism: { ...flat, zero_stage: 0 } },
        { parallelism: { reshard_after_forward: true } }],
    'offload.activation_layers (activations stay)': [{ parallelism: flat }, { workload: { offload: { activation_layers: 2 } } }],
    'offload.optimizer_fraction (the optimizer stays)': [{ parallelism: flat }, { workload: { offload: { optimizer_fraction: 0.5 } } }],
    'adapter.autocast (adapters are in 16 bits)': [{ workload: { ...replicas, ...lora }, parallelism: { ...flat, zero_stage: 0 } },
        { workload: { adapter: { autocast: true } } }],
    'adapter.sequence_parallel_input_regather (tensor is 1)': [{ workload: lora, parallelism: flat },
        { workload: { adapter: { sequence_parallel_input_regather: true } } }],
};

for (const [said, [parts, field]] of Object.entries(idle)) {
    test(`what is said and changes nothing is told, and changes nothing: ${said}`, async () => {
        const told = (answer) => answer.assumptions.find(({ code }) => code === 'fields_without_effect')?.message ?? '';
        const request = estimate(parts);
        const [without, withField] = [await accepted(request), await accepted(mergePatch(request, field))];
        assert.ok(told(withField).includes(said) && !told(without).includes(said), told(withField));
        assert.deepEqual([withField.memory, withField.time, withField.communication, withField.interval],
            [without.memory, without.time, without.communication, without.interval]);
    });
}

test('what is said and changes something is not', async () => {
    const staged = await answered({ parallelism: { ...flat, pipeline: 2, data: 4, schedule: 'gpipe', overlap: { p2p: true } } });
    assert.ok(!staged.assumptions.some(({ code }) => code === 'fields_without_effect'));
});

test('routers multiply in 16 bits: how many experts there are does not matter to fp8', async () => {
    const odd = { ...mixtral, num_local_experts: 12 };
    const { resolved } = await answered({ config: odd, workload: { precision: 'fp8' }, parallelism: { ...flat, expert: 4 } });
    assert.equal(resolved.workload.precision, 'fp8');
});

test('what a framework has not, and is counted nevertheless, is said', async () => {
    const codes = ({ warnings }) => warnings.map(({ code }) => code);
    assert.ok(codes(await answered({ workload: { optimizer: 'adamw_8bit' } })).includes('optimizer_support'));
    assert.ok(!codes(await answered({ workload: { optimizer: 'sgd' } })).includes('optimizer_support'));
    const cut = (framework, optimizer) => answered({ workload: { framework, software: null, optimizer },
        parallelism: { ...flat, sequence: null, zero_stage: 3 } });
    for (const [framework, optimizer, said] of [['fsdp1', 'adafactor', true], ['deepspeed', 'adafactor', true],
        ['fsdp2', 'adafactor', false], ['fsdp1', 'muon', true], ['fsdp2', 'muon', false]])
        assert.equal(codes(await cut(framework, optimizer)).includes('optimizer_support'), said, `${framework} ${optimizer}`);
    assert.ok(codes(await answered({ workload: { precision: 'fp8' }, parallelism: { ...flat, zero_stage: 3 } })).includes('quantised_copies_whole'));
    const adapted = (base, framework, zero_stage) => answered({ parallelism: { ...flat, zero_stage },
        workload: { framework, software: null, kind: 'finetuning', adapter: { method: 'lora', rank: 8, base } } });
    assert.ok(codes(await adapted('int8', 'fsdp2', 3)).includes('adapter_base_support'));
    assert.ok(!codes(await adapted('nf4', 'fsdp2', 3)).includes('adapter_base_support'));
    assert.ok(!codes(await adapted('int8', 'ddp', 0)).includes('adapter_base_support'));
    const layers = [{ name: 'dense', count: 4, parameters: 1e6, activation_bytes: 1e6, forward_flops: 1e9 }];
    const plain = await accepted({ model: { layers }, workload: { framework: 'ddp', optimizer: 'muon', global_batch_size: 8, micro_batch_size: 1 },
        cluster: { accelerator, nodes: 1, accelerators_per_node: 8 } });
    assert.ok(codes(plain).includes('layers_without_shapes'));
});

test('of stage 2 an all-reduce is shown beside the reduce-scatter', async () => {
    const inputs = ({ time }) => time.terms.find(({ name }) => name === 'data_communication').inputs;
    const two = inputs(await answered({ workload: { framework: 'deepspeed', software: null }, parallelism: { ...flat, zero_stage: 2 } }));
    assert.ok(two.all_reduce_instead_s > 1.5 * two.gradient_s && two.all_reduce_instead_s < 2.5 * two.gradient_s,
        `${two.all_reduce_instead_s} beside ${two.gradient_s}`);
    const one = inputs(await answered({ workload: { framework: 'deepspeed', software: null }, parallelism: { ...flat, zero_stage: 1 } }));
    assert.equal(one.all_reduce_instead_s, 0);
});

test('low precisions run where there are rates for them', async () => {
    const { resolved } = await answered({ cluster: blackwell, parallelism: flat,
        workload: { precision: 'mxfp8', attention: null, fp8: { bf16_layers: [0, 1] } } });
    assert.equal(resolved.workload.precision, 'mxfp8');
    assert.deepEqual(resolved.workload.fp8.bf16_layers, [0, 1]);
    const fault = await refused({ workload: { precision: 'nvfp4' } }, '/workload/precision',
        'precision_not_supported');
    assert.match(fault.hint, /fp8/);
    assert.doesNotMatch(fault.hint, /nvfp4/);
    await refused({ cluster: blackwell,
        workload: { precision: 'mxfp8', attention: null, fp8: { bf16_layers: 1000 } } },
    '/workload/fp8/bf16_layers', 'out_of_range');
});

test('weights kept in 8 bits are said to be', async () => {
    const parts = (fp8) => ({ workload: { precision: 'fp8', fp8 }, parallelism: flat });
    const copies = await answered(parts({ recipe: 'current' }));
    const primary = await answered(parts({ recipe: 'current', primary_weights: true }));
    const bytes = (answer) => answer.memory.ranks[0].terms
        .filter((term) => term.name === 'parameters')
        .reduce((sum, term) => sum + term.bytes, 0);
    assert.ok(bytes(primary) < bytes(copies));
    assert.equal(primary.resolved.workload.fp8.primary_weights, true);
});

test('dp has a device that holds the model, and devices that are lent it', async () => {
    const parts = { workload: { framework: 'dp', software: null },
        parallelism: { tensor: 1, pipeline: 1, data: 8, zero_stage: 0 } };
    const { memory, communication } = await answered(parts);
    assert.deepEqual(memory.ranks.map((rank) => [rank.role, rank.rank, rank.count]),
        [['first device', 0, 1], ['other devices', 1, 7]]);
    assert.deepEqual(communication.map((row) => row.collective).sort(),
        ['broadcast', 'reduce', 'send_receive']);
    await refused({ ...parts, cluster: { accelerator, nodes: 2, accelerators_per_node: 8 },
        parallelism: { tensor: 1, pipeline: 1, data: 16, zero_stage: 0 } }, '/cluster/nodes', 'one_node');
});

test('a model that is one unit is gathered whole, and its map has one flat tensor', async () => {
    const parts = { workload: { framework: 'fsdp1', software: null },
        parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage: 3 } };
    const whole = { ...parts, parallelism: { ...parts.parallelism, fsdp_unit: 'root' } };
    const blocks = await answered(parts);
    const { memory, resolved } = await answered(whole);
    assert.equal(blocks.resolved.parallelism.fsdp_unit, 'block');
    assert.equal(resolved.parallelism.fsdp_unit, 'root');
    assert.ok(memory.peak_allocated_bytes > blocks.memory.peak_allocated_bytes);
    const map = await client.post('/api/v1/shardings', estimate(whole));
    assert.equal(map.status, 200, map.text);
    assert.equal(map.json.units.length, 1);
    await refused({ parallelism: { fsdp_unit: 'root' } }, '/parallelism/fsdp_unit',
        'unit_not_of_framework');
});

test('replicas outside the pipeline keep stages together', async () => {
    const plan = { tensor: 4, sequence: true, pipeline: 2, data: 2 };
    const parts = (order) => ({ cluster: { accelerator, nodes: 2, accelerators_per_node: 8 },
        parallelism: { ...plan, order } });
    const levels = ({ communication }) =>
        Object.fromEntries(communication.map((row) => [row.group, row.level]));
    const inside = levels(await answered(parts('tp-cp-ep-dp-pp')));
    const outside = levels(await answered(parts('tp-cp-ep-pp-dp')));
    assert.deepEqual([inside.pipeline, inside.data], ['network', 'scale_up']);
    assert.deepEqual([outside.pipeline, outside.data], ['scale_up', 'network']);
    await refused({ parallelism: { order: 'pp-tp' } }, '/parallelism/order', 'not_modelled');
});

test('boards without a switch give a pair its own links, alone', async () => {
    const pairs = { tensor: 2, sequence: true, pipeline: 1, data: 2 };
    const all = { tensor: 4, sequence: true, pipeline: 1, data: 1 };
    const wide = { ...llama, hidden_size: 4096, intermediate_size: 11008, max_position_embeddings: 8192 };
    const on = (more, parallelism) => ({ config: wide, workload: { sequence_length: 8192 }, cluster: { accelerator: 'nvidia-h200-sxm-141gb',
        nodes: 1, accelerators_per_node: 4, ...more }, parallelism });
    const codes = ({ assumptions }) => assumptions.map(({ code }) => code);
    const tensor = ({ communication }) => communication.filter(({ group }) => group === 'tensor')
        .reduce((sum, { seconds }) => sum + seconds, 0);
    const board = await answered(on({ node_type: 'hgx-h200-4' }, pairs));
    assert.equal(board.resolved.cluster.scale_up_pair_bytes_per_s, 150e9);
    assert.ok(codes(board).includes('joined_in_pairs'));
    const open = await answered(on({}, pairs));
    assert.equal(open.resolved.cluster.scale_up_pair_bytes_per_s, null);
    assert.ok(codes(open).includes('switch_assumed'));
    assert.ok(tensor(board) > 1.5 * tensor(open) && tensor(board) < 3 * tensor(open));
    const said = await answered(on({ scale_up_pair_bytes_per_s: 150e9 }, pairs));
    assert.equal(said.time.step_s, board.time.step_s);
    assert.ok(!codes(said).includes('switch_assumed') && !codes(said).includes('joined_in_pairs'));
    const switched = await answered(on({ node_type: 'hgx-h200-4', scale_up_pair_bytes_per_s: 450e9 }, pairs));
    assert.equal(switched.time.step_s, open.time.step_s);
    const whole = await answered(on({ node_type: 'hgx-h200-4' }, all));
    assert.ok(tensor(whole) < 1.1 * tensor(await answered(on({}, all))), 'four have all links');
    const timeline = await client.post('/api/v1/timelines', estimate(on({ node_type: 'hgx-h200-4' }, pairs)));
    assert.equal(timeline.status, 200, timeline.text);
    assert.ok(Math.abs(timeline.json.end_s / board.time.step_s - 1) < 0.02);
    await refused(on({ scale_up_pair_bytes_per_s: 451e9 }, pairs), '/cluster/scale_up_pair_bytes_per_s',
        'inconsistent');
    await refused(on({ scale_up_pair_bytes_per_s: 'all' }, pairs), '/cluster/scale_up_pair_bytes_per_s',
        'wrong_type');
});

test('gradients that wait for the last micro-batch are whole, and reduced once', async () => {
    const parts = (gradient_sync, more) => ({ workload: { framework: 'fsdp2' }, parallelism: { ...sharded, gradient_sync }, ...more });
    const reduced = (answer) => answer.communication.find((row) => row.collective === 'reduce_scatter').bytes_per_step;
    const silent = await answered(parts(null));
    assert.equal(silent.resolved.parallelism.gradient_sync, 'each');
    assert.ok(silent.assumptions.some(({ code }) => code === 'gradient_sync_assumed'));
    const last = await answered(parts('last'));
    assert.equal(last.resolved.parallelism.gradient_sync, 'last');
    assert.ok(!last.assumptions.some(({ code }) => code === 'gradient_sync_assumed'));
    const rounds = last.resolved.workload.gradient_accumulation;
    assert.ok(rounds > 1);
    assert.equal(reduced(silent), rounds * reduced(last));
    const waiting = last.memory.ranks[0].terms.find(({ inputs }) => inputs.microbatches === rounds);
    assert.equal(waiting.name, 'gradients');
    assert.equal(waiting.bytes, waiting.inputs.parameters * 4);
    assert.match(waiting.formula, /gradient_sync last/);
    const timeline = async (sync) => {
        const { json } = await client.post('/api/v1/timelines', estimate(parts(sync)));
        return json;
    };
    const [many, once] = await Promise.all(['each', 'last'].map(timeline));
    const reductions = ({ kinds, spans }) => new Set(spans.microbatch.filter((_, i) => kinds[spans.kind[i]] === 'reduce')).size;
    assert.equal(reductions(many), rounds);
    assert.equal(reductions(once), 1);
    const full = await answered(parts('last', { cluster: { ...estimate().cluster, accelerator_overrides: { memory_bytes: 2.6e9 } } }));
    const fix = full.binding.fixes.find(({ what }) => what === 'gradient_sync');
    assert.deepEqual(fix.change.parallelism, { gradient_sync: 'each' });
});

test('what a framework can do with gradients that add up is among the choices', async () => {
    const legal = async (framework, parallelism) => {
        const response = await client.post('/api/v1/estimates:choices', estimate({ workload: { framework }, parallelism }));
        assert.equal(response.status, 200, response.text);
        return response.json.choices.gradient_sync;
    };
    assert.deepEqual(await legal('fsdp1', sharded), ['each', 'last']);
    assert.deepEqual(await legal('ddp', alone), ['each', 'last']);
    assert.deepEqual(await legal('dp', alone), ['each']);
    assert.deepEqual(await legal('deepspeed', sharded), ['each']);
    assert.deepEqual(await legal('deepspeed', { ...sharded, zero_stage: 1 }), ['last']);
    assert.deepEqual(await legal('megatron', { ...sharded, zero_stage: 1 }), ['last']);
    const unknown = await refused({ parallelism: { gradient_sync: 'never' } }, '/parallelism/gradient_sync', 'unknown_value');
    assert.equal(unknown.hint, 'each, last');
});

test('what overlaps is said by the request where it says so', async () => {
    const none = { grad_reduce: false, param_gather: false, tensor: 'none', p2p: false };
    const open = await answered({ parallelism: { overlap: none } });
    const hidden = await answered({ parallelism: { overlap: { tensor: 'userbuffer' } } });
    assert.deepEqual(open.resolved.parallelism.overlap, none);
    assert.equal(hidden.resolved.parallelism.overlap.tensor, 'userbuffer');
    const exposed = ({ time }) =>
        time.terms.find((term) => term.name === 'tensor_communication').seconds;
    assert.ok(exposed(hidden) < exposed(open));
});

test('states on disks are counted, and their time is said to be open', async () => {
    const parts = (zero_stage) => ({
        workload: { framework: 'deepspeed', software: null, offload: { optimizer: 'nvme' } },
        parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage },
    });
    const { memory, warnings, resolved } = await answered(parts(3));
    assert.equal(resolved.workload.offload.optimizer, 'nvme');
    assert.ok(memory.nvme_bytes_per_node > 0 && memory.host_bytes_per_node > 0);
    assert.ok(warnings.some(({ code }) => code === 'nvme_time'));
    await refused(parts(2), '/workload/offload/optimizer', 'nvme_not_of_framework');
});

test('deepspeed shares sequences by exchanging them, and deals experts out below its stage 3', async () => {
    const parts = (more, config = llama) => ({ config, workload: { framework: 'deepspeed', software: null },
        parallelism: { tensor: 1, sequence: false, pipeline: 1, data: null, zero_stage: 2, ...more } });
    const shared = await answered(parts({ context: 2, zero_stage: 3 }));
    const whole = await answered(parts({ zero_stage: 3 }));
    const bytes = ({ memory }, name) => memory.ranks[0].terms.filter((term) => term.name === name).reduce((sum, term) => sum + term.bytes, 0);
    assert.equal(shared.resolved.parallelism.context_kind, 'a2a');
    assert.equal(bytes(shared, 'parameters'), bytes(whole, 'parameters'), 'states are divided by data x context');
    assert.ok(!shared.assumptions.some(({ code }) => code === 'context_of_a_library'));
    const ring = await answered(parts({ context: 2, context_kind: 'p2p' }));
    assert.ok(ring.assumptions.some(({ code }) => code === 'context_of_a_library'));

    const dealt = await answered(parts({ expert: 4 }, mixtral));
    const parameters = dealt.memory.ranks[0].terms.find(({ name }) => name === 'parameters').inputs;
    const { inputs } = (await answered(parts({}, mixtral))).memory.ranks[0].terms.find(({ name }) => name === 'parameters');
    assert.equal(parameters.routed_parameters, inputs.routed_parameters / 4);
    assert.equal(parameters.parameters - parameters.routed_parameters, inputs.parameters - inputs.routed_parameters);
    await refused(parts({ expert: 4, zero_stage: 3 }, mixtral), '/parallelism/zero_stage', 'not_modelled');
    await refused(parts({ expert: 2, tensor: 2 }, mixtral), '/parallelism/expert', 'not_modelled');
});

test('nobody counts gradients of frozen weights, and no mask or window that is not computed makes a step ideal', async () => {
    const apart = { parallelism: { ...flat, data: 8, zero_stage: 3 } };
    const all = await answered({ ...apart, workload: { framework: 'fsdp2', software: null } });
    const frozen = await answered({ ...apart, workload: { ...lora, framework: 'fsdp2', software: null } });
    const flops = ({ explanations }) => explanations['/throughput/mfu_full'].inputs.model_flops;
    const masked = (answer) => flops(answer) - answer.explanations['/throughput/mfu_causal'].inputs.causal_flops;
    /* A causal mask leaves (s + 1) / 2 of s scores: all passes of attention are what it masks over what it masks of each. */
    const s = all.resolved.workload.sequence_length;
    const attention = masked(all) / (1 - (s + 1) / (2 * s));
    assert.ok(Math.abs(flops(frozen) / ((flops(all) - attention) * 2 / 3 + attention) - 1) < 1e-9, 'attention has no weights');
    assert.ok(frozen.throughput.hfu >= frozen.throughput.mfu_full);
    const long = { workload: { sequence_length: 131072, global_batch_size: 8, documents: { mean_length: 4096, packed: true } },
        config: { ...llama, max_position_embeddings: 131072 } };
    const packed = await answered(long);
    const whole = await answered({ ...long, workload: { ...long.workload, documents: null } });
    assert.ok(flops(packed) < flops(whole) / 8, 'scores within a document of 4,096 are all there are');
    for (const { time, throughput } of [packed, whole]) {
        assert.ok(time.ideal_s < time.step_s);
        assert.ok(Math.abs(time.ideal_s / time.step_s - throughput.mfu_causal) < 1e-9);
    }
});

test('fused kernels of heads that FlashAttention does not have are told from those it has', async () => {
    const told = async (num_attention_heads) => (await answered({ config: { ...llama, hidden_size: 4096, num_attention_heads,
        num_key_value_heads: num_attention_heads } })).warnings.find(({ code }) => code === 'attention_width')?.message;
    assert.match(await told(8), /end at heads of 256/);
    assert.match(await told(128), /not measured at this head width/);
    assert.equal(await told(32), undefined);
});

test('what hosts have no room for is told', async () => {
    const kept = { workload: { framework: 'deepspeed', software: null, offload: { optimizer: 'cpu' } },
        parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage: 2 } };
    const told = async (host_memory_bytes) => (await answered({ ...kept, cluster: { host_memory_bytes } }))
        .warnings.map(({ code }) => code).filter((code) => code.startsWith('host_memory'));
    const { host_bytes_per_node: least, host_high_bytes_per_node: high, host_start_bytes_per_node: start } =
        (await answered(kept)).memory;
    assert.equal(high, 1.5 * least);
    assert.equal(start, 2 * least); /* 8 times 4 N, of 16 N */
    assert.deepEqual(await told(start), []);
    assert.deepEqual(await told(start - 1), ['host_memory_at_start']);
    assert.deepEqual(await told(high - 1), ['host_memory_tight', 'host_memory_at_start']);
    assert.deepEqual(await told(least - 1), ['host_memory_exceeded', 'host_memory_at_start']);
});

test('a fraction of the optimizer leaves, of Megatron\'s', async () => {
    const offload = { optimizer: 'cpu', optimizer_fraction: 0.5 };
    const { resolved, assumptions, memory } = await answered({ workload: { offload } });
    assert.equal(resolved.workload.offload.optimizer_fraction, 0.5);
    assert.ok(assumptions.some(({ code }) => code === 'optimizer_fraction_whole'));
    assert.equal(memory.host_high_bytes_per_node, memory.host_bytes_per_node);
    await refused({ workload: { offload: { ...offload, optimizer_fraction: 0 } } },
        '/workload/offload/optimizer_fraction', 'out_of_range');
    await refused({ workload: { framework: 'fsdp2', software: null, offload }, parallelism: flat },
        '/workload/offload/optimizer_fraction', 'not_modelled');
});

const alone = { tensor: 1, sequence: null, pipeline: 1, data: 8, zero_stage: 0 };
const sharded = { ...alone, zero_stage: 3 };
const settled = {
    'what Megatron does': {},
    'what is left open': { workload: { framework: null, precision: null, recompute: null,
        attention: null, micro_batch_size: null }, parallelism: { sequence: null, zero_stage: null, data: null } },
    'half an optimizer': { workload: { offload: { optimizer: 'cpu', optimizer_fraction: 0.5 } } },
    'segments that grow': { workload: { expandable_segments: true } },
    'states by bytes': { workload: { layout: { gradient_bytes: 2, optimizer_bytes: 4 } } },
    'parts of blocks': { workload: { recompute: { mode: 'modules', modules: ['mlp', 'layernorm'] } } },
    'blocks in 16 bits': { workload: { precision: 'fp8', fp8: { recipe: 'block', bf16_layers: [0, 3] } }, parallelism: flat },
    'padded documents': { workload: { documents: { mean_length: 100, packed: false } } },
    'documents padded to the longest': { workload: { documents: { mean_length: 100, packed: false, padding: 'longest' } } },
    'packed documents': { workload: { documents: { mean_length: 100 } } },
    'free routing': { config: mixtral, parallelism: { expert: 2 },
        workload: { moe: { balance: 'free', imbalance: 1.4, dispatcher: 'deepep' } } },
    'tokens that travel under computing': { config: mixtral, parallelism: { expert: 2, pipeline: 1, data: 4 },
        workload: { moe: { overlap: true } } },
    'padded experts': { config: mixtral, parallelism: { expert: 2 }, workload: { moe: { capacity_factor: 1.5 } } },
    'hybrid groups': { workload: { framework: 'fsdp1' }, cluster: { nodes: 2 },
        parallelism: { ...sharded, zero_stage: null, data: 16, sharding: 'hybrid_shard' } },
    'gradients that wait': { workload: { framework: 'fsdp1' }, parallelism: { ...sharded, gradient_sync: 'last' } },
    'modules as units': { workload: { framework: 'fsdp1' }, parallelism: { ...sharded, fsdp_unit: ['mlp'] } },
    'prompts': { workload: { kind: 'finetuning', framework: 'ddp', adapter: { method: 'prefix_tuning' } },
        parallelism: alone },
    'turned features': { workload: { kind: 'finetuning', framework: 'ddp', adapter: { method: 'oft' } },
        parallelism: alone },
    'one process': { workload: { framework: 'dp' }, parallelism: alone },
    'blocks on the host': { workload: { framework: 'ddp' }, cluster: { accelerators_per_node: 1 },
        parallelism: { ...alone, data: 1, placement: [{ layers: '0-1', device: 'cpu' }] } },
    'states on disks': { workload: { framework: 'deepspeed', offload: { optimizer: 'nvme', parameters: 'cpu' } },
        parallelism: sharded },
    'layers that stay': { workload: { framework: 'megatron', offload: { activations: 'cpu', activation_layers: 2 } },
        parallelism: { ...alone, data: 8, zero_stage: 1 } },
    'there and back': { parallelism: { ...alone, pipeline: 2, data: 4, zero_stage: 1, schedule: 'zb_v' } },
};

for (const [what, parts] of Object.entries(settled))
    test(`what was settled is a request with the same answer: ${what}`, async () => {
        const first = await answered(parts);
        const { workload, parallelism } = first.resolved;
        for (const name of ['layout', 'documents', 'moe', 'fp8', 'adapter', 'offload'])
            for (const [member, value] of Object.entries(parts.workload?.[name] ?? {}))
                assert.deepEqual(workload[name][member], value, `${name}.${member}`);
        const again = await accepted({ ...estimate(parts), workload, parallelism });
        for (const part of ['resolved', 'memory', 'time', 'throughput', 'communication', 'fits'])
            assert.deepEqual(again[part], first[part], part);
    });

test('the largest value of every count is that of the document', async () => {
    const { schemas } = client.contract.document.components;
    let count = 0;
    for (const [part, schema] of [['workload', 'Workload'], ['cluster', 'Cluster'], ['parallelism', 'Parallelism']])
        for (const [name, { type, maximum }] of Object.entries(schemas[schema].properties)) {
            if (maximum === undefined || !type.includes('integer'))
                continue;
            const fault = await refused({ [part]: { [name]: maximum + 1 } }, `/${part}/${name}`, 'out_of_range');
            assert.equal(fault.hint, String(maximum), name);
            count++;
        }
    assert.ok(count > 12, `${count} counts have a limit`);
});

const hints = [
    ['a word for later', { workload: { kind: 'inference' } }, '/workload/kind', /^pretraining, finetuning$/],
    ['shard groups', { parallelism: { ...alone, data: 8, shard_group: 2 } }, '/parallelism/shard_group', /fsdp2/],
    ['copies', { workload: { framework: 'deepspeed' }, parallelism: { replicate: 2 } }, '/parallelism/replicate', /fsdp2/],
    ['stages', { workload: { framework: 'fsdp1' }, parallelism: { ...sharded, zero_stage: 1 } },
        '/parallelism/zero_stage', /^0, 2, 3$/],
    ['stages of a pipeline', { workload: { framework: 'deepspeed' },
        parallelism: { ...sharded, pipeline: 2, data: 4 } }, '/parallelism/zero_stage', /^0, 1$/],
    ['gathered parameters let go', { parallelism: { reshard_after_forward: true } },
        '/parallelism/reshard_after_forward', /fsdp2/],
    ['no_sync of ZeRO', { workload: { framework: 'deepspeed' },
        parallelism: { ...sharded, gradient_sync: 'last' } }, '/parallelism/gradient_sync', /zero_stage 1/],
    ['parameters on the host', { workload: { offload: { parameters: 'cpu', optimizer: 'cpu' } } },
        '/workload/offload/parameters', /zero_stage 3/],
    ['parameters without what steps on them', { workload: { framework: 'fsdp2', offload: { parameters: 'cpu' } }, parallelism: sharded },
        '/workload/offload/optimizer', /^cpu/],
    ['more layers rebuilt than there are', { workload: { recompute: { mode: 'full', method: 'block', layers: 999 } } },
        '/workload/recompute/layers', /^1 to \d+$/],
    ['widths of TransformerEngine', { workload: { precision: 'fp8' } }, '/workload/precision', /^bf16$/],
    ['modules rebuilt', { workload: { framework: 'fsdp2', recompute: { mode: 'modules', modules: ['mlp'] } },
        parallelism: sharded }, '/workload/recompute/mode', /full/],
    ['early steps', { workload: { optimizer_in_backward: true } }, '/workload/optimizer_in_backward', /^false$/],
    ['shared sequences', { workload: { framework: 'ddp' }, parallelism: { ...alone, context: 2, data: 4 } },
        '/parallelism/context', /megatron/],
    ['experts of none', { parallelism: { expert: 2 } }, '/parallelism/expert', /^1$/],
    ['prediction', { workload: { framework: 'fsdp2', mtp: true }, parallelism: sharded }, '/workload/mtp', /megatron/],
    ['pointwise results', { workload: { compile: true, activation_profile: 'eager' } },
        '/workload/activation_profile', /^compiled/],
    ['two stages', { workload: { framework: 'fsdp1' },
        parallelism: { ...sharded, sharding: 'shard_grad_op' } }, '/parallelism/sharding', /one of them/],
    ['two groups', { workload: { framework: 'fsdp1' },
        parallelism: { ...sharded, shard_group: 2, replicate: 2 } }, '/parallelism/replicate', /one of them/],
    ['weights gathered', { workload: { precision: 'fp8', fp8: { all_gather: true } } },
        '/workload/fp8/all_gather', /primary_weights/],
    ['products', { parallelism: { data: 'auto', context: 3 } }, '/parallelism',
        /^tensor \* pipeline \* context: 1, 2, 4, 8$/],
    ['overlap of dp', { workload: { framework: 'dp' }, parallelism: { ...alone, overlap: { p2p: true } } },
        '/parallelism/overlap', /ddp/],
    ['offload of dp', { workload: { framework: 'dp', offload: { optimizer: 'cpu' } }, parallelism: alone },
        '/workload/offload', /deepspeed/],
];

test('what a framework lacks is refused with what may stand there', async () => {
    for (const [what, parts, pointer, hint] of hints) {
        const response = await ask(parts);
        assert.equal(response.status, 422, what);
        const fault = response.json.errors.find((error) => error.pointer === pointer);
        assert.match(fault?.hint ?? '', hint, `${what}: ${response.text}`);
    }
});

test('an accounting alone knows groups of ranks that share the states', async () => {
    const ask = (parallelism, cluster) => client.post('/api/v1/estimates', { model: { parameters: 7.5e9 },
        workload: { framework: 'fsdp1', accounting: 'mixed-2-2-12' }, cluster, parallelism });
    const node = await ask({ sharding: 'hybrid_shard' }, { accelerator, nodes: 8, accelerators_per_node: 8 });
    assert.equal(node.json.accounting.per_rank_bytes, 15e9);
    assert.equal(node.json.memory.ranks[0].count, 64);
    const copies = await ask({ data: 64, zero_stage: 3, replicate: 4 });
    assert.equal(copies.json.accounting.per_rank_bytes, 7.5e9);
    for (const [parallelism, pointer, code] of [
        [{ data: 64, sharding: 'hybrid_shard' }, '/parallelism/shard_group', 'required_field'],
        [{ data: 64, zero_stage: 3, shard_group: 3 }, '/parallelism/shard_group', 'not_divisible'],
        [{ data: 64, zero_stage: 3, replicate: 3 }, '/parallelism/replicate', 'not_divisible']]) {
        const { status, json } = await ask(parallelism);
        assert.equal(status, 422);
        assert.deepEqual([json.errors[0].pointer, json.errors[0].code], [pointer, code]);
    }
});

test('null is what absent is, and serving is counted by its rule', async () => {
    const nothing = { hub: null, revision: null, config: null, layers: null };
    const { memory, fits } = await accepted({ model: { ...nothing, parameters: 70e9 },
        workload: { kind: 'inference', accounting: 'inference-1.2', precision: 'fp16', recompute: null } });
    assert.equal(memory.device_total_bytes, 168e9);
    assert.equal(fits, null);
    for (const [part, schema] of [['workload', 'Workload'], ['cluster', 'Cluster'], ['parallelism', 'Parallelism']])
        for (const name of Object.keys(client.contract.document.components.schemas[schema].properties)) {
            const withNull = estimate({ [part]: { [name]: null } });
            const without = structuredClone(withNull);
            delete without[part][name];
            const [one, other] = [await client.post('/api/v1/estimates', withNull),
                await client.post('/api/v1/estimates', without)];
            assert.equal(one.status, other.status, name);
            for (const part of ['memory', 'time', 'resolved', 'assumptions', 'warnings'])
                assert.deepEqual(one.json[part], other.json[part], `${name}: ${part}`);
        }
});
