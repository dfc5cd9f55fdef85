/** The Hub as a whole: what it counts, who asks it, what stands in for it, and searches. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { commitOf, safetensors, startHub } from '../hub/standin.mjs';
import { estimate, llama, llamaParameters } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const files = { 'config.json': llama };
const counted = (total, parameters = { BF16: total }) => ({ safetensors: { parameters, total } });
let hub;
let server;
let client;

before(async () => {
    hub = await startHub({});
    server = await startServer({ hub });
    client = await connectTo(server);
});
after(async () => {
    await stopClean(server);
    await hub.close();
});
beforeEach(() => { hub.requests.length = 0; });

const model = (id, query = '', on = client) => on.get(`/api/v1/models/${id}${query}`);
const paths = () => hub.requests.map(({ path }) => path);

/** A server of its own, with a stand-in of its own unless one is given. */
async function own(t, { env = {}, repositories = {}, at } = {}) {
    const itsHub = at === undefined ? await startHub({ repositories }) : at;
    if (at === undefined)
        t.after(() => itsHub.close());
    const its = await startServer({ hub: itsHub, env });
    t.after(() => stopClean(its));
    return { hub: itsHub, server: its, client: await connectTo(its) };
}

async function folder(t) {
    const path = await mkdtemp(join(tmpdir(), 'slhub-'));
    t.after(() => rm(path, { recursive: true, force: true }));
    return path;
}

test('the count of the Hub stands beside ours', async () => {
    hub.put('org/counted', { files, ...counted(llamaParameters), gated: true, granted: true });
    hub.put('org/open', { files, ...counted(llamaParameters) });
    const { status, json, text } = await model('org/open');
    assert.equal(status, 200, text);
    assert.equal(json.gated, false);
    assert.deepEqual(json.cross_check, {
        source: 'safetensors_metadata', total: llamaParameters,
        dtypes: { BF16: llamaParameters }, computed: llamaParameters,
        difference: 0, explained: [], unexplained: 0,
    });
    assert.equal(hub.requests.length, 2, 'one more question than the config');
    assert.match(hub.requests[1].url, new RegExp(`/revision/${commitOf('org/open', {})}\\?expand=`));
});

const inspected = async (config) =>
    (await client.post('/api/v1/models:inspect', { config })).json;

test('a difference is explained, or said to be unexplained', async () => {
    hub.put('org/more', { files, ...counted(llamaParameters + 7) });
    const more = (await model('org/more')).json.cross_check;
    assert.deepEqual([more.difference, more.explained, more.unexplained], [7, [], 7]);

    const awq = { ...llama, quantization_config: { quant_method: 'awq', bits: 4, group_size: 128 } };
    // 8 weights of 4 bits to an element, and some scales
    const { attention, mlp } = (await inspected(llama)).parameters;
    const saved = (attention + mlp) * 7 / 8;
    const total = llamaParameters - saved + 500;
    hub.put('org/packed', {
        files: { 'config.json': awq },
        ...counted(total, { I32: total - 500, F16: 500 }),
    });
    const packed = (await model('org/packed')).json.cross_check;
    assert.equal(packed.unexplained, 0);
    assert.deepEqual(packed.explained.map(({ reason, elements }) => [reason, elements]),
        [['packed_weights', -saved], ['quantization_scales', 500]]);
    assert.match(packed.explained[0].detail, /awq/);

    const tied = { ...llama, tie_word_embeddings: true };
    hub.put('org/tied', { files: { 'config.json': tied }, ...counted(llamaParameters) });
    const { explained } = (await model('org/tied')).json.cross_check;
    assert.deepEqual(explained.map(({ reason, elements }) => [reason, elements]),
        [['tied_head_stored_again', 2048 * 256]]);
});

