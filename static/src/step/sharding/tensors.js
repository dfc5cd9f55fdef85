/** What the chosen device holds: its slices of tensors, and its part of flat units. */
import { html } from "../../html.js";
import { pattern } from "../../state/look.js";
import { fetchMore, held, pinned, pointed } from "../state.js";
import { exact, shapeText } from "../../units.js";
import { memorySize } from "../../state/prefs.js";
import { Name } from "../../widgets/name.js";
import { Problem } from "../../widgets/problem.js";
import { ShardBytes } from "../../widgets/shard-bytes.js";
import { Plain } from "../../widgets/plain.js";
import { Help } from "../../widgets/words.js";
import { layersNow } from "./in-use.js";
import { names } from "../timeline/kinds.js";
import { Holders } from "./holders.js";
import { sliceText } from "./rank-sets.js";
import { chosen } from "./shown.js";

/** @param {{shards: {bytes: number}[]}[]} tensors */
export function bytesOf(tensors) {
    return tensors.flatMap(({ shards }) => shards).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Elements of a flat unit. @param {{length: number}[]} shards */
export const heldOf = (shards) => shards.reduce((sum, { length }) => sum + length, 0);

/** Pointing at a tensor or reaching it with Tab lights the devices that hold a part of it. @param {string} name */
export const pointing = (name) => ({ onMouseEnter: () => { pointed.value = name; }, onMouseLeave: () => { pointed.value = ""; } });

/** @param {Api.ShardedTensor} tensor @param {boolean} now */
function cellsOf({ name, shape, dtype, shards }, now) {
    const { onMouseEnter, onMouseLeave } = pointing(name);
    return [html`<button type="button" class="link" aria-pressed=${pinned.value === name} onFocus=${onMouseEnter} onBlur=${onMouseLeave}
        onClick=${() => { pinned.value = pinned.value === name ? "" : name; }}><${Name} of=${name} /></button>${now && html` <span class="tag">in use</span>`}`,
    shapeText(shape), dtype, html`<code>${shards.map((shard) => sliceText(shard.slice, shape)).join(" ")}</code>`,
    html`<${ShardBytes} name=${name} shards=${shards} />`];
}

/** @param {{units: Api.FlatUnit[]}} props */
function Units({ units }) {
    const caption = names.says.units;
    return units.length === 0 ? null : html`
        <${Plain} tight label=${caption} caption=${caption} testid="units" columns=${["Unit", "#Elements", "#From", "#Held"]}
            rows=${units.map(({ name, elements, shards }) => [html`<${Name} of=${name} />`, exact(elements), exact(shards[0].offset),
                exact(heldOf(shards))])} />`;
}

export function Tensors() {
    const { phase, problem, answer } = held.value;
    if (chosen() === null) return null;
    const inUse = layersNow(chosen());
    const { tensors = [], units = [], next_cursor: next = null } = answer ?? {};
    return html`
        <div class="tensors" data-testid="tensors" data-phase=${phase} aria-busy=${phase === "loading"}>
            <div class="split">
                <label class="filter">Tensors <input type="text" spellcheck="false" autocomplete="off" value=${pattern.value}
                    placeholder="layers.12.*.q_proj*" onInput=${(event) => { pattern.value = event.currentTarget.value; }} /></label>
                ${answer && html`<span class="muted">${exact(tensors.length)} tensors${next ? " so far" : ""}, ${memorySize(bytesOf(tensors))}</span>`}
            </div>
            ${problem && html`<${Problem} problem=${problem} />`}
            ${answer && tensors.length === 0 ? html`<p class="muted"><${Help} of="no_tensor" /></p>` : null}
            ${tensors.length > 0 ? html`<div class="tall">
                <${Plain} tight cards label=${names.says.tensors} columns=${["Tensor", "#Shape", "In files", "Slice", "#Bytes"]}
                    more=${(at) => pointing(tensors[at].name)} rows=${tensors.map((tensor) => cellsOf(tensor, inUse.has(tensor.layer)))} /></div>` : null}
            <${Holders} /><${Units} units=${units} />
            ${next && html`<p class="more"><button type="button" onClick=${fetchMore}>More</button></p>`}
        </div>`;
}
