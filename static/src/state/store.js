/**
 * The state of the page as signals, and the effects that keep it true: the URL follows the plan,
 * the answers follow the plan, and an answer to an older plan is never shown.
 *
 * @typedef {import("./plan.js").Plan} Plan
 * @typedef {import("./api.js").Problem} Problem
 * @typedef {Object} Answer
 * @property {"idle" | "loading" | "done" | "problem"} phase
 * @property {any} estimate        the last estimate, kept while the next one is on its way
 * @property {any} previous        the estimate before it, for the differences
 * @property {Problem | null} problem
 */
import { batch, computed, effect, signal } from "@preact/signals";
import * as api from "./api.js";
import { EXAMPLES } from "./examples.js";
import { atField, FIELD_BY_KEY, fieldForProblem } from "./fields.js";
import { forgetTimes, lookParts, readLook, tab } from "./look.js";
import { applyPatch, emptyPlan, hasModel, modelOf, modelSource, requestOf } from "./plan.js";
import { planOfUrl, urlOf } from "./url.js";

const DEBOUNCE_MS = 150;

/** Panning and playing change the address many times a second; browsers take only so many. */
const ADDRESS_MS = 300;

export const plan = signal(planOfUrl(location.search, location.hash));
export const answer = signal(/** @type {Answer} */ ({ phase: "idle", estimate: null, previous: null, problem: null }));
export const choices = signal(/** @type {Record<string, any[]>} */ ({}));
export const model = signal(/** @type {{info: any, problem: Problem | null, pending: boolean}} */ (
    { info: null, problem: null, pending: false }));
export const accelerators = signal(/** @type {any[]} */ ([]));
export const inventories = signal(/** @type {{items: any[], hint: string}} */ ({ items: [], hint: "" }));
export const inventory = signal(/** @type {any} */ (null));

/** The message of each setting, from the last problem document. */
export const fieldErrors = computed(() => {
    /** @type {Map<string, import("./api.js").ProblemItem>} */
    const found = new Map();
    const refused = answer.value.problem;
    for (const item of refused?.errors ?? []) {
        const key = fieldForProblem(item.pointer ?? "");
        if (key !== null && !found.has(key)) found.set(key, atField(item, key));
    }
    const unread = model.value.problem;
    if (unread && !found.has("hub")) {
        found.set("hub", { pointer: "/model", code: unread.type, ...unread.errors[0],
            detail: unread.errors[0]?.detail ?? unread.detail });
    }
    return found;
});

/** The body of the estimate as text; "none" without a model. */
export const requestText = computed(() => (hasModel(plan.value) ? JSON.stringify(requestOf(plan.value)) : "none"));

/** The address of the page as it stands. */
function address() {
    return urlOf(plan.peek(), lookParts.peek()) || location.pathname;
}

/** @param {Plan} next */
export function setPlan(next) {
    const changed = urlOf(next) !== urlOf(plan.value);
    batch(() => {
        plan.value = next;
        if (changed) forgetTimes();
    });
    if (changed) history.pushState(null, "", address());
}

/** @param {"summary" | "step"} next */
export function openTab(next) {
    if (next === tab.value) return;
    tab.value = next;
    history.pushState(null, "", address());
}

/** The ZeRO stage that people take each framework for. */
const STAGE = { megatron: 1, ddp: 0, fsdp1: 3, fsdp2: 3, deepspeed: 3 };

/**
 * A release belongs to its framework: another framework leaves it open, and starts with its own stage.
 * @param {Record<string, any>} changes
 */
export function change(changes) {
    const moved = "framework" in changes && changes.framework !== plan.value.framework;
    const own = moved ? { software: "", zero: STAGE[changes.framework] ?? 0 } : {};
    const sac = moved && plan.value.recompute === "op_sac" ? { recompute: "full" } : {};
    setPlan({ ...plan.value, ...own, ...sac, ...changes });
}

/** @param {Record<string, any>} patch  a merge patch of the request */
export function applyFix(patch) {
    setPlan(applyPatch(plan.value, patch));
}

/** @param {string} id */
export function startExample(id) {
    setPlan({ ...emptyPlan(), ...EXAMPLES.get(id).settings, example: id });
}

/** Back to one rank per replica, which is legal for every model and cluster. */
export function resetParallelism() {
    const keys = ["tensor", "sequence", "pipeline", "virtualPipeline", "zero", "microBatch"];
    change(Object.fromEntries(keys.map((key) => [key, FIELD_BY_KEY.get(key).initial])));
}

/** @param {unknown} error @returns {Problem | null} null when the request was only withdrawn */
export function asProblem(error) {
    if (error instanceof api.ProblemError) return error.problem;
    if (error instanceof DOMException && error.name === "AbortError") return null;
    throw error;
}

