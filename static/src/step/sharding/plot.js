/** The drawing of the map: its canvases, pointer and keys, and what is said of the device under the pointer. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../../html.js";
import { node, rank } from "../../state/look.js";
import { exact } from "../../units.js";
import { contextOf, drawAfter, followWidth } from "../../widgets/canvas.js";
import { cellAt, neighbour } from "./cells.js";
import { moves } from "./moving.js";
import { paintCells, paintLit } from "./paint.js";
import { alike, cells, chosen, faces, fillWords, lit, nodeShown, pointedCell, ranks, width } from "./shown.js";
import { coordinateWords, doingWords } from "./words.js";
import { Tip } from "../../widgets/tip.js";


/** @param {() => void} read @param {() => void} draw  after what read returns has changed */
function followCells(read, draw) {
    return drawAfter(() => [cells.value, read()], () => {
        if (cells.peek() !== null) draw();
    });
}

/** To the node of the chosen device, and back. */
function turnLevel() {
    node.value = nodeShown.value >= 0 ? -1 : chosen()?.node ?? -1;
}

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @param {KeyboardEvent} event */
function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || cells.value === null) return;
    const arrow = ARROWS[event.key];
    if (!arrow && event.key !== "Escape" && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") turnLevel();
    else if (event.key === "Escape" && nodeShown.value >= 0) node.value = -1;
    else if (!arrow) rank.value = -1;
    else rank.value = chosen() === null ? ranks.value.findIndex((_, at) => cells.value.x[at] >= 0) : neighbour(cells.value, rank.value, arrow[0], arrow[1]);
}

function Pointed() {
    const place = ranks.value[pointedCell.value];
    if (!place || cells.value === null) return null;
    const bytes = lit.value.bytes.get(place.rank);
    const { x, y, cell } = cells.value;
    return html`
        <${Tip} left=${x[pointedCell.value] + 14} top=${y[pointedCell.value] + cell + 8} width=${width.value} testid="map-tip">
            <b>rank ${place.rank}</b><span>node ${place.node}, device ${place.local_rank}</span>
            <span>${coordinateWords(place)}</span><span>${doingWords(place.coordinates.pipeline)}</span>
            ${fillWords(place) === "" ? null : html`<span>${fillWords(place)} of the usable memory</span>`}
            ${bytes === undefined ? null : html`
                <span>${exact(bytes)} bytes of the tensor:${lit.value.slices.get(place.rank)}</span>`}
        <//>`;
}

export function CellsPlot() {
    const box = useRef(/** @type {HTMLElement | null} */ (null));
    const base = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    const above = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    useLayoutEffect(() => {
        /** @param {HTMLCanvasElement} canvas */
        const sized = (canvas) => contextOf(canvas, width.peek(), cells.peek().height);
        const [below, over] = [base.current, above.current];
        const undo = [
            followWidth(box.current, (now) => { width.value = now; }),
            followCells(() => faces.value, () => paintCells(sized(below), cells.peek(), ranks.peek(), alike.peek(), faces.peek())),
            followCells(() => [lit.value, rank.value, pointedCell.value, moves.value], () => paintLit(sized(over), cells.peek(), {
                lit: lit.peek(), moves: moves.peek(), chosen: chosen() === null ? -1 : rank.peek(), pointed: pointedCell.peek() })),
        ];
        return () => undo.forEach((each) => each());
    }, []);
    /** @param {PointerEvent & {currentTarget: Element}} event */
    const under = (event) => {
        const at = event.currentTarget.getBoundingClientRect();
        return cells.value === null ? -1 : cellAt(cells.value, event.clientX - at.left, event.clientY - at.top);
    };
    return html`
        <div class="plot map" ref=${box} tabindex="0" role="application" aria-label="Devices" aria-describedby="map-readout"
             data-testid="map" onKeyDown=${onKey} onPointerMove=${(event) => { pointedCell.value = under(event); }}
             onPointerLeave=${() => { pointedCell.value = -1; }}
             onClick=${(event) => { rank.value = under(event); }} onDblClick=${turnLevel}>
            <canvas ref=${base} data-testid="map-cells"></canvas>
            <canvas class="marks" ref=${above} data-testid="map-lit"></canvas>
            <${Pointed} />
        </div>`;
}
