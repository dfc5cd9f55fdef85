/** A refusal of the service where the answer would have stood. */
import { html } from "../html.js";

/** @param {{problem: import("../state/api.js").Problem}} props */
export function Problem({ problem }) {
    return html`
        <div role="status" data-testid="problem">
            <p><b>${problem.title}</b>${problem.errors.length > 0 ? null : html`: ${problem.detail}`}</p>
            ${problem.errors.length > 0 ? html`
                <ul class="refusals">${problem.errors.map((item) => html`
                    <li key=${item.pointer + item.code}><code>${item.pointer}</code> ${item.detail}${
                        item.hint ? html` <span class="muted">· ${item.hint}</span>` : null}</li>`)}
                </ul>` : null}
        </div>`;
}
