/**
 * Answers row by row, aligned: what was set, the verdict, and every term. Pure but for units and names of parts.
 *
 * @typedef {import("./columns.js").Column} Column
 * @typedef {{estimate: any} & Partial<Omit<Column, "estimate">>} Shown  an estimate, or what is compared like one
 * @typedef {{text: string, value: any, unit: string, about: any}} Cell  value: as the service sent it; text: "–" where it has none
 * @typedef {{key: string, section?: string, label: string, words: boolean, differs: boolean, better: 1 | 0 | -1, unit: string,
 *            write: (value: number) => string, signed: boolean, cells: Cell[]}} Row
 *          better: 1 where more is; signed: a difference is written as an amount, not as a share
 */
import { modelName } from "../state/plan.js";
import { FIELDS, valueWords } from "../state/fields.js";
import { memorySize } from "../state/prefs.js";
import { symbolsOf } from "../planner/ranks.js";
import { lasting, offBy } from "../planner/spread.js";
import { digits, percent, scaled, seconds, shortCount } from "../units.js";
import { formulaOf } from "../widgets/explain.js";
import { fitText } from "../widgets/fit.js";
import { lookOf, MEMORY_TERMS, TIME_TERMS } from "../widgets/terms.js";
import { bindingWords, fullestOf, partName, unitOf, valueAt, writerOf } from "../widgets/values.js";
import { titled } from "../widgets/words.js";
import { leafOf, plainWords, spoken, wordsOf } from "../words.js";

/** @typedef {[string, (1 | 0 | -1)?, ((value: number) => string)?, ((estimate: any) => (value: number) => string)?]} Figure
 *          pointer, which way is better, how it is written unless its name says it, or by which estimate it is of */

/** @type {Figure[]} */
const LIMITS = [["/memory/device_total_bytes", -1], ["/memory/usable_bytes", 1], ["/memory/headroom_bytes", 1]];

/** As the planner says it: no digit more than the interval bears out. @param {Api.Estimate} estimate @returns {(value_s: number) => string} */
const lastingIn = (estimate) => (value_s) => lasting(value_s, offBy(estimate));

/** @type {Figure[]} */
const RATES = [["/time/step_s", -1], ["/throughput/tokens_per_s", 1], ["/throughput/tokens_per_s_per_accelerator", 1],
    ["/throughput/samples_per_s", 1, digits], ["/throughput/mfu_full", 1, percent], ["/throughput/mfu_causal", 1, percent],
    ["/throughput/hfu", 0, percent], ["/resolved/cluster/accelerators", -1], ["/time_to_train_s", -1, seconds, lastingIn], ["/goodput_ratio", 1],
    ["/cost", -1, scaled], ["/energy_j", -1]];

/** @type {Figure[]} */
const IDLE = [["/time/bubble_ratio", -1], ["/time/exposed_communication_s", -1]];

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

/** @param {Shown[]} columns @param {Figure} figure @param {string} [of]  what calls it so, in words.json */
export function figureRow(columns, [pointer, better = 0, write, writeIn], of = "compared") {
    const name = leafOf(pointer);
    const unit = unitOf(name);
    write ??= writerOf(name);
    const cells = columns.map(({ estimate }) => {
        const value = valueAt(estimate, pointer);
        return typeof value === "number" ? { text: (writeIn?.(estimate) ?? write)(value), value, unit, about: estimate.explanations?.[pointer] ?? formulaOf(name) } : NONE;
    });
    return rowOf(columns, { key: pointer, label: titled(of, name), better, unit, write, signed: unit === "bytes", cells });
}

/** The sum of terms with the same name, explained. @param {any[]} terms @param {string} of */
function sumOf(terms, of) {
    if (terms.length === 1) return { value: terms[0][of], about: terms[0].formula ? terms[0] : formulaOf(terms[0].name) };
    const symbols = symbolsOf(terms);
    return { value: terms.reduce((sum, term) => sum + term[of], 0), about: { formula: symbols.join(" + "),
        inputs: Object.fromEntries(symbols.map((symbol, at) => [symbol, terms[at][of]])), source: "Sum of the terms of this name" } };
}

/** How terms are written. @type {Record<string, [string, (value: number) => string]>} */
const TERMS = { bytes: ["bytes", memorySize], seconds: ["s", seconds], bytes_per_step: ["bytes", (value) => scaled(value, "B")] };

