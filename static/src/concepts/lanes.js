/** A miniature of time: the simulated steps of the variants, one below the other on the same axis. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { html } from "../html.js";
import { units } from "../state/prefs.js";
import { kindLook } from "../step/timeline/kinds.js";
import { layoutOf } from "../step/timeline/layout.js";
import { paintScene } from "../step/timeline/paint.js";
import { timelineOf } from "../step/timeline/rows.js";
import { contextOf, drawAfter, followWidth } from "../widgets/canvas.js";
import { Swatch } from "../widgets/charts.js";
import { FigureTable } from "./table.js";

/** Room below the lanes, in place of the memory. */
const BELOW_PX = 6;

/** What a reader of a concept would have to be told about is left out: the host's part of a step. */
const LEFT_OUT = ["host"];

/** From the first to the last span that is a step of a ring. @param {Api.TimelineSpans} spans @returns {[number, number]} */
function ringView({ step, start_s: start, end_s: end }) {
    const own = step.map((_, at) => at).filter((at) => step[at] !== null);
    return [Math.min(...own.map((at) => start[at])), Math.max(...own.map((at) => end[at]))];
}

/** @param {{timeline: Api.Timeline, view: [number, number], all: boolean, label: string}} props */
function Drawing({ timeline, view, all, label }) {
    const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    const rows = useMemo(() => {
        const whole = timelineOf(timeline);
        return { ...whole, rows: whole.rows.filter(({ stream }) => !LEFT_OUT.includes(stream)) };
    }, [timeline]);
    useLayoutEffect(() => {
        const width = signal(0);
        const stopWidth = followWidth(canvas.current.parentElement, (now) => { width.value = now; });
        const stopDrawing = drawAfter(() => width.value, () => {
            const layout = layoutOf(rows, width.peek(), all);
            const height = layout.lanesEnd + BELOW_PX;
            paintScene(contextOf(canvas.current, width.peek(), height), { timeline: rows, layout, view, end_s: rows.end_s, stage: -1,
                unit: units.peek(), details: [], operators: [], far: "", kept: "" });
        });
        return () => {
            stopWidth();
            stopDrawing();
        };
    }, [rows, view[0], view[1], all]);
    return html`<div class="lane"><canvas ref=${canvas} role="img" aria-label="${label}: drawn step; the table below has its figures"></canvas></div>`;
}

/** Kinds of the spans that are drawn. @param {{list: import("./state.js").Shown[], all: boolean, rings: boolean}} props */
function Key({ list, all, rings }) {
    const names = [...new Set(list.flatMap(({ timeline: { lanes, kinds, spans } }) => {
        const drawn = lanes.map(({ stream }) => (all ? !LEFT_OUT.includes(stream) : stream === "compute"));
        return spans.kind.filter((_, at) => drawn[spans.lane[at]] && (!rings || spans.step[at] !== null)).map((kind) => kinds[kind]);
    }))];
    return html`<ul class="key">${names.map((name) => {
        const look = kindLook(name);
        return html`<li key=${name}><${Swatch} ...${look} />${look.label} (${look.letter})</li>`;
    })}</ul>`;
}

/** @param {{list: import("./state.js").Shown[], figures: string[], rings: boolean}} props */
export function Lanes({ list, figures, rings }) {
    const end_s = Math.max(...list.map(({ timeline }) => timeline.end_s));
    const all = list.every(({ timeline }) => timeline.stages.length === 1);
    return html`
        <${Key} list=${list} all=${all} rings=${rings} />
        ${list.map(({ label, timeline }) => html`
            <figure key=${label} class="drawn-step"><figcaption>${label}</figcaption>
                <${Drawing} timeline=${timeline} label=${label} all=${all}
                            view=${rings ? ringView(timeline.spans) : [0, end_s]} />
            </figure>`)}
        <${FigureTable} label="Figures of each drawn step" head=${html`<span class="visually-hidden">Figure</span>`} list=${list} figures=${figures} />`;
}
