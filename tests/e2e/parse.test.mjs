/** Raw tool output over HTTP: what is read, what is refused and why, and that it becomes a spec. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { estimate } from './lib/fixtures.mjs';
import { connectTo } from './lib/http.mjs';
import { startServer, stopClean } from './lib/server.mjs';

const shared = fileURLToPath(new URL('../../../shared/inventories', import.meta.url));
let server;
let client;

before(async () => {
    server = await startServer({ database: true });
    client = await connectTo(server);
});
after(() => stopClean(server));

const parse = (body, { query = '', type = 'text/plain', headers = {} } = {}) =>
    client.request('POST', `/api/v1/inventories:parse${query}`,
        { headers: { 'Content-Type': type, ...headers }, body });

const nodes = `NodeName=gpu[1-3] Arch=x86_64
   Gres=gpu:h100:8(S:0-1)
   RealMemory=2063937 State=IDLE
   CfgTRES=cpu=112,mem=2063937M,gres/gpu=8

NodeName=gpu4 Arch=x86_64
   Gres=gpu:h100:8(S:0-1)
   RealMemory=2063937 State=IDLE+DRAIN
   Reason=row remapping pending [root@2026-11-20T08:00:00]
`;
const csv = `name, memory.total [MiB], memory.reserved [MiB]\n${
    'NVIDIA H100 80GB HBM3, 81559 MiB, 480 MiB\n'.repeat(8)}`;

/** Several files as a form sends them. */
function form(files) {
    const boundary = 'x1x2x3';
    const parts = Object.entries(files).map(([name, text]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n`
        + `\r\n${text}\r\n`);
    return { body: `${parts.join('')}--${boundary}--\r\n`,
        type: `multipart/form-data; boundary=${boundary}` };
}

test('devices of another memory are another pool, even where nothing says which part they are', async () => {
    const of = (hosts, memory) => `NodeName=${hosts} CPUs=128 RealMemory=1031000 Gres=gpu:a100:8 Feature=a100,${memory}\n`;
    const { json } = await parse(of('g[1-4]', '80gb') + of('g[5-8]', '40gb'));
    assert.deepEqual(json.spec.pools.map(({ nodes: count, hosts }) => [count, hosts]), [[4, ['g[1-4]']], [4, ['g[5-8]']]]);
});

test('cards that a file counts are kept in the spec, at the rate that the report assumes', async () => {
    const pci = (at, kind, vendor, device) => `<pci busid="0000:${at}:00.0" class="${kind}" vendor="${vendor}" device="${device}"/>`;
    const { json } = await parse(`<system version="1"><cpu numaid="0">${[16, 17].map((at) => pci(at, '0x030200', '0x10de', '0x20b0')).join('')}
        ${pci(18, '0x020000', '0x1d0f', '0xefa1')}</cpu></system>`);
    const { nic_count: counted, nic_bytes_per_s: rate } = json.pools[0].fields;
    assert.deepEqual([counted.value, counted.origin, rate.origin], [1, 'file', 'default']);
    assert.deepEqual(json.spec.pools[0].node.nics, [{ count: 1, bytes_per_s: rate.value, kind: 'efa' }]);
});

test('what the scheduler calls h100 stays open, and strict refuses it by place', async () => {
    const { status, json } = await parse(nodes);
    assert.equal(status, 200);
    assert.equal(json.format, 'slurm_nodes_text');
    assert.equal(json.hosts.total, 4);
    assert.deepEqual(json.hosts.states, { unknown: 0, usable: 3, drained: 1, down: 0 });
    assert.equal(json.pools[0].groups[1].hosts[0], 'gpu4');
    assert.match(json.pools[0].groups[1].reason, /row remapping/);
    const [open] = json.unresolved;
    assert.equal(open.why, 'ambiguous');
    assert.equal(open.candidates.length, 3);
    assert.ok(open.candidates.every(({ accelerator }) => /h100/.test(accelerator)));
    assert.equal(json.pools[0].fields.accelerator.line, 2);

    const strict = await parse(nodes, { query: '?strict=true' });
    assert.equal(strict.status, 422);
    assert.equal(strict.json.errors[0].code, 'ambiguous_accelerator');
    assert.equal(strict.json.errors[0].pointer, '/pools/0/node/accelerator');
});

test('one nvidia-smi beside it decides, and what comes of it can be stored', async () => {
    const { body, type } = form({ 'nodes.txt': nodes, 'smi.csv': csv });
    const { status, json } = await parse(body, { type });
    assert.equal(status, 200);
    assert.deepEqual(json.files.map(({ name, format }) => [name, format]),
        [['nodes.txt', 'slurm_nodes_text'], ['smi.csv', 'nvidia_smi_csv']]);
    assert.deepEqual(json.unresolved, []);
    const [pool] = json.spec.pools;
    assert.equal(pool.node.accelerator, 'nvidia-h100-sxm5-80gb');
    assert.equal(pool.node.memory_bytes, 81559 * 2 ** 20);
    assert.equal(pool.node.reserved_bytes, 480 * 2 ** 20);
    assert.deepEqual(pool.hosts, ['gpu[1-4]']);
    const { memory_bytes: memory } = json.pools[0].fields;
    assert.equal(memory.origin, 'inferred');
    assert.equal(memory.file, 1);

    const put = await client.request('PUT', '/api/v1/inventories/parsed',
        { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(json.spec) });
    assert.equal(put.status, 201, put.text);
    const [stored] = put.json.status.hardware.pools;
    assert.equal(stored.usable_bytes_per_accelerator, (81559 - 480) * 2 ** 20);
});

test('links of each pair come through to the plans of what was stored', async () => {
    const four = `name, memory.total [MiB]\n${'NVIDIA A100-SXM4-80GB, 81920 MiB\n'.repeat(4)}`;
    const joined = readFileSync(new URL('../fixtures/inventories/nvidia_topo_direct.txt', import.meta.url), 'utf8');
    const { body, type } = form({ 'smi.csv': four, 'topo.txt': joined });
    const { status, json } = await parse(body, { type });
    assert.equal(status, 200);
    assert.equal(json.pools[0].fields.pair_links.value, 4);
    const { node } = json.spec.pools[0];
    assert.equal(node.scale_up_pair_bytes_per_s, 100e9, 'four of twelve links, 300 GB/s');
    const put = await client.put('/api/v1/inventories/joined', json.spec);
    assert.equal(put.status, 201, put.text);
    const answer = await client.post('/api/v1/estimates', { ...estimate({ parallelism: { pipeline: 1 } }),
        cluster: { inventory: 'joined' } });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.resolved.cluster.scale_up_pair_bytes_per_s, 100e9);
});

test('what several commands of a session printed is read as several files', async () => {
    const list = 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n'.repeat(8).replace(/0:|GPU-1/g,
        (() => { let i = 0; return (word) => (word === '0:' ? `${i}:` : `GPU-${i++}`); })());
    const session = `Last login: Thu Nov 27 09:00:00 2025\n[me@head ~]$ scontrol show nodes\n${nodes}`
        + `[me@head ~]$ sinfo --version\nslurm 23.11.10\n[me@head ~]$ ssh gpu1 nvidia-smi -L\n${list}`
        + '[me@head ~]$ \n';
    const { status, json, text } = await parse(session);
    assert.equal(status, 200, text);
    assert.equal(json.format, 'several');
    assert.deepEqual(json.files.map(({ name, format }) => [name, format]),
        [['scontrol show nodes', 'slurm_nodes_text'], ['ssh gpu1 nvidia-smi -L', 'nvidia_smi_list']]);
    assert.deepEqual(json.unresolved, []);
    assert.equal(json.pools[0].accelerator, 'nvidia-h100-sxm5-80gb');
    assert.equal(json.pools[0].fields.accelerator.line, 15, 'of the session, not of the output');
    const passed = json.warnings.filter(({ code }) => code === 'output_passed');
    assert.equal(passed.length, 1, JSON.stringify(json.warnings));
    assert.match(passed[0].message, /^sinfo --version: no format recognises/);

    const nothing = await parse('$ hostname\ngpu1\n$ uptime\n 10:00:00 up 1 day\n');
    assert.equal(nothing.status, 422);
    assert.deepEqual(nothing.json.errors.map(({ detail }) => detail.split(':')[0]),
        ['hostname', 'uptime']);
    const broken = await parse(`$ scontrol show nodes\n${nodes}$ kubectl get nodes -o json\n{"kind":\n`);
    assert.equal(broken.status, 400);
    assert.match(broken.json.errors[0].detail, /^kubectl get nodes -o json: line \d+/);
});

test('the links that a node prints are not all of its rack', async () => {
    const smi = `name, memory.total [MiB]\n${'NVIDIA GB200, 189471 MiB\n'.repeat(4)}`;
    const row = (i) => `GPU${i}\t${[0, 1, 2, 3].map((j) => (i === j ? ' X ' : 'NV18')).join('\t')}\t0-71\t0`;
    const topo = `\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n${
        [0, 1, 2, 3].map(row).join('\n')}\n`;
    const { body, type } = form({ 'smi.csv': smi, 'topo.txt': topo });
    const { status, json, text } = await parse(body, { type });
    assert.equal(status, 200, text);
    const { scale_up_domain: domain } = json.pools[0].fields;
    assert.equal(domain.value, 72);
    assert.equal(domain.origin, 'default');
    assert.match(domain.reason, /rack/);
});

test('a share of a card is told and not planned with, all of one counts', async () => {
    const row = (name, mib) => `name, memory.total [MiB]\n${`${name}, ${mib} MiB\n`.repeat(2)}`;
    const { status, json } = await parse(row('GRID A100DX-40C', 40960));
    assert.equal(status, 200);
    assert.equal(json.spec, null);
    assert.equal(json.pools[0].accelerator, 'nvidia-a100-sxm4-80gb');
    assert.equal(json.pools[0].accelerators, 0);
    assert.equal(json.pools[0].fields.slice.value, 'vGPU A100DX-40C');
    assert.deepEqual(json.warnings.map(({ code }) => code), ['sliced', 'vgpu_shares']);

    const whole = await parse(row('GRID A100DX-80C', 81920));
    assert.equal(whole.json.spec.pools[0].node.accelerators, 2);
    assert.ok(whole.json.warnings.some(({ code }) => code === 'vgpu_whole'));
});

test('links of one machine are not taken for another part that has fewer', async () => {
    const matrix = `\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-55\nGPU1\tNV18\t X \t0-55\n`;
    const { body, type } = form({ 'topo.txt': matrix,
        'nodes.txt': 'NodeName=new Gres=gpu:h100-sxm5-80gb:2 State=IDLE\n\n'
            + 'NodeName=old Gres=gpu:a100-sxm4-80gb:2 State=IDLE\n' });
    const { json, text } = await parse(body, { type });
    assert.deepEqual(json.pools.map(({ accelerator, fields }) => [accelerator, fields.links?.value]),
        [['nvidia-h100-sxm5-80gb', 18], ['nvidia-a100-sxm4-80gb', undefined]], text);
});

test('the links of a bridge are its cards\'', async () => {
    const matrix = `\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-55\nGPU1\tNV4\t X \t0-55\n`;
    for (const [type, id] of [['rtx_a6000', 'nvidia-rtx-a6000'], ['nvidia-rtx-3090', 'nvidia-rtx-3090'], ['nvidia-a40', 'nvidia-a40']]) {
        const file = form({ 'topo.txt': matrix, 'nodes.txt': `NodeName=n1 Gres=gpu:${type}:2 State=IDLE\n` });
        const { json, text } = await parse(file.body, { type: file.type });
        assert.deepEqual(json.pools.map(({ accelerator, fields }) => [accelerator, fields.links?.value]), [[id, 4]], text);
    }
});

test('a type with the memory of a slice is told, and no plan is made on it unasked', async () => {
    const gres = (type) => `NodeName=n1 Gres=gpu:${type}:7 State=IDLE RealMemory=500000\n`;
    for (const type of ['a100_10gb', 'h100_nvl_12gb']) {
        const { json, text } = await parse(gres(type));
        const [told] = json.warnings.filter(({ code }) => code === 'slices_by_name');
        assert.match(told?.message ?? text, /the 7 of a node count as whole ones/);
        assert.equal((await parse(gres(type), { query: '?strict=true' })).status, 422);
    }
    for (const type of ['a100_80gb', 'a100_40gb', 'a100', 'h100_nvl_94gb', 'v100_16gb']) {
        const { json, text } = await parse(gres(type));
        assert.ok(json.warnings.every(({ code }) => code !== 'slices_by_name'), text);
    }
});

test('gzip is read as what it holds', async () => {
    const { status, json } = await parse(gzipSync(nodes),
        { type: 'application/gzip', headers: { 'Content-Encoding': 'gzip' } });
    assert.equal(status, 200);
    assert.equal(json.format, 'slurm_nodes_text');
});

test('what is no output of a known tool is refused by name', async () => {
    const unknown = await parse('Dear all,\nthe cluster has many GPUs.\n');
    assert.equal(unknown.status, 422);
    assert.equal(unknown.json.errors[0].code, 'unknown_format');
    const named = await parse(nodes, { query: '?format=slurm_nodes_jso' });
    assert.equal(named.status, 422);
    assert.equal(named.json.errors[0].hint, 'slurm_nodes_json');
    const wrong = await parse(nodes, { query: '?format=slurm_nodes_json' });
    assert.equal(wrong.status, 400, wrong.text);
    const empty = await parse('');
    assert.equal(empty.status, 400);
    const cut = await parse('{"nodes":[{"name":"a","gres":"gpu:h100:8"');
    assert.equal(cut.status, 400);
    assert.equal(cut.json.errors[0].code, 'malformed_json');
});

test('every fault of several files is told at once', async () => {
    const { body, type } = form({ 'a.json': '{"nodes":[{', 'b.txt': 'nothing known\n' });
    const { status, json } = await parse(body, { type });
    assert.equal(status, 400);
    assert.equal(json.errors.length, 2, JSON.stringify(json));
    assert.match(json.errors[0].detail, /^a\.json: /);
    assert.match(json.errors[1].detail, /^b\.txt: no format recognises/);
});

test('a host with and without its domain is one, and one listed device is no node', async () => {
    const { body, type } = form({
        'nodes.txt': nodes,
        'gpus.csv': `host, name, memory.total [MiB]\n${
            'gpu1.cluster.example, NVIDIA H100 80GB HBM3, 81559 MiB\n'.repeat(8)}`,
        'nvlink.txt': 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n',
        'gres.conf': 'AutoDetect=nvml\n',
    });
    const { status, json } = await parse(body, { type });
    assert.equal(status, 200, JSON.stringify(json));
    assert.equal(json.hosts.total, 4, JSON.stringify(json.hosts));
    const codes = json.warnings.map(({ code }) => code);
    for (const code of ['host_names_shortened', 'one_device_listed', 'no_hosts'])
        assert.ok(codes.includes(code), `${code} of ${codes}`);
    for (const { node } of json.spec.pools)
        assert.equal(node.accelerators, 8);
});

test('known tables for people are refused with what to send', async () => {
    const { status, json } = await parse('NAME  STATUS  ROLES  AGE  VERSION\nn1  Ready  <none>  1d  v1\n');
    assert.equal(status, 422);
    assert.equal(json.errors[0].code, 'unknown_format');
    assert.equal(json.errors[0].hint, 'kubectl get nodes -o json');
});

test('the formats are listed', async () => {
    const { status, json } = await client.request('GET', '/api/v1/inventories:formats');
    assert.equal(status, 200);
    const names = json.items.map(({ name }) => name);
    for (const name of ['slurm_nodes_json', 'slurm_conf', 'kubernetes_nodes', 'kubernetes_slices',
        'kubernetes_describe', 'nvidia_smi_xml', 'dcgm_discovery'])
        assert.ok(names.includes(name), name);
    assert.equal(new Set(names).size, names.length);
});

/* File, format, and [accelerator or null, nodes, accelerators of a node] of each pool. */
const real = [
    ['k8s_node_t4_gfd.yaml', 'kubernetes_nodes', [['nvidia-t4', 1, 2]]],
    ['nvidia_smi_query_gpu_h200x8.csv', 'nvidia_smi_csv', [['nvidia-h200-sxm-141gb', 1, 8]]],
    ['nvidia_smi_qx_a100_mig.xml', 'nvidia_smi_xml', [['nvidia-a100-sxm4-80gb', 1, 4]]],
    ['nvidia_smi_qx_a100_sxm4_40gb.xml', 'nvidia_smi_xml', [['nvidia-a100-sxm4-40gb', 1, 1]]],
    ['nvidia_smi_qx_a10g.xml', 'nvidia_smi_xml', [['nvidia-a10g', 1, 1]]],
    ['nvidia_smi_qx_gb200x4.xml', 'nvidia_smi_xml', [['nvidia-gb200', 1, 4]]],
    ['nvidia_smi_qx_l40s.xml', 'nvidia_smi_xml', [['nvidia-l40s', 1, 1]]],
    ['nvidia_smi_topo_m_h200x8.txt', 'nvidia_topo', [[null, 1, 8]]],
    ['slurm_gres.conf', 'slurm_gres_conf', [[null, 5, 2], [null, 10, 8]]],
    ['slurm_partition_gpu.conf', 'slurm_conf', [[null, 5, 2], ['nvidia-v100-sxm2-32gb', 10, 8]]],
    ['slurm_scontrol_show_node.txt', 'slurm_nodes_text',
        [[null, 1, 8], ['nvidia-quadro-rtx-8000', 1, 8], [null, 1, 8], [null, 1, 8], [null, 1, 8]]],
    ['slurm_sinfo_pipe.txt', 'slurm_sinfo_text', [[null, 2, 8], [null, 1, 2]]],
    ['slurm_sinfo_v0.0.37.json', 'slurm_nodes_json', []],
    ['slurm_topology_block.conf', 'slurm_topology_conf', []],
    ['slurm_topology_tree.conf', 'slurm_topology_conf', []],
    ['slurmrestd_v0.0.41_node_gpu.json', 'slurm_nodes_json', [[null, 1, 4]]],
    ['slurmrestd_v0.0.44_nodes.json', 'slurm_nodes_json', [[null, 2, 4], [null, 2, 4]]],
];
test('real outputs are read', { skip: !existsSync(shared) }, async (t) => {
    for (const [file, format, pools] of real)
        await t.test(file, async () => {
            const { status, json, text } = await parse(readFileSync(`${shared}/${file}`));
            assert.equal(status, 200, text);
            assert.equal(json.format, format);
            assert.deepEqual(json.pools.map((pool) => [pool.accelerator, pool.nodes,
                pool.fields.accelerators?.value]), pools);
            assert.equal(json.spec === null, pools.length === 0);
        });
});
