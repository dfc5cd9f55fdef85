/** The page before there is a model: what it answers, and ways to a first answer. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { CLUSTERS, EXAMPLES, READY } from "../state/examples.js";
import { hasCluster } from "../state/plan.js";
import { plan, startExample } from "../state/store.js";
import { Chips } from "../widgets/chips.js";
import { reachConfig } from "./model-picker.js";
import { clusterName } from "./sheet.js";

/** @param {{title: string, name: string, items: [string, string][], value: string, choose: (id: string) => void}} props */
function Among({ title, name, items, value, choose }) {
    return html`
        <div class="among"><span class="muted" aria-hidden="true">${title}</span>
            <${Chips} name=${name} items=${items} now=${value} set=${choose} label=${title} /></div>`;
}

/** Any of the models on any of the clusters. */
function Combine() {
    const [model, setModel] = useState(READY[2][0]);
    const [cluster, setCluster] = useState(READY[1][1]);
    return html`
        <form class="combine" aria-label="Combine a model and a cluster"
              onSubmit=${(event) => { event.preventDefault(); startExample(model, cluster); }}>
            <${Among} title="Model" name="ready-model" value=${model} choose=${setModel}
                      items=${[...EXAMPLES].map(([id, { title }]) => [id, title])} />
            <${Among} title="Cluster" name="ready-cluster" value=${cluster} choose=${setCluster}
                      items=${[...CLUSTERS].map(([id, { short }]) => [id, short])} />
            <button class="primary">Plan it</button>
        </form>`;
}

export function Empty() {
    const own = hasCluster(plan.value);
    return html`
        <section class="empty" aria-labelledby="empty-title">
            <h2 id="empty-title">Does it fit, how fast, and what binds?</h2>
            <p>Name a model in the settings, or <button type="button" class="link" onClick=${reachConfig}>paste its config.json</button>, which needs no Hub. Or drop that file, or what
                ${" "}<code>scontrol</code>, <code>nvidia-smi</code> or <code>kubectl</code> print, anywhere on this page. Or start from one of these:</p>
            <ul class="starters">${READY.map(([id, cluster]) => html`
                <li key=${id}>
                    <button type="button" class="starter" data-example=${id} onClick=${() => startExample(id)}>
                        <b>${EXAMPLES.get(id).title}</b>
                        <span>${own ? clusterName() : CLUSTERS.get(cluster).title}</span>
                        ${own ? null : html`<span class="muted">${EXAMPLES.get(id).note}</span>`}
                    </button>
                </li>`)}
            </ul>
            <${Combine} />
            <dl class="lessons">
                <div><dt>One verdict</dt><dd>Fits or not, by how many bytes, on which rank, and the cheapest change that helps.</dd></div>
                <div><dt>Legal values only</dt><dd>Controls offer what the model, the cluster and each other allow.</dd></div>
                <div><dt>Every number explains itself</dt><dd>Click it for the formula, its inputs and the source. Press <kbd>e</kbd> for all at once.</dd></div>
            </dl>
        </section>`;
}
