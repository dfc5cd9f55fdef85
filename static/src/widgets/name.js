/** Names that have no blanks: where they need more than a line, they break between their words. */
import { html } from "../html.js";

/** Behind a dot, an underscore or a slash, but for those of a number, or before a capital. @param {string} name */
export const breaking = (name) => name.split(/(?<=[._/])(?=\D)|(?<=[a-z])(?=[A-Z])/).map((part) => [part, html`<wbr />`]);

/** As code. @param {{of: string}} props */
export const Name = ({ of }) => html`<code>${breaking(of)}</code>`;
