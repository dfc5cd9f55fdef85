/** The timeline in words: the stages, what runs at the cursor, the sums of a part. */
import { html } from "../../html.js";
import { table_s } from "../cursor.js";
import { selected_s, stage } from "../../state/look.js";
import { units } from "../../state/prefs.js";
import { timeline } from "../state.js";
import { exact, gigabytes, seconds } from "../../units.js";
import { many } from "../../words.js";
import { Swatch } from "../../widgets/charts.js";
import { Num } from "../../widgets/explain.js";
import { Notes } from "../../planner/details.js";
import { Fold } from "../../widgets/fold.js";
import { Plain } from "../../widgets/plain.js";
import { titleOf } from "../../widgets/terms.js";
import { unitOf, writerOf } from "../../widgets/values.js";
import { kindLook, laneWords, names } from "./kinds.js";
import { runningAt, shown, stageShown } from "./shown.js";
import { sumsOf } from "./sums.js";

/**
 * A figure of the simulated step, explained by others that stand beside it.
 * @param {{of: string, title: string, figures: any, value?: number, write?: (value: number) => string}} props  of: its name in names.json, whose last word is that among the figures
 */
function StepNum({ of, title, figures, value = figures[of.split(" ")[1]], write }) {
    const name = of.split(" ")[1];
    if (value === undefined) return "–";
    const [formula, ...inputs] = names.figures[of];
    return html`<${Num} title=${title} text=${(write ?? writerOf(name))(value)} value=${value} unit=${unitOf(name)}
        about=${{ formula, inputs: Object.fromEntries(inputs.map((input) => [input, figures[input]])), ...names.about.step }} />`;
}

/** @param {string} of @param {any} label @param {any} figures @param {any} [look] */
function sumOf(of, label, figures, look = null) {
    const value_s = figures[of];
    return [html`${look && html`<${Swatch} ...${look} />`}${label}`,
        html`<td class="n"><${StepNum} of="part ${of}" title=${label} figures=${figures} write=${seconds} /></td>`,
        html`<td class="n muted"><${StepNum} of="part share_ratio" title="Share of ${label}" figures=${{ ...figures, seconds: value_s }} value=${value_s / figures.whole_s} /></td>`];
}

const SUMS = [["busy_s", "Computing", "sum-busy"], ["idle_s", "Idle", "sum-idle"], ["exposed_s", "Exposed communication", "sum-exposed"]];

/** What a selected part of the step holds, added over the stages. */
export function Selected() {
    if (selected_s.value === null || shown.value === null) return null;
    const [from_s, to_s] = selected_s.value;
    if (!(to_s > from_s)) return null;
    const sums = sumsOf(shown.value, from_s, to_s);
    const figures = { ...sums, from_s, to_s };
    return html`
        <section class="selected" aria-label="Selected part" data-testid="selected">
            <p><b>${seconds(to_s - from_s)}</b> selected, from ${exact(from_s)} to ${exact(to_s)} s, times ${many(sums.stages, "stage")}
                ${" "}<button type="button" onClick=${() => { selected_s.value = null; }}>Clear</button></p>
            <div class="selected-sums">
                <div><${Plain} tight label=${names.says.sums} columns=${[]} more=${(at) => ({ "data-testid": SUMS[at][2] })}
                    rows=${SUMS.map(([of, label]) => sumOf(of, label, figures))} /></div>
                <div><${Plain} tight label=${names.says.sums_by_kind} columns=${[]} rows=${sums.kinds.map((sum) => {
                    const { kind, spans } = sum;
                    const look = kindLook(shown.value.kinds[kind]);
                    return sumOf("seconds", `${look.label}, ${many(spans, "span")}`, { ...figures, ...sum }, look);
                })} /></div>
            </div>
        </section>`;
}

/** Between its first pass and its last. @param {{begin_s: number, end_s: number, busy_s: number}} stage */
function bubble_s({ begin_s, end_s, busy_s }) {
    return Math.max(0, end_s - begin_s - busy_s);
}

/** Figures of a stage in the order of their columns. */
const OF_STAGE = ["busy_s", "bubble_s", "idle_ratio", "begin_s", "end_s", "base_bytes", "peak_bytes"];

function Stages() {
    const { stages, stairsOfStage } = shown.value;
    const unit = units.value;
    return html`
        <${Fold} title="Stages" count=${stages.length} testid="stages">${() => html`
            <${Plain} tight label=${names.says.stages}
                columns=${["Stage", "#Rank", "#Busy", "#Bubble", "#Idle share", "#Begins", "#Ends", `#Base, ${unit}`, `#Activations at most, ${unit}`]}
                more=${(at) => (stages[at].stage === stageShown.value ? { "aria-current": "true" } : {})}
                rows=${stages.map((item) => [
                    html`<button type="button" class="link" onClick=${() => { stage.value = item.stage; }}>stage ${item.stage}</button>`,
                    item.rank, ...OF_STAGE.map((of) => html`
                        <${StepNum} of="stage ${of}" title="${titleOf(of)}, stage ${item.stage}" figures=${{ ...stairsOfStage.get(item.stage), ...item, bubble_s: bubble_s(item) }}
                            write=${of.endsWith("bytes") ? (/** @type {number} */ value) => gigabytes(value, unit) : undefined} />`)])} />`}
        <//>`;
}

function AtCursor() {
    const now_s = table_s.value;
    const running = runningAt(now_s);
    /** @param {number} value */
    const number = (value) => (value < 0 ? "–" : value);
    return html`
        <${Fold} title="At the cursor" count=${running.length} testid="at-cursor">${() => (running.length === 0 ? html`<p class="muted">Nothing runs then.</p>` : html`
            <${Plain} tight label="Spans that run at ${exact(now_s)} s"
                columns=${["Stage", "Lane", "Does", "#Micro-batch", "#Chunk", "#Layer", "#From s", "#To s"]}
                rows=${running.map(({ row, span }) => {
                    const look = kindLook(shown.value.kinds[row.kind[span]]);
                    return [`stage ${row.stage}`, laneWords(row), html`<${Swatch} ...${look} />${look.label}`, number(row.microbatch[span]),
                        number(row.chunk[span]), number(row.layer[span]), exact(row.start_s[span]), exact(row.end_s[span])];
                })} />`)}
        <//>`;
}

export function Tables() {
    const { warnings, assumptions } = timeline.value.answer;
    return html`
        <div class="folds">
            <${Stages} /><${AtCursor} />
            <${Notes} title="Warnings of the simulation" items=${warnings} tone="warn" testid="timeline-warnings" />
            <${Notes} title="Assumptions of the simulation" items=${assumptions} testid="timeline-assumptions" />
        </div>`;
}
