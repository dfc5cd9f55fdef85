/**
 * Constants of training memory that were read off measurements, fitted anew on the rows here. An
 * answer tells each term with its inputs, so what it would be with another constant is arithmetic:
 * no rebuild. Each constant is fitted alone, the others as they are, to the least mean error.
 */
import { groupOf, isComplete, keyOf, measuredBytes, metricOf, quantile, topologyOf }
    from './score.mjs';

/** More than this above the error of the fit itself, and a constant knows only its own sources. */
export const LEAVE_OUT_MARGIN = 0.03;

/** A committed constant whose mean error is this much above that of the fit has drifted. */
export const DRIFT_TOLERANCE = 0.015;

const figures = { peak_reserved_bytes: 'reserved', peak_allocated_bytes: 'allocated' };

const termOf = (rank, name, input) =>
    rank.terms.find((term) => term.name === name && input in term.inputs);

/** What the constants need of an answered complete row; undefined for bounds and device totals. */
export function factsOf({ row, estimate }) {
    const { figure, bound } = metricOf(row);
    if (figures[figure] === undefined || bound !== undefined)
        return undefined;
    const { memory } = estimate;
    const group = groupOf(memory, row.stage);
    const rank = group === memory
        ? memory.ranks.find((one) => one.rank === memory.binding_rank) ?? memory.ranks[0] : group;
    const fragmentation = termOf(rank, 'fragmentation', 'reserved_over_allocated')?.inputs;
    const allocated = rank.peak_allocated_bytes;
    const idle = fragmentation?.idle_bytes ?? 0;
    return {
        id: row.row_id, source: keyOf(row.source), topology: topologyOf(row),
        metric: figures[figure], measured: measuredBytes(row), rank, allocated, idle,
        ratio: (rank.peak_reserved_bytes - idle) / allocated,
        profile: estimate.resolved.workload.software,
    };
}

export function allFacts(results) {
    return results.filter(({ row, refusal }) => refusal === undefined && isComplete(row))
        .map(factsOf).filter((facts) => facts !== undefined);
}

/** The row's figure if it allocated so much. */
const figureAt = ({ metric, ratio, idle }, allocated) =>
    (metric === 'reserved' ? allocated * ratio + idle : allocated);

/**
 * The reserved over allocated with which an end of the interval would be just the measurement; an
 * allocated figure has an interval of the reserved one's proportions.
 */
function exactRatio({ metric, measured, allocated, idle, ratio }) {
    const reserved = metric === 'reserved' ? measured
        : measured / allocated * (allocated * ratio + idle);
    return (reserved - idle) / allocated;
}

const families = {
    megatron: /^(megatron-lm|nemo|mbridge)/,
    ddp: /^pytorch-ddp/,
    fsdp1: /^(pytorch-fsdp1|llm-foundry)/,
    torchtitan: /^torchtitan-20/,
    traced: /^torchtitan-graph/,
    deepspeed: /^deepspeed/,
};

const inFamily = (family) => ({ profile }) => families[family].test(profile);

function ratioOf(family) {
    return {
        name: `${family} fragmentation_ratio`,
        applies: (facts) => inFamily(family)(facts) && facts.metric === 'reserved',
        predict: ({ allocated, idle }, value) => allocated * value + idle,
    };
}

/** Bytes of a logit: of the answers that have the committed ones. */
function logitsOf(name, named) {
    return {
        name,
        applies: (facts) => named.some((family) => inFamily(family)(facts))
            && termOf(facts.rank, 'logits', 'bytes_per_logit')?.inputs.bytes_per_logit
                === facts.committed,
        predict: (facts, value) => {
            const { inputs } = termOf(facts.rank, 'logits', 'bytes_per_logit');
            return figureAt(facts,
                facts.allocated + inputs.logits * (value - inputs.bytes_per_logit));
        },
    };
}

const transientOf = ({ rank }) => termOf(rank, 'temporary', 'width');
const sharesOf = ({ rank }) => termOf(rank, 'activations', 'ranks_sharing_norms')?.inputs;

