/**
 * A search as it runs: asked with one POST, told by the events of its answer, cancelled by closing it. Asking again, or
 * for another plan, withdraws what is still running.
 *
 * @typedef {import("../state/api.js").Problem} Problem
 * @typedef {"idle" | "running" | "done" | "cancelled" | "problem"} Phase
 * @typedef {{phase: Phase, of: string, told: Api.SearchProgress, found: {of: string, plan: import("../state/plan.js").Plan, answer: Api.SearchResult} | null, result: Api.SearchResult, problem: Problem | null}} Run
 *          of: the request as text; told: the newest counts; found: the newest plans, what they answer and for which plan of
 *          the planner, of the search before until there are any; result: the whole answer
 */
import { batch, computed, signal } from "@preact/signals";
import { postSearch } from "../state/api.js";
import { readEvents } from "../state/event-stream.js";
import { MOST_PINS, pinOf, pins } from "../state/pins.js";
import { applyPatch } from "../state/plan.js";
import { asProblem, plan, setPlan, togglePin as setAside } from "../state/store.js";
import { changeTo } from "./apply.js";
import { say, searchOf } from "./ask.js";
import { isWhole, rowsOf } from "./plans.js";
import { known } from "../widgets/words.js";

/** @type {import("@preact/signals").Signal<Run>} */
export const run = signal({ phase: "idle", of: "", told: null, found: null, result: null, problem: null });

/** The answer to "why not this one", for the plan with that key; "" is the planner's own. */
export const why = signal(/** @type {{key: string, phase: Phase, answer: Api.SearchResult["why_not"], problem: Problem | null} | null} */ (null));

export const rows = computed(() => (run.value.found === null ? [] : rowsOf(run.value.found.answer)));
export const rowByKey = computed(() => new Map(rows.value.map((row) => [row.key, row])));

/** The row that scatter and table both show, and the one under the pointer. */
export const chosen = signal("");
export const hovered = signal("");

export const asked = computed(() => JSON.stringify(searchOf(plan.value)));

let withdraw = new AbortController();
let withdrawWhy = new AbortController();

/** @type {Problem} */
const BROKEN = { type: "about:blank", title: "The search broke off", status: 0, errors: [],
    detail: known("help", "broken_off") };

/**
 * Asks and hears the events of the answer until it is withdrawn; any end without a result is a problem.
 * @param {any} request @param {AbortSignal} abort @param {(name: string, data: any) => void} hear @param {(problem: Problem) => void} fail
 */
async function ask(request, abort, hear, fail) {
    let answered = false;
    try {
        await postSearch(request, abort, (body) => readEvents(body, ({ name, data }) => {
            if (abort.aborted) return;
            answered ||= name !== "progress";
            if (name === "error") fail({ errors: [], ...data });
            else hear(name, data);
        }));
        if (!answered && !abort.aborted) fail(BROKEN);
    } catch (error) {
        const problem = asProblem(error);
        if (!abort.aborted) fail(problem ?? BROKEN);
    }
}

export async function start() {
    cancel();
    withdraw = new AbortController();
    const of = asked.peek();
    const base = plan.peek();
    batch(() => {
        run.value = { phase: "running", of, told: null, found: run.peek().found, result: null, problem: null };
        why.value = null;
        say({ run: "1" });
    });
    await ask(JSON.parse(of), withdraw.signal, (name, answer) => {
        const now = run.peek();
        const found = { of, plan: base, answer };
        if (name === "progress") run.value = { ...now, told: answer, found: answer.best.length > 0 ? found : now.found };
        if (name === "result") run.value = { ...now, phase: "done", told: answer, found, result: answer };
    }, (problem) => { run.value = { ...run.peek(), phase: "problem", problem }; });
}

/** What was found stays. */
export function cancel() {
    withdraw.abort();
    if (run.peek().phase === "running") run.value = { ...run.peek(), phase: "cancelled" };
}

/**
 * @param {string} key  of the plan, "" for the planner's own
 * @param {{parallelism: any, workload: any, cluster?: any, cluster_index?: number}} of
 */
export async function askWhy(key, { parallelism, workload, cluster, cluster_index = 0 }) {
    withdrawWhy.abort();
    withdrawWhy = new AbortController();
    why.value = { key, phase: "running", answer: null, problem: null };
    const place = cluster_index > 0 ? { cluster_index } : {};
    const request = { ...JSON.parse(run.peek().found.of), why_not: { parallelism, workload, cluster, ...place } };
    await ask(request, withdrawWhy.signal, (name, data) => {
        if (name === "result") why.value = { key, phase: "done", answer: data.why_not, problem: null };
    }, (problem) => { why.value = { key, phase: "problem", answer: null, problem }; });
}

/** The pin of what the planner would hold with a plan that was found, in place of the plan that it searched for. @param {import("./plans.js").Row} row  a whole one */
function pinOfRow({ plan: found }) {
    const { of, plan: base, answer } = run.peek().found;
    const { plan: next, patch } = changeTo(base, found, JSON.parse(of), answer);
    return pinOf(applyPatch(next, patch));
}

/** Keys of the rows that are set aside. */
export const pinnedKeys = computed(() => (pins.value.length === 0 ? []
    : rows.value.filter((row) => isWhole(row) && pins.value.includes(pinOfRow(row))).map(({ key }) => key)));

/** @param {string} key */
export const isPinnedRow = (key) => pinnedKeys.value.includes(key);

/** @param {import("./plans.js").Row | undefined} row */
export function canPin(row) {
    return row !== undefined && isWhole(row) && pins.value.length < MOST_PINS;
}

/** @param {string} key */
export function togglePin(key) {
    const row = rowByKey.peek().get(key);
    if (row && isWhole(row)) setAside(pinOfRow(row));
}

/** The planner takes the plan over; the step back undoes it. @param {Api.SearchPlan} found */
export function apply(found) {
    const { of, answer } = run.peek().found;
    const { plan: base, patch } = changeTo(plan.peek(), found, JSON.parse(of), answer);
    setPlan(applyPatch(base, patch));
}
