/** The page before there is a model: what it answers, and three ways to a first answer. */
import { html } from "../html.js";
import { EXAMPLES } from "../state/examples.js";
import { startExample } from "../state/store.js";

export function Empty() {
    return html`
        <section class="empty" aria-labelledby="empty-title">
            <h2 id="empty-title">Does it fit, how fast, and what binds?</h2>
            <p>Name a model on the left, by its Hub id or its <code>config.json</code>, and a cluster. Or start from one of these:</p>
            <ul class="starters">${[...EXAMPLES].map(([id, example]) => html`
                <li key=${id}>
                    <button type="button" class="starter" data-example=${id} onClick=${() => startExample(id)}>
                        <b>${example.title}</b>
                        <span>${example.cluster}</span>
                        <span class="muted">${example.note}</span>
                    </button>
                </li>`)}
            </ul>
            <dl class="lessons">
                <div><dt>One verdict</dt><dd>Fits or not, by how many bytes, on which rank, and the cheapest change that helps.</dd></div>
                <div><dt>Legal values only</dt><dd>Each control offers what the model, the cluster and the other controls allow.</dd></div>
                <div><dt>Every number explains itself</dt><dd>Click it for the formula, its inputs and the source. Press <kbd>e</kbd> for all at once.</dd></div>
            </dl>
        </section>`;
}
