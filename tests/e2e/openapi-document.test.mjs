/**
 * The OpenAPI document: sound, complete, saying what the sources say, and with examples that work.
 * Whether the server keeps to it elsewhere is checked with every answer the other tests receive.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { startHub } from '../hub/standin.mjs';
import { ANSWERED, asShown } from './lib/examples.mjs';
import { connectTo } from './lib/http.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = (path) => readFileSync(join(root, path), 'utf8');
const document = JSON.parse(source('server/api/openapi.json'));
const { components } = document;

const problemType = 'application/problem+json';
const problemSchemas = ['#/components/schemas/Problem', '#/components/schemas/DoesNotFit'];

function resolve(node) {
    let found = node;
    while (found?.$ref !== undefined)
        found = at(found.$ref.slice(1));
    return found;
}

/** What a JSON Pointer into the document points at. */
function at(pointer) {
    return pointer.split('/').slice(1)
        .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
        .reduce((node, key) => node?.[key], document);
}

/** Every object of the document with its path; what examples hold is data, not document. */
function* objects(node = document, path = '') {
    if (node === null || typeof node !== 'object')
        return;
    if (!Array.isArray(node))
        yield [path, node];
    for (const [key, child] of Object.entries(node))
        if (!(key === 'value' && /\/examples\/[^/]+$/.test(path)))
            yield* objects(child, `${path}/${key}`);
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) =>
        ({ path, method, operation, where: `${method.toUpperCase()} ${path}` })));

const responsesOf = (operation) => Object.entries(operation.responses)
    .map(([status, response]) => [Number(status), resolve(response)]);

/** [where, schema, example] for every content that has examples. */
function* examples() {
    for (const [path, node] of objects())
        for (const [name, example] of Object.entries(node.schema && node.examples || {}))
            yield [`${path} ${name}`, node.schema, resolve(example)];
}

test('it is an OpenAPI 3.1 document of this release', () => {
    assert.match(document.openapi, /^3\.1\.\d+$/);
    const [, version] = source('include/shardline/version.h').match(/SL_VERSION "([^"]+)"/);
    assert.equal(document.info.version, version);
});

