/** The version that answers carry: equal for equal code, wherever it lies, and another for any other. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('../../server/engine_version.cmake', import.meta.url));

/** What the script makes of these files, by their names. */
async function versionOf(files) {
    const source = await mkdtemp(path.join(tmpdir(), 'shardline-version-'));
    try {
        for (const [name, text] of Object.entries(files)) {
            await mkdir(path.dirname(path.join(source, name)), { recursive: true });
            await writeFile(path.join(source, name), text);
        }
        const output = path.join(source, 'version.c');
        await promisify(execFile)('cmake', [`-DSOURCE=${source}`, `-DOUTPUT=${output}`, '-P', script]);
        return (await readFile(output, 'utf8')).match(/\+([0-9a-f]{12})"/)[1];
    } finally {
        await rm(source, { recursive: true });
    }
}

test('the version of the engine is that of its code', async () => {
    const code = { 'server/engine/a.c': 'one', 'include/shardline/b.h': 'two' };
    const version = await versionOf(code);

    assert.equal(await versionOf(code), version);
    assert.equal(await versionOf({ ...code, 'server/README.md': 'words' }), version);
    assert.notEqual(await versionOf({ ...code, 'server/engine/a.c': 'three' }), version);
    assert.notEqual(await versionOf({ ...code, 'include/shardline/b.h': 'three' }), version);
    assert.notEqual(await versionOf({ 'server/engine/c.c': 'one', 'include/shardline/b.h': 'two' }), version);
});
