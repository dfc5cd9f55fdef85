/** The sharding map: a cell for each device, the groups and tensors of the chosen one, all in words too. */
import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { at_s, axis, AXES, rank } from "../state/look.js";
import { theme } from "../state/prefs.js";
import { holders, places } from "../state/step.js";
import { requestText } from "../state/store.js";
import { exact, scaled, seconds } from "../units.js";
import { contextOf, followWidth, onceAFrame } from "./canvas.js";
import { Swatch } from "./charts.js";
import { Fold } from "./fold.js";
import { Problem } from "./problem.js";
import { Scroll } from "./scroll.js";
import { cellAt, MOST_TONES, neighbour } from "./sharding-cells.js";
import { paintCells, paintLit } from "./sharding-paint.js";
import { alike, axisFace, axisShown, cells, chosen, doing, faces, groups, lit, pointedCell, pointedGroup, ranks, sizes,
    width } from "./sharding-shown.js";
import { Tensors } from "./sharding-tensors.js";
import { kindLook } from "./timeline-kinds.js";

const AXIS_WORDS = { activity: "at the cursor", pipeline: "pipeline", tensor: "tensor", data: "data", context: "context", expert: "expert" };
const TIP_PX = 230;
const PAGE_ROWS = 64;

/** @param {number} stage */
function doingWords(stage) {
    const kind = doing.value.get(stage);
    return kind ? kindLook(kind).label.toLowerCase() : "idle";
}

/** @param {any} place */
function coordinateWords({ coordinates }) {
    return [...sizes.value.keys()].map((name) => `${name} ${coordinates[name]}`).join(", ");
}

/** @param {() => void} read @param {() => void} draw  in the next frame after what read returns has changed */
function followCells(read, draw) {
    const frame = onceAFrame(() => {
        if (cells.peek() !== null) draw();
    });
    const stop = effect(() => {
        theme();
        cells.value;
        read();
        frame.ask();
    });
    return () => {
        stop();
        frame.stop();
    };
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @param {KeyboardEvent} event */
function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || cells.value === null) return;
    const arrow = ARROWS[event.key];
    if (!arrow && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (!arrow) rank.value = -1;
    else rank.value = chosen() === null ? 0 : neighbour(cells.value, rank.value, arrow[0], arrow[1]);
}

function Tip() {
    const place = ranks.value[pointedCell.value];
    if (!place || cells.value === null) return null;
    const bytes = lit.value.bytes.get(place.rank);
    const put = (node) => {
        if (node === null) return;
        node.style.left = `${Math.max(0, Math.min(cells.value.x[pointedCell.value] + 14, width.value - TIP_PX))}px`;
        node.style.top = `${cells.value.y[pointedCell.value] + cells.value.cell + 8}px`;
    };
    return html`
        <div class="tip" ref=${put} aria-hidden="true" data-testid="map-tip">
            <b>rank ${place.rank}</b><span>node ${place.node}, device ${place.local_rank}</span>
            <span>${coordinateWords(place)}</span><span>${doingWords(place.coordinates.pipeline)}</span>
            ${bytes === undefined ? null : html`<span>${exact(bytes)} bytes of the tensor</span>`}
        </div>`;
}

