/** Faults of a request: all at once, each once, and none that only follows from another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { dice } from './lib/drawn.mjs';
import { accelerator, estimate, llama, mixtral } from './lib/fixtures.mjs';
import { assertProblem } from './lib/problems.mjs';

const path = '/api/v1/estimates';
const client = await clientOfFile();

const told = ({ json }) => (json.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
const faultsOf = async (request, of = path) => told(await client.post(of, request));

const deepspeed = { framework: 'deepspeed', software: 'deepspeed-0.x' };
const onCpu = { optimizer: 'cpu', parameters: 'cpu' };

/** Requests that are answered, with as many members as go together. */
const whole = {
    megatron: estimate({
        config: { ...llama, intermediate_size: 1024 },
        workload: { kind: 'pretraining', framework: 'megatron', software: 'mbridge-26.04', precision: 'fp8',
            fp8: { recipe: 'delayed', primary_weights: true, all_gather: true, bf16_layers: 1 },
            micro_batch_size: 1, gradient_accumulation: 16, optimizer: 'adamw', recompute: { mode: 'full', method: 'uniform',
                layers: 1 }, attention: 'flash3', dropout: 0.1, tokens: 1e9, compile: false, loss: 'eager',
            activation_profile: 'fused', cuda_graphs: 'none', documents: { mean_length: 256, packed: true } },
        cluster: { nodes: 1, accelerators_per_node: 8, memory_bytes: 8e10, oversubscription: 1, price_per_node_hour: 20,
            accelerator_overrides: { power_limit_w: 600 }, nics: [{ count: 8, bytes_per_s: 5e10 }],
            operation: { restart_s: 300 } },
        parallelism: { tensor: 2, sequence: true, pipeline: 2, virtual_pipeline: 2, context: 1, expert: 1,
            data: 2, zero_stage: 1, schedule: 'interleaved_1f1b', order: 'tp-cp-ep-dp-pp',
            overlap: { grad_reduce: true, p2p: true }, grad_reduce_dtype: 'fp32' },
    }),
    experts: estimate({
        config: mixtral,
        workload: { micro_batch_size: 1, moe: { balance: 'free', imbalance: 1.5, dispatcher: 'alltoall', overlap: false } },
        parallelism: { tensor: 2, sequence: true, pipeline: 1, expert: 4, expert_tensor: 1, data: 2, context: 2,
            context_kind: 'p2p' },
    }),
    sharded: estimate({
        workload: { framework: 'fsdp2', micro_batch_size: 1, offload: { activations: 'cpu' } },
        parallelism: { tensor: 2, pipeline: 1, data: null, sharding: 'hybrid_shard', reshard_after_forward: true, sequence: null,
            fsdp_unit: 'block', gather_dtype: 'bf16', zero_stage: null, shard_group: null },
    }),
    flat: estimate({
        workload: { framework: 'fsdp1', micro_batch_size: 4, offload: onCpu, global_batch_size: 32 },
        parallelism: { tensor: 1, pipeline: 1, sequence: null, data: 8, zero_stage: 3, shard_group: 4, gradient_sync: 'each' },
    }),
    deepspeed: estimate({
        config: mixtral,
        workload: { ...deepspeed, micro_batch_size: 1, offload: { optimizer: 'cpu' } },
        parallelism: { tensor: 1, pipeline: 1, sequence: null, data: 8, zero_stage: 2, expert: 4, gradient_sync: 'each' },
    }),
    adapted: estimate({
        workload: { kind: 'finetuning', framework: 'ddp', micro_batch_size: 1, recompute: 'selective', mtp: false,
            adapter: { method: 'lora', rank: 8, targets: ['q_proj'], base: 'nf4', dtype: 'bf16', dropout: 0.1 } },
        parallelism: { tensor: 1, pipeline: 1, sequence: null, data: 8, zero_stage: 0 },
    }),
    pools: estimate({
        cluster: { accelerator: null, nodes: null, pools: [{ name: 'a', accelerator, nodes: 1 }, { name: 'b', accelerator, nodes: 1 }] },
        parallelism: { tensor: 2, pipeline: 2, data: 4 },
    }),
};

/** A split that none of them can have: of 8 heads. */
const split = (request) => ({ ...request, parallelism: { ...request.parallelism, tensor: 3 } });
/** No number of replicas mends it. */
const withoutData = '/parallelism not_divisible';
const splitFault = '/parallelism/tensor not_divisible';

