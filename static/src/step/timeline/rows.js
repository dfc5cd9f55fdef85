/**
 * A timeline as rows of typed arrays, and what is asked of them many times a second: which spans
 * are in view, what each pixel column shows, what runs at a moment. Pure.
 *
 * @typedef {Object} Row  the spans of one lane, by start
 * @property {number} rank
 * @property {number} stage
 * @property {string} stream
 * @property {string | null} group    whose communication it is
 * @property {Float64Array} start_s
 * @property {Float64Array} end_s
 * @property {Float64Array} reach_s   the latest end up to each span: spans of a lane may overlap
 * @property {Uint8Array} kind        index into kinds
 * @property {Int32Array} microbatch  -1 for none
 * @property {Int32Array} chunk       -1 for none
 * @property {Int32Array} layer       -1 for none
 * @property {Int32Array} operator    index into operators, -1 for none
 * @property {boolean} detailed       made of operators; a span without one is what they wait for
 * @property {Int32Array} step        of a ring, -1 for none
 *
 * @typedef {{rank: number, base_bytes: number, peak_bytes: number, at_s: Float64Array, bytes: Float64Array}} Stairs
 *
 * @typedef {Object} Timeline
 * @property {number} end_s            of all that is drawn; the next step may begin before
 * @property {number} chunks           of the model on a stage
 * @property {string[]} kinds
 * @property {string[]} operators
 * @property {Row[]} rows              stage by stage, in the order of STREAMS
 * @property {Api.TimelineStage[]} stages            as the service sent them
 * @property {[number, number] | null} steady_s  while every stage is between its first pass and its last
 * @property {Map<number, Row[]>} rowsOfStage
 * @property {Map<number, Stairs>} stairsOfStage
 */

/** Top to bottom within a stage: what is busy most comes first. */
export const STREAMS = ["compute", "scale_up", "network", "copy", "host"];

/** Wider than this, a span is drawn by itself; narrower ones of a kind run together. */
const OWN_PX = 3;

/** In place of a span: of several, or of a part of one. */
export const SHARED = -1;

/** @param {string} stream */
function orderOf(stream) {
    const at = STREAMS.indexOf(stream);
    return at < 0 ? STREAMS.length : at;
}

/** @param {Api.TimelineLane} lane @param {Api.TimelineSpans} spans @param {number[]} picked  numbers of its spans, by start @returns {Row} */
function rowOf({ rank, stage, stream, group = null }, spans, picked) {
    /** @param {"start_s" | "end_s"} name */
    const times = (name) => new Float64Array(picked.map((at) => spans[name][at]));
    /** @param {"microbatch" | "chunk" | "layer" | "operator" | "step"} name */
    const numbers = (name) => new Int32Array(picked.map((at) => spans[name][at] ?? -1));
    const end_s = times("end_s");
    let reach_s = -Infinity;
    return {
        rank, stage, stream, group, detailed: picked.some((at) => spans.operator[at] !== null), start_s: times("start_s"), end_s,
        reach_s: end_s.map((each_s) => (reach_s = Math.max(reach_s, each_s))), kind: new Uint8Array(picked.map((at) => spans.kind[at])),
        microbatch: numbers("microbatch"), chunk: numbers("chunk"), layer: numbers("layer"), operator: numbers("operator"), step: numbers("step"),
    };
}

/** @param {{begin_s: number, end_s: number}[]} stages @returns {[number, number] | null} */
function steadyOf(stages) {
    if (stages.length < 2) return null;
    const from_s = Math.max(...stages.map(({ begin_s }) => begin_s));
    const to_s = Math.min(...stages.map(({ end_s }) => end_s));
    return to_s > from_s ? [from_s, to_s] : null;
}

/** @param {Api.Timeline} answer  of the service @returns {Timeline} */
export function timelineOf(answer) {
    const { lanes, kinds, spans } = answer;
    const picked = lanes.map(() => /** @type {number[]} */ ([]));
    for (let at = 0; at < spans.lane.length; at += 1) picked[spans.lane[at]].push(at);
    const rows = lanes.map((lane, at) =>
        rowOf(lane, spans, picked[at].sort((a, b) => spans.start_s[a] - spans.start_s[b])))
        .filter((row) => row.start_s.length > 0 || row.stream === STREAMS[0])
        .sort((a, b) => a.stage - b.stage || orderOf(a.stream) - orderOf(b.stream));
    return {
        end_s: Math.max(answer.step_s, answer.end_s), kinds, operators: answer.operators, rows, stages: answer.stages,
        steady_s: steadyOf(answer.stages), chunks: 1 + spans.chunk.reduce((most, chunk) => Math.max(most, chunk ?? 0), 0),
        rowsOfStage: new Map(rows.map(({ stage }) => [stage, rows.filter((row) => row.stage === stage)])),
        stairsOfStage: new Map(answer.memory.map((stairs) =>
            [stairs.stage, { ...stairs, at_s: new Float64Array(stairs.at_s), bytes: new Float64Array(stairs.bytes) }])),
    };
}

