/**
 * Answers row by row, aligned: what was set, the verdict, and every term. Pure but for units and names of parts.
 *
 * @typedef {import("./columns.js").Column} Column
 * @typedef {Pick<Column, "estimate"> & Partial<Column>} Shown
 * @typedef {{text: string, value: any, unit: string, about: any}} Cell  value: as the service sent it; text: "–" where it has none
 * @typedef {{key: string, section?: string, label: string, words: boolean, differs: boolean, better: 1 | 0 | -1, unit: string,
 *            write: (value: number) => string, signed: boolean, cells: Cell[]}} Row
 *          better: 1 where more is; signed: a difference is written as an amount, not as a share
 */
import { EXAMPLES } from "../state/examples.js";
import { FIELDS } from "../state/fields.js";
import { units } from "../state/prefs.js";
import { accelerators } from "../state/store.js";
import { symbolsOf } from "../planner/ranks.js";
import { digits, exact, gigabytes, percent, scaled, seconds, shortCount } from "../units.js";
import { lookOf, MEMORY_TERMS, TIME_TERMS } from "../widgets/terms.js";
import { spoken } from "../words.js";

const WATT_HOUR_J = 3600;
export const bytes = (value) => `${gigabytes(value, units.value)} ${units.value}`;

/** @param {any} from @param {string} pointer */
function valueAt(from, pointer) {
    return pointer.slice(1).split("/").reduce((at, name) => at?.[name], from);
}

/** @typedef {[string, string, 1 | 0 | -1, string, (value: number) => string]} Figure  pointer, label, which way is better, unit, as written */

/** Those of an estimate by the part they stand in. @type {[string, Figure[]][]} */
const FIGURES = [
    ["Verdict", [
        ["/memory/device_total_bytes", "Peak memory of a device", -1, "bytes", bytes],
        ["/memory/usable_bytes", "Usable memory", 1, "bytes", bytes],
        ["/memory/headroom_bytes", "Headroom", 1, "bytes", bytes],
    ]],
    ["Throughput and cost", [
        ["/time/step_s", "Step time", -1, "s", seconds],
        ["/throughput/tokens_per_s", "Tokens/s", 1, "", scaled],
        ["/throughput/tokens_per_s_per_accelerator", "Tokens/s per device", 1, "", digits],
        ["/throughput/samples_per_s", "Samples/s", 1, "", digits],
        ["/throughput/mfu_full", "MFU", 1, "", percent],
        ["/throughput/mfu_causal", "MFU, causal", 1, "", percent],
        ["/throughput/hfu", "HFU", 0, "", percent],
        ["/resolved/cluster/accelerators", "Accelerators", -1, "", exact],
        ["/time_to_train_s", "Time to train", -1, "s", seconds],
        ["/goodput_ratio", "Goodput", 1, "", percent],
        ["/cost", "Cost", -1, "", scaled],
        ["/energy_j", "Energy", -1, "J", (value) => scaled(value / WATT_HOUR_J, "Wh")],
    ]],
];
const TIME_FIGURES = [
    ["/time/bubble_ratio", "Pipeline idle", -1, "", percent],
    ["/time/exposed_communication_s", "Exposed communication", -1, "s", seconds],
];

/** @type {Cell} */
const NONE = { text: "–", value: null, unit: "", about: null };

/** Whether cells read differently; what is not known yet says nothing. @param {Cell[]} cells @param {Shown[]} columns */
function differ(cells, columns) {
    return new Set(cells.filter(({ text }, at) => columns[at].estimate !== null || text !== NONE.text).map(({ text }) => text)).size > 1;
}

/** @param {Shown[]} columns @param {Partial<Row> & {key: string, label: string, cells: Cell[]}} row @returns {Row} */
function rowOf(columns, row) {
    return { words: false, better: 0, unit: "", write: String, signed: false, differs: differ(row.cells, columns), ...row };
}

