/**
 * Agreement with the estimators of others (memory_oracles.jsonl), component by component. They are
 * no measurements: where they differ from us, either may be right. A case becomes a row of the same
 * columns as a measured run and takes the same way to a request; DeepSpeed's estimators know only a
 * number of parameters and are set against the accounting nearest to theirs, and where they offload
 * against layers of as many.
 */
import { estimateOf } from './ask.mjs';
import { formulas } from './oracle_formulas.mjs';
import { requestOf } from './request.mjs';
import { groupOf, summarizeErrors } from './score.mjs';

/** The estimators name no device; ours has to be some part, and memory does not depend on which. */
const ANY_PART = { gpu: 'A100', gpu_mem_gib: '80' };

const text = (value) => (value === null || value === undefined ? '' : String(Number(value)));

const pairsOf = (object) => Object.entries(object)
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => `${name}=${value}`).join(';');

const texts = (object) =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, text(value)]));

/** Layers of each stage where a case gives the first and the last. */
function layoutOf({ dims, pp, first_stage_layers: first, last_stage_layers: last }) {
    if (!(first > 0 && last > 0 && pp > 2))
        return {};
    const middle = (dims.L - first - last) / (pp - 2);
    return { pipeline_layout: [first, ...Array(pp - 2).fill(middle), last] };
}

function megatronRequest(input) {
    const { request, refusal } = requestOf(megatronRow(input));
    return request === undefined ? { refusal } : { request: { ...request,
        parallelism: { ...request.parallelism, ...layoutOf(input) } } };
}

function megatronRow({ model, dims, ...plan }) {
    const mla = dims.mla && { q_lora: dims.mla.q_lora ?? 0, kv_lora: dims.mla.kv_lora,
        qk_nope: dims.mla.qk, qk_rope: dims.mla.rope, v: dims.mla.v };
    return {
        ...ANY_PART,
        gpu: 'H100 SXM5 80GB', // cuDNN keeps one output of attention, as their formulas do, and has no rates on A100
        ...texts({ L: dims.L, h: dims.h, a: dims.a, kv: dims.kv, head_dim: mla ? null : dims.hd,
            ffn: dims.f, vocab: plan.padded_vocab ?? dims.V, tied: dims.tied, tp: plan.tp,
            pp: plan.pp, vpp: plan.vpp, dp: plan.dp, cp: plan.cp, ep: plan.ep,
            etp: dims.E ? plan.etp : null, sp: plan.tp > 1, micro_batch: plan.micro_batch,
            seq_len: plan.seq_len, num_microbatches: plan.num_microbatches }),
        model: dims.swiglu ? model : `gpt ${model}`,
        moe: dims.E ? pairsOf({ E: dims.E, topk: dims.topk, moe_ffn: dims.fe,
            shared_ffn: dims.shared || undefined, dense_layers: dims.dense }) : '',
        mla: mla ? pairsOf(mla) : '',
        framework: 'Megatron-LM (TransformerEngine 2)',
        schedule: plan.vpp > 1 ? 'interleaved 1F1B' : '',
        sharding: plan.distributed_optimizer ? 'megatron distributed optimizer' : 'none',
        precision_layout: 'bf16',
        recompute: 'selective',
        optimizer: 'AdamW',
        attention: 'cuDNN',
    };
}

function cookbookRow(input) {
    const width = Math.round(input.hidden_size * input.ffn_expansion_factor);
    const experts = input.num_experts > 0;
    const degrees = input.tensor_parallel_size * input.pipeline_parallel_size;
    return {
        ...ANY_PART,
        ...texts({ L: input.num_layers, h: input.hidden_size, a: input.num_attention_heads,
            kv: Math.round(input.num_attention_heads * input.kv_size_ratio), ffn: width,
            head_dim: input.hidden_size / input.num_attention_heads,
            vocab: input.vocab_size, tied: false, tp: input.tensor_parallel_size,
            pp: input.pipeline_parallel_size, dp: input.num_gpus / degrees, cp: 1,
            ep: input.expert_parallelism, micro_batch: input.batch_size_per_gpu,
            seq_len: input.sequence_length }),
        model: input.num_mlp_linears === 3 ? input.model : `gpt ${input.model}`,
        moe: experts ? pairsOf({ E: input.num_experts, topk: 1, moe_ffn: width }) : '',
        framework: input.zero_stage > 1 ? 'DeepSpeed' : 'Megatron-LM',
        sharding: ['none', 'megatron distributed optimizer', 'zero2', 'zero3'][input.zero_stage],
        precision_layout: 'bf16',
        recompute: input.checkpoint_activations ? 'full' : 'none',
        optimizer: input.optimizer.replace('_', ' '),
        attention: 'unfused',
    };
}

