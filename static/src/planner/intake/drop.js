/** Files can be dropped anywhere on the page, or chosen in the group of the cluster. */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { html } from "../../html.js";
import { page } from "../../state/look.js";
import { Part } from "../../shell/part.js";
import { intake, takeFiles } from "./state.js";

const over = signal(false);

/** @param {DragEvent} event  text that is dragged belongs to where it is dropped, files to the planner */
function bringsFiles(event) {
    return page.value === "planner" && event.dataTransfer?.types.includes("Files");
}

/** @param {DragEvent} event */
function onDragOver(event) {
    if (event.defaultPrevented || !bringsFiles(event)) return;
    event.preventDefault();
    over.value = true;
}

/** @param {DragEvent} event */
function onDragLeave(event) {
    if (event.relatedTarget === null) over.value = false;
}

/** @param {DragEvent} event */
function onDrop(event) {
    over.value = false;
    /* A view that takes files of its own has taken this one. */
    if (event.defaultPrevented || !bringsFiles(event)) return;
    event.preventDefault();
    document.querySelector(".settings").setAttribute("open", ""); /* where it says what it read */
    void takeFiles(event.dataTransfer.files);
}

/** What lies over the page while a file is dragged over it. */
export function DropTarget() {
    useLayoutEffect(() => {
        document.addEventListener("dragover", onDragOver);
        document.addEventListener("dragleave", onDragLeave);
        document.addEventListener("drop", onDrop);
        return () => {
            document.removeEventListener("dragover", onDragOver);
            document.removeEventListener("dragleave", onDragLeave);
            document.removeEventListener("drop", onDrop);
        };
    }, []);
    return over.value ? html`
        <div class="drop-here"><p><b>Drop to plan</b><br />a <code>config.json</code>, or what <code>scontrol</code>, <code>sinfo</code>,${" "}
            <code>kubectl</code>, <code>nvidia-smi</code> … print</p></div>` : null;
}

/** For those who do not drag. */
export function ReadFiles() {
    return html`
        <label class="file small">Read what a tool printed…
            <input type="file" multiple class="visually-hidden" id="read-files"
                   onChange=${(event) => { void takeFiles(event.currentTarget.files); event.currentTarget.value = ""; }} />
        </label>
        ${intake.value === null ? null : html`<${Part} name="intake" />`}`;
}
