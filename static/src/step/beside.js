/**
 * A second plan on the same axis: the plan of the page with one setting changed, its simulated step
 * and its estimate, asked for together.
 */
import { computed, signal } from "@preact/signals";
import * as api from "../state/api.js";
import { beside } from "../state/look.js";
import { mergePatch } from "../state/plan.js";
import { choices, follow } from "../state/store.js";
import { asked, dim, fetchInto, MOST_SPANS, nothing } from "./state.js";

/** answer: {timeline, estimate} */
export const besides = signal(nothing());

/** @type {[string, string][]} the schedules that the service simulates */
const SCHEDULES = [
    ["naive", "one stage at a time (naive)"], ["gpipe", "GPipe"], ["1f1b", "1F1B"], ["interleaved_1f1b", "interleaved 1F1B"],
    ["zb_h1", "ZB-H1"], ["zb_h2", "ZB-H2"], ["zb_v", "ZB-V"], ["dualpipe", "DualPipe"],
];

/** Those that cut a stage into chunks; the others are drawn with one. */
const CHUNKED = ["interleaved_1f1b", "zb_v"];

/** Other settings, by the name of their list in the answer of the choices. */
const SETTINGS = [
    ["virtual_pipeline", "/parallelism/virtual_pipeline", "virtual pipeline"], ["pipeline", "/parallelism/pipeline", "pipeline"],
    ["tensor", "/parallelism/tensor", "tensor"], ["zero_stage", "/parallelism/zero_stage", "ZeRO stage"],
    ["micro_batch_size", "/workload/micro_batch_size", "micro-batch"], ["recompute", "/workload/recompute", "recompute"],
];

const SCHEDULE = "/parallelism/schedule";

/** What can be drawn beside the plan. @returns {{label: string, options: {value: string, text: string}[]}[]} */
export function offered() {
    const schedules = SCHEDULES.map(([name, text]) => ({ value: `${SCHEDULE}=${name}`, text }));
    const settings = SETTINGS.flatMap(([list, pointer, text]) => (choices.value[list] ?? []).map((value) => (
        { value: `${pointer}=${value}`, text: `${text} ${value}` })));
    return [{ label: "Schedule", options: schedules }, { label: "Other setting", options: settings }];
}

/** In words; what no list offers is shown as it came. @param {string} change */
export function wordsOf(change) {
    return offered().flatMap(({ options }) => options).find(({ value }) => value === change)?.text ?? change;
}

/** A merge patch of the request. @param {string} change  "pointer=value" */
export function patchOf(change) {
    const [pointer, text] = change.split("=");
    const [, group, name] = pointer.split("/");
    const value = /^\d+$/.test(text) ? Number(text) : text;
    const single = pointer === SCHEDULE && !CHUNKED.includes(text);
    return { [group]: single ? { [name]: value, virtual_pipeline: 1 } : { [name]: value } };
}

const besideText = computed(() => (asked.value === "none" || !/^\/\w+\/\w+=\w+$/.test(beside.value) ? "none"
    : JSON.stringify(mergePatch(JSON.parse(asked.value), patchOf(beside.value)))));

/** @param {string} of @param {AbortSignal} abort */
function refresh(of, abort) {
    if (of === "none") {
        besides.value = nothing();
        return;
    }
    const request = JSON.parse(of);
    dim(besides);
    void fetchInto(besides, of, abort, async () => {
        const [timeline, estimate] = await Promise.all([
            api.postTimeline(request, { limit: MOST_SPANS }, abort), api.postEstimate(request, abort)]);
        return { timeline, estimate };
    });
}

export function start() {
    follow(() => besideText.value, (abort) => refresh(besideText.peek(), abort));
}
