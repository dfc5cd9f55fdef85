/** The timeline in words: the stages, what runs at the cursor, the sums of a part. */
import { html } from "../../html.js";
import { table_s } from "../cursor.js";
import { stage } from "../../state/look.js";
import { units } from "../../state/prefs.js";
import { timeline } from "../state.js";
import { exact, gigabytes, percent, seconds } from "../../units.js";
import { Swatch } from "../../widgets/charts.js";
import { Notes } from "../../planner/details.js";
import { Fold } from "../../widgets/fold.js";
import { Scroll } from "../../widgets/scroll.js";
import { kindLook, laneWords } from "./kinds.js";
import { spanAt } from "./rows.js";
import { selected_s, shown, stageShown } from "./shown.js";
import { sumsOf } from "./sums.js";

/** @param {{label: string, value_s: number, whole_s: number, look?: any, testid?: string}} props */
function Sum({ label, value_s, whole_s, look = null, testid }) {
    return html`
        <tr data-testid=${testid}>
            <th scope="row">${look ? html`<${Swatch} tone=${look.tone} hatched=${look.hatched} />` : null}${label}</th>
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

function Stages() {
    const { stages, stairsOfStage } = shown.value;
    const unit = units.value;
    const size = (bytes) => (bytes === undefined ? "–" : gigabytes(bytes, unit));
    return html`
        <${Fold} title="Stages" count=${stages.length} testid="stages">${() => html`
            <${Scroll} label="Stages table">
                <table class="figures tight">
                    <caption class="visually-hidden">Stages of the pipeline over one step</caption>
                    <thead><tr>
                        <th scope="col">Stage</th><th scope="col" class="n">Rank</th><th scope="col" class="n">Busy</th>
                        <th scope="col" class="n">Bubble</th><th scope="col" class="n">Idle share</th><th scope="col" class="n">Begins</th>
                        <th scope="col" class="n">Ends</th><th scope="col" class="n">Base ${unit}</th>
                        <th scope="col" class="n">Activations at most ${unit}</th>
                    </tr></thead>
                    <tbody>${stages.map((item) => html`
                        <tr key=${item.stage} aria-current=${item.stage === stageShown.value ? "true" : undefined}>
                            <th scope="row"><button type="button" class="link" onClick=${() => { stage.value = item.stage; }}>stage ${item.stage}</button></th>
                            <td class="n">${item.rank}</td><td class="n">${seconds(item.busy_s)}</td>
                            <td class="n">${seconds(bubble_s(item))}</td><td class="n">${percent(item.idle_ratio)}</td>
                            <td class="n">${seconds(item.begin_s)}</td><td class="n">${seconds(item.end_s)}</td>
                            <td class="n">${size(stairsOfStage.get(item.stage)?.base_bytes)}</td>
                            <td class="n">${size(stairsOfStage.get(item.stage)?.peak_bytes)}</td>
                        </tr>`)}
                    </tbody>
                </table>
            <//>`}
        <//>`;
}

function AtCursor() {
    const { rows, kinds } = shown.value;
    const now_s = table_s.value;
    const running = rows.map((row) => ({ row, span: spanAt(row, now_s) })).filter(({ span }) => span >= 0);
    return html`
        <${Fold} title="At the cursor" count=${running.length} testid="at-cursor">${() => html`
            <${Scroll} label="Table of what runs at the cursor">
                <table class="figures tight">
                    <caption class="visually-hidden">Spans that run at ${exact(now_s)} s</caption>
                    <thead><tr>
                        <th scope="col">Stage</th><th scope="col">Lane</th><th scope="col">Does</th><th scope="col" class="n">Micro-batch</th>
                        <th scope="col" class="n">Chunk</th>
                        <th scope="col" class="n">Layer</th><th scope="col" class="n">From s</th><th scope="col" class="n">To s</th>
                    </tr></thead>
                    <tbody>${running.map(({ row, span }) => {
                        const look = kindLook(kinds[row.kind[span]]);
                        const number = (value) => (value < 0 ? "–" : value);
                        return html`
                            <tr key=${`${row.stage} ${laneWords(row)}`}>
                                <th scope="row">${row.stage}</th><td>${laneWords(row)}</td>
                                <td><${Swatch} tone=${look.tone} hatched=${look.hatched} />${look.label}</td>
                                <td class="n">${number(row.microbatch[span])}</td><td class="n">${number(row.chunk[span])}</td>
                                <td class="n">${number(row.layer[span])}</td>
                                <td class="n">${exact(row.start_s[span])}</td><td class="n">${exact(row.end_s[span])}</td>
                            </tr>`;
                    })}</tbody>
                </table>
            <//>`}
        <//>`;
}

export function Tables() {
    const { warnings, assumptions } = timeline.value.answer;
    return html`
        <div class="folds">
            <${Stages} /><${AtCursor} />
            <${Notes} title="Warnings of the simulation" items=${warnings ?? []} tone="warn" testid="timeline-warnings" />
            <${Notes} title="Assumptions of the simulation" items=${assumptions ?? []} testid="timeline-assumptions" />
        </div>`;
}
