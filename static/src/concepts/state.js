/**
 * Which term is open, how its miniature is set, and what the service answers to it. All of it
 * stands in the address.
 *
 * @typedef {import("./terms.js").Term} Term
 * @typedef {import("../state/api.js").Problem} Problem
 * @typedef {{variant: import("./ask.js").Variant, estimate: any, timeline: any, problem: Problem | null}} Shown
 */
import { computed, signal } from "@preact/signals";
import * as api from "../state/api.js";
import { EXAMPLES } from "../state/examples.js";
import { page, place } from "../state/look.js";
import { hasModel, modelOf } from "../state/plan.js";
import { asProblem, follow, plan } from "../state/store.js";
import { CACHES, modelChosen, requestOn } from "./ask.js";
import { idOf, termOf } from "./terms.js";
import textsFile from "./texts.json";

const MOST_SPANS = 20_000;

/**
 * The words of every concept: data, which comes when the page is first opened; null until it is here.
 * @type {import("@preact/signals").Signal<Record<string, {group: string, text: string[], formula: string, source: string,
 *       note: string, see: string[]}> | null>}
 */
export const texts = signal(null);

/** Whether the words could not be had. */
export const unread = signal(false);

/** The bundle has the address of the file in its place. */
export async function readTexts() {
    try {
        unread.value = false;
        texts.value = await api.fetchAsset(new URL(String(textsFile), import.meta.url));
    } catch (error) {
        unread.value = asProblem(error) !== null;
    }
}

export const id = computed(() => idOf(place.value.term));
export const term = computed(() => termOf(id.value));
export const model = computed(() => modelChosen(place.value.m));

/** The knobs as they stand: a value that a knob does not have is its first one. */
export const knobs = computed(() => Object.fromEntries((term.value.knobs ?? []).map(({ name, values, initial }) => {
    const said = Number(place.value[name]);
    return [name, values.includes(said) ? said : initial];
})));

const variants = computed(() => term.value.variants(knobs.value));

/** @param {string} name @param {string | number} value */
export function set(name, value) {
    place.value = { ...place.value, term: id.value, [name]: String(value) };
}

/** To what was asked last, as text. @type {import("@preact/signals").Signal<{to: string, of: string, shown: Shown[]}>} */
export const answer = signal({ to: "", of: "", shown: [] });

/** Models whose cache is compared: that of the plan, the examples and two that differ most. */
const cached = computed(() => [
    ...(hasModel(plan.value) ? [{ label: "Your plan's model", model: modelOf(plan.value) }] : []),
    ...[...EXAMPLES.values()].map(({ title, config }) => ({ label: title, model: { config } })),
    ...CACHES.map(([label, config]) => ({ label, model: { config } })),
]);

/** What is asked, as text. */
const asked = computed(() => {
    if (page.value !== "concepts") return "none";
    if (term.value.show === "cache") return JSON.stringify([id.value, cached.value]);
    return JSON.stringify([id.value, variants.value.map((variant) => requestOn(variant, model.value))]);
});

/** Whether the answer in view is to another question. */
export const waiting = computed(() => answer.value.to !== asked.value);

/** @param {() => Promise<any>} ask @returns {Promise<{estimate?: any, problem: Problem | null}>} */
async function attempt(ask) {
    try {
        return { problem: null, ...(await ask()) };
    } catch (error) {
        const problem = asProblem(error);
        return { problem };
    }
}

/** @param {Record<string, any>} request @param {Term["show"]} show @param {AbortSignal} abort */
async function fetchVariant(request, show, abort) {
    const [estimate, timeline] = await Promise.all([api.postEstimate(request, abort),
        show === "bars" ? null : api.postTimeline(request, { limit: MOST_SPANS, ...(show === "rings" ? { rings: "true" } : {}) }, abort)]);
    return { estimate, timeline };
}

/** @param {any} named @param {AbortSignal} abort */
async function fetchCache(named, abort) {
    return { estimate: "hub" in named ? await api.fetchModel(named.hub, named.revision ?? "", abort)
        : await api.inspectConfig(named.config, abort) };
}

/** @param {AbortSignal} abort */
async function refresh(abort) {
    if (asked.peek() === "none") return;
    const to = asked.peek();
    const [of, list] = JSON.parse(to);
    const { show } = termOf(of);
    const labels = show === "cache" ? list.map(({ label }) => ({ label, patch: {} })) : variants.peek();
    const results = await Promise.all(list.map((item) => attempt(() =>
        (show === "cache" ? fetchCache(item.model, abort) : fetchVariant(item, show, abort)))));
    if (abort.aborted) return;
    answer.value = { to, of, shown: results.map((result, at) =>
        ({ estimate: null, timeline: null, ...result, variant: labels[at] })) };
}

let started = false;

/** Starts what follows the term and its knobs, once. */
export function start() {
    if (started) return;
    started = true;
    void readTexts();
    follow(() => asked.value, refresh);
}
