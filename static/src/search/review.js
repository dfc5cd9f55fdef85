/** What the service says about what it found: why not another plan, what the winner's neighbours are like, what was left out. */
import { html } from "../html.js";
import { cutOfRequest } from "./apply.js";
import { requestOf } from "../state/plan.js";
import { DIMENSIONS, say } from "./ask.js";
import { askWhy, rows, run, start, why } from "./run.js";
import { plan } from "../state/store.js";
import { memorySize, readable } from "../state/prefs.js";
import { exact, seconds } from "../units.js";
import { wordsOf } from "../words.js";
import { Notes } from "../planner/details.js";
import { fitOf } from "../widgets/fit.js";
import { Fold } from "../widgets/fold.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { Problem } from "../widgets/problem.js";
import { signed } from "../widgets/values.js";
import { Help } from "../widgets/words.js";
import { cutOf, dimensionLabel, dimensionValue, nameOfRow } from "./figures.js";
import { lookOf, MEMORY_TERMS, TIME_TERMS } from "../widgets/terms.js";

/** Terms by how far they are apart. @param {any[]} terms @param {"seconds" | "bytes"} unit @param {Map<string, any>} looks */
function termRows(terms, unit, looks) {
    const write = { seconds, bytes: memorySize }[unit];
    /** @param {any} term */
    const apart = (term) => term[unit] - term[`best_${unit}`];
    return [...terms].sort((a, b) => Math.abs(apart(b)) - Math.abs(apart(a))).map((term) => [
        lookOf(looks, term.name).label, write(term[unit]), write(term[`best_${unit}`]),
        html`<span class=${apart(term) > 0 ? "bad" : apart(term) < 0 ? "good" : ""}>${signed(apart(term), write)}</span>`]);
}

/** @param {string} key */
function nameOfWhy(key) {
    const row = rows.value.find((other) => other.key === key);
    if (key === "") return "the planner's own plan";
    return row ? nameOfRow(row) : "the plan that was chosen";
}

function Why() {
    const asked = why.value;
    const answer = asked?.answer;
    const askOwn = () => askWhy("", cutOfRequest(requestOf(plan.peek())));
    return html`
        <${Panel} title="Why not ${asked ? nameOfWhy(asked.key) : "another plan"}?" id="why" data-phase=${asked?.phase ?? "idle"} head=${html`
            <button type="button" disabled=${asked?.phase === "running"} onClick=${askOwn}>Why not the planner's own?</button>`}>
            <div role="status">
                ${asked?.problem ? html`<${Problem} problem=${asked.problem} />` : answer ? html`<p>${readable(answer.sentence)}</p>`
                    : html`<p class="muted">${asked === null ? html`<${Help} of="why" />` : asked.phase === "running" ? "Holding it against the best…" : "There is no answer."}</p>`}
            </div>
            ${answer?.time.length > 0 ? html`
                <${Plain} tight label="Terms of both plans" columns=${["Term", "#This one", "#The best", "#Difference"]}
                    rows=${[...termRows(answer.time, "seconds", TIME_TERMS), ...termRows(answer.memory, "bytes", MEMORY_TERMS)]} />` : null}
            ${answer?.outside_space.length > 0 ? html`<p class="hint muted"><${Help} of="outside" />
                ${" "}${answer.outside_space.map((name) => dimensionLabel(name).toLowerCase()).join(", ")}.</p>` : null}
        <//>`;
}

/** @param {Api.SearchNeighbour} neighbour @returns {string} what is wrong with it, "" for nothing */
function faultOf({ legal, refused, fits, breaks, figures }) {
    if (!legal) return `no plan: ${readable(refused.detail)}`;
    if (!fits) return `lacks ${memorySize(-figures.headroom_bytes)}`;
    return breaks ? `breaks ${wordsOf(breaks)}` : "";
}

/** @param {any} item  a neighbour of the best */
function neighbourRow(item) {
    const { dimension, from, to, legal, fits } = item;
    const fault = faultOf(item);
    const [tone, , words] = fitOf(item);
    return [`${dimensionLabel(dimension)} ${dimensionValue(dimension, from)} → ${dimensionValue(dimension, to)}`,
        legal && fits ? signed(item.step_difference_s, seconds) : "–", legal ? signed(item.memory_difference_bytes, memorySize) : "–",
        html`<span class=${fault ? "bad" : tone}>${fault || words}</span>`];
}

