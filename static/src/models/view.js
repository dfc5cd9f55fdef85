/** The model explorer: what a config says, part by part and tensor by tensor; two side by side. */
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { readable } from "../state/prefs.js";
import { Scroll } from "../widgets/scroll.js";
import { Choose } from "./choose.js";
import { FactNum, FACTS } from "./figures.js";
import { Layers } from "./layers.js";
import { Parts } from "./parts.js";
import { known, start, waiting } from "./state.js";
import { TensorTable } from "./tensors.js";
import { Help, worded } from "../widgets/words.js";

/** @param {{shown: import("./state.js").Shown[]}} props */
function Facts({ shown }) {
    const facts = FACTS.filter(({ read }) => shown.some(({ info }) => read(info) !== null));
    /** @param {import("./figures.js").Fact} fact */
    const differs = ({ read }) => new Set(shown.map(({ info }) => read(info))).size > 1;
    return html`
        <section class="panel" aria-labelledby="panel-facts" data-testid="facts">
            <h2 id="panel-facts">At a glance</h2>
            <${Scroll} label="Figures of the models">
                <table class="figures tight side-by-side">
                    <caption class="visually-hidden"><${Help} of="model_figures" /></caption>
                    <thead><tr><th scope="col"><span class="visually-hidden">Figure</span></th>
                        ${shown.map(({ slot, title }) => html`<th key=${slot} scope="col"><b>${title}</b></th>`)}</tr></thead>
                    <tbody>${facts.map((fact) => html`
                        <tr key=${fact.label} data-fact=${fact.label} data-differs=${differs(fact)}>
                            <th scope="row">${fact.label}${differs(fact) ? html` <span class="tag">differs</span>` : null}</th>
                            ${shown.map(({ slot, info }) => html`<td key=${slot}><${FactNum} fact=${fact} info=${info} /></td>`)}</tr>`)}
                    </tbody>
                </table>
            <//>
        </section>`;
}

/** @param {{shown: import("./state.js").Shown[]}} props */
function Doubts({ shown }) {
    const said = shown.filter(({ info }) => info.warnings.length > 0);
    return html`
        <section class="panel" aria-labelledby="panel-doubts" data-testid="doubts">
            <h2 id="panel-doubts">Assumed or unknown</h2>
            ${said.length === 0 ? html`<p class="muted"><${Help} of="nothing_open" /></p>` : said.map(({ slot, title, info }) => html`
                <div key=${slot}>${shown.length > 1 ? html`<h3>${title}</h3>` : null}
                    <ul class="notes">${info.warnings.map((text) => html`<li key=${text}>${readable(text)}</li>`)}</ul></div>`)}
        </section>`;
}

/** @type {import("./state.js").Slot[]} */
const SLOTS = ["a", "b"];

export const Models = worded(() => {
    useEffect(start, []);
    /** @type {import("./state.js").Shown[]} */
    const shown = SLOTS.map((slot) => ({ slot, ...known[slot].value })).filter(({ info }) => info !== null);
    const busy = waiting("a") || waiting("b");
    return html`
        <div class="models" data-testid="models" data-phase=${busy ? "loading" : "done"} aria-busy=${busy}>
            <h2 class="visually-hidden">Models</h2>
            <div class="panels slots"><${Choose} slot="a" label="Model" /><${Choose} slot="b" label="Compare with" /></div>
            ${shown.length === 0 ? null : html`
                <${Facts} shown=${shown} /><${Parts} shown=${shown} /><${Doubts} shown=${shown} /><${Layers} shown=${shown} />
                <${TensorTable} shown=${shown} />`}
        </div>`;
});
