/**
 * The timeline and the sharding of the plan, asked for while their view is open. An answer to an
 * older plan is never shown.
 *
 * @typedef {import("../state/api.js").Problem} Problem
 */
import { computed, effect, signal } from "@preact/signals";
import * as api from "../state/api.js";
import { pause } from "./cursor.js";
import { pattern, rank, tab } from "../state/look.js";
import { answer, asProblem, follow, requestText } from "../state/store.js";
import { fetchTimeline, withNames } from "./timeline/kinds.js";

/** About 20 MB of answer. */
export const MOST_SPANS = 300_000;

/** Tensors of a device come in pages of this many shards. */
const PAGE_SHARDS = 200;

/** Every shard of one tensor, at most as many as the service gives in a page. */
const MOST_SHARDS = 100_000;

/**
 * @template T
 * @typedef {{phase: "idle" | "loading" | "done" | "problem", of: string, answer: T | null, problem: Problem | null}} Fetched
 */

/** @returns {Fetched<any>} */
export const nothing = () => ({ phase: "idle", of: "", answer: null, problem: null });

/**
 * What was answered stays in view, dimmed, until the next answer is here.
 * @template T
 * @param {import("@preact/signals").Signal<Fetched<T>>} into
 * @param {string} of  what is asked, as text
 * @param {AbortSignal} abort
 * @param {() => Promise<T>} ask
 */
export async function fetchInto(into, of, abort, ask) {
    into.value = { ...into.peek(), phase: "loading" };
    try {
        const answer = await ask();
        if (!abort.aborted) into.value = { phase: "done", of, answer, problem: null };
    } catch (error) {
        const problem = asProblem(error);
        if (problem) into.value = { phase: "problem", of, answer: null, problem };
    }
}

/**
 * What the service answers to a question that changes.
 * @template T
 * @param {() => string | null} question  as text; "" for none, null while nobody looks at the answer
 * @param {(of: string, abort: AbortSignal) => Promise<T>} ask
 * @returns {import("@preact/signals").Signal<Fetched<T>>}
 */
export function answerTo(question, ask) {
    const answer = signal(/** @type {Fetched<T>} */ (nothing()));
    follow(question, (abort) => {
        const of = question();
        const before = answer.peek();
        if (of === "") answer.value = nothing();
        else if (of !== null && (before.of !== of || before.phase !== "done")) void fetchInto(answer, of, abort, () => ask(of, abort));
    });
    return answer;
}

/** The plan as it is asked while the view is open: not before an estimate shows that one like it has an answer. */
export const asked = computed(() => (tab.value === "step" && requestText.value !== "none" && answer.value.estimate !== null
    ? requestText.value : null));

export const timeline = answerTo(() => asked.value, (of, abort) => {
    pause();
    return fetchTimeline(JSON.parse(of), { limit: MOST_SPANS }, abort);
});

/** Places of ranks and the parallel groups. */
export const places = answerTo(() => asked.value, (of, abort) => withNames(api.postSharding(JSON.parse(of), { limit: 1 }, abort)));

/** A page of what the chosen device holds. @param {Record<string, any>} more @param {AbortSignal} [abort] */
function heldPage(more, abort) {
    const tensor = pattern.peek() === "" ? {} : { tensor: api.wholePattern(pattern.peek()) };
    return api.postSharding(JSON.parse(asked.peek()), { rank: rank.peek(), limit: PAGE_SHARDS, ...tensor, ...more }, abort);
}

/** The tensor under the pointer, by name; "" for none. */
export const pointed = signal("");

/** A rank of an address may be beyond the plan's; only one that has its place is asked for. */
const heldText = computed(() => {
    const placed = rank.value >= 0 && rank.value < (places.value.answer?.ranks.length ?? 0);
    return asked.value && (placed ? `${rank.value} ${pattern.value} ${asked.value}` : "");
});

/** Tensors and units of one device, page after page. */
export const held = answerTo(() => heldText.value, (_, abort) => {
    pointed.value = ""; /* a row that a filter takes away is left without a word from the pointer */
    return heldPage({}, abort);
});

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
    const before = held.peek();
    const { of, answer } = before;
    if (of !== heldText.peek()) return;
    try {
        const page = await heldPage({ cursor: answer.next_cursor });
        if (held.peek() === before) held.value = { ...before, answer: { ...page,
            tensors: joined(answer.tensors, page.tensors), units: joined(answer.units, page.units) } };
    } catch (error) {
        held.value = { phase: "problem", of, answer: null, problem: asProblem(error) };
    }
}

/** The tensor whose holders stay listed; "" for none. */
export const pinned = signal("");

/** The tensor whose holders are shown: what is pointed at comes first. */
const wanted = computed(() => pointed.value || pinned.value);

/** Its shards over all devices, each with the shape of the whole. @type {import("@preact/signals").Signal<{name: string, shards: any[]}>} */
export const holders = signal({ name: "", shards: [] });

/** @type {Map<string, any[]>} of the plan in knownOf */
const known = new Map();
let knownOf = /** @type {string | null} */ (null);

follow(() => `${wanted.value} ${asked.value}`, async (abort) => {
    const name = wanted.peek();
    if (knownOf !== asked.peek()) known.clear();
    knownOf = asked.peek();
    if (name !== "" && knownOf !== null && !known.has(name)) {
        try {
            const { tensors } = await api.postSharding(JSON.parse(knownOf), { tensor: name, limit: MOST_SHARDS }, abort);
            known.set(name, tensors.flatMap(({ shape, shards }) => shards.map((shard) => ({ ...shard, shape }))));
        } catch (error) {
            asProblem(error); /* without an answer nothing lights up */
        }
    }
    if (!abort.aborted) holders.value = { name, shards: known.get(name) ?? [] };
});

effect(() => {
    if (tab.value !== "step") pause();
});
