/** The timeline of one step: lanes over time, the memory below, the cursor, and the same in words. */
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { PACES_S, pace_s, pause, play, playing } from "../state/cursor.js";
import { at_s, view_s } from "../state/look.js";
import { theme, units } from "../state/prefs.js";
import { timeline } from "../state/step.js";
import { requestText } from "../state/store.js";
import { exact, gigabytes, seconds } from "../units.js";
import { contextOf, followWidth, onceAFrame } from "./canvas.js";
import { Swatch } from "./charts.js";
import { Problem } from "./problem.js";
import { attach, onKey } from "./timeline-hands.js";
import { kindLook, laneWords } from "./timeline-kinds.js";
import { timeOf } from "./timeline-layout.js";
import { miniPicture, paintMarks, paintMini, paintScene } from "./timeline-paint.js";
import { bytesAt, spanAt } from "./timeline-rows.js";
import { allLanes, computingRow, hovered, layout, moveCursor, selected_s, setView, shown, stageShown, viewNow,
    width } from "./timeline-shown.js";
import { Selected, Tables } from "./timeline-tables.js";

const MINI_PX = 34;
const TIP_PX = 260;

/**
 * Calls draw with the scene, in the next frame after anything that read returns or the scene holds
 * has changed.
 * @param {() => any} read @param {(scene: any, marks: any) => void} draw
 */
function followScene(read, draw) {
    const now = () => ({
        timeline: shown.value, layout: layout.value, view: viewNow(), stage: stageShown.value, unit: units.value,
        theme: theme(),
    });
    const frame = onceAFrame(() => {
        if (layout.peek() !== null) draw(now(), read());
    });
    const stop = effect(() => {
        now();
        read();
        frame.ask();
    });
    return () => {
        stop();
        frame.stop();
    };
}

/** @param {import("./timeline-rows.js").Row} row @param {number} span */
function workWords(row, span) {
    const microbatch = row.microbatch[span] < 0 ? "" : ` of micro-batch ${row.microbatch[span]}`;
    const chunk = row.chunk[span] < 0 || shown.value.chunks === 1 ? "" : `, chunk ${row.chunk[span]}`;
    return `${microbatch}${chunk}${row.layer[span] < 0 ? "" : `, layer ${row.layer[span]}`}`;
}

/** The span under the pointer, with every digit. The tables say the same to those who do not point. */
function Tip() {
    if (hovered.value === null || shown.value === null) return null;
    const { row, span, x, y } = hovered.value;
    const { label } = kindLook(shown.value.kinds[row.kind[span]]);
    const length_s = row.end_s[span] - row.start_s[span];
    const place = (node) => {
        if (node === null) return;
        node.style.left = `${Math.max(0, Math.min(x + 12, width.value - TIP_PX))}px`;
        node.style.top = `${y + 18}px`;
    };
    return html`
        <div class="tip" ref=${place} aria-hidden="true" data-testid="tip">
            <b>${label}${workWords(row, span)}</b>
            <span>stage ${row.stage}, ${laneWords(row)}, rank ${row.rank}</span>
            <span>${exact(length_s)} s, from ${exact(row.start_s[span])} to ${exact(row.end_s[span])} s</span>
        </div>`;
}

/** What the chosen stage does at the cursor, as a sentence. */
function Readout() {
    const row = computingRow();
    const now_s = at_s.value;
    const span = row === null ? -1 : spanAt(row, now_s);
    const stairs = shown.value.stairsOfStage.get(stageShown.value);
    const does = span < 0 ? "idle" : `${kindLook(shown.value.kinds[row.kind[span]]).label.toLowerCase()}${workWords(row, span)}`;
    const kept = stairs ? `, ${gigabytes(bytesAt(stairs, now_s), units.value)} ${units.value} of activations` : "";
    return html`
        <p class="readout" role="status" aria-live=${playing.value ? "off" : "polite"} data-testid="readout">
            At <b>${exact(Number(now_s.toPrecision(6)))} s</b> stage ${stageShown.value}: ${does}${kept}</p>`;
}

function Transport() {
    const end_s = shown.value.end_s;
    const whole = view_s.value === null;
    return html`
        <div class="transport">
            <button type="button" class="primary" aria-pressed=${playing.value}
                    onClick=${() => (playing.value ? pause() : play(end_s))}>${playing.value ? "Pause" : "Play"}</button>
            <input type="range" aria-label="Time cursor" min="0" max=${end_s} step="any" value=${at_s.value}
                   aria-valuetext="${seconds(at_s.value)} of ${seconds(end_s)}"
                   onInput=${(event) => moveCursor(Number(event.currentTarget.value))} />
            <label>View in <select aria-label="Time of the cursor across the view"
                    onChange=${(event) => { pace_s.value = Number(event.currentTarget.value); }}>
                ${PACES_S.map((pace) => html`<option key=${pace} value=${pace} selected=${pace === pace_s.value}>${pace} s</option>`)}
            </select></label>
            <button type="button" disabled=${whole} onClick=${() => { view_s.value = null; }}>Whole step</button>
            <label class="check"><input type="checkbox" checked=${allLanes.value}
                onChange=${(event) => { allLanes.value = event.currentTarget.checked; }} /> Links, copies, host</label>
        </div>`;
}

