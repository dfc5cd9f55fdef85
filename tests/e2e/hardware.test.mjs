/** The catalogue: filtered, with its conflicts, and with private hardware beside it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { accelerator as h100, estimate, inventory, large } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const parts = '/api/v1/accelerators';
const nodes = '/api/v1/node-types';
let server;
let client;

before(async () => {
    server = await startServer({ database: true });
    client = await connectTo(server);
});
after(() => stopClean(server));

/** A private accelerator, as a user would put it. */
const chip = (rest = {}) => ({
    memory_bytes: 100_000_000_000,
    memory_bandwidth_bytes_per_s: 4e12,
    peak_flops_per_s: { bf16: 800e12 },
    like: h100,
    ...rest,
});

const machine = (rest = {}) => ({ accelerator: h100, accelerators_per_node: 4, ...rest });

async function put(path, spec, options = {}) {
    const response = await client.put(path, spec, options);
    assert.ok([200, 201].includes(response.status), response.text);
    return response;
}

async function remove(path) {
    const response = await client.delete(path);
    assert.equal(response.status, 200, response.text);
}

async function list(path) {
    const response = await client.get(path);
    assert.equal(response.status, 200, response.text);
    return response.json.items;
}

const codes = (answer) => answer.assumptions.map(({ code }) => code);

/** What a path such as "peak_flops_per_s.fp16" names; undefined where there is no such member. */
const member = (entry, path) => path.split('.').reduce((at, key) => at?.[key], entry);