export const parameters = [
    ...Object.keys(families).map(ratioOf),
    logitsOf('traced logits_peak_bytes', ['traced']),
    logitsOf('eager logits_peak_bytes', ['torchtitan', 'fsdp1']),
    logitsOf('torchtitan fused_logits_peak_bytes', ['torchtitan']),
    logitsOf('torchtitan chunked_logits_peak_bytes', ['torchtitan']),
    logitsOf('ddp logits_peak_bytes', ['ddp']),
    {
        name: 'head_whole_copies',
        applies: (facts) => facts.rank.phase === 'head' && transientOf(facts) !== undefined
            && sharesOf(facts)?.ranks_sharing_norms > 1 && inFamily('megatron')(facts),
        predict: (facts, value) => {
            const { tensor } = sharesOf(facts);
            const { bytes } = transientOf(facts);
            const copies = (facts.committed * tensor + 1);
            return figureAt(facts, facts.allocated - bytes + bytes * (value * tensor + 1) / copies);
        },
    },
    {
        name: 'route_gradient_copies',
        applies: (facts) => facts.rank.phase === 'backward' && transientOf(facts) !== undefined
            && inFamily('megatron')(facts)
            && termOf(facts.rank, 'parameters', 'routed_parameters').inputs.routed_parameters > 0,
        predict: (facts, value) => {
            const { bytes } = transientOf(facts);
            return figureAt(facts, facts.allocated - bytes + bytes * value / facts.committed);
        },
    },
];

/** Each topology weighs the same, as in the score. */
function meanError(parameter, rows, value) {
    const groups = new Map();
    for (const row of rows) {
        const error = Math.abs(Math.log(parameter.predict(row, value) / row.measured));
        groups.set(row.topology, [...groups.get(row.topology) ?? [], error]);
    }
    const means = Array.from(groups.values(), (errors) =>
        errors.reduce((sum, error) => sum + error, 0) / errors.length);
    return means.reduce((sum, error) => sum + error, 0) / means.length;
}

/** Every prediction is linear in its constant: the value that makes the row exact. */
function exactValue({ predict }, row) {
    const slope = predict(row, 1) - predict(row, 0);
    return slope > 0 ? (row.measured - predict(row, 0)) / slope : undefined;
}

/** The least mean error of absolute values lies where some row is exact. */
export function fitted(parameter, rows, committed) {
    const candidates = rows.map((row) => exactValue(parameter, row))
        .filter((value) => value > 0);
    return [committed, ...candidates].map((value) => [meanError(parameter, rows, value), value])
        .reduce((best, one) => (one[0] < best[0] ? one : best))[1];
}

/**
 * @returns {{name, committed, rows, sources, refitted, drift, inSample, leftOut, bySource}} drift
 * is how much further off the committed value is than the refitted one; inSample the mean error of a
 * source with the value of all, leftOut with that of the others, null where there are no others
 */
export function fitOf(parameter, facts, committed) {
    const rows = facts.map((row) => ({ ...row, committed })).filter(parameter.applies);
    const sources = [...new Set(rows.map(({ source }) => source))];
    if (rows.length === 0)
        return { name: parameter.name, committed, rows, sources };
    const refitted = fitted(parameter, rows, committed);
    const bySource = sources.map((source) => {
        const own = rows.filter((row) => row.source === source);
        const others = rows.filter((row) => row.source !== source);
        if (others.length === 0)
            return { source, rows: own.length, value: null, error: null };
        const value = fitted(parameter, others, committed);
        return { source, rows: own.length, value, error: meanError(parameter, own, value) };
    });
    const errors = bySource.map(({ error }) => error).filter((error) => error !== null);
    return { name: parameter.name, committed, rows, sources, refitted, bySource,
        drift: meanError(parameter, rows, committed) - meanError(parameter, rows, refitted),
        inSample: mean(sources.map((source) => meanError(parameter,
            rows.filter((row) => row.source === source), refitted))),
        leftOut: errors.length === 0 ? null : mean(errors) };
}

const mean = (numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

/** What is wrong with a fit, in sentences; none is a pass. */
export function faultsOf({ name, committed, rows, refitted, drift, inSample, leftOut }) {
    const found = [];
    if (rows.length === 0)
        return found;
    if (drift > DRIFT_TOLERANCE) {
        found.push(`${name}: ${refitted.toFixed(3)} fits the rows ${percent(drift)} better than `
            + `${committed}, which is committed`);
    }
    if (leftOut !== null && leftOut > inSample + LEAVE_OUT_MARGIN) {
        found.push(`${name}: ${percent(leftOut)} off on sources it has not seen, `
            + `${percent(inSample)} on its own`);
    }
    return found;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** The ends of the interval that nine of ten rows of a family lie in, and how many do today. */
export function intervalsOf(facts, constant) {
    return Object.keys(families).map((family) => {
        const ratios = facts.filter(inFamily(family)).map(exactRatio);
        const ends = ['low', 'high'].map((end) => constant(`${family} fragmentation_${end}_ratio`));
        return { family, rows: ratios.length, committed: ends,
            refitted: [quantile(ratios, 0.05), quantile(ratios, 0.95)],
            covered: ratios.filter((ratio) => ends[0] <= ratio && ratio <= ends[1]).length };
    });
}
