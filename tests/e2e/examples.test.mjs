/**
 * docker/examples, executed as they stand: the scripts on what stand-ins for the cluster's tools
 * print, the playbook by Ansible itself. Terraform is not packaged; the requests that its generic
 * providers send with these files are sent in its place.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { send } from './lib/http.mjs';
import { assertProblem } from './lib/problems.mjs';
import { cleanEnvironment, run } from './lib/processes.mjs';
import { root, startServer, stopClean } from './lib/server.mjs';
import { kubectlNodes, nvidiaSmi, scontrolNodes } from './lib/tools.mjs';

const examples = join(root, 'docker/examples');
const base = '/api/v1/inventories';
const read = (name) => readFile(join(examples, name), 'utf8');
const CURL_REFUSED = 22;

let folder;
let server;

before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slex-'));
    await symlink(join(root, 'docker'), join(folder, 'docker'));
    server = await startServer({ database: true });
});
after(async () => {
    await stopClean(server);
    await rm(folder, { recursive: true, force: true });
});

/** One request; what its answers look like is for the tests of each resource to say. */
function ask(method, path, json, headers = {}) {
    return send(server.url, method, path, json === undefined ? { headers } : {
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(json),
    });
}

const stored = (slug) => ask('GET', `${base}/${slug}`);

/** A tool of the cluster that prints this when it is asked exactly so. */
async function standIn(name, asked, prints) {
    await writeFile(join(folder, `${name}.printed`), prints);
    await writeFile(join(folder, name), '#!/bin/sh\n'
        + `[ "$*" = '${asked}' ] || { echo "${name} was asked $*" >&2; exit 64; }\n`
        + `cat '${join(folder, `${name}.printed`)}'\n`);
    await chmod(join(folder, name), 0o755);
}

/** A command line as somebody types it at the root of a checkout. */
function shell(line, env = {}) {
    return run('sh', ['-c', line], { cwd: folder, env: cleanEnvironment({
        PATH: [folder, examples, process.env.PATH].join(delimiter),
        HOME: folder,
        SHARDLINE: server.url,
        SPREAD_S: '0',
        ...env,
    }) });
}

/** The one command line that the head of an example offers for this tool. */
async function offered(example, pattern) {
    const lines = (await read(example)).split('\n').filter((line) => line.startsWith('#   '))
        .map((line) => line.slice(4)).filter((line) => pattern.test(line));
    assert.equal(lines.length, 1, `${example} offers ${pattern} once`);
    return lines[0];
}

test('every example is one its shell reads, and says what it is for', async () => {
    for (const name of ['submit.sh', 'observe.sh', 'gate.sh']) {
        assert.equal((await run('sh', ['-n', join(examples, name)])).code, 0, name);
        const { code, stderr } = await shell(`${name} </dev/null`);
        assert.equal(code, 2, name);
        assert.match(stderr, new RegExp(`^usage: .*${name}`));
    }
});

test('what Slurm knows is stored, and the same again is the same revision', async () => {
    await standIn('scontrol', 'show nodes --json', scontrolNodes());
    const line = await offered('submit.sh', /^scontrol .* hal$/);
    for (let time = 0; time < 2; time++) {
        const { code, stdout, stderr } = await shell(line);
        assert.equal(code, 0, stderr);
        assert.equal(stdout, 'hal: revision 1, 4 nodes, 32 accelerators\n');
    }
    const { json } = await stored('hal');
    assert.deepEqual(json.spec.pools.map(({ hosts, node }) => [hosts, node.accelerator]),
        [[['gpu[001-004]'], 'nvidia-h100-sxm5-80gb']]);
});

test('what Kubernetes knows is stored', async () => {
    await standIn('kubectl', 'get nodes -o json', kubectlNodes({ hosts: 3 }));
    const { code, stdout, stderr } = await shell(await offered('submit.sh', /^kubectl /));
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'blue: revision 1, 3 nodes, 24 accelerators\n');
});

test('one machine is stored from what its driver says', async () => {
    await standIn('nvidia-smi', '-q -x', nvidiaSmi({ devices: 2 }));
    const { code, stdout, stderr } = await shell(await offered('submit.sh', /^nvidia-smi /));
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'workstation: revision 1, 1 nodes, 2 accelerators\n');
    const { json } = await stored('workstation');
    assert.equal(json.spec.pools[0].node.memory_bytes, 81559 * 2 ** 20);
});

