/** The link of a saved plan, /?plan= and its slug: the page takes the plan over as its own, which the address then says. */
import { signal } from "@preact/signals";
import * as api from "./api.js";
import { valueWords } from "./fields.js";
import { hasModel, planOfRequest } from "./plan.js";
import { outcomeOf, setPlan } from "./store.js";

/** What the reader is told of it; "" for nothing. */
export const notice = signal("");

/** @param {string} slug @param {ReturnType<typeof planOfRequest>} found */
function noticeOf(slug, { plan, open }) {
    if (!hasModel(plan)) return `The saved plan ${slug} gives its model by its size or its layers alone, which the planner does not take.`;
    return open.length === 0 ? "" : `The saved plan ${slug} leaves open what stands here as: ${
        open.map((field) => `${field.label} ${valueWords(field, plan[field.key])}`).join(", ")}.`;
}

/** @param {string} slug */
async function open(slug) {
    const asked = location.search;
    notice.value = `Opening the saved plan ${slug}…`;
    const { value, problem } = await outcomeOf(api.fetchPlan(slug));
    if (problem) notice.value = `The saved plan ${slug} cannot be opened: ${problem.detail}.`;
    else if (location.search !== asked) notice.value = ""; /* the reader went on with something else */
    else {
        const found = planOfRequest(value.spec.request);
        notice.value = noticeOf(slug, found);
        if (hasModel(found.plan)) setPlan(found.plan, true);
    }
}

export function start() {
    const slug = new URLSearchParams(location.search).get("plan");
    if (slug) void open(slug);
}
