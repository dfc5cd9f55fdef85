/** A miniature of memory: one stacked bar for each variant, and the same terms in columns. */
import { html } from "../html.js";
import { memorySize, units } from "../state/prefs.js";
import { gigabytes } from "../units.js";
import { stackOf, symbolsOf, totalOf } from "../planner/ranks.js";
import { Swatch } from "../widgets/charts.js";
import { Num } from "../widgets/explain.js";
import { StackedBars } from "../widgets/stack.js";
import { isTransient, lifetimeWords, lookOf, MEMORY_TERMS } from "../widgets/terms.js";
import { FigureTable } from "./table.js";

/** The rank that fills first stands for all. @param {Api.Memory} memory */
const fullest = (memory) => memory.ranks.find(({ rank }) => rank === memory.binding_rank) ?? memory.ranks[0];

/** @param {{list: import("./state.js").Shown[]}} props */
function Plot({ list }) {
    const ranks = list.map(({ estimate }) => fullest(estimate.memory));
    const usable = list[0].estimate.memory.usable_bytes ?? 0;
    const most = Math.max(...ranks.map(totalOf));
    return html`
        <${StackedBars} label="Memory of the fullest GPU by variant, at most ${memorySize(most)}" end=${Math.max(most, usable) * 1.04}
            limits=${usable > 0 ? { usable } : {}} bars=${ranks.map((rank, at) => ({ terms: rank.terms, name: html`<b>${list[at].label}</b>`,
                total: html`<b>${gigabytes(totalOf(rank), units.value)}</b>`, more: { "data-variant": list[at].label } }))} />`;
}

/** Terms of one name that live as long stand in one row, whatever formula each variant has. @param {Api.MemoryTerm} term */
const rowKey = ({ name, lifetime }) => `${name} ${lifetime}`;

/** @param {Api.RankMemory[]} ranks @returns {any[]} a term for each row, in the order of stacking */
function rowsOf(ranks) {
    const all = stackOf({ terms: ranks.flatMap(({ terms }) => terms) });
    return [...new Map(all.map((term) => [rowKey(term), term])).values()];
}

/** @param {Api.RankMemory} rank @param {any} row @param {string} label */
function cellOf(rank, row, label) {
    const terms = rank.terms.filter((term) => rowKey(term) === rowKey(row) && term.bytes > 0);
    if (terms.length === 0) return "–";
    const bytes = totalOf({ terms });
    const symbols = symbolsOf(terms);
    const about = terms.length === 1 ? terms[0] : { name: row.name, formula: symbols.join(" + "), source: "Sum of the terms of that name",
        inputs: Object.fromEntries(symbols.map((symbol, at) => [symbol, terms[at].bytes])) };
    return html`<${Num} title=${label} text=${gigabytes(bytes, units.value)} value=${bytes} unit="bytes" about=${about} />`;
}

/** @param {import("./state.js").Shown[]} list @param {Api.RankMemory[]} ranks @returns {import("./table.js").Line[]} */
function linesOf(list, ranks) {
    const rows = rowsOf(ranks);
    const terms = rows.map((row) => {
        const { label: word, tone } = lookOf(MEMORY_TERMS, row.name);
        const label = rows.filter(({ name }) => name === row.name).length > 1 ? `${word}, ${lifetimeWords(row.lifetime)}` : word;
        return { more: { "data-term": row.name }, cells: [html`<${Swatch} tone=${tone} hatched=${isTransient(row.lifetime)} />${label}`,
            ...ranks.map((rank, at) => cellOf(rank, row, `${label}, ${list[at].label}`))] };
    });
    return [...terms, { more: { "data-figure": "phase" }, cells: ["Fullest during", ...ranks.map(({ phase }) => phase ?? "–")] }];
}

/** @param {{list: import("./state.js").Shown[], figures: string[]}} props */
export function Bars({ list, figures }) {
    const usable = list[0].estimate.memory.usable_bytes;
    return html`
        <ul class="key">${usable ? html`<li><i class="key-line usable"></i>usable ${memorySize(usable)}</li>` : null}
            <li><${Swatch} tone="grey" />stays</li><li><${Swatch} tone="grey" hatched />comes and goes</li></ul>
        <${Plot} list=${list} />
        <${FigureTable} label="Memory of the fullest GPU by term, then figures of the step" head=${units.value} list=${list} figures=${figures}
            first=${linesOf(list, list.map(({ estimate }) => fullest(estimate.memory)))} />`;
}
