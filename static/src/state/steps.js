/**
 * The steps of the reader: each change of the plan is one in the history of the browser, so that back and forward undo
 * and redo it. The history does not say what lies ahead, so the words of each change are kept beside it, for as long
 * as the tab lives.
 *
 * @typedef {{step: number, words: string}} Change  step: the number of the entry that it led to
 * @typedef {{run: string, step: number}} Entry  run: which page made the numbers
 */
import { computed, signal } from "@preact/signals";
import { FIELDS, valueWords } from "./fields.js";
import { extraMembers, modelName } from "./plan.js";

const KEPT = "shardline.steps";

/** More words than these nobody reads. */
const MOST_WORDS = 2;

/** @returns {{run: string, changes: Change[]}} */
function kept() {
    try {
        return JSON.parse(sessionStorage.getItem(KEPT)) ?? { run: "", changes: [] };
    } catch {
        return { run: "", changes: [] }; /* storage may be refused: steps then last until the page is left */
    }
}

/** @returns {Entry | null} */
function entry() {
    return history.state?.run ? history.state : null;
}

const before = typeof sessionStorage === "undefined" ? { run: "", changes: [] } : kept();
const goesOn = typeof history !== "undefined" && entry()?.run === before.run;
const run = goesOn ? before.run : String(Math.random());
const changes = signal(goesOn ? before.changes : []);

/** Number of the entry in view; -1 for one that another page made. */
const step = signal(goesOn ? entry().step : 0);

/** What the address of an entry came to say too late: the browser writes only that of the entry in view. @type {Map<number, string>} */
const late = new Map();

/** What back would undo and forward would do again, with how many entries away it is. */
export const undoable = computed(() => {
    const last = changes.value.findLast((change) => change.step <= step.value);
    return last ? { words: last.words, by: last.step - 1 - step.value } : null;
});
export const redoable = computed(() => {
    const next = step.value < 0 ? undefined : changes.value.find((change) => change.step > step.value);
    return next ? { words: next.words, by: next.step - step.value } : null;
});

function keep() {
    try {
        sessionStorage.setItem(KEPT, JSON.stringify({ run, changes: changes.peek() }));
    } catch {
        /* as above */
    }
}

/** @param {string} address @param {string} [words]  what it changes of the plan; "" for a look at something else */
export function pushAddress(address, words = "") {
    const from = Math.max(0, step.peek());
    const reached = changes.peek().filter((change) => change.step <= from);
    step.value = from + 1;
    changes.value = words === "" ? reached : [...reached, { step: from + 1, words }];
    late.delete(from + 1);
    history.pushState({ run, step: from + 1 }, "", address);
    keep();
}

/** @param {string} address  of the entry in view, which stays the same step */
export function writeAddress(address) {
    history.replaceState({ run, step: Math.max(0, step.peek()) }, "", address);
}

/** Within a sentence, but for a name that is not only capital at its start. @param {string} label */
const lowered = (label) => (/^[A-Z][a-z]+[A-Z]/.test(label) ? label : label.toLowerCase());

/** What a change of the plan does, in few words. @param {import("./plan.js").Plan} from @param {import("./plan.js").Plan} to @returns {string} */
export function changeWords(from, to) {
    if (modelName(from) !== modelName(to) || JSON.stringify(from.config) !== JSON.stringify(to.config)) return `model ${modelName(to)}`;
    const parts = FIELDS.filter(({ key }) => from[key] !== to[key])
        .map((field) => `${lowered(field.label)} ${valueWords(field, from[field.key])} → ${valueWords(field, to[field.key])}`);
    const [before, after] = [from, to].map((plan) => extraMembers(plan).map(({ text }) => text));
    parts.push(...after.filter((text) => !before.includes(text)), ...before.filter((text) => !after.includes(text)).map((text) => `without ${text}`));
    const more = parts.length - MOST_WORDS;
    return parts.slice(0, MOST_WORDS).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

export function undo() {
    if (undoable.peek()) history.go(undoable.peek().by);
}

export function redo() {
    if (redoable.peek()) history.go(redoable.peek().by);
}

/** Another entry is in view. @param {string} unwritten  what the address of the one before was still to say; "" for nothing */
export function arrive(unwritten) {
    if (unwritten !== "" && step.peek() >= 0) late.set(step.peek(), unwritten);
    step.value = entry()?.run === run ? entry().step : -1;
    if (!late.has(step.peek())) return;
    writeAddress(late.get(step.peek()));
    late.delete(step.peek());
}

export function start() {
    if (entry()?.run !== run) writeAddress(location.href);
}
