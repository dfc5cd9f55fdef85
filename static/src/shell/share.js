/** Copies: the link of this page, and the request of this page as a command. */
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { hasModel, requestOf } from "../state/plan.js";
import { plan, settleAddress } from "../state/store.js";

const TOAST_MS = 2500;

/** @typedef {{words: string, act: () => void}} Action */
const message = signal(/** @type {{text: string, action: Action | null}} */ ({ text: "", action: null }));
let clearing = 0;

function hush() {
    message.value = { text: "", action: null };
}

/**
 * Says something in passing. With something to do about it, it stays until it is done, dismissed or replaced.
 * @param {string} text @param {Action | null} [action]
 */
export function tell(text, action = null) {
    message.value = { text, action };
    clearTimeout(clearing);
    if (action === null) clearing = setTimeout(hush, TOAST_MS);
}

/** @param {string} text @returns {boolean} */
function copyThroughSelection(text) {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
}

/** The clipboard interface exists on secure origins only; a plain http origin takes the old way. @param {string} text @param {string} done  what is said then */
export async function copy(text, done) {
    let copied = true;
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        copied = copyThroughSelection(text);
    }
    tell(copied ? done : "The browser refused to copy");
}

/** @param {Record<string, any>} request @param {string} origin @param {string} [resource] */
export function curlOf(request, origin, resource = "estimates") {
    const body = JSON.stringify(request, null, 2).replaceAll("'", "'\\''");
    return `curl --fail-with-body ${origin}/api/v1/${resource} \\\n`
        + `  --header 'content-type: application/json' \\\n  --data '${body}'\n`;
}

export function copyLink() {
    settleAddress();
    return copy(location.href, "Link copied");
}

export function copyCurl() {
    if (!hasModel(plan.value)) return undefined;
    return copy(curlOf(requestOf(plan.value), location.origin), "Command copied");
}

export function Toast() {
    const { text, action } = message.value;
    const act = () => {
        hush();
        action.act();
    };
    return html`
        <div class="toast" role="status" data-shown=${text !== ""}>${text}${action === null ? null : html`
            <button type="button" onClick=${act}>${action.words}</button>
            <button type="button" class="icon" aria-label="Dismiss" onClick=${hush}>✕</button>`}</div>`;
}