/** @param {Shown[]} columns @param {string} key @param {string} label @param {(column: any) => string | null} read */
export function wordsRow(columns, key, label, read) {
    const cells = columns.map((column) => ({ ...NONE, text: read(column) ?? "–", value: read(column) }));
    return rowOf(columns, { key, label, words: true, cells });
}

/** @param {Shown[]} columns @param {Figure} figure */
export function figureRow(columns, [pointer, label, better, unit, write]) {
    const cells = columns.map(({ estimate }) => {
        const value = valueAt(estimate, pointer);
        return typeof value === "number" ? { text: write(value), value, unit, about: estimate.explanations?.[pointer] ?? null } : NONE;
    });
    return rowOf(columns, { key: pointer, label, better, unit, write, signed: unit === "bytes", cells });
}

/** The sum of terms with the same name, explained. @param {any[]} terms @param {string} of */
function sumOf(terms, of) {
    if (terms.length === 1) return { value: terms[0][of], about: terms[0] };
    const symbols = symbolsOf(terms);
    return { value: terms.reduce((sum, term) => sum + term[of], 0), about: { formula: symbols.join(" + "),
        inputs: Object.fromEntries(symbols.map((symbol, at) => [symbol, terms[at][of]])), source: "Sum of the terms of this name" } };
}

/**
 * One row for each name of a term, in the order of the page.
 * @param {Shown[]} columns @param {Map<string, any>} looks @param {(estimate: any) => any[]} read
 * @param {{of: string, unit: string, write: (value: number) => string}} how
 */
export function termRows(columns, looks, read, { of, unit, write }) {
    const lists = columns.map(({ estimate }) => (estimate ? read(estimate) : []).filter((term) => term[of] > 0));
    const names = new Set(lists.flat().map(({ name }) => name));
    const order = [...looks.keys()].filter((name) => names.has(name));
    return [...order, ...[...names].filter((name) => !looks.has(name))].map((name) => {
        const cells = lists.map((list) => {
            const terms = list.filter((term) => term.name === name);
            if (terms.length === 0) return NONE;
            const { value, about } = sumOf(terms, of);
            return { text: write(value), value, unit, about };
        });
        return rowOf(columns, { key: `${of} ${name}`, label: lookOf(looks, name).label, better: -1, unit, write, signed: true, cells });
    });
}

const bindingRank = ({ memory }) => memory.ranks.find(({ rank }) => rank === memory.binding_rank) ?? memory.ranks[0];

/** Volume and open time of each collective. @param {Column[]} columns */
function trafficRows(columns) {
    const nameOf = ({ group, collective, level }) => `${group} ${collective}, ${level}`.replaceAll("_", " ");
    const traffic = (estimate) => (estimate.communication ?? []).map((item) => ({ ...item, name: nameOf(item) }));
    const rows = termRows(columns, new Map(), traffic, { of: "bytes_per_step", unit: "bytes", write: (value) => scaled(value, "B") });
    return rows.map((row) => ({ ...row, cells: row.cells.map((cell) => ({ ...cell, about: null })) }));
}

/** @param {import("../state/plan.js").Plan} plan */
function modelName({ config, example, hub, revision }) {
    if (config !== null) return "pasted config.json";
    return EXAMPLES.get(example)?.title ?? (revision === "" ? hub : `${hub} at ${revision}`);
}

const MODEL_FIELDS = ["hub", "revision", "example"];
const CLUSTER_FIELDS = ["accelerator", "perNode", "inventory", "pool"];

/**
 * A setting as its control shows it; what is left open with what it came to.
 * @param {import("../state/fields.js").Field} field @param {Column} column
 */
function settingText(field, { plan, estimate }) {
    const value = plan[field.key];
    if (field.type === "flag") return value ? "on" : "off";
    if (!field.optional || (value !== "" && value !== 0)) return typeof value === "number" ? shortCount(value) : String(value);
    const came = valueAt(estimate?.resolved, field.pointer);
    return came === undefined || came === null ? "left open" : `left open: ${String(came)}`;
}

