/** Memory per distinct rank: stacked bars against the capacity, and the same figures as a table. */
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { explainAll, memorySize, units } from "../state/prefs.js";
import { answer } from "../state/store.js";
import { gigabytes, UNIT_BYTES } from "../units.js";
import { Swatch, share, ticks } from "../widgets/charts.js";
import { Num } from "../widgets/explain.js";
import { Export } from "../widgets/export.js";
import { memoryData } from "./exported.js";
import { Figure } from "./figure.js";
import { detailOf, keyOf, nameOf, representatives, rowsOf, stackOf, symbolsOf, totalOf } from "./ranks.js";
import { Scroll } from "../widgets/scroll.js";
import { isTransient, lifetimeWords, lookOf, MEMORY_TERMS } from "../widgets/terms.js";

const ROW_PX = 40;
const BAR_PX = 24;

/** A long pipeline has many distinct ranks: a few stand for all until the reader asks. */
const showAll = signal(false);

/** @param {{rank: any, name: string, at: number, end: number, usable: number}} props */
function Bar({ rank, name, at, end, usable }) {
    const top = at * ROW_PX + (ROW_PX - BAR_PX) / 2;
    let start = 0;
    const total = totalOf(rank);
    return html`
        <g data-rank=${rank.rank}>${stackOf(rank).map((term) => {
            const x = start;
            start += term.bytes;
            const { label, tone } = lookOf(MEMORY_TERMS, term.name);
            return html`
                <rect key=${keyOf(term)} class="bar tone-${tone}" data-term=${term.name} data-lifetime=${term.lifetime}
                      data-bytes=${term.bytes} x=${share(x / end)} y=${top} height=${BAR_PX}
                      width=${share(term.bytes / end)} ...${isTransient(term.lifetime) ? { fill: `url(#hatch-${tone})` } : {}}>
                    <title>${label}, ${name}: ${memorySize(term.bytes)}, ${lifetimeWords(term.lifetime)}</title>
                </rect>`;
        })}
        ${total > usable ? html`
            <rect class="deficit" x=${share(usable / end)} y=${top - 3} height=${BAR_PX + 6}
                  width=${share((total - usable) / end)} fill="url(#hatch-deficit)">
                <title>Over the limit by ${memorySize(total - usable)}</title>
            </rect>` : null}
        </g>`;
}

/** @param {{memory: any, ranks: any[]}} props */
function Bars({ memory, ranks }) {
    const { capacity_bytes: capacity, usable_bytes: usable } = memory;
    const all = memory.ranks.length;
    const end = Math.max(capacity * 1.06, ...memory.ranks.map((rank) => totalOf(rank) * 1.03));
    const unit = units.value;
    const height = ranks.length * ROW_PX;
    const worst = Math.max(...memory.ranks.map(totalOf));
    return html`
        <div class="bars">
            <ul class="bar-names">${ranks.map((rank) => html`
                <li key=${rank.rank}><b>${nameOf(rank, all)}</b><span class="muted">${detailOf(rank, all)}</span></li>`)}
            </ul>
            <svg class="bar-plot" width="100%" height=${height + 22} role="img"
                 aria-label="Memory by rank: at most ${gigabytes(worst, unit)} of ${memorySize(usable)} usable. The table below has every term.">
                ${ticks(end / UNIT_BYTES[unit], 6).map((tick) => {
                    const x = share((tick * UNIT_BYTES[unit]) / end);
                    return html`
                        <line key=${tick} class="grid" x1=${x} x2=${x} y1="0" y2=${height} />
                        <text class="tick" x=${x} y=${height + 16} text-anchor=${tick === 0 ? "start" : "middle"}>${tick}</text>`;
                })}
                ${ranks.map((rank, at) => html`<${Bar} key=${rank.rank} rank=${rank} name=${nameOf(rank, all)} at=${at} end=${end} usable=${usable} />`)}
                <line class="capacity" x1=${share(capacity / end)} x2=${share(capacity / end)} y1="0" y2=${height} />
                <line class="usable" x1=${share(usable / end)} x2=${share(usable / end)} y1="0" y2=${height} />
            </svg>
            <ul class="bar-totals">${ranks.map((rank) => {
                const total = totalOf(rank);
                return html`
                    <li key=${rank.rank} class=${total > usable ? "bad" : ""}>
                        <${Num} title="Memory of ${nameOf(rank, all)}" text=${gigabytes(total, unit)} value=${total} unit="bytes" about=${totalAbout(rank)} />
                        <span class="muted">${total > usable ? `+${gigabytes(total - usable, unit)} over` : ""}</span>
                    </li>`;
            })}</ul>
        </div>`;
}