const parts = ['workload', 'cluster', 'parallelism'];

/** Each member of the request and of its parts, with values it cannot have. */
function* spoilt(request) {
    for (const part of parts)
        for (const member of Object.keys(request[part]).filter((name) => request[part][name] !== null))
            for (const wrong of [{ unheard: 1 }, [{}], 'unheard-of', -7, true]) {
                const changed = { ...request, [part]: { ...request[part], [member]: wrong } };
                yield { pointer: `/${part}/${member}`, wrong, changed };
            }
}

const isIn = (pointer) => (fault) => fault.startsWith(`${pointer} `) || fault.startsWith(`${pointer}/`);

/** What is wrong with the faults of a spoilt request; '' when nothing is. */
function judged(pointer, faults, both, ofSplit) {
    if (!faults.every(isIn(pointer)))
        return 'more than its own';
    if (pointer === '/parallelism/tensor') /* it is the split's */
        return '';
    if (!faults.every((fault) => both.includes(fault)))
        return 'hidden by the split';
    if (!both.includes(splitFault))
        return 'hides the split';
    const split = pointer === '/parallelism/data' ? [...ofSplit, withoutData] : ofSplit;
    return both.every((fault) => isIn(pointer)(fault) || split.includes(fault)) ? '' : 'more with the split';
}

const ofValue = / (wrong_type|unknown_value|out_of_range|unknown_field|not_modelled)$/;

test('what one member has wrong is said of it alone, and of a split beside it too', async () => {
    const wrongly = [];
    let count = 0;
    for (const [name, request] of Object.entries(whole)) {
        const answer = await client.post(path, request);
        assert.equal(answer.status, 200, `${name}: ${answer.text}`);
        const ofSplit = await faultsOf(split(request));
        assert.ok(ofSplit.includes(splitFault), `${name}: ${ofSplit}`);
        for (const { pointer, wrong, changed } of spoilt(request)) {
            const faults = await faultsOf(changed);
            if (!faults.some((fault) => ofValue.test(fault)))
                continue; /* a value that it may have */
            const both = await faultsOf(split(changed));
            const what = judged(pointer, faults, both, ofSplit);
            if (what !== '')
                wrongly.push({ what, name, pointer, wrong, faults, both, ofSplit });
            count++;
        }
    }
    assert.deepEqual(wrongly, []);
    assert.ok(count > 200, `${count} only`);
});

test('a name that is misspelt is the one fault, and a split beside it is one, too', async () => {
    for (const [name, request] of Object.entries(whole))
        for (const part of parts)
            for (const [member, value] of Object.entries(request[part]).filter(([, known]) => known !== null)) {
                const misspelt = ({ [member]: _, ...rest }) => ({ ...rest, [`${member}x`]: value });
                const changed = { ...request, [part]: misspelt(request[part]) };
                const own = `/${part}/${member}x unknown_field`;
                assert.deepEqual(await faultsOf(changed), [own], name);
                if (part !== 'parallelism') {
                    const both = await faultsOf(split(changed));
                    assert.ok(both.includes(own) && both.includes(splitFault), `${name} ${own}: ${both}`);
                }
            }
});

test('any two members that are wrong are two faults, and stand before a split with it', async () => {
    const { any } = dice(20240607);
    for (const [name, request] of Object.entries(whole)) {
        const spoiltOnes = [...spoilt(request)].filter(({ wrong }) => typeof wrong === 'object');
        const ofSplit = await faultsOf(split(request));
        for (let i = 0; i < 12; i++) {
            const [one, two] = [any(...spoiltOnes), any(...spoiltOnes)];
            if (one.pointer === two.pointer)
                continue;
            const changed = structuredClone(one.changed);
            const [, part, member] = two.pointer.split('/');
            changed[part][member] = two.wrong;
            const its = (fault) => isIn(one.pointer)(fault) || isIn(two.pointer)(fault);
            const faults = await faultsOf(changed);
            const where = `${name} ${one.pointer} ${two.pointer}: ${faults}`;
            assert.ok(faults.every(its), where);
            assert.ok([one, two].every(({ pointer }) => faults.some(isIn(pointer))), where);
            const both = await faultsOf(split(changed));
            assert.ok(both.every((fault) => its(fault) || [...ofSplit, withoutData].includes(fault)), `${where}; ${both}`);
        }
    }
});

