/**
 * The plans that stand side by side: the page's own and those set aside, each with what the service answers to it.
 *
 * @typedef {import("../state/plan.js").Plan} Plan
 * @typedef {import("../state/api.js").Problem} Problem
 * @typedef {{phase: "loading" | "done" | "problem", estimate: Api.Estimate, problem: Problem | null}} Answered
 * @typedef {Answered & {key: string, name: string, own: boolean, pin: string, plan: Plan}} Column
 *          pin: "" where the plan is not set aside
 */
import { computed, signal } from "@preact/signals";
import { postEstimate } from "../state/api.js";
import { comparing } from "../state/look.js";
import { hashOf, pins, planOfPin } from "../state/pins.js";
import { requestOf } from "../state/plan.js";
import { answer, asProblem, ownPin, plan } from "../state/store.js";
import { addressed } from "../widgets/address.js";
import { known } from "../widgets/words.js";

export const { said, say } = addressed(comparing);

/** @type {Answered} */
const WAITING = { phase: "loading", estimate: null, problem: null };

/** @returns {Problem} */
const missingModel = () => ({ title: "Another model", type: "missing", status: 0, errors: [], detail: known("help", "missing") });

/** Answers by request, of what is shown, each with what withdraws it. @type {import("@preact/signals").Signal<Map<string, Answered & {controller: AbortController}>>} */
const answers = signal(new Map());

/** @param {string} text  the request */
async function ask(text) {
    const controller = new AbortController();
    const hear = (/** @type {Answered} */ answered) => { answers.value = new Map(answers.peek()).set(text, { ...answered, controller }); };
    hear(WAITING);
    try {
        hear({ phase: "done", estimate: await postEstimate(JSON.parse(text), controller.signal), problem: null });
    } catch (error) {
        const problem = asProblem(error);
        if (problem && !controller.signal.aborted) hear({ phase: "problem", estimate: null, problem });
    }
}

/** Plans that were set aside and are not the page's own. */
const others = computed(() => pins.value.filter((pin) => pin !== ownPin.value)
    .map((pin) => ({ pin, ...planOfPin(pin, plan.value.config) })));

/** What has to be asked; the page's own plan is asked already. @returns {string[]} */
export const wanted = computed(() => others.value.filter(({ missing }) => !missing).map((one) => JSON.stringify(requestOf(one.plan))));

/** Asks for what is wanted and not known, and withdraws what nobody wants any more. @param {string[]} texts */
export function followWanted(texts) {
    const had = answers.peek();
    for (const [text, { controller }] of had) if (!texts.includes(text)) controller.abort();
    answers.value = new Map([...had].filter(([text]) => texts.includes(text)));
    for (const text of new Set(texts)) if (!had.has(text)) void ask(text);
}

/** Asks again for what had no answer. @param {Column} column */
export function askAgain(column) {
    void ask(JSON.stringify(requestOf(column.plan)));
}

/** @type {import("@preact/signals").ReadonlySignal<Column[]>} */
export const columns = computed(() => {
    const { phase, estimate, problem } = answer.value;
    const own = { key: "own", name: "The planner's", own: true, pin: pins.value.includes(ownPin.value) ? ownPin.value : "", plan: plan.value,
        phase: phase === "idle" ? "loading" : phase, estimate, problem };
    return /** @type {Column[]} */ ([own, ...others.value.map(({ pin, plan: one, missing }, at) => ({
        key: hashOf(pin), name: `Pin ${at + 1}`, own: false, pin, plan: one,
        ...(missing ? { phase: "problem", estimate: null, problem: missingModel() } : answers.value.get(JSON.stringify(requestOf(one))) ?? WAITING),
    }))]);
});

/** What the others are held against. */
export const baseline = computed(() => columns.value.find(({ key }) => key === said("base")) ?? columns.value[0]);
