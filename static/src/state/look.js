/**
 * What the reader looks at: which view, which part of the step, which moment, which device. It goes
 * with the plan in the URL; a moment of one plan says nothing about the next, so a change of the
 * plan forgets the times.
 */
import { batch, computed, signal } from "@preact/signals";
import { pinParts, readPins } from "./pins.js";

export const AXES = ["activity", "fill", "pipeline", "tensor", "data", "context", "expert"];

/** The planner, and what is about no single plan. @typedef {"planner" | "inventories" | "models" | "concepts"} Page */
/** @type {Page[]} */
const PAGES = ["planner", "inventories", "models", "concepts"];

/** @type {import("@preact/signals").Signal<Page>} */
export const page = signal("planner");

/** Parts of the query that say where in a page the reader is; only that page reads them. */
export const place = signal(/** @type {Record<string, string>} */ ({}));

/** @typedef {"summary" | "step" | "search" | "compare"} Tab */
/** @type {Tab[]} */
const TABS = ["summary", "step", "search", "compare"];

/** @type {import("@preact/signals").Signal<Tab>} */
export const tab = signal("summary");

/** Parts of the query that say what is searched, as they stand in the address; only the view of a search reads them. */
export const asking = signal(/** @type {Record<string, string>} */ ({}));

/** Parts of the query that say what is compared and how; only the view of a comparison reads them. */
export const comparing = signal(/** @type {Record<string, string>} */ ({}));

/** What their names begin with. */
const ASKING = "s.";
const COMPARING = "c.";
const PLACE = "p.";

/** The part of the step in view; null is all of it. @type {import("@preact/signals").Signal<[number, number] | null>} */
export const view_s = signal(null);

/** The time cursor: the timeline and the map show this moment. */
export const at_s = signal(0);
export const stage = signal(0);

/** Two moments to be compared, A and B; as many as are set. */
export const marks_s = signal(/** @type {number[]} */ ([]));

/** The part that is summed. @type {import("@preact/signals").Signal<[number, number] | null>} */
export const selected_s = signal(null);

/** Whether the steps of a ring are drawn one by one. */
export const rings = signal(false);

/** Whether lanes beside computing are drawn. */
export const allLanes = signal(true);

/** The change of the plan that is drawn beside it, as "pointer=value"; "" for none. */
export const beside = signal("");

/** The node whose devices the map shows; -1 for all. */
export const node = signal(-1);
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

/** @param {URLSearchParams} query @param {string} prefix */
function membersOf(query, prefix) {
    return Object.fromEntries([...query].filter(([name]) => name.startsWith(prefix))
        .map(([name, text]) => [name.slice(prefix.length), text.slice(0, 2000)]));
}

/** With some changed; an empty text takes its name out. @param {Record<string, string>} members @param {Record<string, string>} changes */
export function changed(members, changes) {
    return Object.fromEntries(Object.entries({ ...members, ...changes }).filter(([, text]) => text !== ""));
}

/** Moments as the address lists them, the first two. @param {URLSearchParams} query @param {string} name @returns {number[]} */
function moments(query, name) {
    return (query.get(name) ?? "").split(",").filter(Boolean).slice(0, 2).map(Number).filter((time_s) => time_s >= 0);
}

/** A stretch of time; null where it is none. @param {number[]} times_s @returns {[number, number] | null} */
export function stretch([from_s, to_s]) {
    return to_s > from_s ? [from_s, to_s] : null;
}

/** @param {string} search  as in location.search; what is damaged or absent is as at first */
export function readLook(search) {
    const query = new URLSearchParams(search);
    batch(() => {
        page.value = PAGES.find((name) => name === query.get("page")) ?? "planner";
        place.value = membersOf(query, PLACE);
        tab.value = TABS.find((name) => name === query.get("view")) ?? "summary";
        if (tab.value === "search") asking.value = membersOf(query, ASKING);
        if (tab.value === "compare") comparing.value = membersOf(query, COMPARING);
        readPins(query);
        view_s.value = stretch([amount(query, "from", 0), amount(query, "to", 0)]);
        at_s.value = amount(query, "at", 0);
        stage.value = whole(query, "stage", 0);
        marks_s.value = moments(query, "marks");
        selected_s.value = stretch(moments(query, "sum"));
        rings.value = query.get("rings") === "1";
        allLanes.value = query.get("lanes") !== "compute";
        beside.value = (query.get("beside") ?? "").slice(0, 100);
        node.value = whole(query, "node", -1);
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
        marks_s.value = [];
        selected_s.value = null;
        rank.value = -1;
        node.value = -1;
    });
}

/** As many digits as the service writes: the cursor stays on the edge where it was put. @param {number} value_s */
const written = (value_s) => String(Number(value_s.toPrecision(12)));

/** @param {Record<string, string>} members @param {string} prefix */
function partsOf(members, prefix) {
    return Object.entries(members).map(([name, text]) =>
        `${prefix}${name}=${encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%2F", "/")}`);
}

/** Of the views of an answer. */
function tabParts() {
    if (tab.value === "summary") return [];
    if (tab.value === "search") return ["view=search", ...partsOf(asking.value, ASKING)];
    if (tab.value === "compare") return ["view=compare", ...partsOf(comparing.value, COMPARING)];
    const parts = ["view=step"];
    if (view_s.value !== null) parts.push(`from=${written(view_s.value[0])}`, `to=${written(view_s.value[1])}`);
    if (at_s.value > 0) parts.push(`at=${written(at_s.value)}`);
    if (stage.value > 0) parts.push(`stage=${stage.value}`);
    if (marks_s.value.length > 0) parts.push(`marks=${marks_s.value.map(written).join(",")}`);
    if (selected_s.value !== null) parts.push(`sum=${selected_s.value.map(written).join(",")}`);
    if (rings.value) parts.push("rings=1");
    if (!allLanes.value) parts.push("lanes=compute");
    if (beside.value !== "") parts.push(`beside=${encodeURIComponent(beside.value).replaceAll("%2F", "/").replaceAll("%3D", "=")}`);
    if (node.value >= 0) parts.push(`node=${node.value}`);
    if (axis.value !== AXES[0]) parts.push(`by=${axis.value}`);
    if (rank.value >= 0) parts.push(`rank=${rank.value}`);
    if (pattern.value !== "") parts.push(`tensors=${encodeURIComponent(pattern.value)}`);
    return parts;
}

/** Parts of the query, in the order of reading; none for the first view without pins. */
export const lookParts = computed(() => {
    if (page.value !== "planner") return [`page=${page.value}`, ...partsOf(place.value, PLACE), ...pinParts()];
    return [...tabParts(), ...pinParts()];
});
