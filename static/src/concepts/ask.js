/**
 * What the miniatures ask the service: a base that a variant changes. The same change, put on the
 * reader's own plan, is what "Plan it" does.
 *
 * @typedef {Object} Variant
 * @property {string} label
 * @property {Record<string, any>[]} patches  merge patches of the request, and of the reader's plan
 * @property {Record<string, any>[]} only     further ones, of the request alone
 * @property {Record<string, any>} [config]   of a model in place of the chosen one
 */
import { EXAMPLES } from "../state/examples.js";
import { applyPatch, hasModel, mergePatch, modelOf, NO_MODEL, planOfExample } from "../state/plan.js";
import { plan } from "../state/store.js";
import { book } from "./book.js";

/** What p.m says for the model of the reader's plan. */
const OWN = "plan";

/** @returns {[string, string][]} what the model of a miniature can be */
export function modelChoices() {
    const examples = /** @type {[string, string][]} */ ([...EXAMPLES].map(([id, { title }]) => [id, title]));
    return hasModel(plan.value) ? [[OWN, "The model of your plan"], ...examples] : examples;
}

/** @param {string | undefined} chosen @returns {string} one there is */
export function modelChosen(chosen) {
    const ids = modelChoices().map(([id]) => id);
    return ids.includes(chosen) ? chosen : ids[0];
}

/** A number in a text, such as "$gpus": what it says by name, so many times where the text goes on "*64". */
const NAMED = /\$(\w+)(?:\*(\d\w*))?/;

/** @template T @param {T} data @param {Record<string, number>} sizes  by name @returns {T} a copy with the numbers */
function filled(data, sizes) {
    return JSON.parse(JSON.stringify(data), (_, value) => {
        const [all, name, times = "1"] = NAMED.exec(value) ?? [];
        if (all === undefined) return value;
        return all === value ? sizes[name] * Number(times) : value.replace(all, sizes[name]);
    });
}

/** @param {import("./book.js").Term} term @param {Record<string, number>} knobs @returns {Variant[]} */
export function variantsOf(term, knobs) {
    const { equal, every, only, config, variants } = filled(term, knobs);
    const shared = [equal && filled(book.value.equal, equal), only];
    return variants.map(({ label, patch, only: own }) =>
        ({ label, config, patches: [every, patch].filter(Boolean), only: [...shared, own].filter(Boolean) }));
}

/** @param {string} id */
function modelNamed(id) {
    return id === OWN ? modelOf(plan.value) : { config: EXAMPLES.get(id).config };
}

/** @param {Variant} variant @param {string} model */
export function requestOn({ patches, only, config }, model) {
    const { base, software } = book.value;
    const request = [...patches, ...only].reduce(mergePatch, { ...base, model: config ? { config } : modelNamed(model) });
    return mergePatch(request, { workload: { software: software[request.workload.framework] } });
}

/**
 * The reader's plan with the change of a variant, or that of an example where there is no plan yet.
 * A release belongs to its framework: another framework leaves it open.
 * @param {Variant} variant @param {string} model @returns {import("../state/plan.js").Plan}
 */
export function planOn({ patches, config }, model) {
    const base = model === OWN || hasModel(plan.value) ? plan.value : planOfExample(model);
    const next = patches.reduce(applyPatch, config ? { ...base, ...NO_MODEL, config } : base);
    return next.framework === base.framework ? next : { ...next, software: "" };
}