/** Layers that keep and compute as good as nothing: states are all that is asked of them. */
function stackOf(parameters) {
    const count = Math.ceil(parameters / 1e9);
    return { layers: [{ name: 'layer', count, parameters: Math.round(parameters / count),
        activation_bytes: 0, forward_flops: 1 }] };
}

function deepspeedRequest(input, stage) {
    if (input.cpu_offload || input.cpu_offload_optimizer)
        return { request: {
            model: stackOf(input.total_params),
            cluster: { accelerator: 'nvidia-a100-sxm4-80gb', nodes: input.num_nodes,
                accelerators_per_node: input.gpus_per_node },
            workload: { kind: 'pretraining', framework: 'deepspeed', precision: 'bf16',
                global_batch_size: input.gpus_per_node * input.num_nodes, micro_batch_size: 1,
                offload: { optimizer: 'cpu', parameters: input.cpu_offload_params ? 'cpu' : 'none' } },
            parallelism: { tensor: 1, pipeline: 1, zero_stage: stage },
        } };
    return { request: {
        model: { parameters: input.total_params },
        workload: { kind: 'pretraining', framework: 'deepspeed', accounting: 'mixed-2-4-12' },
        parallelism: { data: input.gpus_per_node * input.num_nodes, zero_stage: stage },
    } };
}

const states = ['parameters', 'gradients', 'optimizer', 'master_weights'];
const kept = ['activations', 'logits'];
const megatronComponents = (stateNames, activation, total) => ({
    states: [stateNames, states],
    activations: [[activation], kept],
    total: [[total], [...states, ...kept]],
});
/** What a node needs at one time or another: theirs multiplies the start too. */
export const hostBytes = ({ host_high_bytes_per_node: high, host_start_bytes_per_node: start }, input) =>
    Math.max(high, input.zero_init ? 0 : input.additional_buffer_factor * start);

const deepspeedComponents = { states: [['gpu_model_states'], states],
    host: [['cpu_per_node'], hostBytes] };

/** How a tool's case is asked, and each component: [its outputs, our terms], both summed; ours may be
 * a function of our memory and the case. */
const tools = {
    'Megatron-LM': [megatronRequest,
        megatronComponents(['weight_grad_optimizer'], 'activation_sp_selective',
            'total_sp_selective')],
    'Megatron-Bridge': [megatronRequest,
        megatronComponents(['dense_parameters_and_optimizer',
            'routed_expert_parameters_and_optimizer'], 'activation', 'total')],
    'DeepSpeed-ZeRO2': [(input) => deepspeedRequest(input, 2), deepspeedComponents],
    'DeepSpeed-ZeRO3': [(input) => deepspeedRequest(input, 3), deepspeedComponents],
    'EleutherAI-cookbook': [(input) => requestOf(cookbookRow(input)), {
        parameters: [['per_gpu_model_mem'], ['parameters']],
        gradients: [['per_gpu_gradient_mem'], ['gradients']],
        optimizer: [['per_gpu_optimizer_mem'], ['optimizer', 'master_weights']],
        activations: [['per_gpu_activation_mem'], kept],
    }],
};

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

const parametersOf = ({ terms }) =>
    terms.find(({ name }) => name === 'parameters')?.bytes ?? 0;

/** With a layout the estimators tell of the stage with most parameters, else of the first. */
function stageOf(memory, input) {
    if (layoutOf(input).pipeline_layout === undefined)
        return groupOf(memory, 'first');
    return memory.ranks.reduce((most, one) =>
        (parametersOf(one) > parametersOf(most) ? one : most));
}

/** Errors by component; one that is zero on either side has no ratio and is left out. */
export function compare(components, outputs, estimate, input = {}) {
    const { terms = [] } = stageOf(estimate.memory, input);
    const errors = Object.entries(components).map(([name, [theirs, ours]]) => {
        const them = sum(theirs.map((output) => outputs[output] ?? 0));
        const us = typeof ours === 'function' ? ours(estimate.memory, input)
            : sum(terms.filter((term) => ours.includes(term.name)).map((term) => term.bytes));
        return [name, { error: Math.log(us / them), figure: them }];
    });
    return Object.fromEntries(errors.filter(([, { error }]) => Number.isFinite(error)));
}

