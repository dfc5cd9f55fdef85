/** Every tensor of the checkpoint by name, page after page, searched by the service. */
import { html } from "../html.js";
import { place } from "../state/look.js";
import { shapeText } from "../units.js";
import { Chips } from "../widgets/chips.js";
import { Name } from "../widgets/name.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { Problem } from "../widgets/problem.js";
import { ShardBytes } from "../widgets/shard-bytes.js";
import { known, listed, look, tensors, tensorsWaiting, turn } from "./state.js";

/** @param {{shown: import("./state.js").Shown[]}} props */
function Which({ shown }) {
    return html`
        <${Chips} name="tensors-of" items=${shown.map(({ slot, title }) => [slot, title])} now=${listed.value}
                  set=${(of) => look({ of })} label="Whose tensors" small />`;
}

/** @param {{answer: Api.Sharding}} props */
function Table({ answer }) {
    return html`
        <${Plain} tight cards label="Tensors of ${known[listed.value].value.title}" columns=${["Tensor", "#Layer", "Shape", "Stored", "#Bytes"]}
            rows=${answer.tensors.map(({ name, shape, dtype, shards }) => [html`<${Name} of=${name} />`,
                /\.(\d+)\./.exec(name)?.[1] ?? "–", shapeText(shape), dtype, html`<${ShardBytes} name=${name} shards=${shards} dtype=${dtype} />`])} />`;
}

/** @param {{shown: import("./state.js").Shown[]}} props */
export function TensorTable({ shown }) {
    const { page, answer, problem } = tensors.value;
    return html`
        <${Panel} title="Tensors of the checkpoint" id="tensors" data-phase=${tensorsWaiting.value ? "loading" : "done"} aria-busy=${tensorsWaiting.value}
            head=${shown.length > 1 && html`<${Which} shown=${shown} />`}>
            <label class="filter">Find <input type="text" autocomplete="off" spellcheck=${false} placeholder="part of a name, or *.3.*proj*"
                value=${place.value.find ?? ""} onInput=${(event) => look({ find: event.currentTarget.value })} /></label>
            ${problem ? html`<${Problem} problem=${problem} />` : null}
            ${answer === null ? null : answer.tensors.length === 0 ? html`<p class="muted" role="status">No tensor has such a name.</p>` : html`
                <${Table} answer=${answer} />
                <nav class="turn" aria-label="Pages of tensors">
                    <button type="button" disabled=${page === 1} onClick=${() => turn()}>← Previous</button>
                    <span class="muted" role="status">page ${page}: ${answer.tensors.length} of its tensors</span>
                    <button type="button" disabled=${answer.next_cursor === null} onClick=${() => turn(answer.next_cursor)}>Next →</button>
                </nav>`}
        <//>`;
}
