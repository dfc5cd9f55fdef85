/** What the scatter draws, as signals that its layers share. */
import { computed, signal } from "@preact/signals";
import { said } from "./ask.js";
import { asked, chosen, rows, run } from "./run.js";
import { answer } from "../state/store.js";
import { splitDimensions } from "./plans.js";
import { dimensionLabel, FIGURE_BY_NAME, FIGURES, isKnown, titleOf, valuesIn } from "./figures.js";
import { edgeOf, endsOf, scaleOf } from "./scales.js";
import { fitOf } from "../widgets/fit.js";

/**
 * @typedef {import("./plans.js").Row} Row
 * @typedef {{key: string, left: number, top: number, radius: number, tone: string, row: Row | null, rejected: Api.SearchRejected | null}} Point
 *          row: null for a plan that is no answer; rejected: why, null for the planner's own
 */

/** The key of the planner's own plan. */
export const OWN = "own";

export const HEIGHT_PX = 380;
export const EDGES = { left: 62, right: 18, top: 14, bottom: 44 };
const RADII = [3.5, 10];
const LONE_RADIUS = 5.5;

/** Tones of values that are names rather than amounts, in the order of the values. */
const NAMED = ["blue", "orange", "green", "purple", "sky", "vermillion", "yellow", "ink"];
const STEPS = 5;

export const width = signal(0);
export const dimensions = computed(() => splitDimensions(rows.value));

/** The figures that any plan has, for the axes. */
export const known = computed(() => FIGURES.filter((figure) => isKnown(figure, rows.value)));

/** @param {string} name @param {string} fallback */
function figureSaid(name, fallback) {
    return known.value.find((figure) => figure.name === said(name)) ?? FIGURE_BY_NAME.get(fallback);
}

export const across = computed(() => figureSaid("x", "headroom_bytes"));
export const upwards = computed(() => figureSaid("y", "tokens_per_s"));

/** What may colour: figures, and dimensions in which the plans differ. @returns {[string, string][]} */
export const colours = computed(() => [
    ...known.value.map((figure) => [figure.name, titleOf(figure)]),
    ...dimensions.value.varied.map((name) => [name, dimensionLabel(name)]),
]);

export const colouredBy = computed(() => {
    /** @param {string} name */
    const has = (name) => colours.value.some(([other]) => other === name);
    return [said("colour"), "cost", "tensor", "recompute", "tokens_per_s"].find((name) => name && has(name)) ?? "tokens_per_s";
});

/** Plans that are no answer, the nearest of each reason, where they are shown. */
const rejectedShown = computed(() => {
    if (said("rejected") === "0") return [];
    return (run.value.found?.answer.rejected ?? []).filter(({ nearest }) => nearest).map((reason, at) => ({ reason, key: `no${at}` }));
});

const plans = computed(() => rows.value.map(({ plan }) => plan));

/** @returns {{tone: (row: Row) => string, legend: {tone: string, value: any}[]}} */
const colouring = computed(() => {
    const name = colouredBy.value;
    const figure = FIGURE_BY_NAME.get(name);
    if (!figure) {
        const values = [...new Set(rows.value.map(({ values: own }) => own[name]))].sort((a, b) => (a > b ? 1 : -1));
        /** @param {number} at */
        const toneAt = (at) => (values.length > NAMED.length ? `ramp-${Math.floor((at * STEPS) / values.length)}` : NAMED[at]);
        return { tone: (/** @type {Row} */ row) => toneAt(values.indexOf(row.values[name])), legend: values.map((value, at) => ({ tone: toneAt(at), value })) };
    }
    const [least, most] = endsOf(valuesIn(figure, plans.value));
    /** @param {number} value */
    const step = (value) => (most > least ? Math.min(STEPS - 1, Math.floor((STEPS * (value - least)) / (most - least))) : STEPS - 1);
    /** @param {Row} row */
    const tone = ({ plan }) => (typeof figure.read(plan) === "number" ? `ramp-${step(figure.read(plan))}` : "grey");
    const ends = Array.from({ length: STEPS }, (_, at) => ({ tone: `ramp-${at}`, value: least + ((most - least) * at) / (STEPS - 1) }));
    return { tone, legend: most > least ? ends : ends.slice(-1) };
});

export const legend = computed(() => colouring.value.legend);

/** Area goes with the count. @returns {(plan: Api.SearchPlan) => number} */
const radii = computed(() => {
    const [least, most] = endsOf(plans.value.map(({ accelerators = 0 }) => Math.sqrt(accelerators)));
    if (!(most > least)) return () => LONE_RADIUS;
    return (/** @type {Api.SearchPlan} */ plan) => RADII[0] + ((Math.sqrt(plan.accelerators ?? 0) - least) / (most - least)) * (RADII[1] - RADII[0]);
});

