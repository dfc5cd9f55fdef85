/** The last level of the map: the tensors that the chosen device holds, as areas. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../../html.js";
import { storedSize, theme } from "../../state/prefs.js";
import { exact } from "../../units.js";
import { followWidth, inkOn } from "../../widgets/canvas.js";
import { Help } from "../../widgets/words.js";
import { held, pointed } from "../state.js";
import { axisFace, chosen, faceColour } from "./shown.js";
import { layersNow } from "./in-use.js";
import { bytesOf, heldOf, pointing } from "./tensors.js";
import { treemap } from "./treemap.js";

const HEIGHT_PX = 150;
const TEXT_PX = 44;
const CHAR_PX = 6.2;

const width = signal(0);

/** @typedef {{name: string, layer: number, size: number, words: (size: number) => string}} Area */

/** Tensors by bytes; where the device holds flat units alone, those by elements. @param {Api.Sharding} answer @returns {Area[]} */
function areasOf({ tensors, units }) {
    const list = tensors.length > 0
        ? tensors.map(({ name, layer, shards }) => ({ name, layer, size: bytesOf([{ shards }]), words: storedSize }))
        : units.map(({ name, layer, shards }) => ({ name, layer, size: heldOf(shards), words: (/** @type {number} */ of) => `${exact(of)} elements` }));
    return list.filter(({ size }) => size > 0).sort((a, b) => b.size - a.size);
}

/** The end of a name says most. @param {string} name @param {number} room */
function shortName(name, room) {
    const parts = name.split(".").filter((part) => part !== "weight");
    const text = parts.at(-1) ?? name;
    return text.length * CHAR_PX <= room - 6 ? text : "";
}

/** @param {{area: Area, box: import("./treemap.js").Box, layers: number, now: boolean}} props */
function Area({ area, box, layers, now }) {
    const fill = faceColour(axisFace(area.layer, Math.max(9, layers)));
    const text = box.height > 14 && box.width > TEXT_PX ? shortName(area.name, box.width) : "";
    return html`
        <g ...${pointing(area.name)}>
            <rect class="area" data-now=${now} data-lit=${pointed.value === area.name} x=${box.x} y=${box.y} fill=${fill}
                  width=${Math.max(0.5, box.width - 1)} height=${Math.max(0.5, box.height - 1)}>
                <title>${area.name}, layer ${area.layer}: ${area.words(area.size)}${now ? ", in use at the cursor" : ""}</title></rect>
            ${text === "" ? null : html`<text x=${box.x + 4} y=${box.y + Math.min(box.height / 2 + 4, 14)} fill=${inkOn(fill)}>${text}</text>`}
        </g>`;
}

/** Shaded by layer; the table beside it says the same. */
export function Areas() {
    const region = useRef(/** @type {HTMLElement | null} */ (null));
    useLayoutEffect(() => followWidth(region.current, (now) => { width.value = now; }), []);
    theme(); /* the fills are of the theme */
    const areas = held.value.answer === null ? [] : areasOf(held.value.answer);
    const boxes = areas.length > 0 && width.value > 0 ? treemap(areas.map(({ size }) => size), width.value, HEIGHT_PX) : [];
    const layers = 1 + areas.reduce((most, { layer }) => Math.max(most, layer), 0);
    const now = layersNow(chosen());
    const part = held.value.answer?.next_cursor ? ", as far as they are listed" : "";
    return html`
        <div class="areas" ref=${region}>${boxes.length === 0 ? null : html`
            <p class="muted">What the device holds, by size${part}; shaded by layer${
                areas.some(({ layer }) => now.has(layer)) ? html`<${Help} of="outlined" />` : html`<span class="hand"><${Help} of="unlined" /></span>`}.</p>
            <svg width=${width.value} height=${HEIGHT_PX} role="img" data-testid="areas"
                 aria-label="Tensors of the device by size, ${areas.length} of them; the table below lists them">
                ${boxes.map((box, at) => html`<${Area} key=${`${areas[at].name} ${areas[at].layer} ${at}`} area=${areas[at]} box=${box}
                    layers=${layers} now=${now.has(areas[at].layer)} />`)}
            </svg>`}</div>`;
}
