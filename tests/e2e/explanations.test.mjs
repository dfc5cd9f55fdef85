/**
 * Every explained figure is what its formula gives of its inputs: what stands before the first colon
 * or semicolon is worked out here, over plans drawn from a fixed seed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { estimate, large, llama, mixtral } from './lib/fixtures.mjs';

const client = await clientOfFile();
const PLANS = 400;
/** Said in words alone: their figures follow from walks over stages, blocks or tensors. */
const IN_WORDS = new Set(['adapters', 'activation_offload', 'pipeline_communication', 'bubble',
    'gathered_parameters', 'communication_buffers', 'optimizer', 'exposed_s', 'activations',
    'gradients', 'data_communication', 'message_latency_s', 'seconds', 'goodput_ratio']);
const FUNCTIONS = { sqrt: Math.sqrt, max: Math.max, min: Math.min };

/** Mulberry32: the same draws everywhere. */
function dice(seed) {
    let state = seed;
    const next = () => {
        state = (state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
    return { any: (...choices) => choices[Math.floor(next() * choices.length)], once: (share) => next() < share };
}

/** A question of many fields, some of them impossible together. */
function draw({ any, once }) {
    const framework = any('megatron', 'megatron', 'deepspeed', 'fsdp1', 'fsdp2', 'ddp');
    const megatron = framework === 'megatron';
    const config = any(llama, mixtral, large);
    const tensor = megatron || framework === 'fsdp2' ? any(1, 1, 2, 4) : 1;
    const pipeline = megatron ? any(1, 2, 4) : 1;
    const zero = { megatron: any(0, 1), deepspeed: any(0, 1, 2, 3), ddp: 0 }[framework] ?? any(2, 3);
    return estimate({
        config,
        workload: {
            framework, attention: null, sequence_length: any(512, 2048), global_batch_size: any(64, 128),
            micro_batch_size: any(1, 2), recompute: any('none', 'full', 'selective'),
            optimizer: any('adamw', 'sgd', 'adafactor', 'muon', 'adamw_8bit'),
            ...once(0.2) && { kind: 'finetuning', adapter: { method: any('lora', 'dora'), rank: 8, base: any('bf16', 'nf4') } },
            ...once(0.2) && { offload: any({ optimizer: 'cpu' }, { activations: 'cpu' }) },
            ...once(0.1) && { precision: any('fp8', 'fp16', 'fp32') },
            ...once(0.1) && { cuda_graphs: any('layer', 'full') },
        },
        cluster: { nodes: any(1, 2, 4) },
        parallelism: {
            tensor, pipeline, data: null, sequence: megatron && tensor > 1 && once(0.5), zero_stage: zero,
            expert: megatron && config === mixtral ? any(1, 2, 4) : 1, context: megatron ? any(1, 1, 2) : 1,
            ...pipeline > 1 && once(0.4) && { schedule: any('gpipe', 'naive', 'zb_h1', 'zb_v') },
            ...once(0.1) && { grad_reduce_dtype: 'bf16' },
            ...once(0.1) && { gradient_sync: 'last' },
        },
    });
}

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