describe('the catalogue', () => {
    test('lists narrow by every filter, and by several together', async () => {
        const all = await list(parts);
        const amd = await list(`${parts}?vendor=AMD`);
        assert.ok(amd.length > 5 && amd.every(({ vendor }) => vendor === 'amd'));
        const large = await list(`${parts}?vendor=amd&memory_bytes__gte=200000000000`);
        assert.deepEqual(large.map(({ id }) => id),
            all.filter((part) => part.vendor === 'amd' && part.memory_bytes >= 2e11)
                .map(({ id }) => id), 'in the order of the whole list');
        assert.ok((await list(`${parts}?arch=hopper`)).every(({ arch }) => arch === 'Hopper'));
        const byAlias = await list(`${parts}?query=80gb%20HBM3`);
        assert.ok(byAlias.some(({ id }) => id === h100), 'an alias counts');
        assert.equal((await list(`${parts}?vendor=nobody`)).length, 0);
        const on = await list(`${nodes}?accelerator=h100-sxm&operator=aws`);
        assert.deepEqual(on.map(({ id }) => id), ['aws-p5.4xlarge', 'aws-p5.48xlarge']);
        assert.ok((await list(`${nodes}?query=ND%20H100`)).length === 1);
    });

    test('a filter that cannot be understood is refused', async () => {
        assertProblem(await client.get(`${parts}?memory_bytes__gte=many`), 422,
            { code: 'out_of_range' });
        assertProblem(await client.get(`${parts}?origin=mine`), 422, { code: 'unknown_value' });
        assertProblem(await client.get(`${nodes}?accelerator=a100`), 422,
            { code: 'ambiguous_accelerator' });
        assertProblem(await client.get(`${parts}?colour=red`), 422);
    });

    test('usable memory is what the tool prints less what is reserved, beside the nominal', async () => {
        for (const part of await list(parts)) {
            assert.equal(part.usable_bytes, part.memory_bytes - part.reserved_bytes, part.id);
            assert.ok(!part.memory_assumed || part.memory_bytes === part.nominal_bytes, part.id);
        }
        const { json } = await client.get(`${parts}/${h100}`);
        assert.equal(json.memory_bytes, 81559 * 2 ** 20);
        assert.equal(json.reserved_bytes, 480 * 2 ** 20);
        assert.equal(json.reserved_assumed, false);
        assert.equal(json.nominal_bytes, 80e9);
    });

    test('every entry names its sources', async () => {
        for (const path of [parts, nodes])
            for (const { id, source, sources, provenance } of await list(path))
                if (provenance !== 'recalled') {
                    assert.deepEqual(sources.map(({ code }) => code), source.split(' '), id);
                    assert.ok(sources.every(({ where, what }) => where && what), id);
                }
    });

    test('where sources disagree, each is shown, and first the value in use', async () => {
        const entries = [...await list(parts), ...await list(nodes)];
        let count = 0;
        for (const entry of entries)
            for (const { field, values } of entry.conflicts) {
                const used = member(entry, field);
                if (used !== undefined && used !== null)
                    assert.equal(values[0].value, used, `${entry.id} ${field}`);
                assert.ok(new Set(values.map(({ value }) => value)).size > 1, `${entry.id} ${field}`);
                count++;
            }
        assert.ok(count > 20, `${count}`);
        const a10g = entries.find(({ id }) => id === 'nvidia-a10g');
        assert.deepEqual(a10g.conflicts.map(({ field }) => field),
            ['memory_bytes', 'peak_flops_per_s.fp16']);
        assert.deepEqual(a10g.conflicts[0].values.map(({ value }) => value),
            [23028 * 2 ** 20, 22888 * 2 ** 20]);
        const int8 = entries.find(({ id }) => id === 'nvidia-b300-sxm').conflicts
            .find(({ field }) => field === 'peak_flops_per_s.int8');
        assert.deepEqual(int8.values.map(({ value }) => value), [153.5e12, 4500e12]);
    });

    test('the usual machines are ready to pick', async () => {
        const wanted = ['Leonardo Booster', 'LUMI-G', 'DGX A100', 'DGX H100', 'DGX H200', 'DGX B200',
            'DGX GB200 NVL72', 'p4d.24xlarge', 'p4de.24xlarge', 'p5.48xlarge', 'p5e.48xlarge',
            'p5en.48xlarge', 'p6-b200.48xlarge', 'p6-b300.48xlarge', 'ND A100 v4', 'NDm A100 v4',
            'ND H100 v5', 'ND H200 v5', 'a2-highgpu-8g', 'a2-ultragpu-8g', 'a3-highgpu-8g',
            'a3-megagpu-8g', 'a3-ultragpu-8g', 'a4-highgpu-8g', 'a4x-highgpu-4g',
            'BM.GPU.MI300X.8', 'BM.GPU4.8', 'BM.GPU.A100-v2.8', 'BM.GPU.H100.8', 'BM.GPU.H200.8',
            'gpu_8x_v100', 'nebius-h100-8', 'nebius-h200-8', 'nebius-b200-8'];
        for (const name of wanted) {
            const { status, json, text } = await client.get(`${nodes}/${encodeURIComponent(name)}`);
            assert.equal(status, 200, `${name}: ${text}`);
            assert.ok(json.accelerator !== null && json.accelerators_per_node > 0, name);
        }
    });
});

