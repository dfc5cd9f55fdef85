/** What the service answers to a comparison that follows the plan: the last answer stays until the next. */
import { html } from "../html.js";
import { copy, curlOf } from "../shell/share.js";
import { PAUSE_MS } from "../state/store.js";
import { useLoad, Waiting } from "../widgets/load.js";
import { Panel } from "../widgets/panel.js";

/**
 * @param {Object} props
 * @param {string} props.title
 * @param {string} props.id
 * @param {any} props.asked       all that is asked
 * @param {any} [props.request]   the part of it that goes into a command; all of it unless said
 * @param {(asked: any, signal: AbortSignal) => Promise<any>} props.ask
 * @param {any} [props.head]
 * @param {(answer: any) => any} [props.children]
 */
export function Answered({ title, id, asked, request = asked, ask, head, children }) {
    const loaded = useLoad(JSON.stringify(asked), (signal) => ask(asked, signal), PAUSE_MS);
    const { value, problem, pending } = loaded;
    const copyCommand = () => copy(curlOf(request, location.origin, "comparisons"), "Command copied");
    return html`
        <${Panel} title=${title} id=${id} class="panel answer" data-phase=${pending ? "loading" : problem ? "problem" : "done"} aria-busy=${pending}
            head=${html`${head}<button type="button" onClick=${copyCommand}>Copy comparison as curl</button>`}>
            <${Waiting} of=${loaded} what="the comparison" />
            ${value === null ? null : children(value)}
        <//>`;
}
