/** The two views of an answer as tabs; the code of the second comes when it is first opened. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { tab } from "../state/look.js";
import { openTab } from "../state/store.js";

/** @type {["summary" | "step", string][]} */
const VIEWS = [["summary", "Memory and time"], ["step", "Timeline and sharding"]];

/** @type {import("@preact/signals").Signal<{view: any, failed: boolean}>} */
const loaded = signal({ view: null, failed: false });

async function load() {
    if (loaded.value.view !== null) return;
    try {
        loaded.value = { view: (await import("./step.js")).Step, failed: false };
    } catch {
        loaded.value = { view: null, failed: true };
    }
}

/** @param {KeyboardEvent} event */
function onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = VIEWS.findIndex(([name]) => name === tab.value);
    const [next] = VIEWS[(at + step + VIEWS.length) % VIEWS.length];
    openTab(next);
    document.getElementById(`tab-${next}`)?.focus();
}

export function Tabs() {
    return html`
        <div class="tabs" role="tablist" aria-label="Views of the answer" onKeyDown=${onKey}>${VIEWS.map(([name, words]) => html`
            <button type="button" key=${name} id="tab-${name}" role="tab" aria-selected=${name === tab.value} aria-controls="view"
                    tabindex=${name === tab.value ? "0" : "-1"} onClick=${() => openTab(name)}>${words}</button>`)}
        </div>`;
}

function Later() {
    useEffect(() => void load(), []);
    const { view, failed } = loaded.value;
    if (view) return html`<${view} />`;
    return html`<p class="muted" role="status">${failed
        ? html`The view could not be loaded. <button type="button" onClick=${load}>Try again</button>` : "Loading the view…"}</p>`;
}

/** @param {{children?: any}} props  the first view */
export function View({ children }) {
    return html`
        <div id="view" role="tabpanel" aria-labelledby="tab-${tab.value}">
            ${tab.value === "summary" ? children : html`<${Later} />`}
        </div>`;
}
