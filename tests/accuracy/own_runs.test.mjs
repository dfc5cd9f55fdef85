/**
 * Our own runs of Transformers' models on single cards (data/h100, data/h200), asked by their whole
 * configuration: the allocated peak.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { estimateOf } from './lib/ask.mjs';
import { withServer } from './lib/server.mjs';

const GIB_BYTES = 2 ** 30;
const BOUND = 0.001;

/** What is not counted yet, and how far off that leaves it. */
const known = new Map([
    ['falcon, 12 layers', 1.1], // one key head for all: PyTorch's math kernel keeps every score
    ['mixtral, 2 layers', 0.022],
    ['deepseek v2 lite, 4 layers', 0.02],
    ['qwen2 moe, 6 layers', 0.005],
    ['bert large', 0.009],
    ['gpt2 large', 0.0021],
    ['gemma3 1B', 0.0017],
]);

const architectures = { roberta: 'RobertaForMaskedLM', bert: 'BertForSequenceClassification' };

async function runsOf(card) {
    const text = await readFile(new URL(`data/${card}/steps.jsonl`, import.meta.url), 'utf8');
    return text.trim().split('\n').map((line) => JSON.parse(line))
        .filter((run) => run.model_type !== undefined && run.allocated_bytes !== undefined);
}

function layoutOf(run) {
    if (run.layout !== undefined)
        return {};
    return { layout: { parameter_bytes: 2, gradient_bytes: 2, master_weight_bytes: 0,
        ...(run.optimizer === 'sgd' ? {} : { optimizer_bytes: 4 }) } };
}

/** What these classes do where a configuration is silent. */
const ownDropout = { gpt2: { resid_pdrop: 0.1 }, gpt_bigcode: { resid_pdrop: 0.1 }, opt: { dropout: 0.1 } };

function requestOf(run) {
    return {
        model: { config: { ...ownDropout[run.model_type], ...run.config, model_type: run.model_type,
            architectures: run.class === undefined ? undefined : [architectures[run.model_type]],
            num_labels: 2 } },
        workload: {
            kind: 'finetuning', framework: 'ddp', software: 'pytorch-ddp-2.x',
            sequence_length: run.seq_len, micro_batch_size: run.micro_batch,
            global_batch_size: run.micro_batch * (run.accumulation ?? 1),
            precision: { fp32: 'fp32', 'amp fp16': 'fp16' }[run.layout] ?? 'bf16',
            optimizer: run.optimizer === 'sgd' ? 'sgd' : 'adamw',
            profile: { step_lists: /foreach/.test(run.optimizer) ? 1 : 0 },
            recompute: run.recompute ?? 'none', loss: 'eager', compile: false,
            attention: run.attention === 'eager' ? 'unfused' : 'sdpa',
            ...layoutOf(run),
        },
        cluster: { accelerator: 'nvidia-h200-sxm-141gb', nodes: 1, accelerators_per_node: 1 },
        parallelism: { tensor: 1, pipeline: 1, context: 1, expert: 1, data: 1, zero_stage: 0 },
    };
}

/** By name, the largest error of its runs: ln(predicted / measured). */
async function errorsOf(url, runs) {
    const errors = new Map();
    for (const run of runs) {
        const { estimate, refusal } = await estimateOf(url, requestOf(run));
        assert.equal(refusal, undefined, run.name);
        const { memory } = estimate;
        const error = Math.log(memory.peak_allocated_bytes / run.allocated_bytes);
        const worst = errors.get(run.name) ?? 0;
        errors.set(run.name, Math.abs(error) > Math.abs(worst) ? error : worst);
    }
    return errors;
}

test('each family of models keeps what our own runs of it kept', async () => {
    const all = [...await runsOf('h100'), ...await runsOf('h200')].filter((run) => run.lora === undefined
        && run.allocated_bytes > GIB_BYTES);
    assert.ok(all.length >= 60, `${all.length} runs`);
    await withServer(async (url) => {
        for (const [name, error] of await errorsOf(url, all)) {
            const bound = known.get(name) ?? BOUND;
            assert.ok(Math.abs(error) <= bound, `${name}: ${(100 * error).toFixed(1)} %`);
        }
    });
});