test('where the Hub counts nothing, the headers of the files are read', async (t) => {
    const header = { 'model.embed_tokens.weight': ['BF16', [2048, 256]], scale: ['F32', []] };
    hub.put('org/single', { files: { ...files, 'model.safetensors': safetensors(header) } });
    const { cross_check: single } = (await model('org/single')).json;
    assert.equal(single.source, 'safetensors_headers');
    assert.deepEqual(single.dtypes, { BF16: 2048 * 256, F32: 1 });
    assert.equal(hub.requests[2].headers.range, 'bytes=0-100000');

    await t.test('a long header with a second question', async () => {
        const long = safetensors(header, 200_000);
        hub.put('org/long', { files: { ...files, 'model.safetensors': long } });
        assert.equal((await model('org/long')).json.cross_check.total, 2048 * 256 + 1);
        assert.equal(hub.requests.at(-1).headers.range, `bytes=8-${long.length - 1}`);
    });
    await t.test('of several files, on another host', async () => {
        const index = { weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors' } };
        hub.requests.length = 0;
        hub.put('org/sharded', {
            files: {
                ...files,
                'model.safetensors.index.json': index,
                'model-1.safetensors': safetensors({ a: ['BF16', [3, 5]] }),
                'model-2.safetensors': safetensors({ b: ['F8_E4M3', [7]] }),
            },
            redirect: true,
        });
        const its = await own(t, { env: { HF_TOKEN: hub.token }, at: hub });
        const { cross_check: sharded } = (await model('org/sharded', '', its.client)).json;
        assert.deepEqual(sharded.dtypes, { BF16: 15, F8_E4M3: 7 });
        assert.ok(hub.requests.some(({ host, headers }) => host === 'content' && headers.range));
        for (const { host, headers } of hub.requests)
            assert.equal(headers.authorization, host === 'hub' ? `Bearer ${hub.token}` : undefined);
    });
});

test('a check that fails or hangs costs a little time once, and nothing else', async () => {
    for (const kind of ['hang', 'server_error', 'captive_portal', 'oversized_chunked']) {
        hub.put(`org/check-${kind}`, { files, fault: { kind, only: 'info' } });
        const started = Date.now();
        const first = await model(`org/check-${kind}`);
        assert.equal(first.status, 200, first.text);
        assert.deepEqual([first.json.cross_check, first.json.gated], [null, null]);
        assert.ok(Date.now() - started < 5000, `${kind}: ${Date.now() - started} ms`);
        const asked = hub.requests.length;
        await model(`org/check-${kind}`, `?revision=${first.json.revision}`);
        assert.equal(hub.requests.length, asked, `${kind} is not asked for again`);
    }
});

test('answers that differ have tags that differ', async (t) => {
    const cache = await folder(t);
    const header = { 'model.embed_tokens.weight': ['BF16', [2048, 256]] };
    const put = (on, weights) => on.put('org/s', {
        files: { ...files, 'model.safetensors': weights }, gated: true, granted: true,
    });
    const itsHub = await startHub({});
    t.after(() => itsHub.close());
    const env = { SHARDLINE_CACHE_DIR: cache, HF_TOKEN: itsHub.token };
    put(itsHub, 'no header at all');
    const one = await own(t, { env, at: itsHub });
    const uncounted = await model('org/s', '', one.client);
    assert.deepEqual([uncounted.json.cross_check, uncounted.json.gated], [null, 'manual']);
    const again = await model('org/s', '', one.client);
    assert.deepEqual([again.json, again.headers.etag], [uncounted.json, uncounted.headers.etag]);

    put(itsHub, safetensors(header));
    const two = await own(t, { env, at: itsHub });
    const counted = await two.client.get('/api/v1/models/org/s',
        { headers: { 'If-None-Match': uncounted.headers.etag } });
    assert.equal(counted.status, 200);
    assert.equal(counted.json.cross_check.source, 'safetensors_headers');
    assert.notEqual(counted.headers.etag, uncounted.headers.etag);
});

test('what is cached costs no question by commit and one by branch', async () => {
    hub.put('org/kept', { files, ...counted(llamaParameters) });
    const first = await model('org/kept');
    assert.equal(first.status, 200);
    hub.requests.length = 0;
    const byCommit = await model('org/kept', `?revision=${first.json.revision}`);
    assert.equal(hub.requests.length, 0);
    assert.deepEqual(byCommit.json, first.json);
    const byBranch = await model('org/kept');
    assert.deepEqual(hub.requests.map(({ path, status }) => [path, status]),
        [['/org/kept/resolve/main/config.json', 304]]);
    assert.deepEqual(byBranch.json, first.json);
    const tag = first.headers.etag;
    const unchanged = await client.get('/api/v1/models/org/kept',
        { headers: { 'If-None-Match': tag } });
    assert.equal(unchanged.status, 304);
});

test('many clients of one uncached model are one download, and hold up no other', async () => {
    hub.put('org/wanted', { files, ...counted(llamaParameters), fault: { kind: 'held', times: 1 } });
    hub.put('org/other', { files, ...counted(llamaParameters) });
    const waiting = Array.from({ length: 60 }, (_, i) => i % 2 === 0
        ? model('org/wanted')
        : client.post('/api/v1/estimates', { ...estimate(), model: { hub: 'org/wanted' } }));
    await hub.seen('/org/wanted/resolve/');
    // More than there are threads that ask the Hub: were each held by a waiter, this would wait too.
    const others = await Promise.all(Array.from({ length: 8 }, () => model('org/other')));
    assert.deepEqual(others.map(({ status }) => status), Array(8).fill(200));
    assert.equal((await client.post('/api/v1/estimates', estimate())).status, 200);
    assert.equal(paths().filter((path) => path.includes('/org/wanted/resolve/')).length, 1);
    hub.release();
    for (const { status, text } of await Promise.all(waiting))
        assert.equal(status, 200, text);
    // Who came after it had landed asks whether it changed, and shares that with others.
    const downloads = hub.requests.filter(({ path, status }) =>
        path.includes('/org/wanted/resolve/') && status === 200);
    assert.equal(downloads.length, 1);
    assert.equal(paths().filter((path) => path.includes('/api/models/org/wanted')).length, 1);
});

test('a client that waits for another is answered at its own deadline or by the stop', async (t) => {
    const { hub: itsHub, server: its, client: itsClient } = await own(t, {
        repositories: { 'org/held': { files, fault: 'held' } },
    });
    const waiting = Array.from({ length: 5 }, () => model('org/held', '', itsClient));
    await itsHub.seen('/org/held/');
    // The sixth is the question itself.
    while (!/shardline_http_requests_in_flight 6$/m.test(
        (await itsClient.get('/metrics')).text))
        await new Promise((done) => setTimeout(done, 5));
    assert.equal(await its.stop(), 0, its.log());
    // Within the grace of the stop the Hub's time may be over first; nobody is left unanswered.
    for (const answer of await Promise.all(waiting))
        assertProblem(answer, answer.status === 504 ? 504 : 503,
            { code: answer.status === 504 ? 'timeout' : 'stopping' });
});

test('a Hub that does not answer is asked once, and then left alone for a while', async (t) => {
    const { hub: itsHub, client: itsClient } = await own(t, {
        env: { HF_HUB_ETAG_TIMEOUT: '1' }, repositories: { 'org/a': { files } },
    });
    assert.equal((await model('org/a', '', itsClient)).status, 200);
    itsHub.put('org/a', { files, fault: 'hang' });
    const started = Date.now();
    const slow = await model('org/a', '', itsClient);
    assert.equal(slow.status, 200);
    assert.match(slow.json.warnings.join(), /could not be asked/);
    assert.ok(Date.now() - started < 4000, 'one second, once');
    const asked = itsHub.requests.length;
    assert.equal((await model('org/a', '', itsClient)).status, 200);
    assert.equal(itsHub.requests.length, asked);
});

test('a Hub that hangs on many models slows none that is cached', async (t) => {
    const { hub: itsHub, client: itsClient } = await own(t, {
        repositories: { 'org/kept': { files } },
    });
    const kept = await model('org/kept', '', itsClient);
    const hanging = Array.from({ length: 30 }, (_, i) => `org/hangs-${i}`);
    for (const id of hanging)
        itsHub.put(id, { files, fault: 'held' });
    const waiting = hanging.map((id) => model(id, '', itsClient));
    await itsHub.seen('/org/hangs-', 8);
    const quickly = async (query, patienceMs) => {
        const started = Date.now();
        const answer = await model('org/kept', query, itsClient);
        assert.equal(answer.status, 200, answer.text);
        assert.ok(Date.now() - started < patienceMs, `${query} took ${Date.now() - started} ms`);
        return answer;
    };
    await quickly(`?revision=${kept.json.revision}`, 1500); /* what waits for the Hub waits two seconds and more */
    await new Promise((done) => setTimeout(done, 2100));
    assert.match((await quickly('', 1500)).json.warnings.join(), /could not be asked/);
    const started = Date.now();
    const { status: searched, json: found } = await itsClient.get('/api/v1/models?query=KEPT');
    assert.equal(searched, 200);
    assert.deepEqual([found.models.map(({ id }) => id), found.source, found.stale],
        [['org/kept'], 'cache', true]);
    assert.ok(Date.now() - started < 1500, `the search took ${Date.now() - started} ms`);
    itsHub.release();
    for (const { status, text } of await Promise.all(waiting))
        assert.equal(status, 200, text);
});

test('a repository that is not there is not asked for twice', async () => {
    for (let i = 0; i < 3; i++)
        assertProblem(await model('org/nowhere'), 404, { code: 'repository_not_found' });
    assertProblem(await model('org/nowhere', '?revision=v2'), 404,
        { code: 'repository_not_found' });
    assert.equal(hub.requests.length, 1);
    hub.put('org/no-config', { files: { 'README.md': 'nothing else' } });
    const commit = commitOf('org/no-config', {});
    assertProblem(await model('org/no-config'), 404, { code: 'file_not_found' });
    assertProblem(await model('org/no-config', `?revision=${commit}`), 404,
        { code: 'file_not_found' });
    assert.equal(hub.requests.length, 2, 'a commit never gains a file');
});

test('the seconds the Hub asks for are those we ask for', async (t) => {
    const { hub: itsHub, client: itsClient } = await own(t, {
        repositories: { 'org/kept': { files }, 'org/limited': { files, fault: 'rate_limited' } },
    });
    assert.equal((await model('org/kept', '', itsClient)).status, 200);
    itsHub.requests.length = 0;
    const limited = await model('org/limited', '', itsClient);
    assertProblem(limited, 503, { code: 'rate_limited' });
    assert.equal(limited.headers['retry-after'], '7');
    for (let i = 0; i < 5; i++) {
        const again = await model('org/limited', i === 0 ? '' : `?revision=v${i}`, itsClient);
        assertProblem(again, 503, { code: 'rate_limited' });
        const seconds = Number(again.headers['retry-after']);
        assert.ok(seconds >= 1 && seconds <= 7, String(seconds));
        const kept = await model('org/kept', '', itsClient);
        assert.equal(kept.status, 200);
        assert.match(kept.json.warnings.join(), /could not be asked/);
    }
    assert.equal(itsHub.requests.length, 1, 'nobody is asked before that time is over');
});

test('a quantisation in a file of its own comes with the config', async () => {
    const quantization = {
        producer: { name: 'modelopt' },
        quantization: { quant_algo: 'NVFP4', group_size: 16, exclude_modules: ['lm_head'] },
    };
    hub.put('org/modelopt', { files: { ...files, 'hf_quant_config.json': quantization } });
    const { status, json } = await model('org/modelopt');
    assert.equal(status, 200);
    assert.ok(paths().some((path) => path.endsWith('/hf_quant_config.json')));
    assert.ok(json.warnings.every((warning) => !/could not be had/.test(warning)));
    // 28 matrices of 4 bits, a byte for every 16 weights and two fp32 scalars each
    const { attention, mlp, total } = json.parameters;
    const quantized = attention + mlp;
    assert.equal(json.quantization.method, 'modelopt');
    assert.equal(json.quantization.quantized_parameters, quantized);
    assert.equal(json.weights_bytes,
        (total - quantized) * 2 + quantized / 2 + quantized / 16 + 4 * 7 * 2 * 4);
    hub.put('org/plain', { files });
    hub.requests.length = 0;
    await model('org/plain');
    assert.ok(paths().every((path) => !path.endsWith('/hf_quant_config.json')));
});

test('the Hub is told who asks, and a token that cannot be exchanged is said', async (t) => {
    const { hub: asked, server: its, client: on } = await own(t, {
        env: { HF_HUB_USER_AGENT_ORIGIN: 'planning', HF_OIDC_RESOURCE: 'somebody' },
        repositories: { 'org/llama': { files } },
    });
    assert.equal((await model('org/llama', '', on)).status, 200);
    assert.match(asked.requests[0].headers['user-agent'], /^shardline\/[\d.]+; origin\/planning$/);
    assert.match(its.log(), /HF_OIDC_RESOURCE is set/);
});

test('a config that Python wrote, or somebody with bad intentions', async () => {
    const text = JSON.stringify(llama);
    const put = (id, config) => hub.put(id, { files: { 'config.json': config } });
    put('org/nan', text.replace('{', '{"a": NaN, "b": [Infinity, -Infinity],'));
    put('org/labels', JSON.stringify({
        ...llama, id2label: Object.fromEntries(Array.from({ length: 30000 }, (_, i) =>
            [i, `LABEL_${i}`])),
    }));
    const list = (length) => JSON.stringify({ ...llama, layer_types: Array(length).fill('full') });
    put('org/list', list(100_000));
    for (const id of ['org/nan', 'org/labels', 'org/list'])
        assert.equal((await model(id)).json.parameters?.total, llamaParameters, id);
    put('org/deep', text.replace('{', `{"a": ${'['.repeat(5000)}${']'.repeat(5000)},`));
    put('org/twice', text.replace('{', '{"hidden_size": 64,'));
    put('org/large', list(200_000));
    for (const [id, status, code] of [['org/deep', 400, 'too_deep'],
        ['org/twice', 400, 'duplicate_key'], ['org/large', 502, 'too_large']])
        assertProblem(await model(id), status, { code });
    assert.equal((await client.get('/healthz')).status, 200);
});

test('a search finds models of the Hub and marks the gated ones', async (t) => {
    const { hub: itsHub, client: itsClient } = await own(t, {
        repositories: {
            'org/small-llama': { files, downloads: 5, likes: 1, libraryName: 'transformers' },
            'meta/Llama-big': { files, downloads: 900, gated: true },
            'meta/Llama-auto': { files, downloads: 50, gated: true, gatedAs: 'auto' },
            'org/secret-llama': { files, private: true },
            gpt2: { files },
        },
    });
    const search = (query) => itsClient.get(`/api/v1/models${query}`);
    const { status, json } = await search('?query=llama');
    assert.equal(status, 200);
    assert.deepEqual(json.models.map(({ id, gated, downloads }) => [id, gated, downloads]), [
        ['meta/Llama-big', 'manual', 900], ['meta/Llama-auto', 'auto', 50],
        ['org/small-llama', false, 5],
    ]);
    assert.equal(json.models[2].library, 'transformers');
    assert.deepEqual([json.source, json.stale], ['hub', false]);
    assert.equal((await search('?query=llama&limit=1')).json.models.length, 1);
    assert.equal((await search('')).json.models.length, 4);
    assert.equal((await search('?query=no%20such%26x=1')).json.models.length, 0);
    assert.equal(itsHub.requests.at(-1).url.includes('search=no%20such%26x%3D1'), true);

    for (const [query, code] of [['?limit=0', 'out_of_range'], ['?limit=101', 'out_of_range'],
        ['?limit=all', 'out_of_range'], [`?query=${'x'.repeat(97)}`, 'invalid_query']])
        assertProblem(await search(query), 422, { code });
    for (const query of ['?query=%00', '?query=a%0Ab'])
        assertProblem(await search(query), 400);
    assertProblem(await search('?name=llama'), 422, { code: 'unknown_parameter' });

    await t.test('or in the cache, with the gates that were seen', async () => {
        itsHub.put('org/terms', { files, gated: true, granted: true, gatedAs: 'auto' });
        const its = await own(t, { env: { HF_TOKEN: itsHub.token }, at: itsHub });
        assert.equal((await model('org/terms', '', its.client)).json.gated, 'auto');
        itsHub.breakSearch('server_error');
        const { json: kept } = await its.client.get('/api/v1/models?query=terms');
        assert.deepEqual(kept.models.map(({ id, gated }) => [id, gated]), [['org/terms', 'auto']]);
        itsHub.breakSearch(null);
    });
    await t.test('or in the cache when the Hub does not answer', async () => {
        await model('gpt2', '', itsClient);
        for (const fault of ['server_error', 'captive_portal', 'oversized']) {
            itsHub.breakSearch(fault);
            const answer = await search('?query=PT');
            assert.equal(answer.status, 200, answer.text);
            assert.deepEqual([answer.json.source, answer.json.stale], ['cache', true], fault);
            assert.deepEqual(answer.json.models.map(({ id, source }) => [id, source]),
                [['gpt2', 'cache']]);
        }
        itsHub.breakSearch('hang');
        const started = Date.now();
        assert.equal((await search('?query=PT')).json.stale, true);
        assert.ok(Date.now() - started < 8000);
        const limited = await own(t, { at: itsHub });
        await model('gpt2', '', limited.client);
        itsHub.breakSearch('rate_limited');
        const asked = itsHub.requests.length;
        for (let i = 0; i < 3; i++)
            assert.equal((await limited.client.get('/api/v1/models?query=PT')).json.stale, true);
        assert.equal(itsHub.requests.length, asked + 1);
        itsHub.breakSearch(null);
    });
});

/** A repository as huggingface_hub lays it out in its cache. */
async function layOut(cache, id, commit, contents, { refs = ['main'], missing = [] } = {}) {
    const at = join(cache, `models--${id.replace('/', '--')}`);
    const snapshot = join(at, 'snapshots', commit);
    await mkdir(snapshot, { recursive: true });
    await mkdir(join(at, 'blobs'), { recursive: true });
    for (const [name, content] of Object.entries(contents)) {
        const bytes = Buffer.from(JSON.stringify(content));
        const blob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
        await writeFile(join(at, 'blobs', blob), bytes);
        await symlink(join('..', '..', 'blobs', blob), join(snapshot, name));
    }
    for (const ref of refs) {
        await mkdir(join(at, 'refs', ref, '..'), { recursive: true });
        await writeFile(join(at, 'refs', ref), commit);
    }
    for (const name of missing) {
        await mkdir(join(at, '.no_exist', commit), { recursive: true });
        await writeFile(join(at, '.no_exist', commit, name), '');
    }
    return at;
}

test('the cache of the official client is read, and never written', async (t) => {
    const home = await folder(t);
    const cache = join(home, 'hub');
    const commit = 'a'.repeat(40);
    const at = await layOut(cache, 'org/theirs', commit, { 'config.json': llama },
        { refs: ['main', 'refs/pr/1'] });
    await layOut(cache, 'org/none', commit, {}, { missing: ['config.json'] });
    await writeFile(join(home, 'secret.json'), JSON.stringify(llama));
    const evil = await layOut(cache, 'org/evil', commit, {});
    await symlink('../../../../secret.json', join(evil, 'snapshots', commit, 'config.json'));
    const listing = async () => (await readdir(at, { recursive: true })).sort();
    const before = await listing();

    const offline = await startServer({ env: { HF_HOME: home } });
    t.after(() => stopClean(offline));
    const itsClient = await connectTo(offline);
    for (const query of ['', '?revision=refs%2Fpr%2F1', `?revision=${commit}`]) {
        const { status, json, text } = await model('org/theirs', query, itsClient);
        assert.equal(status, 200, text);
        assert.equal(json.revision, commit);
        assert.equal(json.parameters.total, llamaParameters);
    }
    assertProblem(await model('org/none', '', itsClient), 404, { code: 'file_not_found' });
    assertProblem(await model('org/evil', '', itsClient), 503, { code: 'offline_not_cached' });
    const found = await itsClient.get('/api/v1/models?query=THEIR');
    assert.deepEqual([found.json.models.map(({ id }) => id), found.json.source, found.json.stale],
        [['org/theirs'], 'cache', false]);

    await t.test('online it saves the download', async (inner) => {
        const online = await own(inner, {
            env: { HF_HUB_CACHE: cache },
            repositories: { 'org/theirs': { files: { 'config.json': JSON.stringify(llama) }, commit } },
        });
        assert.equal((await model('org/theirs', '', online.client)).status, 200);
        assert.equal(online.hub.requests[0].status, 304);
    });
    assert.deepEqual(await listing(), before);
});

test('the token is found where the official client finds it', async (t) => {
    const home = await folder(t);
    const repositories = { 'org/private': { files, private: true } };
    const itsHub = await startHub({ repositories });
    t.after(() => itsHub.close());
    await writeFile(join(home, 'token'), `${itsHub.token}\n`);
    await writeFile(join(home, 'elsewhere'), itsHub.token);
    for (const [env, status] of [
        [{ HF_HOME: home }, 200],
        [{ HF_TOKEN_PATH: join(home, 'elsewhere') }, 200],
        [{ HUGGING_FACE_HUB_TOKEN: itsHub.token }, 200],
        [{ HF_TOKEN: itsHub.token, HUGGING_FACE_HUB_TOKEN: 'hf_wrong' }, 200],
        [{ HF_HOME: home, HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' }, 404],
        [{}, 404],
    ]) {
        await t.test(Object.keys(env).join(' and ') || 'nothing', async (inner) => {
            const its = await own(inner, { env, at: itsHub });
            assert.equal((await model('org/private', '', its.client)).status, status);
        });
    }
});

test('either library can be told to stay offline', async (t) => {
    const { hub: itsHub, client: itsClient } = await own(t, {
        env: { TRANSFORMERS_OFFLINE: 'YES' }, repositories: { 'org/a': { files } },
    });
    assertProblem(await model('org/a', '', itsClient), 503, { code: 'offline_not_cached' });
    assert.equal((await itsClient.get('/api/v1/models?query=a')).json.source, 'cache');
    assert.equal(itsHub.requests.length, 0);
});

test('a server that was killed leaves a cache that serves', async (t) => {
    const cache = await folder(t);
    const repositories = { 'org/a': { files, ...counted(llamaParameters) } };
    const itsHub = await startHub({ repositories });
    t.after(() => itsHub.close());
    const killed = await startServer({ hub: itsHub, env: { SHARDLINE_CACHE_DIR: cache } });
    const first = await model('org/a', '', await connectTo(killed));
    killed.signal('SIGKILL');
    await killed.stop().catch(() => {});
    // A file that was being written stands beside its place, and is no matter.
    const at = join(cache, 'hub', 'models--org--a', 'snapshots', first.json.revision);
    await writeFile(join(at, 'config.json.aB3xYz'), '{"model_ty');
    const query = `?revision=${first.json.revision}`;
    const next = await startServer({ hub: itsHub, env: { SHARDLINE_CACHE_DIR: cache } });
    t.after(() => stopClean(next));
    const nextClient = await connectTo(next);
    itsHub.requests.length = 0;
    assert.deepEqual((await model('org/a', query, nextClient)).json, first.json);
    assert.equal(itsHub.requests.length, 0);

    // One that a disk lost the end of is fetched again.
    await writeFile(join(at, 'config.json'), JSON.stringify(llama).slice(0, 40));
    assert.deepEqual((await model('org/a', query, nextClient)).json, first.json);
    assert.equal(itsHub.requests.length, 1);
    assert.deepEqual((await model('org/a', query, nextClient)).json, first.json);
    assert.equal(itsHub.requests.length, 1);
});

test('fetches are counted by how they ended', async (t) => {
    const { client: itsClient } = await own(t, { repositories: { 'org/a': { files } } });
    const first = await model('org/a', '', itsClient);
    await model('org/a', '', itsClient);
    await model('org/a', `?revision=${first.json.revision}`, itsClient);
    await model('org/nope', '', itsClient);
    const { text } = await itsClient.get('/metrics');
    for (const [result, count] of [['downloaded', 1], ['revalidated', 1], ['cached', 1],
        ['not_found', 1], ['failed', 0]])
        assert.match(text, new RegExp(
            `^shardline_hub_fetch_total\\{result="${result}"\\} ${count}$`, 'm'));
});

test('a faulty request is judged with its model, and has its own faults alone where that does not come', async () => {
    hub.put('org/split', { files });
    const asked = async (id) => {
        const { json } = await client.post('/api/v1/estimates', { ...estimate({ parallelism: { tensor: 3, zero_stage: 7 } }),
            model: { hub: id } });
        assert.equal(json.status, 422);
        return json.errors.map(({ pointer }) => pointer);
    };
    const own = '/parallelism/zero_stage';
    for (let i = 0; i < 2; i++)
        assert.deepEqual(await asked('org/split'), ['/parallelism', '/parallelism/tensor', '/parallelism/sequence', own]);
    assert.deepEqual(await asked('org/absent'), [own]);
    hub.requests.length = 0;
    assert.deepEqual(await asked('no name at all'), ['/model/hub', own]);
    assert.deepEqual(paths(), []);
});
