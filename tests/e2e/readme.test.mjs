/** The front door tells the truth: its example is asked as it stands there, its figures come back. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startHub } from '../hub/standin.mjs';
import { recorded } from '../browser/lib/timelines.mjs';
import { clientOfFile } from './lib/client.mjs';
import { llama, qwen2 } from './lib/fixtures.mjs';
import { cleanEnvironment, run } from './lib/processes.mjs';
import { root, startServer, stopClean } from './lib/server.mjs';
import { scontrolNodes } from './lib/tools.mjs';

const readme = await readFile(join(root, 'README.md'), 'utf8');
const cookbook = await readFile(join(root, 'server/api/README.md'), 'utf8');
const client = await clientOfFile();

function block(language, after) {
    const fence = '```' + language + '\n';
    const start = readme.indexOf(fence, after);
    assert.notEqual(start, -1, `the README has no ${language} block`);
    const from = start + fence.length;
    return { text: readme.slice(from, readme.indexOf('```', from)), end: from };
}

const exampleRequest = () => block('sh', 0).text.match(/-d '([^']*)'/)[1];

async function temporaryFolder(t) {
    const folder = await mkdtemp(join(tmpdir(), 'slreadme-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

/** Whether there is anything in a JSON value but nulls. */
const saysSomething = (value) => (typeof value === 'object'
    ? Object.values(value ?? []).some(saysSomething) : value !== undefined);

test('the runs of the README are what the suite prints of them', async () => {
    const { stdout } = await run(join(root, 'build/dev/tests/unit/engine/answer/published_test'), []);
    const printed = [...stdout.matchAll(/measured +([\d.]+ \w+) +predicted +([\d.]+ \w+) +(\S+ %)/g)];
    const table = readme.slice(readme.indexOf('## How far off it is'), readme.indexOf('Step times: Korthikanti'));
    const shown = [...table.matchAll(/\| ([\d.]+ \w+) \| ([\d.]+ \w+) \| (\S+ %) \|/g)];
    const cells = (rows) => rows.map(([, ...row]) => row.join(' | '));
    assert.ok(printed.length > 0);
    assert.deepEqual(cells(shown), cells(printed));
    const [, mean] = /step time: (mean [^:]*? %, worst [^:]*? %, bias \S+ %)/.exec(stdout);
    assert.ok(readme.toLowerCase().includes(mean), mean);
});

test('the example of the README gives the output of the README', async () => {
    const command = block('sh', 0);
    const shown = JSON.parse(block('json', command.end).text);
    const request = JSON.parse(exampleRequest());
    const response = await client.post('/api/v1/estimates', request);
    assert.equal(response.status, 200, response.text);
    const { fits, memory, time, throughput, binding } = response.json;
    assert.deepEqual({
        fits,
        headroom_bytes: memory.headroom_bytes,
        step_s: time.step_s,
        tokens_per_s: throughput.tokens_per_s,
        mfu_full: throughput.mfu_full,
        sentence: binding.sentence,
        fixes: binding.fixes.map(({ change, step_s, time_incomplete, fits, fits_certain }) =>
            ({ change, step_s, time_incomplete, fits, fits_certain })),
    }, shown);
});

test('the pipe from a cluster stores what its tool prints', async (t) => {
    const server = await startServer({ database: true });
    t.after(() => stopClean(server));
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'printed'), scontrolNodes({ hosts: 5 }));
    await writeFile(join(folder, 'scontrol'),
        `#!/bin/sh\n[ "$*" = 'show nodes --json' ] && cat '${join(folder, 'printed')}'\n`);
    await chmod(join(folder, 'scontrol'), 0o755);

    const { text } = block('sh', readme.indexOf('## From your cluster'));
    const { code, stdout, stderr } = await run('sh',
        ['-c', text.replaceAll('http://127.0.0.1:8080', server.url)],
        { env: cleanEnvironment({ PATH: [folder, process.env.PATH].join(delimiter) }) });
    assert.equal(code, 0, stderr);
    const { nodes, accelerators } = JSON.parse(stdout);
    assert.deepEqual([nodes, accelerators], [5, 40]);
});

test('each example of the service is executed, and answers', async (t) => {
    const hub = await startHub({ repositories: {
        'Qwen/Qwen2.5-7B': { files: { 'config.json': qwen2 } },
        'tiiuae/falcon-40b': { files: { 'config.json': llama } },
    } });
    t.after(() => hub.close());
    const server = await startServer({ hub });
    t.after(() => stopClean(server));
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'request.json'), exampleRequest());
    await writeFile(join(folder, 'step.pt.trace.json.gz'), gzipSync(JSON.stringify(recorded())));

    const examples = [...cookbook.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text);
    assert.ok(examples.length >= 7, `${examples.length} examples`);
    for (const example of examples) {
        const command = example.replaceAll('http://127.0.0.1:8080', server.url).replace('> step.json', '');
        const { code, stdout, stderr } = await run('bash', ['-o', 'pipefail', '-c', `${command.trim()} | jq -s .`],
            { cwd: folder, env: cleanEnvironment() });
        assert.equal(code, 0, `${example}${stderr}`);
        const answers = JSON.parse(stdout);
        assert.ok(saysSomething(answers.at(-1)), `${example}${stdout.slice(0, 2000)}`);
        assert.equal(answers.at(-1).status, undefined, `${example}${stdout.slice(0, 2000)}`);
    }
});

test('every file that one of the READMEs points at is there', async () => {
    /* The others point at nothing yet; a link that they come to hold is looked at too. */
    const pointing = ['.', 'server', 'server/api'];
    for (const folder of [...pointing, 'server/hf', 'docker', 'tests/accuracy']) {
        const text = await readFile(join(root, folder, 'README.md'), 'utf8');
        const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link]) => link);
        assert.ok(links.length > 0 || !pointing.includes(folder), `${folder}/README.md points at nothing`);
        for (const link of links)
            assert.ok(existsSync(join(root, folder, link)), `${folder}/README.md: ${link}`);
    }
});
