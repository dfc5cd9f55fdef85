/** The JSDoc types of the dashboard, as the compiler reads them. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { run } from '../e2e/lib/processes.mjs';
import { root } from '../e2e/lib/server.mjs';

const folder = join(root, 'static');
const compiler = join(folder, 'node_modules/typescript/bin/tsc');

/** @param {string[]} args */
const compile = (args) => run(process.execPath, [compiler, ...args], { cwd: folder });

describe('the compiler', () => {
    it('finds nothing in the types of the dashboard, and read every file of it', async () => {
        const { code, stdout } = await compile(['--noEmit', '--listFiles']);
        const lines = stdout.split('\n');
        assert.equal(code, 0, lines.filter((line) => / error /.test(line)).join('\n'));
        const own = lines.filter((line) => line.startsWith(join(folder, 'src')) && line.endsWith('.js'));
        const files = (await readdir(join(folder, 'src'), { recursive: true })).filter((name) => name.endsWith('.js'));
        assert.deepEqual(own.map((path) => path.slice(join(folder, 'src').length + 1)).sort(), files.sort());
    });

    it('finds a member that a type does not have', async () => {
        const scratch = await mkdtemp(join(tmpdir(), 'sltypes-'));
        try {
            await writeFile(join(scratch, 'fault.js'), '/** @param {{pointer: string}} item */\nexport const read = (item) => item.poinnter;\n');
            await writeFile(join(scratch, 'tsconfig.json'),
                JSON.stringify({ extends: join(folder, 'tsconfig.json'), include: [join(scratch, '*.js')] }));
            const { code, stdout } = await compile(['-p', scratch]);
            assert.notEqual(code, 0);
            assert.match(stdout, /TS2551.*poinnter/);
        } finally {
            await rm(scratch, { recursive: true, force: true });
        }
    });
});
