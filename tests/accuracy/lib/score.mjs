/**
 * Predicted against measured. An error is ln(predicted / measured): 0.05 is 5 % too much, and twice
 * too much weighs as half does.
 */

const GIB_BYTES = 2 ** 30;

/** A complete row without an answer counts as 100 % off. */
export const REFUSED_ERROR = 1;

/** Which figure of the answer a row measured, and whether it is a bound. In order. */
const metrics = [
    [/oom|lower_bound/, { figure: 'device_total_bytes', bound: 'lower' }],
    [/bound/, { figure: 'device_total_bytes', bound: 'upper' }],
    [/nvml|nvidia-smi|device/, { figure: 'device_total_bytes' }],
    [/reserved/, { figure: 'peak_reserved_bytes' }],
    [/allocated|active|tool_sum/, { figure: 'peak_allocated_bytes' }],
    // The source does not say: the middle one of the three is least far from either other.
    [/^(un(specified|known|stated)|not (said|stated))?$/, { figure: 'peak_reserved_bytes' }],
];

export function metricOf(row) {
    return metrics.find(([pattern]) => pattern.test(row.metric.toLowerCase()))?.[1];
}

export const measuredBytes = (row) => Number(row.measured_peak_gib) * GIB_BYTES;

/** Complete rows make the headline; partial and doubtful ones are reported beside it. */
export const isComplete = (row) => !/partial|doubtful/i.test(row.completeness);

/** The rank group a row measured: that of a stage, or the whole answer, which is the fullest. */
export function groupOf(memory, stage) {
    const { ranks } = memory;
    if (!/^(first|last)$/i.test(stage) || !Array.isArray(ranks) || ranks.length === 0)
        return memory;
    const named = ranks.find(({ role }) => role.toLowerCase().includes(stage.toLowerCase()));
    const ordered = [...ranks].sort((a, b) => a.rank - b.rank);
    return named ?? ordered.at(/^first$/i.test(stage) ? 0 : -1);
}

/** A group that does not give the figure itself has the whole answer's, in proportion. */
function figureOf(memory, group, figure) {
    return group[figure]
        ?? memory[figure] * (group.peak_allocated_bytes / memory.peak_allocated_bytes);
}

/** The 90 % interval of the row's figure; only reserved has one, others have its proportions. */
function intervalOf(estimate, predicted, figure) {
    const own = estimate.interval?.[figure];
    const reserved = estimate.interval?.peak_reserved_bytes;
    const [bounds, base] = own ? [own, estimate.memory[figure]]
        : [reserved, estimate.memory.peak_reserved_bytes];
    return bounds?.map((bytes) => predicted * bytes / base) ?? [predicted, predicted];
}

/** @returns {{predicted_bytes, error, covered}} of one answered row */
export function scoreRow(row, estimate) {
    const { figure, bound } = metricOf(row);
    const measured = measuredBytes(row);
    const group = groupOf(estimate.memory, row.stage);
    const predicted = figureOf(estimate.memory, group, figure);
    const [low, high] = intervalOf(estimate, predicted, figure);
    const error = Math.log(predicted / measured);
    const score = (kept, covered) => ({ predicted_bytes: predicted, error: kept, covered });
    if (bound === 'upper')
        return score(Math.max(0, error), low <= measured);
    if (bound === 'lower')
        return score(Math.min(0, error), high >= measured);
    return score(error, low <= measured && measured <= high);
}

/** Whether a row is of a run that its devices had no memory for. */
export const ranOut = (row) => /oom/i.test(row.metric ?? '');

/** Whether the answer calls a run too large for its devices that took place on them. */
export const deniesRun = (row, estimate) =>
    estimate.fits === false && metricOf(row)?.bound !== 'lower';

/** Columns that say what ran; rows alike in all of them measured one topology. */
const describing = ['framework', 'model', 'L', 'h', 'a', 'kv', 'head_dim', 'ffn', 'vocab', 'tied',
    'moe', 'mla', 'gpu', 'gpu_mem_gib', 'num_gpus', 'tp', 'pp', 'vpp', 'schedule', 'dp', 'cp', 'ep',
    'etp', 'sp', 'sharding', 'reshard_after_forward', 'cpu_offload', 'micro_batch', 'seq_len',
    'num_microbatches', 'recompute', 'precision_layout', 'optimizer', 'attention', 'compile',
    'ce_impl', 'peft', 'lora_rank', 'base_quant'];

/**
 * The metric and the stage belong to the measurement, and a release in the framework's name
 * ("torch 2.13") repeats a topology: neither makes another one.
 */
export function topologyOf(row) {
    const unreleased = { ...row, framework: row.framework.replace(/\d+(\.\d+)+\w*/g, '') };
    return row.topology_id || JSON.stringify(describing.map((name) => unreleased[name]));
}

const mean = (numbers) =>
    (numbers.length === 0 ? null : numbers.reduce((sum, x) => sum + x, 0) / numbers.length);

/** Between the neighbours, linearly: the median of two values is their mean. */
export function quantile(numbers, share) {
    if (numbers.length === 0)
        return null;
    const sorted = [...numbers].sort((a, b) => a - b);
    const place = share * (sorted.length - 1);
    const low = Math.floor(place);
    const high = Math.ceil(place);
    return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}

/** The same figures of bare errors. */
export function summarizeErrors(errors) {
    const absolute = errors.map(Math.abs);
    return { mape: mean(absolute), median: quantile(absolute, 0.5), p90: quantile(absolute, 0.9),
        bias: mean(errors) };
}

/**
 * Figures of some results { row, error, covered } (answered) or { row, refusal }: first averaged
 * within each topology, then over topologies. null is a figure that does not exist.
 */
export function summarize(results) {
    const topologies = new Map();
    for (const result of results) {
        const key = topologyOf(result.row);
        topologies.set(key, [...topologies.get(key) ?? [], result]);
    }
    const absolute = [];
    const biases = [];
    const coverages = [];
    for (const members of topologies.values()) {
        const answered = members.filter(({ refusal }) => refusal === undefined);
        absolute.push(mean(members.map(({ refusal, error }) =>
            (refusal === undefined ? Math.abs(error) : REFUSED_ERROR))));
        coverages.push(mean(members.map(({ covered }) => (covered ? 1 : 0))));
        if (answered.length > 0)
            biases.push(mean(answered.map(({ error }) => error)));
    }
    return {
        topologies: topologies.size,
        answered: results.filter(({ refusal }) => refusal === undefined).length,
        denied: results.filter(({ denied }) => denied).length,
        mape: mean(absolute),
        median: quantile(absolute, 0.5),
        p90: quantile(absolute, 0.9),
        bias: mean(biases),
        coverage90: mean(coverages),
    };
}

/** "torchtitan commit 5940ddeb5" is torchtitan-commit-5940ddeb5. */
export function keyOf(source) {
    return source.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'unnamed';
}

/** @returns {Map<string, {n, scored, headline, partial}>} by source, in the order of the table */
export function scoreSources(results) {
    const groups = new Map();
    for (const result of results) {
        const key = keyOf(result.row.source);
        groups.set(key, [...groups.get(key) ?? [], result]);
    }
    return new Map(Array.from(groups, ([key, members]) => {
        const complete = members.filter(({ row }) => isComplete(row));
        const partial = members.filter(({ row }) => !isComplete(row));
        return [key, { n: members.length, scored: complete.length, headline: summarize(complete),
            partial: { n: partial.length, ...summarize(partial) } }];
    }));
}
