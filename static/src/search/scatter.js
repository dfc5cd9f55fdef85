/** The plans found as points: any two figures against each other, in size the accelerators, in colour a third. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { said, say } from "./ask.js";
import { readable, units } from "../state/prefs.js";
import { chosen, hovered, isPinnedRow, pinnedKeys, run, togglePin } from "./run.js";
import { exact, roundText, UNIT_BYTES } from "../units.js";
import { wordsOf } from "../words.js";
import { followWidth } from "../widgets/canvas.js";
import { onKeys, spotOf, within } from "../widgets/hand.js";
import { Check } from "../widgets/check.js";
import { Export } from "../widgets/export.js";
import { Options } from "../widgets/options.js";
import { Panel } from "../widgets/panel.js";
import { Help } from "../widgets/words.js";
import { isMatching, keptLast } from "./axes.js";
import { Best } from "./best.js";
import { Brush, onDown, onMove, onUp, release, wasBrushed } from "./brush.js";
import { Chosen } from "./chosen.js";
import { plansData } from "./exported.js";
import { dimensionLabel, dimensionValue, FIGURE_BY_NAME, nameOfRow, sureOf, titleOf, written } from "./figures.js";
import { nearestTo, roundTicks } from "./scales.js";
import { Tip } from "../widgets/tip.js";
import { across, colouredBy, colours, EDGES, edgePath, HEIGHT_PX, known, legend, OWN, place, planOf, pointByKey, points, scales, spokenOf, upwards,
    width } from "./shown.js";

/** A pointer this near to a point means it. */
const REACH_PX = 24;
const TICK_PX = 90;

/** @param {import("./figures.js").Figure} figure */
function unitOf(figure) {
    return figure.name.endsWith("_bytes") ? UNIT_BYTES[units.value] : 1;
}

function Axes() {
    const { left, top, inner } = place.value;
    const floor = EDGES.top + inner.height;
    const wanted = Math.max(2, Math.floor(inner.width / TICK_PX));
    return html`
        ${roundTicks(scales.value.x, wanted, unitOf(across.value)).map((value) => html`
            <g key=${`x${value}`}><line class="grid" x1=${left(value)} x2=${left(value)} y1=${EDGES.top} y2=${floor} />
                <text class="tick" x=${left(value)} y=${floor + 16} text-anchor="middle">${roundText(across.value.write(value))}</text></g>`)}
        ${roundTicks(scales.value.y, 5, unitOf(upwards.value)).map((value) => html`
            <g key=${`y${value}`}><line class="grid" x1=${EDGES.left} x2=${EDGES.left + inner.width} y1=${top(value)} y2=${top(value)} />
                <text class="tick" x=${EDGES.left - 6} y=${top(value) + 4} text-anchor="end">${roundText(upwards.value.write(value))}</text></g>`)}
        ${across.value.name === "headroom_bytes" && scales.value.x.from < 0 ? html`
            <line class="usable" x1=${left(0)} x2=${left(0)} y1=${EDGES.top} y2=${floor} />` : null}
        <text class="axis" x=${EDGES.left + inner.width} y=${HEIGHT_PX - 8} text-anchor="end">${titleOf(across.value)} →</text>
        <text class="axis" x="4" y="10">↑ ${titleOf(upwards.value)}</text>`;
}

/** @param {Pick<import("./shown.js").Point, "row">} point */
const isNarrow = ({ row }) => row?.plan.fits_certain === false;

/** @param {import("./shown.js").Point} point */
function shapeOf({ key, left, top, radius, tone, row }) {
    const [x, y] = [left.toFixed(1), top.toFixed(1)];
    if (row === null) return html`<path key=${key} class="rejected" d="M${left - 4} ${top - 4}l8 8m0-8l-8 8" />`;
    const look = !isMatching.value(key) ? "off" : row.front ? "" : "behind";
    return html`<circle key=${key} cx=${x} cy=${y} r=${radius.toFixed(1)} class="bar tone-${tone} ${look} ${isNarrow({ row }) ? "narrow" : ""}" />`;
}

