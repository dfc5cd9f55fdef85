/** The page: header, controls on the left, answer on the right. */
import { html } from "../html.js";
import { hasModel } from "../state/plan.js";
import { explainAll, setUnits, theme, toggleTheme, units } from "../state/prefs.js";
import { answer, plan } from "../state/store.js";
import { Hatches } from "./charts.js";
import { ClusterPicker } from "./cluster-picker.js";
import { Parallelism, Workload } from "./controls.js";
import { Details, Provenance } from "./details.js";
import { Empty } from "./empty.js";
import { ExplainPopover } from "./explain.js";
import { Figures } from "./figures.js";
import { Keys, openKeys } from "./keys.js";
import { Memory } from "./memory.js";
import { ModelPicker } from "./model-picker.js";
import { copyCurl, copyLink, Toast } from "./share.js";
import { Verdict } from "./verdict.js";
import { Tabs, View } from "./views.js";
import { Waterfall } from "./waterfall.js";

function Header() {
    const ready = hasModel(plan.value);
    return html`
        <header class="top">
            <a class="brand" href="/"><svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
                <path class="brand-mark" d="M1 2h14v3H1zM1 6.5h10v3H1zM1 11h6v3H1z" /></svg>
                <span>Shardline</span></a>
            <h1 class="visually-hidden">Shardline planner</h1>
            <div class="tools" role="group" aria-label="Page tools">
                <button type="button" disabled=${!ready} onClick=${copyCurl}>Copy as curl</button>
                <button type="button" disabled=${!ready} onClick=${copyLink}>Copy link</button>
                <button type="button" aria-pressed=${explainAll.value} onClick=${() => { explainAll.value = !explainAll.value; }}>Explain</button>
                <button type="button" aria-label="Units: ${units.value}. Switch to ${units.value === "GiB" ? "GB" : "GiB"}"
                        onClick=${() => setUnits(units.value === "GiB" ? "GB" : "GiB")}>${units.value}</button>
                <button type="button" class="icon" aria-label="Dark theme" aria-pressed=${theme() === "dark"} onClick=${toggleTheme}>
                    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="6" class="moon-ring" /><path d="M8 2a6 6 0 0 1 0 12z" class="moon" /></svg></button>
                <button type="button" class="icon" aria-label="Keys" onClick=${openKeys}>?</button>
            </div>
        </header>`;
}

function Answer() {
    const { estimate, phase } = answer.value;
    if (!hasModel(plan.value)) return html`<${Empty} />`;
    return html`
        <${Verdict} />
        ${estimate ? html`
            <div class="answer" data-phase=${phase} aria-busy=${phase === "loading"}>
                <${Figures} />
                <${Tabs} />
                <${View}>
                    <div class="panels"><${Memory} /><div class="side"><${Waterfall} /><${Details} /></div></div>
                <//>
                <${Provenance} />
            </div>` : null}`;
}

/** The fragment belongs to the plan, so the skip link moves the focus itself. */
function skipToAnswer(event) {
    event.preventDefault();
    document.getElementById("answer")?.focus();
}

export function App() {
    return html`
        <a class="skip" href="#answer" onClick=${skipToAnswer}>Skip to the answer</a>
        <${Header} />
        <div class="columns">
            <aside class="controls" aria-label="Plan">
                <${ModelPicker} /><${ClusterPicker} /><${Parallelism} /><${Workload} />
            </aside>
            <main id="answer" tabindex="-1"><${Answer} /></main>
        </div>
        <${Hatches} /><${ExplainPopover} /><${Keys} /><${Toast} />`;
}
