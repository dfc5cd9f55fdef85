/** A model by its Hub id, found by a part of its name; a whole config.json is taken here too. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { html } from "../html.js";
import * as api from "../state/api.js";
import { NO_MODEL } from "../state/plan.js";
import { change, follow, outcomeOf, plan } from "../state/store.js";
import { count } from "../units.js";
import { errorProps, FieldError } from "../widgets/field.js";
import { useListbox } from "../widgets/listbox.js";
import { known } from "../widgets/words.js";
import { isConfig, readConfig } from "./read-config.js";

const LIST = "hub-list";
const MOST_MODELS = 8;

/** Fewer letters than this are in too many names to be worth a question. */
const LEAST_LETTERS = 2;

/** What is typed and not yet taken; "" asks nothing. */
const asked = signal("");

/** @type {import("@preact/signals").Signal<{of: string, models: any[], note: string}>} */
const found = signal({ of: "", models: [], note: "" });

/** Where models come from, as far as that is worth saying. @param {Api.ModelSearch} answer */
const noteOf = ({ models, source, stale }) => known("hub", (stale ? "away" : source) + (models.length > 0 ? "" : "_none"));

/** @param {string} query @param {AbortSignal} abort */
async function search(query, abort) {
    const got = await outcomeOf(api.searchModels(query, MOST_MODELS, abort));
    if (got) found.value = { of: query, models: got.value?.models ?? [], note: got.problem ? `${got.problem.detail}. ${known("hub", "otherwise")}` : noteOf(got.value) };
}

follow(() => asked.value, (abort) => {
    if (asked.peek() !== "") void search(asked.peek(), abort);
});

/** @param {{of: any}} props */
function Suggestion({ of }) {
    const facts = [of.gated ? "needs access" : "", typeof of.downloads === "number" ? `${count(of.downloads)} downloads` : "",
        of.source === "cache" ? "loaded before" : ""].filter(Boolean);
    return html`<span class="option-name">${of.id}</span><span class="muted">${facts.join(" · ")}</span>`;
}

export function HubForm() {
    const [draft, setDraft] = useState(/** @type {string | null} */ (null));
    const [open, setOpen] = useState(false);
    /** @param {string} text */
    const commit = (text) => {
        setDraft(null);
        setOpen(false);
        asked.value = "";
        if (isConfig(text)) return change({ ...NO_MODEL, config: readConfig(text).config });
        const [id, revision = ""] = text.trim().replace(/^https?:\/\/[^/]+\//, "").split("@");
        return id !== plan.value.hub || revision !== plan.value.revision ? change({ ...NO_MODEL, hub: id, revision }) : undefined;
    };
    const { hub, revision } = plan.value;
    const shown = revision === "" ? hub : `${hub}@${revision}`;
    const { of, models, note } = found.value;
    const current = open && asked.value !== "" && of === asked.value;
    const { at, input, option } = useListbox({
        id: LIST, count: current ? models.length : 0, open: current, first: -1, about: of,
        take: (place) => commit(models[place].id), close: () => setOpen(false),
    });
    /** @param {Event & {currentTarget: HTMLInputElement}} event */
    const onInput = (event) => {
        const text = event.currentTarget.value;
        if (isConfig(text)) return commit(text);
        setDraft(text);
        setOpen(true);
        const part = text.trim();
        asked.value = part.length >= LEAST_LETTERS && !/[@:{]/.test(part) ? part : "";
    };
    return html`
        <form class="stack" onSubmit=${(event) => { event.preventDefault(); commit(draft ?? shown); }}>
            <label class="visually-hidden" for="field-hub">Hub id, or a part of the name</label>
            <div class="joined">
                <input id="field-hub" type="text" autocomplete="off" spellcheck=${false} autocapitalize="off"
                       placeholder="organisation/name or …@revision" value=${draft ?? shown} ...${errorProps("hub")} ...${input}
                       onInput=${onInput} onChange=${(event) => commit(event.currentTarget.value)} onBlur=${() => setOpen(false)} />
                <button type="submit">Load</button>
                <ul id=${LIST} class="suggestions" role="listbox" aria-label="Models" hidden=${!current || models.length === 0}>
                    ${current ? models.map((model, place) => html`
                        <li key=${model.id} class="option" ...${option(place)} data-at=${place === at}><${Suggestion} of=${model} /></li>`) : null}
                </ul>
            </div>
            <p class="muted hint" role="status">${current ? html`${note}${models.length > 0 ? html`
                <span class="visually-hidden">${models.length} models found</span>` : null}` : null}</p>
            <${FieldError} name="hub" />
        </form>`;
}