test('every reference points at something', () => {
    for (const [path, { $ref }] of objects())
        if ($ref !== undefined)
            assert.notEqual(at($ref.replace(/^#/, '')), undefined, `${path}: ${$ref}`);
});

test('every component is used', () => {
    const used = new Set([...objects()].map(([, { $ref }]) => $ref));
    // A method that a path does not have is no operation that could refer to its answer.
    used.add('#/components/responses/MethodNotAllowed');
    for (const [kind, entries] of Object.entries(components))
        for (const name of Object.keys(entries))
            assert.ok(used.has(`#/components/${kind}/${name}`), `${kind}/${name} is not used`);
});

test('the operations are the routes of the server', () => {
    const routes = [...source('server/api/routes.c')
        .matchAll(/\{SL_(GET|POST|PUT|PATCH|DELETE),\s*"([^"]+)"/g)];
    assert.ok(routes.length > 0);
    assert.deepEqual(operations.map(({ where }) => where).sort(),
        routes.map(([, method, path]) => `${method} ${path}`).sort());
});

test('every operation has a name of its own, a summary, a tag and an example', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(names).size, names.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation, where } of operations) {
        assert.match(operation.operationId, /^[a-z][A-Za-z]+$/, where);
        assert.ok(operation.summary?.length > 0, where);
        assert.ok(operation.tags.length === 1 && tags.includes(operation.tags[0]), where);
        const contents = [operation.requestBody, ...responsesOf(operation)
            .filter(([status]) => status < 300).map(([, response]) => response)]
            .flatMap((part) => Object.values(part?.content ?? {}));
        const count = contents.reduce((sum, media) =>
            sum + Object.keys(media.examples ?? {}).length, 0);
        assert.ok(count > 0, `${where} has no example`);
    }
});

test('the parameters of a path are those of its template', () => {
    for (const { path, operation, where } of operations) {
        const declared = (operation.parameters ?? []).map(resolve);
        const inPath = declared.filter((parameter) => parameter.in === 'path');
        assert.deepEqual(inPath.map(({ name }) => name).sort(),
            [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name).sort(), where);
        assert.ok(inPath.every(({ required }) => required === true), where);
        const keys = declared.map((parameter) => `${parameter.in} ${parameter.name}`);
        assert.equal(new Set(keys).size, keys.length, `${where}: a parameter twice`);
        for (const parameter of declared)
            assert.ok(parameter.description && parameter.schema, `${where} ${parameter.name}`);
    }
});

test('every answer is described, typed and carries the id of its request', () => {
    for (const { operation, where } of operations)
        for (const [status, response] of responsesOf(operation)) {
            assert.ok(response.description.length > 0, `${where} ${status}`);
            assert.ok(response.headers['X-Request-Id'], `${where} ${status}`);
            assert.equal(response.content === undefined, status === 304, `${where} ${status}`);
            for (const media of Object.values(response.content ?? {}))
                assert.ok(media.schema, `${where} ${status}`);
        }
});

test('every refusal is a problem document, and those of any request are promised', () => {
    for (const { operation, where } of operations) {
        const responses = new Map(responsesOf(operation));
        const expected = [400, 421, 503, 504];
        if (!where.startsWith('GET'))
            expected.push(403);
        if (operation.requestBody !== undefined)
            expected.push(413, 415, 422);
        for (const status of expected)
            assert.ok(responses.has(status), `${where}: ${status} is not promised`);
        assert.ok(!responses.has(500), `${where}: a fault of ours is no promise`);
        for (const [status, { content, headers }] of responses) {
            if (status < 400)
                continue;
            assert.ok(problemSchemas.includes(content[problemType]?.schema.$ref),
                `${where} ${status}`);
            assert.equal(headers['Retry-After'] !== undefined, status === 503,
                `${where} ${status}`);
        }
    }
});

test('the kinds of problems are those of the server', () => {
    const { Problem, DoesNotFit } = components.schemas;
    const kinds = new Set(source('server/http/problem.c').match(/\/problems\/[a-z-]+/g));
    // A fault of ours is never promised.
    assert.ok(kinds.delete('/problems/internal'));
    assert.deepEqual([...Problem.properties.type.enum, DoesNotFit.properties.type.const].sort(),
        [...kinds].sort());
});

test('every object with named members says whether it may have others', () => {
    // A spec and a config are given back or read as they are; a document is that of a standard.
    const open = ['/components/schemas/StoredSpec', '/components/schemas/HubConfig'];
    for (const [path, node] of objects())
        if (node.type === 'object' && node.properties !== undefined
            && !open.includes(path) && !path.startsWith('/paths//openapi.json'))
            assert.equal(node.additionalProperties, false, path);
});

test('a unit in a name is the unit of the description', () => {
    const units = [[/_per_s$/, /per second/], [/_bytes$/, /bytes/i], [/(?<!_per)_s$/, /seconds/],
        [/_ratio$|^mfu_|^hfu$/, /ratio/]];
    let count = 0;
    for (const [path, node] of objects(components.schemas, '/components/schemas'))
        for (const [name, property] of Object.entries(node.properties ?? {}))
            for (const [pattern, unit] of units)
                if (pattern.test(name) && /number|integer/.test(property.type)) {
                    assert.match(property.description ?? '', unit, `${path}/${name}`);
                    count++;
                }
    assert.ok(count > 30, `${count} properties have a unit`);
});

test('the schemas are sound, and every example is what its schema says', () => {
    const ajv = addFormats(new Ajv2020({ allErrors: true, allowUnionTypes: true,
        keywords: ['components'] }));
    const check = (where, schema, value) => {
        const valid = ajv.compile({ ...schema, components });
        assert.ok(valid(value), `${where}: ${ajv.errorsText(valid.errors, { separator: '\n' })}`);
    };
    let count = 0;
    for (const [where, schema, { summary, value }] of examples()) {
        assert.ok(summary.length > 0, where);
        check(where, schema, value);
        count++;
    }
    assert.ok(count >= operations.length, `${count} examples`);
});

/** The property a JSON Pointer into an answer names. */
function property(schema, pointer) {
    return pointer.split('/').slice(1)
        .reduce((node, key) => resolve(node)?.properties?.[key], schema);
}

test('the terms of the engine are in the vocabulary, and its figures in the answer', () => {
    const { ColumnTraffic, Estimate, MemoryTerm, TimeTerm } = components.schemas;
    const sent = Object.keys(ColumnTraffic.properties.explain.properties);
    const rows = [...source('server/engine/answer/terms.c')
        .matchAll(/\{"(\w+)",\s*(NULL|"[^"]+"),\s*SL_LIFETIME_(\w+)/g)];
    assert.ok(rows.length > 30);
    for (const [, name, pointer, lifetime] of rows) {
        if (pointer !== 'NULL')
            assert.ok(property(Estimate, JSON.parse(pointer)), `${pointer} is not in an estimate`);
        else if (lifetime === 'NONE')
            assert.ok([...TimeTerm.properties.name.enum, ...sent].includes(name), name);
        else
            assert.ok(MemoryTerm.properties.name.enum.includes(name), name);
    }
});

/** The path with the examples of its parameters. */
const examplePath = (path, operation) => path.replace(/\{([^}]+)\}/g, (_, name) =>
    operation.parameters.map(resolve).find((p) => p.in === 'path' && p.name === name).example);

test('every example is a request that the server answers as promised', async (t) => {
    const config = components.examples.inspectRequest.value.config;
    const model = { files: { 'config.json': config } };
    const hub = await startHub({
        repositories: { gpt2: model, 'openai-community/gpt2': model },
    });
    t.after(() => hub.close());
    const server = await startServer({ database: true, hub });
    t.after(() => stopClean(server));
    const client = await connectTo(server);
    assert.deepEqual(client.contract.document, document, 'the document served is this one');

    // What is put has to be there before it is asked for, and what is deleted is restored at last.
    const turn = ({ method, path }) =>
        (path.endsWith(':restore') ? 3 : { put: 0, delete: 2 }[method] ?? 1);
    // What lies in another thing goes before it.
    const depth = ({ method, path }) => (method === 'delete' ? path.split('/').length : 0);
    const ordered = [...operations].sort((a, b) => turn(a) - turn(b) || depth(b) - depth(a));
    let kept; // what a search is kept under is known when it was made
    for (const { path, method, operation, where } of ordered) {
        // Files are sent with a boundary that the client draws: parse.test.mjs sends some.
        const bodies = Object.entries(operation.requestBody?.content ?? { none: {} })
            .filter(([type]) => type !== 'multipart/form-data')
            .flatMap(([type, media]) => Object.values(media.examples ?? { none: {} })
                .map((example) => [type, resolve(example).value]));
        for (const [type, value] of bodies) {
            const options = value === undefined ? {}
                : { headers: { 'Content-Type': type },
                    body: /[/+]json$/.test(type) ? JSON.stringify(value) : value };
            const { status, text, json } = await client.request(method.toUpperCase(),
                path.endsWith('{hash}') ? path.replace('{hash}', kept) : examplePath(path, operation),
                options);
            assert.ok(status === 200 || status === 201, `${where}: ${status} ${text}`);
            kept = json?.input_hash ?? kept;
        }
    }
});

/** Numbers as they are printed in a list of [path, number], and everything else in its place. */
function numbersApart(value, path = '', numbers = []) {
    if (typeof value === 'number') {
        numbers.push([path, value]);
        return [null, numbers];
    }
    if (value === null || typeof value !== 'object')
        return [value, numbers];
    const members = Object.entries(value).map(([key, member]) => [key, numbersApart(member, `${path}/${key}`, numbers)[0]]);
    return [Object.fromEntries(members), numbers];
}

test('the answers shown are those of the server: lib/examples.mjs writes them anew', async () => {
    const server = await startServer();
    const client = await connectTo(server);
    try {
        for (const { example, request, path, short } of ANSWERED) {
            const shown = components.examples[example].value;
            const { json } = await client.post(path, components.examples[request].value);
            const [words, numbers] = numbersApart(asShown(shown, json, short));
            const [shownWords, shownNumbers] = numbersApart(shown);
            assert.deepEqual(shownWords, words, example);
            /* A constant that is measured anew moves them a little: that may wait. */
            for (const [i, [at, number]] of numbers.entries())
                assert.ok(Math.abs(shownNumbers[i][1] - number) <= 0.01 * Math.abs(number),
                    `${example}${at}: ${shownNumbers[i][1]} is shown, ${number} given`);
        }
    } finally {
        await stopClean(server);
    }
});