/** @param {{point: import("./shown.js").Point}} props */
function Winner({ point: { left, top, radius } }) {
    const beneath = top < 2 * EDGES.top + radius;
    return html`
        <circle class="winner" cx=${left} cy=${top} r=${radius + 4} />
        <text class="winner-name" x=${left} y=${beneath ? top + radius + 18 : top - radius - 8} text-anchor="middle">best</text>`;
}

function Points() {
    const best = points.value.find(({ row }) => row?.rank === 1);
    const own = pointByKey.value.get(OWN);
    return html`
        <path class="edge" d=${edgePath.value} />
        ${keptLast(points.value).filter(({ key }) => key !== OWN).map(shapeOf)}
        ${own ? html`<path class="own" d="M${own.left} ${own.top - 7}l7 7l-7 7l-7 -7z" />` : null}
        ${best ? html`<${Winner} point=${best} />` : null}`;
}

/** Rings about what the reader means; the points beneath are not drawn again for it. */
function Marks() {
    /** @param {string} key @param {string} name */
    const ring = (key, name) => {
        const point = pointByKey.value.get(key);
        return point ? html`<circle key=${name + key} class="ring ${name}" cx=${point.left} cy=${point.top} r=${point.radius + 3} />` : null;
    };
    return html`${pinnedKeys.value.map((key) => ring(key, "pinned"))}${ring(chosen.value, "chosen")}${ring(hovered.value, "hovered")}`;
}

/** @param {import("./shown.js").Point} point */
function factsOf(point) {
    const plan = planOf(point);
    const named = ["accelerators", colouredBy.value].map((name) => FIGURE_BY_NAME.get(name));
    const figures = [...new Set([upwards.value, across.value, ...named])];
    const sure = point.rejected ? null : sureOf(plan);
    return [...figures.filter((figure) => figure && typeof figure.read(plan) === "number")
        .map((figure) => `${dimensionLabel(figure.name)} ${written(figure, plan)}`), ...(sure ? [sure[2]] : [])].join(", ");
}

/** @param {import("./shown.js").Point} point */
function nameOf({ row, rejected }) {
    if (row === null && rejected === null) return "The planner's own plan";
    if (row === null) return `No answer: ${readable(rejected.sentence ?? wordsOf(rejected.reason))}`;
    const name = nameOfRow(row);
    return name[0].toUpperCase() + name.slice(1);
}

function Pointed() {
    const point = pointByKey.value.get(hovered.value);
    return point && html`
        <${Tip} left=${point.left + 12} top=${point.top + 16} width=${width.value} testid="scatter-tip"><b>${nameOf(point)}</b><span>${factsOf(point)}</span><//>`;
}

function Readout() {
    const point = spokenOf.value;
    const note = point?.row?.plan.simulation_note;
    return html`
        <p class="readout" role="status" data-testid="scatter-readout">${point === null ? html`<span class="hand">No plan is chosen.</span>`
            : html`<b>${nameOf(point)}</b> ${factsOf(point)}${point.row?.front ? ", no other is better in everything" : ""}${
                isPinnedRow(point.key) ? ", pinned" : ""}${note ? `. Not simulated: ${readable(note)}` : ""}`}</p>`;
}

/** @param {(point: import("./shown.js").Point) => number} read @param {1 | -1} direction */
function step(read, direction) {
    const order = [...points.value].sort((a, b) => direction * (read(a) - read(b)));
    const now = order.findIndex(({ key }) => key === chosen.value);
    const next = order[Math.min(now + 1, order.length - 1)];
    if (next) chosen.value = next.key;
}

/** @param {import("./shown.js").Point} point */
const byLeft = ({ left }) => left;
/** @param {import("./shown.js").Point} point */
const byTop = ({ top }) => top;

const onKey = onKeys({
    ArrowRight: () => step(byLeft, 1),
    ArrowLeft: () => step(byLeft, -1),
    ArrowDown: () => step(byTop, 1),
    ArrowUp: () => step(byTop, -1),
    Home: () => { chosen.value = points.value[0]?.key ?? ""; },
    End: () => { chosen.value = points.value.at(-1)?.key ?? ""; },
    p: () => { if (pointByKey.value.get(chosen.value)?.row) togglePin(chosen.value); },
    Escape: () => { chosen.value = ""; },
    Backspace: release,
});

