import { readFileSync } from 'node:fs';
import { readFacts } from './csv.mjs';

const releases = readFacts(readFileSync(
    new URL('../../../server/catalog/data/software.csv', import.meta.url), 'utf8'))
    .flatMap((facts) => `${facts.name}|${facts.aliases}`.split('|')
        .filter((release) => release !== '').map((release) => [release, facts]));

/** Releases that the server knows, and what each is one of. */
export const releaseFrameworks = new Map(releases.map(([release, { framework }]) => [release, framework]));

/** Those whose own loss is one in chunks. */
export const chunkedReleases = new Set(releases.filter(([, facts]) => facts.loss_chunked === '1')
    .map(([release]) => release));

/** Figures of a release by their columns, as a request's profile has them. */
export function figuresOf(release, columns) {
    const facts = new Map(releases).get(release);
    return Object.fromEntries(columns.map((column) => [column, Number(facts[column])]));
}

const NEIGHBOUR_YEARS = 1;

/** "nemo-24.09" as its family and its numbers, which then sort as text; years may have two digits. */
function numbered(release) {
    const [, family, version = ''] = /^(.+?)-(\d[\d.-]*)/.exec(release) ?? [];
    const numbers = version.match(/\d+/g) ?? [];
    return { family, digits: numbers[0]?.length, year: Number(numbers[0]),
        age: numbers.map((number) => number.padStart(4, '0')).join('.') };
}

/**
 * A release that the server does not know runs as the last known one before it of its family, or,
 * older than all, as the first, where not more than a year lies between; else it is not known.
 */
export function knownRelease(release) {
    if (releaseFrameworks.has(release))
        return release;
    const { family, digits, year, age } = numbered(release);
    const near = [...releaseFrameworks.keys()].map((name) => ({ name, ...numbered(name) }))
        .filter((one) => one.family === family && one.digits === digits
            && Math.abs(one.year - year) <= NEIGHBOUR_YEARS)
        .sort((left, right) => (left.age < right.age ? -1 : 1));
    return (near.findLast((one) => one.age < age) ?? near[0])?.name;
}

/**
 * Which release a row ran, where its own column says less. Of llm-foundry the tables of Composer's
 * mixed precision DEFAULT are those of the container of PyTorch 2.1 (scripts/train/benchmarking/sweep.sh);
 * those of PURE, the script's earlier default, are older.
 */
export function foundryRelease({ software, precision }) {
    return /^llm-foundry/.test(software) && /mixed_precision=DEFAULT/.test(precision)
        ? 'llm-foundry-torch2.1' : software;
}

/**
 * Which torchtitan a source ran. A commit or a document has no release in its name; these are the
 * months of the pull requests they belong to. SimpleFSDP and graph_trainer, which trace sharding into the graph, are told by name.
 */
const months = [
    [/\b83c879f18\b/, '2024-12'], // before any release: fully_shard beside FSDP1
    [/\b(5940ddeb5|069bae286)\b|torchao training tables/, '2025-02'], // 822; issue 929
    [/\b(e23bb707d|3b39d7ab0|c31ff8b05)\b/, '2025-03'], // 996, 985; the last repeats 985's figure
    [/\bd9bdfbb20\b/, '2025-04'], // 991
    [/\bf738a03bf\b/, '2025-08'], // 1610
];

/** Figures of graph_trainer under the framework's own name: 2570. */
const traced = /\bf6ebe8402\b/;

/** What our own decoder is after, and a source that is of no known age. */
const USUAL = 'torchtitan-2025-10';
const NEWEST_TRACED = 'torchtitan-graph-2025-04';

const monthIn = (text) => /\b20\d\d-\d\d\b/.exec(text)?.[0];

/** That of a step, whose key will stand for its source: the month tells, if nothing else does. */
export const datedTitan = ({ source, framework, software }) =>
    (/^torchtitan/i.test(framework) && software === '' && monthIn(source) !== undefined
        ? titanRelease({ source, framework }) : undefined);

/** The release as the profiles name it. */
export function titanRelease({ source, framework }) {
    if (/simplefsdp|graph_trainer/i.test(framework) || traced.test(source))
        return NEWEST_TRACED;
    const month = monthIn(source)
        ?? months.find(([pattern]) => pattern.test(source))?.[1];
    if (month === undefined || /decoder/.test(framework))
        return USUAL;
    return knownRelease(`torchtitan-${month}`) ?? USUAL;
}
