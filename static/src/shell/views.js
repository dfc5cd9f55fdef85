/** The pages of the header and the views of an answer as tabs. */
import { html } from "../html.js";
import { comparing, page, tab } from "../state/look.js";
import { pins } from "../state/pins.js";
import { answer, openPage, openTab } from "../state/store.js";
import { Part } from "./part.js";

/** @typedef {import("../state/look.js").Tab} Tab */
/** @typedef {import("../state/look.js").Page} Page */

/** @type {[Page, string][]} */
export const PAGES = [["planner", "Planner"], ["inventories", "Inventories"], ["models", "Models"], ["concepts", "Concepts"]];

/** @type {[Tab, string][]} */
export const VIEWS = [["summary", "Memory and time"], ["step", "Timeline and sharding"], ["search", "Search"], ["compare", "Compare"]];

/** Who comes by keys goes on from there. @param {Tab} name */
export function goToTab(name) {
    openTab(name);
    document.getElementById(`tab-${name}`)?.focus();
}

export function goToTuning() {
    comparing.value = { of: "finetuning" };
    goToTab("compare");
}

/** @param {KeyboardEvent} event */
function onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = VIEWS.findIndex(([name]) => name === tab.value);
    goToTab(VIEWS[(at + step + VIEWS.length) % VIEWS.length][0]);
}

export function Tabs() {
    return html`
        <div class="tabs" role="tablist" aria-label="Views of the answer" onKeyDown=${onKey}>${VIEWS.map(([name, words]) => html`
            <button type="button" key=${name} id="tab-${name}" role="tab" aria-selected=${name === tab.value} aria-controls="view"
                    tabindex=${name === tab.value ? "0" : "-1"} onClick=${() => openTab(name)}>${words}${
                    name === "compare" && pins.value.length > 0 ? html` <span class="tag">${pins.value.length}<span class="visually-hidden"> pinned</span></span>` : null}</button>`)}
        </div>`;
}

/** Links, so that a page opens in a tab of its own. */
export function Pages() {
    /** @param {MouseEvent} event @param {import("../state/look.js").Page} name */
    const go = (event, name) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        openPage(name);
    };
    return html`
        <nav class="pages" aria-label="Pages"><ul>${PAGES.map(([name, words]) => html`
            <li key=${name}><a href="?page=${name}" aria-current=${name === page.value ? "page" : null}
                onClick=${(event) => go(event, name)}>${words}</a></li>`)}
        </ul></nav>`;
}

/** @param {{children?: any}} props  the planner */
export function Page({ children }) {
    return page.value === "planner" ? children
        : html`<main id="answer" class="page" tabindex="-1"><${Part} key=${page.value} name=${page.value} told /></main>`;
}

/** @param {{children?: any}} props  the first view, which also says that there is no answer to draw */
export function View({ children }) {
    const first = tab.value === "summary" || (tab.value === "step" && answer.value.problem !== null);
    return html`
        <div id="view" role="tabpanel" aria-labelledby="tab-${tab.value}">
            ${first ? children : html`<${Part} key=${tab.value} name=${tab.value} told />`}
        </div>`;
}
