/** Every holder of a tensor that was clicked on: devices, slice, bytes. */
import { html } from "../../html.js";
import { exact, scaled } from "../../units.js";
import { Scroll } from "../../widgets/scroll.js";
import { holders, pinned } from "../state.js";
import { countOf, sliceText } from "./rank-sets.js";

/** More are a wall; the map shows the rest. */
const MOST_ROWS = 256;

export function Holders() {
    const { name, shards } = holders.value;
    if (pinned.value === "" || name !== pinned.value) return null;
    return html`
        <${Scroll} label="Holders table">
            <table class="figures tight" data-testid="holders">
                <caption>Holders of <code>${name}</code>${shards.length > MOST_ROWS ? `, ${MOST_ROWS} of ${exact(shards.length)} slices` : ""}
                    ${" "}<button type="button" onClick=${() => { pinned.value = ""; }}>Close the holders</button></caption>
                <thead><tr><th scope="col">Slice</th><th scope="col" class="n">Bytes each</th><th scope="col" class="n">Devices</th>
                    <th scope="col">Ranks</th></tr></thead>
                <tbody>${shards.slice(0, MOST_ROWS).map(({ ranks, slice, shape, bytes }, at) => html`
                    <tr key=${at}><th scope="row"><code>${sliceText(slice, shape)}</code></th>
                        <td class="n" title="${exact(bytes)} bytes">${scaled(bytes, "B")}</td><td class="n">${exact(countOf(ranks))}</td>
                        <td>${ranks}</td></tr>`)}
                </tbody>
            </table>
        <//>`;
}