/** @param {PointerEvent} event */
function pointed(event) {
    const { x, y } = spotOf(event);
    return points.value[nearestTo(points.value, x, y, REACH_PX)]?.key ?? "";
}

function Plot() {
    const box = useRef(/** @type {HTMLElement | null} */ (null));
    useLayoutEffect(() => followWidth(box.current, (now) => { width.value = now; }), []);
    const drawn = width.value > 0 && scales.value !== null;
    return html`
        <div class="plot" ref=${box} tabindex="0" role="application" aria-label="Scatter of plans" aria-describedby="scatter-keys"
             data-testid="scatter" onKeyDown=${onKey} onClick=${(event) => { if (!wasBrushed()) chosen.value = pointed(event); }}
             onPointerDown=${onDown} onPointerUp=${onUp} onPointerCancel=${onUp}
             onPointerMove=${(event) => { hovered.value = onMove(event) ? "" : pointed(event); }} onPointerLeave=${() => { hovered.value = ""; }}>
            <svg width=${width.value} height=${HEIGHT_PX} aria-hidden="true" focusable="false">
                ${drawn ? html`<${Axes} /><${Brush} /><${Points} /><${Marks} />` : null}
            </svg>
            <${Pointed} />
        </div>`;
}

/** @param {{name: string, label: string, items: [string, string][], now: string}} props */
function Pick({ name, label, items, now }) {
    return html`
        <label>${label} <select onChange=${(event) => say({ [name]: event.currentTarget.value })}><${Options} items=${items} now=${now} /></select></label>`;
}

/** @param {{children?: any}} props */
function Mark({ children }) {
    return html`<svg width="14" height="14" aria-hidden="true" focusable="false">${children}</svg>`;
}

function Legend() {
    const name = colouredBy.value;
    const figure = FIGURE_BY_NAME.get(name);
    /** @param {any} value */
    const words = (value) => (figure ? figure.write(value) : dimensionValue(name, value));
    return html`
        <ul class="key" aria-label="Colours">${legend.value.map(({ tone, value }) => html`
            <li key=${String(value)}><${Mark}><circle cx="7" cy="7" r="5" class="bar tone-${tone}" /><//>${words(value)}</li>`)}
            ${points.value.some(isNarrow) ? html`<li><${Mark}><circle cx="7" cy="7" r="5" class="bar tone-grey narrow" /><//>fits narrowly</li>` : null}
            <li><${Mark}><path class="own" d="M7 1l6 6l-6 6l-6 -6z" /><//>the planner's own</li>
            <li><${Mark}><path class="rejected" d="M3 3l8 8m0-8l-8 8" /><//><${Help} of="rejected" /></li>
        </ul>`;
}

export function Scatter() {
    const figures = known.value.map((figure) => [figure.name, titleOf(figure)]);
    const more = (run.value.found?.answer.rejected ?? []).some(({ nearest }) => nearest);
    return html`
        <${Panel} title="What there is to choose from" id="choice" head=${html`
            <p class="key">${exact(points.value.filter(({ row }) => row?.front).length)} <${Help} of="front" /></p>
            <${Export} name="plans" title="What there is to choose from" data=${plansData} />`}>
            <${Best} />
            <div class="picks">
                <${Pick} name="y" label="Up" items=${figures} now=${upwards.value.name} />
                <${Pick} name="x" label="Across" items=${figures} now=${across.value.name} />
                <${Pick} name="colour" label="Colour" items=${colours.value} now=${colouredBy.value} />
                ${more ? html`<${Check} on=${said("rejected") !== "0"} set=${(on) => say({ rejected: on ? "" : "0" })}><${Help} of="show_rejected" /><//>` : null}
            </div>
            <${Legend} /><${Plot} /><${Readout} /><${Chosen} />
            <p class="hint muted" id="scatter-keys"><${Help} of="scatter" /></p>
        <//>`;
}
