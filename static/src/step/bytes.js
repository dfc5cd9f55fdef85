/**
 * What devices hold at the cursor, term by term: what stays from step to step as the estimate has it
 * for their stage, and above it the staircase of the timeline. What the estimate gives at the peak
 * only (temporary buffers, fragmentation) is not known at other moments and is told apart.
 *
 * @typedef {{name: string, lifetime: string, bytes: number, about: any}} Term  about: how it comes about, where one formula says so
 * @typedef {{entry: Api.RankMemory, stays: Term[], stays_bytes: number, peak_only_bytes: number, usable_bytes: number}} Held
 */
import { computed } from "@preact/signals";
import { answer, requestText } from "../state/store.js";
import { stackOf } from "../planner/ranks.js";
import { timeline } from "./state.js";
import { shown } from "./timeline/shown.js";
import { bytesAt } from "./timeline/rows.js";

const AT_ALL_TIMES = ["persistent", "outside_allocator"];

/** The estimate of the plan on show; null while another is on its way. */
export const estimate = computed(() => {
    const { phase, estimate: now } = answer.value;
    return phase === "done" && timeline.value.of === requestText.value ? now : null;
});

/** @param {Api.MemoryTerm[]} terms @returns {Term[]} one of each name */
function joined(terms) {
    const found = new Map();
    for (const term of terms) {
        const before = found.get(term.name);
        found.set(term.name, before ? { ...before, bytes: before.bytes + term.bytes, about: null } : { ...term, about: term });
    }
    return [...found.values()];
}

/** The staircase has what is gathered. @param {{name: string, lifetime: string}} term */
function atPeakOnly({ name, lifetime }) {
    return lifetime === "transient" && name !== "gathered_parameters";
}

/** @param {Api.RankMemory} entry  ranks that hold the same @param {Api.Memory} memory @returns {Held} */
function heldBy(entry, memory) {
    const terms = stackOf(entry);
    /** @param {{bytes: number}[]} list */
    const sum = (list) => list.reduce((total, { bytes }) => total + bytes, 0);
    const stays = joined(terms.filter(({ lifetime }) => AT_ALL_TIMES.includes(lifetime)));
    return { entry, stays, stays_bytes: sum(stays), peak_only_bytes: sum(terms.filter(atPeakOnly)),
        usable_bytes: entry.usable_bytes ?? memory.usable_bytes };
}

/** @type {import("@preact/signals").ReadonlySignal<Held[]>} in the order of ranks */
export const all = computed(() => {
    const memory = estimate.value?.memory;
    return memory ? [...memory.ranks].sort((a, b) => a.rank - b.rank).map((entry) => heldBy(entry, memory)) : [];
});

/**
 * The entry that a device belongs to; -1 while there is none.
 * @param {number} rank @param {number} stage @param {string} [pool]
 */
export function entryOf(rank, stage, pool) {
    return all.value.findLastIndex(({ entry }) => stage >= entry.first_stage && stage < entry.first_stage + entry.stages
        && entry.rank <= rank && (pool === undefined || entry.pool === undefined || entry.pool === pool));
}

/** What the passes of a stage keep, and what is gathered for them. @param {number} stage @param {number} at_s */
export function keptBytes(stage, at_s) {
    const stairs = shown.value?.stairsOfStage.get(stage);
    return stairs ? bytesAt(stairs, at_s) : 0;
}

/** Whether parameters are gathered for passes, so that the staircase has them too. */
const gathers = computed(() => all.value.some(({ entry }) => entry.terms.some(({ name, bytes }) => name === "gathered_parameters" && bytes > 0)));

/** What the staircase is called. */
export const keptWords = computed(() => (gathers.value ? "Activations and gathered parameters" : "Activations"));
