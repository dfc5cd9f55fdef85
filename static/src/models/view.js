/** The model explorer: what a config says, part by part and tensor by tensor; two side by side. */
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { readable } from "../state/prefs.js";
import { breaking } from "../widgets/name.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { Choose } from "./choose.js";
import { FactNum, FACTS } from "./figures.js";
import { Layers } from "./layers.js";
import { Parts } from "./parts.js";
import { known, start, waiting } from "./state.js";
import { TensorTable } from "./tensors.js";
import { called, Help, worded } from "../widgets/words.js";

/** @param {{shown: import("./state.js").Shown[]}} props */
function Facts({ shown }) {
    const facts = FACTS.filter(({ read }) => shown.some(({ info }) => read(info) !== null));
    /** @param {import("./figures.js").Fact} fact */
    const differs = ({ read }) => new Set(shown.map(({ info }) => read(info))).size > 1;
    return html`
        <${Panel} title="At a glance" id="facts">
            <div class="side-by-side"><${Plain} tight label=${called("help", "model_figures")}
                columns=${[html`<span class="visually-hidden">Figure</span>`, ...shown.map(({ title }) => html`<b>${breaking(title)}</b>`)]}
                more=${(at) => ({ "data-fact": facts[at].label, "data-differs": differs(facts[at]) })}
                rows=${facts.map((fact) => [html`${fact.label}${differs(fact) ? html` <span class="tag">differs</span>` : null}`,
                    ...shown.map(({ info }) => html`<${FactNum} fact=${fact} info=${info} />`)])} /></div>
        <//>`;
}

/** @param {{shown: import("./state.js").Shown[]}} props */
function Doubts({ shown }) {
    const said = shown.filter(({ info }) => info.warnings.length > 0);
    return html`
        <${Panel} title="Assumed or unknown" id="doubts">
            ${said.length === 0 ? html`<p class="muted"><${Help} of="nothing_open" /></p>` : said.map(({ slot, title, info }) => html`
                <div key=${slot}>${shown.length > 1 ? html`<h3>${title}</h3>` : null}
                    <ul class="notes">${info.warnings.map((text) => html`<li key=${text}>${readable(text)}</li>`)}</ul></div>`)}
        <//>`;
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