/** @param {Record<string, any>} request @param {AbortSignal} abort */
async function refreshAnswer(request, abort) {
    try {
        const estimate = await api.postEstimate(request, abort);
        const previous = answer.value.estimate;
        answer.value = { phase: "done", estimate, previous, problem: null };
    } catch (error) {
        const problem = asProblem(error);
        if (problem) answer.value = { phase: "problem", estimate: null, previous: null, problem };
    }
}

/** @param {Record<string, any>} request @param {AbortSignal} abort */
async function refreshChoices(request, abort) {
    try {
        const lists = Object.entries((await api.postChoices(request, abort)).choices ?? {});
        const before = choices.peek();
        /* A list runs empty when the fault lies elsewhere; the way out must stay in view. */
        choices.value = Object.fromEntries(lists.map(([name, list]) =>
            [name, list.length > 0 ? list : before[name] ?? []]));
    } catch (error) {
        if (asProblem(error)) choices.value = {}; /* the estimate carries the reason */
    }
}

/** @param {Plan} of @param {AbortSignal} abort */
async function refreshModel(of, abort) {
    model.value = { info: null, problem: null, pending: true };
    try {
        const named = modelOf(of);
        const info = "hub" in named
            ? await api.fetchModel(named.hub, of.revision, abort)
            : await api.inspectConfig(named.config, abort);
        model.value = { info, problem: null, pending: false };
    } catch (error) {
        const problem = asProblem(error);
        if (problem) model.value = { info: null, problem, pending: false };
    }
}

/** Runs task when the text changes, after a pause, withdrawing what the older text had asked. */
export function follow(text, task) {
    let last = "";
    let withdraw = () => {};
    effect(() => {
        const now = text();
        if (now === last) return;
        last = now;
        withdraw();
        const controller = new AbortController();
        const timer = setTimeout(() => task(controller.signal), DEBOUNCE_MS);
        withdraw = () => {
            clearTimeout(timer);
            controller.abort();
        };
    });
}

async function loadLists() {
    try {
        accelerators.value = await api.fetchAccelerators();
    } catch (error) {
        asProblem(error); /* the field falls back to the id, the estimate tells what is wrong */
    }
    await loadInventories();
}

const NO_INVENTORIES = { not_configured: "inventories need a database", failed: "the database does not answer" };

/** Asks first whether there is a database, so that a page without one makes no failing request. */
async function loadInventories() {
    try {
        const status = await api.databaseStatus();
        inventories.value = status === "ok" ? { items: await api.fetchInventories(), hint: "" }
            : { items: [], hint: NO_INVENTORIES[status] ?? NO_INVENTORIES.failed };
    } catch {
        inventories.value = { items: [], hint: NO_INVENTORIES.failed };
    }
}

/** @param {string} slug @param {AbortSignal} abort */
async function refreshInventory(slug, abort) {
    try {
        inventory.value = slug === "" ? null : await api.fetchInventory(slug, abort);
    } catch (error) {
        if (asProblem(error)) inventory.value = null;
    }
}

function readAddress() {
    batch(() => {
        plan.value = planOfUrl(location.search, location.hash);
        readLook(location.search);
    });
}

/** What the reader looks at is written over the address: only plans and tabs are steps back. */
function followLook() {
    effect(() => {
        if (lookParts.value.length === 0) return undefined;
        const timer = setTimeout(() => history.replaceState(null, "", address()), ADDRESS_MS);
        return () => clearTimeout(timer);
    });
}

/** Starts everything that follows the plan. */
export function start() {
    readLook(location.search);
    window.addEventListener("popstate", readAddress);
    window.addEventListener("hashchange", readAddress);
    followLook();

    effect(() => {
        const asked = requestText.value;
        batch(() => {
            const now = answer.peek();
            answer.value = asked === "none"
                ? { phase: "idle", estimate: null, previous: null, problem: null }
                : { ...now, phase: "loading" };
        });
    });
    follow(() => requestText.value, (abort) => {
        if (requestText.peek() === "none") return;
        const request = JSON.parse(requestText.peek());
        void refreshAnswer(request, abort);
        void refreshChoices(request, abort);
    });

    const modelText = computed(() =>
        modelSource(plan.value) === "none" ? "none" : JSON.stringify(modelOf(plan.value)));
    follow(() => modelText.value, (abort) => {
        if (modelText.peek() === "none") model.value = { info: null, problem: null, pending: false };
        else void refreshModel(plan.peek(), abort);
    });
    follow(() => `inventory ${plan.value.inventory}`, (abort) => refreshInventory(plan.peek().inventory, abort));
    void loadLists();
}
