/** What stands behind the answer: communication, warnings, assumptions, versions. */
import { html } from "../html.js";
import { answer } from "../state/store.js";
import { digits, scaled, seconds } from "../units.js";
import { Scroll } from "./scroll.js";

/** @param {{title: string, items: {code: string, message: string}[], tone?: string, testid: string}} props */
export function Notes({ title, items, tone = "", testid }) {
    if (items.length === 0) return null;
    return html`
        <details class="fold ${tone}" data-testid=${testid}>
            <summary>${title} <span class="tag">${items.length}</span></summary>
            <ul class="notes">${items.map((item) => html`<li key=${item.message}>${item.message}</li>`)}</ul>
        </details>`;
}

/** @param {{items: any[]}} props */
function Communication({ items }) {
    if (items.length === 0) return null;
    const words = (name) => name.replaceAll("_", " ");
    return html`
        <details class="fold" data-testid="communication">
            <summary>Communication <span class="tag">${items.length}</span></summary>
            <${Scroll} label="Communication table">
                <table class="figures tight">
                    <caption class="visually-hidden">Collectives of one step, for one device</caption>
                    <thead><tr>
                        <th scope="col">Group</th><th scope="col">Collective</th><th scope="col">Level</th>
                        <th scope="col" class="n">Bytes per step</th><th scope="col" class="n">Time</th>
                        <th scope="col" class="n">Exposed</th>
                    </tr></thead>
                    <tbody>${items.map((item) => html`
                        <tr key=${item.group + item.collective + item.level}>
                            <th scope="row">${words(item.group)}</th><td>${words(item.collective)}</td><td>${words(item.level)}</td>
                            <td class="n">${scaled(item.bytes_per_step, "B")}</td>
                            <td class="n">${seconds(item.seconds)}</td><td class="n">${seconds(item.exposed_s)}</td>
                        </tr>`)}
                    </tbody>
                </table>
            <//>
        </details>`;
}

export function Details() {
    const { estimate } = answer.value;
    return html`
        <div class="folds">
            <${Notes} title="Warnings" items=${estimate.warnings ?? []} tone="warn" testid="warnings" />
            <${Notes} title="Assumptions" items=${estimate.assumptions ?? []} testid="assumptions" />
            <${Communication} items=${estimate.communication ?? []} />
        </div>`;
}

/** What this answer can be traced back to. */
export function Provenance() {
    const { estimate } = answer.value;
    const facts = [
        ["engine", estimate.engine_version], ["catalogue", estimate.catalog_revision],
        ["input", String(estimate.input_hash ?? "").slice(0, 12)], ["evaluator", String(estimate.evaluator ?? "").replaceAll("_", " ")],
        ["peak rate", `${digits((estimate.throughput.peak_flops_per_s ?? 0) / 1e12)} TFLOP/s`],
    ].filter(([, value]) => value);
    return html`
        <p class="provenance">${facts.map(([name, value]) => html`
            <span key=${name}><span class="muted">${name}</span> ${value}</span>`)}</p>`;
}
