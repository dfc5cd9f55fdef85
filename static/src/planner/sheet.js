/** What the printed page says beside the answer: what was planned, all its settings, and where it can be opened again. */
import { html } from "../html.js";
import { FIELDS, valueWords } from "../state/fields.js";
import { extraMembers, modelName } from "../state/plan.js";
import { accelerators, estimated, model, plan } from "../state/store.js";
import { readable } from "../state/prefs.js";
import { exact } from "../units.js";
import { many } from "../words.js";

/** Longer links are no help on paper. */
const MOST_SIGNS = 1200;
const MOST_NOTES = 3;

export function clusterName() {
    const { accelerator, nodes, perNode, inventory, pool } = plan.value;
    if (inventory !== "") return `${many(nodes, "node")} of ${inventory}${pool === "" ? "" : `, pool ${pool}`}`;
    const part = accelerators.value.find(({ id }) => id === accelerator)?.name ?? accelerator;
    return `${many(nodes, "node")} of ${exact(perNode)} × ${part}`;
}

/** Above the verdict. */
export function SheetHead() {
    return html`<header class="printed"><p class="printed-title">${modelName(plan.value, model.value.info?.name)} on ${clusterName()}</p></header>`;
}

const NAMED = ["hub", "revision", "example", "accelerator", "perNode", "inventory", "pool", "nodes"];

/** Beneath the figures. */
export function SheetFoot() {
    const { warnings = [], assumptions = [] } = estimated.value;
    const settings = FIELDS.filter(({ key }) => !NAMED.includes(key));
    const link = location.href.length > MOST_SIGNS ? `${location.href.split("#")[0].slice(0, MOST_SIGNS)} (the pasted config.json is not part of it)` : location.href;
    const rest = warnings.length - MOST_NOTES;
    return html`
        <footer class="printed">
            <ul class="printed-settings">${settings.map((field) => html`
                <li key=${field.key}><span class="muted">${field.label}</span> ${valueWords(field, plan.value[field.key])}</li>`)}
                ${extraMembers(plan.value).map(({ pointer, text }) => html`<li key=${pointer}>${text}</li>`)}</ul>
            ${warnings.slice(0, MOST_NOTES).map((item) => html`<p key=${item.message}><b>Warning:</b> ${readable(item.message)}</p>`)}
            <p class="muted">${rest > 0 ? `${many(rest, "more warning")} and ` : ""}${many(assumptions.length, "assumption")} on the page itself:</p>
            <p class="printed-link">${link}</p>
        </footer>`;
}
