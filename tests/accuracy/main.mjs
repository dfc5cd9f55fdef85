/** tests/accuracy/run without its build: reads the rows, asks the server, prints the score. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { askAll } from './lib/ask.mjs';
import { baselineOf, improvements, regressions } from './lib/baseline.mjs';
import { readTable } from './lib/csv.mjs';
import { oracleReport } from './lib/oracles.mjs';
import { jsonReport, rowReport, textReport } from './lib/report.mjs';
import { scoreSources } from './lib/score.mjs';
import { withServer } from './lib/server.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const ownData = here('data');

async function readRows(folder) {
    return readTable(await readFile(join(folder, 'training_memory.csv'), 'utf8'));
}

async function readOracles(folder) {
    const text = await readFile(join(folder, 'memory_oracles.jsonl'), 'utf8');
    return text.split('\n').filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}

async function main() {
    const { values } = parseArgs({ options: {
        data: { type: 'string', default: ownData },
        json: { type: 'string' },
        rows: { type: 'boolean', default: false },
        baseline: { type: 'string', default: here('baseline.json') },
        oracles: { type: 'boolean', default: false },
        check: { type: 'boolean', default: false },
        update: { type: 'boolean', default: false },
    } });
    if ((values.check || values.update) && values.data !== ownData)
        throw new Error('the baseline is that of our own rows: no --data with it');

    if (values.oracles) {
        const cases = await readOracles(values.data);
        const reasons = readTable(await readFile(here('oracles.csv'), 'utf8'));
        console.log((await withServer((url) => oracleReport(url, cases, reasons))).join('\n'));
        return;
    }
    const rows = await readRows(values.data);
    const results = await withServer((url) => askAll(url, rows));
    const sources = scoreSources(results);
    if (values.rows)
        console.log(`${rowReport(results)}\n`);
    console.log(textReport(results, sources));
    if (values.json !== undefined)
        await writeFile(values.json, `${JSON.stringify(jsonReport(sources), null, 2)}\n`);
    if (values.update)
        await writeFile(values.baseline, `${JSON.stringify(baselineOf(sources), null, 2)}\n`);
    if (values.check)
        await check(values.baseline, sources);
}

async function check(file, sources) {
    const baseline = JSON.parse(await readFile(file, 'utf8'));
    const worse = regressions(baseline, sources);
    for (const sentence of worse)
        console.error(`worse: ${sentence}`);
    for (const key of improvements(baseline, sources))
        console.error(`better: ${key}; --update holds on to it`);
    process.exitCode = worse.length > 0 ? 1 : 0;
}

main().catch((error) => {
    console.error(`accuracy: ${error.message}`);
    process.exitCode = 1;
});
