/** The runs of equal layers of a model; each opens to the tensors of one of its layers. */
import { html } from "../html.js";
import { memorySize } from "../state/prefs.js";
import { count, exact } from "../units.js";
import { Swatch } from "../widgets/charts.js";
import { Fold } from "../widgets/fold.js";
import { Scroll } from "../widgets/scroll.js";
import { roleLook } from "./figures.js";

const CUTS = { replicated: "whole on every rank", column: "by columns", row: "by rows", vocabulary: "by vocabulary" };

/** @param {Api.Tensor} tensor */
function remarksOf({ tied, buffer, experts, dtype_mixed: mixed }) {
    return [tied ? "tied" : "", buffer ? "buffer" : "", experts ? `× ${experts} experts` : "", mixed ? "dtypes differ" : ""].filter(Boolean).join(", ");
}

/** @param {{run: Api.LayerRun}} props */
function Tensors({ run }) {
    return html`
        <${Scroll} label="Tensors of ${run.kind}">
            <table class="figures tight">
                <caption class="visually-hidden">Tensors of one layer</caption>
                <thead><tr><th scope="col">Tensor</th><th scope="col">Shape</th><th scope="col" class="n">Elements</th><th scope="col">Stored</th>
                    <th scope="col">Tensor-parallel cut</th><th scope="col"><span class="visually-hidden">Remarks</span></th></tr></thead>
                <tbody>${run.tensors.map((tensor) => html`
                    <tr key=${tensor.name}><th scope="row"><${Swatch} tone=${roleLook(tensor.role).tone} /><code>${tensor.name}</code></th>
                        <td>${tensor.shape.join(" × ")}</td><td class="n">${exact(tensor.elements)}</td><td>${tensor.dtype}</td>
                        <td>${CUTS[tensor.tensor_parallel]}</td><td class="muted">${remarksOf(tensor)}</td></tr>`)}
                </tbody>
            </table>
        <//>`;
}

/** @param {{shown: import("./state.js").Shown[]}} props */
export function Layers({ shown }) {
    return html`
        <section class="panel" aria-labelledby="panel-layers" data-testid="layers">
            <h2 id="panel-layers">Layers</h2>
            <div class=${shown.length > 1 ? "panels" : ""}>${shown.map(({ slot, title, info }) => html`
                <div key=${slot} class="folds">${shown.length > 1 ? html`<h3>${title}</h3>` : null}
                    ${info.layers.map((run, at) => html`
                        <${Fold} key=${at} testid="run" title="${run.count} × ${run.kind.replaceAll("_", " ")}"
                            count="${count(run.parameters)}${run.weights_bytes === null ? "" : `, ${memorySize(run.weights_bytes)}`}">
                            ${() => html`<${Tensors} run=${run} />`}<//>`)}
                </div>`)}
            </div>
        </section>`;
}
