/** Which cluster for a model: each answer is an estimate of its own, and what is smaller does not fit. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accelerator, estimate, llama } from './lib/fixtures.mjs';
import { connectTo, openSocket } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { eventually } from './lib/processes.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const path = '/api/v1/limits:clusters';
const aims = ['smallest', 'fastest', 'cheapest'];
let client;
let server;

before(async () => {
    server = await startServer({ database: true });
    client = await connectTo(server);
});
after(() => stopClean(server));

/** As large as the course's Falcon. */
const falcon = {
    model_type: 'falcon',
    architectures: ['FalconForCausalLM'],
    hidden_size: 8192,
    num_hidden_layers: 60,
    num_attention_heads: 128,
    num_kv_heads: 8,
    new_decoder_architecture: true,
    multi_query: true,
    parallel_attn: true,
    bias: false,
    vocab_size: 65024,
    alibi: false,
};

const llama7b = { ...llama, hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32,
    num_attention_heads: 32, num_key_value_heads: 32, vocab_size: 32000 };

/** A small space, so that a debug build is done with it soon. */
const narrow = {
    sequence: true, virtual_pipeline: 1, schedule: '1f1b', layout: 'rule', context: 1,
    recompute: ['none', 'full'], recompute_layers: 0, micro_batch_size: 1,
};

function request({ config = llama, workload = {}, ...rest } = {}) {
    return {
        model: { config },
        workload: { framework: 'megatron', sequence_length: 512, global_batch_size: 32, ...workload },
        time_limit_s: 300,
        ...rest,
    };
}

async function answered(body) {
    const response = await client.post(path, body);
    assert.equal(response.status, 200, response.text.slice(0, 1000));
    return response.json;
}

/** The plan as an estimate request: its members, merged into the request. */
function asEstimate({ model, workload }, { cluster }, plan) {
    return {
        model,
        workload: { ...workload, ...plan.workload },
        cluster: { ...cluster, ...plan.cluster },
        parallelism: plan.parallelism,
    };
}

/** However few accelerators of a node the plan has. */
function assertPaidWhole({ cost, nodes, time_to_train_s: lasts_s }, { price_per_node_hour: price }, what) {
    assert.ok(Math.abs(cost / (lasts_s / 3600 * nodes * price) - 1) < 1e-9, what);
}

async function assertEstimates(asked, { candidates }) {
    let count = 0;
    for (const candidate of candidates)
        for (const aim of aims) {
            const { plan } = candidate[aim];
            if (plan === null)
                continue;
            const response = await client.post('/api/v1/estimates', asEstimate(asked, candidate, plan));
            const what = `${candidate.name} ${aim}`;
            assert.equal(response.status, 200, `${what}: ${response.text.slice(0, 500)}`);
            assert.equal(response.json.fits, true, what);
            assert.equal(response.json.time.step_s, plan.step_s, what);
            assert.equal(response.json.memory.device_total_bytes, plan.device_total_bytes, what);
            assert.equal(response.json.fits_certain, plan.fits_certain, what);
            assert.equal(response.json.cost, plan.cost, what);
            if (plan.cost !== null)
                assertPaidWhole(plan, candidate, what);
            count++;
        }
    return count;
}

test('the best of each aim is the best of all candidates, and an estimate of its own', async () => {
    const asked = request({
        workload: { tokens: 1e9 },
        node_types: ['aws-p4d.24xlarge', 'aws-p5.48xlarge'],
        max_nodes: 2,
        space: narrow,
    });
    const answer = await answered(asked);
    assert.ok(await assertEstimates(asked, answer) >= 6);
    assert.ok(answer.smallest.plan.accelerators < 8, 'a part of a node is among them');
    const plans = (aim) => answer.candidates.map((one) => one[aim].plan);
    assert.equal(answer.smallest.plan.accelerators,
        Math.min(...plans('smallest').map((plan) => plan.accelerators)));
    assert.equal(answer.fastest.plan.tokens_per_s,
        Math.max(...plans('fastest').map((plan) => plan.tokens_per_s)));
    assert.equal(answer.cheapest.plan.cost, Math.min(...plans('cheapest').map((plan) => plan.cost)));
    assert.equal(answer.candidates[answer.fastest.candidate].name, answer.fastest.name);
});

