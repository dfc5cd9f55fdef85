/** Every holder of a tensor that was clicked on: devices, slice, bytes. */
import { html } from "../../html.js";
import { exact } from "../../units.js";
import { Plain } from "../../widgets/plain.js";
import { ShardBytes } from "../../widgets/shard-bytes.js";
import { holders, pinned } from "../state.js";
import { countOf, sliceText } from "./rank-sets.js";

/** More are a wall; the map shows the rest. */
const MOST_ROWS = 256;

export function Holders() {
    const { name, shards } = holders.value;
    if (pinned.value === "" || name !== pinned.value) return null;
    return html`
        <${Plain} tight label="Holders of ${name}" testid="holders" columns=${["Slice", "#Bytes each", "#Devices", "~Ranks"]}
            caption=${html`Holders of <code>${name}</code>${shards.length > MOST_ROWS ? `, ${MOST_ROWS} of ${exact(shards.length)} slices` : ""}
                ${" "}<button type="button" onClick=${() => { pinned.value = ""; }}>Close the holders</button>`}
            rows=${shards.slice(0, MOST_ROWS).map((shard) => [html`<code>${sliceText(shard.slice, shard.shape)}</code>`,
                html`<${ShardBytes} name=${name} shards=${[shard]} />`, exact(countOf(shard.ranks)), shard.ranks])} />`;
}
