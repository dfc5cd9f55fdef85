/** Every command and every setting by a few letters of its name. */
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { useListbox } from "../widgets/listbox.js";
import { commands, isReady } from "./commands.js";
import { fuzzy } from "./fuzzy.js";
import { paletteOpen } from "./palette-door.js";

const LIST = "palette-list";

export function Palette() {
    const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
    const [typed, setTyped] = useState("");
    useEffect(() => dialog.current?.showModal(), []);

    const found = fuzzy(typed, commands.value.filter(isReady), ({ title, also = "" }) => `${title} ${also}`);
    const close = () => dialog.current?.close();
    const { at, input, option } = useListbox({
        id: LIST, count: found.length, open: true, first: 0, about: typed, close,
        /* Closed first: it returns the focus, and what runs may move it on. */
        take: (place) => { close(); setTimeout(() => found[place].run()); },
    });
    return html`
        <dialog class="palette" ref=${dialog} aria-label="Find a command or a setting" onClose=${() => { paletteOpen.value = false; }}
                onClick=${(event) => { if (event.target === event.currentTarget) close(); }}>
            <input type="text" autocomplete="off" spellcheck=${false} placeholder="What do you want to do?" value=${typed}
                   aria-label="Command or setting" autofocus onInput=${(event) => setTyped(event.currentTarget.value)} ...${input} />
            <ul id=${LIST} role="listbox" aria-label="Commands">${found.map((command, place) => html`
                <li key=${command.owner + command.title} class="option" ...${option(place)} data-at=${place === at}>
                    <span>${command.title}</span>${command.key ? html`<kbd>${command.key}</kbd>` : null}</li>`)}
            </ul>
            <p class="muted" role="status">${found.length === 0 ? "Nothing is called so" : html`
                <span class="visually-hidden">${found.length} found</span>`}</p>
        </dialog>`;
}
