/** The check that every answer goes through: it has to be able to fail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Contract } from './lib/openapi.mjs';

const contract = new Contract({
    openapi: '3.1.0',
    paths: {
        '/things/{name}': {
            get: {
                responses: {
                    200: { content: { 'application/json': {
                        schema: { $ref: '#/components/schemas/Thing' },
                    } } },
                    304: { description: 'unchanged' },
                    404: { $ref: '#/components/responses/Problem' },
                },
            },
        },
        '/things/{name}:restore': { post: { responses: { 204: {} } } },
        '/things/all': { get: { responses: { default: { content: { 'text/plain': {} } } } } },
        '/{anything}': { get: { responses: { 200: {} } } },
    },
    components: {
        responses: { Problem: { content: { 'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
        } } } },
        schemas: {
            Thing: {
                type: 'object',
                required: ['bytes'],
                properties: { bytes: { type: 'integer' }, at: { $ref: '#/components/schemas/At' } },
                additionalProperties: false,
            },
            At: { type: 'string', format: 'date-time' },
            Problem: { type: 'object', required: ['status'] },
        },
    },
});

/** An answer as http.mjs gives it. */
function answer(status, json, type = 'application/json') {
    const text = json === undefined ? '' : JSON.stringify(json);
    return { status, type, json, text, bytes: Buffer.from(text), headers: {} };
}

const check = (method, path, response) => () => contract.check(method, path, response);
const get = (response) => check('GET', '/things/one', response);

test('a documented answer passes', () => {
    get(answer(200, { bytes: 7, at: '2026-01-31T00:00:00Z' }))();
    get(answer(304))();
    get(answer(404, { status: 404 }, 'application/problem+json'))();
    check('HEAD', '/things/one', answer(200))();
});

test('an undocumented status fails', () => {
    assert.throws(get(answer(201, { bytes: 7 })), /not documented/);
    assert.throws(get(answer(500, {})), /not documented/);
});

test('another content type fails', () => {
    assert.throws(get(answer(200, { bytes: 7 }, 'text/html')), /text\/html is not documented/);
});

test('a body that is not as promised fails, also behind a reference', () => {
    assert.throws(get(answer(200, { bytes: 7.5 })), /must be integer/);
    assert.throws(get(answer(200, {})), /required property 'bytes'/);
    assert.throws(get(answer(200, { bytes: 7, more: 1 })), /additional properties/);
    assert.throws(get(answer(200, { bytes: 7, at: 'noon' })), /date-time/);
    assert.throws(get(answer(404, {}, 'application/problem+json')), /'status'/);
});

test('a HEAD with a body fails', () => {
    assert.throws(check('HEAD', '/things/one', answer(200, { bytes: 7 })), /no body/);
});

test('the template that says most is the one that is meant', () => {
    assert.equal(contract.template('/things/one?view=spec'), '/things/{name}');
    assert.equal(contract.template('/things/one:restore'), '/things/{name}:restore');
    assert.equal(contract.template('/things/all'), '/things/all');
    assert.equal(contract.template('/healthz'), '/{anything}');
    assert.equal(contract.template('/things/one/more'), undefined);
});

test('where nothing is documented, only a problem is right', () => {
    const problem = (status) => answer(status, { status }, 'application/problem+json');
    check('DELETE', '/things/one', problem(405))();
    check('GET', '/things/one/more', problem(404))();
    assert.throws(check('DELETE', '/things/one', answer(200, {})), /not documented/);
    assert.throws(check('GET', '/things/one/more', answer(404, {})), /in place of a problem/);
});