export function questionOf({ tool, input }) {
    return tools[tool]?.[0](input) ?? { refusal: `the mapping knows no estimator "${tool}"` };
}

/** Nearer than this is agreement. */
const AGREES = 0.02;

const comparisons = {
    '=': (a, b) => a === b,
    '>': (a, b) => Number(a) > Number(b),
    '<=': (a, b) => Number(a) <= Number(b),
    '>=': (a, b) => Number(a) >= Number(b),
};

/** What a condition may name: the case's inputs and dimensions, and two that follow from them. */
function namesOf(input) {
    const { dims = {} } = input;
    return { ...input, ...dims, E: dims.E ?? 0, dense: dims.dense ?? 0, mla: dims.mla ? 1 : 0,
        uneven: input.pp > 1 && dims.L % input.pp !== 0 ? 1 : 0 };
}

/** "pp>1 and E=0": all of them. */
export function holds(condition, input) {
    const names = namesOf(input);
    return condition.split(' and ').every((part) => {
        const [, name, sign, value] = /^(\w+)(>=|<=|=|>)(\w+)$/.exec(part);
        return comparisons[sign](String(names[name]), value);
    });
}

const directions = { more: (error) => error > 0, less: (error) => error < 0, any: () => true };

/** A formula is theirs when it gives their figure to the rounding of a padded vocabulary. */
const SAME = 1e-3;

function isTheirs(formula, input, figure) {
    return formula === '' || Math.abs(formulas[formula](input) / figure - 1) < SAME;
}

/**
 * The written reason why a figure of ours is another, if there is one. A sum is explained where its
 * parts are: `open` says whether one of the case is not.
 */
export function reasonOf(reasons, { tool, input }, component, { error, figure, open }) {
    return reasons.find((one) => one.oracle === tool && one.component === component
        && directions[one.ours](error) && holds(one.condition, input)
        && (one.theirs === 'parts' ? !open : isTheirs(one.theirs, input, figure)));
}

/** @returns {string[]} lines for people: tables, what is unexplained, what was refused how often */
export async function oracleReport(url, cases, reasons) {
    const errors = new Map();
    const unexplained = [];
    const refused = new Map();
    for (const oracle of cases) {
        const { request, refusal } = questionOf(oracle);
        const answer = refusal === undefined ? await estimateOf(url, request) : { refusal };
        if (answer.refusal !== undefined) {
            const reason = `${oracle.tool}: ${answer.refusal}`;
            refused.set(reason, (refused.get(reason) ?? 0) + 1);
            continue;
        }
        const found = compare(tools[oracle.tool][1], oracle.output_bytes, answer.estimate,
            oracle.input);
        let open = false;
        for (const [component, { error, figure }] of Object.entries(found)) {
            const key = `${oracle.tool} ${component}`;
            const reason = Math.abs(error) <= AGREES ? 'agrees'
                : reasonOf(reasons, oracle, component, { error, figure, open });
            errors.set(key, [...errors.get(key) ?? [], { error, reason }]);
            if (reason === undefined)
                unexplained.push(`${oracle.case_id} ${component}: ${percent(error)}`);
            open ||= reason === undefined;
        }
    }
    return [`${cases.length} cases of other estimators; agreement is 2 %`,
        ...Array.from(errors, lineOf), lineOf(['all', [...errors.values()].flat()]),
        '', 'unexplained', ...unexplained,
        '', 'refused', ...Array.from(refused, ([reason, times]) => `${times} x ${reason}`)];
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function lineOf([key, found]) {
    const { mape, median, p90, bias } = summarizeErrors(found.map(({ error }) => error));
    const agree = found.filter(({ reason }) => reason === 'agrees').length;
    const open = found.filter(({ reason }) => reason === undefined).length;
    const right = (text, width) => String(text).padStart(width);
    return `${key.padEnd(32)} ${right(found.length, 4)} compared, ${right(agree, 3)} agree,`
        + ` ${right(found.length - agree - open, 3)} explained, ${right(open, 3)} not;`
        + ` mean ${right(percent(mape), 8)}  median ${right(percent(median), 8)}`
        + `  P90 ${right(percent(p90), 8)}  bias ${right(percent(bias), 8)}`;
}
