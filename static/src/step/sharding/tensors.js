/** What the chosen device holds: its slices of tensors, and its part of flat units. */
import { useEffect } from "preact/hooks";
import { html } from "../../html.js";
import { pattern } from "../../state/look.js";
import { fetchMore, held, pinned, pointed } from "../state.js";
import { exact, scaled } from "../../units.js";
import { Problem } from "../../widgets/problem.js";
import { Scroll } from "../../widgets/scroll.js";
import { layersNow } from "./in-use.js";
import { Holders } from "./holders.js";
import { sliceText } from "./rank-sets.js";
import { chosen } from "./shown.js";

/** @param {{shards: {bytes: number}[]}[]} tensors */
export function bytesOf(tensors) {
    return tensors.reduce((sum, { shards }) => sum + shards.reduce((part, { bytes }) => part + bytes, 0), 0);
}

/** Pointing at a tensor or reaching it with Tab lights the devices that hold a part of it. @param {{tensor: any, now: boolean}} props */
function Tensor({ tensor, now }) {
    const { name, shape, dtype, shards } = tensor;
    const point = () => { pointed.value = name; };
    const leave = () => { pointed.value = ""; };
    const pin = () => { pinned.value = pinned.value === name ? "" : name; };
    /* A row that a filter takes away is left without a word from the pointer. */
    useEffect(() => () => {
        if (pointed.peek() === name) leave();
    }, [name]);
    return html`
        <tr onMouseEnter=${point} onMouseLeave=${leave}>
            <th scope="row"><button type="button" class="link" aria-pressed=${pinned.value === name}
                onClick=${pin} onFocus=${point} onBlur=${leave}><code>${name}</code></button>${now ? html` <span class="tag">in use</span>` : null}</th>
            <td class="n">${shape.join(" × ")}</td><td>${dtype}</td>
            <td><code>${shards.map((shard) => sliceText(shard.slice, shape)).join(" ")}</code></td>
            <td class="n" title="${exact(bytesOf([tensor]))} bytes">${scaled(bytesOf([tensor]), "B")}</td>
        </tr>`;
}

/** @param {{units: any[]}} props */
function Units({ units }) {
    if (units.length === 0) return null;
    return html`
        <${Scroll} label="Units table">
            <table class="figures tight" data-testid="units">
                <caption>Flat units, of which this device holds a stretch of elements</caption>
                <thead><tr><th scope="col">Unit</th><th scope="col" class="n">Elements</th><th scope="col" class="n">From</th><th scope="col" class="n">Held</th></tr></thead>
                <tbody>${units.map(({ name, pipeline, tensor, expert, elements, shards }) => html`
                    <tr key=${`${name} ${pipeline} ${tensor} ${expert}`}><th scope="row"><code>${name}</code></th><td class="n">${exact(elements)}</td>
                        <td class="n">${exact(shards[0].offset)}</td>
                        <td class="n">${exact(shards.reduce((sum, { length }) => sum + length, 0))}</td></tr>`)}
                </tbody>
            </table>
        <//>`;
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
                ${answer ? html`<span class="muted">${exact(tensors.length)}${next ? " so far" : ""}, ${scaled(bytesOf(tensors), "B")}</span>` : null}
            </div>
            ${problem ? html`<${Problem} problem=${problem} />` : null}
            ${answer && tensors.length === 0 ? html`<p class="muted">No tensor of this device is called so. <kbd>*</kbd> stands for any text.</p>` : null}
            ${tensors.length > 0 ? html`<div class="tall">
                <${Scroll} label="Tensors table">
                    <table class="figures tight">
                        <caption class="visually-hidden">Tensors of which the chosen device holds a slice</caption>
                        <thead><tr><th scope="col">Tensor</th><th scope="col" class="n">Shape</th><th scope="col">Type</th>
                            <th scope="col">Slice</th><th scope="col" class="n">Bytes</th></tr></thead>
                        <tbody>${tensors.map((tensor) => html`<${Tensor} key=${`${tensor.layer} ${tensor.pipeline} ${tensor.name}`} tensor=${tensor}
                            now=${inUse.has(tensor.layer)} />`)}</tbody>
                    </table>
                <//></div>` : null}
            <${Holders} /><${Units} units=${units} />
            ${next ? html`<p class="more"><button type="button" onClick=${fetchMore}>More</button></p>` : null}
        </div>`;
}
