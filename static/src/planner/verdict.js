/** What the answer comes to, why there is none, and what to do about it. */
import { html } from "../html.js";
import { atField, FIELD_BY_KEY, fieldAt, fieldForProblem, valueWords } from "../state/fields.js";
import { Part } from "../shell/part.js";
import { goToTab, goToTuning } from "../shell/views.js";
import { tab } from "../state/look.js";
import { accelerators, answer, applyFix, askAgain, isCut, plan, resetParallelism } from "../state/store.js";
import { memorySize } from "../state/prefs.js";
import { change } from "../units.js";
import { plainWords, spoken, wordsOf } from "../words.js";
import { hinted, Use } from "../widgets/field.js";
import { fitOf } from "../widgets/fit.js";
import { reach } from "../widgets/reach.js";
import { reachConfig } from "./model-picker.js";
import { Result } from "./result.js";
import { movesOf, sizesThatDivide } from "./what-if/moves.js";
import { Help } from "../widgets/words.js";

/** Values that are offered to make a refused setting legal: the nearest; its own control has them all. */
const MOST_VALUES = 3;

/**
 * What a fix does, in the words of the page: what it changes, and what else it settles that the
 * plan left open.
 *
 * @param {Api.Fix} fix
 */
function describe({ change: patch, what: matters, with: beside }) {
    const settings = Object.entries(patch).flatMap(([group, members]) =>
        (members !== null && typeof members === "object" ? Object.entries(members) : [["", members]]).map(([name, value]) => {
            const pointer = `/${group}/${name}`;
            const field = fieldAt(pointer);
            const words = spoken(pointer, value);
            if (words !== "") return { own: name === matters || name === beside, text: words };
            const open = !field || (field.optional && (plan.value[field.key] === "" || plan.value[field.key] === 0));
            return open ? { own: false, text: `${wordsOf(String(name || group))} ${plainWords(value)}` }
                : { own: true, text: `${field.label} → ${valueWords(field, value ?? "")}` };
        }));
    const own = settings.filter((setting) => setting.own);
    const others = settings.filter((setting) => !setting.own);
    /** @param {{text: string}[]} list */
    const join = (list) => list.map((setting) => setting.text).join(", ");
    return own.length > 0 ? { what: join(own), settles: join(others) } : { what: join(others), settles: "" };
}

/** @param {{fix: Api.Fix, estimate: Api.Estimate, what: string, settles: string}} props */
function Fix({ fix, estimate, what, settles }) {
    const [tone, , words] = fitOf(fix);
    const effects = [
        typeof fix.memory_bytes === "number" && memorySize(fix.memory_bytes),
        fix.numerics_differ && "other numerics",
        typeof fix.step_s === "number" && `${change(fix.step_s, estimate.time.step_s)} time${fix.time_incomplete ? ", transfers not counted" : ""}`,
    ].filter(Boolean);
    return html`
        <button type="button" class="fix" onClick=${() => applyFix(fix.change)}>
            <b>${what}</b>
            <span>${effects.join(" · ")} · ${fix.fits ? html`<em class=${tone}>${words}</em>` : html`<em>not enough</em>`}</span>
            ${settles ? html`<span>with ${settles}</span>` : null}
        </button>`;
}

/** What all of them settle alike is said once. @param {{fixes: Api.Fix[], estimate: Api.Estimate}} props */
function Fixes({ fixes, estimate }) {
    const words = fixes.map(describe);
    const [{ settles }, ...others] = words;
    const alike = settles !== "" && others.length > 0 && others.every((other) => other.settles === settles);
    return html`
        <h2 id="fixes">Ways to make it better${alike ? `, all with ${settles}` : ""}</h2>
        <div class="fixes" role="group" aria-labelledby="fixes">${fixes.map((fix, at) => html`
            <${Fix} key=${JSON.stringify(fix.change)} fix=${fix} estimate=${estimate} what=${words[at].what} settles=${alike ? "" : words[at].settles} />`)}
        </div>`;
}

/** @param {{problem: import("../state/api.js").Problem}} props */
function Refusal({ problem }) {
    const listed = problem.errors.some(({ detail }) => detail === problem.detail);
    return html`
        <div class="verdict-head">
            <span class="badge bad"><span aria-hidden="true">▲</span> ${problem.status === 422 ? "Not possible" : "No answer"}</span>
            <p class="verdict-text">${problem.errors.length > 0 && problem.status === 422
                ? "The service refuses these settings." : listed ? problem.title : problem.detail || problem.title}</p>
        </div>
        ${problem.errors.length > 0 ? html`
            <ul class="refusals">${problem.errors.map((item) => {
                const key = fieldForProblem(item.pointer ?? "");
                const mends = key ? hinted(key, item, MOST_VALUES) : [];
                return html`
                    <li key=${item.pointer + item.code}>
                        ${key ? html`<button type="button" class="link" onClick=${() => reach(key)}>${FIELD_BY_KEY.get(key).label}</button>`
                            : html`<code>${item.pointer}</code>`}: ${key ? atField(item, key).detail : item.detail}
                        ${mends.length > 0 ? html`. <span class="try"><${Use} name=${key} mends=${mends} /></span>` : null}
                    </li>`;
            })}</ul>` : null}`;
}

/** The place of the changes worth asking about. */
function Ribbon() {
    const moves = movesOf(plan.value, accelerators.value);
    return html`
        <div class="what-if" aria-hidden="true">
            <h2>What if</h2>
            <ul class="ribbon">${moves.map(({ id }) => html`<li key=${id}></li>`)}</ul>
        </div>`;
}

export function Verdict() {
    const { phase, estimate, problem } = answer.value;
    const fixes = phase !== "problem" && estimate ? estimate.binding?.fixes ?? [] : [];
    const refused = phase === "problem" && problem;
    const unread = refused && problem.errors.some(({ pointer }) => fieldForProblem(pointer ?? "") === "hub");
    const asks = refused ? sizesThatDivide(problem) : estimate && tab.value === "summary";
    const tone = refused ? "bad" : estimate ? fitOf(estimate)[0] : "idle";
    return html`
        <section class="verdict ${tone}" aria-label="Verdict" data-phase=${phase} data-testid="verdict">
            <div role="status" aria-live="polite" aria-busy=${phase === "loading"}>
                ${refused ? html`<${Refusal} problem=${problem} />`
                    : estimate ? html`<${Result} estimate=${estimate} />`
                        : html`<p class="muted">Computing the first answer…</p>`}
            </div>
            ${refused && isCut() && problem.errors.some((item) => item.pointer?.startsWith("/parallelism")) ? html`
                <div class="fixes"><button type="button" class="fix" onClick=${resetParallelism}><b>Reset the parallelism</b></button></div>` : null}
            ${refused && problem.status !== 422 ? html`
                <div class="fixes"><button type="button" class="fix" onClick=${askAgain}><b>Ask again</b></button>
                    ${unread ? html`<button type="button" class="fix" onClick=${reachConfig}><b>Paste its config.json</b></button>` : null}</div>` : null}
            ${fixes.length > 0 ? html`<${Fixes} fixes=${fixes} estimate=${estimate} />` : null}
            ${estimate && !refused && tone === "bad" && !fixes.some(({ fits }) => fits) ? html`
                <p class="hint"><${Help} of="no_fix" /> <button type="button" class="link" onClick=${() => goToTab("search")}>search for plans that fit</button> or
                    ${" "}<button type="button" class="link" onClick=${goToTuning}>train a part of the model</button>.</p>` : null}
            ${asks ? html`<${Part} name="whatIf">${refused ? null : html`<${Ribbon} />`}<//>` : null}
        </section>`;
}
