/** The timeline in words: the stages, what runs at the cursor, the sums of a part. */
import { html } from "../../html.js";
import { table_s } from "../cursor.js";
import { selected_s, stage } from "../../state/look.js";
import { units } from "../../state/prefs.js";
import { timeline } from "../state.js";
import { exact, gigabytes, percent, seconds } from "../../units.js";
import { Swatch } from "../../widgets/charts.js";
import { Num } from "../../widgets/explain.js";
import { Notes } from "../../planner/details.js";
import { Fold } from "../../widgets/fold.js";
import { Plain } from "../../widgets/plain.js";
import { titleOf } from "../../widgets/terms.js";
import { unitOf, writerOf } from "../../widgets/values.js";
import { kindLook, laneWords } from "./kinds.js";
import { runningAt, shown, stageShown } from "./shown.js";
import { sumsOf } from "./sums.js";

/** @param {{label: string, value_s: number, whole_s: number, look?: any, testid?: string}} props */
function Sum({ label, value_s, whole_s, look = null, testid }) {
    return html`
        <tr data-testid=${testid}>
            <th scope="row">${look && html`<${Swatch} ...${look} />`}${label}</th>
            <td class="n" title="${exact(value_s)} s">${seconds(value_s)}</td>
            <td class="n muted">${percent(value_s / whole_s)}</td>
        </tr>`;
}

/** What a selected part of the step holds, added over the stages. */
export function Selected() {
    if (selected_s.value === null || shown.value === null) return null;
    const [from_s, to_s] = selected_s.value;
    if (!(to_s > from_s)) return null;
    const sums = sumsOf(shown.value, from_s, to_s);
    const { whole_s } = sums;
    return html`
        <section class="selected" aria-label="Selected part" data-testid="selected">
            <p><b>${seconds(to_s - from_s)}</b> selected, from ${exact(from_s)} to ${exact(to_s)} s, times ${sums.stages} ${sums.stages === 1 ? "stage" : "stages"}
                ${" "}<button type="button" onClick=${() => { selected_s.value = null; }}>Clear</button></p>
            <div class="selected-sums">
                <table class="figures tight">
                    <caption class="visually-hidden">Sums of the selected part over all stages</caption>
                    <tbody>
                        <${Sum} label="Computing" value_s=${sums.busy_s} whole_s=${whole_s} testid="sum-busy" />
                        <${Sum} label="Idle" value_s=${sums.idle_s} whole_s=${whole_s} testid="sum-idle" />
                        <${Sum} label="Exposed communication" value_s=${sums.exposed_s} whole_s=${whole_s} testid="sum-exposed" />
                    </tbody>
                </table>
                <table class="figures tight">
                    <caption class="visually-hidden">The same by kind of span, hidden communication included</caption>
                    <tbody>${sums.kinds.map(({ kind, seconds: value_s, spans }) => {
                        const look = kindLook(shown.value.kinds[kind]);
                        return html`<${Sum} key=${kind} label=${`${look.label}, ${spans} ${spans === 1 ? "span" : "spans"}`}
                            value_s=${value_s} whole_s=${whole_s} look=${look} />`;
                    })}</tbody>
                </table>
            </div>
        </section>`;
}

/** Between its first pass and its last. @param {{begin_s: number, end_s: number, busy_s: number}} stage */
function bubble_s({ begin_s, end_s, busy_s }) {
    return Math.max(0, end_s - begin_s - busy_s);
}

/** Figures of a stage in the order of their columns: how each comes about, from which of them. @type {Record<string, [formula: string, inputs?: string[]]>} */
const OF_STAGE = {
    busy_s: ["sum of its passes, exposed communication inside them included"],
    bubble_s: ["end_s - begin_s - busy_s", ["end_s", "begin_s", "busy_s"]],
    idle_ratio: ["1 - busy_s / (end_s - begin_s)", ["busy_s", "end_s", "begin_s"]],
    begin_s: ["start of its first pass"], end_s: ["end of its last pass"],
    base_bytes: ["what stays from step to step, as in the memory of the plan"],
    peak_bytes: ["the highest step of what passes keep and gather, beyond base_bytes", ["base_bytes"]],
};

/** @param {{of: string, stage: any}} props  stage: its figures by name */
function StageNum({ of, stage: figures }) {
    const value = figures[of];
    if (value === undefined) return "–";
    const [formula, inputs = []] = OF_STAGE[of];
    const text = of.endsWith("bytes") ? gigabytes(value, units.value) : writerOf(of)(value);
    return html`<${Num} title="${titleOf(of)}, stage ${figures.stage}" text=${text} value=${value} unit=${unitOf(of)}
        about=${{ formula, inputs: Object.fromEntries(inputs.map((name) => [name, figures[name]])), source: "The simulated step" }} />`;
}

function Stages() {
    const { stages, stairsOfStage } = shown.value;
    const unit = units.value;
    return html`
        <${Fold} title="Stages" count=${stages.length} testid="stages">${() => html`
            <${Plain} tight label="Stages of the pipeline over one step"
                columns=${["Stage", "#Rank", "#Busy", "#Bubble", "#Idle share", "#Begins", "#Ends", `#Base ${unit}`, `#Activations at most ${unit}`]}
                more=${(at) => (stages[at].stage === stageShown.value ? { "aria-current": "true" } : {})}
                rows=${stages.map((item) => [
                    html`<button type="button" class="link" onClick=${() => { stage.value = item.stage; }}>stage ${item.stage}</button>`,
                    item.rank, ...Object.keys(OF_STAGE).map((of) => html`
                        <${StageNum} of=${of} stage=${{ ...stairsOfStage.get(item.stage), ...item, bubble_s: bubble_s(item) }} />`)])} />`}
        <//>`;
}

function AtCursor() {
    const now_s = table_s.value;
    const running = runningAt(now_s);
    /** @param {number} value */
    const number = (value) => (value < 0 ? "–" : value);
    return html`
        <${Fold} title="At the cursor" count=${running.length} testid="at-cursor">${() => html`
            <${Plain} tight label="Spans that run at ${exact(now_s)} s"
                columns=${["Stage", "Lane", "Does", "#Micro-batch", "#Chunk", "#Layer", "#From s", "#To s"]}
                rows=${running.map(({ row, span }) => {
                    const look = kindLook(shown.value.kinds[row.kind[span]]);
                    return [row.stage, laneWords(row), html`<${Swatch} ...${look} />${look.label}`, number(row.microbatch[span]),
                        number(row.chunk[span]), number(row.layer[span]), exact(row.start_s[span]), exact(row.end_s[span])];
                })} />`}
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
