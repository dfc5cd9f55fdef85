/**
 * The answers that the OpenAPI document shows, kept as the server gives them.
 *
 *     node tests/e2e/lib/examples.mjs http://127.0.0.1:8080     # writes them anew
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../../server/api/openapi.json', import.meta.url));
const WIDTH = 100;

/** Each answer with the request that it is of; `short`: lists are shown by their first elements. */
export const ANSWERED = [
    { example: 'estimate', request: 'estimateRequest', path: '/api/v1/estimates' },
    { example: 'accounting', request: 'accountingRequest', path: '/api/v1/estimates' },
    { example: 'choices', request: 'estimateRequest', path: '/api/v1/estimates:choices' },
    { example: 'sharding', request: 'estimateRequest', path: '/api/v1/shardings?rank=0-1&tensor=*h.0.attn.c_attn*' },
    { example: 'timeline', request: 'timelineRequest', path: '/api/v1/timelines', short: true },
    { example: 'limits', request: 'limitsRequest', path: '/api/v1/limits' },
    { example: 'clusterLimits', request: 'clusterLimitsRequest', path: '/api/v1/limits:clusters' },
    { example: 'comparison', request: 'comparisonRequest', path: '/api/v1/comparisons' },
    { example: 'searchResult', request: 'searchRequest', path: '/api/v1/searches' },
];

/** What differs from build to build, from run to run. */
const PASSING = new Set(['engine_version', 'catalog_revision', 'input_hash', 'elapsed_s', 'from_store', 'evaluated_per_s']);

/** @returns {any} `given` with what passes as in `shown`, and if `short` with lists as long as there */
export function asShown(shown, given, short = false) {
    if (given === null || typeof given !== 'object')
        return given;
    if (Array.isArray(given))
        return given.slice(0, short ? shown?.length : undefined).map((element, i) => asShown(shown?.[i], element, short));
    return Object.fromEntries(Object.entries(given)
        .map(([key, value]) => [key, PASSING.has(key) ? shown?.[key] ?? value : asShown(shown?.[key], value, short)]));
}

const isFull = (value) => value !== null && typeof value === 'object' && Object.keys(value).length > 0;

function line(value) {
    if (Array.isArray(value))
        return `[${value.map(line).join(', ')}]`;
    if (!isFull(value))
        return JSON.stringify(value);
    return `{${Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${line(member)}`).join(', ')}}`;
}

/** JSON of the document's own look: what fits is one line, unless it holds lists or objects. */
function written(value, indent, before) {
    const short = line(value);
    if (!isFull(value) || (indent + before + short.length < WIDTH && !Object.values(value).some(isFull)))
        return short;
    const inner = ' '.repeat(indent + 2);
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    const members = Array.isArray(value)
        ? value.map((element) => inner + written(element, indent + 2, 0))
        : Object.entries(value).map(([key, member]) =>
            `${inner}${JSON.stringify(key)}: ${written(member, indent + 2, key.length + 4)}`);
    return `${open}\n${members.join(',\n')}\n${' '.repeat(indent)}${close}`;
}

/** The document's text with another value of one example. */
function replaced(text, name, value) {
    const from = text.indexOf(`\n      "${name}": {`);
    const start = text.indexOf('\n        "value": ', from) + '\n        "value": '.length;
    const end = text.indexOf('\n      }', start);
    return text.slice(0, start) + written(value, 8, 9) + text.slice(end);
}

async function renew(url) {
    let text = readFileSync(file, 'utf8');
    const { examples } = JSON.parse(text).components;
    for (const { example, request, path, short } of ANSWERED) {
        const response = await fetch(url + path, { method: 'POST', headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(examples[request].value) });
        text = replaced(text, example, asShown(examples[example].value, await response.json(), short));
    }
    JSON.parse(text);
    writeFileSync(file, text);
}

if (argv[1] === fileURLToPath(import.meta.url))
    await renew(argv[2]);
