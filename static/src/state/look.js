/**
 * What the reader looks at: which view, which part of the step, which moment, which device. It goes
 * with the plan in the URL; a moment of one plan says nothing about the next, so a change of the
 * plan forgets the times.
 */
import { batch, computed, signal } from "@preact/signals";

export const AXES = ["activity", "pipeline", "tensor", "data", "context", "expert"];

/** @type {import("@preact/signals").Signal<"summary" | "step">} */
export const tab = signal("summary");

/** The part of the step in view; null is all of it. @type {import("@preact/signals").Signal<[number, number] | null>} */
export const view_s = signal(null);

/** The time cursor: the timeline and the map show this moment. */
export const at_s = signal(0);
export const stage = signal(0);
export const axis = signal(AXES[0]);

/** Global rank whose tensors are listed; -1 for none. */
export const rank = signal(-1);

/** Names of the tensors listed, as typed. */
export const pattern = signal("");

/** @param {URLSearchParams} query @param {string} name @param {number} fallback */
function amount(query, name, fallback) {
    const text = query.get(name);
    const value = text === null || text === "" ? NaN : Number(text);
    return Number.isFinite(value) && value >= 0 ? value : fallback;
}

/** @param {URLSearchParams} query @param {string} name @param {number} fallback */
function whole(query, name, fallback) {
    const value = amount(query, name, fallback);
    return Number.isSafeInteger(value) ? value : fallback;
}

/** @param {string} search  as in location.search; what is damaged or absent is as at first */
export function readLook(search) {
    const query = new URLSearchParams(search);
    const from_s = amount(query, "from", 0);
    const to_s = amount(query, "to", 0);
    batch(() => {
        tab.value = query.get("view") === "step" ? "step" : "summary";
        view_s.value = to_s > from_s ? [from_s, to_s] : null;
        at_s.value = amount(query, "at", 0);
        stage.value = whole(query, "stage", 0);
        axis.value = AXES.includes(query.get("by")) ? query.get("by") : AXES[0];
        rank.value = whole(query, "rank", -1);
        pattern.value = (query.get("tensors") ?? "").slice(0, 200);
    });
}

export function forgetTimes() {
    batch(() => {
        view_s.value = null;
        at_s.value = 0;
        stage.value = 0;
        rank.value = -1;
    });
}

/** As many digits as the service writes: the cursor stays on the edge where it was put. @param {number} value_s */
const written = (value_s) => String(Number(value_s.toPrecision(12)));

/** Parts of the query, in the order of reading; none for the first view. */
export const lookParts = computed(() => {
    if (tab.value === "summary") return [];
    const parts = ["view=step"];
    if (view_s.value !== null) parts.push(`from=${written(view_s.value[0])}`, `to=${written(view_s.value[1])}`);
    if (at_s.value > 0) parts.push(`at=${written(at_s.value)}`);
    if (stage.value > 0) parts.push(`stage=${stage.value}`);
    if (axis.value !== AXES[0]) parts.push(`by=${axis.value}`);
    if (rank.value >= 0) parts.push(`rank=${rank.value}`);
    if (pattern.value !== "") parts.push(`tensors=${encodeURIComponent(pattern.value)}`);
    return parts;
});
