/**
 * The state of the page as signals, and the effects that keep it true: the URL follows the plan,
 * the answers follow the plan, and an answer to an older plan is never shown.
 *
 * @typedef {import("./plan.js").Plan} Plan
 * @typedef {import("./api.js").Problem} Problem
 * @typedef {Object} Answer
 * @property {"idle" | "loading" | "done" | "problem"} phase
 * @property {Api.Estimate} estimate        the last estimate, kept while the next one is on its way
 * @property {Api.Estimate} previous        the estimate before it, for the differences
 * @property {Problem | null} problem
 */
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import * as api from "./api.js";
import { EXAMPLES } from "./examples.js";
import { atField, FIELD_BY_KEY, fieldForProblem } from "./fields.js";
import { forgetTimes, lookParts, page, place, readLook, tab } from "./look.js";
import { MOST_PINS, pinOf, pins } from "./pins.js";
import { applyPatch, hasCluster, hasModel, modelOf, modelSource, planOfExample, requestOf, STAGE, withoutExtra } from "./plan.js";
import { arrive, changeWords, pushAddress, writeAddress } from "./steps.js";
import { planOfUrl, urlOf } from "./url.js";

/** What is dear to compute waits until the reader pauses; what answers a change does not. */
export const PAUSE_MS = 150;

/** Panning and playing change the address many times a second; browsers take only so many. */
const ADDRESS_MS = 300;

export const plan = signal(planOfUrl(location.search, location.hash));
/** @type {Answer} */
const NO_ANSWER = { phase: "idle", estimate: null, previous: null, problem: null };
export const answer = signal(NO_ANSWER);

/** What stands while the next answer is on its way: who reads this alone is not drawn again for the asking. */
export const estimated = computed(() => answer.value.estimate);
export const choices = signal(/** @type {Record<string, any[]>} */ ({}));
/** @type {{info: Api.Model, problem: Problem | null, pending: boolean}} */
const NO_INFO = { info: null, problem: null, pending: false };
export const model = signal(NO_INFO);
export const accelerators = signal(/** @type {Api.Accelerator[]} */ ([]));
export const inventories = signal(/** @type {{items: Api.InventoryItem[], hint: string}} */ ({ items: [], hint: "" }));
export const inventory = signal(/** @type {Api.Inventory} */ (null));

/** What the counts are called that were typed and are none: the plan is the one before. */
export const unread = signal(/** @type {string[]} */ ([]));

/** Questions that the reader asked again. */
const asks = signal(0);

/** Writes to what is stored: answers from before the last one may be about what is no more. */
const writes = signal(0);

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

/**
 * @param {Plan} next
 * @param {boolean} [over]  written over the last step, as while a slider moves: one way back, not twenty
 */
export function setPlan(next, over = false) {
    const changed = urlOf(next) !== urlOf(plan.value);
    const words = changeWords(plan.value, next);
    batch(() => {
        plan.value = next;
        if (changed) forgetTimes();
    });
    if (!changed) return;
    if (over) writeAddress(address());
    else pushAddress(address(), words);
}

/** @param {import("./look.js").Tab} next */
export function openTab(next) {
    if (next === tab.value) return;
    tab.value = next;
    pushAddress(address());
}

/**
 * @param {import("./look.js").Page} next
 * @param {Record<string, string>} [where]  in that page
 */
export function openPage(next, where = {}) {
    batch(() => {
        page.value = next;
        place.value = where;
    });
    pushAddress(address());
}

/**
 * The planner with another plan, as one step back.
 * @param {Plan} next
 */
export function openPlanner(next) {
    const same = urlOf(next) === urlOf(plan.value);
    batch(() => {
        page.value = "planner";
        place.value = {};
    });
    if (same) pushAddress(address());
    else setPlan(next);
}

/** Sets a plan aside, or lets it go; the step back undoes it. Beyond what stands side by side there is no room. @param {string} pin */
export function togglePin(pin) {
    const now = pins.peek();
    const held = now.includes(pin);
    if (!held && now.length >= MOST_PINS) return;
    pins.value = held ? now.filter((other) => other !== pin) : [...now, pin];
    pushAddress(address());
}

/** The pin of the page's plan; "" without a model. */
export const ownPin = computed(() => (hasModel(plan.value) ? pinOf(plan.value) : ""));