test('a name that means several parts is refused, and decided by a file of one node', async () => {
    await standIn('scontrol', 'show nodes --json', scontrolNodes({ gpu: 'h100' }));
    await ask('DELETE', `${base}/hal`);
    const alone = await shell(await offered('submit.sh', /^scontrol .* hal$/));
    assert.equal(alone.code, CURL_REFUSED, alone.stdout);
    assert.match(alone.stderr, /\/pools\/0\/node\/accelerator .*"h100"/);
    assertProblem(await stored('hal'), 404);

    await writeFile(join(folder, 'node.xml'), nvidiaSmi());
    await writeFile(join(folder, 'topology.conf'),
        'SwitchName=leaf1 Nodes=gpu[001-002]\nSwitchName=leaf2 Nodes=gpu[003-004]\n'
        + 'SwitchName=spine Switches=leaf[1-2]\n');
    const { code, stdout, stderr } = await shell(await offered('submit.sh', /node\.xml/));
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^hal: revision \d+, 4 nodes, 32 accelerators\n$/);
    const [{ node }] = (await stored('hal')).json.spec.pools;
    assert.equal(node.accelerator, 'nvidia-h100-sxm5-80gb');
    assert.equal(node.memory_bytes, 81559 * 2 ** 20);
});

/** Captures of real tools, where somebody has put them beside the checkout. */
const captures = join(root, '../shared/inventories');

test('what real tools printed is stored or refused in words', {
    skip: existsSync(captures) ? false : 'no captures here',
}, async () => {
    const names = (await readdir(captures)).filter((name) => name !== 'SOURCES.tsv');
    assert.ok(names.length > 0);
    let storedCount = 0;
    for (const name of names) {
        const { code, stdout, stderr } = await shell(`submit.sh captured <'${captures}/${name}'`);
        assert.ok([0, CURL_REFUSED].includes(code), `${name}: ${code} ${stderr}`);
        if (code === 0)
            assert.match(stdout, /^captured: revision \d+, [1-9]\d* nodes, \d+ accelerators\n$/, name);
        else
            assert.match(stderr.replace(/^curl: .*\n/m, ''), /\w{3}/, `${name} gives a reason`);
        storedCount += code === 0 ? 1 : 0;
    }
    assert.ok(storedCount > 0);
});

test('a tool that fails leaves the stored cluster alone', async () => {
    const { headers: { etag } } = await stored('hal');
    for (const fails of ['false', 'scontrol show --json', 'printf "{\\"nodes\\": ["']) {
        const { code, stderr } = await shell(`${fails} | submit.sh hal node.xml`);
        assert.notEqual(code, 0, fails);
        assert.notEqual(stderr, '');
    }
    assert.equal((await stored('hal')).headers.etag, etag);
});

test('the line for cron reports a drained node, quietly', async () => {
    await standIn('scontrol', 'show nodes --json', scontrolNodes({ drained: ['gpu003'] }));
    const [, when, command] = /^((?:\S+ ){5})(.*)$/.exec(await offered('observe.sh', /^\*/));
    assert.equal(when, '*/5 * * * * ');
    const line = command.replace('http://planner:8080', server.url);
    assert.notEqual(line, command);
    assert.deepEqual(await shell(line), { code: 0, stdout: '', stderr: '' });
    const { status, spec } = (await stored('hal')).json;
    assert.equal(status.hosts.usable, 3);
    assert.match(JSON.stringify(status.hosts.drained), /gpu003/);
    assert.equal(status.hosts.sources[0].stale_after_s, 900);
    assert.equal(spec.pools[0].nodes, 4, 'the description stays');

    const { code, stdout, stderr } = await shell(line.replace(' hal ', ' nowhere '));
    assert.deepEqual([code, stdout], [CURL_REFUSED, '']);
    assert.match(stderr, /no inventory is stored as/);
});

test('a report waits by chance, and comes again when it is told to', async (t) => {
    const asked = [];
    const busy = createServer((request, response) => {
        let text = '';
        request.on('data', (part) => { text += part; }).on('end', () => {
            asked.push({ at: performance.now(), text });
            response.writeHead(asked.length < 3 ? 503 : 200, { 'Retry-After': '1' }).end('{}');
        });
    });
    await new Promise((done) => busy.listen(0, '127.0.0.1', done));
    t.after(() => busy.close());
    const SHARDLINE = `http://127.0.0.1:${busy.address().port}`;
    await standIn('sleep', '7', '');
    await standIn('od', '-An -N2 -tu2 /dev/urandom', ' 133\n');
    t.after(() => Promise.all(['sleep', 'od'].map((name) => rm(join(folder, name)))));

    assert.deepEqual(await shell('echo up | observe.sh hal slurm', { SHARDLINE, SPREAD_S: '20' }),
        { code: 0, stdout: '', stderr: '' });
    assert.deepEqual(asked.map(({ text }) => text), Array(3).fill('up\n'));
    assert.ok(asked[2].at - asked[0].at > 1900, 'as long as it is told');

    asked.length = 0;
    await new Promise((done) => busy.close(done));
    const gone = await shell('echo up | observe.sh hal slurm', { SHARDLINE });
    assert.deepEqual([gone.code, gone.stdout], [7, '']);
    assert.match(gone.stderr, /connect/i);
});