test('what fits narrowly is not said to fit surely', async () => {
    const one = { ...narrow, tensor: 1, pipeline: 1, zero_stage: 0, recompute: 'none', accelerators: 1 };
    const found = async (accelerator_overrides) => {
        const asked = request({
            clusters: [{ accelerator, nodes: 1, accelerators_per_node: 1, accelerator_overrides }],
            space: one,
        });
        const answer = await answered(asked);
        assert.ok(await assertEstimates(asked, answer) >= 2);
        return answer.smallest.plan;
    };
    const roomy = await found(null);
    assert.equal(roomy.fits_certain, true);
    const { memory } = (await client.post('/api/v1/estimates', estimate({
        cluster: { accelerators_per_node: 1 }, parallelism: { tensor: 1, pipeline: 1, data: 1 } }))).json;
    const full = await found({ memory_bytes: memory.capacity_bytes - roomy.headroom_bytes });
    assert.equal(full.headroom_bytes, 0);
    assert.equal(full.fits_certain, false);
});

test('Falcon 40B needs two nodes of A100, and by the rule of the course nine of them', async () => {
    const asked = request({
        config: falcon,
        workload: { sequence_length: 2048, global_batch_size: 256 },
        node_types: ['aws-p4de.24xlarge'],
        max_nodes: 4,
        space: narrow,
        constraints: { max_accelerators: 32 },
    });
    const { smallest, candidates: [node], model } = await answered(asked);
    assert.equal(smallest.plan.accelerators, 16);
    const rule = node.rules_of_thumb.find(({ name }) => name === 'mixed-2-4-12');
    assert.equal(rule.total_bytes, 18 * model.parameters);
    assert.equal(rule.minimum_accelerators, Math.ceil(18 * model.parameters / 80e9));
    assert.equal(Math.ceil(18 * 40e9 / 80e9), 9, 'of forty billion parameters: nine');
    /* One node less: no plan of the whole space fits. */
    const fewer = await client.post('/api/v1/searches', {
        model: asked.model, workload: asked.workload, space: { ...narrow, nodes: 1 },
        cluster: { node_type: 'aws-p4de.24xlarge', nodes: 1 }, objective: 'accelerators', limit: 1,
    });
    assert.equal(fewer.status, 200, fewer.text.slice(0, 500));
    assert.equal(fewer.json.best.length, 0);
});

test('a 7 B model is tuned on one accelerator of every kind with 4-bit weights', async () => {
    const { smallest, candidates } = await answered(request({
        config: llama7b,
        workload: { kind: 'finetuning', framework: 'ddp', sequence_length: 2048,
            adapter: { method: 'lora', rank: 16, base: 'nf4' } },
        node_types: 'all',
        max_nodes: 1,
    }));
    assert.ok(candidates.length >= 50);
    assert.equal(smallest.plan.accelerators, 1);
    for (const { name, smallest: least } of candidates)
        assert.ok(least.plan !== null || least.nothing !== null, name);
});

test('all of a 70 B model is tuned on more than one node', async () => {
    const { smallest } = await answered(request({
        config: { ...llama7b, hidden_size: 8192, intermediate_size: 28672, num_hidden_layers: 80,
            num_attention_heads: 64, num_key_value_heads: 8, vocab_size: 128256,
            max_position_embeddings: 131072 },
        workload: { kind: 'finetuning', framework: 'fsdp2', sequence_length: 4096,
            global_batch_size: 64 },
        node_types: ['aws-p5.48xlarge'],
        max_nodes: 4,
        space: { ...narrow, zero_stage: 3 },
    }));
    assert.ok(smallest.plan.accelerators > 8 && smallest.plan.accelerators <= 24);
});

