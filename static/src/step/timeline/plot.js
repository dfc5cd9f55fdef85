/** The drawing of a timeline: its canvases, the mini-map, and what is said of the span under the pointer. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { html } from "../../html.js";
import { at_s, marks_s, selected_s } from "../../state/look.js";
import { theme, units } from "../../state/prefs.js";
import { exact } from "../../units.js";
import { wordsOf } from "../../words.js";
import { keptWords } from "../bytes.js";
import { contextOf, drawAfter, followWidth } from "../../widgets/canvas.js";
import { detailRows, far, operators } from "./detail.js";
import { handsOn } from "./hands.js";
import { kindLook, laneWords, names } from "./kinds.js";
import { timeOf } from "./layout.js";
import { anyMark, miniPicture, paintMarks, paintMini } from "./marks.js";
import { paintScene } from "./paint.js";
import { hovered, lastEnd_s, layout, other, otherLayout, setView, shown, stageShown, viewNow, width } from "./shown.js";
import { Tip } from "../../widgets/tip.js";

const MINI_PX = 38;

/** @typedef {{of: typeof shown, layout: typeof layout, main: boolean}} Drawing */

/** @type {Drawing} */
export const MAIN = { of: shown, layout, main: true };

/** @type {Drawing} */
export const BESIDE = { of: other, layout: otherLayout, main: false };

/** @param {Drawing} drawing */
function sceneOf({ of, layout: placed, main }) {
    return {
        timeline: of.value, layout: placed.value, view: viewNow(), end_s: lastEnd_s.value, stage: stageShown.value,
        unit: units.value, theme: theme(), details: main ? detailRows.value : [], operators: operators.value, far: far.value, kept: keptWords.value,
    };
}

/**
 * Calls draw with the scene, in the next frame after anything that read returns or the scene holds
 * has changed.
 * @param {Drawing} drawing @param {() => any} read @param {(scene: any, marks: any) => void} draw
 */
function followScene(drawing, read, draw) {
    return drawAfter(() => [sceneOf(drawing), read()], () => {
        if (drawing.layout.peek() !== null) draw(sceneOf(drawing), read());
    });
}

/** What a span is about, after the name of its kind. @param {import("./rows.js").Row} row @param {number} span */
export function workWords(row, span) {
    const microbatch = row.microbatch[span] < 0 ? "" : ` of micro-batch ${row.microbatch[span]}`;
    const chunk = row.chunk[span] < 0 || shown.value.chunks === 1 ? "" : `, chunk ${row.chunk[span]}`;
    return `${microbatch}${chunk}${row.layer[span] < 0 ? "" : `, layer ${row.layer[span]}`}`;
}

/** @param {import("./rows.js").Row} row @param {number} span */
function partWords(row, span) {
    if (row.step[span] >= 0) return `, step ${row.step[span]} of the ring`;
    if (!row.detailed) return "";
    return row.operator[span] < 0 ? names.says.beyond : `: ${wordsOf(operators.value[row.operator[span]])}`;
}

/** The span under the pointer, with every digit. The tables say the same to those who do not point. @param {Drawing} props */
function Pointed({ of, main }) {
    if (hovered.value === null || of.value === null) return null;
    const { row, span, x, y } = hovered.value;
    if (!of.value.rows.includes(row) && !(main && detailRows.value.includes(row))) return null;
    const { label } = kindLook(of.value.kinds[row.kind[span]]);
    const length_s = row.end_s[span] - row.start_s[span];
    return html`
        <${Tip} left=${x + 12} top=${y + 18} width=${width.value} testid="tip">
            <b>${label}${partWords(row, span)}${workWords(row, span)}</b>
            <span>stage ${row.stage}, ${laneWords(row)}, rank ${row.rank}</span>
            <span>${exact(length_s)} s, from ${exact(row.start_s[span])} to ${exact(row.end_s[span])} s</span>
        <//>`;
}

/** Drags and clicks move the view to where the pointer is. */
export function Mini() {
    const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    useLayoutEffect(() => {
        const node = canvas.current;
        /** @type {{key: any[], picture: HTMLCanvasElement | null}} */
        let made = { key: [], picture: null };
        return followScene(MAIN, () => null, (scene) => {
            const key = [scene.timeline, scene.theme, scene.layout.width, scene.end_s];
            if (key.some((part, at) => part !== made.key[at])) made = { key, picture: miniPicture(scene, MINI_PX) };
            paintMini(contextOf(node, scene.layout.width, MINI_PX, "panel"), scene, made.picture, MINI_PX);
        });
    }, []);
    /** @param {PointerEvent & {currentTarget: Element}} event */
    const move = (event) => {
        if (event.buttons !== 1 || layout.value === null) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const end_s = lastEnd_s.value;
        const length_s = viewNow()[1] - viewNow()[0];
        const middle_s = timeOf(layout.value, [0, end_s], event.clientX - event.currentTarget.getBoundingClientRect().left);
        const from_s = Math.max(0, Math.min(end_s - length_s, middle_s - length_s / 2));
        setView([from_s, from_s + length_s]);
    };
    return html`<canvas class="mini" ref=${canvas} aria-hidden="true" onPointerDown=${move} onPointerMove=${move}
        data-testid="timeline-mini"></canvas>`;
}

/**
 * Two canvases: what only the view changes, and above it what moves with pointer and cursor.
 * @param {{drawing: Drawing, name: string, testid: string}} props
 */
export function Plot({ drawing, name, testid }) {
    const box = useRef(/** @type {HTMLElement | null} */ (null));
    const lanes = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    const marks = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    const hands = useMemo(() => handsOn(drawing.layout), []);
    useLayoutEffect(() => {
        /** @param {HTMLCanvasElement} canvas @param {import("./paint.js").Scene} scene @param {string} [ground] */
        const sized = (canvas, scene, ground) => contextOf(canvas, scene.layout.width, scene.layout.height, ground);
        const [below, above] = [lanes.current, marks.current];
        const undo = [
            followWidth(box.current, (now) => { width.value = now; }),
            followScene(drawing, () => null, (scene) => paintScene(sized(below, scene, "panel"), scene)),
            followScene(drawing, () => ({ at_s: at_s.value, selected: selected_s.value, hovered: hovered.value, marks_s: marks_s.value }),
                (scene, now) => {
                    const any = anyMark(scene, now);
                    above.style.visibility = any ? "" : "hidden";
                    if (any) paintMarks(sized(above, scene), scene, now);
                }),
        ];
        return () => undo.forEach((each) => each());
    }, []);
    return html`
        <div class="plot" ref=${box} tabindex="0" role="application" aria-label=${name} aria-describedby="timeline-keys"
             ...${hands} data-testid="${testid}-plot">
            <canvas ref=${lanes} data-testid="${testid}-lanes"></canvas>
            <canvas class="marks" ref=${marks} data-testid="${testid}-marks"></canvas>
            <${Pointed} ...${drawing} />
        </div>`;
}
