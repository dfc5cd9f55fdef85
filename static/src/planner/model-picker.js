/** Which model: a Hub id, or a config.json pasted or chosen from disk. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { modelName, modelSource, NO_MODEL } from "../state/plan.js";
import { change, model, plan } from "../state/store.js";
import { memorySize, readable } from "../state/prefs.js";
import { count, exact } from "../units.js";
import { Chips } from "../widgets/chips.js";
import { errorProps, FieldError } from "../widgets/field.js";
import { reach } from "../widgets/reach.js";
import { HubForm } from "./hub-form.js";
import { readConfig } from "./read-config.js";

/** @type {[string, string][]} */
const TABS = [["hub", "Hub id"], ["config", "config.json"]];

/** What the reader is looking at, before it says where the model comes from. */
const openTab = signal(/** @type {"hub" | "config" | null} */ (null));

/** To the place where a config.json is pasted. */
export function reachConfig() {
    openTab.value = "config";
    requestAnimationFrame(() => reach("config"));
}

export function ConfigForm() {
    const { config } = plan.value;
    const [draft, setDraft] = useState(/** @type {string | null} */ (null));
    const [fault, setFault] = useState("");
    const text = draft ?? (config === null ? "" : JSON.stringify(config, null, 2));
    /** @param {string} source */
    const use = (source) => {
        const read = readConfig(source);
        setFault(read.fault);
        if (read.config === null) return setDraft(source);
        setDraft(null);
        return change({ ...NO_MODEL, config: read.config });
    };
    /** @param {File | undefined} file */
    const take = (file) => file?.text().then(use);
    const invalid = fault !== "" ? { "aria-invalid": "true", "aria-describedby": "config-fault" } : errorProps("hub");
    return html`
        <form class="stack" onSubmit=${(event) => { event.preventDefault(); use(text); }}>
            <label class="visually-hidden" for="field-config">config.json</label>
            <textarea id="field-config" rows="7" spellcheck=${false} ...${invalid} value=${text}
                      placeholder=${'Paste config.json, or drop the file anywhere\n{ "hidden_size": 4096, … }'}
                      onInput=${(event) => (event.inputType === "insertFromPaste" ? use : setDraft)(event.currentTarget.value)}></textarea>
            ${fault ? html`<p class="field-error" id="config-fault"><span aria-hidden="true">▲ </span>${fault}</p>`
                : html`<${FieldError} name="hub" />`}
            <div class="split">
                <label class="file">Choose a file
                    <input type="file" accept=".json,application/json" class="visually-hidden"
                           onChange=${(event) => take(event.currentTarget.files[0])} />
                </label>
                <button type="submit" class="primary">Use this config</button>
            </div>
        </form>`;
}

/** @param {Api.Model["parameters"]} parameters */
const sizes = ({ total, active_per_token: active }) => html`<span title=${exact(total)}>${count(total)}${active === total ? "" : `, ${count(active)} active`}</span>`;

/** @type {[string, (info: Api.Model) => any][]} */
const FACTS = [["Architecture", (info) => info.architecture ?? info.model_type],
    ["Parameters", (info) => sizes(info.parameters)], ["Weights", (info) => memorySize(info.weights_bytes)]];

/** What the service read from the model. The room it takes is kept meanwhile: no setting moves from under the pointer when it comes. */
function ModelCard() {
    const { info, pending } = model.value;
    const source = modelSource(plan.value);
    if (source === "none") return null;
    const warnings = info?.warnings ?? [];
    return html`
        <div class="card" aria-busy=${pending}>
            <p class="card-title">${modelName(plan.value, info?.name)}${source === "example" ? html` <span class="tag">example</span>` : null}</p>
            ${info || pending ? html`<dl class="facts">${FACTS.map(([term, read]) => html`
                <div key=${term}><dt>${term}</dt><dd>${info ? read(info) : "…"}</dd></div>`)}</dl>` : null}
            ${warnings.length > 0 ? html`<ul class="notes">${warnings.map((text) => html`<li key=${text}>${readable(text)}</li>`)}</ul>` : null}
        </div>`;
}

export function ModelPicker() {
    const source = modelSource(plan.value);
    const tab = openTab.value ?? (source === "config" ? "config" : "hub");
    return html`
        <section class="group" aria-labelledby="group-model">
            <div class="group-head">
                <h2 id="group-model">Model</h2>
                <${Chips} name="model-source" items=${TABS} now=${tab} set=${(id) => { openTab.value = id; }} label="Where the model comes from" small />
            </div>
            ${tab === "hub" ? html`<${HubForm} />` : html`<${ConfigForm} />`}
            <${ModelCard} />
        </section>`;
}
