/** The search view, loaded when it is first opened: what is asked, what was found, and the same plans told apart. */
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { said, searchOf } from "./ask.js";
import { asked, cancel, rows, run, start } from "./run.js";
import { hasModel } from "../state/plan.js";
import { plan } from "../state/store.js";
import { exact, seconds } from "../units.js";
import { Problem } from "../widgets/problem.js";
import { Panel } from "../widgets/panel.js";
import { Help, worded } from "../widgets/words.js";
import { Form } from "./form.js";
import { Parallel } from "./parallel.js";
import { Nothing, Review } from "./review.js";
import { Scatter } from "./scatter.js";
import { Plans } from "./table.js";
import { copy, copyLink, curlOf } from "../shell/share.js";

function Commands() {
    const running = run.value.phase === "running";
    const ready = hasModel(plan.value);
    const copyCommand = () => copy(curlOf(searchOf(plan.value), location.origin, "searches"), "Command copied");
    return html`
        <div class="commands">
            ${running ? html`<button type="button" class="primary" onClick=${cancel}>Cancel</button>`
                : html`<button type="button" class="primary" disabled=${!ready} onClick=${start}>Search</button>`}
            <button type="button" disabled=${!ready} onClick=${copyCommand}>Copy search as curl</button>
            <button type="button" onClick=${copyLink}>Copy link to search</button>
            <${Counts} />
        </div>`;
}

/** @type {Record<string, string>} */
const ENDS = { done: "Done", cancelled: "Cancelled", deadline: "Out of time" };

/** How long it may take yet, were the parts that are left like those that are done. @param {Partial<Api.SearchProgress>} told */
function timeLeft({ units, units_done: done, elapsed_s: spent_s } = {}) {
    return done > 0 && units > done ? `about ${seconds((spent_s * (units - done)) / done)} left` : "";
}

/** What a reader hears once, at the end; the counts beneath it run too fast to be read aloud. */
function Counts() {
    const { phase, told, result } = run.value;
    const state = result?.state ?? phase;
    /** @param {"evaluated" | "feasible" | "pruned"} name */
    const count = (name) => exact(told?.[name] ?? 0);
    return html`
        ${phase === "running" ? html`
            <progress aria-label="Parts of the space done" max=${told?.units || 1} value=${told?.units_done ?? 0}></progress>` : null}
        <p class="counts" data-testid="search-counts">
            <b role="status">${phase === "running" ? "Searching…" : `${ENDS[state] ?? ""}${result?.from_store ? ", from the store" : ""}`}</b>
            ${told ? html`
                <span><b>${count("evaluated")}</b> evaluated</span><span><b>${count("feasible")}</b> fit</span>
                <span><b>${count("pruned")}</b> ruled out unevaluated</span><span><b>${seconds(told.elapsed_s ?? 0)}</b></span>
                ${phase === "running" ? html`<span data-testid="search-eta">${timeLeft(told)}</span>` : null}` : null}
        </p>`;
}

function Found() {
    const { phase, of, found, result } = run.value;
    if (rows.value.length === 0) return result === null ? null : html`<${Nothing} /><${Review} />`;
    /* What the search before found stays until there is something new. */
    const stale = phase === "running" && found.of !== of;
    return html`
        <div class="answer step" data-phase=${stale ? "loading" : "done"}>
            <${Scatter} /><${Parallel} /><${Plans} /><${Review} />
        </div>`;
}

export const Search = worded(() => {
    /* A link to a search shows what it finds. */
    useEffect(() => {
        if (said("run") === "1" && run.peek().phase === "idle" && hasModel(plan.peek())) void start();
    }, []);
    const { phase, problem, found } = run.value;
    const moved = phase !== "running" && found !== null && found.of !== asked.value;
    return html`
        <div class="step search" data-testid="search" data-phase=${phase}>
            <${Panel} title="Search for the best plans" id="asking" head=${html`<p class="key"><${Help} of="asking" /></p>`}>
                <${Form} />
                <${Commands} />
                ${moved ? html`<p class="warning"><${Help} of="stale" /></p>` : null}
                ${problem ? html`<div class="refused"><${Problem} problem=${problem} /></div>` : null}
            <//>
            <${Found} />
        </div>`;
});