/** Megatron shares experts out beside tensor ranks with sequence parallelism only. @param {Plan} plan */
export const lacksSequence = ({ framework, tensor, expert, sequence }) => framework === "megatron" && tensor > 1 && expert > 1 && !sequence;

/**
 * What goes with a change of one setting. A release and a moment of reducing belong to their framework: another
 * framework leaves them open, and starts with its own stage. What was read or measured on one machine says
 * nothing about another.
 *
 * @param {Plan} before @param {Record<string, any>} changes @returns {Plan}
 */
export function planAfter(before, changes) {
    const moved = "framework" in changes && changes.framework !== before.framework;
    const own = moved ? { software: "", gradientSync: "", zero: STAGE[changes.framework] ?? 0 } : {};
    const sac = moved && before.recompute === "op_sac" ? { recompute: "full" } : {};
    const cut = { ...before, ...own, ...sac, ...changes };
    const after = lacksSequence(cut) && !lacksSequence(before) && !("sequence" in changes) ? { ...cut, sequence: true } : cut;
    const machine = ["accelerator", "inventory"].some((key) => key in changes && changes[key] !== before[key]);
    return machine ? withoutExtra(after, "/cluster") : after;
}

/** @param {Record<string, any>} changes @param {boolean} [over]  as of setPlan */
export function change(changes, over = false) {
    setPlan(planAfter(plan.value, changes), over);
}

/** @param {Record<string, any>} patch  a merge patch of the request */
export function applyFix(patch) {
    setPlan(applyPatch(plan.value, patch));
}

/** An example on the cluster that is named or was chosen, else on its usual one. @param {string} id @param {string} [cluster]  ids of examples.js */
export function startExample(id, cluster) {
    const { sequence, ...settings } = EXAMPLES.get(id).settings;
    setPlan(cluster === undefined && hasCluster(plan.value) ? { ...plan.value, ...settings, example: id } : planOfExample(id, cluster));
}

/** Asks the service the same once more. */
export function askAgain() {
    answer.value = { ...answer.value, phase: "loading", problem: null };
    asks.value += 1;
}

/** One rank per replica, which is legal for every model and every part. */
const UNCUT = Object.fromEntries(["tensor", "sequence", "pipeline", "virtualPipeline", "context", "expert", "zero", "gradientSync", "microBatch"]
    .map((key) => [key, FIELD_BY_KEY.get(key).initial]));

/** Whether there is something to reset. */
export function isCut() {
    return Object.entries(UNCUT).some(([key, value]) => plan.value[key] !== value);
}

export function resetParallelism() {
    change(UNCUT);
}

/** @param {unknown} error @returns {Problem | null} null when the request was only withdrawn */
export function asProblem(error) {
    if (error instanceof api.ProblemError) return error.problem;
    if (error instanceof DOMException && error.name === "AbortError") return null;
    throw error;
}

/**
 * What came of a request; null when it was only withdrawn.
 * @template T
 * @param {Promise<T>} asked @returns {Promise<{value: T | null, problem: Problem | null} | null>}
 */
export async function outcomeOf(asked) {
    try {
        return { value: await asked, problem: null };
    } catch (error) {
        const problem = asProblem(error);
        return problem && { value: null, problem };
    }
}

/** @param {Record<string, any>} request @param {AbortSignal} abort */
async function refreshAnswer(request, abort) {
    const got = await outcomeOf(api.postEstimate(request, abort));
    if (got?.problem) answer.value = { ...NO_ANSWER, phase: "problem", problem: got.problem };
    else if (got) answer.value = { phase: "done", estimate: got.value, previous: answer.value.estimate, problem: null };
}

/** @param {Record<string, any>} request @param {AbortSignal} abort */
async function refreshChoices(request, abort) {
    const { sequence, ...cut } = request.parallelism;
    /* Left open, as it comes with what needs it: experts beside tensor ranks are offered too. */
    const asked = sequence === false && request.workload.framework === "megatron" && !(cut.expert > 1) ? { ...request, parallelism: cut } : request;
    const got = await outcomeOf(api.postChoices(asked, abort));
    if (got === null) return;
    /* A list runs empty when the fault lies elsewhere; the way out must stay in view. Of a problem the estimate tells. */
    const before = choices.peek();
    const lists = Object.fromEntries(Object.entries(got.value?.choices ?? {}).map(([name, list]) =>
        [name, list.length > 0 ? list : before[name] ?? []]));
    /* As they were, no control is drawn again. */
    if (JSON.stringify(lists) !== JSON.stringify(before)) choices.value = lists;
}

