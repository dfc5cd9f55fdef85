/**
 * A second plan on the same axis: the plan of the page with one setting changed, its simulated step
 * and its estimate, asked for together.
 */
import { computed } from "@preact/signals";
import * as api from "../state/api.js";
import { beside } from "../state/look.js";
import { mergePatch } from "../state/plan.js";
import { choices } from "../state/store.js";
import { answerTo, asked, MOST_SPANS } from "./state.js";
import { fetchTimeline, names } from "./timeline/kinds.js";

const SCHEDULE = "/parallelism/schedule";

/** Schedules that cut a stage into chunks; the others are drawn with one. */
const CHUNKED = ["interleaved_1f1b", "zb_v"];

/** What can be drawn beside the plan. @returns {{label: string, items: [string, string][]}[]} items: change and words */
export function offered() {
    const settings = Object.entries(names.settings).flatMap(([pointer, text]) => (choices.value[pointer.split("/")[2]] ?? []).map((value) =>
        /** @type {[string, string]} */ ([`${pointer}=${value}`, `${text} ${value}`])));
    return [
        { label: "Schedule", items: Object.entries(names.schedules).map(([name, text]) => [`${SCHEDULE}=${name}`, text]) },
        { label: "Other setting", items: settings },
    ];
}

/** In words; what no list offers is shown as it came. @param {string} change */
export function wordsOf(change) {
    return offered().flatMap(({ items }) => items).find(([value]) => value === change)?.[1] ?? change;
}

/** A merge patch of the request. @param {string} change  "pointer=value" */
export function patchOf(change) {
    const [pointer, text] = change.split("=");
    const [, group, name] = pointer.split("/");
    const value = /^\d+$/.test(text) ? Number(text) : text;
    const single = pointer === SCHEDULE && !CHUNKED.includes(text);
    return { [group]: single ? { [name]: value, virtual_pipeline: 1 } : { [name]: value } };
}

/** The request of the other plan, as text. */
export const besideText = computed(() => asked.value && (!/^\/\w+\/\w+=\w+$/.test(beside.value) ? ""
    : JSON.stringify(mergePatch(JSON.parse(asked.value), patchOf(beside.value)))));

/** answer: {timeline, estimate} */
export const besides = answerTo(() => besideText.value, async (of, abort) => {
    const request = JSON.parse(of);
    const [timeline, estimate] = await Promise.all([fetchTimeline(request, { limit: MOST_SPANS }, abort), api.postEstimate(request, abort)]);
    return { timeline, estimate };
});
