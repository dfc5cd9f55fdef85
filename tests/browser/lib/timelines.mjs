/**
 * Timelines as the service answers them, made by hand: one forward, one backward, on any number of
 * stages. For what needs no server, and for plans that follow each other faster than one answers.
 */

const FORWARD_S = 0.010;
const BACKWARD_S = 0.021;
const SEND_S = 0.0017;
const KINDS = ['forward', 'backward', 'send_output', 'send_gradient', 'optimizer'];
const BASE_BYTES = 20e9;
const KEPT_BYTES = 3e9;

/** The order of work of one stage: [kind, micro-batch], the first ones forward only. */
function orderOf(stage, stages, microbatches) {
    const warm = Math.min(stages - stage, microbatches);
    const order = Array.from({ length: warm }, (_, m) => [0, m]);
    for (let m = 0; m < microbatches; m += 1) {
        order.push([1, m]);
        if (m + warm < microbatches)
            order.push([0, m + warm]);
    }
    return order;
}

/** When everything ends, worked out by going round until nothing is left. */
function simulate(stages, microbatches) {
    const done = new Map();
    const left = Array.from({ length: stages }, (_, stage) => orderOf(stage, stages, microbatches));
    const free_s = new Array(stages).fill(0);
    const spans = [];
    const ready = (kind, stage, m) => {
        if (kind === 0)
            return stage === 0 ? 0 : done.get(`0 ${stage - 1} ${m}`);
        return stage === stages - 1 ? done.get(`0 ${stage} ${m}`) : done.get(`1 ${stage + 1} ${m}`);
    };
    for (let moved = true; moved;) {
        moved = false;
        for (let stage = 0; stage < stages; stage += 1) {
            const [next] = left[stage];
            const input_s = next && ready(next[0], stage, next[1]);
            if (input_s === undefined)
                continue;
            const [kind, m] = left[stage].shift();
            const start_s = Math.max(free_s[stage], input_s);
            const end_s = start_s + (kind === 0 ? FORWARD_S : BACKWARD_S) * (1 + stage / 64);
            free_s[stage] = end_s;
            spans.push({ lane: 2 * stage, kind, m, start_s, end_s });
            const sends = kind === 0 ? stage < stages - 1 : stage > 0;
            if (sends)
                spans.push({ lane: 2 * stage + 1, kind: kind + 2, m, start_s: end_s, end_s: end_s + SEND_S });
            done.set(`${kind} ${stage} ${m}`, end_s + (sends ? SEND_S : 0));
            moved = true;
        }
    }
    const step_s = Math.max(...free_s) + 0.004;
    for (let stage = 0; stage < stages; stage += 1)
        spans.push({ lane: 2 * stage, kind: 4, m: null, start_s: step_s - 0.004, end_s: step_s });
    return { step_s, spans: spans.sort((a, b) => a.start_s - b.start_s) };
}

/** Activations rise when a forward ends and fall when a backward does. */
function stairsOf(spans, stage, ranksPerStage) {
    const at_s = [];
    const bytes = [];
    let now = 0;
    const own = spans.filter(({ lane, kind }) => lane === 2 * stage && kind < 2);
    for (const { kind, end_s } of own) {
        now += kind === 0 ? KEPT_BYTES : -KEPT_BYTES;
        at_s.push(end_s);
        bytes.push(now);
    }
    return { rank: stage * ranksPerStage, stage, base_bytes: BASE_BYTES, at_s, bytes, peak_bytes: Math.max(...bytes) };
}

/** @param {{stages?: number, microbatches?: number, ranksPerStage?: number}} [shape] */
export function madeTimeline({ stages = 4, microbatches = 8, ranksPerStage = 32 } = {}) {
    const { step_s, spans } = simulate(stages, microbatches);
    const numbers = Array.from({ length: stages }, (_, stage) => stage);
    const column = (read) => spans.map(read);
    return {
        step_s, end_s: step_s, closed_form_s: step_s * 1.01, evaluator: 'simulation', left_out: 0,
        lanes: numbers.flatMap((stage) => ['compute', 'network'].map((stream) =>
            ({ rank: stage * ranksPerStage, stage, stream, group: stream === 'network' ? 'pipeline' : null }))),
        kinds: KINDS, operators: [],
        spans: {
            lane: column(({ lane }) => lane), kind: column(({ kind }) => kind), microbatch: column(({ m }) => m),
            chunk: column(({ m }) => (m === null ? null : 0)), layer: column(() => null), operator: column(() => null),
            step: column(() => null), start_s: column(({ start_s }) => start_s),
            end_s: column(({ end_s }) => end_s),
        },
        memory: numbers.map((stage) => stairsOf(spans, stage, ranksPerStage)),
        stages: numbers.map((stage) => {
            const own = spans.filter(({ lane }) => lane === 2 * stage);
            const busy_s = own.reduce((sum, { start_s, end_s }) => sum + end_s - start_s, 0);
            return { rank: stage * ranksPerStage, stage, busy_s, idle_ratio: 1 - busy_s / step_s,
                begin_s: own[0].start_s, end_s: own.at(-1).end_s };
        }),
        warnings: [], assumptions: [],
    };
}

/** What a profiler writes of a step of a millisecond on one device. */
export const recorded = () => {
    const kernel = (name, stream, ts, dur) => ({ ph: 'X', cat: 'kernel', name, pid: 0, tid: stream, ts, dur,
        args: { device: 0, stream, correlation: ts } });
    return { schemaVersion: 1, traceEvents: [
        { ph: 'X', cat: 'user_annotation', name: 'ProfilerStep#3', pid: 41, tid: 42, ts: 1000, dur: 1000, args: {} },
        kernel('nvjet_tst_128x256_64x4_h_bz_coopA_NTN', 7, 1020, 300), kernel('void flash::flash_fwd_kernel<X>', 7, 1320, 100),
        kernel('ncclDevKernel_AllGather_RING_LL', 13, 1520, 250)] };
};
