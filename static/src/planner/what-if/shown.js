/** The ribbon of changes, each with what it does to memory, time and fit, or why it cannot be; a click beside its figures makes it. */
import { useEffect } from "preact/hooks";
import { html } from "../../html.js";
import { registerCommands } from "../../shell/commands.js";
import { memorySize } from "../../state/prefs.js";
import { answer, change } from "../../state/store.js";
import { change as difference } from "../../units.js";
import { Num } from "../../widgets/explain.js";
import { fitOf, fitText } from "../../widgets/fit.js";
import { signed, unitOf, valueAt } from "../../widgets/values.js";
import { called } from "../../widgets/words.js";
import { followPlan, moves, outcomes } from "./state.js";

/** @typedef {{estimate: Api.Estimate, now: Api.Estimate}} Both */

/** Fewer are written as none. */
const LEAST_BYTES = 6e6;

/** Of cuts that would be possible. */
const MOST_CUTS = 4;

/** A difference between two estimates, which opens into both. @param {Both & {title: string, at: string}} props */
function Delta({ estimate, now, title, at }) {
    const [after, before] = [estimate, now].map((of) => valueAt(of, at));
    const isAmount = unitOf(at) === "bytes";
    return html`<${Num} title=${title} text=${!isAmount ? difference(after, before) : Math.abs(after - before) < LEAST_BYTES ? "same memory" : `${signed(after - before, memorySize).replace(" ", "\u00a0")} memory`}
        value=${isAmount ? after - before : after / before - 1} unit=${isAmount ? "bytes" : ""} about=${{
            formula: isAmount ? "after - before" : "after / before - 1", inputs: { after, before }, source: called("sources", "difference"),
            parts: { after: estimate.explanations?.[at], before: now.explanations?.[at] } }} />`;
}

/** @param {Both} props */
function Effects(props) {
    const { estimate } = props;
    return html`
        <span><em class=${fitOf(estimate)[0]}>${fitText(estimate)}</em> <${Delta} ...${props} title="Change of memory" at="/memory/device_total_bytes" /></span>
        <span><${Delta} ...${props} title="Change of the step" at="/time/step_s" /> step</span>
        <span><${Delta} ...${props} title="Change of the rate" at="/throughput/tokens_per_s" /> tokens/s</span>`;
}

/** @param {{move: import("./moves.js").Move, now: Api.Estimate}} props */
function Offer({ move, now }) {
    const outcome = outcomes.value.get(move.id);
    if (outcome?.estimate === null) {
        return html`<li class="move barred" data-move=${move.id} title=${outcome.why}><b>${move.title}</b><span>not possible: ${outcome.why}</span></li>`;
    }
    return html`
        <li class="move" data-move=${move.id}>
            <button type="button" disabled=${!outcome} onClick=${() => change(move.changes)}>${move.title}</button>
            ${outcome ? html`<${Effects} estimate=${outcome.estimate} now=${now} />` : html`<span>…</span>`}
        </li>`;
}

/** Where the plan's own cut is refused: the nearest that have an answer. */
function Nearest() {
    const possible = moves.value.filter(({ id }) => outcomes.value.get(id)?.estimate).slice(0, MOST_CUTS);
    return possible.length === 0 ? null : html`
        <h2 id="nearest">The nearest cuts that are possible</h2>
        <div class="fixes" role="group" aria-labelledby="nearest">${possible.map(({ id, title, changes }) => {
            const { estimate } = outcomes.value.get(id);
            return html`
                <button type="button" class="fix" key=${id} onClick=${() => change(changes)}>
                    <b>${title}</b><span><em class=${fitOf(estimate)[0]}>${fitText(estimate)}</em></span>
                </button>`;
        })}</div>`;
}

export function WhatIf() {
    useEffect(followPlan, []);
    useEffect(() => registerCommands("what if", moves.value.map(({ id, title, changes }) => ({
        title: `What if: ${title}`, ready: () => Boolean(outcomes.peek().get(id)?.estimate), run: () => change(changes) }))), [moves.value]);
    const { estimate: now, problem } = answer.value;
    if (problem) return html`<${Nearest} />`;
    return html`
        <div class="what-if" data-testid="what-if" data-ready=${outcomes.value.size > 0}>
            <h2 id="what-if">What if</h2>
            <ul class="ribbon" aria-labelledby="what-if">${moves.value.map((move) => html`
                <${Offer} key=${move.id} move=${move} now=${now} />`)}</ul>
        </div>`;
}
