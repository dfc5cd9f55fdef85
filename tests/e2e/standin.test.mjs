/** The stand-in itself: what the other tests conclude from it is only as good as its manners. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { FAULTS, safetensors, sha1, startHub } from '../hub/standin.mjs';
import { llama } from './lib/fixtures.mjs';
import { send } from './lib/http.mjs';

const files = { 'config.json': llama };
const config = '/resolve/main/config.json';
let hub;

before(async () => {
    hub = await startHub({
        repositories: {
            'org/plain': { files, revisions: { 'refs/pr/1': sha1('a pull request') } },
            'org/large': { files, redirect: true },
            'org/gated': { files, gated: true },
            'org/granted': { files, gated: true, granted: true },
            'org/private': { files, private: true },
            'org/disabled': { files, disabled: true },
            'org/old-name': { files, renamedTo: 'org/plain' },
            alone: { files },
        },
    });
});
after(() => hub.close());
beforeEach(() => { hub.requests.length = 0; });

const get = (path, headers = {}) => send(hub.url, 'GET', path, { headers });
const authorized = () => ({ Authorization: `Bearer ${hub.token}` });

test('a file comes with its commit and an entity tag', async () => {
    const response = await get(`/org/plain${config}`);
    assert.equal(response.status, 200);
    assert.match(response.headers['x-repo-commit'], /^[0-9a-f]{40}$/);
    assert.match(response.headers.etag, /^"[0-9a-f]{40}"$/);
    assert.deepEqual(JSON.parse(response.text), llama);
});

test('an unchanged file is not sent again', async () => {
    const first = await get(`/org/plain${config}`);
    const second = await get(`/org/plain${config}`, { 'If-None-Match': first.headers.etag });
    assert.equal(second.status, 304);
    assert.equal(second.bytes.length, 0);
    assert.equal(second.headers['x-repo-commit'], first.headers['x-repo-commit']);
});

test('a HEAD tells length and commit without a body', async () => {
    const response = await send(hub.url, 'HEAD', `/org/plain${config}`);
    assert.equal(response.bytes.length, 0);
    assert.equal(Number(response.headers['content-length']), JSON.stringify(llama, null, 2).length);
});

test('a revision is one percent-encoded segment, a commit names itself', async () => {
    const byName = await get('/org/plain/resolve/refs%2Fpr%2F1/config.json');
    assert.equal(byName.headers['x-repo-commit'], sha1('a pull request'));
    const byCommit = await get(`/org/plain/resolve/${sha1('a pull request')}/config.json`);
    assert.equal(byCommit.status, 200);
});

test('a name without an organisation is a repository too', async () => {
    assert.equal((await get(`/alone${config}`)).status, 200);
});

test('what is missing says what is missing', async () => {
    const revision = await get('/org/plain/resolve/nope/config.json');
    assert.deepEqual([revision.status, revision.headers['x-error-code']],
        [404, 'RevisionNotFound']);
    const entry = await get('/org/plain/resolve/main/nope.json');
    assert.deepEqual([entry.status, entry.headers['x-error-code']], [404, 'EntryNotFound']);
    assert.match(entry.headers['x-repo-commit'], /^[0-9a-f]{40}$/);
});

test('a missing repository is 401 to a stranger and 404 to a member', async () => {
    for (const id of ['org/nope', 'org/private']) {
        const stranger = await get(`/${id}${config}`);
        assert.deepEqual([stranger.status, stranger.headers['x-error-code']],
            [401, 'RepoNotFound']);
    }
    assert.equal((await get(`/org/nope${config}`, authorized())).status, 404);
    assert.equal((await get(`/org/private${config}`, authorized())).status, 200);
});

test('a bad token is refused whatever is asked', async () => {
    const response = await get(`/org/plain${config}`, { Authorization: 'Bearer hf_wrong' });
    assert.equal(response.status, 401);
    assert.equal(response.headers['x-error-message'],
        'Invalid credentials in Authorization header');
    assert.equal(response.headers['x-error-code'], undefined);
});

test('a gated repository opens only to those it was granted to', async () => {
    const stranger = await get(`/org/gated${config}`);
    assert.deepEqual([stranger.status, stranger.headers['x-error-code']], [401, 'GatedRepo']);
    const member = await get(`/org/gated${config}`, authorized());
    assert.deepEqual([member.status, member.headers['x-error-code']], [403, 'GatedRepo']);
    assert.equal((await get(`/org/granted${config}`, authorized())).status, 200);
});

test('a disabled repository says so', async () => {
    const response = await get(`/org/disabled${config}`);
    assert.equal(response.headers['x-error-message'], 'Access to this resource is disabled.');
});

test('a renamed repository answers a relative redirect', async () => {
    const response = await get(`/org/old-name${config}`);
    assert.equal(response.status, 307);
    assert.equal(response.headers.location, `/org/plain${config}`);
});

test('large content is linked on another host, and both hosts are recorded', async () => {
    const link = await get(`/org/large${config}`, authorized());
    assert.equal(link.status, 302);
    assert.match(link.headers['x-linked-etag'], /^"[0-9a-f]{64}"$/);
    const location = new URL(link.headers.location);
    assert.notEqual(location.hostname, new URL(hub.url).hostname);
    const content = await send(location.origin, 'GET', location.pathname + location.search);
    assert.equal(content.bytes.length, Number(link.headers['x-linked-size']));
    assert.deepEqual(hub.requests.map((r) => [r.host, r.headers.authorization !== undefined]),
        [['hub', true], ['content', false]]);
});

test('the information document picks the fields that were asked for', async () => {
    const whole = (await get('/api/models/org/plain')).json;
    assert.equal(whole.id, 'org/plain');
    assert.deepEqual(whole.siblings, [{ rfilename: 'config.json' }]);
    const some = (await get('/api/models/org/plain/revision/main?expand=gated&expand=sha')).json;
    assert.deepEqual(Object.keys(some).sort(), ['_id', 'gated', 'id', 'sha']);
    assert.equal((await get('/api/models/org/plain?expand=sha&blobs=true')).status, 400);
});

test('the list finds names, the most downloaded first, private ones for members only', async () => {
    hub.put('list/one', { files, downloads: 5, gated: true, gatedAs: 'auto' });
    hub.put('list/two', { files, downloads: 9, likes: 2, libraryName: 'transformers' });
    hub.put('list/hidden', { files, private: true });
    const query = '/api/models?search=LIST&expand=gated&expand=downloads';
    const { json } = await get(query);
    assert.deepEqual(json.map(({ id, gated, downloads }) => [id, gated, downloads]),
        [['list/two', false, 9], ['list/one', 'auto', 5]]);
    assert.equal(json[0].likes, undefined);
    assert.equal((await get(query, authorized())).json.length, 3);
    assert.deepEqual((await get('/api/models?search=list&limit=1')).json.map(({ id }) => id),
        ['list/two']);
    hub.breakSearch('unavailable');
    assert.equal((await get(query)).status, 503);
    hub.breakSearch(null);
});

test('a part of a file is a part, wherever it lies', async () => {
    const bytes = safetensors({ a: ['BF16', [2, 3]] });
    hub.put('org/parts', { files: { 'model.safetensors': bytes } });
    const path = '/org/parts/resolve/main/model.safetensors';
    const part = await get(path, { Range: 'bytes=8-100000' });
    assert.equal(part.status, 206);
    assert.equal(part.headers['content-range'], `bytes 8-${bytes.length - 1}/${bytes.length}`);
    assert.deepEqual(JSON.parse(part.text).a.shape, [2, 3]);
    assert.equal(Number(bytes.readBigUInt64LE(0)), part.bytes.length);
    assert.equal((await get(path, { Range: 'bytes=100000-100001' })).status, 416);
});

test('a fault can be of one kind of question only', async () => {
    hub.put('org/half', { files, fault: { kind: 'server_error', only: 'info' } });
    assert.equal((await get(`/org/half${config}`)).status, 200);
    assert.equal((await get('/api/models/org/half')).status, 500);
});

test('every reply carries the rate limit, a limited one an empty one', async () => {
    assert.match((await get(`/org/plain${config}`)).headers.ratelimit, /r=499/);
    hub.put('org/limited', { files, fault: { kind: 'rate_limited', times: 1, retryAfter: '3' } });
    const limited = await get(`/org/limited${config}`);
    assert.equal(limited.status, 429);
    assert.match(limited.headers.ratelimit, /r=0/);
    assert.equal(limited.headers['retry-after'], '3');
    assert.equal((await get(`/org/limited${config}`)).status, 200, 'it heals after `times`');
});

test('a packed file unpacks to itself', async () => {
    hub.put('org/packed', { files, fault: 'gzip' });
    const response = await get(`/org/packed${config}`, { 'Accept-Encoding': 'gzip' });
    assert.equal(response.headers['content-encoding'], 'gzip');
    assert.deepEqual(JSON.parse(gunzipSync(response.bytes)), llama);
});

test('a held request is answered when it is released', async () => {
    hub.put('org/held', { files, fault: 'held' });
    const pending = get(`/org/held${config}`);
    await hub.seen('/org/held/');
    hub.release();
    assert.equal((await pending).status, 200);
    assert.equal((await get(`/org/held${config}`)).status, 200);
});

test('a broken transfer breaks', async () => {
    for (const kind of ['truncated', 'reset']) {
        hub.put('org/broken', { files, fault: kind });
        await assert.rejects(get(`/org/broken${config}`), kind);
    }
});

test('an oversized file is oversized, announced or not', async () => {
    for (const kind of ['oversized', 'oversized_chunked']) {
        hub.put('org/big', { files, fault: kind });
        const response = await get(`/org/big${config}`);
        assert.equal(response.bytes.length, 64 * 1024 * 1024);
        assert.equal('content-length' in response.headers, kind === 'oversized');
    }
});

test('a captive portal does not look like the Hub', async () => {
    hub.put('org/portal', { files, fault: 'captive_portal' });
    const response = await get(`/org/portal${config}`);
    assert.equal(response.status, 200);
    assert.equal(response.headers['x-repo-commit'], undefined);
});

test('every fault that answers at all answers its own way', async () => {
    const silent = ['hang', 'held', 'trickle', 'reset', 'truncated'];
    const expected = {
        server_error: 500, unavailable: 503, rate_limited: 429, redirect_loop: 302,
        redirect_forbidden: 302, captive_portal: 200, not_json: 200, gzip: 200, gzip_bomb: 200,
        oversized: 200, oversized_chunked: 200,
    };
    assert.deepEqual([...Object.keys(expected), ...silent].sort(), Object.keys(FAULTS).sort());
    for (const [kind, status] of Object.entries(expected)) {
        hub.put('org/faulty', { files, fault: kind });
        assert.equal((await send(hub.url, 'HEAD', `/org/faulty${config}`)).status, status, kind);
    }
});
