/** An upload: files chosen, dropped or pasted are read first; what was read, guessed and missing is told before anything is stored. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { fetchFormats } from "../state/api-inventories.js";
import { percent, scaled } from "../units.js";
import { useLoad } from "../widgets/load.js";
import { Options } from "../widgets/options.js";
import { Panel } from "../widgets/panel.js";
import { Problem } from "../widgets/problem.js";
import { Help } from "../widgets/words.js";
import { addFiles, cancel, draft, dropFile, files, format, pasted, read, reading } from "./intake.js";
import { Go } from "./parts.js";
import { Report } from "./report.js";
import { Save } from "./save.js";

function Formats() {
    const list = useLoad("formats", fetchFormats);
    /** @param {Event & {currentTarget: HTMLSelectElement}} event */
    const change = (event) => {
        format.value = event.currentTarget.value;
        void read();
    };
    return html`
        <label>Format <select id="field-format" value=${format.value} onChange=${change}>
            <${Options} items=${[["auto", "detected"], ...(list.value ?? []).map(({ name, title }) => [name, title])]} now=${format.value} />
        </select></label>`;
}

function Chosen() {
    if (files.value.length === 0) return null;
    return html`
        <ul class="extras">${files.value.map((file) => html`
            <li key=${file.name}><span>${file.name} <span class="muted">${scaled(file.size, "B")}</span></span>
                <button type="button" class="icon" aria-label="Leave out ${file.name}" onClick=${() => dropFile(file)}>✕</button></li>`)}</ul>`;
}

function Progress() {
    const { phase, sent, problem } = reading.value;
    if (phase === "problem") {
        return html`<div class="refused"><${Problem} problem=${problem} /><p class="more"><button type="button" onClick=${() => void read()}>Try again</button>
            <span class="muted"><${Help} of="still_here" /></span></p></div>`;
    }
    if (phase !== "sending" && phase !== "reading") return null;
    return html`
        <p class="commands"><progress aria-label="Sent" max="1" value=${phase === "reading" ? undefined : sent}></progress>
            <span role="status">${phase === "reading" ? "All sent; the service reads it" : `Sending, ${percent(sent)}`}</span>
            <button type="button" onClick=${cancel}>Cancel</button></p>`;
}

function Source() {
    const [over, setOver] = useState(false);
    /** @param {boolean} on */
    const drag = (on) => (/** @type {DragEvent} */ event) => {
        event.preventDefault();
        setOver(on);
    };
    /** @param {DragEvent} event */
    const drop = (event) => {
        event.preventDefault();
        setOver(false);
        const dropped = [...(event.dataTransfer?.files ?? [])];
        if (dropped.length > 0) addFiles(dropped);
    };
    /** @param {Event & {currentTarget: HTMLInputElement}} event */
    const pick = (event) => {
        addFiles([...event.currentTarget.files]);
        event.currentTarget.value = "";
    };
    return html`
        <${Panel} title="What your tools print" id="source">
            <div class="drop" data-over=${over} onDragOver=${drag(true)} onDragLeave=${drag(false)} onDrop=${drop}>
                <p>Drop files of one cluster here, or <label class="file">choose them<input type="file" class="visually-hidden" multiple id="field-files" onChange=${pick} /></label></p>
                <p class="muted"><${Help} of="together" /></p>
                <${Chosen} />
                <label for="field-pasted">Or paste it</label>
                <textarea id="field-pasted" rows="4" spellcheck=${false} value=${pasted.value} onInput=${(event) => { pasted.value = event.currentTarget.value; }}></textarea>
                <p class="commands"><button type="button" class="primary" onClick=${() => void read()}>Read it</button><${Formats} /></p>
            </div>
            <${Progress} />
        <//>`;
}

/** @param {{canStore: boolean}} props */
export function Upload({ canStore }) {
    const { report } = reading.value;
    return html`
        <div class="step upload">
            ${canStore ? html`<p><${Go} where=${{}}>← All inventories<//></p>` : null}
            <header class="inv-head"><h2>Upload an inventory</h2></header>
            <${Source} />
            ${report === null ? null : html`<${Report} report=${report} />`}
            ${canStore && draft.value !== null ? html`<${Save} />` : null}
        </div>`;
}
