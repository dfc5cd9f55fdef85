/**
 * One row, in the columns of training_memory.csv, as an estimate request, or the reason why there
 * is none. This is the only mapping: the same rules for all rows, and no number that belongs to a
 * row or a source.
 */
import { clusterOf } from './cluster.mjs';
import { modelOf } from './model.mjs';
import { frameworkOf, gathersWide, interleaved, plainReplicas, stagesPerRank, workloadOf } from './workload.mjs';
import { count, firstMatch, known, truth } from './words.mjs';

/** Every column the mapping and the score read; a table without one has it blank. */
export const columns = ['row_id', 'source', 'completeness', 'framework', 'software', 'task',
    'model', 'L', 'h', 'a', 'kv', 'head_dim', 'ffn', 'vocab', 'tied', 'moe', 'mla', 'gpu',
    'gpu_mem_gib', 'num_gpus', 'gpus_per_node', 'tp', 'pp', 'vpp', 'schedule', 'dp', 'cp', 'ep',
    'etp', 'sp', 'sharding', 'reshard_after_forward', 'cpu_offload', 'global_batch_sequences',
    'micro_batch', 'seq_len', 'num_microbatches', 'recompute', 'precision_layout', 'optimizer',
    'attention', 'compile', 'ce_impl', 'peft', 'lora_rank', 'base_quant', 'topology_id',
    'inter_node_link', 'measured_step_s', 'measured_peak_gib', 'metric', 'stage', 'other_measured',
    'notes'];

export function completeRow(row) {
    const complete = Object.fromEntries(columns.map((name) => [name, row[name] ?? '']));
    return { ...complete, framework: complete.framework.replace(/\bhugging ?face\b/i, 'HF'),
        peft: /^(full|none|no|-)$/i.test(complete.peft) ? '' : complete.peft };
}

/** Exact words: what stands beside them in a cell ("1F1B vocab-parallel") is another schedule. */
const schedules = [
    [/^(non-interleaved )?1f1b( baseline)?$/i, '1f1b'],
    [interleaved, 'interleaved_1f1b'],
    [/^naive$/i, 'naive'],
    [/^(gpipe|afab|all[ -]forward[ -]all[ -]backward)$/i, 'gpipe'],
    [/^zb[ _-]?h1$/i, 'zb_h1'],
    [/^zb[ _-]?h2$/i, 'zb_h2'],
    [/^zb[ _-]?v$/i, 'zb_v'],
    [/^dual[ _-]?pipe$/i, 'dualpipe'],
];

/** A cell that says that there is none. */
const nothing = /^(|-|none|n\/a)$/i;

const scheduleOf = (row) => firstMatch(schedules, row.schedule);

/** FSDP's words for the stages; hybrids, which no stage says, go out as words. */
const shardings = [[/hybrid|hsdp/i, undefined], [/shard_grad_op|(zero|stage)[ -]?2|^2$/i, 2],
    [/fsdp|full_shard|(zero|stage)[ -]?3|^3$/i, 3]];
const hybrids = [[/hybrid.*(zero[ -]?2|grad)/i, 'hybrid_shard_zero2'], [/hybrid|hsdp/i, 'hybrid_shard']];

function zeroStageOf(row, framework) {
    const stage = /zero[ -]?([0-3])/i.exec(`${row.sharding} ${row.framework}`)?.[1]
        ?? /^[0-3]$/.exec(row.sharding)?.[0];
    const distributed = /distributed optimizer|dist opt|distributed$/i;
    if (framework?.startsWith('fsdp'))
        return firstMatch(shardings, row.sharding);
    if (stage !== undefined)
        return Number(stage);
    if ([row.sharding, row.precision_layout, row.optimizer].some((text) => distributed.test(text)))
        return 1;
    return row.sharding === 'none' || (framework === 'megatron' && plainReplicas.test(row.sharding)) ? 0 : undefined;
}

/**
 * Whether parameters are let go after forward. What graph_trainer's selective recomputation keeps
 * includes what FSDP gathered (torchtitan 2570, 3564).
 */
function reshardOf(row) {
    const graph = /graph_trainer/i.test(row.framework) || /graph SAC/i.test(row.notes);
    return firstMatch([[/^(always|1|true)$/i, true], [/^(never|0|false)$/i, false]],
        row.reshard_after_forward) ?? (graph && /SAC/.test(row.recompute) ? false : undefined);
}

/**
 * Blocks of each chunk where notes give Megatron's --pipeline-model-parallel-layout: E is the embedding, t a
 * block, L the loss, | the end of a chunk, (..)*n and t*n repeat.
 */
function chunksOf(row) {
    const [, said] = /\blayout (E[^\s:,;]*)/.exec(row.notes) ?? [];
    return said?.replace(/\(([^()]*)\)\*(\d+)/g, (_, part, times) => part.repeat(Number(times)))
        .replace(/(\w)\*(\d+)/g, (_, part, times) => part.repeat(Number(times)))
        .split('|').map((chunk) => [...chunk].filter((word) => word === 't').length);
}

