/**
 * Steps against each other: whether a change is predicted as large as it was measured, and whether
 * the plan that is predicted fastest was fast.
 */
import { quantile } from './score.mjs';

/** What one run may differ in from another that is otherwise the same. */
const changes = ['recompute', 'tp', 'precision', 'micro_batch', 'num_gpus'];

/** What makes runs answers to one question: of them a planner picks one. */
const posed = ['source', 'model', 'layers', 'hidden', 'gpu', 'num_gpus', 'global_batch_sequences',
    'seq_len'];

/** Columns of the row as published that say what ran, in the order of the table. */
const told = ['source', 'framework', 'software', 'task', 'model', 'layers', 'hidden', 'seq_len', 'gpu',
    'num_gpus', 'tp', 'pp', 'vpp', 'cp', 'ep', 'sequence_parallel', 'zero_stage_or_fsdp',
    'global_batch_sequences', 'micro_batch', 'recompute', 'precision', 'schedule', 'flash_attention',
    'flags'];

/** What goes with a change: Megatron's selective recomputation came with sequence parallelism. */
const follows = { tp: ['sequence_parallel'], recompute: ['sequence_parallel'],
    num_gpus: ['global_batch_sequences'] };

function groupBy(results, keyOf) {
    const groups = new Map();
    for (const result of results) {
        const key = keyOf(result);
        groups.set(key, [...groups.get(key) ?? [], result]);
    }
    return [...groups.values()];
}

/** Answered complete rows of the table of steps. */
const answered = (results) => results.filter(({ refusal, row }) =>
    refusal === undefined && row.completeness === 'full');

/** Errors of the predicted ratios of pairs that differ in `change` alone, with the source of each. */
function ratioErrors(results, change) {
    const same = told.filter((name) => name !== change && !follows[change]?.includes(name));
    return groupBy(results, ({ row }) => JSON.stringify(same.map((name) => row.published[name] ?? '')))
        .flatMap((group) => group.flatMap((one, i) => group.slice(i + 1)
            .filter((other) => other.row.published[change] !== one.row.published[change])
            .map((other) => ({ source: one.row.source, error: Math.abs(one.error - other.error) }))));
}

const counted = (errors) => ({ pairs: errors.length,
    median: quantile(errors.map(({ error }) => error), 0.5) });

/**
 * Of each pair that differs in one column alone, the error of the predicted ratio:
 * ln((p1 / p2) / (m1 / m2)). A source of many rows decides the median over all, so each has its own.
 * @returns {{change, pairs, median, sources: {source, pairs, median}[]}[]}
 */
export function changesWithin(results) {
    return changes.map((change) => {
        const errors = ratioErrors(answered(results), change);
        const sources = groupBy(errors, ({ source }) => source)
            .map((own) => ({ source: own[0].source, ...counted(own) }));
        return { change, ...counted(errors), sources };
    });
}

/** Ranks from 0, those of equal values their mean. */
function ranksOf(values) {
    const sorted = [...values].sort((a, b) => a - b);
    return values.map((value) =>
        (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2);
}

/** Spearman's rank correlation; null of fewer than two values or of values all alike. */
export function rankCorrelation(left, right) {
    const [a, b] = [ranksOf(left), ranksOf(right)];
    const mean = (a.length - 1) / 2;
    const product = (x, y) => x.reduce((sum, value, i) => sum + (value - mean) * (y[i] - mean), 0);
    const spread = Math.sqrt(product(a, a) * product(b, b));
    return spread > 0 ? product(a, b) / spread : null;
}

/**
 * Of each question with at least five measured plans: the rank correlation over them, and the regret,
 * the measured time of the plan predicted fastest over the best one's, less 1.
 */
export function choicesOf(results) {
    return groupBy(answered(results), ({ row }) =>
        JSON.stringify(posed.map((name) => row.published[name] ?? '')))
        .filter((group) => group.length >= 5)
        .map((group) => {
            const measured = group.map(({ row }) => Number(row.measured_step_s));
            const predicted = group.map((result) => result.predicted_s);
            const chosen = predicted.indexOf(Math.min(...predicted));
            return { source: group[0].row.source, plans: group.length,
                correlation: rankCorrelation(predicted, measured),
                regret: measured[chosen] / Math.min(...measured) - 1 };
        });
}

/** By source: all its runs in one order, and the mean and the worst of its choices. */
export function choicesBySource(results) {
    const choices = choicesOf(results);
    return groupBy(answered(results), ({ row }) => row.source).flatMap((group) => {
        const { source } = group[0].row;
        const own = choices.filter((choice) => choice.source === source);
        const regrets = own.map(({ regret }) => regret);
        return own.length === 0 ? [] : [{ source, questions: own.length,
            all: rankCorrelation(group.map((result) => result.predicted_s),
                group.map(({ row }) => Number(row.measured_step_s))),
            correlation: quantile(own.map(({ correlation }) => correlation), 0.5),
            regret: regrets.reduce((sum, regret) => sum + regret, 0) / regrets.length,
            worst: Math.max(...regrets) }];
    });
}

export const percent = (share) => (share === null ? '-' : `${(100 * share).toFixed(1)} %`);

/** Both, for people. */
export function compareReport(results) {
    return [
        'changes within a source: error of the predicted ratio of two runs that differ in one thing',
        ...changesWithin(results).map(({ change, pairs, median, sources }) =>
            [`${change.padEnd(12)}  ${String(pairs).padStart(5)} pairs  median ${percent(median)}`,
                ...sources.map((own) => `${own.source} ${own.pairs}: ${percent(own.median)}`)].join('  ')),
        '',
        'choices: rank correlation over a source, and over the plans of one question (at least five); '
            + 'regret of the plan predicted fastest',
        ...choicesBySource(results).map(({ source, questions, all, correlation, regret, worst }) =>
            [source.padEnd(10), `over all ${all?.toFixed(3) ?? '-'}`,
                `${questions} questions`.padStart(13), `median ${correlation.toFixed(3)}`,
                `regret mean ${percent(regret)}, worst ${percent(worst)}`].join('  ')),
    ].join('\n');
}
