/** The dashboard's files, as a browser and a proxy ask for them; a folder of the test's own. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { send } from './lib/http.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const page = '<!doctype html><title>page</title>';
const code = `export const words = '${'planning '.repeat(200)}';`;
const script = '/assets/app-0123abcd.js';
let folder;
let server;

before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slstatic-'));
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'index.html'), page);
    await writeFile(join(folder, script), code);
    await writeFile(join(folder, `${script}.gz`), gzipSync(code));
    await writeFile(join(folder, 'assets/plain.txt'), 'no twin');
    await writeFile(join(folder, '.hidden'), 'secret');
    server = await startServer({ env: { SHARDLINE_STATIC_DIR: folder } });
});
after(async () => {
    await stopClean(server);
    await rm(folder, { recursive: true });
});

const get = (path, headers = {}) => send(server.url, 'GET', path, { headers });

test('the root is the page, never kept without asking', async () => {
    const response = await get('/');
    assert.equal(response.status, 200);
    assert.equal(response.type, 'text/html');
    assert.equal(response.text, page);
    assert.equal(response.headers['cache-control'], 'no-cache');
});

test('the page may load its own files and nothing else', async () => {
    const { headers } = await get('/');
    const policy = new Map(headers['content-security-policy'].split(';').map((directive) => {
        const [name, ...values] = directive.trim().split(' ');
        return [name, values.join(' ')];
    }));
    const expected = {
        'default-src': "'none'", 'script-src': "'self'", 'style-src': "'self'",
        'img-src': "'self' data: blob:", 'connect-src': "'self'", 'font-src': "'self'",
        'base-uri': "'none'", 'form-action': "'self'", 'frame-ancestors': "'none'",
    };
    for (const [name, value] of Object.entries(expected))
        assert.equal(policy.get(name), value, name);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    // The tab of Perfetto that the page opens must hear from it; nobody who opens the page does.
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin-allow-popups');
});

test('a name with a hash is kept for good', async () => {
    assert.match((await get(script)).headers['cache-control'], /max-age=31536000.*immutable/);
    assert.doesNotMatch((await get('/assets/plain.txt')).headers['cache-control'], /immutable/);
});

test('a packed twin goes to those who can unpack it', async () => {
    const packed = await get(script, { 'Accept-Encoding': 'br, gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(packed.type, 'text/javascript');
    assert.equal(gunzipSync(packed.bytes).toString(), code);
    const plain = await get(script);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.text, code);
    for (const { headers } of [packed, plain])
        assert.match(headers.vary, /accept-encoding/i);
    assert.notEqual(packed.headers.etag, plain.headers.etag);
});

test('a coding of weight zero is one the client cannot take', async () => {
    for (const accepted of ['gzip;q=0', 'identity', 'gzip; q=0.0, br'])
        assert.equal((await get(script, { 'Accept-Encoding': accepted }))
            .headers['content-encoding'], undefined, accepted);
});

test('what has not changed is not sent again', async () => {
    const first = await get(script);
    for (const tags of [first.headers.etag, `"other", ${first.headers.etag}`, '*']) {
        const again = await get(script, { 'If-None-Match': tags });
        assert.equal(again.status, 304, tags);
        assert.equal(again.bytes.length, 0);
        assert.equal(again.headers.etag, first.headers.etag);
    }
    assert.equal((await get(script, { 'If-None-Match': '"other"' })).status, 200);
});

test('HEAD tells the length of what GET would send', async () => {
    const response = await send(server.url, 'HEAD', script);
    assert.equal(response.bytes.length, 0);
    assert.equal(Number(response.headers['content-length']), code.length);
});

test('what is not a file of the dashboard is not served', async () => {
    for (const path of ['/.hidden', '/assets', '/assets/', '/nope.js', '/index.html/more'])
        assert.equal((await get(path)).status, 404, path);
    assert.equal((await send(server.url, 'POST', '/')).status, 405);
});

test('without a dashboard the API still answers, and the root says what is missing', async (t) => {
    const bare = await startServer({ env: { SHARDLINE_STATIC_DIR: join(folder, 'nothing') } });
    t.after(() => stopClean(bare));
    assert.equal((await send(bare.url, 'GET', '/healthz')).status, 200);
    const root = await send(bare.url, 'GET', '/');
    assert.equal(root.status, 404);
    assert.match(root.text, /not built/);
});
