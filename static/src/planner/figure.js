/** A figure of the answer, named by where it stands there: its value, its unit and its explanation follow from that. */
import { html } from "../html.js";
import { answer } from "../state/store.js";
import { Num } from "../widgets/explain.js";

/** @param {Api.Estimate} estimate @param {string} pointer @returns {any} undefined where it has none */
export function valueAt(estimate, pointer) {
    return pointer.slice(1).split("/").reduce((/** @type {any} */ at, name) => at?.[name], estimate);
}

/** The unit stands last in a name; a rate has none of these. @param {string} pointer */
function unitOf(pointer) {
    const [, unit = ""] = /(?<!_per)_(bytes|s|j)$/.exec(pointer) ?? [];
    return unit === "j" ? "J" : unit;
}

/** @param {{at: string, title: string, write: (value: number) => string, inline?: boolean}} props  at: pointer into the estimate */
export function Figure({ at, title, write, inline }) {
    const value = valueAt(answer.value.estimate, at);
    return html`<${Num} title=${title} text=${write(value)} value=${value} unit=${unitOf(at)} pointer=${at} inline=${inline} />`;
}
