/** The answers to the changes worth asking about; asked when the plan has its own and is left in peace. */
import { computed, effect, signal } from "@preact/signals";
import * as api from "../../state/api.js";
import { requestOf } from "../../state/plan.js";
import { accelerators, answer, outcomeOf, plan, planAfter, requestText } from "../../state/store.js";
import { movesOf } from "./moves.js";

/** A slider in motion asks for its own answers only. */
const PEACE_MS = 200;

/** Says in the request whose question it is: the plan's own carries none. */
const ANNOTATIONS = { asked_by: "what if" };

/** @typedef {{estimate: Api.Estimate, why: string | undefined}} Outcome  why: the change is not possible */

/** @type {import("@preact/signals").Signal<{of: string, outcomes: Map<string, Outcome>}>} by id of a move */
const told = signal({ of: "", outcomes: new Map() });

export const moves = computed(() => movesOf(plan.value, accelerators.value));

/** What is known of the moves of the plan that is shown. */
export const outcomes = computed(() => (told.value.of === requestText.value ? told.value.outcomes : new Map()));

/** @param {import("./moves.js").Move} move @param {AbortSignal} abort @returns {Promise<Outcome | null>} null: withdrawn, with all others */
async function ask(move, abort) {
    const request = { ...requestOf(planAfter(plan.peek(), move.changes)), annotations: ANNOTATIONS };
    const got = await outcomeOf(api.postEstimate(request, abort));
    return got && { estimate: got.value, why: got.problem?.errors[0]?.detail ?? got.problem?.detail };
}

/** @param {string} of @param {AbortSignal} abort */
async function askAll(of, abort) {
    const asked = moves.peek();
    const answers = await Promise.all(asked.map((move) => ask(move, abort)));
    if (!abort.aborted) told.value = { of, outcomes: new Map(asked.map((move, at) => [move.id, answers[at]])) };
}

/** Asks for as long as the ribbon is shown. @returns {() => void} */
export function followPlan() {
    return effect(() => {
        if (answer.value.phase !== "done" || accelerators.value.length === 0) return undefined;
        const of = requestText.value;
        if (of === told.peek().of) return undefined;
        const controller = new AbortController();
        const timer = setTimeout(() => { void askAll(of, controller.signal); }, PEACE_MS);
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    });
}