/** What the service reads from a model. @param {any} named  as a request names it @param {AbortSignal} abort */
export function modelInfo(named, abort) {
    return "hub" in named ? api.fetchModel(named.hub, named.revision ?? "", abort) : api.inspectConfig(named.config, abort);
}

/** @param {any} named @param {AbortSignal} abort */
async function refreshModel(named, abort) {
    model.value = { ...NO_INFO, pending: true };
    const got = await outcomeOf(modelInfo(named, abort));
    if (got) model.value = { info: got.value, problem: got.problem, pending: false };
}

/**
 * Runs task when the text changes, after a pause or at once, withdrawing what the older text had asked.
 * @param {() => string} text @param {(withdrawn: AbortSignal) => void} task @param {number} [pause_ms]
 */
export function follow(text, task, pause_ms = PAUSE_MS) {
    let last = "";
    let withdraw = () => {};
    effect(() => {
        const now = text();
        if (now === last) return;
        last = now;
        withdraw();
        const controller = new AbortController();
        const timer = pause_ms === 0 ? 0 : setTimeout(() => task(controller.signal), pause_ms);
        withdraw = () => {
            clearTimeout(timer);
            controller.abort();
        };
        if (pause_ms === 0) untracked(() => task(controller.signal));
    });
}

async function loadLists() {
    /* Without them the field falls back to the id, the estimate tells what is wrong. */
    accelerators.value = (await outcomeOf(api.fetchAccelerators()))?.value ?? [];
    await loadInventories();
}

const NO_INVENTORIES = { not_configured: "inventories need a database", failed: "the database does not answer" };

/** What is stored has changed here: asks anew for all that may rest on it. */
export function storeChanged() {
    writes.value += 1;
    void loadInventories();
}

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
    const got = slug === "" ? { value: /** @type {null} */ (null) } : await outcomeOf(api.fetchInventory(slug, abort));
    if (got) inventory.value = got.value;
}

function readAddress() {
    batch(() => {
        plan.value = planOfUrl(location.search, location.hash);
        readLook(location.search);
    });
}

let settling = 0;

/** Writes the address now where it would be soon: who takes it along must not get the one before. */
export function settleAddress() {
    if (settling === 0) return;
    clearTimeout(settling);
    settling = 0;
    writeAddress(address());
}

/** What the reader looks at is written over the address: only plans and tabs are steps back. */
function followLook() {
    effect(() => {
        clearTimeout(settling);
        settling = lookParts.value.length === 0 ? 0 : setTimeout(settleAddress, ADDRESS_MS);
    });
}

/** Starts everything that follows the plan. */
export function start() {
    readLook(location.search);
    window.addEventListener("popstate", () => {
        arrive(settling === 0 ? "" : address());
        readAddress();
    });
    window.addEventListener("hashchange", readAddress);
    followLook();

    effect(() => {
        const asked = requestText.value;
        answer.value = asked === "none" ? NO_ANSWER : { ...answer.peek(), phase: "loading" };
    });
    const storedText = computed(() => (plan.value.inventory === "" ? "" : String(writes.value)));
    follow(() => `${requestText.value} ${storedText.value} ${asks.value}`, (abort) => {
        if (requestText.peek() === "none") return;
        const request = JSON.parse(requestText.peek());
        void refreshAnswer(request, abort);
        void refreshChoices(request, abort);
    }, 0);

    const modelText = computed(() =>
        modelSource(plan.value) === "none" ? "none" : JSON.stringify(modelOf(plan.value)));
    follow(() => modelText.value, (abort) => {
        if (modelText.peek() === "none") model.value = NO_INFO;
        else void refreshModel(JSON.parse(modelText.peek()), abort);
    }, 0);
    follow(() => `inventory ${plan.value.inventory} ${storedText.value}`, (abort) => refreshInventory(plan.peek().inventory, abort), 0);
    void loadLists();
}
