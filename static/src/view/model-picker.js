/** Which model: a Hub id, or a config.json pasted, dropped or chosen from disk. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { EXAMPLES } from "../state/examples.js";
import { modelSource } from "../state/plan.js";
import { change, model, plan } from "../state/store.js";
import { units } from "../state/prefs.js";
import { count, exact, gigabytes } from "../units.js";
import { errorProps, FieldError } from "./field.js";

const MOST_CONFIG_BYTES = 262144;

/** What the reader is looking at, before it says where the model comes from. */
const openTab = signal(/** @type {"hub" | "config" | null} */ (null));

const NO_MODEL = { hub: "", revision: "", example: "", config: null };

/** @param {string} text @returns {{config: any, fault: string}} */
function readConfig(text) {
    if (text.length > MOST_CONFIG_BYTES) return { config: null, fault: "larger than a config.json can be (256 KiB)" };
    try {
        const config = JSON.parse(text);
        if (config !== null && typeof config === "object" && !Array.isArray(config)) return { config, fault: "" };
        return { config: null, fault: "must be a JSON object, the whole config.json" };
    } catch (error) {
        return { config: null, fault: `not valid JSON: ${/** @type {Error} */ (error).message}` };
    }
}

function HubForm() {
    const [draft, setDraft] = useState(/** @type {string | null} */ (null));
    const commit = (text) => {
        setDraft(null);
        const [id, revision = ""] = text.trim().replace(/^https?:\/\/[^/]+\//, "").split("@");
        if (id !== plan.value.hub || revision !== plan.value.revision) change({ ...NO_MODEL, hub: id, revision });
    };
    const { hub, revision } = plan.value;
    const shown = revision === "" ? hub : `${hub}@${revision}`;
    return html`
        <form class="stack" onSubmit=${(event) => { event.preventDefault(); commit(draft ?? shown); }}>
            <label class="visually-hidden" for="field-hub">Hub id</label>
            <div class="joined">
                <input id="field-hub" type="text" autocomplete="off" spellcheck=${false} autocapitalize="off"
                       placeholder="organisation/name or …@revision" value=${draft ?? shown} ...${errorProps("hub")}
                       onInput=${(event) => setDraft(event.currentTarget.value)}
                       onChange=${(event) => commit(event.currentTarget.value)} />
                <button type="submit">Load</button>
            </div>
            <${FieldError} name="hub" />
        </form>`;
}

function ConfigForm() {
    const { config } = plan.value;
    const [draft, setDraft] = useState(/** @type {string | null} */ (null));
    const [fault, setFault] = useState("");
    const text = draft ?? (config === null ? "" : JSON.stringify(config, null, 2));
    const use = (source) => {
        const read = readConfig(source);
        setFault(read.fault);
        if (read.config === null) return setDraft(source);
        setDraft(null);
        return change({ ...NO_MODEL, config: read.config });
    };
    const take = (file) => file?.text().then(use);
    const onDrop = (event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        void take(event.dataTransfer.files[0]);
    };
    const invalid = fault !== "" ? { "aria-invalid": "true", "aria-describedby": "config-fault" } : errorProps("hub");
    return html`
        <form class="stack" onSubmit=${(event) => { event.preventDefault(); use(text); }}>
            <label class="visually-hidden" for="field-config">config.json</label>
            <textarea id="field-config" rows="7" spellcheck=${false} ...${invalid} value=${text}
                      placeholder=${'Paste config.json or drop the file here\n{ "hidden_size": 4096, … }'}
                      onInput=${(event) => setDraft(event.currentTarget.value)}
                      onDragOver=${(event) => event.preventDefault()} onDrop=${onDrop}></textarea>
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

/** What the service read from the model. */
function ModelCard() {
    const { info, pending } = model.value;
    const example = EXAMPLES.get(plan.value.example);
    const source = modelSource(plan.value);
    if (source === "none") return null;
    const name = source === "example" ? example.title
        : source === "hub" ? plan.value.hub : info?.name ?? "Pasted config";
    const warnings = info?.warnings ?? [];
    return html`
        <div class="card" aria-busy=${pending}>
            <p class="card-title">${name}${source === "example" ? html` <span class="tag">example</span>` : null}</p>
            ${info ? html`
                <dl class="facts">
                    <div><dt>Architecture</dt><dd>${info.architecture ?? info.model_type}</dd></div>
                    <div><dt>Parameters</dt><dd title=${exact(info.parameters.total)}>${count(info.parameters.total)}${
                        info.parameters.active_per_token !== info.parameters.total
                            ? `, ${count(info.parameters.active_per_token)} active` : ""}</dd></div>
                    <div><dt>Weights</dt><dd>${gigabytes(info.weights_bytes, units.value)} ${units.value}</dd></div>
                </dl>` : pending ? html`<p class="muted">Reading the model…</p>` : null}
            ${warnings.length > 0 ? html`<ul class="notes">${warnings.map((text) => html`<li key=${text}>${text}</li>`)}</ul>` : null}
        </div>`;
}

export function ModelPicker() {
    const source = modelSource(plan.value);
    const tab = openTab.value ?? (source === "config" ? "config" : "hub");
    const tabs = [["hub", "Hub id"], ["config", "config.json"]];
    return html`
        <section class="group" aria-labelledby="group-model">
            <div class="group-head">
                <h2 id="group-model">Model</h2>
                <div class="chips small" role="radiogroup" aria-label="Where the model comes from">
                    ${tabs.map(([id, word]) => html`
                        <label key=${id} class="chip">
                            <input type="radio" name="model-source" checked=${tab === id}
                                   onChange=${() => { openTab.value = /** @type {"hub" | "config"} */ (id); }} />
                            <span>${word}</span>
                        </label>`)}
                </div>
            </div>
            ${tab === "hub" ? html`<${HubForm} />` : html`<${ConfigForm} />`}
            <${ModelCard} />
        </section>`;
}
