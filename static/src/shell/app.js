/** The page: header, controls on the left, answer on the right; in one column the controls fold, so that the answer comes first. */
import { html } from "../html.js";
import { tab } from "../state/look.js";
import { hasModel } from "../state/plan.js";
import { explainAll, otherUnit, theme, toggleTheme, toggleUnits, units } from "../state/prefs.js";
import { MOST_PINS, pins } from "../state/pins.js";
import { answer, ownPin, plan, togglePin } from "../state/store.js";
import { Hatches } from "../widgets/charts.js";
import { narrow } from "../widgets/narrow.js";
import { ClusterPicker } from "../planner/cluster-picker.js";
import { Parallelism, Workload } from "../planner/controls.js";
import { Details, Provenance } from "../planner/details.js";
import { Empty } from "../planner/empty.js";
import { ExplainPopover } from "../widgets/explain.js";
import { Figures } from "../planner/figures.js";
import { DropTarget } from "../planner/intake/drop.js";
import { Banner, Stale } from "./banner.js";
import { Dialogs, openCopyAs, openKeys, openPalette } from "./dialogs.js";
import { Memory } from "../planner/memory.js";
import { ModelPicker } from "../planner/model-picker.js";
import { SheetFoot, SheetHead } from "../planner/sheet.js";
import { copyCurl, copyLink, Toast } from "./share.js";
import { Steps } from "./steps.js";
import { Verdict } from "../planner/verdict.js";
import { Page, Pages, Tabs, View } from "./views.js";
import { Waterfall } from "../planner/waterfall.js";
import { Help } from "../widgets/words.js";

function Header() {
    const ready = hasModel(plan.value);
    const pinned = pins.value.includes(ownPin.value);
    return html`
        <header class="top">
            <a class="brand" href="/"><svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
                <path class="brand-mark" d="M1 2h14v3H1zM1 6.5h10v3H1zM1 11h6v3H1z" /></svg>
                <span>Shardline</span></a>
            <h1 class="visually-hidden">Shardline planner</h1>
            <${Pages} />
            <div class="tools" role="group" aria-label="Page tools">
                <button type="button" disabled=${!ready} onClick=${copyCurl}>Copy as curl</button>
                <button type="button" disabled=${!ready} aria-haspopup="dialog" onClick=${openCopyAs}>Copy as…</button>
                <button type="button" onClick=${copyLink}>Copy link</button>
                <button type="button" disabled=${!ready || (!pinned && pins.value.length >= MOST_PINS)} aria-pressed=${pinned}
                        title="Set this plan aside, to compare it with others" onClick=${() => togglePin(ownPin.value)}>${pinned ? "Pinned" : "Pin"}</button>
                <button type="button" aria-pressed=${explainAll.value} onClick=${() => { explainAll.value = !explainAll.value; }}>Explain</button>
                <button type="button" aria-label="Units: ${units.value}. Switch to ${otherUnit()}" onClick=${toggleUnits}>${units.value}</button>
                <button type="button" class="icon" aria-label="Dark theme" aria-pressed=${theme() === "dark"} onClick=${toggleTheme}>
                    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="6" class="moon-ring" /><path d="M8 2a6 6 0 0 1 0 12z" class="moon" /></svg></button>
                <button type="button" class="icon" aria-label="Find a command" aria-haspopup="dialog" title="Find a command (Ctrl K)" onClick=${openPalette}>
                    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path d="M11 11l4 4M12 7A5 5 0 1 1 2 7a5 5 0 0 1 10 0z" class="moon-ring" /></svg></button>
                <button type="button" class="icon" aria-label="Keys" onClick=${openKeys}>?</button>
            </div>
        </header>`;
}

function Answer() {
    const { estimate, phase, problem } = answer.value;
    if (!hasModel(plan.value)) return html`<${Empty} />`;
    /* These need no plan that has an answer: they find one, or hold it against others. */
    const beside = tab.value === "search" || tab.value === "compare";
    return html`
        <${Stale} />
        <${SheetHead} />
        <${Verdict} />
        ${estimate || beside || phase === "problem" ? html`
            <div class="answer" data-phase=${beside ? "done" : phase} aria-busy=${phase === "loading"}>
                ${estimate ? html`<${Figures} />` : null}
                <${Tabs} />
                <${View}>${estimate ? html`
                    <div class="panels"><${Memory} /><div class="side"><${Waterfall} /><${Details} /></div></div>`
                    : problem?.status === 422 && html`<p class="muted unanswered"><${Help} of="no_answer" /></p>`}
                <//>
                ${estimate ? html`<${SheetFoot} /><${Provenance} />` : null}
            </div>` : null}`;
}

/** The fragment belongs to the plan, so the skip link moves the focus itself. @param {Event} event */
function skipToAnswer(event) {
    event.preventDefault();
    document.getElementById("answer")?.focus();
}

export function App() {
    return html`
        <a class="skip" href="#answer" onClick=${skipToAnswer}>Skip to the answer</a>
        <${Header} />
        <${Banner} />
        <${Page}>
            <div class="columns">
                <aside class="controls" aria-label="Plan">
                    <${Steps} />
                    <details class="settings" open=${!narrow.value}>
                        <summary>Model, cluster and settings</summary>
                        <${ModelPicker} /><${ClusterPicker} /><${Parallelism} /><${Workload} />
                    </details>
                </aside>
                <main id="answer" tabindex="-1"><${Answer} /></main>
            </div>
        <//>
        <${Hatches} /><${ExplainPopover} /><${Dialogs} /><${DropTarget} /><${Toast} />`;
}
