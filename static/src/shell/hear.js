/** Hears the keys of the page: single keys that run commands, undo and redo. */
import { shortcuts } from "../state/prefs.js";
import { redo, redoable, undo, undoable } from "../state/steps.js";
import { commands, isReady, registerCommands } from "./commands.js";
import { closeDialog, dialog, openKeys, openPalette } from "./dialogs.js";
import { pageCommands } from "./page-commands.js";

/** @param {EventTarget | null} target  single keys belong to whoever types text or walks a list */
function takesText(target) {
    return target instanceof HTMLElement
        && target.matches("select, textarea, input:not([type=radio]):not([type=checkbox]):not([type=range])");
}

/** @param {EventTarget | null} target  what takes back its own typing */
function editsText(target) {
    return target instanceof HTMLElement && target.matches("textarea, input:not([type=radio]):not([type=checkbox]):not([type=range])");
}

/** Ctrl-Z, and Ctrl-Shift-Z or Ctrl-Y; in a text they are the text's own. @param {KeyboardEvent} event @returns {(() => void) | null} */
function stepOf(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || editsText(event.target)) return null;
    const key = event.key.toLowerCase();
    if (key === "z") return event.shiftKey ? redo : undo;
    return key === "y" && !event.shiftKey ? redo : null;
}

/** @param {KeyboardEvent} event */
function onKey(event) {
    const step = stepOf(event);
    if (step !== null) {
        event.preventDefault();
        return step();
    }
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault(); /* of the browser: its search bar */
        return openPalette();
    }
    /* A view hears its own keys first. */
    if (event.defaultPrevented || !shortcuts.value || event.ctrlKey || event.metaKey || event.altKey || takesText(event.target)) return undefined;
    if (document.querySelector("dialog[open]") !== null && event.key !== "?") return undefined;
    const command = commands.value.find((item) => item.key === event.key && isReady(item));
    if (!command) return undefined;
    event.preventDefault();
    return command.run();
}

export function start() {
    registerCommands("Page", [
        { title: "Find a command or a setting", keys: ["Ctrl", "K"] },
        { title: "Show the keys", key: "?", also: "help shortcuts", run: () => (dialog.value === "keys" ? closeDialog() : openKeys()) },
        { title: "Undo a change of the plan", keys: ["Ctrl", "Z"], ready: () => undoable.value !== null, run: undo },
        { title: "Redo a change of the plan", keys: ["Ctrl", "Shift", "Z"], ready: () => redoable.value !== null, run: redo },
        ...pageCommands(),
    ]);
    registerCommands("Fields", [
        { title: "In a count: step it, or double and halve it", keys: ["↑", "↓"] },
        { title: "On a slider: the next legal value", keys: ["←", "→"] },
        { title: "Close an explanation or a list", keys: ["Esc"] },
    ]);
    document.addEventListener("keydown", onKey);
}
