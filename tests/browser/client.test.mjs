/**
 * The client of the dashboard against the OpenAPI document: every function of it is called, and what it would send is
 * what the document takes. A function that is new needs an entry in CALLS.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as api from '../../static/src/state/api.js';
import * as inventories from '../../static/src/state/api-inventories.js';
import { EXAMPLES, READY } from '../../static/src/state/examples.js';
import { emptyPlan, planOfExample, requestOf } from '../../static/src/state/plan.js';
import { searchOf } from '../../static/src/search/ask.js';
import { inventory } from '../e2e/lib/fixtures.mjs';
import { Contract } from '../e2e/lib/openapi.mjs';
import { root } from '../e2e/lib/server.mjs';

const contract = new Contract(JSON.parse(readFileSync(join(root, 'server/api/openapi.json'), 'utf8')));
const plans = READY.map(([example, cluster]) => planOfExample(example, cluster));
const stored = { ...plans[0], inventory: 'lab', pool: 'fast', software: '', recompute: '', attention: '' };
const requests = [...plans, stored, { ...emptyPlan(), hub: 'org/name', revision: 'main' }].map(requestOf);
const [request] = requests;
const { parallelism: left, ...comparison } = request;
const spec = inventory();

/** What makes no request of its own, or one of the page's own files, or goes by the older interface (inventories.test.mjs). */
const NONE = ['call', 'callText', 'wholePattern', 'fetchAsset', 'parseFiles'];
const client = { ...api, ...inventories };

/** Each function with what it is called with, as the page calls it, each time with a signal of its own. @type {(signal: AbortSignal) => Record<string, any[][]>} */
const callsWith = (signal) => ({
    fetchModel: [['org/name', '', signal], ['org/na me', 'refs/pr/1', signal]],
    inspectConfig: [[EXAMPLES.get('llama-8b').config, signal]],
    postEstimate: requests.map((each) => [each, signal]),
    postEstimates: [[requests, signal]],
    postChoices: requests.map((each) => [each, signal]),
    searchModels: [['llama', 8, signal]],
    parseInventory: [[[new File(['NodeName=a'], 'nodes')], signal]],
    postComparison: [[comparison, signal]],
    postTimeline: [[request, { limit: 300_000 }, signal], [request, { limit: 10, rings: 'true', from_s: 0, to_s: 1, rank: '0-3' }, signal]],
    postTrace: [[request]],
    compareTrace: [[request, new Blob(['{}']), signal]],
    postSharding: [[request, { limit: 1 }, signal], [request, { rank: 3, limit: 200, tensor: '*q_proj*', cursor: 'x' }]],
    postSearch: [[searchOf(plans[0]), signal, async () => {}]],
    fetchAccelerators: [[]],
    databaseStatus: [[]],
    fetchInventories: [[]],
    fetchInventory: [['lab', signal]],
    fetchPlan: [['nightly', signal]],
    listInventories: [[{ limit: '50', deleted: 'true' }, signal]],
    fetchPart: [['lab', 'revisions', signal], ['lab', 'audit', signal]],
    fetchObservations: [['lab', signal]],
    fetchSpecText: [['lab', 3]],
    readSpec: [[{ pools: [] }, signal]],
    putInventory: [['lab', JSON.stringify(spec), 3], ['lab', JSON.stringify(spec), null]],
    deleteInventory: [['lab', 3]],
    diffDraft: [['lab', spec]],
    restoreInventory: [['lab']],
    fetchFormats: [[signal]],
});
const CALLS = callsWith(new AbortController().signal);

/** Answers that lead to further requests, the first time. */
const FIRST = { '/api/v1/inventories': { items: [{ slug: 'a' }], next_cursor: 'b' } };

const fetched = globalThis.fetch;
let sent = [];
before(() => {
    globalThis.fetch = async (path, init) => {
        const bare = path.split('?')[0];
        const body = sent.some((each) => each.path.split('?')[0] === bare) ? { items: [] } : FIRST[bare] ?? { items: [] };
        sent.push({ path, ...init });
        return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
    };
});
after(() => {
    globalThis.fetch = fetched;
});