test('the gate lets through what fits, and says what is missing of what does not', async () => {
    const line = await offered('gate.sh', /^docker/);
    const passed = await shell(line);
    assert.equal(passed.code, 0, passed.stderr);
    assert.match(passed.stdout, /^fits with \d+(\.\d)? GiB to spare, \d+(\.\d+)? s per step\n$/);

    const request = JSON.parse(await read('run.json'));
    const { json: { memory } } = await ask('POST', '/api/v1/estimates', request);
    const tight = { memory_bytes: memory.device_total_bytes + memory.capacity_bytes - memory.usable_bytes };
    await writeFile(join(folder, 'narrow.json'), JSON.stringify({ ...request,
        cluster: { ...request.cluster, accelerator_overrides: tight } }));
    const narrow = await shell('gate.sh narrow.json');
    assert.match(narrow.stdout, /^fits narrowly with 0 GiB to spare/, narrow.stderr);
    const strict = await shell('REQUIRE=fits_certain gate.sh narrow.json');
    assert.deepEqual([strict.code, strict.stdout], [CURL_REFUSED, '']);
    assert.match(strict.stderr, /upper end/);

    const now = { ...request, cluster: { inventory: 'hal', nodes: 4 } };
    await writeFile(join(folder, 'now.json'), JSON.stringify(now));
    const drained = await shell('gate.sh now.json');
    assert.equal(drained.code, CURL_REFUSED, drained.stdout);
    assert.match(drained.stderr, /gpu003 is drained/);

    Object.assign(request.model.config, { num_hidden_layers: 96 });
    Object.assign(request.workload, { micro_batch_size: 4, recompute: 'none' });
    await writeFile(join(folder, 'large.json'), JSON.stringify(request));
    const stopped = await shell('gate.sh large.json');
    assert.equal(stopped.code, CURL_REFUSED, stopped.stdout);
    assert.equal(stopped.stdout, '');
    const refusal = await ask('POST', '/api/v1/estimates?require=fits', request);
    assertProblem(refusal, 409, { code: 'does_not_fit' });
    assert.ok(stopped.stderr.includes(refusal.json.detail), stopped.stderr);
    assert.ok(stopped.stderr.includes(refusal.json.estimate.binding.sentence), stopped.stderr);

    await writeFile(join(folder, 'typo.json'), '{"modell": {}}');
    const mistaken = await shell('gate.sh typo.json');
    assert.equal(mistaken.code, CURL_REFUSED);
    assert.match(mistaken.stderr, /\/modell is not a known field \(model\)/);
});

/** Plays the playbook; what its recap says, and everything it printed. */
async function play(slug, ...options) {
    const { code, stdout, stderr } = await run('ansible-playbook', ['-i', 'localhost,',
        join(examples, 'inventory.yml'), '-e', `shardline=${server.url}`, '-e', `slug=${slug}`,
        ...options], { cwd: folder, env: cleanEnvironment({
        HOME: folder,
        ANSIBLE_LOCAL_TEMP: join(folder, 'ansible'),
        ANSIBLE_REMOTE_TEMP: join(folder, 'ansible'),
        ANSIBLE_NOCOLOR: '1',
    }) });
    const changed = /\bchanged=(\d+)/.exec(stdout)?.[1];
    return { code, changed: Number(changed), text: stdout + stderr };
}

test('the playbook asks first, writes once, and then changes nothing', async () => {
    const cluster = JSON.parse(await read('cluster.json'));
    const asked = await play('played', '--check');
    assert.equal(asked.code, 0, asked.text);
    assert.equal(asked.changed, 1, asked.text);
    assert.match(asked.text, /played: 4 nodes, 32 accelerators \(new\)/);
    assertProblem(await stored('played'), 404);

    const written = await play('played');
    assert.deepEqual([written.code, written.changed], [0, 1], written.text);
    assert.deepEqual((await ask('GET', `${base}/played?view=spec`)).json, cluster);

    const again = await play('played');
    assert.deepEqual([again.code, again.changed], [0, 0], again.text);
    assert.equal((await stored('played')).json.revision, 1);
});

test('the playbook with a revision of yesterday writes nothing', async () => {
    const other = { ...JSON.parse(await read('cluster.json')), name: 'another hand' };
    assert.equal((await ask('PUT', `${base}/played`, other)).json.revision, 2);
    const { code, text } = await play('played', '-e', '{"etag": "\\"1\\""}');
    assert.notEqual(code, 0, text);
    assert.match(text, /412/);
    assert.equal((await stored('played')).json.spec.name, 'another hand');
});

