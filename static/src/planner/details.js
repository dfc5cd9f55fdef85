/** What stands behind the answer: communication, warnings, assumptions, versions. */
import { html } from "../html.js";
import { Part } from "../shell/part.js";
import { estimated } from "../state/store.js";
import { readable } from "../state/prefs.js";
import { digits } from "../units.js";
import { wordsOf } from "../words.js";
import { Fold } from "../widgets/fold.js";

/** @param {{title: string, items: {code: string, message: string}[], tone?: string, testid: string}} props */
export function Notes({ title, items, tone = "", testid }) {
    if (items.length === 0) return null;
    return html`
        <details class="fold ${tone}" data-testid=${testid}>
            <summary>${title} <span class="tag">${items.length}</span></summary>
            <ul class="notes">${items.map((item) => html`<li key=${item.message}>${readable(item.message)}</li>`)}</ul>
        </details>`;
}

export function Details() {
    const estimate = estimated.value;
    const traffic = estimate.communication ?? [];
    return html`
        <div class="folds">
            <${Notes} title="Warnings" items=${estimate.warnings ?? []} tone="warn" testid="warnings" />
            <${Notes} title="Assumptions" items=${estimate.assumptions ?? []} testid="assumptions" />
            ${traffic.length > 0 ? html`
                <${Fold} title="Communication" count=${traffic.length} testid="communication">${() => html`<${Part} name="traffic" />`}<//>` : null}
            <${Fold} title="Your measurement" testid="measured">${() => html`<${Part} name="measured" />`}<//>
        </div>`;
}

/** What this answer can be traced back to. */
export function Provenance() {
    const estimate = estimated.value;
    const facts = [
        ["engine", estimate.engine_version], ["catalogue", estimate.catalog_revision],
        ["input", String(estimate.input_hash ?? "").slice(0, 12)], ["evaluator", wordsOf(estimate.evaluator ?? "")],
        ["peak rate", `${digits((estimate.throughput.peak_flops_per_s ?? 0) / 1e12)} TFLOP/s`],
    ].filter(([, value]) => value);
    return html`
        <p class="provenance">${facts.map(([name, value]) => html`
            <span key=${name}><span class="muted">${name}</span> ${value}</span>`)}</p>`;
}
