/** Copies: the link of this page, and the request of this page as a command. */
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { hasModel, requestOf } from "../state/plan.js";
import { plan } from "../state/store.js";

const TOAST_MS = 2500;

/** @type {import("@preact/signals").Signal<string>} */
const message = signal("");
let clearing = 0;

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

/** The clipboard interface exists on secure origins only; a plain http origin takes the old way. */
async function copy(text, done) {
    let copied = true;
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        copied = copyThroughSelection(text);
    }
    message.value = copied ? done : "The browser refused to copy";
    clearTimeout(clearing);
    clearing = setTimeout(() => { message.value = ""; }, TOAST_MS);
}

/** @param {Record<string, any>} request @param {string} origin */
export function curlOf(request, origin) {
    const body = JSON.stringify(request, null, 2).replaceAll("'", "'\\''");
    return `curl --fail-with-body ${origin}/api/v1/estimates \\\n`
        + `  --header 'content-type: application/json' \\\n  --data '${body}'\n`;
}

export function copyLink() {
    return copy(location.href, "Link copied");
}

export function copyCurl() {
    if (!hasModel(plan.value)) return undefined;
    return copy(curlOf(requestOf(plan.value), location.origin), "Command copied");
}

export function Toast() {
    return html`<div class="toast" role="status" data-shown=${message.value !== ""}>${message.value}</div>`;
}
