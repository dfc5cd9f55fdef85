/**
 * Where the time goes: from the arithmetic at peak rate to the step time. The figure is a table
 * whose middle column is drawn, so the figures and their picture cannot disagree.
 */
import { html } from "../html.js";
import { estimated } from "../state/store.js";
import { digits, percent } from "../units.js";
import { Swatch, share } from "../widgets/charts.js";
import { Num } from "../widgets/explain.js";
import { Export } from "../widgets/export.js";
import { Panel } from "../widgets/panel.js";
import { formulaCell, formulaFoot, formulaHead, Plain } from "../widgets/plain.js";
import { timeData } from "./exported.js";
import { Figure } from "./figure.js";
import { lookOf, TIME_TERMS } from "../widgets/terms.js";
import { Help, known } from "../widgets/words.js";

const BAR_PX = 14;

/** Units of the column. @type {Record<string, number>} */
const PER_S = { s: 1, ms: 1000 };

/** What takes less is what rounding left of nothing. */
const LEAST_S = 1e-9;

/** Less than the last digit of its column is said so, not in powers of ten. @param {number} value */
const inColumn = (value) => (value !== 0 && Math.abs(value) < 0.0005 ? "< 0.001" : digits(value));

/**
 * @typedef {{id: string, label: string, tone: string, hatched: boolean, start_s: number, seconds: number,
 *            about: any, level: 0 | 1}} Step
 */

/** Kernel time beyond the arithmetic at peak rate, derived here from three figures of the answer. @param {number} forward_s @param {number} backward_s @param {number} ideal_s */
function efficiencyAbout(forward_s, backward_s, ideal_s) {
    return {
        formula: "forward_s + backward_s - ideal_s",
        inputs: { forward_s, backward_s, ideal_s },
        source: known("help", "efficiency"),
    };
}

/** @param {Api.StepTime} time @returns {Step[]} */
function stepsOf(time) {
    /** @param {string} name */
    const term = (name) => time.terms.find((item) => item.name === name);
    const forward_s = term("forward")?.seconds ?? 0;
    const backward_s = term("backward")?.seconds ?? 0;
    const ideal_s = time.ideal_s;
    /** @type {Step[]} */
    const steps = [
        { id: "ideal", label: "Model FLOPs at peak rate", tone: "green", hatched: true, start_s: 0, seconds: ideal_s,
            about: estimated.value.explanations?.["/time/ideal_s"], level: 0 },
        { id: "efficiency", label: "Kernel efficiency", tone: "sky", hatched: true, start_s: ideal_s,
            seconds: forward_s + backward_s - ideal_s, about: efficiencyAbout(forward_s, backward_s, ideal_s), level: 0 },
    ];
    let start_s = 0;
    for (const item of time.terms) {
        const kernel = item.name === "forward" || item.name === "backward";
        const { label, tone, hatched = false } = lookOf(TIME_TERMS, item.name);
        if (kernel || Math.abs(item.seconds) > LEAST_S) {
            steps.push({ id: item.name, label, tone, hatched, start_s, seconds: item.seconds,
                about: item, level: kernel ? 1 : 0 });
        }
        start_s += item.seconds;
    }
    return steps;
}

/** @param {{step: Step, end_s: number}} props */
function Drawn({ step, end_s }) {
    const from_s = Math.min(step.start_s, step.start_s + step.seconds);
    return html`
        <svg class="fall" width="100%" height=${BAR_PX + 8} aria-hidden="true" focusable="false">
            <line class="grid" x1="0" x2="100%" y1=${BAR_PX / 2 + 4} y2=${BAR_PX / 2 + 4} />
            <rect class="bar tone-${step.tone}" x=${share(from_s / end_s)} y=${step.level === 1 ? 7 : 4}
                  height=${step.level === 1 ? BAR_PX - 6 : BAR_PX} width=${share(Math.abs(step.seconds) / end_s)}
                  ...${step.hatched ? { fill: `url(#hatch-${step.tone})` } : {}} />
        </svg>`;
}

/** @param {{time: Api.StepTime, interval: [number, number] | undefined, end_s: number}} props */
function Total({ time, interval, end_s }) {
    const low = share((interval?.[0] ?? time.step_s) / end_s);
    const high = share((interval?.[1] ?? time.step_s) / end_s);
    const middle = BAR_PX / 2 + 4;
    return html`
        <svg class="fall" width="100%" height=${BAR_PX + 8} aria-hidden="true" focusable="false">
            <rect class="bar total" x="0" y="4" height=${BAR_PX} width=${share(time.step_s / end_s)} />
            <g class="whisker">
                <line x1=${low} x2=${high} y1=${middle} y2=${middle} />
                <line x1=${low} x2=${low} y1=${middle - 4} y2=${middle + 4} />
                <line x1=${high} x2=${high} y1=${middle - 4} y2=${middle + 4} />
            </g>
        </svg>`;
}

/** @param {Step} step @param {Api.StepTime} time @param {number} end_s @param {string} unit  of the column */
function cellsOf(step, time, end_s, unit) {
    const { label, seconds: term_s, about } = step;
    return [html`<${Swatch} tone=${step.tone} hatched=${step.hatched} />${label}`, html`<td class="drawn"><${Drawn} step=${step} end_s=${end_s} /></td>`,
        html`<${Num} title=${label} text=${inColumn(term_s * PER_S[unit])} value=${term_s} unit="s" about=${about} /> <span class="visually-hidden">${unit}</span>`,
        html`<td class="n muted"><${Num} title="Share of ${label}" text=${percent(term_s / time.step_s)} value=${term_s / time.step_s}
            about=${{ formula: "term_s / step_s", inputs: { term_s, step_s: time.step_s }, source: "derived" }} /></td>`, ...formulaCell(about)];
}

export function Waterfall() {
    const { time, interval } = estimated.value;
    const unit = time.step_s < 1 ? "ms" : "s";
    const end_s = Math.max(time.step_s, interval?.step_s?.[1] ?? 0) * 1.01;
    const steps = stepsOf(time);
    return html`
        <${Panel} title="Where the time goes" id="waterfall" head=${html`
            <p class="key"><${Help} of="indented" /></p>
            <${Export} name="time" title="Where the time goes" data=${() => timeData(time)} />`}>
            <div class="falls"><${Plain} label=${known("help", "falls")}
                columns=${["Term", html`<span class="visually-hidden">${known("help", "drawn")}</span>`, `#${unit}`, "#share", ...formulaHead()]}
                more=${(at) => ({ class: steps[at].level === 1 ? "sub" : "", "data-term": steps[at].id, "data-seconds": steps[at].seconds })}
                rows=${steps.map((step) => cellsOf(step, time, end_s, unit))}>
                <tfoot>
                    <tr>
                        <th scope="row">Step time</th>
                        <td class="drawn"><${Total} time=${time} interval=${interval?.step_s} end_s=${end_s} /></td>
                        <td class="n"><${Figure} title="Step time" at="/time/step_s" write=${(step_s) => digits(step_s * PER_S[unit])} /></td>
                        <td class="n"><span class="visually-hidden">MFU </span><${Figure} title="Model FLOPs utilisation"
                            at="/throughput/mfu_full" write=${(mfu) => `${percent(mfu).replace(" ", "\u00a0")} MFU`} /></td>
                        ${formulaFoot()}
                    </tr>
                </tfoot>
            <//></div>
            <p class="key"><${Help} of="rounded" /></p>
        <//>`;
}