function CellsPlot() {
    const box = useRef(/** @type {HTMLElement | null} */ (null));
    const base = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    const above = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    useEffect(() => {
        const sized = (canvas) => contextOf(canvas, width.peek(), cells.peek().height);
        const [below, over] = [base.current, above.current];
        const undo = [
            followWidth(box.current, (now) => { width.value = now; }),
            followCells(() => faces.value, () => paintCells(sized(below), cells.peek(), ranks.peek(), alike.peek(), faces.peek())),
            followCells(() => [lit.value, rank.value, pointedCell.value], () => paintLit(sized(over), cells.peek(), {
                lit: lit.peek(), chosen: chosen() === null ? -1 : rank.peek(), pointed: pointedCell.peek() })),
        ];
        return () => undo.forEach((each) => each());
    }, []);
    const under = (event) => {
        const at = event.currentTarget.getBoundingClientRect();
        return cells.value === null ? -1 : cellAt(cells.value, event.clientX - at.left, event.clientY - at.top);
    };
    return html`
        <div class="plot map" ref=${box} tabindex="0" role="application" aria-label="Devices" aria-describedby="map-readout"
             data-testid="map" onKeyDown=${onKey} onPointerMove=${(event) => { pointedCell.value = under(event); }}
             onPointerLeave=${() => { pointedCell.value = -1; }}
             onClick=${(event) => { rank.value = under(event); }}>
            <canvas ref=${base} data-testid="map-cells"></canvas>
            <canvas class="marks" ref=${above} data-testid="map-lit"></canvas>
            <${Tip} />
        </div>`;
}

function AxisChoice() {
    const offered = AXES.filter((name) => name === "activity" || sizes.value.has(name));
    return html`
        <div class="row-control by">
            <span id="map-by" class="muted">Colour by</span>
            <div class="chips small" role="radiogroup" aria-labelledby="map-by">${offered.map((name) => html`
                <label key=${name} class="chip">
                    <input type="radio" name="map-axis" value=${name} checked=${name === axisShown.value}
                           onChange=${() => { axis.value = name; }} /><span>${AXIS_WORDS[name]}</span>
                </label>`)}
            </div>
        </div>`;
}

/** Of the activities only those of this moment: the timeline above has all. */
function Legend() {
    const by = axisShown.value;
    const size = sizes.value.get(by);
    if (by === "activity") {
        const now = [...new Set(doing.value.values())].filter((kind) => kind !== "").map(kindLook);
        return html`
            <ul class="key" aria-label="What devices do at the cursor">${now.map(({ label, letter, tone, hatched }) => html`
                <li key=${label}><${Swatch} tone=${tone} hatched=${hatched} /><span><b>${letter}</b> ${label}</span></li>`)}
                <li>empty: idle, at ${seconds(at_s.value)}</li></ul>`;
    }
    if (size > MOST_TONES) return html`<p class="key">${by} rank 0 is the palest, ${size - 1} the strongest</p>`;
    return html`
        <ul class="key" aria-label="Ranks of the axis">${Array.from({ length: size }, (_, value) => html`
            <li key=${value}><${Swatch} tone=${axisFace(value, size).tone} />${by} ${value}</li>`)}</ul>`;
}

function Readout() {
    const place = chosen();
    const { all, same, bytes } = lit.value;
    const each = [...new Set(bytes.values())];
    const shards = bytes.size > 0 ? ` ${holders.value.name} is held by ${exact(all.length)} ${
        all.length === 1 ? "device" : "devices"}, ${exact(same.size)} with this very slice: ${
        each.slice(0, 3).map((size) => scaled(size, "B")).join(", ")} each.` : "";
    return html`
        <p class="readout" id="map-readout" role="status" data-testid="map-readout">
            ${place === null ? "Choose a device, with a click or the arrow keys, to see what it holds."
                : `Rank ${place.rank}: node ${place.node}, device ${place.local_rank}; ${coordinateWords(place)}.${shards}`}</p>`;
}

/** The groups of the chosen device; the one under the pointer or the focus is lit on the map. */
function Groups() {
    if (chosen() === null || groups.value.length === 0) return null;
    const point = (kind) => ({
        onMouseEnter: () => { pointedGroup.value = kind; }, onMouseLeave: () => { pointedGroup.value = ""; },
        onFocus: () => { pointedGroup.value = kind; }, onBlur: () => { pointedGroup.value = ""; },
    });
    return html`
        <table class="figures tight" data-testid="groups">
            <caption class="visually-hidden">Groups of the chosen device</caption>
            <thead><tr><th scope="col">Group</th><th scope="col" class="n">Devices</th><th scope="col" class="n">Groups alike</th>
                <th scope="col">Slowest link</th></tr></thead>
            <tbody>${groups.value.map((group) => html`
                <tr key=${group.kind}>
                    <th scope="row"><button type="button" class="link" ...${point(group.kind)}>${group.kind.replaceAll("_", " ")}</button></th>
                    <td class="n">${exact(group.size)}</td><td class="n">${exact(group.count)}</td>
                    <td>${(group.level ?? "–").replaceAll("_", " ")}</td>
                </tr>`)}
            </tbody>
        </table>`;
}

