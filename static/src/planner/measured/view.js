/** What the reader measured, beside what was predicted; the step can set the clock of the estimates. */
import { useRef, useState } from "preact/hooks";
import { html } from "../../html.js";
import { memorySize, units } from "../../state/prefs.js";
import { requestOf, withoutExtra } from "../../state/plan.js";
import { applyFix, estimated, outcomeOf, plan, setPlan } from "../../state/store.js";
import { change, seconds, UNIT_BYTES } from "../../units.js";
import { Help, known, worded } from "../../widgets/words.js";
import { calibrate, patchOf } from "./calibrate.js";

const CLOCK = "/cluster/accelerator_overrides";

/** @param {string} text @returns {number | null} above 0 */
function amount(text) {
    const value = Number(text.trim().replace(",", "."));
    return text.trim() !== "" && Number.isFinite(value) && value > 0 ? value : null;
}

/** @param {{id: string, label: string, unit: string, typed: string, set: (text: string) => void}} props */
function Measured({ id, label, unit, typed, set }) {
    const bad = typed.trim() !== "" && amount(typed) === null;
    return html`
        <div class="row"><label class="row-label" for=${id}>${label}</label>
            <div class="row-control count"><input type="text" inputmode="decimal" autocomplete="off" id=${id} value=${typed}
                ...${bad ? { "aria-invalid": "true" } : {}} onInput=${(event) => set(event.currentTarget.value)} /><span class="unit">${unit}</span></div>
            ${bad ? html`<p class="field-error" role="alert">a number above 0</p>` : null}
        </div>`;
}

/** @param {{what: string, measured: number, predicted: number, range: [number, number] | undefined, write: (value: number) => string}} props */
function Against({ what, measured, predicted, range, write }) {
    const within = range && measured >= range[0] && measured <= range[1];
    return html`<li data-testid="against"><b>${what}</b>: ${write(measured)} measured, ${write(predicted)} predicted, error of the prediction
        ${" "}<b>${change(predicted, measured)}</b>${range ? html`, <em class=${within ? "good" : "bad"}>${within ? "within" : "outside"} the predicted range</em>` : null}</li>`;
}

/** @param {{measured_s: number}} props */
function Calibrate({ measured_s }) {
    const [state, setState] = useState("");
    const asking = useRef(new AbortController());
    const set = "accelerator_overrides" in (plan.value.extra?.cluster ?? {});
    const start = async () => {
        asking.current.abort();
        asking.current = new AbortController();
        const { signal } = asking.current;
        setState(known("help", "clock"));
        const got = await outcomeOf(calibrate(requestOf(plan.peek()), measured_s, signal));
        if (signal.aborted || got === null) return;
        if (got.problem) return setState(got.problem.detail);
        const { ratio, nearest_s } = got.value;
        setState(ratio === null ? `${known("help", "clock_left")} ${seconds(nearest_s)}. ${known("help", "no_clock")}` : "");
        if (ratio !== null) applyFix(patchOf(ratio));
    };
    return html`
        <div class="commands"><button type="button" class="primary" onClick=${start}>Calibrate to this step</button>
            ${set ? html`<button type="button" onClick=${() => setPlan(withoutExtra(plan.value, CLOCK))}><${Help} of="back_to_catalogue" /></button>` : null}</div>
        <p class="muted" role="status">${state || html`<${Help} of=${set ? "calibrated" : "calibrate"} />`}</p>`;
}

export const MeasuredRun = worded(() => {
    const [step, setStep] = useState("");
    const [peak, setPeak] = useState("");
    const estimate = estimated.value;
    if (!estimate) return null;
    const { time, memory, interval } = estimate;
    const unit = units.value;
    const step_s = amount(step);
    const giga = amount(peak);
    return html`
        <p class="muted"><${Help} of="measure" /></p>
        <${Measured} id="measured-step" label="Step time" unit="s" typed=${step} set=${setStep} />
        <${Measured} id="measured-peak" label="Peak reserved" unit=${unit} typed=${peak} set=${setPeak} />
        <ul class="notes">
            ${step_s === null ? null : html`<${Against} what="Step" measured=${step_s} predicted=${time.step_s} range=${interval?.step_s} write=${seconds} />`}
            ${giga === null ? null : html`<${Against} what="Peak reserved" measured=${giga * UNIT_BYTES[unit]} predicted=${memory.peak_reserved_bytes}
                range=${interval?.peak_reserved_bytes} write=${memorySize} />`}
        </ul>
        ${giga === null ? null : html`<p class="muted"><${Help} of="peak" /></p>`}
        ${step_s === null ? null : html`<${Calibrate} measured_s=${step_s} />`}`;
});
