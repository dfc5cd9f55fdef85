/**
 * What one device sends in a step: who asks for it on the left, what carries it on the right. A band
 * is as high as its bytes; the part of it that nothing hides is solid, the rest is hatched. The table
 * beneath says the same.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../html.js";
import { estimated } from "../../state/store.js";
import { scaled, seconds } from "../../units.js";
import { wordsOf } from "../../words.js";
import { followWidth } from "../../widgets/canvas.js";
import { Swatch } from "../../widgets/charts.js";
import { Num } from "../../widgets/explain.js";
import { Plain } from "../../widgets/plain.js";
import { unitOf } from "../../widgets/values.js";
import { layOut, sourceOf } from "./layout.js";
import { known } from "../../widgets/words.js";

const GAP_PX = 26;
const PER_NODE_PX = 50;
const NODE_PX = 8;

/** Room for the names on both sides. */
const LEFT_PX = 128;
const RIGHT_PX = 70;
const LINE_PX = 12;

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {number} height */
function ribbon(x1, y1, x2, y2, height) {
    const middle = (x1 + x2) / 2;
    /** @param {boolean} a @param {string} from @param {number} b @param {string} to */
    const curve = (a, from, b, to) => `${a ? "L" : "M"}${from} C${middle},${from.split(",")[1]} ${middle},${to.split(",")[1]} ${to}`;
    return `${curve(false, `${x1},${y1}`, 0, `${x2},${y2}`)} ${curve(true, `${x2},${y2 + height}`, 0, `${x1},${y1 + height}`)} Z`;
}

/** @param {{band: import("./layout.js").Band, width: number}} props */
function Band({ band, width }) {
    const { item, exposed } = band;
    const shown = band.height * exposed;
    const [x1, x2] = [LEFT_PX + NODE_PX, width - RIGHT_PX - NODE_PX];
    return html`
        <g data-bytes=${item.bytes_per_step} data-exposed=${exposed}>
            <title>${sourceOf(item)} over ${wordsOf(item.level)}: ${scaled(item.bytes_per_step, "B")} a step, ${seconds(item.seconds)}, ${seconds(item.exposed_s)} exposed</title>
            <path class="band hidden-part" d=${ribbon(x1, band.left + shown, x2, band.right + shown, band.height - shown)} />
            <path class="band exposed-part" d=${ribbon(x1, band.left, x2, band.right, shown)} />
        </g>`;
}

/** One end of bands with its name and bytes. @param {{node: import("./layout.js").Node, bar: number, text: number, anchor: string}} props */
function End({ node, bar, text, anchor }) {
    const middle = node.top + node.height / 2;
    return html`
        <g><rect class="bar tone-ink" x=${bar} y=${node.top} width=${NODE_PX} height=${node.height} />
            <text class="tick" x=${text} y=${middle - 1} text-anchor=${anchor}>${wordsOf(node.name)}</text>
            <text class="tick" x=${text} y=${middle + LINE_PX - 1} text-anchor=${anchor}>${scaled(node.bytes, "B")}</text></g>`;
}

/** @param {{items: Api.Communication[]}} props */
function Picture({ items }) {
    const frame = useRef(/** @type {HTMLElement | null} */ (null));
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => followWidth(frame.current, setWidth), []);
    const names = new Set(items.map(sourceOf)).size;
    const height = Math.max(2, names) * PER_NODE_PX;
    const { left, right, bands } = layOut(items, height, GAP_PX);
    return html`
        <div class="traffic" ref=${frame}>
            <svg width="100%" height=${height + 2 * LINE_PX} viewBox=${width > 0 ? `0 ${-LINE_PX} ${width} ${height + 2 * LINE_PX}` : null} role="img" aria-label=${known("help", "traffic")}>
                ${width > 0 ? bands.map((band) => html`<${Band} key=${band.from + band.to} band=${band} width=${width} />`) : null}
                ${[...left.values()].map((node) => html`
                    <${End} key=${node.name} node=${node} bar=${LEFT_PX} text=${LEFT_PX - 6} anchor="end" />`)}
                ${width > 0 ? [...right.values()].map((node) => html`
                    <${End} key=${node.name} node=${node} bar=${width - RIGHT_PX - NODE_PX} text=${width - RIGHT_PX + 6} anchor="start" />`) : null}
            </svg>
        </div>
        <ul class="key"><li><${Swatch} tone="vermillion" />exposed: nothing hides it</li><li><${Swatch} tone="sky" hatched />hidden under computing</li></ul>`;
}

export function Traffic() {
    const { communication: items = [] } = estimated.value ?? {};
    /** @param {Api.Communication} item @param {"bytes_per_step" | "seconds" | "exposed_s"} of @param {string} title @param {(value: number) => string} write */
    const figure = (item, of, title, write) => html`<${Num} title="${title}, ${sourceOf(item)}" text=${write(item[of])} value=${item[of]} unit=${unitOf(of)}
        about=${{ ...item.explain[of], parts: item.explain }} />`;
    return html`
        <${Picture} items=${items} />
        <${Plain} tight label=${known("help", "collectives")} columns=${["Collective", "Level", "#Bytes per step", "#Time", "#Exposed"]}
            rows=${items.map((item) => [sourceOf(item), wordsOf(item.level),
                figure(item, "bytes_per_step", "Bytes per step", (value) => scaled(value, "B")), figure(item, "seconds", "Time", seconds),
                figure(item, "exposed_s", "Exposed", seconds)])} />`;
}
