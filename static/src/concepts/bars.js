/** A miniature of memory: one stacked bar for each variant, and the same terms in columns. */
import { html } from "../html.js";
import { units } from "../state/prefs.js";
import { gigabytes } from "../units.js";
import { keyOf, stackOf, symbolsOf, totalOf } from "../planner/ranks.js";
import { Swatch, share, ticks } from "../widgets/charts.js";
import { Num } from "../widgets/explain.js";
import { isTransient, lifetimeWords, lookOf, MEMORY_TERMS } from "../widgets/terms.js";
import { FigureTable } from "./table.js";

const ROW_PX = 40;
const BAR_PX = 22;
const UNIT_BYTES = { GiB: 2 ** 30, GB: 1e9 };

/** The rank that fills first stands for all. @param {any} memory */
const fullest = (memory) => memory.ranks.find(({ rank }) => rank === memory.binding_rank) ?? memory.ranks[0];

/** @param {{rank: any, at: number, end: number, usable: number}} props */
function Bar({ rank, at, end, usable }) {
    const top = at * ROW_PX + (ROW_PX - BAR_PX) / 2;
    let start = 0;
    return html`
        ${stackOf(rank).map((term) => {
            const x = start;
            start += term.bytes;
            const { label, tone } = lookOf(MEMORY_TERMS, term.name);
            return html`
                <rect key=${keyOf(term)} class="bar tone-${tone}" data-term=${term.name} data-bytes=${term.bytes} x=${share(x / end)} y=${top}
                      height=${BAR_PX} width=${share(term.bytes / end)} ...${isTransient(term.lifetime) ? { fill: `url(#hatch-${tone})` } : {}}>
                    <title>${label}: ${gigabytes(term.bytes, units.value)} ${units.value}, ${lifetimeWords(term.lifetime)}</title>
                </rect>`;
        })}
        ${start > usable ? html`
            <rect class="deficit" x=${share(usable / end)} y=${top - 3} height=${BAR_PX + 6} width=${share((start - usable) / end)} fill="url(#hatch-deficit)">
                <title>Over the limit by ${gigabytes(start - usable, units.value)} ${units.value}</title>
            </rect>` : null}`;
}

/** @param {{list: import("./state.js").Shown[]}} props */
function Plot({ list }) {
    const unit = units.value;
    const ranks = list.map(({ estimate }) => fullest(estimate.memory));
    const usable = list[0].estimate.memory.usable_bytes ?? Infinity;
    const most = Math.max(...ranks.map(totalOf));
    const end = Math.max(most, Number.isFinite(usable) ? usable : 0) * 1.04;
    const height = list.length * ROW_PX;
    return html`
        <div class="bars">
            <ul class="bar-names">${list.map(({ label }) => html`<li key=${label}><b>${label}</b></li>`)}</ul>
            <svg class="bar-plot" width="100%" height=${height + 22} role="img"
                 aria-label="Memory of the fullest GPU by variant, at most ${gigabytes(most, unit)} ${unit}. The table below has every term.">
                ${ticks(end / UNIT_BYTES[unit], 5).map((tick) => {
                    const x = share((tick * UNIT_BYTES[unit]) / end);
                    return html`
                        <line key=${tick} class="grid" x1=${x} x2=${x} y1="0" y2=${height} />
                        <text class="tick" x=${x} y=${height + 16} text-anchor=${tick === 0 ? "start" : "middle"}>${tick}</text>`;
                })}
                ${ranks.map((rank, at) => html`<g key=${at} data-variant=${list[at].label}><${Bar} rank=${rank} at=${at} end=${end} usable=${usable} /></g>`)}
                ${Number.isFinite(usable) ? html`<line class="usable" x1=${share(usable / end)} x2=${share(usable / end)} y1="0" y2=${height} />` : null}
            </svg>
            <ul class="bar-totals">${ranks.map((rank, at) => html`
                <li key=${at} class=${totalOf(rank) > usable ? "bad" : ""}><b>${gigabytes(totalOf(rank), unit)}</b>
                    ${totalOf(rank) > usable ? html`<span class="muted">+${gigabytes(totalOf(rank) - usable, unit)} over</span>` : null}</li>`)}</ul>
        </div>`;
}

/** Terms of one name that live as long stand in one row, whatever formula each variant has. @param {any} term */
const rowKey = ({ name, lifetime }) => `${name} ${lifetime}`;

/** @param {any[]} ranks @returns {any[]} a term for each row, in the order of stacking */
function rowsOf(ranks) {
    const all = stackOf({ terms: ranks.flatMap(({ terms }) => terms) });
    return [...new Map(all.map((term) => [rowKey(term), term])).values()];
}

/** @param {any} rank @param {any} row @param {string} label */
function cellOf(rank, row, label) {
    const terms = rank.terms.filter((term) => rowKey(term) === rowKey(row) && term.bytes > 0);
    if (terms.length === 0) return "–";
    const bytes = totalOf({ terms });
    const symbols = symbolsOf(terms);
    const about = terms.length === 1 ? terms[0] : { name: row.name, formula: symbols.join(" + "), source: "Sum of the terms of that name",
        inputs: Object.fromEntries(symbols.map((symbol, at) => [symbol, terms[at].bytes])) };
    return html`<${Num} title=${label} text=${gigabytes(bytes, units.value)} value=${bytes} unit="bytes" about=${about} />`;
}

/** @param {import("./state.js").Shown[]} list @param {any[]} ranks @returns {import("./table.js").Line[]} */
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
    const unit = units.value;
    const usable = list[0].estimate.memory.usable_bytes;
    return html`
        <ul class="key">${typeof usable === "number" ? html`<li><i class="key-line usable"></i>usable ${gigabytes(usable, unit)} ${unit}</li>` : null}
            <li><${Swatch} tone="grey" />stays</li><li><${Swatch} tone="grey" hatched />comes and goes</li></ul>
        <${Plot} list=${list} />
        <${FigureTable} label="Memory of the fullest GPU by term, then figures of the step" head=${unit} list=${list} figures=${figures}
            first=${linesOf(list, list.map(({ estimate }) => fullest(estimate.memory)))} />`;
}
