/** Models: from an inline config and from the Hub, whatever state the Hub is in. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { commitOf, startHub } from '../hub/standin.mjs';
import {
    estimate, gpt2, gpt2Parameters, llama, llamaParameters, mistral, qwen2, qwen2Parameters,
    qwen3, qwen3Parameters,
} from './lib/fixtures.mjs';
import { goldenRows } from './lib/csv.mjs';
import { connectTo } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const files = { 'config.json': llama };
let hub;
let server;
let client;

before(async () => {
    hub = await startHub({
        repositories: {
            'org/llama': { files },
            gpt2: { files: { 'config.json': gpt2 } },
            'org/elsewhere': { files, redirect: true },
            'org/old-name': { files, renamedTo: 'org/llama' },
            'org/gated': { files, gated: true },
            'org/disabled': { files, disabled: true },
            'org/no-config': { files: { 'README.md': 'nothing else' } },
            'org/packed': { files, fault: 'gzip' },
        },
    });
    server = await startServer({ hub });
    client = await connectTo(server);
});
after(async () => {
    await stopClean(server);
    await hub.close();
});
beforeEach(() => { hub.requests.length = 0; });

const model = (id, query = '') => client.get(`/api/v1/models/${id}${query}`);
const inspect = (config) => client.post('/api/v1/models:inspect', { config, name: 'mine' });

function assertAddsUp({ parameters, weights_bytes: weightsBytes }, total, bytesEach = 2) {
    const { total: said, active_per_token: active, ...components } = parameters;
    assert.equal(said, total);
    assert.equal(active, total);
    assert.equal(Object.values(components).reduce((sum, count) => sum + count, 0), total);
    assert.equal(weightsBytes, bytesEach * total);
}

test('an inline config is counted to the last parameter', async () => {
    for (const [config, total, bytesEach] of [
        [llama, llamaParameters, 2], [mistral, llamaParameters, 2], [qwen2, qwen2Parameters, 2],
        [qwen3, qwen3Parameters, 2], [gpt2, gpt2Parameters, 4],
    ]) {
        const response = await inspect(config);
        assert.equal(response.status, 200, response.text);
        assertAddsUp(response.json, total, bytesEach);
        assert.equal(response.json.model_type, config.model_type);
    }
    const { json } = await inspect(llama);
    assert.equal(json.name, 'mine');
    assert.equal(json.revision, null);
    // keys and values, 4 layers of 4 heads of 32, two bytes each
    assert.equal(json.kv_cache.bytes_per_token, 2 * 4 * 4 * 32 * 2);
});

test('a tied head counts once', async () => {
    const { json } = await inspect({ ...llama, tie_word_embeddings: true });
    assert.equal(json.parameters.lm_head, 0);
    assert.equal(json.parameters.total, llamaParameters - 2048 * 256);
});

test('every tensor is named, and together they are the model', async () => {
    const { json } = await inspect(llama);
    const layers = json.layers.reduce((sum, layer) => sum + layer.count * layer.tensors.reduce(
        (inner, { shape }) => inner + shape.reduce((product, n) => product * n, 1), 0), 0);
    assert.equal(layers, llamaParameters);
    const blocks = json.layers.find(({ kind }) => kind === 'dense');
    assert.deepEqual([blocks.parameters, blocks.weights_bytes],
        [(llamaParameters - 2 * 2048 * 256 - 256), 2 * (llamaParameters - 2 * 2048 * 256 - 256)]);
    assert.equal(blocks.tensors.find(({ name }) => name === 'mlp.down_proj.weight').elements, 256 * 688);
});

test('runs of a quantised checkpoint say no bytes: weights differ', async () => {
    const { json } = await inspect({ ...llama, quantization_config: { quant_method: 'fp8', weight_block_size: [128, 128] } });
    assert.deepEqual([...new Set(json.layers.map(({ weights_bytes: bytes }) => bytes))], [null]);
    assert.equal(json.layers.reduce((sum, { parameters }) => sum + parameters, 0), llamaParameters);
});

test('a config that cannot be is refused at the key', async () => {
    for (const [change, pointer] of [
        [{ hidden_size: -1 }, '/config/hidden_size'],
        [{ num_hidden_layers: 'four' }, '/config/num_hidden_layers'],
        [{ num_key_value_heads: 3 }, '/config/num_key_value_heads'],
        [{ model_type: 'no_such_family' }, '/config/model_type'],
    ])
        assertProblem(await inspect({ ...llama, ...change }), 422, { pointer });
});

const mixture = {
    ...llama, model_type: 'mixtral', architectures: ['MixtralForCausalLM'],
    num_local_experts: 4, num_experts_per_tok: 2, sliding_window: null,
};
const latent = {
    ...llama, model_type: 'minicpm3', architectures: ['MiniCPM3ForCausalLM'],
    q_lora_rank: 64, kv_lora_rank: 32, qk_nope_head_dim: 16, qk_rope_head_dim: 8, v_head_dim: 16,
};

test('a mixture of experts is counted, with what a token uses', async () => {
    const { status, json, text } = await inspect(mixture);
    assert.equal(status, 200, text);
    const { parameters } = json;
    const expert = 3 * mixture.hidden_size * mixture.intermediate_size;
    assert.equal(parameters.routed_experts, mixture.num_hidden_layers * 4 * expert);
    assert.equal(parameters.total - parameters.active_per_token,
        mixture.num_hidden_layers * 2 * expert);
    const routed = json.layers[1].tensors.filter(({ role }) => role === 'routed_experts');
    assert.deepEqual(routed.map(({ experts }) => experts), [4, 4, 4]);
    assert.ok(routed.every(({ name }) => name.startsWith('block_sparse_moe.experts.{}.')));
});

/** Elements of the parameters that an answer lists, each stored once. */
const listedElements = ({ layers }) => layers.reduce((sum, { count, tensors }) => sum
    + tensors.filter(({ tied, buffer }) => !tied && !buffer).reduce((inner, tensor) => inner
        + count * (tensor.experts ?? 1) * tensor.shape.reduce((product, n) => product * n, 1), 0), 0);

