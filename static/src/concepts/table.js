/** What every miniature has in columns: figures with their explanations, and the way to the planner. */
import { html } from "../html.js";
import { hasModel } from "../state/plan.js";
import { openPage, plan, setPlan } from "../state/store.js";
import { Num } from "../widgets/explain.js";
import { planOn } from "./ask.js";
import { figureOf } from "./figures.js";
import { model } from "./state.js";

/** @typedef {import("./state.js").Shown} Shown */

/** @param {{list: Shown[], figures: string[]}} props */
export function Rows({ list, figures }) {
    return figures.map((key) => {
        const { label, unit, read, write, about } = figureOf(key);
        return html`
            <tr key=${key} data-figure=${key}><th scope="row">${label}</th>${list.map((shown) => {
                const value = read(shown);
                return html`<td key=${shown.variant.label} class="n">${value === null ? "–" : html`
                    <${Num} title="${label}, ${shown.variant.label}" text=${write(value)} value=${value} unit=${unit} about=${about(shown)} />`}</td>`;
            })}</tr>`;
    });
}

/** @param {Shown} shown */
function open({ variant }) {
    setPlan(planOn(variant, model.value));
    openPage("planner");
}

/** @param {{list: Shown[]}} props */
export function Foot({ list }) {
    if (list.every(({ variant }) => Object.keys(variant.patch).length === 0)) return null;
    const whose = hasModel(plan.value) ? "your plan" : "an example";
    return html`
        <tfoot><tr><th scope="row" class="muted">In ${whose}</th>${list.map((shown) => html`
            <td key=${shown.variant.label} class="n"><button type="button" aria-label="Plan with this: ${shown.variant.label}, in ${whose}"
                onClick=${() => open(shown)}>Plan with this</button></td>`)}</tr></tfoot>`;
}