/** Whether the planner still holds what was searched: its plan means nothing among those of another model. */
const isSameJob = computed(() => {
    /** @param {string} text */
    const job = (text) => {
        const { model, workload } = JSON.parse(text);
        return JSON.stringify([model, workload.sequence_length]);
    };
    return run.value.found !== null && job(run.value.found.of) === job(asked.value);
});

/** The planner's own plan, for the reader to see where it stands; null while it has no answer that fits. */
const own = computed(() => {
    const { estimate, phase } = answer.value;
    if (phase !== "done" || fitOf(estimate)[0] === "bad" || !isSameJob.value) return null;
    const { time, throughput, memory, resolved } = estimate;
    return { ...estimate, ...time, ...throughput, ...memory, accelerators: resolved.cluster.accelerators };
});

/** Both axes over all that is drawn; null without plans. */
export const scales = computed(() => {
    const nearest = rejectedShown.value.map(({ reason }) => reason.nearest);
    const drawn = [...plans.value, ...nearest, ...(own.value ? [own.value] : [])];
    const [x, y] = [across.value, upwards.value].map((figure) => valuesIn(figure, drawn));
    return x.length === 0 || y.length === 0 ? null : { x: scaleOf(x), y: scaleOf(y) };
});

export const place = computed(() => {
    const inner = { width: Math.max(1, width.value - EDGES.left - EDGES.right), height: HEIGHT_PX - EDGES.top - EDGES.bottom };
    return {
        inner,
        left: (/** @type {number} */ value) => EDGES.left + scales.value.x.at(value) * inner.width,
        top: (/** @type {number} */ value) => EDGES.top + (1 - scales.value.y.at(value)) * inner.height,
    };
});

/** From left to right. A plan that was never timed stands on the floor. @returns {Point[]} */
export const points = computed(() => {
    if (scales.value === null) return [];
    const { left, top, inner } = place.value;
    /** @param {import("./figures.js").Plan} plan */
    const at = (plan) => {
        const [x, y] = [across.value.read(plan), upwards.value.read(plan)];
        return { left: typeof x === "number" ? left(x) : EDGES.left, top: typeof y === "number" ? top(y) : EDGES.top + inner.height };
    };
    const found = rows.value.map(/** @returns {Point} */ (row) => ({ key: row.key, ...at(row.plan), radius: radii.value(row.plan),
        tone: colouring.value.tone(row), row, rejected: null }));
    const others = rejectedShown.value.map(/** @returns {Point} */ ({ reason, key }) => ({ key, ...at(reason.nearest), radius: LONE_RADIUS, tone: "grey",
        row: null, rejected: reason }));
    /** @type {Point[]} */
    const mine = own.value ? [{ key: OWN, ...at(own.value), radius: LONE_RADIUS, tone: "ink", row: null, rejected: null }] : [];
    return [...others, ...found, ...mine].sort((a, b) => a.left - b.left || a.top - b.top);
});

/** @param {Point} point @returns {any} what its figures are read from */
export function planOf({ row, rejected }) {
    return row?.plan ?? rejected?.nearest ?? own.value;
}

export const pointByKey = computed(() => new Map(points.value.map((point) => [point.key, point])));

/** The staircase of what no other plan beats on these two axes, from border to border of what it beats, as a path. */
export const edgePath = computed(() => {
    const [toRight, toTop] = [across.value.better, upwards.value.better];
    const feasible = points.value.filter(({ row }) => row !== null).map(({ left, top }) => ({ x: left, y: -top }));
    const steps = edgeOf(feasible, toRight, toTop);
    if (steps.length === 0) return "";
    const { inner } = place.value;
    /** @param {{x: number, y: number}} at */
    const sideways = ({ x }) => `H${x.toFixed(1)}`;
    /** @param {{x: number, y: number}} at */
    const upright = ({ y }) => `V${(-y).toFixed(1)}`;
    const floor = `${EDGES.top + (toTop > 0 ? inner.height : 0)}`;
    return toRight > 0 ? `M${EDGES.left} ${(-steps[0].y).toFixed(1)}${steps.map((step) => upright(step) + sideways(step)).join("")}V${floor}`
        : `M${steps[0].x.toFixed(1)} ${floor}${steps.map((step) => sideways(step) + upright(step)).join("")}H${EDGES.left + inner.width}`;
});

/** The point to speak about. What is under the pointer is not spoken of: its words would move the page beneath it. */
export const spokenOf = computed(() => pointByKey.value.get(chosen.value) ?? null);
