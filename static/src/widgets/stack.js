/** Stacked bars of memory: what a device holds, term by term, against what it may. */
import { html } from "../html.js";
import { memorySize, units } from "../state/prefs.js";
import { gigabytes, UNIT_BYTES } from "../units.js";
import { keyOf, stackOf, totalOf } from "../planner/ranks.js";
import { share, ticks } from "./charts.js";
import { narrow } from "./narrow.js";
import { isTransient, lifetimeWords, lookOf, MEMORY_TERMS } from "./terms.js";

const ROW_PX = 40;
const BAR_PX = 24;
const AXIS_PX = 22;

/** Round positions of the axis, about so many; beside one another on a phone no more have room, the last of them with its unit. */
const TICKS = 6;
const FEW_TICKS = 4.5;

/** Terms one after the other. @param {{terms: any[], of?: string, end: number, top: number, height: number}} props  of: whose, end: bytes of the axis */
export function Stack({ terms, of = "", end, top, height }) {
    let start = 0;
    return stackOf({ terms }).map((term) => {
        const x = start;
        start += term.bytes;
        const { label, tone } = lookOf(MEMORY_TERMS, term.name, term.what);
        return html`
            <rect key=${keyOf(term)} class="bar tone-${tone}" data-term=${term.name} data-lifetime=${term.lifetime} data-bytes=${term.bytes}
                  x=${share(x / end)} y=${top} height=${height} width=${share(term.bytes / end)}
                  ...${isTransient(term.lifetime) ? { fill: `url(#hatch-${tone})` } : {}}>
                <title>${label}${of && `, ${of}`}: ${memorySize(term.bytes)}, ${lifetimeWords(term.lifetime)}</title>
            </rect>`;
    });
}

/** What is over the limit. @param {{total: number, usable: number, end: number, top: number}} props */
function Deficit({ total, usable, end, top }) {
    return total > usable ? html`
        <rect class="deficit" x=${share(usable / end)} y=${top - 3} height=${BAR_PX + 6} width=${share((total - usable) / end)} fill="url(#hatch-deficit)">
            <title>Over the limit by ${memorySize(total - usable)}</title>
        </rect>` : null;
}

/**
 * @typedef {{terms: any[], of?: string, name: any, total: any, more: Record<string, any>}} Bar  name and total: what stands on its
 *   sides, of: who holds the terms, more: attributes
 * @param {{label: string, bars: Bar[], end: number, limits: {usable?: number, capacity?: number}}} props  end of the axis and limits in bytes
 */
export function StackedBars({ label, bars, end, limits }) {
    const unit = units.value;
    const height = bars.length * ROW_PX;
    const { usable = Infinity } = limits;
    /** @param {number} at */
    const topOf = (at) => at * ROW_PX + (ROW_PX - BAR_PX) / 2;
    return html`
        <div class="bars">
            <ul class="bar-names">${bars.map(({ name }, at) => html`<li key=${at}>${name}</li>`)}</ul>
            <svg class="bar-plot" width="100%" height=${height + AXIS_PX} role="img" aria-label="${label}. The table below has every term.">
                ${ticks(end / UNIT_BYTES[unit], narrow.value ? FEW_TICKS : TICKS).map((tick, at, all) => {
                    const x = share((tick * UNIT_BYTES[unit]) / end);
                    return html`
                        <line key=${tick} class="grid" x1=${x} x2=${x} y1="0" y2=${height} />
                        <text class="tick" x=${x} y=${height + 16} text-anchor=${tick === 0 ? "start" : "middle"}>${tick}${all[at + 1] ? "" : ` ${unit}`}</text>`;
                })}
                ${bars.map(({ terms, of, more }, at) => html`
                    <g key=${at} ...${more}><${Stack} terms=${terms} of=${of} end=${end} top=${topOf(at)} height=${BAR_PX} />
                        <${Deficit} total=${totalOf({ terms })} usable=${usable} end=${end} top=${topOf(at)} /></g>`)}
                ${Object.entries(limits).map(([name, bytes]) => bytes && html`
                    <line key=${name} class=${name} x1=${share(bytes / end)} x2=${share(bytes / end)} y1="0" y2=${height} />`)}
            </svg>
            <ul class="bar-totals">${bars.map(({ terms, total }, at) => {
                const over = totalOf({ terms }) - usable;
                return html`
                    <li key=${at} class=${over > 0 ? "bad" : ""}>${total}${over > 0 ? html`<span class="muted">+${gigabytes(over, unit)} over</span>` : null}</li>`;
            })}</ul>
        </div>`;
}
