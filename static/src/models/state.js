/**
 * Which models are looked at, what the service knows of them, and a page of their tensors. A model
 * is named in the address: "plan", "example:" and an id, or a repository of the Hub.
 *
 * @typedef {import("../state/api.js").Problem} Problem
 * @typedef {{of: string, title: string, info: Api.Model, problem: Problem | null}} Known  of: what was asked, as text
 * @typedef {"a" | "b"} Slot
 * @typedef {Known & {slot: Slot}} Shown  one that could be read
 */
import { computed, signal } from "@preact/signals";
import * as api from "../state/api.js";
import { EXAMPLES } from "../state/examples.js";
import { page, place } from "../state/look.js";
import { emptyPlan, hasCluster, hasModel, modelName, modelOf, planOfExample } from "../state/plan.js";
import { follow, modelInfo, openPage, outcomeOf, plan, setPlan } from "../state/store.js";

/** What the address says for the model of the reader's plan; nothing to look at is "". */
export const OWN = "plan";
const EXAMPLE = "example:";

/** The first is always something. @param {Slot} slot */
export function chosen(slot) {
    const said = place.value[slot] ?? "";
    if (said !== "" && (!said.startsWith(EXAMPLE) || EXAMPLES.has(said.slice(EXAMPLE.length)))) return said;
    if (slot === "b") return "";
    return hasModel(plan.value) ? OWN : EXAMPLE + [...EXAMPLES.keys()][0];
}

/** @param {Slot} slot @param {string} name */
export function choose(slot, name) {
    const { [slot]: dropped, ...kept } = place.value;
    openPage("models", name === "" ? kept : { ...kept, [slot]: name });
}

/** @returns {[string, string][]} what can be chosen without typing */
export function readyModels() {
    return [[OWN, "The model of your plan"], ...[...EXAMPLES].map(([id, { title }]) =>
        /** @type {[string, string]} */ ([EXAMPLE + id, title]))];
}

/** A plan with that model, to ask with and to go on with. @param {string} name */
function planWith(name) {
    if (name === OWN) return plan.value;
    if (name.startsWith(EXAMPLE)) return planOfExample(name.slice(EXAMPLE.length));
    const [hub, revision = ""] = name.split("@");
    return { ...emptyPlan(), hub, revision };
}

/** The reader's plan, or one that starts from the example, with the model that is looked at. @param {string} name */
export function planIt(name) {
    const { hub, revision, example, config } = planWith(name);
    setPlan(hasModel(plan.value) || hasCluster(plan.value) ? { ...plan.value, hub, revision, example, config } : planWith(name));
    openPage("planner");
}

/** @returns {Known} */
const nothing = () => ({ of: "none", title: "", info: null, problem: null });

/** @type {Record<Slot, import("@preact/signals").Signal<Known>>} */
export const known = { a: signal(nothing()), b: signal(nothing()) };

/** The model of a slot as a request has it, as text; "none" where there is none. @param {Slot} slot */
function asked(slot) {
    const name = page.value === "models" ? chosen(slot) : "";
    return name === "" || !hasModel(planWith(name)) ? "none" : JSON.stringify(modelOf(planWith(name)));
}

/** Whether what is in view is of another model. @param {Slot} slot */
export const waiting = (slot) => known[slot].value.of !== asked(slot);

/** @param {Slot} slot @param {AbortSignal} abort */
async function refresh(slot, abort) {
    const of = asked(slot);
    const into = known[slot];
    if (of === "none") {
        into.value = nothing();
        return;
    }
    const title = modelName(planWith(chosen(slot)));
    const got = await outcomeOf(modelInfo(JSON.parse(of), abort));
    if (got) into.value = { of, title, info: got.value, problem: got.problem };
}

/** Tensors of a page of the table. */
const PAGE_TENSORS = 50;

/** Which model's tensors are listed. @type {import("@preact/signals").ReadonlySignal<Slot>} */
export const listed = computed(() => (place.value.of === "b" && chosen("b") !== "" ? "b" : "a"));

/** page: its number, from 1. @type {import("@preact/signals").Signal<{of: string, page: number, answer: Api.Sharding, problem: Problem | null}>} */
export const tensors = signal({ of: "none", page: 1, answer: null, problem: null });

/** Held whole by one device, in 16 bits: nothing is cut. @param {Api.Model} model */
const wholeOf = (model) => ({
    model, workload: { framework: "megatron", precision: "bf16", sequence_length: 1, global_batch_size: 1, micro_batch_size: 1 },
    cluster: { accelerator: "nvidia-h100-sxm5-80gb", nodes: 1, accelerators_per_node: 1 }, parallelism: { data: 1 },
});

/** Whose tensors of what name, as text. */
const sought = computed(() => {
    const of = asked(listed.value);
    return of === "none" ? of : JSON.stringify([wholeOf(JSON.parse(of)), place.value.find ?? ""]);
});

/** Pages are turned for one list; another one starts at its first, which has no cursor. */
const turned = signal({ of: "", cursors: [""] });

/** Cursors of the pages before this one and of this one. */
const cursors = computed(() => (turned.value.of === sought.value ? turned.value.cursors : [""]));

/** @param {string} [cursor]  of the next page; without one it goes back */
export function turn(cursor) {
    if (tensorsWaiting.peek()) return; /* the cursor is of the page before */
    const now = cursors.peek();
    turned.value = { of: sought.peek(), cursors: cursor === undefined ? now.slice(0, -1) : [...now, cursor] };
}

const tensorsAsked = computed(() => (sought.value === "none" ? "none" : JSON.stringify([sought.value, cursors.value.at(-1)])));

/** Whether the page in view is another one. */
export const tensorsWaiting = computed(() => tensors.value.of !== tensorsAsked.value);

/** @param {AbortSignal} abort */
async function refreshTensors(abort) {
    const of = tensorsAsked.peek();
    if (of === "none") return;
    const page = cursors.peek().length;
    const [list, cursor] = JSON.parse(of);
    const [request, find] = JSON.parse(list);
    const filter = { limit: PAGE_TENSORS, ...(find === "" ? {} : { tensor: api.wholePattern(find) }), ...(cursor === "" ? {} : { cursor }) };
    const got = await outcomeOf(api.postSharding(request, filter, abort));
    if (got) tensors.value = { of, page, answer: got.value, problem: got.problem };
}

/** A pattern, or the other model. @param {Record<string, string>} where */
export function look(where) {
    place.value = { ...place.value, ...where };
}

let started = false;

/** Starts what follows the address, once. */
export function start() {
    if (started) return;
    started = true;
    follow(() => asked("a"), (abort) => refresh("a", abort));
    follow(() => asked("b"), (abort) => refresh("b", abort));
    follow(() => tensorsAsked.value, refreshTensors);
}
