/** The best of a search, and beside one that fits narrowly the best that surely fits. */
import { html } from "../html.js";
import { cutOf, FIGURE_BY_NAME, sureOf, written } from "./figures.js";
import { chosen, rows } from "./run.js";

/** @param {{plan: import("./figures.js").Plan}} props */
export function Sure({ plan }) {
    const sure = sureOf(plan);
    if (sure === null) return "–";
    const [tone, sign, words] = sure;
    return html`<span class=${tone}>${sign} ${words}</span>`;
}

/** @param {{row: import("./plans.js").Row}} props */
function Named({ row: { key, rank, plan } }) {
    const [rate, room] = ["tokens_per_s", "headroom_bytes"].map((name) => written(FIGURE_BY_NAME.get(name), plan));
    return html`
        <button type="button" class="link" onClick=${() => { chosen.value = key; }}>rank ${rank}, ${cutOf(plan)}</button>,
        ${" "}${rate} tokens/s, <b><${Sure} plan=${plan} /></b> with ${room} to spare`;
}

export function Best() {
    const [best] = rows.value;
    if (best.rank === 0 || sureOf(best.plan) === null) return null;
    const sure = rows.value.find(({ plan }) => plan.fits_certain);
    return html`
        <p class="readout" data-testid="best">The best: <${Named} row=${best} />.${
            best === sure ? null : sure ? html` The best that fits surely: <${Named} row=${sure} />.` : " None of the best fits surely."}</p>`;
}