test('every family counts as its class does, and lists what it counts', async () => {
    const rows = await goldenRows('class_counts.csv');
    for (const row of rows) {
        const response = await inspect({ model_type: row.model_type, ...JSON.parse(row.config_json) });
        assert.equal(response.status, 200, `${row.tag}: ${response.text}`);
        const { parameters, persistent_buffers: buffers } = response.json;
        assert.equal(parameters.total, Number(row.total_params), row.tag);
        assert.equal(buffers, Number(row.persistent_buffers), row.tag);
        assert.equal(listedElements(response.json), parameters.total, row.tag);
        assert.equal(response.json.layers.reduce((sum, run) => sum + run.parameters, 0), parameters.total, row.tag);
    }
    assert.ok(rows.length > 60);
});

test('a latent is what latent attention keeps of a token', async () => {
    const { json } = await inspect(latent);
    assert.equal(json.kv_cache.bytes_per_token, latent.num_hidden_layers * (32 + 8) * 2);
});

test('what can be counted but not planned is refused by name', async () => {
    const response = await client.post('/api/v1/estimates',
        { ...estimate(), model: { config: { model_type: 'deberta-v2', hidden_size: 384, num_hidden_layers: 2 } } });
    assertProblem(response, 422, { pointer: '/model' });
    assert.equal(response.json.errors[0].code, 'not_modelled');
    assert.match(response.json.errors[0].detail, /blocks of this model type/);
});

test('mixtures and latent attention are planned, and say what was not measured', async () => {
    for (const [config, code] of [[mixture, 'experts_coarse'], [latent, 'latent_attention']]) {
        const { status, json } = await client.post('/api/v1/estimates', { ...estimate(), model: { config } });
        assert.equal(status, 200);
        assert.ok(json.memory.peak_allocated_bytes > 0 && json.time.step_s > 0);
        assert.ok(json.warnings.some((warning) => warning.code === code), code);
    }
});

