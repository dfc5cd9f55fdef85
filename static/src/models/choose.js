/** Which models: one of the ready ones, a repository of the Hub, or a config.json. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { ConfigForm } from "../planner/model-picker.js";
import { hasModel } from "../state/plan.js";
import { plan } from "../state/store.js";
import { Options } from "../widgets/options.js";
import { Help } from "../widgets/words.js";
import { choose, chosen, known, OWN, planIt, readyModels, waiting } from "./state.js";

/** @param {{slot: import("./state.js").Slot, label: string}} props */
function Hub({ slot, label }) {
    const name = chosen(slot);
    const ready = readyModels().some(([id]) => id === name);
    const [draft, setDraft] = useState({ of: /** @type {string | null} */ (null), text: "" });
    const shown = draft.of === name ? draft.text : ready ? "" : name;
    const commit = () => {
        const id = shown.trim().replace(/^https?:\/\/[^/]+\//, "");
        if (id !== "" && id !== name) choose(slot, id);
    };
    return html`
        <form class="joined" onSubmit=${(event) => { event.preventDefault(); commit(); }}>
            <input type="text" aria-label="Hub id of ${label}" autocomplete="off" spellcheck=${false} autocapitalize="off" value=${shown}
                   placeholder="organisation/name of the Hub" onInput=${(event) => setDraft({ of: name, text: event.currentTarget.value })} onChange=${commit} />
            <button type="submit">Load</button>
        </form>`;
}

/** @param {{slot: import("./state.js").Slot, label: string}} props */
export function Choose({ slot, label }) {
    const name = chosen(slot);
    const all = readyModels();
    const { problem } = known[slot].value;
    return html`
        <div class="panel slot" data-slot=${slot} aria-busy=${waiting(slot)}>
            <label>${label} <select value=${name} onChange=${(event) => choose(slot, event.currentTarget.value)}>
                <${Options} now=${name} items=${[...slot === "b" ? [["", "none"]] : [], ...all, ...all.every(([id]) => id !== name) && name !== "" ? [[name, name]] : []]} />
            </select></label>
            <${Hub} slot=${slot} label=${label} />
            ${name === OWN ? html`
                <details open=${!hasModel(plan.value)}><summary><${Help} of="paste" /></summary>
                    <p class="muted"><${Help} of="own_config" /></p><${ConfigForm} /></details>` : null}
            ${problem ? html`<p class="bad"><b>${problem.title}</b>: ${problem.errors[0]?.detail ?? problem.detail}</p>` : null}
            ${name !== "" && !problem ? html`<p><button type="button" onClick=${() => planIt(name)}>Plan with this model</button></p>` : null}
        </div>`;
}
