/** Strategies side by side on the user's model and cluster, and the one that is recommended. */
import { html } from "../html.js";
import { postComparison } from "../state/api.js";
import { extraWithout, membersOf, toldMembers } from "../state/cut.js";
import { applyPatch, requestOf } from "../state/plan.js";
import { plan, setPlan } from "../state/store.js";
import { withSubject } from "../state/fields.js";
import { readable } from "../state/prefs.js";
import { Notes } from "../planner/details.js";
import { Check } from "../widgets/check.js";
import { Chips } from "../widgets/chips.js";
import { Fold } from "../widgets/fold.js";
import { called, Help, known } from "../widgets/words.js";
import { Answered } from "./answered.js";
import { said, say } from "./columns.js";
import { Baseline, Sheet } from "./sheet.js";
import { criteriaOf, cutOfStrategy } from "./strategy-rows.js";

/** What a strategy chooses for itself unless the reader fixes it. */
const CHOSEN = ["micro_batch_size", "recompute"];

/** @type {[string, string, (strategy: Api.Strategy) => boolean][]} */
export const SHOWN = [["", "possible here", ({ applicable }) => applicable], ["fits", "that fit", ({ fits }) => fits === true], ["all", "all", () => true]];

/** Both questions of this view. @param {import("../state/plan.js").Plan} of @param {boolean} fixed  micro-batch and recomputation as in the plan */
function questionsOf(of, fixed) {
    const request = requestOf(of);
    const { parallelism, ...rest } = request;
    const workload = fixed ? rest.workload : membersOf(rest.workload, (name) => !CHOSEN.includes(name));
    return { own: { ...request, of: "strategies", strategies: ["given"] }, others: { ...rest, workload, of: "strategies" } };
}

/** @param {{own: any, others: any}} questions @param {AbortSignal} signal */
async function ask({ own, others }, signal) {
    const [mine, rest] = /** @type {Api.StrategyComparison[]} */ (
        await Promise.all([postComparison(own, signal), postComparison(others, signal)]));
    const given = mine.strategies.map((strategy) => ({ ...strategy, change: { parallelism: own.parallelism } }));
    return { ...rest, strategies: [...given, ...rest.strategies] };
}

/**
 * The plan with the cut of a strategy in place of its own.
 * @param {import("../state/plan.js").Plan} of @param {Api.Strategy["change"]} change  as the service answers it
 */
export function planWith(of, { parallelism = {}, workload = {} }) {
    /** @param {string} group @param {string} name */
    const decided = (group, name) => group === "parallelism" || CHOSEN.includes(name);
    return applyPatch({ ...of, extra: extraWithout(of, decided) }, { parallelism: toldMembers(parallelism), workload });
}

/** @param {Api.Strategy} strategy */
const apply = ({ change }) => setPlan(planWith(plan.peek(), change));

/** @param {{strategy: Api.Strategy, recommended: boolean, isBase: boolean}} props */
function Head({ strategy, recommended, isBase }) {
    const { name, applicable } = strategy;
    const words = called("ways", name);
    return html`
        <b>${words}</b>${recommended ? html`<span class="tag good">★ recommended</span>` : null}
        <span class="muted">${cutOfStrategy(strategy)}</span>
        <span class="pin-tools">
            <${Baseline} pressed=${isBase} name=${words} press=${() => say({ base: name })} />
            ${applicable && name !== "given" ? html`
                <button type="button" class="primary" aria-label="Apply ${words} to the planner"
                        onClick=${() => apply(strategy)}>Apply</button>` : null}
        </span>`;
}

/** @param {{answer: Api.StrategyComparison}} props */
function Recommendation({ answer: { recommendation, strategies } }) {
    const best = strategies.find(({ name }) => name === recommendation.strategy);
    return html`
        <div class="verdict ${best ? "good" : "bad"}" role="status" data-testid="recommendation">
            <p class="verdict-text"><b>${best ? `Recommended: ${called("ways", best.name)}` : "None of them fits"}</b></p>
            <p class="binding">${readable(recommendation.reason)}${recommendation.situation ? ` ${recommendation.situation.words}` : ""}</p>
            ${best ? html`<div class="fixes"><button type="button" class="fix" onClick=${() => apply(best)}>
                <b>Apply it to the planner</b><span>${cutOfStrategy(best)}</span></button></div>` : null}
        </div>`;
}

/** @param {{answer: Api.StrategyComparison}} props */
function Columns({ answer }) {
    const { strategies, recommendation } = answer;
    const [show, , isShown] = SHOWN.find(([name]) => name === said("show")) ?? SHOWN[0];
    /** @param {Api.Strategy} strategy */
    const rankOf = ({ name }) => (name === "given" ? 0 : name === recommendation.strategy ? 1 : 2);
    const shown = strategies.filter((one) => one.name === "given" || isShown(one)).sort((a, b) => rankOf(a) - rankOf(b));
    /** Which are refused, by why. @type {Map<string, string[]>} */
    const left = new Map();
    for (const { name, refused } of strategies.filter(({ applicable }) => !applicable)) {
        const why = refused.detail.startsWith("must") ? withSubject(refused) : refused.detail;
        left.set(why, [...left.get(why) ?? [], called("ways", name)]);
    }
    const asked = shown.findIndex(({ name }) => name === said("base"));
    const base = asked >= 0 ? asked : shown.findIndex(({ applicable }) => applicable);
    return html`
        <${Sheet} label="Strategies side by side" file="shardline-strategies" parts=${criteriaOf(shown)} base=${base}
            columns=${shown.map((one, at) => ({ key: one.name, title: called("ways", one.name),
                head: html`<${Head} strategy=${one} recommended=${one.name === recommendation.strategy} isBase=${at === base} />` }))}>
            <span role="radiogroup" aria-label="Strategies shown">
                <${Chips} name="compare-show" items=${SHOWN} now=${show} set=${(name) => say({ show: name })} /></span>
        <//>
        ${left.size > 0 ? html`
            <div class="hint muted" data-testid="not-possible">Not possible here:
                <ul class="notes">${[...left].map(([why, names]) => html`<li key=${why}>${names.join("; ")}: ${readable(why)}</li>`)}</ul></div>` : null}
        <div class="folds">
            <${Fold} title="Which to use when" count=${recommendation.use_when.length} testid="use-when">${() => html`
                <ul class="notes">${recommendation.use_when.map(({ situation, words, strategy }) => html`
                    <li key=${situation}>${words} <b>${strategy ? called("ways", strategy) : known("help", "no_way")}</b></li>`)}</ul>`}<//>
            <${Notes} title="Warnings" items=${answer.warnings} tone="warn" testid="compare-warnings" />
            <${Notes} title="Assumptions" items=${answer.assumptions} testid="compare-assumptions" /></div>`;
}

export function Strategies() {
    const fixed = said("fixed") === "1";
    const questions = questionsOf(plan.value, fixed);
    return html`
        <${Answered} title=${known("help", "strategies")} id="strategies" asked=${questions} request=${questions.others} ask=${ask} head=${html`
            <${Check} on=${!fixed} set=${(on) => say({ fixed: on ? "" : "1" })}><${Help} of="free" /><//>`}>${(answer) => html`
            <${Recommendation} answer=${answer} /><${Columns} answer=${answer} />`}
        <//>`;
}
