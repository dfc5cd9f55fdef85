/** The commands of one key, and the dialog that lists them. */
import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { explainAll, setShortcuts, setUnits, shortcuts, toggleTheme, units } from "../state/prefs.js";
import { copyCurl, copyLink } from "./share.js";

const shown = signal(false);

/** @type {[string, string, () => void][]} */
const COMMANDS = [
    ["?", "Show these keys", () => { shown.value = !shown.value; }],
    ["e", "Explain every number", () => { explainAll.value = !explainAll.value; }],
    ["/", "Go to the model", () => document.getElementById("field-hub")?.focus()],
    ["u", "Switch GiB and GB", () => setUnits(units.value === "GiB" ? "GB" : "GiB")],
    ["t", "Switch light and dark", toggleTheme],
    ["c", "Copy as curl", () => void copyCurl()],
    ["l", "Copy the link", () => void copyLink()],
];

/** @param {EventTarget | null} target  single keys belong to whoever types text or walks a list */
function takesText(target) {
    return target instanceof HTMLElement
        && target.matches("select, textarea, input:not([type=radio]):not([type=checkbox])");
}

/** @param {KeyboardEvent} event */
function onKey(event) {
    if (!shortcuts.value || event.ctrlKey || event.metaKey || event.altKey || takesText(event.target)) return;
    const command = COMMANDS.find(([key]) => key === event.key);
    if (!command) return;
    event.preventDefault();
    command[2]();
}

export function start() {
    document.addEventListener("keydown", onKey);
}

export function openKeys() {
    shown.value = true;
}

export function Keys() {
    const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
    const open = shown.value;
    useEffect(() => {
        if (open && !dialog.current?.open) dialog.current?.showModal();
        if (!open && dialog.current?.open) dialog.current.close();
    }, [open]);
    return html`
        <dialog class="keys" ref=${dialog} aria-labelledby="keys-title" onClose=${() => { shown.value = false; }}>
            <h2 id="keys-title">Keys</h2>
            <dl>${COMMANDS.map(([key, does]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}
                <div><dt><kbd>↑</kbd> <kbd>↓</kbd></dt><dd>In a count: step it, or double and halve it</dd></div>
                <div><dt><kbd>Esc</kbd></dt><dd>Close an explanation</dd></div>
            </dl>
            <label class="check"><input type="checkbox" checked=${shortcuts.value}
                onChange=${(event) => setShortcuts(event.currentTarget.checked)} /> Single-key commands</label>
            <form method="dialog"><button class="primary">Close</button></form>
        </dialog>`;
}