test('a model of the Hub comes with the commit it was read at', async () => {
    const response = await model('org/llama');
    assert.equal(response.status, 200, response.text);
    assertAddsUp(response.json, llamaParameters);
    assert.equal(response.json.revision, commitOf('org/llama', {}));
    assert.match(hub.requests[0].headers['user-agent'], /^shardline\//);
});

test('a name without an organisation works', async () => {
    assertAddsUp((await model('gpt2')).json, gpt2Parameters, 4);
});

test('a renamed repository is followed', async () => {
    assertAddsUp((await model('org/old-name')).json, llamaParameters);
});

test('a packed answer is unpacked', async () => {
    assertAddsUp((await model('org/packed')).json, llamaParameters);
});

test('a revision is asked for by name and by commit', async () => {
    const commit = '0123456789abcdef0123456789abcdef01234567';
    hub.put('org/revised', { files, revisions: { 'refs/pr/1': commit } });
    for (const revision of ['refs%2Fpr%2F1', commit]) {
        const response = await model('org/revised', `?revision=${revision}`);
        assert.equal(response.status, 200, response.text);
        assert.equal(response.json.revision, commit);
    }
});

test('a known commit is not asked for again, a branch is asked whether it moved', async () => {
    hub.put('org/cached', { files });
    await model('org/cached');
    const before = hub.requests.length;
    await model('org/cached', `?revision=${commitOf('org/cached', {})}`);
    assert.equal(hub.requests.length, before, 'a commit never changes');
    const moved = { ...llama, num_hidden_layers: 5 };
    hub.put('org/cached', { files: { 'config.json': moved }, commit: 'f'.repeat(40) });
    const { json } = await model('org/cached');
    assert.equal(json.revision, 'f'.repeat(40));
});

test('an estimate takes its model from the Hub too', async () => {
    const response = await client.post('/api/v1/estimates',
        { ...estimate(), model: { hub: 'org/llama' } });
    assert.equal(response.status, 200, response.text);
    const missing = await client.post('/api/v1/estimates',
        { ...estimate(), model: { hub: 'org/nope' } });
    assertProblem(missing, 404, { code: 'repository_not_found', pointer: '/model/hub' });
});

test('what is missing is named: repository, revision or file', async () => {
    assertProblem(await model('org/nope'), 404,
        { code: 'repository_not_found', says: /private/ });
    assertProblem(await model('org/llama', '?revision=nope'), 404, { code: 'revision_not_found' });
    assertProblem(await model('org/no-config'), 404, { code: 'file_not_found' });
});

test('what is closed says how to open it', async () => {
    assertProblem(await model('org/gated'), 403, { code: 'gated', says: /terms|access/ });
    assertProblem(await model('org/disabled'), 403, { code: 'disabled' });
});

test('a name that no repository can have is refused before anyone is asked', async () => {
    for (const id of ['org/-name', 'org/na--me', 'org/na..me', 'org/name.git', 'org/n%20me',
        `org/${'x'.repeat(97)}`])
        assertProblem(await model(id), 422, { code: 'invalid_repository' });
    assert.equal(hub.requests.length, 0);
});

test('an estimate judges the name with the rest of its document', async () => {
    hub.requests.length = 0;
    const response = await client.post('/api/v1/estimates',
        { ...estimate(), model: { hub: 'org/na--me' }, colour: 'blue' });
    assertProblem(response, 422, { code: 'invalid_repository', pointer: '/model/hub' });
    assertProblem(response, 422, { code: 'unknown_field', pointer: '/colour' });
    assert.equal(hub.requests.length, 0);
});

test('a token goes to the Hub and never to the host it redirects to', async (t) => {
    const own = await startServer({ hub, env: { HF_TOKEN: hub.token } });
    t.after(() => stopClean(own));
    const authorized = await connectTo(own);
    hub.requests.length = 0;
    const response = await authorized.get('/api/v1/models/org/elsewhere');
    assert.equal(response.status, 200, response.text);
    const hosts = new Map(hub.requests.map((r) => [r.host, r.headers.authorization]));
    assert.equal(hosts.get('hub'), `Bearer ${hub.token}`);
    assert.ok(hosts.has('content'));
    assert.equal(hosts.get('content'), undefined);
    assertProblem(await authorized.get('/api/v1/models/org/nope'), 404,
        { code: 'repository_not_found' });
    assertProblem(await authorized.get('/api/v1/models/org/gated'), 403, { code: 'gated' });
});

test('a bad token is called one, without being shown', async (t) => {
    const own = await startServer({ hub, env: { HF_TOKEN: 'hf_thisoneiswrong' } });
    t.after(() => stopClean(own));
    const response = await (await connectTo(own)).get('/api/v1/models/org/llama');
    assertProblem(response, 403, { code: 'bad_token', says: /HF_TOKEN/ });
});

/** Every way the Hub can break, and what the user is told. */
const broken = [
    ['server_error', 502, 'upstream_error'],
    ['unavailable', 502, 'upstream_error'],
    ['reset', 502, undefined],
    ['truncated', 502, 'truncated'],
    ['oversized', 502, 'too_large'],
    ['oversized_chunked', 502, 'too_large'],
    ['gzip_bomb', 502, 'too_large'],
    ['redirect_loop', 502, 'too_many_redirects'],
    ['redirect_forbidden', 502, 'address_refused'],
    ['captive_portal', 502, 'not_the_hub'],
    ['not_json', 502, 'truncated'],
];
const silent = ['hang', 'trickle'];

test('a broken Hub is a problem of the Hub, said in so many words', async (t) => {
    for (const [kind, status, code] of broken) {
        await t.test(kind, async () => {
            hub.put(`faults/${kind}`, { files, fault: kind });
            assertProblem(await model(`faults/${kind}`), status, { code });
        });
    }
    await t.test(silent.join(' and '), async () => {
        silent.forEach((kind) => hub.put(`faults/${kind}`, { files, fault: kind }));
        const answers = await Promise.all(silent.map((kind) => model(`faults/${kind}`)));
        answers.forEach((answer) => assertProblem(answer, 504, { code: 'timeout' }));
    });
    assert.equal((await client.get('/healthz')).status, 200);
});

test('a Hub that stumbles once is asked again', async () => {
    for (const fault of [{ kind: 'unavailable' }, { kind: 'reset' },
        { kind: 'rate_limited', retryAfter: '1' }]) {
        const id = `stumbles/${fault.kind}`; /* none has a copy to fall back to */
        hub.put(id, { files, fault: { ...fault, times: 1 } });
        const response = await model(id);
        assert.equal(response.status, 200, `${fault.kind}: ${response.text}`);
    }
});

test('a slow Hub does not hold up planning', async () => {
    hub.put('org/held', { files, fault: 'held' });
    const waiting = Array.from({ length: 32 }, () => model('org/held'));
    await hub.seen('/org/held/');
    const planned = await client.post('/api/v1/estimates', estimate())
        .finally(() => hub.release());
    assert.equal(planned.status, 200);
    for (const response of await Promise.all(waiting))
        assert.ok([200, 503].includes(response.status), response.text);
});

test('a server that was told where the Hub is asks nobody else', async () => {
    hub.put('org/away', {
        files, fault: { kind: 'redirect_forbidden', location: 'http://10.0.0.1/config.json' },
    });
    assertProblem(await model('org/away'), 502, { code: 'address_refused' });
    hub.put('org/scheme', {
        files, fault: { kind: 'redirect_forbidden', location: 'file:///etc/passwd' },
    });
    assertProblem(await model('org/scheme'), 502);
});

test('what was fetched once is there without the Hub', async (t) => {
    const cache = await mkdtemp(join(tmpdir(), 'slcache-'));
    t.after(() => rm(cache, { recursive: true }));
    const own = await startHub({ repositories: { 'org/llama': { files } } });
    const online = await startServer({ hub: own, env: { SHARDLINE_CACHE_DIR: cache } });
    t.after(() => stopClean(online));
    const onlineClient = await connectTo(online);
    const fetched = await onlineClient.get('/api/v1/models/org/llama');
    assert.equal(fetched.status, 200);
    await own.close();

    await t.test('when the Hub has gone away', async () => {
        const { status, json } = await onlineClient.get('/api/v1/models/org/llama');
        assert.equal(status, 200);
        assert.deepEqual(json.parameters, fetched.json.parameters);
        assert.equal(json.revision, fetched.json.revision);
        assertProblem(await onlineClient.get('/api/v1/models/org/other'), 502,
            { code: 'connection_failed' });
    });
    await t.test('when it is not to be asked', async (inner) => {
        const offline = await startServer({ env: { SHARDLINE_CACHE_DIR: cache } });
        inner.after(() => stopClean(offline));
        const offlineClient = await connectTo(offline);
        assert.equal((await offlineClient.get('/api/v1/models/org/llama')).status, 200);
        assertProblem(await offlineClient.get('/api/v1/models/org/other'), 503,
            { code: 'offline_not_cached' });
    });
});