/** A text of a URL as its schema has it. */
const valueOf = (schema, text) => (['integer', 'number'].includes(schema.type) && text !== '' ? Number(text)
    : schema.type === 'boolean' ? text === 'true' : text);

/** Asserts that the document takes what was sent. */
function check({ path, method, headers, body }) {
    const where = `${method} ${path}`;
    const operation = contract.operation(method, path);
    assert.ok(operation, `${where}: not in the document`);
    const template = contract.template(path);
    const parameters = [...contract.document.paths[template].parameters ?? [], ...operation.parameters ?? []].map((each) => contract.resolve(each));
    const query = new URLSearchParams(path.split('?')[1] ?? '');
    for (const [name, text] of query) {
        const parameter = parameters.find((each) => each.in === 'query' && each.name === name);
        assert.ok(parameter, `${where}: has no ${name} in its query`);
        contract.validate(`${where}, ${name}`, parameter.schema, valueOf(contract.resolve(parameter.schema), text));
    }
    for (const { name } of parameters.filter((each) => each.in === 'query' && each.required))
        assert.ok(query.has(name), `${where}: needs ${name}`);
    const at = template.split('/').map((part, place) => [part.slice(1, -1), path.split('?')[0].split('/')[place]]);
    for (const { name, schema } of parameters.filter((each) => each.in === 'path')) {
        const found = at.find(([part]) => part === name);
        if (found)
            contract.validate(`${where}, ${name}`, schema, valueOf(contract.resolve(schema), decodeURIComponent(found[1])));
    }
    const taken = Object.keys(operation.responses['200'] ? contract.promised(operation, 200).content : {});
    assert.ok(taken.length === 0 || taken.includes(headers.accept), `${where}: answers ${taken.join(', ')}, not ${headers.accept}`);
    const wanted = contract.resolve(operation.requestBody);
    assert.equal(body !== undefined, wanted !== undefined, `${where}: a body`);
    if (body === undefined)
        return;
    const type = body instanceof FormData ? 'multipart/form-data' : headers['content-type'];
    const media = wanted.content[type];
    assert.ok(media, `${where}: takes no ${type}`);
    if (media.schema.contentSchema)
        body.split('\n').forEach((line) => contract.validate(where, media.schema.contentSchema, JSON.parse(line)));
    else if (type.endsWith('json'))
        contract.validate(where, media.schema, JSON.parse(body));
}

describe('the client', () => {
    it('has an entry here for each of its functions', () => {
        const functions = Object.entries(client).filter(([name, value]) => typeof value === 'function' && value !== api.ProblemError && !NONE.includes(name));
        assert.deepEqual(functions.map(([name]) => name).sort(), Object.keys(CALLS).sort());
    });

    for (const [name, calls] of Object.entries(CALLS)) {
        it(`sends what the document takes: ${name}`, async () => {
            for (const at of calls.keys()) {
                sent = [];
                await client[name](...callsWith(new AbortController().signal)[name][at]);
                assert.ok(sent.length > 0);
                sent.forEach(check);
            }
        });
    }

    it('follows the cursor of inventories to the end', async () => {
        sent = [];
        assert.deepEqual(await api.fetchInventories(), [{ slug: 'a' }]);
        assert.deepEqual(sent.map(({ path }) => path), ['/api/v1/inventories?limit=100', '/api/v1/inventories?limit=100&cursor=b']);
    });

    it('sends again only what stores nothing: each POST of the document is either named so or a write', () => {
        const posts = Object.entries(contract.document.paths).filter(([, operations]) => operations.post).map(([path]) => path);
        assert.deepEqual(posts.filter((path) => !api.COMPUTING.includes(path)), ['/api/v1/inventories/{slug}:restore', '/api/v1/inventories/{slug}/diff']);
        assert.deepEqual(api.COMPUTING.filter((path) => !posts.includes(path)), []);
    });
});