/** @param {any} item  why plans are no answer */
function rejectedRow({ reason, count, sentence, nearest }) {
    return [wordsOf(reason), exact(count), html`${readable(sentence)}${nearest ? html`<span class="muted"> (${cutOf(nearest)})</span>` : null}`];
}

/** A list of the answer as a table that is folded away. @param {{title: string, id: string, columns: string[], rows: any[][]}} props */
function Folded({ title, id, columns, rows: lines }) {
    return lines.length === 0 ? null : html`
        <${Fold} title=${title} count=${lines.length} testid=${id}>${() => html`<${Plain} tight label=${title} columns=${columns} rows=${lines} />`}<//>`;
}

/** @param {{robustness: Api.SearchRobustness}} props */
function Robustness({ robustness }) {
    /** @param {Api.SearchPlanId | null} id */
    const nameOf = (id) => {
        const row = rows.value.find(({ plan: one }) => one.id === id);
        return row ? nameOfRow(row) : "–";
    };
    return html`
        <${Panel} id="robustness" title=${html`Does the best stay the best? <span class="tag">${robustness.stays_winner ? "yes" : "not everywhere"}</span>`}>
            <p>${readable(robustness.sentence)}</p>
            <${Plain} tight label="Winners" columns=${[]} rows=${[["By the closed form", nameOf(robustness.winner)],
                ["Fast clocks and links", nameOf(robustness.fast_winner)], ["Slow clocks and links", nameOf(robustness.slow_winner)]]} />
        <//>`;
}

/** Changes of what is asked that belong together; a button where the form has them all. @param {{changes: Api.SearchRelaxation[]}} props */
function Change({ changes }) {
    const words = changes.map(({ dimension, from, to }) =>
        `${dimensionLabel(dimension)} ${from.length === 1 ? `${dimensionValue(dimension, from[0])} → ` : ""}${dimensionValue(dimension, to)}`).join(", ");
    const known = changes.every(({ dimension }) => DIMENSIONS.some(({ name }) => name === dimension));
    const make = () => {
        say(Object.fromEntries(changes.map(({ dimension, to }) => [dimension, String(to)])));
        void start();
    };
    return known ? html`<button type="button" onClick=${make}>Search with ${words}</button>` : html`<span>${words}</span>`;
}

/** Where nothing was found: what stands in the way, and what would help. */
export function Nothing() {
    const { result } = run.value;
    const nearest = result?.tightest?.nearest;
    const changes = result?.relaxations ?? [];
    return html`
        <section class="panel" data-testid="nothing">
            <p class="nothing">${readable(result?.nothing ?? "No plan was found.")}</p>
            ${nearest ? html`<p class="muted">The nearest: ${cutOf(nearest)}.</p>` : null}
            ${changes.length === 0 ? null : html`
                <div class="fixes" role="group" aria-label="Changes that give it a plan">${
                    (result.relaxed_together ? [changes] : changes.map((change) => [change])).map((group) => html`
                        <${Change} key=${group[0].dimension} changes=${group} />`)}</div>`}
        </section>`;
}

export function Review() {
    const { result } = run.value;
    if (result === null) return null;
    return html`
        ${rows.value.length > 0 ? html`<${Why} />` : null}
        ${result.robustness ? html`<${Robustness} robustness=${result.robustness} />` : null}
        <div class="folds">
            <${Folded} title="Neighbours of the best: one change each" id="neighbours" columns=${["Change", "#Step", "#Memory", "~Verdict"]}
                rows=${(result.neighbours ?? []).map(neighbourRow)} />
            <${Folded} title="Why plans were dropped" id="rejected" columns=${["Reason", "#Plans", "~The nearest"]}
                rows=${(result.rejected ?? []).map(rejectedRow)} />
            <${Notes} title="Warnings of the search" items=${result.warnings ?? []} tone="warn" testid="search-warnings" />
            <${Notes} title="Assumptions of the search" items=${result.assumptions ?? []} testid="search-assumptions" />
        </div>`;
}
