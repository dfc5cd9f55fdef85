/** The map in view as signals: places, cells, and what each cell shows at the moment of the cursor. */
import { computed, signal } from "@preact/signals";
import { at_s, axis, rank } from "../state/look.js";
import { holders, places } from "../state/step.js";
import { colour, mixed, TONES } from "./canvas.js";
import { eachRank, groupOf } from "./rank-sets.js";
import { axisSizes, cellsOf, MOST_TONES } from "./sharding-cells.js";
import { kindLook } from "./timeline-kinds.js";
import { kindAt } from "./timeline-rows.js";
import { shown } from "./timeline-shown.js";

/** @typedef {{tone: string, hatched: boolean, shade: number | null, text: string}} Face  shade: along one hue, 0 to 1 */

/** @type {Face} */
export const IDLE = { tone: "raised", hatched: false, shade: null, text: "" };

export const width = signal(0);

const answer = computed(() => places.value.answer);

/** @type {import("@preact/signals").ReadonlySignal<import("./sharding-cells.js").Place[]>} */
export const ranks = computed(() => answer.value?.ranks ?? []);
export const groups = computed(() => (answer.value?.groups ?? []).filter((group) => group.size > 1));
export const cells = computed(() => (ranks.value.length === 0 || width.value === 0 ? null : cellsOf(ranks.value, width.value)));
export const sizes = computed(() => axisSizes(ranks.value));

/** The axis asked for, as far as the plan has it. */
export const axisShown = computed(() => (sizes.value.has(axis.value) ? axis.value : "activity"));

/** The chosen device, as far as there is one. @returns {import("./sharding-cells.js").Place | null} */
export function chosen() {
    return ranks.value[rank.value] ?? null;
}

/** What each stage does at the cursor, as one text so that equal moments are equal. */
const doingText = computed(() => [...(shown.value?.rowsOfStage ?? [])]
    .map(([stage, rows]) => `${stage} ${kindAt(rows, at_s.value)}`).join(","));

/** Name of the kind, "" while idle. @returns {Map<number, string>} by stage */
export const doing = computed(() => new Map(doingText.value === "" ? [] : doingText.value.split(",").map((item) => {
    const [stage, kind] = item.split(" ").map(Number);
    return [stage, kind < 0 ? "" : shown.peek().kinds[kind]];
})));

/** @param {number} value @param {number} size @returns {Face} */
export function axisFace(value, size) {
    const text = String(value);
    return size <= MOST_TONES ? { tone: TONES[value], hatched: false, shade: null, text }
        : { tone: "", hatched: false, shade: value / (size - 1), text };
}

/** @param {string} kind  "" for idle @returns {Face} */
export function activityFace(kind) {
    if (kind === "") return IDLE;
    const { tone, hatched, letter } = kindLook(kind);
    return { tone, hatched, shade: null, text: letter };
}

/** The devices that look alike, by the value that they share: their stage, or their rank along the axis. */
export const alike = computed(() => {
    const by = axisShown.value === "activity" ? "pipeline" : axisShown.value;
    /** @type {Map<number, number[]>} */
    const found = new Map();
    ranks.value.forEach(({ coordinates }, at) => {
        if (!found.has(coordinates[by])) found.set(coordinates[by], []);
        found.get(coordinates[by]).push(at);
    });
    return found;
});

/** What those of one value show. @type {import("@preact/signals").ReadonlySignal<Map<number, Face>>} */
export const faces = computed(() => {
    const by = axisShown.value;
    return new Map([...alike.value.keys()].map((value) => [value, by === "activity"
        ? activityFace(doing.value.get(value) ?? "") : axisFace(value, sizes.value.get(by))]));
});

/** The colour of a face that has no hatch, as #rrggbb. @param {Face} face */
export function faceColour(face) {
    return face.shade === null ? colour(face.tone) : mixed(colour("accent-soft"), colour("accent"), face.shade);
}

/** Kind of group under the pointer; "" for none. */
export const pointedGroup = signal("");

/** Device under the pointer, by its place; -1 for none. */
export const pointedCell = signal(-1);

/**
 * What is lit: devices that hold a shard of the tensor under the pointer, or the members of the
 * group under it. `same` are those with the very slice of the chosen device.
 * @type {import("@preact/signals").ReadonlySignal<{all: number[], same: Set<number>, bytes: Map<number, number>}>}
 */
export const lit = computed(() => {
    const bytes = new Map();
    const same = new Set();
    const group = groups.value.find(({ kind }) => kind === pointedGroup.value);
    if (group && rank.value >= 0) return { all: groupOf(group, rank.value), same, bytes };
    for (const shard of holders.value.shards) {
        const members = [];
        eachRank(shard.ranks, (member) => members.push(member));
        for (const member of members) bytes.set(member, (bytes.get(member) ?? 0) + shard.bytes);
        if (members.includes(rank.value)) members.forEach((member) => same.add(member));
    }
    return { all: [...bytes.keys()], same, bytes };
});
