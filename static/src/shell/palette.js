/** Every command and every setting by a few letters of its name. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { useListbox } from "../widgets/listbox.js";
import { commands, isReady } from "./commands.js";
import { closeDialog, Dialog } from "./dialogs.js";
import { fuzzy } from "./fuzzy.js";

const LIST = "palette-list";

export function Palette() {
    const [typed, setTyped] = useState("");
    const found = fuzzy(typed, commands.value.filter(isReady), ({ title, also = "" }) => `${title} ${also}`);
    const { at, input, option } = useListbox({
        id: LIST, count: found.length, open: true, first: 0, about: typed, close: closeDialog,
        /* Closed first: it returns the focus, and what runs may move it on. */
        take: (place) => { closeDialog(); setTimeout(() => found[place].run()); },
    });
    return html`
        <${Dialog} class="palette" aria-label="Find a command or a setting"
                   onClick=${(event) => { if (event.target === event.currentTarget) closeDialog(); }}>
            <input type="text" autocomplete="off" spellcheck=${false} placeholder="What do you want to do?" value=${typed}
                   aria-label="Command or setting" autofocus onInput=${(event) => setTyped(event.currentTarget.value)} ...${input} />
            <ul id=${LIST} role="listbox" aria-label="Commands">${found.map((command, place) => html`
                <li key=${command.owner + command.title} class="option" ...${option(place)} data-at=${place === at}>
                    <span>${command.title}</span>${command.key ? html`<kbd>${command.key}</kbd>` : null}</li>`)}
            </ul>
            <p class="muted" role="status">${found.length === 0 ? "Nothing is called so" : html`
                <span class="visually-hidden">${found.length} found</span>`}</p>
        <//>`;
}