function parallelismOf(row) {
    const framework = frameworkOf(row);
    const schedule = scheduleOf(row);
    return known({
        tensor: count(row.tp, 1),
        sequence: truth(row.sp),
        pipeline: count(row.pp, 1),
        virtual_pipeline: stagesPerRank(row),
        pipeline_layout: chunksOf(row),
        schedule,
        context: count(row.cp, 1),
        // EasyContext's is a ring beside DeepSpeed, whose own is an exchange.
        context_kind: firstMatch([[/cp a2a|a2a context/i, 'a2a'], [/cp p2p|easycontext/i, 'p2p']],
            `${row.attention} ${row.framework} ${row.notes}`),
        expert: count(row.ep, 1),
        expert_tensor: count(row.etp, 1),
        data: count(row.dp, 1),
        zero_stage: zeroStageOf(row, framework),
        sharding: firstMatch(hybrids, row.sharding),
        grad_reduce_dtype: reducedIn(row),
        gather_dtype: gathersWide(row) ? 'fp32' : undefined,
        // By itself: elsewhere it is said of other runs.
        gradient_sync: /(^|, )no_sync($|,)/.test(row.notes) ? 'last' : undefined,
        shard_group: count(/\bgroup (\d+)/.exec(row.sharding)?.[1], 2),
        reshard_after_forward: reshardOf(row),
        overlap: overlapOf(row),
    });
}

/** Whose measured runs are those of recipes: Megatron-Bridge's and, before it, NeMo's. */
const recipes = /^(megatron-bridge|nemo framework)/i;

/**
 * Asynchronous tensor parallelism hides collectives in pieces under their products, and so do
 * userbuffers, which the recipes turn on (tp_comm_overlap, ub_tp_comm_overlap), but for Grok-1's
 * (dgxc-benchmarking grok1/grok1_314b.yaml).
 */
function tensorOverlapOf(row) {
    const recipe = recipes.test(row.framework) && !/^grok/i.test(row.model) && !/nvfp4/i.test(row.base_quant || row.precision_layout);
    const asynchronous = /async[- ]tp/i.test(row.notes) || recipe;
    return asynchronous && count(row.tp, 2) !== undefined && truth(row.sp) !== false ? 'userbuffer' : undefined;
}

/** Options of Megatron's optimizer; Megatron-LLaMA's has both for good, and is named by them. */
const reduceOverlaps = [[/\bno overlap\b|(?<!\b(?:EP|TP|P2P|communication) )\boverlap off\b/i, false], [/\boverlap grad(ient)? reduce\b|\boverlapped distributed optimizer\b/i, true]];
const gatherOverlaps = [[/\bno overlap(?! of grad)\b|(?<!\b(?:EP|TP|P2P|communication) )\boverlap off\b/i, false], [/\boverlap param(eter)? gather\b|\boverlapped distributed optimizer\b/i, true]];

const overlapOf = (row) => known({ tensor: tensorOverlapOf(row), grad_reduce: firstMatch(reduceOverlaps, row.notes),
    param_gather: firstMatch(gatherOverlaps, row.notes) });

/**
 * FSDP1's PURE reduces in bf16, and so do the recipes (Megatron-Bridge's scripts/performance set
 * grad_reduce_in_fp32 to False, the examples of NeMo-Framework-Launcher grad_sync_dtype to bf16).
 */
function reducedIn(row) {
    const [, wire, type = wire] = row.precision_layout.match(/\b(fp32|bf16) reduce|\breduced in (fp32|bf16)\b/) ?? [];
    if (type !== undefined)
        return type;
    return /mixed_precision=PURE/.test(row.precision_layout) || recipes.test(row.framework)
        ? 'bf16' : undefined;
}

/** Frameworks whose words are like those of others, and which are none of them. */
const foreign = /maxtext|\bjax\b|neuronx|^llm\.c\b/i;

/** What a row says and the contract has no word for. */
function unsayable(row) {
    if (foreign.test(row.framework))
        return `the contract has no word for framework "${row.framework}"`;
    const [precision] = /\bmxfp4\b/i.exec(row.precision_layout) ?? [];
    if (precision !== undefined)
        return `the contract has no word for precision "${precision}"`;
    if (!nothing.test(row.schedule) && scheduleOf(row) === undefined)
        return `the contract has no word for schedule "${row.schedule}"`;
    return undefined;
}

/** @returns {{request?: object, refusal?: string}} */
export function requestOf(raw) {
    const row = completeRow(raw);
    const { config, refusal = unsayable(row) } = modelOf(row);
    if (refusal !== undefined)
        return { refusal };
    return {
        request: {
            model: { config },
            workload: workloadOf(row),
            cluster: clusterOf(row),
            parallelism: parallelismOf(row),
        },
    };
}
