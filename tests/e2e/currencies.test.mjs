/** Prices of several currencies: nothing adds them up or holds one against the other, and the answer says so. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { accelerator, estimate, inventory } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { eventually } from './lib/processes.mjs';
import { startServer, stopClean } from './lib/server.mjs';

let client;
let server;

before(async () => {
    server = await startServer({ database: true });
    client = await connectTo(server);
    await eventually(async () => (await client.get('/readyz')).status === 200, 'ready');
    for (const [id, price, currency] of [['in-yen', 9000, 'JPY'], ['in-euros', 60, 'EUR'], ['in-euros-too', 50, 'EUR']])
        assert.equal((await client.put(`/api/v1/node-types/${id}`, { accelerator, accelerators_per_node: 8,
            price_per_node_hour: price, price_currency: currency })).status, 201);
});
after(() => stopClean(server));

/** A small space, so that a debug build is done with it soon. */
const asked = (clusters, rest = {}) => {
    const { model, workload } = estimate({ workload: { tokens: 1e9 } });
    return { model, workload: { ...workload, recompute: undefined, micro_batch_size: undefined }, clusters,
        space: { sequence: true, virtual_pipeline: 1, schedule: '1f1b', layout: 'rule', context: 1, recompute: ['none', 'full'],
            recompute_layers: 0, micro_batch_size: 1 }, ...rest };
};
const of = (node_type, rest = {}) => ({ node_type, nodes: 1, ...rest });
const codes = (notes) => notes.map(({ code }) => code);

async function answered(path, body) {
    const response = await client.post(path, body);
    assert.equal(response.status, 200, response.text.slice(0, 1000));
    return response.json;
}

describe('a search', () => {
    const mixed = [of('in-yen'), of('in-euros')];

    for (const rest of [{ objective: 'cost' }, { constraints: { budget: 1e6 } }])
        test(`whose ${Object.keys(rest)[0]} is of cost is refused by name`, async () =>
            assertProblem(await client.post('/api/v1/searches', asked(mixed, rest)), 422,
                { code: 'currencies_differ', pointer: '/clusters', says: /JPY and EUR/ }));

    test('of rate leaves costs out and says so', async () => {
        const answer = await answered('/api/v1/searches', asked(mixed));
        const said = answer.warnings.find(({ code }) => code === 'currencies_differ');
        assert.match(said.message, /JPY and in EUR/);
        for (const cluster of answer.clusters)
            assert.deepEqual([cluster.price_per_node_hour, cluster.price_currency], [null, null]);
        assert.ok(answer.best.length > 0 && answer.best.every(({ cost }) => cost === null));
    });

    test('of one currency goes by cost, and names it', async () => {
        const answer = await answered('/api/v1/searches', asked([of('in-euros'), of('in-euros-too')], { objective: 'cost' }));
        assert.ok(!codes(answer.warnings).includes('currencies_differ'));
        assert.deepEqual(answer.clusters.map(({ price_currency }) => price_currency), ['EUR', 'EUR']);
        assert.equal(answer.best[0].cluster_index, 1);
    });

    test('takes a price that the request gives for one of those beside it, and says so', async () => {
        const answer = await answered('/api/v1/searches',
            asked([of('in-euros'), of('in-yen', { price_per_node_hour: 70 })], { objective: 'cost' }));
        const said = answer.assumptions.find(({ code }) => code === 'price_currency_assumed');
        assert.match(said.message, /EUR/);
        assert.deepEqual(answer.clusters.map(({ price_currency }) => price_currency), ['EUR', null]);
    });
});

test('which cluster is the cheapest is not said across currencies, and what each costs is', async () => {
    const answer = await answered('/api/v1/limits:clusters', asked([of('in-yen'), of('in-euros')]));
    assert.equal(answer.cheapest, null);
    assert.notEqual(answer.smallest, null);
    assert.ok(codes(answer.warnings).includes('currencies_differ'));
    for (const { cheapest, price_currency } of answer.candidates) {
        assert.ok(cheapest.searched && cheapest.plan.cost > 0);
        assert.match(price_currency, /^(JPY|EUR)$/);
    }
    const one = await answered('/api/v1/limits:clusters', asked([of('in-euros'), of('in-euros-too')]));
    assert.equal(one.cheapest.candidate, 1);
});

test('a budget is not held against prices of several currencies', async () => {
    const constraints = { budget: 1e6 };
    const refused = await client.post('/api/v1/limits:clusters', asked([of('in-yen'), of('in-euros')], { constraints }));
    assertProblem(refused, 422, { code: 'currencies_differ', pointer: '/clusters', says: /JPY and EUR/ });
    const types = { node_types: ['in-yen', 'in-euros'], max_nodes: 1, clusters: undefined, constraints };
    assertProblem(await client.post('/api/v1/limits:clusters', asked(undefined, types)), 422, { code: 'currencies_differ' });
    // What could never be within it is priced all the same.
    assertProblem(await client.post('/api/v1/limits:clusters', asked([of('in-yen'), of('in-euros')],
        { constraints: { budget: 0.001 } })), 422, { code: 'currencies_differ' });
    const one = await answered('/api/v1/limits:clusters', asked([of('in-euros'), of('in-euros-too')], { constraints }));
    assert.equal(one.cheapest.candidate, 1);
});

test('pools of several currencies have no price together', async () => {
    const pools = [['a', 'in-yen'], ['b', 'in-euros']].map(([name, node_type]) =>
        ({ name, nodes: 1, node: { node_type }, fabric: { kind: 'fat_tree', oversubscription: 1.0 } }));
    assert.equal((await client.put('/api/v1/inventories/mixed', inventory({ pools }))).status, 201);
    const cluster = { inventory: 'mixed', pools: 'all' };
    const { json, status, text } = await client.post('/api/v1/estimates', { ...estimate({ workload: { tokens: 1e9 }, parallelism: { data: 4 } }), cluster });
    assert.equal(status, 200, text);
    assert.equal(json.cost, null);
    assert.equal(json.resolved.cluster.price_per_node_hour, null);
    assert.ok(codes(json.warnings).includes('currencies_differ'));
});
