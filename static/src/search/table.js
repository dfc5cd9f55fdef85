/** The plans found as a table, joined with the scatter. */
import { computed } from "@preact/signals";
import { html } from "../html.js";
import { said, say } from "./ask.js";
import { canPin, chosen, hovered, isPinnedRow, rows, run, togglePin } from "./run.js";
import { readable } from "../state/prefs.js";
import { exact } from "../units.js";
import { Told } from "../widgets/explain.js";
import { inOrder } from "../widgets/rows.js";
import { Panel } from "../widgets/panel.js";
import { Table, TableTools } from "../widgets/table.js";
import { Help } from "../widgets/words.js";
import { matching } from "./axes.js";
import { cutOf, dimensionLabel, dimensionValue, FIGURE_BY_NAME, FIGURES, isKnown, isVaried, sureOf, textIn, titleOf, written } from "./figures.js";
import { Kept } from "./parallel.js";
import { Sure } from "./best.js";
import { dimensions } from "./shown.js";

/**
 * @typedef {import("./plans.js").Row} Row
 * @typedef {import("../widgets/rows.js").Column} Column
 */

/** @param {{row: Row}} props */
function Place({ row }) {
    const pinned = isPinnedRow(row.key);
    const name = row.rank > 0 ? `rank ${row.rank}` : "a plan on the front";
    return html`
        <span class="placed"><button type="button" class="icon pin" aria-pressed=${pinned} data-pin=${row.key} disabled=${!pinned && !canPin(row)}
                aria-label="${pinned ? "Unpin" : "Pin"} ${name}" onClick=${() => togglePin(row.key)}>${pinned ? "★" : "☆"}</button>${
            row.rank > 0 ? row.rank : "–"}</span>`;
}

/** @type {Column} */
const RANK = { name: "rank", title: "Rank", field: "rank", number: true, first: 1, read: ({ rank }) => rank || null,
    write: (row) => html`<${Place} row=${row} />` };

/** What a row is about, in view before any figure of it. @type {Column} */
const CUT = { name: "cut", title: "Plan", wraps: true, read: ({ plan }) => cutOf(plan) };

/** The rate says nothing of how near to the limit a plan is. @type {Column} */
const VERDICT = { name: "verdict", title: "Verdict", field: "fits_certain", first: -1, read: ({ plan }) => plan.fits_certain ?? null,
    write: ({ plan }) => html`<${Sure} plan=${plan} />` };

/** @param {import("./figures.js").Figure} figure @returns {Column} */
function figureColumn(figure) {
    return { name: figure.name, title: titleOf(figure), field: figure.name, number: true, first: figure.better > 0 ? -1 : 1,
        read: ({ plan }) => figure.read(plan),
        /* A click means the row until it is chosen. */
        write: ({ key, plan }) => {
            const value = figure.read(plan);
            if (typeof value !== "number") return "–";
            const text = textIn(figure, plan, value);
            return chosen.value !== key ? text : html`<${Told} name=${figure.name} title=${dimensionLabel(figure.name)} text=${text} value=${value} />`;
        } };
}

/** @param {string} name @returns {Column} */
function dimensionColumn(name) {
    return { name, title: dimensionLabel(name), field: name, number: name !== "cluster", first: 1, read: ({ values }) => values[name],
        write: ({ values }) => dimensionValue(name, values[name]) };
}

/** What a figure per device says, the figure says while all have as many devices. */
const figures = computed(() => FIGURES.filter((figure) => isKnown(figure, rows.value)
    && (figure.name !== "rate_per_accelerator" || isVaried(FIGURE_BY_NAME.get("accelerators"), rows.value))));

const columns = computed(() => [RANK, CUT, ...(rows.value.some(({ plan }) => sureOf(plan)) ? [VERDICT] : []), ...figures.value.filter((figure) => rows.value.length < 2 || isVaried(figure, rows.value)).map(figureColumn),
    ...dimensions.value.varied.map(dimensionColumn)]);

const ordered = computed(() => inOrder(matching.value, columns.value, said("sort")));

/** @param {string} key @param {KeyboardEvent} event */
function onKey(key, event) {
    if (event.key === "p") togglePin(key);
    return event.key === "p";
}

/** What need not be said in every row. */
function Same() {
    const [first] = rows.value;
    if (rows.value.length < 2) return null;
    const alike = figures.value.filter((figure) => !isVaried(figure, rows.value));
    const words = [...alike.map((figure) => `${dimensionLabel(figure.name).toLowerCase()} ${written(figure, first.plan)}`),
        ...dimensions.value.same.map((name) => `${dimensionLabel(name).toLowerCase()} ${dimensionValue(name, first.values[name])}`)];
    return words.length === 0 ? null : html`<p class="hint muted">The same in all: ${words.join(", ")}.</p>`;
}

export function Plans() {
    const { result, phase } = run.value;
    const sentence = result?.reranking?.sentence;
    const some = matching.value.length < rows.value.length ? `${exact(matching.value.length)} of ` : "";
    const count = `${some}${exact(rows.value.length)}`;
    return html`
        <${Panel} title=${html`Plans <span class="tag">${count}</span>`} id="plans" head=${html`
            <${TableTools} rows=${ordered.value} columns=${columns.value} file="shardline-search" />`}>
            <p class="visually-hidden" role="status" data-testid="plans-count">${phase === "running" ? "" : `${count} plans in the table`}</p>
            <${Kept} />
            ${sentence ? html`<p class="hint muted">${readable(sentence)}</p>` : null}
            <${Table} label="Plans found" long columns=${columns.value} rows=${ordered.value} keyOf=${({ key }) => key}
                sort=${said("sort")} setSort=${(sort) => say({ sort })} current=${chosen.value} choose=${(key) => { chosen.value = key; }}
                point=${(key) => { hovered.value = key; }} onKey=${onKey}
                more=${({ key }) => ({ "aria-selected": chosen.value === key, "data-near": hovered.value === key })} />
            <p class="hint muted"><${Help} of="table" /></p>
            <${Same} />
        <//>`;
}
