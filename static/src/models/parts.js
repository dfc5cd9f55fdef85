/** What a model is made of: one picture for each model on a common scale, and its parts as a table. */
import { html } from "../html.js";
import { count, exact, percent } from "../units.js";
import { Swatch, share } from "../widgets/charts.js";
import { Num } from "../widgets/explain.js";
import { breaking } from "../widgets/name.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { called, Help, known } from "../widgets/words.js";
import { FactNum, partsOf, ROLES, roleLook, TOTAL } from "./figures.js";

const MAP_PX = 150;

/** Beside one so many times as large nothing of a model would be seen. */
const MOST_TIMES = 20;

/** How much wider one is drawn than the scale of the largest has it. @param {number} total @param {number} most */
const timesDrawn = (total, most) => (most > MOST_TIMES * total ? Math.floor(most / total) : 1);

/** @param {Api.LayerRun} run  of layers @returns {Api.Tensor[]} tensors that are counted there */
const counted = (run) => run.tensors.filter(({ tied, buffer }) => !tied && !buffer);

/**
 * Every run of layers a column as wide as its parameters, in it every tensor as high as its share.
 * @param {{info: Api.Model, most: number, title: string}} props
 */
function Picture({ info, most, title }) {
    let x = 0;
    const { total } = info.parameters;
    return html`
        <svg class="model-map" width="100%" height=${MAP_PX} role="img" aria-label="${title}: ${count(total)} ${known("help", "model_map")}">
            ${info.layers.map((run, at) => {
                const left = x;
                x += run.parameters;
                const all = counted(run).reduce((sum, { elements }) => sum + elements, 0);
                let y = 0;
                return counted(run).map((tensor) => {
                    const top = y;
                    y += tensor.elements;
                    const { tone, label } = roleLook(tensor.role);
                    return html`
                        <rect key=${`${at} ${tensor.name}`} class="bar tone-${tone}" data-run=${at} x=${share(left / most)} width=${share(run.parameters / most)}
                              y=${(top / all) * MAP_PX} height=${(tensor.elements / all) * MAP_PX}>
                            <title>${run.count} × ${run.kind}: ${tensor.name}, ${label}, ${percent(tensor.elements / all)} of its layer</title>
                        </rect>`;
                });
            })}
        </svg>`;
}

/** @param {import("./figures.js").Role} role @param {Api.Model} info */
function cellsOf(role, info) {
    const { [role]: value, total } = info.parameters;
    if (value === 0) return ["–", html`<td></td>`];
    const { label } = roleLook(role);
    /** @param {Api.LayerRun} run */
    const elementsOf = (run) => counted(run).filter((tensor) => tensor.role === role).reduce((sum, { elements }) => sum + elements, 0);
    const inputs = Object.fromEntries(info.layers.map((run, at) => ({ name: `${run.kind}_${at + 1}`, elements: elementsOf(run) }))
        .filter(({ elements }) => elements > 0).map(({ name, elements }) => [name, elements]));
    return [html`<${Num} title="${label}, ${info.architecture}" text=${count(value)} value=${value}
            about=${{ formula: called("formulas", "part"), inputs, source: called("sources", "part") }} />`,
        html`<td class="n muted"><${Num} title="Share of ${label}, ${info.architecture}" text=${percent(value / total)} value=${value / total}
            about=${{ formula: "elements / total", inputs: { elements: value, total }, source: called("sources", "share") }} /></td>`];
}

/** @param {{shown: import("./state.js").Shown[]}} props */
export function Parts({ shown }) {
    const most = Math.max(...shown.map(({ info }) => info.parameters.total));
    const roles = ROLES.filter(([role]) => shown.some(({ info }) => role in partsOf(info)));
    return html`
        <${Panel} title="What it is made of" id="parts" head=${html`<p class="key"><${Help} of="parts" /></p>`}>
            ${shown.map(({ slot, info, title }) => {
                const times = timesDrawn(info.parameters.total, most);
                return html`
                    <figure key=${slot} class="drawn-step"><figcaption>${title}${times > 1 ? `, drawn ${exact(times)} times as wide` : ""}</figcaption>
                        <${Picture} info=${info} most=${most / times} title=${title} /></figure>`;
            })}
            <div class="side-by-side"><${Plain} tight label="Parameters by part" columns=${["Part", ...shown.flatMap(({ title }) => [["#", breaking(title.split("/").at(-1))], "#share"])]}
                more=${(at) => ({ "data-role": roles[at][0], "data-differs": new Set(shown.map(({ info }) => info.parameters[roles[at][0]])).size > 1 })}
                rows=${roles.map(([role, { label, tone }]) => [html`<${Swatch} tone=${tone} />${label}`, ...shown.flatMap(({ info }) => cellsOf(role, info))])}>
                <tfoot><tr><th scope="row">Total</th>${shown.map(({ slot, info }) => html`
                    <td key=${slot} class="n"><${FactNum} fact=${TOTAL} info=${info} /></td><td class="n muted">100 %</td>`)}</tr></tfoot>
            <//></div>
        <//>`;
}
