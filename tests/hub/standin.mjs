/**
 * A stand-in for the Hugging Face Hub on loopback. It answers as the real one does (headers, error
 * codes and redirects as huggingface_hub 1.29 reads them) and, on demand, as a broken one would.
 *
 *     const files = { 'config.json': { model_type: 'llama' } };
 *     const hub = await startHub({ repositories: { 'org/name': { files } } });
 *     // HF_ENDPOINT=hub.url; hub.requests holds every request seen, by either host
 *     await hub.close();
 *
 * As a program it serves one small model and every fault under faults/<kind>, and prints its URL.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

/** Larger than any config: what a client with a size limit must refuse. */
const OVERSIZED_BYTES = 64 * 1024 * 1024;
const TRICKLE_INTERVAL_MS = 200;

/**
 * @typedef {object} Repository
 * @property {Record<string, object|string|Buffer>} files
 * @property {string} [commit] of `main`; derived from the name when absent
 * @property {Record<string, string>} [revisions] branch or tag -> commit
 * @property {boolean} [private] only a valid token sees it
 * @property {boolean} [gated] terms must be accepted; `granted` says the token's owner has
 * @property {boolean} [granted]
 * @property {boolean} [disabled]
 * @property {string} [renamedTo] answers a relative redirect
 * @property {boolean} [redirect] content comes from the other host, as large files do
 * @property {object} [safetensors] of the information document; a real Hub counts the files
 * @property {string} [gatedAs] how the information document calls the gate: 'auto' or 'manual'
 * @property {number} [downloads] @property {number} [likes] @property {string} [libraryName]
 * @property {string} [lastModified]
 * @property {string|{kind: string, times?: number, location?: string, retryAfter?: string,
 *            only?: string}} [fault]
 *   how it breaks; `times` is the number of requests it does so before it heals; `only` one kind of
 *   question ('file' or 'info')
 */

/**
 * @param {{repositories?: Record<string, Repository>, token?: string, port?: number,
 *          contentHost?: string}} [options] token: the only valid one. contentHost: loopback
 *   address of the second host, which serves redirected content
 */
export async function startHub({
    repositories = {},
    token = 'hf_standin',
    port = 0,
    contentHost = '127.0.0.2',
} = {}) {
    const state = {
        repositories: new Map(Object.entries(repositories)),
        token,
        requests: [],
        blobs: new Map(),
        searchFault: null,
        held: [],
        url: '',
        contentUrl: '',
    };
    const hubServer = createServer((req, res) => record(state, 'hub', req, res, answerHub));
    const contentServer = createServer((req, res) =>
        record(state, 'content', req, res, answerContent));
    state.url = await listen(hubServer, port, '127.0.0.1');
    state.contentUrl = await listen(contentServer, 0, contentHost);

    return {
        url: state.url,
        contentUrl: state.contentUrl,
        token,
        requests: state.requests,
        /** Adds or replaces a repository. */
        put: (id, repository) => state.repositories.set(id, repository),
        remove: (id) => state.repositories.delete(id),
        /** The list of models breaks as a repository does; null heals it. */
        breakSearch: (fault) => { state.searchFault = fault; },
        /** Heals every `held` fault: what waits goes on, and what comes later does not wait. */
        release: () => {
            for (const [id, repository] of state.repositories) {
                const { fault, ...healed } = repository;
                if ((fault?.kind ?? fault) === 'held')
                    state.repositories.set(id, healed);
            }
            state.held.splice(0).forEach((go) => go());
        },
        /** Resolves when `count` requests whose path contains `text` have been seen. */
        seen: (text, count = 1) => waitUntil(() =>
            state.requests.filter((r) => r.path.includes(text)).length >= count),
        close: async () => {
            await Promise.all([hubServer, contentServer].map((server) => new Promise((done) => {
                server.close(done);
                server.closeAllConnections();
            })));
        },
    };
}

function listen(server, port, host) {
    return new Promise((done, fail) => {
        server.once('error', fail);
        server.listen(port, host, () => done(`http://${host}:${server.address().port}`));
    });
}

async function waitUntil(holds) {
    while (!holds())
        await new Promise((next) => setTimeout(next, 5));
}

function record(state, host, req, res, answer) {
    const path = req.url.split('?')[0];
    const entry = { host, method: req.method, url: req.url, path, headers: req.headers, status: 0 };
    state.requests.push(entry);
    res.on('error', () => {});
    res.on('close', () => { entry.status = res.headersSent ? res.statusCode : 0; });
    res.setHeader('X-Request-Id', randomUUID());
    Promise.resolve(answer(state, req, res)).catch((error) => {
        res.destroy(error);
    });
}

/* What a repository holds. */

export const sha1 = (text) => createHash('sha1').update(text).digest('hex');
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

export function commitOf(id, repository) {
    return repository.commit ?? sha1(`commit of ${id}`);
}

