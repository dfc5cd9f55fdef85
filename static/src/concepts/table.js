/** The table of a miniature: its figures in columns, with their explanations and the way to the planner. */
import { html } from "../html.js";
import { hasModel } from "../state/plan.js";
import { openPage, plan, setPlan } from "../state/store.js";
import { Num } from "../widgets/explain.js";
import { Plain } from "../widgets/plain.js";
import { planOn } from "./ask.js";
import { figureOf } from "./figures.js";
import { model } from "./state.js";

/**
 * @typedef {import("./state.js").Shown} Shown
 * @typedef {{more: Record<string, string>, cells: any[]}} Line  more: attributes of the row
 */

/** @param {Shown[]} list @param {string} key @returns {Line} */
function lineOf(list, key) {
    const { label, unit, read, write, about } = figureOf(key);
    return { more: { "data-figure": key }, cells: [label, ...list.map((shown) => {
        const value = read(shown);
        return value === null ? "–" : html`
            <${Num} title="${label}, ${shown.label}" text=${write(value)} value=${value} unit=${unit} about=${about(shown)} />`;
    })] };
}

/** @param {Shown} shown */
function open({ variant }) {
    setPlan(planOn(variant, model.value));
    openPage("planner");
}

/** @param {{list: Shown[]}} props */
function Foot({ list }) {
    if (list.every(({ variant }) => variant.patches.length === 0)) return null;
    const whose = hasModel(plan.value) ? "your plan" : "an example";
    return html`
        <tfoot><tr><th scope="row" class="muted">In ${whose}</th>${list.map((shown) => html`
            <td key=${shown.label} class="n"><button type="button" aria-label="Plan it: ${shown.label}, in ${whose}"
                onClick=${() => open(shown)}>Plan it</button></td>`)}</tr></tfoot>`;
}

/** @param {{label: string, head: any, list: Shown[], figures: string[], first?: Line[]}} props  first: what stands above the figures */
export function FigureTable({ label, head, list, figures, first = [] }) {
    const lines = [...first, ...figures.map((key) => lineOf(list, key))].filter(({ cells: [, ...told] }) => told.some((cell) => cell !== "–"));
    return html`
        <${Plain} tight label=${label} columns=${[head, ...list.map((shown) => `#${shown.label}`)]} rows=${lines.map(({ cells }) => cells)}
            more=${(row) => lines[row].more}><${Foot} list=${list} /><//>`;
}
