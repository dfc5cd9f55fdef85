/** The runs of equal layers of a model; each opens to the tensors of one of its layers. */
import { html } from "../html.js";
import { storedSize } from "../state/prefs.js";
import { count, exact, shapeText } from "../units.js";
import { wordsOf } from "../words.js";
import { Swatch } from "../widgets/charts.js";
import { Fold } from "../widgets/fold.js";
import { Name } from "../widgets/name.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { roleLook } from "./figures.js";

const CUTS = { replicated: "whole on every rank", column: "by columns", row: "by rows", vocabulary: "by vocabulary" };

/** @param {Api.Tensor} tensor */
function remarksOf({ tied, buffer, experts, dtype_mixed: mixed }) {
    return [tied ? "tied" : "", buffer ? "buffer" : "", experts ? `× ${experts} experts` : "", mixed ? "dtypes differ" : ""].filter(Boolean).join(", ");
}

/** @param {{run: Api.LayerRun}} props */
function Tensors({ run }) {
    return html`
        <${Plain} tight label="Tensors of ${run.kind}" columns=${["Tensor", "~Shape", "#Elements", "Stored", "~Tensor-parallel cut", "~Remarks"]}
            rows=${run.tensors.map((tensor) => [html`<${Swatch} tone=${roleLook(tensor.role).tone} /><${Name} of=${tensor.name} />`, shapeText(tensor.shape),
                exact(tensor.elements), tensor.dtype, CUTS[tensor.tensor_parallel], remarksOf(tensor)])} />`;
}

/** @param {{shown: import("./state.js").Shown[]}} props */
export function Layers({ shown }) {
    return html`
        <${Panel} title="Layers" id="layers">
            <div class=${shown.length > 1 ? "panels" : ""}>${shown.map(({ slot, title, info }) => html`
                <div key=${slot} class="folds">${shown.length > 1 ? html`<h3>${title}</h3>` : null}
                    ${info.layers.map((run, at) => html`
                        <${Fold} key=${at} testid="run" title="${run.count} × ${wordsOf(run.kind)}"
                            count="${count(run.parameters)}${run.weights_bytes === null ? "" : `, ${storedSize(run.weights_bytes)}`}">
                            ${() => html`<${Tensors} run=${run} />`}<//>`)}
                </div>`)}
            </div>
        <//>`;
}