function resolveRevision(id, repository, revision) {
    const main = commitOf(id, repository);
    const named = { main, ...repository.revisions };
    if (Object.hasOwn(named, revision))
        return named[revision];
    return Object.values(named).includes(revision) ? revision : null;
}

function bytesOf(content) {
    if (Buffer.isBuffer(content))
        return content;
    return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}

/** The entity tag of a small file is its git blob id, as on the real Hub. */
function gitBlobId(bytes) {
    return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/* Routes. */

function parsePath(url) {
    const { pathname, searchParams } = new URL(url, 'http://hub');
    const parts = pathname.split('/').slice(1);
    if (pathname === '/api/models')
        return { kind: 'search', searchParams };
    if (parts[0] === 'api' && parts[1] === 'models') {
        const rest = parts.slice(2);
        const at = rest.indexOf('revision');
        const id = (at < 0 ? rest : rest.slice(0, at)).join('/');
        const revision = at < 0 ? 'main' : decodeURIComponent(rest.slice(at + 1).join('/'));
        return { kind: 'info', id, revision, searchParams };
    }
    const at = parts.indexOf('resolve');
    if (at === 1 || at === 2) {
        return {
            kind: 'file',
            id: parts.slice(0, at).join('/'),
            revision: decodeURIComponent(parts[at + 1] ?? ''),
            file: parts.slice(at + 2).map(decodeURIComponent).join('/'),
        };
    }
    return null;
}

async function answerHub(state, req, res) {
    res.setHeader('ratelimit-policy', '"fixed window";"api";q=500;w=300');
    res.setHeader('ratelimit', '"api";r=499;t=55');
    if (req.method !== 'GET' && req.method !== 'HEAD')
        return refuse(res, 405, null, 'Method not allowed');
    const target = parsePath(req.url);
    if (target === null)
        return refuse(res, 404, null, 'Sorry, we can\'t find the page you are looking for.');

    const authorization = req.headers.authorization;
    const known = authorization === `Bearer ${state.token}`;
    if (authorization !== undefined && !known)
        return refuse(res, 401, null, 'Invalid credentials in Authorization header');

    if (target.kind === 'search') {
        const fault = takeFault({ fault: state.searchFault ?? undefined }, target.kind);
        return fault === null
            ? answerSearch(state, res, target, known)
            : FAULTS[fault.kind](state, req, res, { ...target, repository: { files: {} }, fault });
    }
    const repository = state.repositories.get(target.id);
    if (repository === undefined || (repository.private && !known)) {
        // The real Hub does not tell an anonymous client which of the two it is.
        return refuse(res, known ? 404 : 401, 'RepoNotFound',
            known ? 'Repository not found' : 'Invalid username or password.');
    }
    const fault = takeFault(repository, target.kind);
    if (fault !== null)
        return FAULTS[fault.kind](state, req, res, { ...target, repository, fault });
    return answerRepository(state, req, res, { ...target, repository, known });
}

function answerRepository(state, req, res, target) {
    const { id, repository, revision, known } = target;
    if (repository.renamedTo !== undefined) {
        res.writeHead(307, { Location: req.url.replace(id, repository.renamedTo) });
        return res.end();
    }
    if (repository.disabled)
        return refuse(res, 403, null, 'Access to this resource is disabled.');
    if (repository.gated && target.kind === 'file' && !(known && repository.granted)) {
        return refuse(res, known ? 403 : 401, 'GatedRepo', known
            ? `Access to model ${id} is restricted and you are not in the authorized list.`
            : `Access to model ${id} is restricted. You must be authenticated to access it.`);
    }
    const commit = resolveRevision(id, repository, revision);
    if (commit === null)
        return refuse(res, 404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    return target.kind === 'info'
        ? answerInfo(res, target, commit)
        : answerFile(state, req, res, target, commit);
}

function refuse(res, status, code, message) {
    if (code !== null)
        res.setHeader('X-Error-Code', code);
    res.setHeader('X-Error-Message', message);
    const body = JSON.stringify({ error: message });
    res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    res.end(res.req.method === 'HEAD' ? undefined : body);
}

function gatedOf(repository) {
    return repository.gated ? repository.gatedAs ?? 'manual' : false;
}

/** The list, the most downloaded first. `expand` names the fields beside the id, as for one. */
function answerSearch(state, res, { searchParams }, known) {
    const text = (searchParams.get('search') ?? '').toLowerCase();
    const limit = Number(searchParams.get('limit') ?? 1000);
    const expand = searchParams.getAll('expand');
    const list = [...state.repositories]
        .filter(([id, repository]) => id.toLowerCase().includes(text)
            && (!repository.private || known) && repository.renamedTo === undefined)
        .sort(([, a], [, b]) => (b.downloads ?? 0) - (a.downloads ?? 0))
        .slice(0, limit)
        .map(([id, repository]) => {
            const whole = {
                gated: gatedOf(repository),
                downloads: repository.downloads ?? 0,
                likes: repository.likes ?? 0,
                library_name: repository.libraryName,
                lastModified: repository.lastModified ?? '2026-01-02T03:04:05.000Z',
                private: repository.private ?? false,
            };
            const picked = expand.length === 0
                ? whole : Object.fromEntries(expand.map((field) => [field, whole[field]]));
            return { _id: sha1(id).slice(0, 24), id, modelId: id, ...picked };
        });
    res.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' });
    res.end(res.req.method === 'HEAD' ? undefined : JSON.stringify(list));
}

function answerInfo(res, { id, repository, searchParams }, commit) {
    const expand = searchParams.getAll('expand');
    if (expand.length > 0 && searchParams.has('blobs'))
        return refuse(res, 400, null, 'expand cannot be combined with blobs');
    const siblings = Object.entries(repository.files).map(([rfilename, content]) =>
        searchParams.has('blobs')
            ? { rfilename, size: bytesOf(content).length, blobId: gitBlobId(bytesOf(content)) }
            : { rfilename });
    const config = repository.files['config.json'];
    const whole = {
        sha: commit,
        private: repository.private ?? false,
        gated: gatedOf(repository),
        disabled: repository.disabled ?? false,
        siblings,
        config: typeof config === 'object' && !Buffer.isBuffer(config)
            ? { architectures: config.architectures, model_type: config.model_type } : {},
        safetensors: repository.safetensors,
    };
    const picked = expand.length === 0
        ? whole
        : Object.fromEntries(expand.map((field) => [field, whole[field]]));
    const body = JSON.stringify({ _id: sha1(id).slice(0, 24), id, ...picked });
    res.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' });
    return res.end(res.req.method === 'HEAD' ? undefined : body);
}

function answerFile(state, req, res, { repository, file, gzip }, commit) {
    res.setHeader('X-Repo-Commit', commit);
    if (!Object.hasOwn(repository.files, file))
        return refuse(res, 404, 'EntryNotFound', 'Entry not found');
    const bytes = bytesOf(repository.files[file]);
    if (repository.redirect) {
        const digest = sha256(bytes);
        state.blobs.set(digest, bytes);
        res.writeHead(302, {
            'X-Linked-Etag': `"${digest}"`,
            'X-Linked-Size': bytes.length,
            'Location': `${state.contentUrl}/blobs/${digest}?signature=${sha1(digest)}`,
        });
        return res.end();
    }
    return sendBytes(req, res, bytes, `"${gitBlobId(bytes)}"`, gzip);
}

function answerContent(state, req, res) {
    const bytes = state.blobs.get(req.url.split('?')[0].replace('/blobs/', ''));
    if (bytes === undefined)
        return refuse(res, 404, null, 'no such blob');
    return sendBytes(req, res, bytes, `"${sha256(bytes)}"`, false);
}

function sendBytes(req, res, bytes, etag, gzip) {
    res.setHeader('ETag', etag);
    if (req.headers['if-none-match'] === etag) {
        res.writeHead(304);
        return res.end();
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '');
    if (range !== null)
        return sendPart(req, res, bytes, Number(range[1]), Number(range[2]));
    const packed = gzip && /\bgzip\b/.test(req.headers['accept-encoding'] ?? '');
    const body = packed ? gzipSync(bytes) : bytes;
    if (packed)
        res.setHeader('Content-Encoding', 'gzip');
    res.writeHead(200, {
        'Content-Type': 'text/plain; charset=utf-8',
        'Content-Length': body.length,
    });
    return res.end(req.method === 'HEAD' ? undefined : body);
}

function sendPart(req, res, bytes, first, last) {
    if (first >= bytes.length || last < first) {
        res.writeHead(416, { 'Content-Range': `bytes */${bytes.length}` });
        return res.end();
    }
    const end = Math.min(last, bytes.length - 1);
    res.writeHead(206, {
        'Content-Type': 'application/octet-stream',
        'Content-Range': `bytes ${first}-${end}/${bytes.length}`,
        'Content-Length': end - first + 1,
    });
    return res.end(req.method === 'HEAD' ? undefined : bytes.subarray(first, end + 1));
}

/** A safetensors file of tensors whose values are left out of it: {name: [dtype, shape]}. */
export function safetensors(tensors, padding = 0) {
    const header = Buffer.from(JSON.stringify({
        __metadata__: { format: 'pt', padding: ' '.repeat(padding) },
        ...Object.fromEntries(Object.entries(tensors).map(([name, [dtype, shape]]) =>
            [name, { dtype, shape, data_offsets: [0, 0] }])),
    }));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    return Buffer.concat([length, header]);
}

/* Faults. Each is answered in place of the repository. */

function takeFault(repository, question) {
    if (repository.fault === undefined)
        return null;
    const fault = typeof repository.fault === 'string'
        ? { kind: repository.fault } : repository.fault;
    if (!Object.hasOwn(FAULTS, fault.kind))
        throw new Error(`no fault is called ${fault.kind}`);
    if (fault.only !== undefined && fault.only !== question)
        return null;
    if (fault.times === undefined)
        return fault;
    if (fault.times === 0)
        return null;
    fault.times -= 1;
    return fault;
}

function startFile(res, target, headers) {
    res.writeHead(200, {
        'Content-Type': 'text/plain; charset=utf-8',
        'X-Repo-Commit': commitOf(target.id, target.repository),
        'ETag': `"${sha1(target.id)}"`,
        ...headers,
    });
}

/** Sends blanks until OVERSIZED_BYTES went out or the client has left. */
async function sendBlanks(res) {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const closed = new Promise((next) => res.once('close', next));
    let left = OVERSIZED_BYTES;
    while (left > 0 && !res.destroyed) {
        left -= chunk.length;
        if (!res.write(chunk))
            await Promise.race([new Promise((next) => res.once('drain', next)), closed]);
    }
    res.end();
}

function redirectTo(res, location) {
    res.writeHead(302, { Location: location });
    res.end();
}

export const FAULTS = {
    rate_limited(state, req, res, { fault }) {
        res.setHeader('ratelimit', `"api";r=0;t=${fault.retryAfter ?? 7}`);
        if (fault.retryAfter !== undefined)
            res.setHeader('Retry-After', fault.retryAfter);
        refuse(res, 429, null, 'We had to rate limit you.');
    },
    server_error: (state, req, res) => refuse(res, 500, null, 'Internal Error'),
    unavailable: (state, req, res) => refuse(res, 503, null, 'Service Unavailable'),
    /** Never answers. */
    hang: () => {},
    /** Answers once release() is called. */
    async held(state, req, res, target) {
        await new Promise((go) => state.held.push(go));
        answerRepository(state, req, res, target);
    },
    /** Headers at once, then a byte at a time for ever. */
    trickle(state, req, res, target) {
        startFile(res, target, { 'Content-Length': 1024 * 1024 });
        const timer = setInterval(() => res.write(' '), TRICKLE_INTERVAL_MS);
        res.once('close', () => clearInterval(timer));
    },
    reset: (state, req) => req.socket.resetAndDestroy(),
    truncated(state, req, res, target) {
        const bytes = bytesOf(target.repository.files['config.json'] ?? '{}');
        startFile(res, target, { 'Content-Length': bytes.length + 100 });
        res.write(bytes, () => res.destroy());
    },
    oversized(state, req, res, target) {
        startFile(res, target, { 'Content-Length': OVERSIZED_BYTES });
        return sendBlanks(res);
    },
    oversized_chunked(state, req, res, target) {
        startFile(res, target, {});
        return sendBlanks(res);
    },
    /** Small on the wire, oversized once unpacked. */
    gzip_bomb(state, req, res, target) {
        const body = gzipSync(Buffer.alloc(OVERSIZED_BYTES, ' '));
        startFile(res, target, { 'Content-Encoding': 'gzip', 'Content-Length': body.length });
        res.end(body);
    },
    gzip: (state, req, res, target) => answerRepository(state, req, res, { ...target, gzip: true }),
    redirect_loop: (state, req, res) => redirectTo(res, req.url),
    /** To where no client should follow: `location`, else a cloud's metadata address. */
    redirect_forbidden: (state, req, res, { fault }) =>
        redirectTo(res, fault.location ?? 'http://169.254.169.254/latest/meta-data/'),
    /** A network that asks for a login first: a page, not the Hub. */
    captive_portal(state, req, res) {
        res.writeHead(200, { 'Content-Type': 'text/html' });
        res.end('<!doctype html><title>Sign in to the network</title><p>Please sign in.</p>');
    },
    /** The Hub's headers, but not JSON. */
    not_json(state, req, res, target) {
        const body = '{"architectures": [';
        startFile(res, target, { 'Content-Length': body.length });
        res.end(body);
    },
};

async function main() {
    const { llama, gpt2 } = await import('../e2e/lib/fixtures.mjs');
    const repositories = {
        'org/llama': { files: { 'config.json': llama } },
        gpt2: { files: { 'config.json': gpt2 } },
        'org/gated': { files: { 'config.json': llama }, gated: true },
        'org/elsewhere': { files: { 'config.json': llama }, redirect: true },
    };
    for (const kind of Object.keys(FAULTS))
        repositories[`faults/${kind}`] = { files: { 'config.json': llama }, fault: kind };
    const hub = await startHub({ repositories, port: Number(process.argv[2] ?? 0) });
    console.log(hub.url);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
    await main();
