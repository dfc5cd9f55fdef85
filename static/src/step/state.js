/**
 * The timeline and the sharding of the plan, asked for while their view is open. An answer to an
 * older plan is never shown.
 *
 * @typedef {import("../state/api.js").Problem} Problem
 * @typedef {{phase: "idle" | "loading" | "done" | "problem", of: string, answer: any, problem: Problem | null}} Fetched
 */
import { computed, effect, signal } from "@preact/signals";
import * as api from "../state/api.js";
import { pause } from "./cursor.js";
import { pattern, rank, tab } from "../state/look.js";
import { asProblem, follow, requestText } from "../state/store.js";

/** About 20 MB of answer. */
export const MOST_SPANS = 300_000;

/** Tensors of a device come in pages of this many shards. */
const PAGE_SHARDS = 200;

/** Every shard of one tensor, at most as many as the service gives in a page. */
const MOST_SHARDS = 100_000;

/** @returns {Fetched} */
export const nothing = () => ({ phase: "idle", of: "", answer: null, problem: null });

export const timeline = signal(nothing());

/** Places of ranks and the parallel groups. */
export const places = signal(nothing());

/** Tensors and units of one device, page after page. */
export const held = signal(nothing());

/** The plan as it is asked while the view is open. */
export const asked = computed(() => (tab.value === "step" ? requestText.value : "none"));

/**
 * @param {import("@preact/signals").Signal<Fetched>} into
 * @param {string} of  what is asked, as text
 * @param {AbortSignal} abort
 * @param {() => Promise<any>} ask
 */
export async function fetchInto(into, of, abort, ask) {
    try {
        const answer = await ask();
        if (!abort.aborted) into.value = { phase: "done", of, answer, problem: null };
    } catch (error) {
        const problem = asProblem(error);
        if (problem) into.value = { phase: "problem", of, answer: null, problem };
    }
}

/** What was answered stays in view, dimmed, until the next answer is here. @param {import("@preact/signals").Signal<Fetched>} of */
export function dim(of) {
    of.value = { ...of.peek(), phase: "loading" };
}

/** @param {string} of @param {AbortSignal} abort */
function refresh(of, abort) {
    if (of === "none") return;
    const request = JSON.parse(of);
    if (timeline.peek().of !== of || timeline.peek().phase !== "done") {
        pause();
        dim(timeline);
        void fetchInto(timeline, of, abort, () => api.postTimeline(request, { limit: MOST_SPANS }, abort));
    }
    if (places.peek().of !== of || places.peek().phase !== "done") {
        dim(places);
        void fetchInto(places, of, abort, () => api.postSharding(request, { limit: 1 }, abort));
    }
}

/** @param {string} typed @param {number} of */
function filterOf(typed, of) {
    const filter = { rank: of, limit: PAGE_SHARDS };
    return typed === "" ? filter : { ...filter, tensor: api.wholePattern(typed) };
}

/** A rank of an address may be beyond the plan's; only one that has its place is asked for. */
const heldText = computed(() => {
    const placed = rank.value >= 0 && rank.value < (places.value.answer?.ranks.length ?? 0);
    return asked.value === "none" || !placed ? "none" : `${rank.value} ${pattern.value} ${asked.value}`;
});

/** @param {string} of @param {AbortSignal} abort */
function refreshHeld(of, abort) {
    if (of === "none") {
        held.value = nothing();
        return;
    }
    dim(held);
    const filter = filterOf(pattern.peek(), rank.peek());
    void fetchInto(held, of, abort, () => api.postSharding(JSON.parse(asked.peek()), filter, abort));
}

/** An entry that a page cut goes on in the next. @param {any[]} before @param {any[]} next */
function joined(before, next) {
    const last = before.at(-1);
    const [first, ...others] = next;
    const goesOn = last && first && last.name === first.name && last.layer === first.layer
        && last.pipeline === first.pipeline;
    return goesOn ? [...before.slice(0, -1), { ...last, shards: [...last.shards, ...first.shards] }, ...others]
        : [...before, ...next];
}

/** The next page of the device's tensors. */
export async function fetchMore() {
    const { of, answer } = held.peek();
    if (of !== heldText.peek()) return;
    const filter = { ...filterOf(pattern.peek(), rank.peek()), cursor: answer.next_cursor };
    try {
        const page = await api.postSharding(JSON.parse(asked.peek()), filter);
        if (held.peek().of !== of || held.peek().answer !== answer) return;
        held.value = { ...held.peek(), answer: { ...page,
            tensors: joined(answer.tensors, page.tensors), units: joined(answer.units, page.units) } };
    } catch (error) {
        const problem = asProblem(error);
        if (problem) held.value = { phase: "problem", of, answer: null, problem };
    }
}

/** The tensor under the pointer, by name; "" for none. */
export const pointed = signal("");

/** The tensor whose holders stay listed; "" for none. */
export const pinned = signal("");

/** The tensor whose holders are shown: what is pointed at comes first. */
const wanted = computed(() => pointed.value || pinned.value);

/** Its shards over all devices, each with the shape of the whole. @type {import("@preact/signals").Signal<{name: string, shards: any[]}>} */
export const holders = signal({ name: "", shards: [] });

/** @type {Map<string, any[]>} of the plan in knownOf */
const known = new Map();
let knownOf = "";

/** @param {string} name @param {AbortSignal} abort */
async function refreshHolders(name, abort) {
    if (knownOf !== asked.peek()) known.clear();
    knownOf = asked.peek();
    if (name !== "" && knownOf !== "none" && !known.has(name)) {
        try {
            const filter = { tensor: name, limit: MOST_SHARDS };
            const { tensors } = await api.postSharding(JSON.parse(knownOf), filter, abort);
            known.set(name, tensors.flatMap(({ shape, shards }) => shards.map((shard) => ({ ...shard, shape }))));
        } catch (error) {
            asProblem(error); /* without an answer nothing lights up */
        }
    }
    if (!abort.aborted) holders.value = { name, shards: known.get(name) ?? [] };
}

/** Starts what follows the plan and the device. */
export function start() {
    follow(() => asked.value, (abort) => refresh(asked.peek(), abort));
    follow(() => heldText.value, (abort) => refreshHeld(heldText.peek(), abort));
    follow(() => `${wanted.value} ${asked.value}`, (abort) => refreshHolders(wanted.peek(), abort));
    effect(() => {
        if (tab.value !== "step") pause();
    });
}
