/** A second timeline below the first: what is changed for it, what differs, and its drawing. */
import { html } from "../../html.js";
import { besides, offered, wordsOf } from "../beside.js";
import { beside } from "../../state/look.js";
import { units } from "../../state/prefs.js";
import { answer } from "../../state/store.js";
import { change, digits, exact, gigabytes, percent, seconds } from "../../units.js";
import { Problem } from "../../widgets/problem.js";
import { Scroll } from "../../widgets/scroll.js";
import { timeline } from "../state.js";
import { BESIDE, Plot } from "./plot.js";
import { other } from "./shown.js";

/** Which change is drawn beside the plan. */
export function Choice() {
    const choose = (event) => { beside.value = event.currentTarget.value; };
    return html`
        <label>Beside it <select aria-label="Timeline drawn beside this one" onChange=${choose}>
            <option value="" selected=${beside.value === ""}>nothing</option>
            ${offered().map(({ label, options }) => (options.length === 0 ? null : html`
                <optgroup key=${label} label=${label}>${options.map(({ value, text }) => html`
                    <option key=${value} value=${value} selected=${value === beside.value}>${text}</option>`)}
                </optgroup>`))}
        </select></label>`;
}

/** @param {{label: string, own: number, its: number, write: (value: number) => string, testid: string, share?: boolean}} props */
function Row({ label, own, its, write, testid, share = false }) {
    const apart = its - own;
    const size = apart === 0 ? "the same" : `${apart < 0 ? "−" : "+"}${share ? `${digits(Math.abs(100 * apart))} points` : write(Math.abs(apart))}`;
    return html`
        <tr data-testid=${testid}>
            <th scope="row">${label}</th><td class="n" title=${exact(own)}>${write(own)}</td><td class="n" title=${exact(its)}>${write(its)}</td>
            <td class="n" title=${exact(apart)}>${size}${share || apart === 0 || own === 0 ? "" : `, ${change(its, own)}`}</td>
            <td>${apart === 0 ? "" : apart < 0 ? "better" : "worse"}</td>
        </tr>`;
}

/** @param {{its: {timeline: any, estimate: any}}} props */
function Differences({ its }) {
    const own = { timeline: timeline.value.answer, estimate: answer.value.estimate };
    const size = (bytes) => `${gigabytes(bytes, units.value)} ${units.value}`;
    return html`
        <${Scroll} label="Differences table">
            <table class="figures tight" data-testid="differences">
                <caption class="visually-hidden">The plan of the page and ${wordsOf(beside.value)} side by side</caption>
                <thead><tr><th scope="col">One step</th><th scope="col" class="n">this plan</th><th scope="col" class="n">${wordsOf(beside.value)}</th>
                    <th scope="col" class="n">difference</th><th scope="col"><span class="visually-hidden">verdict</span></th></tr></thead>
                <tbody>
                    <${Row} label="Step time, simulated" own=${own.timeline.step_s} its=${its.timeline.step_s} write=${seconds} testid="differs-step" />
                    <${Row} label="Idle share of the pipeline" own=${own.timeline.idle_ratio} its=${its.timeline.idle_ratio} write=${percent}
                        share testid="differs-idle" />
                    ${own.estimate === null ? null : html`
                        <${Row} label="Peak memory of the fullest device" own=${own.estimate.memory.device_total_bytes}
                            its=${its.estimate.memory.device_total_bytes} write=${size} testid="differs-peak" />`}
                </tbody>
            </table>
        <//>
        ${its.estimate.fits ? null : html`<p class="warning">Beside: does not fit, by ${size(-its.estimate.memory.headroom_bytes)}.</p>`}`;
}

export function Versus() {
    if (beside.value === "") return null;
    const { phase, problem, answer: its } = besides.value;
    return html`
        <section class="versus" aria-label="Beside: ${wordsOf(beside.value)}" data-testid="beside" data-phase=${phase}>
            <p class="versus-head">Below on the same axis: <b>${wordsOf(beside.value)}</b>
                ${" "}<button type="button" onClick=${() => { beside.value = ""; }}>Close</button></p>
            ${problem ? html`<${Problem} problem=${problem} />` : its === null || other.value === null ? html`
                <p class="muted">Simulating the other step…</p>` : html`
                <div class="answer" data-phase=${phase}><${Differences} its=${its} />
                    <${Plot} drawing=${BESIDE} name="Timeline of ${wordsOf(beside.value)}" testid="beside" /></div>`}
        </section>`;
}