/** Drags and clicks move the view to where the pointer is. */
function Mini() {
    const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    useEffect(() => {
        const node = canvas.current;
        let made = { of: null, theme: "", width: 0, picture: null };
        return followScene(() => null, (scene) => {
            const { timeline: of, layout: { width: across }, theme: now } = scene;
            if (made.of !== of || made.theme !== now || made.width !== across) {
                made = { of, theme: now, width: across, picture: miniPicture(scene, MINI_PX) };
            }
            paintMini(contextOf(node, across, MINI_PX), scene, made.picture, MINI_PX);
        });
    }, []);
    const move = (event) => {
        if (event.buttons !== 1 || layout.value === null) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const end_s = shown.value.end_s;
        const length_s = viewNow()[1] - viewNow()[0];
        const middle_s = timeOf(layout.value, [0, end_s], event.clientX - event.currentTarget.getBoundingClientRect().left);
        const from_s = Math.max(0, Math.min(end_s - length_s, middle_s - length_s / 2));
        setView([from_s, from_s + length_s]);
    };
    return html`<canvas class="mini" ref=${canvas} aria-hidden="true" onPointerDown=${move} onPointerMove=${move}></canvas>`;
}

/** Two canvases: what only the view changes, and above it what moves with pointer and cursor. */
function Plot() {
    const box = useRef(/** @type {HTMLElement | null} */ (null));
    const lanes = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    const marks = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    useEffect(() => {
        const sized = (canvas, scene) => contextOf(canvas, scene.layout.width, scene.layout.height);
        const [below, above] = [lanes.current, marks.current];
        const undo = [
            followWidth(box.current, (now) => { width.value = now; }),
            attach(box.current),
            followScene(() => null, (scene) => paintScene(sized(below, scene), scene)),
            followScene(() => ({ at_s: at_s.value, selected: selected_s.value, hovered: hovered.value }),
                (scene, now) => paintMarks(sized(above, scene), scene, now)),
        ];
        return () => undo.forEach((each) => each());
    }, []);
    return html`
        <${Mini} />
        <div class="plot" ref=${box} tabindex="0" role="application" aria-label="Timeline" aria-describedby="timeline-keys"
             onKeyDown=${onKey} data-testid="timeline-plot">
            <canvas ref=${lanes} data-testid="timeline-lanes"></canvas>
            <canvas class="marks" ref=${marks} data-testid="timeline-marks"></canvas>
            <${Tip} />
        </div>`;
}

function Legend() {
    const { kinds, rows } = shown.value;
    const used = new Set(rows.flatMap((row) => [...new Set(row.kind)]));
    return html`
        <ul class="key" aria-label="Kinds of spans">${kinds.map((name, at) => {
            const look = kindLook(name);
            return used.has(at) ? html`
                <li key=${name}><${Swatch} tone=${look.tone} hatched=${look.hatched} /><span><b>${look.letter}</b> ${look.label}</span></li>` : null;
        })}</ul>`;
}

function Keys() {
    return html`
        <p class="hint muted" id="timeline-keys">
            <kbd>Ctrl</kbd> wheel or pinch zooms, dragging pans, <kbd>Shift</kbd> dragging sums a part. Keys: <kbd>W</kbd> <kbd>S</kbd> zoom,${" "}
            <kbd>A</kbd> <kbd>D</kbd> pan, <kbd>0</kbd> whole step, <kbd>F</kbd> focus, <kbd>←</kbd> <kbd>→</kbd> next edge${" "}
            (with <kbd>Shift</kbd> select), <kbd>↑</kbd> <kbd>↓</kbd> stage, <kbd>[</kbd> <kbd>]</kbd> micro-batch, <kbd>Space</kbd> play.</p>`;
}

export function Timeline() {
    const { phase, problem, answer, of } = timeline.value;
    const stale = phase === "loading" || of !== requestText.value;
    return html`
        <section class="panel" aria-labelledby="panel-timeline" data-testid="timeline" data-phase=${stale && phase !== "problem" ? "loading" : phase}>
            <header class="panel-head">
                <h2 id="panel-timeline">Timeline of one step</h2>
                ${answer ? html`<p class="key">${seconds(answer.step_s)} simulated, ${seconds(answer.closed_form_s)} in closed form</p>` : null}
            </header>
            ${problem ? html`<${Problem} problem=${problem} />` : shown.value === null ? html`<p class="muted">Simulating one step…</p>` : html`
                <div class="answer" data-phase=${stale ? "loading" : "done"}>
                    ${answer.left_out > 0 ? html`<p class="warning">${exact(answer.left_out)} spans are left out: the timeline is too long to be drawn whole.</p>` : null}
                    <${Legend} /><${Transport} /><${Plot} /><${Readout} /><${Selected} /><${Keys} /><${Tables} />
                </div>`}
        </section>`;
}