test('listed clusters and inventories stand beside node types', async () => {
    const spec = { name: 'lab', pools: [{ name: 'gpu', nodes: 2,
        node: { accelerator, accelerators: 8 } }] };
    const put = await client.put('/api/v1/inventories/lab', spec);
    assert.ok(put.status === 200 || put.status === 201, put.text);
    const asked = request({
        clusters: [{ inventory: 'lab' },
            { accelerator, nodes: 1, accelerators_per_node: 8, price_per_node_hour: 12 }],
        node_types: ['dgx-h100'],
        max_nodes: 1,
        workload: { tokens: 1e9 },
        space: narrow,
    });
    const answer = await answered(asked);
    assert.deepEqual(answer.candidates.map(({ name }) => name), ['lab', accelerator, 'dgx-h100']);
    assert.equal(answer.cheapest.candidate, 1);
    assert.equal(answer.candidates[0].cheapest.missing, 'price');
    assert.equal(answer.candidates[0].nodes, 2);
    assert.ok(await assertEstimates(asked, answer) >= 7);
});

test('what cannot be found says why', async () => {
    const none = await answered(request({
        config: falcon, node_types: ['aws-p4d.24xlarge'], max_nodes: 1, space: narrow,
    }));
    assert.equal(none.smallest, null);
    assert.equal(none.candidates[0].smallest.searched, true);
    assert.match(none.candidates[0].smallest.nothing, /out of memory/);
    assert.equal(none.candidates[0].cheapest.missing, 'tokens');

    const hurried = await answered(request({
        config: falcon, workload: { sequence_length: 2048, global_batch_size: 256 },
        node_types: ['aws-p4d.24xlarge', 'aws-p5.48xlarge'], time_limit_s: 0.001,
    }));
    assert.equal(hurried.candidates[1].smallest.searched, false);
    assert.equal(hurried.candidates[1].smallest.missing, 'time');
});

test('what a request gets wrong is said at once, and where', async () => {
    const wrong = await client.post(path, request({ node_types: ['nowhere', 3], max_nodes: 0 }));
    assertProblem(wrong, 422);
    assert.deepEqual(wrong.json.errors.map(({ pointer, code }) => [pointer, code]), [
        ['/max_nodes', 'out_of_range'], ['/node_types/0', 'unknown_node_type'],
        ['/node_types/1', 'wrong_type']]);
    const neither = await client.post(path, request());
    assertProblem(neither, 422);
    assert.equal(neither.json.errors[0].pointer, '/node_types');
    const listed = await client.post(path, request({ clusters: [{ accelerator: 'nope', nodes: 1 }] }));
    assertProblem(listed, 422);
    assert.match(listed.json.errors[0].pointer, /^\/clusters\/0/);
    const unknown = await client.post(path, request({ node_types: 'all', objective: 'cost' }));
    assertProblem(unknown, 422);
    assert.equal(unknown.json.errors[0].code, 'unknown_field');
    assertProblem(await client.post(path, request({ node_types: 'some' })), 422);
    assertProblem(await client.post(path,
        request({ node_types: 'all', workload: { kind: 'inference' } })), 422);
    assertProblem(await client.post(path, { model: { parameters: 7e9 },
        workload: { accounting: 'mixed-2-2-12' }, node_types: 'all' }), 422);
});

test('who closes the connection gives all of its searches up', async () => {
    const metric = async (name) => Number(new RegExp(`^${name} (.*)$`, 'm')
        .exec((await client.get('/metrics')).text)[1]);
    const cancelled = 'shardline_searches_ended_total\\{state="cancelled"\\}';
    const before = await metric(cancelled);
    const body = JSON.stringify(request({ config: falcon, node_types: 'all', max_nodes: 64,
        workload: { sequence_length: 2048, global_batch_size: 4096 } }));
    const socket = await openSocket(server.url);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`
        + `Content-Length: ${body.length}\r\n\r\n${body}`);
    await eventually(async () => await metric('shardline_searches_running') === 1, 'one runs');
    socket.destroy();
    await eventually(async () => await metric(cancelled) > before, 'it ends');
    const evaluated = await metric('shardline_searches_evaluated_plans_total');
    assert.equal(await metric('shardline_searches_running'), 0, 'and no other begins');
    assert.equal(await metric('shardline_searches_evaluated_plans_total'), evaluated);
});
