/** A figure of the answer, named by where it stands there: its value, its unit and its explanation follow from that. */
import { html } from "../html.js";
import { estimated } from "../state/store.js";
import { Num } from "../widgets/explain.js";
import { unitOf, valueAt } from "../widgets/values.js";

/** @param {{at: string, title: string, write: (value: number) => string, inline?: boolean}} props  at: pointer into the estimate */
export function Figure({ at, title, write, inline }) {
    const value = valueAt(estimated.value, at);
    return html`<${Num} title=${title} text=${write(value)} value=${value} unit=${unitOf(at)} pointer=${at} inline=${inline} />`;
}
