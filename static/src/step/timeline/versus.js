/** A second timeline below the first: what is changed for it, what differs, and its drawing. */
import { html } from "../../html.js";
import { besides, besideText, offered, wordsOf } from "../beside.js";
import { beside } from "../../state/look.js";
import { memorySize } from "../../state/prefs.js";
import { answer } from "../../state/store.js";
import { change, digits, exact, percent, seconds } from "../../units.js";
import { Options } from "../../widgets/options.js";
import { Plain } from "../../widgets/plain.js";
import { Problem } from "../../widgets/problem.js";
import { timeline } from "../state.js";
import { BESIDE, Plot } from "./plot.js";
import { other } from "./shown.js";

/** Which change is drawn beside the plan. */
export function Choice() {
    /** @param {Event & {currentTarget: HTMLSelectElement}} event */
    const choose = (event) => { beside.value = event.currentTarget.value; };
    return html`
        <label>Beside it <select aria-label="Timeline drawn beside this one" onChange=${choose}>
            <${Options} items=${[["", "nothing"]]} now=${beside.value} />
            ${offered().map(({ label, items }) => (items.length === 0 ? null : html`
                <optgroup key=${label} label=${label}><${Options} items=${items} now=${beside.value} /></optgroup>`))}
        </select></label>`;
}

/** @param {number} own @param {number} its @param {(value: number) => string} write @param {boolean} [share]  not told by its ratio */
function cellsOf(own, its, write, share = false) {
    const apart = its - own;
    const size = apart === 0 ? "the same" : `${apart < 0 ? "−" : "+"}${share ? `${digits(Math.abs(100 * apart))} points` : write(Math.abs(apart))}`;
    /** @param {number} value @param {string} text */
    const cell = (value, text) => html`<td class="n" title=${exact(value)}>${text}</td>`;
    return [cell(own, write(own)), cell(its, write(its)), cell(apart, `${size}${share || apart === 0 || own === 0 ? "" : `, ${change(its, own)}`}`),
        apart === 0 ? "" : apart < 0 ? "better" : "worse"];
}

/** @param {{its: {timeline: Api.Timeline, estimate: Api.Estimate}}} props */
function Differences({ its }) {
    const own = timeline.value.answer;
    const ownMemory = answer.value.estimate?.memory;
    return html`
        <${Plain} tight label="The plan of the page and ${wordsOf(beside.value)} side by side" testid="differences"
            columns=${["One step", "#this plan", `#${wordsOf(beside.value)}`, "#difference", html`<span class="visually-hidden">verdict</span>`]}
            more=${(row) => ({ "data-testid": ["differs-step", "differs-idle", "differs-peak"][row] })}
            rows=${[["Step time, simulated", ...cellsOf(own.step_s, its.timeline.step_s, seconds)],
                ["Pipeline idle", ...cellsOf(own.idle_ratio, its.timeline.idle_ratio, percent, true)],
                ...(ownMemory ? [["Peak memory of the fullest device",
                    ...cellsOf(ownMemory.device_total_bytes, its.estimate.memory.device_total_bytes, memorySize)]] : [])]} />
        ${its.estimate.fits ? null : html`<p class="warning">Beside: does not fit, by ${memorySize(-its.estimate.memory.headroom_bytes)}.</p>`}`;
}

export function Versus() {
    if (beside.value === "") return null;
    const { phase: last, of, problem, answer: its } = besides.value;
    const phase = of === besideText.value ? last : "loading";
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
