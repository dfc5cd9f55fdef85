/** A part of a page behind its heading. */
import { html } from "../html.js";

/**
 * @param {{title: any, id: string, head?: any, children?: any}} props  head: what stands beside the heading; any other is an
 *        attribute of the section
 */
export function Panel({ title, id, head, children, ...more }) {
    return html`
        <section class="panel" aria-labelledby="panel-${id}" data-testid=${id} ...${more}>
            <header class="panel-head"><h2 id="panel-${id}">${title}</h2>${head}</header>${children}</section>`;
}
