/** The answers to the changes worth asking about; asked when the plan has its own and is left in peace. */
import { computed, effect, signal } from "@preact/signals";
import * as api from "../../state/api.js";
import { withSubject } from "../../state/fields.js";
import { requestOf } from "../../state/plan.js";
import { accelerators, answer, outcomeOf, plan, planAfter, requestText } from "../../state/store.js";
import { readable } from "../../state/prefs.js";
import { cutsNear, movesOf, sizesThatDivide } from "./moves.js";

/** A slider in motion asks for its own answers only. */
const PEACE_MS = 200;

/** @typedef {{estimate: Api.Estimate | null, why?: string}} Outcome  why: the change is not possible */

/** @type {import("@preact/signals").Signal<{of: string, outcomes: Map<string, Outcome | undefined>}>} by id of a move */
const told = signal({ of: "", outcomes: new Map() });

export const moves = computed(() => {
    const sizes = sizesThatDivide(answer.value.problem);
    return sizes ? cutsNear(plan.value, sizes) : movesOf(plan.value, accelerators.value);
});

/** What is known of the moves of the plan that is shown. */
export const outcomes = computed(() => (told.value.of === requestText.value ? told.value.outcomes : new Map()));

/** @param {Api.Estimate | api.Problem | undefined} got  nothing: of what the service left out @returns {Outcome | undefined} */
function outcomeIn(got) {
    if (!got) return undefined;
    return "errors" in got ? { estimate: null, why: readable(withSubject(got.errors[0] ?? got)) } : { estimate: got };
}

/** @param {string} of @param {AbortSignal} abort */
async function askAll(of, abort) {
    const asked = moves.peek();
    const requests = asked.map(({ changes }) => requestOf(planAfter(plan.peek(), changes)));
    const got = await outcomeOf(api.postEstimates(requests, abort));
    if (got === null) return;
    told.value = { of, outcomes: new Map(asked.map((move, at) => [move.id, outcomeIn(got.problem ?? got.value[at])])) };
}

/** Asks for as long as the ribbon is shown. @returns {() => void} */
export function followPlan() {
    return effect(() => {
        if (answer.value.phase === "loading" || accelerators.value.length === 0) return undefined;
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
