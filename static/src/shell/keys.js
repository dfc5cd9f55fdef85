/** The dialog that lists every key. */
import { html } from "../html.js";
import { setShortcuts, shortcuts } from "../state/prefs.js";
import { commands } from "./commands.js";
import { Check } from "../widgets/check.js";
import { Dialog } from "./dialogs.js";

/** @param {{of: import("./commands.js").Command[]}} props */
function Listed({ of }) {
    return html`<dl>${of.map(({ title, key, keys = [key] }) => html`
        <div key=${title}><dt>${keys.map((name) => html`<kbd key=${name}>${name}</kbd> `)}</dt><dd>${title}</dd></div>`)}</dl>`;
}

export function Keys() {
    const listed = commands.value.filter(({ key, keys }) => key !== undefined || keys !== undefined);
    const owners = [...new Set(listed.map(({ owner }) => owner))];
    return html`
        <${Dialog} class="keys" aria-labelledby="keys-title">
            <h2 id="keys-title">Keys</h2>
            ${owners.map((owner) => html`
                <section key=${owner} aria-label=${owner}><h3>${owner}</h3>
                    <${Listed} of=${listed.filter((command) => command.owner === owner)} /></section>`)}
            <${Check} on=${shortcuts.value} set=${setShortcuts}>Single-key commands<//>
            <form method="dialog"><button class="primary">Close</button></form>
        <//>`;
}
