/** The map in view as signals: places, cells, and what each cell shows at the moment of the cursor. */
import { computed, signal } from "@preact/signals";
import { at_s, axis, node, rank } from "../../state/look.js";
import { percent } from "../../units.js";
import { all as held, entryOf, keptBytes } from "../bytes.js";
import { holders, places } from "../state.js";
import { colour, mixed } from "../../widgets/canvas.js";
import { TONES } from "../../widgets/charts.js";
import { eachRank, groupOf, sliceText } from "./rank-sets.js";
import { axisSizes, cellsOf, MOST_TONES } from "./cells.js";
import { kindLook } from "../timeline/kinds.js";
import { kindAt } from "../timeline/rows.js";
import { shown } from "../timeline/shown.js";

/** @typedef {{text: string, tone?: string, hatched?: boolean, shade?: number}} Face  shade: along one hue, 0 to 1, in place of a tone */

/** @type {Face} */
const IDLE = { tone: "line", text: "" };

export const width = signal(0);

const answer = computed(() => places.value.answer);

/** @type {import("@preact/signals").ReadonlySignal<import("./cells.js").Place[]>} */
export const ranks = computed(() => answer.value?.ranks ?? []);
export const groups = computed(() => (answer.value?.groups ?? []).filter((group) => group.size > 1));
const nodes = computed(() => new Set(ranks.value.map((place) => place.node)));

/** The node in view, as far as the plan has it; -1 for all. */
export const nodeShown = computed(() => (nodes.value.has(node.value) ? node.value : -1));
export const cells = computed(() => (ranks.value.length === 0 || width.value === 0 ? null
    : cellsOf(ranks.value, width.value, nodeShown.value)));
export const sizes = computed(() => axisSizes(ranks.value));

/** The axis asked for, as far as the plan has it. */
export const axisShown = computed(() => (sizes.value.has(axis.value) || axis.value === "fill" ? axis.value : "activity"));

/** The chosen device, as far as there is one. @returns {import("./cells.js").Place | null} */
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
    return size <= MOST_TONES ? { tone: TONES[value], text } : { shade: value / (size - 1), text };
}

/** @param {string} kind  "" for idle @returns {Face} */
function activityFace(kind) {
    if (kind === "") return IDLE;
    const { tone, hatched, letter } = kindLook(kind);
    return { tone, hatched, text: letter };
}

/** What a device holds is told by its stage and by the entry of the estimate that it belongs to. */
const FILL_STAGES = 4096;

/** @param {import("./cells.js").Place} place */
function fillKey({ rank: of, pool, coordinates: { pipeline } }) {
    return entryOf(of, pipeline, pool) * FILL_STAGES + pipeline;
}

/** Share of the usable memory at the cursor; over 1 it does not fit. @param {number} key */
function fillOf(key) {
    const entry = held.value[Math.floor(key / FILL_STAGES)];
    return entry ? (entry.stays_bytes + keptBytes(key % FILL_STAGES, at_s.value)) / entry.usable_bytes : NaN;
}

/** @param {number} fill @returns {Face} */
function fillFace(fill) {
    if (!(fill >= 0)) return IDLE;
    const text = String(Math.round(100 * fill));
    return fill > 1 ? { tone: "vermillion", hatched: true, text } : { shade: fill, text };
}

/** The fill of a device in words; "" while it is not known. @param {import("./cells.js").Place} place */
export function fillWords(place) {
    const fill = fillOf(fillKey(place));
    return fill >= 0 ? percent(fill) : "";
}

/** The devices that look alike, by the value that they share: their stage, their rank along the axis, or what they hold. */
export const alike = computed(() => {
    const by = axisShown.value;
    /** @type {(place: import("./cells.js").Place) => number} */
    const keyOf = by === "fill" ? fillKey : ({ coordinates }) => coordinates[by === "activity" ? "pipeline" : by];
    /** @type {Map<number, number[]>} */
    const found = new Map();
    ranks.value.forEach((place, at) => {
        const key = keyOf(place);
        if (!found.has(key)) found.set(key, []);
        found.get(key).push(at);
    });
    return found;
});

/** What those of one value show. @type {import("@preact/signals").ReadonlySignal<Map<number, Face>>} */
export const faces = computed(() => {
    const by = axisShown.value;
    /** @param {number} value */
    const faceOf = (value) => {
        if (by === "fill") return fillFace(fillOf(value));
        return by === "activity" ? activityFace(doing.value.get(value) ?? "") : axisFace(value, sizes.value.get(by));
    };
    return new Map([...alike.value.keys()].map((value) => [value, faceOf(value)]));
});

/** The colour of a face that has no hatch, as #rrggbb. @param {Face} face */
export function faceColour(face) {
    return face.shade === undefined ? colour(face.tone) : mixed(colour("accent-soft"), colour("accent"), face.shade);
}

/** Kind of group under the pointer; "" for none. */
export const pointedGroup = signal("");

/** Device under the pointer, by its place; -1 for none. */
export const pointedCell = signal(-1);

/**
 * What is lit: devices that hold a shard of the tensor under the pointer, or the members of the
 * group under it. `same` are those with the very slice of the chosen device.
 * `ring` are members in their order, `slices` what each has of the tensor.
 * @type {import("@preact/signals").ReadonlySignal<{all: number[], same: Set<number>, bytes: Map<number, number>,
 *     slices: Map<number, string>, ring: number[]}>}
 */
export const lit = computed(() => {
    const bytes = new Map();
    const slices = new Map();
    const same = new Set();
    const group = groups.value.find(({ kind }) => kind === pointedGroup.value);
    if (group && rank.value >= 0) {
        const all = groupOf(group, rank.value);
        return { all, same, bytes, slices, ring: all };
    }
    for (const shard of holders.value.shards) {
        /** @type {number[]} */
        const members = [];
        eachRank(shard.ranks, (member) => members.push(member));
        for (const member of members) {
            bytes.set(member, (bytes.get(member) ?? 0) + shard.bytes);
            slices.set(member, `${slices.get(member) ?? ""} ${sliceText(shard.slice, shard.shape)}`);
        }
        if (members.includes(rank.value)) members.forEach((member) => same.add(member));
    }
    return { all: [...bytes.keys()], same, bytes, slices, ring: /** @type {number[]} */ ([]) };
});
