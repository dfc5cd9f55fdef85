/** The ribbon of changes, each with what it does to memory, time and fit, or why it cannot be; a click makes it. */
import { useEffect } from "preact/hooks";
import { html } from "../../html.js";
import { memorySize } from "../../state/prefs.js";
import { answer, change } from "../../state/store.js";
import { change as difference } from "../../units.js";
import { fitOf, fitText } from "../../widgets/fit.js";
import { followPlan, moves, outcomes } from "./state.js";

/** @param {number} bytes  more or less than now */
function more(bytes) {
    return `${bytes < 0 ? "−" : "+"}${memorySize(Math.abs(bytes))}`;
}

/** @param {{estimate: Api.Estimate, now: Api.Estimate}} props */
function Effects({ estimate, now }) {
    return html`
        <span><em class=${fitOf(estimate)[0]}>${fitText(estimate)}</em> ${
            more(estimate.memory.device_total_bytes - now.memory.device_total_bytes)}</span>
        <span>${difference(estimate.time.step_s, now.time.step_s)} step</span>
        <span>${difference(estimate.throughput.tokens_per_s, now.throughput.tokens_per_s)} tokens/s</span>`;
}

/** @param {{move: import("./moves.js").Move, now: Api.Estimate}} props */
function Offer({ move, now }) {
    const outcome = outcomes.value.get(move.id);
    if (outcome?.estimate === null) {
        return html`<li class="move barred" data-move=${move.id} title=${outcome.why}><b>${move.title}</b><span>not possible: ${outcome.why}</span></li>`;
    }
    return html`
        <li><button type="button" class="move" data-move=${move.id} disabled=${!outcome} onClick=${() => change(move.changes)}>
            <b>${move.title}</b>${outcome ? html`<${Effects} estimate=${outcome.estimate} now=${now} />` : html`<span>…</span>`}
        </button></li>`;
}

export function WhatIf() {
    useEffect(followPlan, []);
    const { estimate: now } = answer.value;
    return html`
        <div class="what-if" data-testid="what-if" data-ready=${outcomes.value.size > 0}>
            <h2 id="what-if">What if</h2>
            <ul class="ribbon" aria-labelledby="what-if">${moves.value.map((move) => html`
                <${Offer} key=${move.id} move=${move} now=${now} />`)}</ul>
        </div>`;
}
