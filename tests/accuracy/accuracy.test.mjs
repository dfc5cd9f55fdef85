/** The whole way: rows, the release server, the score; and the baseline it must not fall under. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../e2e/lib/processes.mjs';
import { readTable } from './lib/csv.mjs';
import { completeRow, requestOf } from './lib/request.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const validation = here('../../../shared/data/validation');
const noValidation = existsSync(join(validation, 'training_memory.csv')) ? false
    : 'the validation data are not beside this checkout';
let folder;

before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slacc-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const harness = (...options) => run(process.execPath, [here('main.mjs'), ...options]);

/** The JSON document, after a run that went well. */
async function scored(...options) {
    const out = join(folder, 'out.json');
    const { code, stdout, stderr } = await harness('--json', out, ...options);
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(await readFile(out, 'utf8'));
}

const rowsIn = async (path) => readTable(await readFile(join(path, 'training_memory.csv'), 'utf8'));

/** What the score is made of: also of rows the server refuses today. */
async function questionsIn(path) {
    return (await rowsIn(path)).map((raw) => {
        const { row_id, source, completeness, metric, stage, measured_peak_gib } = completeRow(raw);
        return { row_id, source, completeness, metric, stage, measured_peak_gib,
            ...requestOf(raw) };
    });
}

/** Our rows as somebody else may write them. */
async function foreignTable() {
    const rows = await rowsIn(here('data'));
    const names = ['their_own', ...Object.keys(rows[0]).reverse()];
    const quoted = (text = 'x, y') => `"${text.replaceAll('"', '""')}"`;
    const lines = [names, ...rows.map((row) => names.map((name) => row[name]))]
        .map((fields) => fields.map(quoted).join(','));
    await writeFile(join(folder, 'training_memory.csv'), `\uFEFF${lines.join('\r\n')}\r\n\r\n`);
    return folder;
}

test('no source is further off, or less answered, than the baseline says', async () => {
    const { code, stdout, stderr } = await harness('--check');
    assert.equal(code, 0, `${stderr}\n${stdout}`);
});

test('a baseline better than what we are fails the check and names the source', async () => {
    const file = join(folder, 'baseline.json');
    const baseline = JSON.parse(await readFile(here('baseline.json'), 'utf8'));
    const [key] = Object.keys(baseline);
    baseline[key].answered += 1;
    await writeFile(file, JSON.stringify(baseline));
    const { code, stderr } = await harness('--check', '--baseline', file);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`worse: ${key}: `));
});

test('order of columns, CRLF, quotes and foreign columns do not move the score', async () => {
    const foreign = await foreignTable();
    assert.deepEqual(await questionsIn(foreign), await questionsIn(here('data')));
    assert.deepEqual(await scored('--data', foreign), await scored());
});

test('the validation data score as our copy of their facts', { skip: noValidation }, async () => {
    assert.deepEqual(await questionsIn(validation), await questionsIn(here('data')));
    assert.deepEqual(await scored('--data', validation), await scored());
});

test('every source has exactly the members that tools outside rely on', async () => {
    const document = await scored();
    assert.deepEqual(Object.keys(document), ['training_memory']);
    for (const [key, source] of Object.entries(document.training_memory)) {
        assert.match(key, /^[a-z0-9]+(-[a-z0-9]+)*$/);
        assert.deepEqual(Object.keys(source), ['n', 'scored', 'answered', 'mape', 'median', 'p90',
            'bias', 'coverage90']);
        assert.ok(source.answered <= source.scored && source.scored <= source.n, key);
        assert.equal(typeof source.mape, source.scored > 0 ? 'number' : 'object', key);
    }
});

test('a folder without the table is said so, in one line', async () => {
    const { code, stderr } = await harness('--data', join(folder, 'none'));
    assert.equal(code, 1);
    assert.match(stderr, /^accuracy: .*training_memory\.csv/);
});
