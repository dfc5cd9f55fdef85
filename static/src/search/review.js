/** What the service says about what it found: why not another plan, what the winner's neighbours are like, what was left out. */
import { html } from "../html.js";
import { cutOfRequest } from "./apply.js";
import { requestOf } from "../state/plan.js";
import { askWhy, rows, run, why } from "./run.js";
import { units } from "../state/prefs.js";
import { plan } from "../state/store.js";
import { exact, gigabytes, seconds } from "../units.js";
import { Notes } from "../planner/details.js";
import { Fold } from "../widgets/fold.js";
import { Problem } from "../widgets/problem.js";
import { Scroll } from "../widgets/scroll.js";
import { cutOf, dimensionLabel, dimensionValue } from "./figures.js";
import { lookOf, MEMORY_TERMS, TIME_TERMS } from "../widgets/terms.js";

/** @param {number} difference @param {(size: number) => string} write */
function signed(difference, write) {
    if (difference === 0) return "0";
    return `${difference < 0 ? "−" : "+"}${write(Math.abs(difference))}`;
}

const bytes = (value) => `${gigabytes(value, units.value)} ${units.value}`;

/** @param {{label: string, own: number, best: number, write: (value: number) => string}} props */
function Term({ label, own, best, write }) {
    return html`
        <tr><th scope="row">${label}</th><td class="n">${write(own)}</td><td class="n">${write(best)}</td>
            <td class="n ${own > best ? "bad" : own < best ? "good" : ""}">${signed(own - best, write)}</td></tr>`;
}

/** @param {{answer: any}} props */
function Terms({ answer }) {
    const byDifference = (terms, of) => [...terms].sort((a, b) => Math.abs(b[of]) - Math.abs(a[of]));
    return html`
        <${Scroll} label="Terms of both plans">
            <table class="figures tight">
                <caption class="visually-hidden">Each term of time and of memory of this plan and of the best</caption>
                <thead><tr>
                    <th scope="col">Term</th><th scope="col" class="n">This one</th><th scope="col" class="n">The best</th>
                    <th scope="col" class="n">Difference</th>
                </tr></thead>
                <tbody>
                    ${byDifference(answer.time, "difference_s").map(({ name, seconds: own, best_seconds: best }) => html`
                        <${Term} key=${`t${name}`} label=${lookOf(TIME_TERMS, name).label} own=${own} best=${best} write=${seconds} />`)}
                    ${byDifference(answer.memory, "difference_bytes").map(({ name, bytes: own, best_bytes: best }) => html`
                        <${Term} key=${`m${name}`} label=${lookOf(MEMORY_TERMS, name).label} own=${own} best=${best} write=${bytes} />`)}
                </tbody>
            </table>
        <//>`;
}

/** @param {string} key */
function nameOfWhy(key) {
    const row = rows.value.find((other) => other.key === key);
    if (key === "") return "the planner's own plan";
    return row ? `${row.rank > 0 ? `rank ${row.rank}` : "the plan"} (${cutOf(row.plan)})` : "the plan that was chosen";
}

function Why() {
    const asked = why.value;
    const askOwn = () => askWhy("", cutOfRequest(requestOf(plan.peek())));
    return html`
        <section class="panel" aria-labelledby="panel-why" data-testid="why" data-phase=${asked?.phase ?? "idle"}>
            <header class="panel-head"><h2 id="panel-why">Why not ${asked ? nameOfWhy(asked.key) : "another plan"}?</h2>
                <button type="button" disabled=${asked?.phase === "running"} onClick=${askOwn}>Why not the planner's own?</button></header>
            <div role="status">
                ${asked === null ? html`<p class="muted">Ask for the planner's own plan, or choose one above and ask for that.</p>`
                    : asked.phase === "running" ? html`<p class="muted">Holding it against the best…</p>`
                        : asked.problem ? html`<${Problem} problem=${asked.problem} />`
                            : asked.answer ? html`<p>${asked.answer.sentence}</p>` : html`<p class="muted">There is no answer.</p>`}
            </div>
            ${asked?.answer && asked.answer.time.length > 0 ? html`<${Terms} answer=${asked.answer} />` : null}
            ${asked?.answer?.outside_space.length > 0 ? html`<p class="hint muted">Not in the space that was searched:
                ${asked.answer.outside_space.map((name) => dimensionLabel(name).toLowerCase()).join(", ")}.</p>` : null}
        </section>`;
}

/** @param {any} neighbour @returns {{text: string, tone: string}} */
function verdictOf({ legal, refused, fits, breaks, figures }) {
    if (!legal) return { text: `no plan: ${refused.detail}`, tone: "bad" };
    if (!fits) return { text: `lacks ${bytes(-figures.headroom_bytes)}`, tone: "bad" };
    return breaks ? { text: `breaks ${breaks.replaceAll("_", " ")}`, tone: "bad" } : { text: "fits", tone: "good" };
}

/** @param {{list: any[]}} props */
function Neighbours({ list }) {
    return html`
        <${Fold} title="Neighbours of the best: one change each" count=${list.length} testid="neighbours">${() => html`
            <${Scroll} label="Neighbours of the best">
                <table class="figures tight">
                    <caption class="visually-hidden">The best plan with one dimension changed, up and down</caption>
                    <thead><tr><th scope="col">Change</th><th scope="col" class="n">Step</th>
                        <th scope="col" class="n">Memory</th><th scope="col">Verdict</th></tr></thead>
                    <tbody>${list.map((item) => {
                        const { text, tone } = verdictOf(item);
                        const timed = item.legal && item.fits;
                        return html`
                            <tr key=${item.dimension + JSON.stringify(item.to)}><th scope="row">${dimensionLabel(item.dimension)}${" "}
                                    ${dimensionValue(item.dimension, item.from)} → ${dimensionValue(item.dimension, item.to)}</th>
                                <td class="n">${timed ? signed(item.step_difference_s, seconds) : "–"}</td>
                                <td class="n">${item.legal ? signed(item.memory_difference_bytes, bytes) : "–"}</td>
                                <td class=${tone}>${text}</td></tr>`;
                    })}</tbody>
                </table>
            <//>`}
        <//>`;
}

