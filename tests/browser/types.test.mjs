/** The JSDoc types of the dashboard, as the compiler reads them. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { run } from '../e2e/lib/processes.mjs';
import { root } from '../e2e/lib/server.mjs';

const folder = join(root, 'static');
const compiler = join(folder, 'node_modules/typescript/bin/tsc');

/** @param {string[]} args */
const compile = (args) => run(process.execPath, [compiler, ...args], { cwd: folder });

/** What the compiler says of a file of one line beside those of the page, "" for no fault; its exit status must agree. @param {string} line */
async function verdictOn(line) {
    const scratch = await mkdtemp(join(tmpdir(), 'sltypes-'));
    try {
        await writeFile(join(scratch, 'fault.js'), `${line}\n`);
        await writeFile(join(scratch, 'tsconfig.json'), JSON.stringify({ extends: join(folder, 'tsconfig.json'),
            include: [join(scratch, '*.js'), join(folder, 'api.d.ts')] }));
        const { code, stdout } = await compile(['-p', scratch]);
        assert.equal(code === 0, stdout === '', `status ${code}: ${stdout}`);
        return stdout;
    } finally {
        await rm(scratch, { recursive: true, force: true });
    }
}

describe('the compiler', () => {
    before(async () => {
        const { code, stderr } = await run(process.execPath, [join(folder, 'types.mjs')]);
        assert.equal(code, 0, stderr);
    });

    it('finds nothing in the types of the dashboard, and read every file of it', async () => {
        const { code, stdout } = await compile(['--noEmit', '--listFiles']);
        const lines = stdout.split('\n');
        assert.equal(code, 0, lines.filter((line) => / error /.test(line)).join('\n'));
        const own = lines.filter((line) => line.startsWith(join(folder, 'src')) && line.endsWith('.js'));
        const files = (await readdir(join(folder, 'src'), { recursive: true })).filter((name) => name.endsWith('.js'));
        assert.deepEqual(own.map((path) => path.slice(join(folder, 'src').length + 1)).sort(), files.sort());
    });

    it('finds a member that a type does not have', async () => {
        assert.match(await verdictOn('/** @param {{pointer: string}} item */ export const read = (item) => item.poinnter;'), /TS2551.*poinnter/);
    });

    it('finds a member that the service does not answer, and a value that it never is', async () => {
        assert.match(await verdictOn('/** @param {Api.Estimate} of */ export const read = (of) => of.memory.ranks[0].device_bytes;'), /TS2339.*device_bytes/);
        assert.match(await verdictOn('/** @param {Api.Communication} of */ export const read = (of) => of.level === "nvlink";'), /TS2367/);
        assert.equal(await verdictOn('/** @param {Api.Communication} of */ export const read = (of) => of.level === "network";'), '');
    });

    it('finds a parameter that nothing says the type of', async () => {
        assert.match(await verdictOn('export const read = (item) => item;'), /TS7006/);
    });
});
