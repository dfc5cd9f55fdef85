/** The memory of each stage at the cursor, term by term, as bars and as a table. */
import { html } from "../html.js";
import { at_s, stage } from "../state/look.js";
import { units } from "../state/prefs.js";
import { exact, gigabytes, seconds } from "../units.js";
import { Swatch, share } from "../widgets/charts.js";
import { Num } from "../widgets/explain.js";
import { Fold } from "../widgets/fold.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { Stack } from "../widgets/stack.js";
import { lookOf, MEMORY_TERMS } from "../widgets/terms.js";
import { all, entryOf, keptBytes, keptWords } from "./bytes.js";
import { table_s } from "./cursor.js";
import { names } from "./timeline/kinds.js";
import { shown, stageShown } from "./timeline/shown.js";
import { Help } from "../widgets/words.js";

const ROW_PX = 24;
const BAR_PX = 16;

/** @param {string} name  of a term */
const labelOf = (name) => lookOf(MEMORY_TERMS, name).label;

/** More bars than this are a wall: those about the chosen stage are shown. */
const MOST_STAGES = 12;

/** @typedef {Api.TimelineStage & {held: import("./bytes.js").Held}} Row */

/** Stages with what their devices hold. @returns {Row[]} */
function rows() {
    return shown.value.stages.flatMap((each) => {
        const held = all.value[entryOf(each.rank, each.stage, each.pool)];
        return held ? [{ ...each, held }] : [];
    });
}

/** @param {Row[]} list */
function nearChosen(list) {
    const first = Math.max(0, Math.min(stageShown.value - MOST_STAGES / 2, list.length - MOST_STAGES));
    return list.slice(first, first + MOST_STAGES);
}

/** Follows the cursor by itself, so that playing draws nothing else anew. @param {{row: Row, end: number, top: number}} props */
function Kept({ row, end, top }) {
    const bytes = keptBytes(row.stage, at_s.value);
    return html`<rect class="bar tone-orange" data-term="kept" data-bytes=${bytes} fill="url(#hatch-orange)" x=${share(row.held.stays_bytes / end)}
        y=${top} height=${BAR_PX} width=${share(bytes / end)} />`;
}

/** @param {{row: Row, end: number, at: number}} props */
function Bar({ row, end, at }) {
    const top = at * ROW_PX + (ROW_PX - BAR_PX) / 2;
    const { stays, usable_bytes: usable, entry } = row.held;
    /** @param {string} name @param {number} bytes */
    const line = (name, bytes) => html`<line class=${name} x1=${share(bytes / end)} x2=${share(bytes / end)} y1=${top - 2} y2=${top + BAR_PX + 2} />`;
    return html`
        <g><${Stack} terms=${stays} end=${end} top=${top} height=${BAR_PX} />
            <${Kept} row=${row} end=${end} top=${top} />${line("capacity", entry.device_total_bytes)}${line("usable", usable)}</g>`;
}

/** @param {{list: Row[]}} props */
function Bars({ list }) {
    const end = 1.04 * Math.max(...list.map(({ held }) => Math.max(held.usable_bytes, held.entry.device_total_bytes)));
    return html`
        <div class="bars now">
            <ul class="bar-names">${list.map((row) => html`
                <li key=${row.stage}><button type="button" class="link" aria-pressed=${row.stage === stageShown.value}
                    onClick=${() => { stage.value = row.stage; }}>stage ${row.stage}</button></li>`)}
            </ul>
            <svg class="bar-plot" width="100%" height=${list.length * ROW_PX} role="img"
                 aria-label=${names.says.bars}>
                ${list.map((row, at) => html`<${Bar} key=${row.stage} row=${row} end=${end} at=${at} />`)}
            </svg>
            <${Totals} list=${list} />
        </div>`;
}

/** @param {{list: Row[]}} props */
function Totals({ list }) {
    return html`<ul class="bar-totals">${list.map(({ stage: of, held }) => {
        const bytes = held.stays_bytes + keptBytes(of, table_s.value);
        return html`<li key=${of} class=${bytes > held.usable_bytes ? "bad" : ""} title="${exact(bytes)} bytes">${gigabytes(bytes, units.value)}</li>`;
    })}</ul>`;
}

/** @param {{terms: string[]}} props */
function Legend({ terms }) {
    return html`
        <ul class="key" aria-label="Terms of the memory">${terms.map((name) => {
            const { label, tone } = lookOf(MEMORY_TERMS, name);
            return html`<li key=${name}><${Swatch} tone=${tone} />${label}</li>`;
        })}
            <li><${Swatch} tone="orange" hatched />${keptWords.value}, now</li>
            <li><i class="key-line capacity"></i>peak of the step</li><li><i class="key-line usable"></i>usable</li>
        </ul>`;
}

/** @param {{list: Row[], terms: string[]}} props */
function Table({ list, terms }) {
    /** @param {string} title @param {number} bytes @param {any} [about] */
    const size = (title, bytes, about) => html`<${Num} title=${title} text=${gigabytes(bytes, units.value)} value=${bytes} unit="bytes" about=${about ?? names.about.sum} />`;
    return html`
        <${Plain} tight label="${names.says.memory}, in ${units.value}"
            columns=${[`Stage, ${units.value}`, ...terms.map((name) => `#${labelOf(name)}`), `#${keptWords.value}, now`, "#Together", "#At the peak only"]}
            rows=${list.map(({ stage: of, held }) => {
                const kept = keptBytes(of, table_s.value);
                return [`stage\u00a0${of}`, ...terms.map((name) => {
                    const term = held.stays.find((each) => each.name === name);
                    return size(`${labelOf(name)}, stage ${of}`, term?.bytes ?? 0, term?.about);
                }), size(`${keptWords.value}, stage ${of}`, kept, names.about.stairs), size(`Memory of stage ${of} at the cursor`, held.stays_bytes + kept),
                size(`At the peak only, stage ${of}`, held.peak_only_bytes)];
            })} />`;
}

export function MemoryNow() {
    const list = shown.value === null ? [] : rows();
    const near = nearChosen(list);
    const terms = [...MEMORY_TERMS.keys()].filter((name) => list.some(({ held }) => held.stays.some((term) => term.name === name)));
    return html`
        <${Panel} id="now" data-testid="memory-now" title="Memory at the cursor, ${seconds(table_s.value)}"
            head=${html`<p class="key">a device of each stage, ${units.value}</p>`}>
            ${list.length === 0 ? html`<p class="muted"><${Help} of="awaited" /></p>` : html`
                <${Legend} terms=${terms} />
                ${near.length === list.length ? null : html`
                    <p class="muted">Stages ${near[0].stage} to ${near.at(-1).stage} of ${list.length}: <${Help} of="near_stages" /></p>`}
                <${Bars} list=${near} />
                <p class="muted">${names.says.at_peak_only}</p>
                <${Fold} title="Memory at the cursor, by term" count=${list.length} testid="memory-table">${() => html`
                    <${Table} list=${list} terms=${terms} />`}<//>`}
        <//>`;
}