describe('a private accelerator', () => {
    test('is created, read back, replaced and removed', async () => {
        const created = await put(`${parts}/lab-1`, chip({ name: 'Lab One' }));
        assert.equal(created.status, 201);
        const { json, headers } = await client.get(`${parts}/lab-1`);
        assert.deepEqual(json, created.json);
        assert.equal(headers.etag, created.headers.etag);
        assert.equal(json.origin, 'private');
        assert.equal(json.provenance, 'user');
        assert.deepEqual((await list(`${parts}?origin=private`)).map(({ id }) => id), ['lab-1']);
        const replaced = await put(`${parts}/lab-1`, chip({ memory_bytes: 2e11 }));
        assert.equal(replaced.status, 200);
        assert.equal(replaced.json.memory_bytes, 2e11);
        assert.equal(replaced.json.created_at, created.json.created_at);
        assert.ok(replaced.json.revision > created.json.revision);
        await remove(`${parts}/lab-1`);
        assertProblem(await client.get(`${parts}/lab-1`), 404);
        assertProblem(await client.delete(`${parts}/lab-1`), 404, { code: 'hardware_not_found' });
    });

    test('what is not sent follows from the part it is like, and the answer says so', async () => {
        const { json: like } = await client.get(`${parts}/${h100}`);
        const { json } = await put(`${parts}/lab-2`, chip({ power_w: 500 }));
        const ratio = 800e12 / like.peak_flops_per_s.bf16;
        assert.equal(json.peak_flops_per_s.bf16, 800e12);
        assert.ok(Math.abs(json.peak_flops_per_s.fp8 / (like.peak_flops_per_s.fp8 * ratio) - 1) < 1e-9);
        assert.equal(json.scale_up_bytes_per_s, like.scale_up_bytes_per_s);
        assert.deepEqual(json.laws,
            { part: h100, products: 'scaled', attention: 'scaled', collectives: 'scaled' });
        assert.equal(json.like, h100);
        assert.equal(json.like_assumed, false);
        assert.deepEqual(json.scaled_from_like, ['peak_flops_per_s.fp16', 'peak_flops_per_s.tf32',
            'peak_flops_per_s.fp32', 'peak_flops_per_s.fp8', 'scale_up_bytes_per_s',
            'host_bytes_per_s', 'scale_up_domain']);
        const plain = await put(`${parts}/lab-2`, chip({ like: null }));
        assert.equal(plain.json.like_assumed, true);
        assert.deepEqual(plain.json.scaled_from_like, []);
        assert.equal(plain.json.peak_flops_per_s.fp8, null);
        const zero = await put(`${parts}/lab-2`, chip({ peak_flops_per_s: { bf16: 8e14, fp8: 0 } }));
        assert.equal(zero.json.peak_flops_per_s.fp8, null, 'said not to be there');
        await remove(`${parts}/lab-2`);
    });

    test('everything that computes can name it, until it is gone', async () => {
        const base = await client.post('/api/v1/estimates', estimate());
        const request = estimate({ cluster: { accelerator: 'lab-3' } });
        assertProblem(await client.post('/api/v1/estimates', request), 422,
            { code: 'unknown_accelerator', pointer: '/cluster/accelerator' });
        await put(`${parts}/lab-3`, chip({ aliases: ['third of the lab'] }));

        const { status, json, text } = await client.post('/api/v1/estimates', request);
        assert.equal(status, 200, text);
        assert.equal(json.memory.capacity_bytes, 100_000_000_000);
        assert.equal(json.resolved.cluster.accelerator, 'lab-3');
        assert.ok(codes(json).includes('private_accelerator'), text.slice(-900));
        assert.ok(codes(json).includes('private_rates_scaled'));
        assert.notEqual(json.catalog_revision, base.json.catalog_revision);
        const byAlias = estimate({ cluster: { accelerator: 'Third of the Lab' } });
        assert.equal((await client.post('/api/v1/estimates', byAlias)).json.time.step_s,
            json.time.step_s);

        for (const path of ['comparisons', 'timelines', 'shardings', 'estimates:choices']) {
            const answer = await client.post(`/api/v1/${path}`, request);
            assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 500)}`);
            if (path !== 'estimates:choices')
                assert.ok(codes(answer.json).includes('private_accelerator'), path);
        }
        const spec = inventory();
        spec.pools[0].node = { accelerator: 'lab-3', accelerators: 8 };
        const stored = await put('/api/v1/inventories/lab', spec);
        assert.equal(stored.json.status.hardware.pools[0].usable_bytes_per_accelerator, 99e9);
        const inside = { ...request, cluster: { inventory: 'lab', nodes: 1 } };
        assert.equal((await client.post('/api/v1/estimates', inside)).json.time.step_s,
            json.time.step_s);

        const heavy = { ...request, model: { config: large } };
        const quick = await client.post('/api/v1/estimates', heavy);
        await put(`${parts}/lab-3`, chip({ peak_flops_per_s: { bf16: 400e12 } }));
        const slow = await client.post('/api/v1/estimates', heavy);
        assert.ok(slow.json.time.step_s > 1.3 * quick.json.time.step_s,
            `${slow.json.time.step_s} ${quick.json.time.step_s}`);
        assert.notEqual(slow.json.input_hash, quick.json.input_hash);

        await remove(`${parts}/lab-3`);
        assertProblem(await client.post('/api/v1/estimates', request), 422,
            { code: 'unknown_accelerator' });
        const again = await client.post('/api/v1/estimates', estimate());
        assert.equal(again.text, base.text, 'what does not name it never changed');
    });

    test('a twin of a measured part is priced as that part, but for what was measured of it alone', async () => {
        const { json: twin } = await client.get(`${parts}/${h100}`);
        await put(`${parts}/twin`, {
            memory_bytes: twin.memory_bytes, reserved_bytes: twin.reserved_bytes,
            memory_bandwidth_bytes_per_s: twin.memory_bandwidth_bytes_per_s,
            peak_flops_per_s: twin.peak_flops_per_s, like: h100 });
        const ask = async (accelerator) =>
            (await client.post('/api/v1/estimates', estimate({ cluster: { accelerator } }))).json;
        const [one, other] = [await ask(h100), await ask('twin')];
        assert.equal(other.memory.usable_bytes, one.memory.usable_bytes);
        assert.ok(Math.abs(other.time.step_s / one.time.step_s - 1) < 0.25,
            `${other.time.step_s} ${one.time.step_s}`);
        await remove(`${parts}/twin`);
    });

    test('all its faults are told at once, where they are', async () => {
        const wrong = { memory_bytes: -1, reserved_bytes: 'much', peak_flops_per_s: { bf17: 1 },
            like: 'a100', aliases: ['', 'x|y'], release_year: 3, id: 'other', color: 'red' };
        const { json } = await client.put(`${parts}/lab-4`, wrong);
        const found = json.errors.map(({ pointer, code }) => `${pointer} ${code}`);
        for (const fault of ['/memory_bytes out_of_range', '/reserved_bytes wrong_type',
            '/memory_bandwidth_bytes_per_s required_field', '/peak_flops_per_s/bf17 unknown_field',
            '/aliases/0 invalid_text', '/aliases/1 invalid_text', '/release_year out_of_range',
            '/id inconsistent', '/color unknown_field'])
            assert.ok(found.includes(fault), `${fault} is not among ${found.join('; ')}`);
        for (const [rest, code, pointer] of [
            [{ like: 'a100' }, 'ambiguous_accelerator', '/like'],
            [{ like: 'nothing such' }, 'unknown_accelerator', '/like'],
            [{ like: null, peak_flops_per_s: { fp32: 1e13 } }, 'required_field', '/like'],
            [{ peak_flops_per_s: { bf16: 0 } }, 'required_field', '/peak_flops_per_s'],
            [{ reserved_bytes: 2e11 }, 'inconsistent', '/reserved_bytes'],
            [{ name: 'NVIDIA H200' }, 'name_taken', '/name'],
            [{ aliases: ['mine', 'h100'] }, 'name_taken', '/aliases/1']])
            assertProblem(await client.put(`${parts}/lab-4`, chip(rest)), 422, { code, pointer });
        assertProblem(await client.put(`${parts}/Lab%204`, chip()), 422, { code: 'invalid_id' });
        const passed = await client.put(`${parts}/lab-4?unknown=warn&dry_run=true`,
            chip({ color: 'red' }));
        assert.equal(passed.status, 200, passed.text);
        assert.equal(passed.json.warnings.length, 1);
    });

    test('the catalogue keeps its names', async () => {
        for (const name of [h100, 'h100', 'NVIDIA%20H200'.toLowerCase().replaceAll('%20', '-')]) {
            const refused = await client.put(`${parts}/${name}`, chip());
            assertProblem(refused, 409, { code: 'catalog_entry' });
        }
        assertProblem(await client.put(`${nodes}/dgx-h100`, machine()), 409,
            { code: 'catalog_entry', says: /dgx-h100/ });
        assertProblem(await client.delete(`${parts}/${h100}`), 409, { code: 'catalog_entry' });
        await put(`${parts}/lab-5`, chip());
        assertProblem(await client.put(`${parts}/lab-6`, chip({ like: 'lab-5' })), 422,
            { code: 'not_of_the_catalogue', pointer: '/like' });
        await remove(`${parts}/lab-5`);
    });

    test('conditions and dry runs are those of inventories', async () => {
        const path = `${parts}/guarded`;
        assert.equal((await put(`${path}?dry_run=true`, chip())).json.id, 'guarded');
        assertProblem(await client.get(path), 404);
        const { headers: { etag } } = await put(path, chip(), { headers: { 'If-None-Match': '*' } });
        assertProblem(await client.put(path, chip({ power_w: 1 }),
            { headers: { 'If-None-Match': '*' } }), 412, { code: 'hardware_exists' });
        const same = await put(path, Object.fromEntries(Object.entries(chip()).reverse()));
        assert.equal(same.headers.etag, etag, 'the same spec is no change');
        assert.equal((await client.get(path, { headers: { 'If-None-Match': etag } })).status, 304);
        const answers = await Promise.all(Array.from({ length: 8 }, (_, i) =>
            client.put(path, chip({ power_w: 100 + i }), { headers: { 'If-Match': etag } })));
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(412)]);
        assertProblem(await client.delete(path, { headers: { 'If-Match': etag } }), 412,
            { code: 'revision_mismatch' });
        assert.equal((await client.delete(`${path}?dry_run=true`)).status, 200);
        const spec = await client.get(`${path}?view=spec`);
        assert.equal(spec.headers.etag.includes('-'), false);
        const { status } = await client.delete(path, { headers: { 'If-Match': spec.headers.etag } });
        assert.equal(status, 200);
        const anew = await put(path, chip());
        assert.notEqual(anew.headers.etag, etag, 'a revision never comes back');
        await remove(path);
    });

    test('whoever changes it is written down, and a delete answers in the view asked for', async () => {
        await put(`${parts}/noted`, chip());
        await put(`${parts}/noted`, chip());
        await put(`${parts}/noted`, chip({ memory_bytes: 90_000_000_000 }),
            { headers: { 'User-Agent': 'terraform/1.9' } });
        const { text } = await client.get(`${parts}/noted?view=spec`);
        assert.equal((await client.delete(`${parts}/noted?dry_run=true&view=spec`)).text, text);
        assert.equal((await client.delete(`${parts}/noted?view=spec`)).text, text);
        const { json } = await client.get(`${parts}/noted/audit`);
        assert.deepEqual(json.items.map(({ action }) => action), ['delete', 'put', 'put']);
        assert.equal(json.items[0].revision, json.items[1].revision, 'what it deleted');
        assert.equal(json.items[1].user_agent, 'terraform/1.9');
        assert.ok(json.items.every((item) => item.remote_address === '127.0.0.1'));
        const first = await client.get(`${parts}/noted/audit?limit=1`);
        assert.match(first.headers.link, /rel="next"/);
        assertProblem(await client.get(`${parts}/never-put/audit`), 404,
            { code: 'hardware_not_found' });
        for (const path of [`${nodes}/noted-node`, `${nodes}/aws-p5.48xlarge/price`]) {
            await put(path, path.endsWith('price') ? { price_per_node_hour: 9 } : machine());
            await remove(`${path}?view=spec`);
            assert.deepEqual((await list(`${path}/audit`)).map(({ action }) => action),
                ['delete', 'put']);
        }
    });

    test('its spec comes back exactly as it was sent', async () => {
        const body = '{"peak_flops_per_s":{"bf16":8.00e14},"like":"nvidia-h100-sxm5-80gb",'
            + '"memory_bandwidth_bytes_per_s":4000000000000,"memory_bytes":100000000000,'
            + '"note":"a \\"quoted\\", comma,\\nand a second line","annotations":{"z":1,"a":2}}';
        const options = { body, headers: { 'Content-Type': 'application/json' } };
        const sent = await client.request('PUT', `${parts}/exact?view=spec`, options);
        assert.equal(sent.text, body);
        assert.equal((await client.get(`${parts}/exact?view=spec`)).text, body);
        assert.equal((await client.get(`${parts}/exact`)).json.note, JSON.parse(body).note);
        assertProblem(await client.get(`${parts}/${h100}?view=spec`), 404);
        await remove(`${parts}/exact`);
    });
});

describe('private node types and prices', () => {
    test('a node type of a private part is assumed for it, and keeps it', async () => {
        await put(`${parts}/lab-7`, chip());
        await put(`${nodes}/lab-node`, machine({
            accelerator: 'lab-7', accelerators_per_node: 16, reference: true,
            nics: { count: 4, bytes_per_s: 5e10, kind: 'roce' },
            price_per_node_hour: 40, price_currency: 'EUR', price_date: '2026-11' }));
        const request = estimate({ cluster: { accelerator: undefined, node_type: 'lab-node',
            accelerators_per_node: undefined }, parallelism: { data: 4 } });
        const { status, json, text } = await client.post('/api/v1/estimates', request);
        assert.equal(status, 200, text);
        assert.equal(json.resolved.cluster.accelerators_per_node, 16);
        assert.equal(json.resolved.cluster.price_per_node_hour, 40);
        const said = new Map(json.assumptions.map(({ code, message }) => [code, message]));
        assert.ok(said.has('private_node_type') && said.has('private_accelerator'));
        assert.match(said.get('price_assumed'), /private price .* 40\.00 EUR/);
        assertProblem(await client.delete(`${parts}/lab-7`), 409, { code: 'in_use' });
        await remove(`${nodes}/lab-node`);
        await remove(`${parts}/lab-7`);
    });

    test('faults of a node type are told where they are', async () => {
        for (const [rest, code, pointer] of [
            [{ accelerator: 'nothing' }, 'unknown_accelerator', '/accelerator'],
            [{ accelerators_per_node: null }, 'required_field', '/accelerators_per_node'],
            [{ reference: true }, 'inconsistent', '/reference'],
            [{ nics: { count: 2 } }, 'required_field', '/nics/bytes_per_s'],
            [{ price_currency: 'EUR' }, 'required_field', '/price_per_node_hour'],
            [{ price_per_node_hour: 1, price_currency: 'euro' }, 'out_of_range', '/price_currency'],
            [{ price_per_node_hour: 1, price_date: 'now' }, 'invalid_text', '/price_date'],
            [{ aliases: ['p5.48xlarge'] }, 'name_taken', '/aliases/0']])
            assertProblem(await client.put(`${nodes}/lab-8`, machine(rest)), 422,
                { code, pointer });
    });

    test('a price of one\'s own counts in place of the list price, until it is removed', async () => {
        const path = `${nodes}/aws-p5.48xlarge`;
        const { json: before } = await client.get(path);
        assert.equal(before.price_origin, 'catalog');
        await put(`${path}/price`, { price_per_node_hour: 31.5, price_date: '2026-11-01' });
        const { json: now } = await client.get(path);
        assert.deepEqual([now.price_per_node_hour, now.price_currency, now.price_origin, now.origin],
            [31.5, 'USD', 'private', 'catalog']);
        const request = estimate({ cluster: { accelerator: undefined, node_type: 'p5.48xlarge' } });
        const { json } = await client.post('/api/v1/estimates', request);
        assert.equal(json.resolved.cluster.price_per_node_hour, 31.5);
        await remove(`${path}/price`);
        assert.deepEqual((await client.get(path)).json, before);
        assertProblem(await client.delete(`${path}/price`), 404);
        assertProblem(await client.put(`${nodes}/nothing/price`, { price_per_node_hour: 1 }), 404);
        assertProblem(await client.put(`${path}/price`, {}), 422, { code: 'required_field' });
        await put(`${nodes}/lab-9`, machine());
        assertProblem(await client.put(`${nodes}/lab-9/price`, { price_per_node_hour: 1 }), 409,
            { code: 'private_entry' });
        await remove(`${nodes}/lab-9`);
    });
});

/** Another process on the same database, ready, until the test ends. */
async function replica(t) {
    const other = await startServer({ database: server.database });
    t.after(() => stopClean(other));
    const there = await connectTo(other);
    await becomes(async () => (await there.get('/readyz')).status, 200, 5);
    return there;
}

/** Asks until it is as expected; the seconds that took. */
async function becomes(ask, expected, within_s) {
    const start = performance.now();
    for (;;) {
        const found = await ask();
        const passed_s = (performance.now() - start) / 1000;
        if (found === expected)
            return passed_s;
        assert.ok(passed_s < within_s, `still ${found} after ${passed_s.toFixed(2)} s`);
        await sleep(25);
    }
}

describe('replicas', () => {
    test('see each other\'s rows within two seconds, and agree', async (t) => {
        const there = await replica(t);
        const request = estimate({ cluster: { accelerator: 'shared-1' } });
        const status = async (who) => (await who.post('/api/v1/estimates', request)).status;
        const revision = async (who) => (await who.get('/version')).json.catalog_revision;
        assert.equal(await status(there), 422);
        await put(`${parts}/shared-1`, chip());
        assert.equal(await status(client), 200, 'at once where it was put');
        await becomes(() => status(there), 200, 2);
        assert.equal(await revision(there), await revision(client));
        const bodies = await Promise.all([client, there].map((who) =>
            who.post('/api/v1/estimates', request)));
        assert.equal(bodies[0].text, bodies[1].text);

        const { status: removed } = await there.delete(`${parts}/shared-1`);
        assert.equal(removed, 200);
        assert.equal(await status(there), 422);
        await becomes(() => status(client), 422, 2);
        assert.equal(await revision(there), await revision(client));
    });

    test('a new one has every row, before it says that it is ready', async (t) => {
        await put(`${parts}/kept-1`, chip());
        const there = await replica(t);
        assert.equal((await there.get(`${parts}/kept-1`)).status, 200);
        await remove(`${parts}/kept-1`);
    });

    test('rows may change under estimates that run', async () => {
        let busy = true;
        const request = estimate({ cluster: { accelerator: 'flipping' } });
        const asking = Array.from({ length: 4 }, async () => {
            const seen = new Set();
            while (busy)
                seen.add((await client.post('/api/v1/estimates', request)).status);
            return seen;
        });
        for (let i = 0; i < 12; i++) {
            await put(`${parts}/flipping`, chip({ power_w: 300 + i }));
            if (i % 3 === 2)
                await remove(`${parts}/flipping`);
        }
        busy = false;
        for (const seen of await Promise.all(asking))
            assert.ok([...seen].every((status) => status === 200 || status === 422), [...seen]);
    });
});

describe('without a database', () => {
    let alone;
    let asked;
    before(async () => {
        alone = await startServer();
        asked = await connectTo(alone);
    });
    after(() => stopClean(alone));

    test('the catalogue is all there is, and a spec can still be checked', async () => {
        assert.equal((await asked.get(`${parts}?origin=private`)).json.items.length, 0);
        assertProblem(await asked.put(`${parts}/lab-1`, chip()), 503,
            { code: 'database_not_configured' });
        assertProblem(await asked.delete(`${parts}/lab-1`), 503,
            { code: 'database_not_configured' });
        const checked = await asked.put(`${parts}/lab-1?dry_run=true`, chip());
        assert.equal(checked.status, 200, checked.text);
        assert.equal(checked.json.origin, 'private');
        assertProblem(await asked.put(`${parts}/lab-1?dry_run=true`, {}), 422);
        assertProblem(await asked.post('/api/v1/estimates',
            estimate({ cluster: { accelerator: 'lab-1' } })), 422, { code: 'unknown_accelerator' });
    });
});
