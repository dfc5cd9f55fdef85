/**
 * The answer in one sentence: whether it fits and by how much, how fast, how long, what binds. Figures
 * show no digit that their intervals do not bear out; the whole value is one click away.
 */
import { html } from "../html.js";
import { memorySize, units } from "../state/prefs.js";
import { plan } from "../state/store.js";
import { Num } from "../widgets/explain.js";
import { fitOf } from "../widgets/fit.js";
import { bindingWords } from "../widgets/values.js";
import { Figure } from "./figure.js";
import { lasting, offBy, spreadOf, sureBy, sureSize } from "./spread.js";
import { known } from "../widgets/words.js";

const TERA = 1e12;

/** Sides of an interval that differ by less than this many percent read better as one. */
const ALIKE_PERCENT = 3;

/** @param {{spread: any}} props */
function PlusMinus({ spread }) {
    const [low, high] = [spread.low, spread.high].map((ratio) => Math.round(ratio * 100));
    const text = Math.abs(low - high) <= ALIKE_PERCENT ? `± ${Math.max(low, high)} %` : `−${low} % +${high} %`;
    return html`<${Num} title="How far the rate may be off" text=${text} value=${Math.max(spread.low, spread.high)} about=${spread.about} />`;
}

/** Whether a run of the reader's stands behind the figures. */
function Basis() {
    const fixed = plan.value.extra?.cluster?.accelerator_overrides?.sustained_ratio !== undefined;
    return html`<span class="tag" data-testid="basis" title=${fixed ? known("help", "calibrated_on_one")
        : known("help", "uncalibrated")}>${
        fixed ? "calibrated on 1 run" : "uncalibrated"}</span>`;
}

/** @param {{estimate: Api.Estimate}} props */
export function Result({ estimate }) {
    const { throughput, fits } = estimate;
    const [tone, sign, words] = fitOf(estimate);
    const unit = units.value;
    const size = sureSize(estimate, unit);
    const spread = spreadOf(estimate);
    const off = offBy(estimate);
    const train_s = estimate.time_to_train_s;
    return html`
        <div class="verdict-head">
            <span class="badge ${tone}"><span aria-hidden="true">${sign}</span> ${words[0].toUpperCase() + words.slice(1)}</span>
            <p class="verdict-text" data-testid="sentence">
                ${fits ? "with " : "by "}<${Figure} title=${fits ? "Headroom" : "Deficit"} at="/memory/headroom_bytes"
                    write=${(room) => `${size(Math.abs(room))} ${unit}`} />${fits ? " to spare" : ""}
                ${throughput.model_flops_per_s_per_accelerator > 0 ? html`, <${Figure} title="Model FLOP/s of a device" at="/throughput/model_flops_per_s_per_accelerator"
                    write=${(rate) => `${sureBy(off)(rate / TERA)} TFLOP/s`} /> per device` : null}
                ${spread ? html` <${PlusMinus} spread=${spread} />` : null}
                ${train_s > 0 ? html`, <${Figure} title="Time to train" at="/time_to_train_s" write=${(value_s) => lasting(value_s, off)} />` : null}
                ${" "}<${Basis} />
            </p>
        </div>
        <p class="binding">${bindingWords(estimate)} ${estimate.binding?.limit === "memory" ? null : html`<span class="verdict-memory"><${Figure} title="Peak memory of a device" at="/memory/device_total_bytes" write=${size} /> of <${Figure} title="Usable memory of a device" at="/memory/usable_bytes" write=${memorySize} /> per device.</span>`}</p>`;
}
