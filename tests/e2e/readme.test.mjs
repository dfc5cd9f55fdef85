/** The front door tells the truth: its example is asked as it stands there, its figures come back. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { root } from './lib/server.mjs';

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

test('every file the README points at is there', () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1]);
    assert.ok(links.length > 0);
    for (const link of links)
        assert.ok(existsSync(join(root, link)), link);
});