const firstRow = signal(0);

/** A page of devices, from a rank on. @param {{first: number}} props */
function DeviceRows({ first }) {
    const axes = [...sizes.value.keys()];
    return html`
        <${Scroll} label="Devices table">
            <table class="figures tight">
                <caption class="visually-hidden">Devices with their place in the cluster and in each group</caption>
                <thead><tr><th scope="col">Rank</th><th scope="col" class="n">Node</th><th scope="col" class="n">Device</th>
                    ${axes.map((name) => html`<th key=${name} scope="col" class="n">${name}</th>`)}<th scope="col">At the cursor</th></tr></thead>
                <tbody>${ranks.value.slice(first, first + PAGE_ROWS).map((place) => html`
                    <tr key=${place.rank}>
                        <th scope="row"><button type="button" class="link" aria-label="Choose rank ${place.rank}"
                            onClick=${() => { rank.value = place.rank; }}>${place.rank}</button></th>
                        <td class="n">${place.node}</td><td class="n">${place.local_rank}</td>
                        ${axes.map((name) => html`<td key=${name} class="n">${place.coordinates[name]}</td>`)}
                        <td>${doingWords(place.coordinates.pipeline)}</td>
                    </tr>`)}
                </tbody>
            </table>
        <//>`;
}

/** The map in words, a page of devices at a time. */
function Devices() {
    const count = ranks.value.length;
    const first = firstRow.value < count ? firstRow.value : 0;
    const turn = (by) => { firstRow.value = Math.max(0, Math.min(first + by, count - 1)); };
    return html`
        <${Fold} title="Devices" count=${exact(count)} testid="devices">${() => html`
            ${count > PAGE_ROWS ? html`
                <p class="more"><button type="button" disabled=${first === 0} onClick=${() => turn(-PAGE_ROWS)}>Before</button>
                    <button type="button" disabled=${first + PAGE_ROWS >= count} onClick=${() => turn(PAGE_ROWS)}>Next</button>
                    <span class="muted">ranks ${first} to ${Math.min(first + PAGE_ROWS, count) - 1}</span></p>` : null}
            <${DeviceRows} first=${first} />`}
        <//>`;
}

export function ShardingMap() {
    const { phase, problem, answer, of } = places.value;
    const stale = phase !== "problem" && (phase === "loading" || of !== requestText.value);
    const nodes = new Set(ranks.value.map((place) => place.node)).size;
    return html`
        <section class="panel" aria-labelledby="panel-sharding" data-testid="sharding" data-phase=${stale ? "loading" : phase}>
            <header class="panel-head">
                <h2 id="panel-sharding">Sharding map</h2>
                ${answer ? html`<p class="key">${exact(ranks.value.length)} devices on ${exact(nodes)} ${nodes === 1 ? "node" : "nodes"}</p>` : null}
            </header>
            ${problem ? html`<${Problem} problem=${problem} />` : answer === null ? html`<p class="muted">Placing the ranks…</p>` : html`
                <div class="answer" data-phase=${stale ? "loading" : "done"}>
                    <div class="map-head"><${AxisChoice} /><${Legend} /></div>
                    <${CellsPlot} /><${Readout} />
                    <div class="held"><${Groups} /><${Tensors} /></div>
                    <div class="folds"><${Devices} /></div>
                </div>`}
        </section>`;
}