/** @param {{list: any[]}} props */
function Rejected({ list }) {
    return html`
        <${Fold} title="Why plans are no answer" count=${list.length} testid="rejected">${() => html`
            <${Scroll} label="Why plans are no answer">
                <table class="figures tight">
                    <caption class="visually-hidden">Reasons, and how many plans each of them keeps out</caption>
                    <thead><tr><th scope="col">Reason</th><th scope="col" class="n">Plans</th><th scope="col">The nearest</th></tr></thead>
                    <tbody>${list.map((item) => html`
                        <tr key=${item.reason + item.pointer}><th scope="row">${item.reason.replaceAll("_", " ")}</th>
                            <td class="n">${exact(item.count)}</td>
                            <td class="how">${item.sentence}${item.nearest ? html`
                                <span class="muted"> (${cutOf(item.nearest)})</span>` : null}</td></tr>`)}
                    </tbody>
                </table>
            <//>`}
        <//>`;
}

/** @param {{robustness: any}} props */
function Robustness({ robustness }) {
    const nameOf = (id) => {
        const row = rows.value.find(({ plan: one }) => one.id === id && one.rank !== null);
        return row ? `rank ${row.rank}, ${cutOf(row.plan)}` : "–";
    };
    return html`
        <section class="panel" aria-labelledby="panel-robust" data-testid="robustness">
            <h2 id="panel-robust">Does the best stay the best?
                <span class="tag">${robustness.stays_winner ? "yes" : "not everywhere"}</span></h2>
            <p>${robustness.sentence}</p>
            <${Scroll} label="Winners">
                <table class="figures tight">
                    <caption class="visually-hidden">Who wins at the ends of the range of clocks and links</caption>
                    <tbody>
                        <tr><th scope="row">By the closed form</th><td>${nameOf(robustness.winner)}</td></tr>
                        <tr><th scope="row">Fast clocks and links</th><td>${nameOf(robustness.fast_winner)}</td></tr>
                        <tr><th scope="row">Slow clocks and links</th><td>${nameOf(robustness.slow_winner)}</td></tr>
                    </tbody>
                </table>
            <//>
        </section>`;
}

/** Where nothing was found: what stands in the way. */
export function Nothing() {
    const { result } = run.value;
    const nearest = result?.tightest?.nearest;
    return html`
        <section class="panel" data-testid="nothing">
            <p class="nothing">${result?.nothing ?? "No plan was found."}</p>
            ${nearest ? html`<p class="muted">The nearest: ${cutOf(nearest)}.</p>` : null}
        </section>`;
}

export function Review() {
    const { result } = run.value;
    if (result === null) return null;
    return html`
        ${rows.value.length > 0 ? html`<${Why} />` : null}
        ${result.robustness ? html`<${Robustness} robustness=${result.robustness} />` : null}
        <div class="folds">
            ${result.neighbours?.length > 0 ? html`<${Neighbours} list=${result.neighbours} />` : null}
            ${result.rejected?.length > 0 ? html`<${Rejected} list=${result.rejected} />` : null}
            <${Notes} title="Warnings of the search" items=${result.warnings ?? []} tone="warn" testid="search-warnings" />
            <${Notes} title="Assumptions of the search" items=${result.assumptions ?? []} testid="search-assumptions" />
        </div>`;
}
