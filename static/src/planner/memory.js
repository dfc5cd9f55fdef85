/** Memory per distinct rank: stacked bars against the capacity, and the same figures as a table. */
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { memorySize, units } from "../state/prefs.js";
import { estimated } from "../state/store.js";
import { gigabytes } from "../units.js";
import { Swatch } from "../widgets/charts.js";
import { Num } from "../widgets/explain.js";
import { Export } from "../widgets/export.js";
import { memoryData } from "./exported.js";
import { Figure } from "./figure.js";
import { detailOf, keyOf, nameOf, representatives, rowsOf, stackOf, symbolsOf, totalOf } from "./ranks.js";
import { Panel } from "../widgets/panel.js";
import { formulaCell, formulaFoot, formulaHead, Plain } from "../widgets/plain.js";
import { StackedBars } from "../widgets/stack.js";
import { isTransient, lifetimeWords } from "../widgets/terms.js";
import { Help } from "../widgets/words.js";

/** A long pipeline has many distinct ranks: a few stand for all until the reader asks. */
const showAll = signal(false);

/** @param {{memory: Api.Memory, ranks: Api.RankMemory[]}} props */
function Bars({ memory, ranks }) {
    const { capacity_bytes: capacity, usable_bytes: usable } = memory;
    const all = memory.ranks.length;
    const unit = units.value;
    const worst = Math.max(...memory.ranks.map(totalOf));
    return html`
        <${StackedBars} label="Memory by rank: at most ${gigabytes(worst, unit)} of ${memorySize(usable)} usable" limits=${{ capacity, usable }}
            end=${Math.max(capacity * 1.06, worst * 1.03)} bars=${ranks.map((rank) => ({ terms: rank.terms, of: nameOf(rank, all), more: { "data-rank": rank.rank },
                name: html`<b>${nameOf(rank, all)}</b><span class="muted">${detailOf(rank, all)}</span>`,
                total: html`<${Total} rank=${rank} all=${all} />` }))} />`;
}

/** @param {Api.RankMemory} rank */
function totalAbout(rank) {
    const terms = stackOf(rank);
    const symbols = symbolsOf(terms);
    return {
        formula: symbols.join(" + "),
        inputs: Object.fromEntries(symbols.map((symbol, at) => [symbol, terms[at].bytes])),
        parts: Object.fromEntries(symbols.map((symbol, at) => [symbol, terms[at]])),
        source: "Sum of the terms of this rank",
    };
}

/** @param {{rank: Api.RankMemory, all: number}} props */
function Total({ rank, all }) {
    const bytes = totalOf(rank);
    return html`<${Num} title="Memory of ${nameOf(rank, all)}" text=${gigabytes(bytes, units.value)} value=${bytes} unit="bytes" about=${totalAbout(rank)} />`;
}

/** @param {{memory: Api.Memory, ranks: Api.RankMemory[]}} props */
function Table({ memory, ranks }) {
    const all = memory.ranks.length;
    const unit = units.value;
    const terms = rowsOf(ranks);
    return html`
        <${Plain} tight cards=${false} label="Memory per device by term, in ${unit}" columns=${[unit, ...ranks.map((rank) => `#${nameOf(rank, all)}`), ...formulaHead()]}
            more=${(at) => ({ title: lifetimeWords(terms[at].term.lifetime) })}
            rows=${terms.map(({ key, label, tone, term: first }) => [html`<${Swatch} tone=${tone} hatched=${isTransient(first.lifetime)} />${label}`,
                ...ranks.map((rank) => {
                    const term = rank.terms.find((item) => keyOf(item) === key && item.bytes > 0);
                    return term ? html`<${Num} title="${label}, ${nameOf(rank, all)}" text=${gigabytes(term.bytes, unit)} value=${term.bytes} unit="bytes" about=${term} />` : "–";
                }), ...formulaCell(first)])}>
            <tfoot><tr>
                <th scope="row">Total</th>
                ${ranks.map((rank) => html`<td key=${rank.rank} class="n"><${Total} rank=${rank} all=${all} /></td>`)}
                ${formulaFoot()}
            </tr></tfoot>
        <//>`;
}

/** @param {{shown: number, all: number}} props */
function ShowAll({ shown, all }) {
    return html`
        <p class="more"><button type="button" onClick=${() => { showAll.value = !showAll.value; }}>
            ${showAll.value ? "Show fewer" : `Show all ${all} distinct ranks`}</button>
            ${showAll.value ? null : html` <span class="muted">${shown} <${Help} of="some_ranks" /></span>`}</p>`;
}

export function Memory() {
    const { memory } = estimated.value;
    const few = representatives(memory);
    const ranks = showAll.value ? memory.ranks : few;
    return html`
        <${Panel} title="Memory per device" id="memory" head=${html`
            <ul class="key">
                <li><i class="key-line usable"></i>usable <${Figure} title="Usable memory of a device" at="/memory/usable_bytes" write=${memorySize} /></li>
                <li><i class="key-line capacity"></i>reported <${Figure} title="Memory the device reports" at="/memory/capacity_bytes" write=${memorySize} /></li>
                <li><${Swatch} tone="grey" />stays</li>
                <li><${Swatch} tone="grey" hatched />comes and goes</li>
            </ul>
            <${Export} name="memory" title="Memory per device" data=${() => memoryData(memory)} />`}>
            <${Bars} memory=${memory} ranks=${ranks} />
            ${few.length < memory.ranks.length ? html`<${ShowAll} shown=${few.length} all=${memory.ranks.length} />` : null}
            <${Table} memory=${memory} ranks=${ranks} />
        <//>`;
}