/** @param {Column[]} columns @returns {Row[]} */
function settingRows(columns) {
    const partName = (id) => accelerators.value.find((part) => part.id === id)?.name ?? id;
    const node = ({ plan: { inventory, pool, accelerator, perNode } }) =>
        (inventory !== "" ? [inventory, pool].filter(Boolean).join(", ") : `${perNode} × ${partName(accelerator)}`);
    const fields = FIELDS.filter(({ key }) => ![...MODEL_FIELDS, ...CLUSTER_FIELDS].includes(key));
    const extras = new Set(columns.flatMap(({ plan }) => Object.entries(plan.extra ?? {}).flatMap(([group, members]) =>
        Object.keys(members).map((name) => `/${group}/${name}`))));
    const extraText = (pointer, plan) => {
        const value = valueAt(plan.extra, pointer);
        if (value === undefined) return null;
        return spoken(pointer, value) || (typeof value === "object" ? JSON.stringify(value) : String(value));
    };
    const words = (pointer) => {
        const name = pointer.slice(pointer.lastIndexOf("/") + 1).replaceAll("_", " ");
        return name.charAt(0).toUpperCase() + name.slice(1);
    };
    return [
        wordsRow(columns, "model", "Model", ({ plan }) => modelName(plan)),
        wordsRow(columns, "node", "Node", node),
        ...fields.map((field) => wordsRow(columns, field.key, field.label, (column) => settingText(field, column))),
        ...[...extras].map((pointer) => wordsRow(columns, pointer, words(pointer), ({ plan }) => extraText(pointer, plan))),
        figureRow(columns, ["/resolved/parallelism/data", "Data parallel", 0, "", exact]),
        figureRow(columns, ["/resolved/workload/gradient_accumulation", "Micro-batches of a step", 0, "", exact]),
    ].map((row) => ({ ...row, words: true }));
}

/** @param {Column[]} columns @param {string} key @param {string} label @param {string} name @param {(value: number) => string} write */
function rangeRow(columns, key, label, name, write) {
    return wordsRow(columns, key, label, ({ estimate }) => {
        const range = estimate?.interval?.[name];
        return range ? `${write(range[0])} – ${write(range[1])}` : null;
    });
}

/** All of it, each part behind its heading. @param {Column[]} columns @returns {{title: string, rows: Row[]}[]} */
export function partsOf(columns) {
    const [[verdict, limits], [rate, rates]] = FIGURES;
    const verdictOf = ({ estimate }) => (estimate === null ? null : estimate.fits ? "✓ fits" : "✕ does not fit");
    const figures = (list) => list.map((figure) => figureRow(columns, figure));
    const [step, ...others] = figures(rates);
    return [
        { title: verdict, rows: [wordsRow(columns, "fits", "Fits", verdictOf), ...figures(limits),
            rangeRow(columns, "range peak", "Range of the peak", "peak_reserved_bytes", bytes),
            wordsRow(columns, "binds", "What binds", ({ estimate }) => estimate?.binding?.sentence ?? null)] },
        { title: rate, rows: [step, rangeRow(columns, "range step", "Range of the step", "step_s", seconds), ...others] },
        { title: "Settings", rows: settingRows(columns) },
        { title: "Memory of the fullest device", rows: [
            wordsRow(columns, "role", "Which", ({ estimate }) => (estimate ? bindingRank(estimate).role : null)),
            ...termRows(columns, MEMORY_TERMS, (estimate) => bindingRank(estimate).terms, { of: "bytes", unit: "bytes", write: bytes })] },
        { title: "Time of a step", rows: [
            ...termRows(columns, TIME_TERMS, ({ time }) => time.terms, { of: "seconds", unit: "s", write: seconds }), ...figures(TIME_FIGURES)] },
        { title: "Sent and received by a device in a step", rows: trafficRows(columns) },
    ].map(({ title, rows }) => ({ title, rows: rows.filter(({ cells }) => cells.some(({ text }) => text !== "–")) }));
}