/** @param {any} rank */
function totalAbout(rank) {
    const terms = stackOf(rank);
    const symbols = symbolsOf(terms);
    return {
        formula: symbols.join(" + "),
        inputs: Object.fromEntries(symbols.map((symbol, at) => [symbol, terms[at].bytes])),
        source: "Sum of the terms of this rank",
    };
}

/** @param {{memory: any, ranks: any[]}} props */
function Table({ memory, ranks }) {
    const all = memory.ranks.length;
    const unit = units.value;
    const explained = explainAll.value;
    return html`
        <${Scroll} label="Memory table">
            <table class="figures tight">
                <caption class="visually-hidden">Memory per device by term, in ${unit}</caption>
                <thead><tr>
                    <th scope="col">${unit}</th>
                    ${ranks.map((rank) => html`<th key=${rank.rank} scope="col" class="n">${nameOf(rank, all)}</th>`)}
                    ${explained ? html`<th scope="col" class="how">Formula</th>` : null}
                </tr></thead>
                <tbody>${rowsOf(ranks).map(({ key, label, tone, term: first }) => html`
                    <tr key=${key}>
                        <th scope="row" title=${lifetimeWords(first.lifetime)}>
                            <${Swatch} tone=${tone} hatched=${isTransient(first.lifetime)} />${label}</th>
                        ${ranks.map((rank) => {
                            const term = rank.terms.find((item) => keyOf(item) === key && item.bytes > 0);
                            return html`<td key=${rank.rank} class="n">${term ? html`
                                <${Num} title="${label}, ${nameOf(rank, all)}" text=${gigabytes(term.bytes, unit)}
                                        value=${term.bytes} unit="bytes" about=${term} />` : "–"}</td>`;
                        })}
                        ${explained ? html`<td class="how"><code>${first.formula}</code> <span class="muted">${first.source}</span></td>` : null}
                    </tr>`)}</tbody>
                <tfoot><tr>
                    <th scope="row">Total</th>
                    ${ranks.map((rank) => html`<td key=${rank.rank} class="n">${gigabytes(totalOf(rank), unit)}</td>`)}
                    ${explained ? html`<td class="how"></td>` : null}
                </tr></tfoot>
            </table>
        <//>`;
}

/** @param {{shown: number, all: number}} props */
function ShowAll({ shown, all }) {
    return html`
        <p class="more"><button type="button" onClick=${() => { showAll.value = !showAll.value; }}>
            ${showAll.value ? "Show fewer" : `Show all ${all} distinct ranks`}</button>
            ${showAll.value ? null : html` <span class="muted">${shown} stand for them: both ends, the fullest and some between</span>`}</p>`;
}

export function Memory() {
    const { memory } = answer.value.estimate;
    const few = representatives(memory);
    const ranks = showAll.value ? memory.ranks : few;
    return html`
        <section class="panel" aria-labelledby="panel-memory" data-testid="memory">
            <header class="panel-head">
                <h2 id="panel-memory">Memory per device</h2>
                <ul class="key">
                    <li><i class="key-line usable"></i>usable <${Figure} title="Usable memory of a device" at="/memory/usable_bytes" write=${memorySize} /></li>
                    <li><i class="key-line capacity"></i>reported <${Figure} title="Memory the device reports" at="/memory/capacity_bytes" write=${memorySize} /></li>
                    <li><${Swatch} tone="grey" />stays</li>
                    <li><${Swatch} tone="grey" hatched />comes and goes</li>
                </ul>
                <${Export} name="memory" title="Memory per device" data=${() => memoryData(memory)} />
            </header>
            <${Bars} memory=${memory} ranks=${ranks} />
            ${few.length < memory.ranks.length ? html`<${ShowAll} shown=${few.length} all=${memory.ranks.length} />` : null}
            <${Table} memory=${memory} ranks=${ranks} />
        </section>`;
}