const impossible = estimate({
    workload: { micro_batch_size: 0, recompute: 'sometimes' },
    parallelism: { tensor: 3, context: 5, zero_stage: 7, colour: 'blue' },
});
const all = [
    '/workload/micro_batch_size out_of_range', '/workload/recompute unknown_value',
    '/parallelism world_size_mismatch', '/parallelism/tensor not_divisible', '/parallelism/sequence not_divisible',
    '/parallelism/context not_divisible', '/parallelism/zero_stage out_of_range', '/parallelism/colour unknown_field',
];

test('wrong values and an impossible split are one answer, in the order of the request, with what is legal', async () => {
    const response = await client.post(path, impossible);
    assertProblem(response, 422);
    assert.deepEqual(told(response), all);
    const hints = Object.fromEntries(response.json.errors.map(({ pointer, hint }) => [pointer, hint]));
    assert.equal(hints['/parallelism/tensor'], '1, 2, 4, 8');
    assert.equal(hints['/parallelism/zero_stage'], '3');
    assert.match(hints['/workload/recompute'], /selective/);
    assert.match(hints['/parallelism/context'], /^1, 2, 4, 8/);
    assert.deepEqual((await client.post(path, impossible)).json.errors, response.json.errors);
});

/* Software leaves one framework of those thought in its place, and nodes several beside it. */
test('of accelerators that nobody counted nothing is said, however much else is wrong', async () => {
    const asked = estimate({
        workload: { framework: 'megatronx', software: 'mbridge-26.04', sequence_length: -1, micro_batch_size: 0,
            precision: 'fp7', optimizer: 'adamx', recompute: 'half' },
        cluster: { nodes: 0 }, parallelism: { tensor: 1, sequence: false, pipeline: 5 },
    });
    assert.deepEqual((await faultsOf(asked)).sort(), ['/cluster/nodes out_of_range', '/workload/framework unknown_value',
        '/workload/micro_batch_size out_of_range', '/workload/optimizer unknown_value', '/workload/precision unknown_value',
        '/workload/recompute unknown_value', '/workload/sequence_length out_of_range']);
});

test('all that takes the question and refuses splits says the same of it', async () => {
    for (const resource of ['estimates', 'shardings', 'timelines', 'limits'])
        assert.deepEqual(await faultsOf(impossible, `/api/v1/${resource}`), all, resource);
    const batch = await client.request('POST', '/api/v1/estimates:batch',
        { body: JSON.stringify(impossible), headers: { 'Content-Type': 'application/x-ndjson' } });
    assert.deepEqual(told({ json: JSON.parse(batch.text) }), all);
});

test('what is about plans that cannot be says what it cannot read', async () => {
    const own = all.filter((fault) => ofValue.test(fault));
    for (const resource of ['comparisons', 'estimates:choices', 'searches'])
        assert.deepEqual((await faultsOf(impossible, `/api/v1/${resource}`)).sort(), [...own].sort(), resource);
});

test('a member that is welcome under another name does not count where unknown ones are', async () => {
    const faults = await faultsOf(impossible, `${path}?unknown=warn`);
    assert.deepEqual(faults, all.filter((fault) => !fault.includes('colour')));
});

test('faults of a config are told with those of its request, and nothing is said of a split then', async () => {
    const { num_attention_heads, ...headless } = llama;
    const faults = await faultsOf({ ...impossible, model: { config: { ...headless, hidden_size: 'wide' } } });
    assert.ok(faults.some((fault) => fault.startsWith('/model/config')), `${faults}`);
    assert.ok(faults.includes('/workload/micro_batch_size out_of_range'), `${faults}`);
    assert.ok(!faults.some((fault) => fault.endsWith('not_divisible')), `${faults}`);
});

test('a request that is hardly one is told what it lacks', async () => {
    for (const [request, faults] of [
        [{}, ['/model required_field', '/workload required_field', '/cluster required_field']],
        [[], [' wrong_type']],
        [{ model: { config: llama } }, ['/workload required_field', '/cluster required_field']],
        [{ ...impossible, workload: 7, cluster: [] }, ['/workload wrong_type', '/cluster wrong_type',
            '/parallelism/tensor not_divisible', '/parallelism/zero_stage out_of_range', '/parallelism/colour unknown_field']],
    ])
        assert.deepEqual(await faultsOf(request), faults, JSON.stringify(request));
});
