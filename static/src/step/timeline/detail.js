/**
 * A closer look at the chosen stage: the operators that its passes are made of, and where asked for
 * the steps of its rings. Fetched for the part in view once that is narrow enough.
 */
import { computed } from "@preact/signals";
import * as api from "../../state/api.js";
import { rings } from "../../state/look.js";
import { answerTo, asked } from "../state.js";
import { timelineOf, visible } from "./rows.js";
import { computingRow, shown, stageShown, viewNow } from "./shown.js";

/** With more passes of the stage in view, its operators are narrower than a pixel. */
const MOST_PASSES = 40;
const MOST_SPANS = 40_000;

/** Windows that neighbouring views share, so that panning asks seldom. @param {[number, number]} view */
function windowOf([from_s, to_s]) {
    const size_s = 2 ** Math.ceil(Math.log2(to_s - from_s));
    const at = Math.floor(from_s / size_s);
    return [at * size_s, (at + 2) * size_s];
}

/** What is asked for, as text: none where the view is too wide. */
const detailText = computed(() => {
    const row = computingRow();
    if (row === null || asked.value === null) return null;
    const view = viewNow();
    const [first, end] = visible(row, view[0], view[1]);
    if (end - first > MOST_PASSES) return "";
    const [from_s, to_s] = windowOf(view);
    return JSON.stringify([row.rank, from_s, to_s, rings.value, asked.value]);
});

const fetched = answerTo(() => detailText.value, (of, abort) => {
    const [rank, from_s, to_s, ringed, request] = JSON.parse(of);
    return api.postTimeline({ ...JSON.parse(request), detail: "operator" }, { limit: MOST_SPANS, rank, from_s, to_s, rings: String(ringed) }, abort);
});

const detail = computed(() => (fetched.value.answer === null || fetched.value.of !== detailText.value
    || fetched.value.answer.left_out > 0 ? null : timelineOf(fetched.value.answer)));

/** Names of the operators of the rows. @returns {string[]} */
export const operators = computed(() => detail.value?.operators ?? []);

/** Operators of the stage, and the steps of its rings where they are asked for. @type {import("@preact/signals").ReadonlySignal<import("./rows.js").Row[]>} */
export const detailRows = computed(() => {
    const own = (detail.value?.rowsOfStage.get(stageShown.value) ?? []);
    const ring = rings.value ? own.filter((row) => row.group === "data" && row.step.some((step) => step >= 0)) : [];
    return [...own.filter((row) => row.stream === "compute"), ...ring].slice(0, 2);
});

/** Told in the lane itself, and so in pictures of it: the keys below say how to come closer. */
const MANY = "too many in view";

/** Why there are no operators. */
export const far = computed(() => {
    if (!detailText.value) return MANY;
    const { phase, of, answer, problem } = fetched.value;
    if (of !== detailText.value || phase === "loading") return "asking…";
    if (problem) return problem.detail || problem.title;
    return answer?.left_out > 0 ? MANY : "nothing here";
});
