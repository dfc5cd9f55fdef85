/** Why a slider has a single stop: what the service says of the value after it. */
import { computed, signal } from "@preact/signals";
import * as api from "../state/api.js";
import { FIELD_BY_KEY } from "../state/fields.js";
import { requestOf } from "../state/plan.js";
import { answer, choices, follow, model, outcomeOf, plan, planAfter, requestText } from "../state/store.js";

/** By name of a setting; of the plan before until this one is answered. */
export const reasons = signal(/** @type {Map<string, string>} */ (new Map()));

/** A model without routed experts has nothing to spread; a plan that spreads them all the same shows why not. */
export function hasExperts() {
    return (choices.value.expert ?? []).length > 1 || plan.value.expert > 1 || model.value.info?.parameters.routed_experts > 0;
}

const singles = computed(() => ["tensor", "pipeline", "virtualPipeline", "context", ...hasExperts() ? ["expert"] : []].filter((name) =>
    String(choices.value[FIELD_BY_KEY.get(name).choice]) === String(plan.value[name])));

/** @param {AbortSignal} abort */
async function ask(abort) {
    const names = singles.peek();
    if (names.length === 0) reasons.value = new Map();
    if (names.length === 0 || answer.peek().phase !== "done") return;
    const next = names.map((name) => requestOf(planAfter(plan.peek(), { [name]: 2 * plan.peek()[name] })));
    const got = await outcomeOf(api.postEstimates(next, abort));
    if (!got) return; /* overtaken */
    /* The last fault is the one of the setting itself, where it has one; the value it got is none that the reader set. */
    reasons.value = new Map((got.value ?? []).map((one, at) => [names[at], "errors" in one ? one.errors.at(-1)?.detail.replace(/,? got .*/, "") : ""]));
}

export function start() {
    follow(() => (answer.value.phase === "done" ? `${requestText.value} ${singles.value}` : ""), ask);
}
