/** tests/accuracy/fit without its build: asks the server, fits every constant anew. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { askAll } from './lib/ask.mjs';
import { readConstants } from './lib/constants.mjs';
import { readTable } from './lib/csv.mjs';
import { allFacts, faultsOf, fitOf, intervalsOf, parameters } from './lib/fit.mjs';
import { memory } from './lib/sections.mjs';
import { withServer } from './lib/server.mjs';

const percent = (share) => (share === null ? 'one source' : `${(100 * share).toFixed(1)} %`);
const short = (value) => Number(value.toPrecision(4));

function linesOf({ name, committed, rows, sources, refitted, inSample, leftOut, bySource }) {
    if (rows.length === 0)
        return [`${name}: ${committed}; no row here decides it`];
    return [
        `${name}: ${committed} is committed, ${short(refitted)} fits ${rows.length} rows of `
            + `${sources.length} sources; mean error of a source ${percent(inSample)}, `
            + `left out ${percent(leftOut)}`,
        ...bySource.filter(({ value }) => value !== null).map((one) =>
            `    without ${one.source}: ${short(one.value)}, its ${one.rows} rows `
                + `${percent(one.error)} off`),
    ];
}

function intervalLine({ family, rows, committed, refitted, covered }) {
    if (rows === 0)
        return `${family}: ${committed.join(' to ')}; no row here decides it`;
    return `${family}: ${committed.join(' to ')} covers ${covered} of ${rows} rows, `
        + `${refitted.map(short).join(' to ')} the nine tenths in the middle`;
}

async function main() {
    const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
    const table = fileURLToPath(new URL('data/training_memory.csv', import.meta.url));
    const rows = readTable(await readFile(table, 'utf8'));
    const constants = new Map((await readConstants())
        .map(({ name, value }) => [name, Number(value)]));
    const facts = allFacts(await withServer((url) => askAll(url, memory, rows)));
    const fits = parameters.map((parameter) =>
        fitOf(parameter, facts, constants.get(parameter.name)));
    const intervals = intervalsOf(facts, (name) => constants.get(name));
    const covered = intervals.reduce((sum, one) => sum + one.covered, 0);

    console.log(fits.flatMap(linesOf).join('\n'));
    console.log(`\nreserved over allocated, 90 % interval: ${covered} of ${facts.length} rows`);
    console.log(intervals.map(intervalLine).join('\n'));
    const faults = fits.flatMap(faultsOf);
    for (const fault of values.check ? faults : [])
        console.error(`fit: ${fault}`);
    process.exitCode = values.check && faults.length > 0 ? 1 : 0;
}

main().catch((error) => {
    console.error(`accuracy: ${error.message}`);
    process.exitCode = 1;
});