/** The settings of a block of a Terraform file that are texts, and the files it reads. */
async function terraform(path, block) {
    const text = await read(path);
    const start = text.indexOf(`${block} {`);
    assert.notEqual(start, -1, `${path} has ${block}`);
    const body = text.slice(start, text.indexOf('\n}\n', start));
    const settings = Object.fromEntries([...body.matchAll(/^ {2}(\w+) +=\s(.*)$/gm)]
        .map(([, name, value]) => [name, /^".*"$/.test(value) ? value.slice(1, -1) : value]));
    const file = /file\("\$\{path\.module\}\/\.\.\/([\w.]+)"\)/.exec(body)?.[1];
    return { settings, body: JSON.parse(await read(file)) };
}

/** A request as a provider sends it. Go asks for gzip by itself; without a proxy none comes. */
const provider = (method, path, json) => ask(method, path, json,
    { 'User-Agent': 'Go-http-client/1.1', 'Accept-Encoding': 'gzip' });

/** Maps in Go are written with their keys in order, whatever the order in the file. */
const sorted = (value) => Array.isArray(value) ? value.map(sorted)
    : value === null || typeof value !== 'object' ? value
        : Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));

/**
 * Create, plan, update, destroy: each provider reads after it writes and forgets what is 404. `paths`
 * are those its settings give for every verb.
 */
async function lifeCycle(paths, methods, configuration) {
    const wanted = sorted(configuration);
    const created = await provider(methods.create, paths.create, wanted);
    assert.equal(created.status, 201, created.text);
    const { json: state, headers: { etag } } = await provider('GET', paths.read);
    assert.deepEqual(state, configuration, 'a plan after it shows no difference');
    assert.equal((await provider('GET', paths.read)).headers.etag, etag);

    const changed = { ...wanted, labels: { owner: 'research' } };
    assert.equal((await provider(methods.update, paths.update, changed)).status, 200);
    const updated = await provider('GET', paths.read);
    assert.deepEqual(updated.json, changed);
    assert.equal((await provider(methods.update, paths.update, changed)).status, 200);
    assert.equal((await provider('GET', paths.read)).headers.etag, updated.headers.etag,
        'the same again is no revision');

    const destroyed = await provider('DELETE', paths.destroy);
    assert.ok(destroyed.status >= 200 && destroyed.status < 300, destroyed.text);
    assertProblem(await provider('GET', paths.read), 404);
    assertProblem(await provider('DELETE', paths.destroy), 404);
    const recreated = await provider(methods.create, paths.create, wanted);
    assert.ok([200, 201].includes(recreated.status), recreated.text);
    assert.deepEqual((await provider('GET', paths.read)).json, configuration);
}

test('the requests of Mastercard/restapi with the settings of its file', async () => {
    await ask('DELETE', `${base}/hal`);
    const { settings, body } = await terraform('terraform-restapi/main.tf',
        'resource "restapi_object" "cluster"');
    const at = (path) => path.replace('{id}', settings.object_id);
    await lifeCycle({
        create: at(settings.create_path),
        read: at(settings.read_path),
        update: at(`${settings.path}/{id}`),
        destroy: at(`${settings.path}/{id}`),
    }, { create: settings.create_method, update: settings.update_method }, body);

    // An import knows the path alone, so that its state is all of the answer: an update is planned.
    const imported = await provider('GET', at(`${settings.path}/{id}`));
    assert.deepEqual(imported.json.spec, body);
    assert.notDeepEqual(imported.json, body);
    const update = await provider(settings.update_method, at(`${settings.path}/{id}`),
        sorted(body));
    assert.equal(update.json.revision, imported.json.revision);
});

test('the requests of magodo/restful with the settings of its file', async () => {
    await ask('DELETE', `${base}/hal`);
    const { settings, body } = await terraform('terraform-restful/main.tf',
        'resource "restful_resource" "cluster"');
    const [, name, value] = /^\{ (\w+) = \["(\w+)"\] \}$/.exec(settings.read_query);
    const path = settings.path;
    const readPath = `${path}?${name}=${value}`;
    await lifeCycle({ create: path, read: readPath, update: path, destroy: path },
        { create: settings.create_method, update: settings.update_method }, body);

    const spec = JSON.parse(/'(\{"id".*\})'/.exec(await read('terraform-restful/main.tf'))[1]);
    const imported = await provider('GET', `${spec.id}?view=${spec.query.view[0]}`);
    assert.deepEqual(imported.json, body, 'a plan after an import shows no difference');
});

test('the gate in Terraform is the one of the script', async () => {
    const { settings, body } = await terraform('terraform-restapi/main.tf', 'data "http" "fits"');
    const path = settings.url.replace('${var.shardline}', '');
    assert.equal((await provider(settings.method, path, body)).status, 200);
    body.model.config.num_hidden_layers = 960;
    const refused = await provider(settings.method, path, body);
    assertProblem(refused, 409, { code: 'does_not_fit' });
    assert.equal(typeof refused.json.detail, 'string', 'what the message of the condition reads');
});