/** How many of a rising list are at most the limit. @param {Float64Array} list @param {number} limit */
export function countUpTo(list, limit) {
    let low = 0;
    let high = list.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (list[middle] <= limit) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** The spans of a row that a window cuts: [first, end). @param {Row} row @param {number} from_s @param {number} to_s */
export function visible(row, from_s, to_s) {
    return [countUpTo(row.reach_s, from_s), countUpTo(row.start_s, to_s)];
}

/** The span that runs at a moment, the latest begun of several; -1 for none. @param {Row} row @param {number} at_s */
export function spanAt(row, at_s) {
    for (let at = countUpTo(row.start_s, at_s) - 1; at >= 0 && row.reach_s[at] > at_s; at -= 1) {
        if (row.end_s[at] > at_s) return at;
    }
    return -1;
}

/**
 * Runs of pixel columns to draw for one row, filled again and again.
 *
 * @typedef {{count: number, from: Int32Array, to: Int32Array, kind: Uint8Array, span: Int32Array, shade: Uint8Array,
 *            weight: Float64Array, met: Uint8Array, kinds: number}} Runs
 *          shade: of the columns of a run how much is covered, 255 for all; weight: of each kind in the open column, met: the
 *          kinds that have one, as many as kinds says
 * @param {number} width  pixel columns @param {number} kinds @returns {Runs}
 */
export function runsFor(width, kinds) {
    return {
        count: 0, from: new Int32Array(width), to: new Int32Array(width), kind: new Uint8Array(width),
        span: new Int32Array(width), shade: new Uint8Array(width), weight: new Float64Array(kinds), met: new Uint8Array(kinds), kinds: 0,
    };
}

/** @param {Runs} runs @param {number} from @param {number} to @param {number} kind @param {number} span @param {number} shade */
function add(runs, from, to, kind, span, shade) {
    const last = runs.count - 1;
    if (span === SHARED && last >= 0 && runs.span[last] === SHARED && runs.to[last] === from && runs.kind[last] === kind && runs.shade[last] === shade) {
        runs.to[last] = to;
        return;
    }
    runs.from[runs.count] = from;
    runs.to[runs.count] = to;
    runs.kind[runs.count] = kind;
    runs.span[runs.count] = span;
    runs.shade[runs.count] = shade;
    runs.count += 1;
}

/** In few steps, so that columns alike make one run; the least is seen still. @param {number} covered  of a pixel column [ratio] */
const shadeOf = (covered) => Math.min(255, 63 + 32 * Math.ceil(6 * covered));

/** @param {Runs} runs @param {number} kind @param {number} covered  of the open column */
function weigh(runs, kind, covered) {
    const { weight } = runs;
    if (covered > 0 && weight[kind] === 0) runs.met[runs.kinds++] = kind;
    weight[kind] += covered;
}

/** Closes a pixel column: the kind that covers most of it has it, the paler the less all of them cover. @param {Runs} runs @param {number} column */
function close(runs, column) {
    const { weight, met } = runs;
    let most = -1;
    let heaviest = 0;
    let covered = 0;
    for (let at = 0; at < runs.kinds; at += 1) {
        const kind = met[at];
        const own = weight[kind];
        covered += own;
        if (own > heaviest || (own === heaviest && kind < most)) {
            heaviest = own;
            most = kind;
        }
        weight[kind] = 0;
    }
    runs.kinds = 0;
    if (most >= 0) add(runs, column, column + 1, most, SHARED, shadeOf(covered));
}

/**
 * What each pixel column of a row shows. A span over OWN_PX columns is a run of its own between the
 * columns that it shares; narrower ones merge, so there is never more than one run per column.
 *
 * @param {Row} row @param {number} from_s @param {number} to_s @param {number} width  pixel columns of the window
 * @param {Runs} runs  at least that wide; overwritten
 */
export function fillRuns(row, from_s, to_s, width, runs) {
    const [first, end] = visible(row, from_s, to_s);
    const perSecond = width / (to_s - from_s);
    let drawn = 0; /* overlapping spans: what is behind is already shown */
    let open = -1;
    runs.count = 0;
    const { start_s, end_s } = row;
    for (let at = first; at < end; at += 1) {
        const left = Math.max(drawn, (start_s[at] - from_s) * perSecond);
        const right = Math.min(width, (end_s[at] - from_s) * perSecond);
        if (right <= left) continue;
        drawn = right;
        const column = Math.floor(left);
        const last = Math.floor(right);
        if (column !== open && open >= 0) close(runs, open);
        open = column;
        const kind = row.kind[at];
        if (last === column) {
            weigh(runs, kind, right - left);
            continue;
        }
        weigh(runs, kind, column + 1 - left);
        close(runs, column);
        if (last > column + 1) add(runs, column + 1, last, kind, right - left >= OWN_PX ? at : SHARED, 255);
        open = last < width ? last : -1;
        weigh(runs, kind, right - last);
    }
    if (open >= 0) close(runs, open);
}

/** What a stage does at a moment: its computing, else what it sends; -1 for nothing. @param {Row[]} rows @param {number} at_s */
export function kindAt(rows, at_s) {
    for (const row of rows) {
        const span = row.stream === "host" ? -1 : spanAt(row, at_s);
        if (span >= 0) return row.kind[span];
    }
    return -1;
}

/** Activations in flight at a moment. @param {Stairs} stairs @param {number} at_s */
export function bytesAt(stairs, at_s) {
    const steps = countUpTo(stairs.at_s, at_s);
    return steps === 0 ? 0 : stairs.bytes[steps - 1];
}
