/** tests/accuracy/run without its build: reads the rows, asks the server, prints the score. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { askAll } from './lib/ask.mjs';
import { baselineOf, improvements, regressions } from './lib/baseline.mjs';
import { compareReport } from './lib/compare.mjs';
import { readTable } from './lib/csv.mjs';
import { oracleReport } from './lib/oracles.mjs';
import { jsonReport, rowReport, textReport } from './lib/report.mjs';
import { keyOf, scoreSources } from './lib/score.mjs';
import { sections, throughput } from './lib/sections.mjs';
import { withServer } from './lib/server.mjs';
import { requestAt, saysSpread, spreadLine, SPREADS } from './lib/spread.mjs';
import { requestWithout, without } from './lib/without.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const ownData = here('data');

/** The sections that the folder has a table of, each with its rows. */
async function readTables(folder) {
    const tables = [];
    for (const section of sections) {
        const path = join(folder, `${section.name}.csv`);
        if (existsSync(path))
            tables.push({ section, rows: readTable(await readFile(path, 'utf8')) });
    }
    if (tables.length === 0) {
        const names = sections.map(({ name }) => `${name}.csv`);
        throw new Error(`${folder} has none of ${names.join(', ')}`);
    }
    return tables;
}

/** One after the other: { section, results, sources } of each. */
async function scoreTables(url, tables) {
    const scored = [];
    for (const { section, rows } of tables) {
        const results = await askAll(url, section, rows);
        scored.push({ section, results, sources: scoreSources(results) });
    }
    return scored;
}

/** Steps of sources with constants of their own, asked without these. */
async function withoutOwn(url, tables) {
    const { rows } = tables.find(({ section }) => section === throughput);
    const mine = rows.filter((row) => without.has(keyOf(throughput.rowOf(row).source)));
    const results = await askAll(url, throughput, mine,
        (row, request) => requestWithout(keyOf(row.source), request));
    return { results, sources: scoreSources(results) };
}

/** The same steps with each spread of the devices' speeds, a line each. */
async function spreadReport(url, tables) {
    const { rows } = tables.find(({ section }) => section === throughput);
    const lines = [];
    for (const ratio of SPREADS) {
        const results = await askAll(url, throughput, rows.filter(saysSpread),
            (row, request) => requestAt(ratio, request));
        lines.push(spreadLine(ratio, results));
    }
    return lines.join('\n');
}

/** An object of one member per section. */
const perSection = (scored, of) =>
    Object.fromEntries(scored.map(({ section, sources }) => [section.name, of(sources)]));

async function readOracles(folder) {
    const text = await readFile(join(folder, 'memory_oracles.jsonl'), 'utf8');
    return text.split('\n').filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}

async function main() {
    const { values } = parseArgs({ options: {
        data: { type: 'string', default: ownData },
        json: { type: 'string' },
        rows: { type: 'boolean', default: false },
        without: { type: 'boolean', default: false },
        spread: { type: 'boolean', default: false },
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
    const tables = await readTables(values.data);
    if (values.spread) {
        console.log(await withServer((url) => spreadReport(url, tables)));
        return;
    }
    const scored = await withServer((url) => scoreTables(url, tables));
    for (const { section, results, sources } of scored) {
        if (values.rows)
            console.log(`${rowReport(section, results)}\n`);
        console.log(`${section.title}\n\n${textReport(results, sources)}\n`);
        if (section === throughput)
            console.log(`${compareReport(results)}\n`);
    }
    if (values.without) {
        const { results, sources } = await withServer((url) => withoutOwn(url, tables));
        console.log('steps of each source without what was fitted on it alone\n\n'
            + `${textReport(results, sources)}\n`);
        for (const [key, { what }] of without)
            console.log(`${key}: ${what}`);
    }
    if (values.json !== undefined)
        await writeJson(values.json, perSection(scored, jsonReport));
    if (values.update)
        await writeJson(values.baseline, perSection(scored, baselineOf));
    if (values.check)
        await check(values.baseline, scored);
}

const writeJson = (file, document) => writeFile(file, `${JSON.stringify(document, null, 2)}\n`);

async function check(file, scored) {
    const baseline = JSON.parse(await readFile(file, 'utf8'));
    for (const { section: { name }, sources } of scored) {
        for (const sentence of regressions(baseline[name] ?? {}, sources)) {
            console.error(`worse: ${name} ${sentence}`);
            process.exitCode = 1;
        }
        for (const key of improvements(baseline[name] ?? {}, sources))
            console.error(`better: ${name} ${key}; --update holds on to it`);
    }
}

main().catch((error) => {
    console.error(`accuracy: ${error.message}`);
    process.exitCode = 1;
});
