/**
 * Every explained figure is what its formula gives of its inputs: what stands before the first colon
 * or semicolon is worked out here, over plans drawn from a fixed seed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { dice, draw } from './lib/drawn.mjs';

const client = await clientOfFile();
const PLANS = 400;
/** Said in words alone: their figures follow from walks over stages, blocks or tensors. */
const IN_WORDS = new Set(['adapters', 'activation_offload', 'pipeline_communication', 'bubble',
    'gathered_parameters', 'communication_buffers', 'optimizer', 'exposed_s', 'activations',
    'gradients', 'data_communication', 'message_latency_s', 'seconds', 'goodput_ratio']);
const FUNCTIONS = { sqrt: Math.sqrt, max: Math.max, min: Math.min };

/** What the formula's head gives, or undefined where it is words. */
function worked({ formula, inputs }) {
    const head = formula.split(/[:;] /)[0].replaceAll(' x ', ' * ');
    const names = head.match(/[A-Za-z_]\w*/g) ?? [];
    if (!/^[\w\s+*/().,-]+$/.test(head) || !names.every((name) => name in inputs || name in FUNCTIONS))
        return undefined;
    try {
        return new Function(...names, `return ${head}`)(...names.map((name) => inputs[name] ?? FUNCTIONS[name]));
    } catch {
        return undefined; /* words that are all names of inputs */
    }
}

/** @returns {[string, {formula: string, inputs: object}, number][]} each explained figure of the answer by its name */
function explained(answer) {
    const figures = [...answer.memory.ranks.flatMap(({ terms }) => terms), ...answer.time.terms]
        .map((term) => [term.name, term, term.bytes ?? term.seconds]);
    for (const row of answer.communication)
        for (const [name, term] of Object.entries(row.explain))
            figures.push([name, term, row[name]]);
    for (const [pointer, term] of Object.entries(answer.explanations)) {
        const path = pointer.slice(1).split('/');
        figures.push([path.at(-1), term, path.reduce((at, key) => at[key], answer)]);
    }
    return figures;
}

test('every explained figure is what its formula gives of its inputs', async () => {
    const random = dice(20261124);
    const heads = new Map();
    let answered = 0;
    for (let i = 0; i < PLANS; i++) {
        const request = draw(random);
        const { status, json } = await client.post('/api/v1/estimates', request);
        if (status !== 200)
            continue;
        answered++;
        for (const [name, term, value] of explained(json)) {
            const result = worked(term);
            if (result === undefined) {
                assert.ok(IN_WORDS.has(name), `${name} has a formula of words: ${term.formula}`);
                continue;
            }
            heads.set(name, (heads.get(name) ?? 0) + 1);
            const slack = name.endsWith('bytes') || 'bytes' in term ? 1 : 1e-9; /* bytes are whole ones */
            assert.ok(Math.abs(result - value) <= slack + 1e-9 * Math.abs(value), `${name}: ${value}, by its formula ${result}: `
                + `${term.formula} ${JSON.stringify(term.inputs)} ${JSON.stringify(request)}`);
        }
    }
    assert.ok(answered > PLANS / 3, `${answered} of ${PLANS} were answered`);
    assert.ok(heads.size > 35, `${heads.size} figures have a formula that computes: ${[...heads.keys()]}`);
});
