/**
 * What the reader can do, said once: the list of keys, the palette and the single keys read it. A
 * view registers what is its own while it is shown.
 *
 *     useEffect(() => registerCommands("timeline", [
 *         { title: "Fit the whole step", key: "0", run: fit },
 *         { title: "Pan", keys: ["a", "d"] },
 *     ]), []);
 *
 * @typedef {Object} Command
 * @property {string} title        what it does, in the imperative
 * @property {() => void} [run]    absent: keys that the view itself hears, listed only
 * @property {string} [key]        a single key that runs it from anywhere but a text field
 * @property {string[]} [keys]     as listed, where they are not that one key
 * @property {() => boolean} [ready]  whether it can be run now; always when absent
 * @property {string} [also]       further words that find it
 */
import { computed, signal } from "@preact/signals";

/** @type {import("@preact/signals").Signal<Map<string, Command[]>>} by owner */
const registered = signal(new Map());

/** Every command there is, in the order of registration. */
export const commands = computed(() => [...registered.value].flatMap(([owner, list]) =>
    list.map((command) => ({ ...command, owner }))));

/**
 * @param {string} owner  heads the list of its keys; registering again replaces
 * @param {Command[]} list
 * @returns {() => void} takes them back
 */
export function registerCommands(owner, list) {
    registered.value = new Map([...registered.peek(), [owner, list]]);
    return () => {
        if (registered.peek().get(owner) !== list) return;
        registered.value = new Map([...registered.peek()].filter(([name]) => name !== owner));
    };
}

/** @param {Command} command */
export function isReady(command) {
    return command.run !== undefined && (command.ready?.() ?? true);
}
