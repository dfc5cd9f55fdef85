/**
 * Which term is open, how its miniature is set, and what the service answers to it. All of it
 * stands in the address.
 *
 * @typedef {import("../state/api.js").Problem} Problem
 * @typedef {{label: string, variant: import("./ask.js").Variant | null, estimate: any, timeline: Api.Timeline, problem: Problem | null}} Shown
 *   variant: none for a model whose cache is compared; the estimate is then the model
 */
import { computed, signal } from "@preact/signals";
import * as api from "../state/api.js";
import { EXAMPLES } from "../state/examples.js";
import { page, place } from "../state/look.js";
import { hasModel, modelOf } from "../state/plan.js";
import { asProblem, follow, plan } from "../state/store.js";
import { fetchTimeline } from "../step/timeline/kinds.js";
import { modelChosen, requestOn, variantsOf } from "./ask.js";
import { book } from "./book.js";

const MOST_SPANS = 20_000;

/** In the order of reading. */
export const ids = computed(() => Object.keys(book.value.terms));

/** The first where there is none such. */
export const id = computed(() => (ids.value.includes(place.value.term) ? place.value.term : ids.value[0]));
export const term = computed(() => book.value.terms[id.value]);
export const model = computed(() => modelChosen(place.value.m));

/** The knobs as they stand: a value that a knob does not have is its first one. */
export const knobs = computed(() => Object.fromEntries((term.value.knobs ?? []).map(({ name, values, initial }) => {
    const said = Number(place.value[name]);
    return [name, values.includes(said) ? said : initial];
})));

/** @param {string} name @param {string | number} value */
export function set(name, value) {
    place.value = { ...place.value, term: id.value, [name]: String(value) };
}

/** To what was asked last, as text. @type {import("@preact/signals").Signal<{to: string, of: string, shown: Shown[]}>} */
export const answer = signal({ to: "", of: "", shown: [] });

/** Models whose cache is compared: that of the plan, the examples and those of the term, which differ most. */
const cached = computed(() => /** @type {{label: string, ask: any, variant?: Shown["variant"]}[]} */ ([
    ...(hasModel(plan.value) ? [{ label: "Your plan's model", ask: modelOf(plan.value) }] : []),
    ...[...EXAMPLES.values()].map(({ title, config }) => ({ label: title, ask: { config } })),
    ...term.value.models.map(({ label, config }) => ({ label, ask: { config } })),
]));

/** What stands side by side, each with what is asked about it. */
const sides = computed(() => (term.value.show === "cache" ? cached.value
    : variantsOf(term.value, knobs.value).map((variant) => ({ label: variant.label, variant, ask: requestOn(variant, model.value) }))));

/** What is asked, as text. */
const asked = computed(() => (page.value !== "concepts" || book.value === null ? "none" : JSON.stringify([id.value, sides.value])));

/** Whether the answer in view is to another question. */
export const waiting = computed(() => answer.value.to !== asked.value);

/** What stands on one side, each part as the service has it. @param {any} ask @param {AbortSignal} abort @returns {Promise<Partial<Shown>>} */
async function fetchSide(ask, abort) {
    const { show } = term.peek();
    if (show === "cache") return { estimate: await ("hub" in ask ? api.fetchModel(ask.hub, ask.revision ?? "", abort) : api.inspectConfig(ask.config, abort)) };
    const [estimate, timeline] = await Promise.all([api.postEstimate(ask, abort),
        show === "bars" ? null : fetchTimeline(ask, { limit: MOST_SPANS, ...(show === "rings" ? { rings: "true" } : {}) }, abort)]);
    return { estimate, timeline };
}

follow(() => asked.value, async (abort) => {
    const to = asked.peek();
    if (to === "none") return;
    const of = id.peek();
    const shown = await Promise.all(sides.peek().map(async ({ label, variant = null, ask }) => {
        /** @type {Shown} */
        const side = { label, variant, estimate: null, timeline: null, problem: null };
        return fetchSide(ask, abort).then((parts) => ({ ...side, ...parts }), (error) => ({ ...side, problem: asProblem(error) }));
    }));
    if (!abort.aborted) answer.value = { to, of, shown };
});
