/** A miniature of memory: one stacked bar for each variant, and the same terms in columns. */
import { html } from "../html.js";
import { memorySize, units } from "../state/prefs.js";
import { gigabytes } from "../units.js";
import { keyOf, rowsOf, totalOf } from "../planner/ranks.js";
import { Swatch } from "../widgets/charts.js";
import { Num } from "../widgets/explain.js";
import { StackedBars } from "../widgets/stack.js";
import { isTransient } from "../widgets/terms.js";
import { fullestOf } from "../widgets/values.js";
import { FigureTable } from "./table.js";
import { known } from "../widgets/words.js";

/** @param {{list: import("./state.js").Shown[]}} props */
function Plot({ list }) {
    const ranks = list.map(({ estimate }) => fullestOf(estimate.memory));
    const usable = list[0].estimate.memory.usable_bytes ?? 0;
    const most = Math.max(...ranks.map(totalOf));
    return html`
        <${StackedBars} label="Memory of the fullest GPU by variant, at most ${memorySize(most)}" end=${Math.max(most, usable) * 1.04}
            limits=${usable > 0 ? { usable } : {}} bars=${ranks.map((rank, at) => ({ terms: rank.terms, name: html`<b>${list[at].label}</b>`,
                total: html`<b>${gigabytes(totalOf(rank), units.value)}</b>`, more: { "data-variant": list[at].label } }))} />`;
}

/** @param {import("./state.js").Shown[]} list @param {Api.RankMemory[]} ranks @returns {import("./table.js").Line[]} */
function linesOf(list, ranks) {
    const terms = rowsOf(ranks).map(({ key, label, tone, term: { name, lifetime } }) => ({ more: { "data-term": name },
        cells: [html`<${Swatch} tone=${tone} hatched=${isTransient(lifetime)} />${label}, ${units.value}`, ...ranks.map(({ terms: all }, at) => {
            const term = all.find((item) => keyOf(item) === key && item.bytes > 0);
            return term ? html`<${Num} title="${label}, ${list[at].label}" text=${gigabytes(term.bytes, units.value)} value=${term.bytes} unit="bytes" about=${term} />` : "–";
        })] }));
    return [...terms, { more: { "data-figure": "phase" }, cells: ["Fullest during", ...ranks.map(({ phase }) => phase ?? "–")] }];
}

/** @param {{list: import("./state.js").Shown[], figures: string[]}} props */
export function Bars({ list, figures }) {
    const usable = list[0].estimate.memory.usable_bytes;
    return html`
        <ul class="key">${usable ? html`<li><i class="key-line usable"></i>usable ${memorySize(usable)}</li>` : null}
            <li><${Swatch} tone="grey" />stays</li><li><${Swatch} tone="grey" hatched />comes and goes</li></ul>
        <${Plot} list=${list} />
        <${FigureTable} label=${known("help", "bars")} head="Term" list=${list} figures=${figures}
            first=${linesOf(list, list.map(({ estimate }) => fullestOf(estimate.memory)))} />`;
}