/**
 * One row for each name of a term, in the order of the page.
 * @param {Shown[]} columns @param {Map<string, any>} looks @param {"bytes" | "seconds" | "bytes_per_step"} of @param {(estimate: any) => any[]} read
 */
export function termRows(columns, looks, of, read) {
    const [unit, write] = TERMS[of];
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

/** A part without rows that say nothing of any column. @param {{title: string, rows: Row[]}} part */
export function known({ title, rows }) {
    return { title, rows: rows.filter(({ cells }) => cells.some(({ text }) => text !== "–")) };
}

/** Volume of each collective. @param {Shown[]} columns */
export function trafficRows(columns) {
    return termRows(columns, new Map(), "bytes_per_step", ({ communication }) => (communication ?? []).map((/** @type {Api.Communication} */ item) =>
        ({ ...item, ...item.explain.bytes_per_step, parts: item.explain, name: wordsOf(`${item.group} ${item.collective}, ${item.level}`) })));
}

const MODEL_FIELDS = ["hub", "revision", "example"];
const CLUSTER_FIELDS = ["accelerator", "perNode", "inventory", "pool"];

/**
 * A setting as its control shows it; what is left open with what it came to.
 * @param {import("../state/fields.js").Field} field @param {Column} column
 */
function settingText(field, { plan, estimate }) {
    const value = plan[field.key];
    if (field.type === "flag") return valueWords(field, value);
    if (!field.optional || (value !== "" && value !== 0)) return typeof value === "number" ? shortCount(value) : String(value);
    const came = valueAt(estimate?.resolved, field.pointer);
    return came === undefined || came === null ? "left open" : `left open: ${String(came)}`;
}

/** @param {Column[]} columns @returns {Row[]} */
function settingRows(columns) {
    /** @param {Column} column */
    const node = ({ plan: { inventory, pool, accelerator, perNode } }) =>
        (inventory !== "" ? [inventory, pool].filter(Boolean).join(", ") : `${perNode} × ${partName(accelerator)}`);
    const fields = FIELDS.filter(({ key }) => ![...MODEL_FIELDS, ...CLUSTER_FIELDS].includes(key));
    const extras = new Set(columns.flatMap(({ plan }) => Object.entries(plan.extra ?? {}).flatMap(([group, members]) =>
        Object.keys(members).map((name) => `/${group}/${name}`))));
    /** @param {string} pointer @param {import("../state/plan.js").Plan} plan */
    const extraText = (pointer, plan) => {
        const value = valueAt(plan.extra, pointer);
        if (value === undefined) return null;
        return spoken(pointer, value) || plainWords(value);
    };
    return [
        wordsRow(columns, "model", "Model", ({ plan }) => modelName(plan)),
        wordsRow(columns, "node", "Node", node),
        ...fields.map((field) => wordsRow(columns, field.key, field.label, (column) => settingText(field, column))),
        ...[...extras].map((pointer) => wordsRow(columns, pointer, titled("compared", leafOf(pointer)), ({ plan }) => extraText(pointer, plan))),
        figureRow(columns, ["/resolved/parallelism/data"]),
        figureRow(columns, ["/resolved/workload/gradient_accumulation"]),
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
    /** @param {Column} column */
    const verdictOf = ({ estimate }) => (estimate === null ? null : fitText(estimate));
    /** @param {Figure[]} list */
    const figures = (list) => list.map((figure) => figureRow(columns, figure));
    const [step, ...others] = figures(RATES);
    return [
        { title: "Verdict", rows: [wordsRow(columns, "fits", "Fits", verdictOf), ...figures(LIMITS),
            rangeRow(columns, "range peak", "Range of peak reserved", "peak_reserved_bytes", memorySize),
            wordsRow(columns, "binds", "What binds", ({ estimate }) => estimate && bindingWords(estimate))] },
        { title: "Throughput and cost", rows: [step, rangeRow(columns, "range step", "Range of the step", "step_s", seconds), ...others] },
        { title: "Settings", rows: settingRows(columns) },
        { title: "Memory of the fullest device", rows: [
            wordsRow(columns, "role", "Which", ({ estimate }) => (estimate ? fullestOf(estimate.memory).role : null)),
            ...termRows(columns, MEMORY_TERMS, "bytes", (estimate) => fullestOf(estimate.memory).terms)] },
        { title: "Time of a step", rows: [
            ...termRows(columns, TIME_TERMS, "seconds", ({ time }) => time.terms), ...figures(IDLE)] },
        { title: "Sent and received by a device in a step", rows: trafficRows(columns) },
    ].map(known);
}
