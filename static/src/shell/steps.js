/** Undo and redo of changes of the plan, each with what it would do. */
import { html } from "../html.js";
import { redo, redoable, undo, undoable } from "../state/steps.js";

/** @param {{name: string, mark: string, of: {words: string} | null, keys: string, act: () => void}} props */
function Step({ name, mark, of, keys, act }) {
    return html`
        <button type="button" class="step-back" disabled=${of === null} title=${of ? `${name}: ${of.words} (${keys})` : `Nothing to ${name.toLowerCase()}`} onClick=${act}>
            <span aria-hidden="true">${mark}</span> ${name}${of ? html`<span class="muted"> ${of.words}</span>` : null}</button>`;
}

export function Steps() {
    if (undoable.value === null && redoable.value === null) return null;
    return html`
        <div class="steps" role="group" aria-label="Changes of the plan">
            <${Step} name="Undo" mark="↶" of=${undoable.value} keys="Ctrl Z" act=${undo} />
            <${Step} name="Redo" mark="↷" of=${redoable.value} keys="Ctrl Shift Z" act=${redo} />
        </div>`;
}
