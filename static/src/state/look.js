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

/** @param {string} text @param {number} [fallback] */
function amount(text, fallback = 0) {
    const value = text === "" ? NaN : Number(text);
    return Number.isFinite(value) && value >= 0 ? value : fallback;
}

/** @param {number} fallback @returns {(text: string) => number} */
const whole = (fallback) => (text) => {
    const value = amount(text, fallback);
    return Number.isSafeInteger(value) ? value : fallback;
};

/** @param {URLSearchParams} query @param {string} prefix */
function membersOf(query, prefix) {
    return Object.fromEntries([...query].filter(([name]) => name.startsWith(prefix))
        .map(([name, text]) => [name.slice(prefix.length), text.slice(0, 2000)]));
}

/** With some changed; an empty text takes its name out. @param {Record<string, string>} members @param {Record<string, string>} changes */
export function changed(members, changes) {
    return Object.fromEntries(Object.entries({ ...members, ...changes }).filter(([, text]) => text !== ""));
}

/** Moments as the address lists them, the first two. @param {string} text @returns {number[]} */
const moments = (text) => text.split(",").filter(Boolean).slice(0, 2).map(Number).filter((time_s) => time_s >= 0);

/** A stretch of time; null where it is none. @param {number[]} times_s @returns {[number, number] | null} */
export function stretch([from_s, to_s]) {
    return to_s > from_s ? [from_s, to_s] : null;
}

/** As many digits as the service writes: the cursor stays on the edge where it was put. @param {number} value_s */
const written = (value_s) => String(Number(value_s.toPrecision(12)));

/** @param {string} text */
const asIs = (text) => text;

/** A number that is written from the least on. @param {number} least @returns {(value: number) => string} */
const from = (least) => (value) => (value >= least ? written(value) : "");

/**
 * What is looked at in a step, in the order of the address: its name there, how it is read, and how it is written, as "" where
 * it is as at first. What is damaged or absent is as at first.
 * @type {[name: string, of: import("@preact/signals").Signal<any>, read: (text: string) => any, write: (value: any) => string][]}
 */
const PARTS = [
    ["at", at_s, amount, from(Number.MIN_VALUE)], ["stage", stage, whole(0), from(1)],
    ["marks", marks_s, moments, (times_s) => times_s.map(written).join()],
    ["sum", selected_s, (text) => stretch(moments(text)), (times_s) => (times_s ?? []).map(written).join()],
    ["rings", rings, (text) => text === "1", (on) => (on ? "1" : "")],
    ["lanes", allLanes, (text) => text !== "compute", (on) => (on ? "" : "compute")],
    ["beside", beside, (text) => text.slice(0, 100), asIs], ["node", node, whole(-1), from(0)],
    ["by", axis, (text) => (AXES.includes(text) ? text : AXES[0]), (by) => (by === AXES[0] ? "" : by)],
    ["rank", rank, whole(-1), from(0)], ["tensors", pattern, (text) => text.slice(0, 200), asIs],
];

/** Of one plan; the others are of the reader. */
const OF_PLAN = ["at", "stage", "marks", "sum", "node", "rank"];

/** @param {string} search  as in location.search */
export function readLook(search) {
    const query = new URLSearchParams(search);
    /** @param {string} name */
    const text = (name) => query.get(name) ?? "";
    batch(() => {
        page.value = PAGES.find((name) => name === text("page")) ?? "planner";
        place.value = membersOf(query, PLACE);
        tab.value = TABS.find((name) => name === text("view")) ?? "summary";
        if (tab.value === "search") asking.value = membersOf(query, ASKING);
        if (tab.value === "compare") comparing.value = membersOf(query, COMPARING);
        readPins(query);
        view_s.value = stretch([amount(text("from")), amount(text("to"))]);
        for (const [name, of, read] of PARTS) of.value = read(text(name));
    });
}

export function forgetTimes() {
    batch(() => {
        view_s.value = null;
        for (const [name, of, read] of PARTS) if (OF_PLAN.includes(name)) of.value = read("");
    });
}

/** @param {Record<string, string>} members @param {string} [prefix] */
function partsOf(members, prefix = "") {
    return Object.entries(members).map(([name, text]) =>
        `${prefix}${name}=${encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3D", "=")}`);
}

/** Of the views of an answer. */
function tabParts() {
    if (tab.value === "summary") return [];
    if (tab.value === "search") return ["view=search", ...partsOf(asking.value, ASKING)];
    if (tab.value === "compare") return ["view=compare", ...partsOf(comparing.value, COMPARING)];
    const [from_s = "", to_s = ""] = (view_s.value ?? []).map(written);
    return ["view=step", ...partsOf(changed({ from: from_s, to: to_s }, Object.fromEntries(PARTS.map(([name, of, , write]) => [name, write(of.value)]))))];
}

/** Parts of the query, in the order of reading; none for the first view without pins. */
export const lookParts = computed(() => {
    if (page.value !== "planner") return [`page=${page.value}`, ...partsOf(place.value, PLACE), ...pinParts()];
    return [...tabParts(), ...pinParts()];
});
