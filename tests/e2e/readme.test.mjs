/** The front door tells the truth: its example is asked as it stands there, its figures come back. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { cleanEnvironment, run } from './lib/processes.mjs';
import { root, startServer, stopClean } from './lib/server.mjs';
import { scontrolNodes } from './lib/tools.mjs';

const readme = await readFile(join(root, 'README.md'), 'utf8');
const client = await clientOfFile();

function block(language, after) {
    const fence = '```' + language + '\n';
    const start = readme.indexOf(fence, after);
    assert.notEqual(start, -1, `the README has no ${language} block`);
    const from = start + fence.length;
    return { text: readme.slice(from, readme.indexOf('```', from)), end: from };
}

test('the example of the README gives the output of the README', async () => {
    const command = block('sh', 0);
    const shown = JSON.parse(block('json', command.end).text);
    const request = JSON.parse(command.text.match(/-d '([^']*)'/)[1]);
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
        fixes: binding.fixes.map(({ what, memory_bytes: bytes, ...shown }) => shown),
    }, shown);
});

test('the pipe from a cluster stores what its tool prints', async (t) => {
    const server = await startServer({ database: true });
    t.after(() => stopClean(server));
    const folder = await mkdtemp(join(tmpdir(), 'slreadme-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
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

test('every file the README points at is there', () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1]);
    assert.ok(links.length > 0);
    for (const link of links)
        assert.ok(existsSync(join(root, link)), link);
});
