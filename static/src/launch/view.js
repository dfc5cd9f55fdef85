/** The plan written for a launcher, with what could not be written. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { extraMembers, requestOf } from "../state/plan.js";
import { answer, plan } from "../state/store.js";
import { closeDialog, Dialog } from "../shell/dialogs.js";
import { copy, curlOf } from "../shell/share.js";
import { Chips } from "../widgets/chips.js";
import { fitOf } from "../widgets/fit.js";
import { Help, known, readWords } from "../widgets/words.js";
import { accelerate } from "./accelerate.js";
import { deepspeed } from "./deepspeed.js";
import { megatron } from "./megatron.js";
import { slurm } from "./slurm.js";
import { torchtitan } from "./torchtitan.js";

/** @type {[string, string, ((resolved: any) => import("./written.js").Written) | null][]}  null: of the request alone */
const FORMATS = [
    ["curl", "curl", null], ["json", "JSON", null], ["megatron", "Megatron-LM", megatron], ["deepspeed", "DeepSpeed", deepspeed],
    ["torchtitan", "torchtitan", torchtitan], ["fsdp", "FSDP (Accelerate)", accelerate], ["slurm", "Slurm script", slurm],
];

/** @param {string} id @returns {import("./written.js").Written | null} null while there is no answer to take it from */
function writtenAs(id) {
    const request = requestOf(plan.value);
    if (id === "curl") return { text: curlOf(request, location.origin), notes: [] };
    if (id === "json") return { text: `${JSON.stringify(request, null, 2)}\n`, notes: [] };
    const { estimate, phase } = answer.value;
    if (!estimate || phase === "problem") return null;
    const written = FORMATS.find(([name]) => name === id)[2](estimate.resolved);
    /* Too many of them to have a name for each in each file: the reader is told to look. */
    const { gradientSync } = plan.value;
    const further = [...(gradientSync === "" ? [] : [`gradient sync ${gradientSync}`]),
        ...extraMembers(plan.value).filter(({ pointer }) => !pointer.startsWith("/cluster/")).map(({ text }) => text)];
    const [tone, , words] = fitOf(estimate);
    const misfit = tone === "bad" ? [`This plan ${words}: it would run out of memory.`] : [];
    return { text: written.text, notes: [...misfit, ...written.notes,
        ...(further.length > 0 ? [`${known("help", "by_hand")} ${further.join(", ")}.`] : [])] };
}

export function CopyAs() {
    const [format, setFormat] = useState("megatron");
    useEffect(() => void readWords(), []);
    const written = writtenAs(format);
    /* Closed first: nothing outside an open dialog can be selected, nor seen. */
    const take = () => {
        closeDialog();
        void copy(written.text, "Copied");
    };
    return html`
        <${Dialog} class="copy-as" aria-labelledby="copy-as-title">
            <div class="group-head"><h2 id="copy-as-title">Copy as</h2>
                <button type="button" class="icon" aria-label="Close" onClick=${closeDialog}>✕</button></div>
            <${Chips} name="copy-format" items=${FORMATS} now=${format} set=${setFormat} label="Format" />
            ${written === null ? html`<p class="muted" role="status"><${Help} of="nothing" /></p>` : html`
                <pre class="formula" tabindex="0" aria-label="What is copied" data-testid="written">${written.text}</pre>
                ${written.notes.length > 0 ? html`<ul class="notes" data-testid="unwritten">${written.notes.map((note) => html`<li key=${note}>${known("help", note) || note}</li>`)}</ul>` : null}
                <button type="button" class="primary" onClick=${take}>Copy</button>`}
        <//>`;
}
