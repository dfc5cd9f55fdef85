/** What slices of a tensor take, from their elements. */
import { html } from "../html.js";
import { storedSize } from "../state/prefs.js";
import { Num } from "./explain.js";

/** @param {{slice: number[][], flat?: number[]}} shard */
const elementsOf = ({ slice, flat }) => (flat ? [flat] : slice).reduce((product, [begin, end]) => product * (end - begin), 1);

/** @param {{name: string, shards: Pick<Api.Shard, "slice" | "flat" | "bytes">[], dtype?: string}} props  dtype: of what is stored, which says its bits; else bytes are those of training */
export function ShardBytes({ name, shards, dtype }) {
    const elements = shards.reduce((sum, shard) => sum + elementsOf(shard), 0);
    const value = dtype ? (elements * Number(/\d+/.exec(dtype))) / 8 : shards.reduce((sum, { bytes }) => sum + bytes, 0);
    return html`<${Num} title="Bytes of ${name}" text=${storedSize(value)} value=${value} unit="bytes" about=${{ formula: "elements x element_bytes",
        inputs: { elements, element_bytes: value / elements }, source: dtype ? `${dtype}, without scales` : "POST /api/v1/shardings: slices and their bytes in training" }} />`;
}
