/** The timeline of one step: lanes over time, the memory below, the cursor, and the same in words. */
import { useEffect } from "preact/hooks";
import { html } from "../../html.js";
import { registerCommands } from "../../shell/commands.js";
import { PACES_S, pace_s, pause, play, playing } from "../cursor.js";
import { allLanes, at_s, marks_s, rings, view_s } from "../../state/look.js";
import { memorySize } from "../../state/prefs.js";
import { keptWords } from "../bytes.js";
import { besides, besideText } from "../beside.js";
import { timelineData } from "../exported.js";
import { timeline } from "../state.js";
import { requestText } from "../../state/store.js";
import { exact, percent, seconds } from "../../units.js";
import { Swatch } from "../../widgets/charts.js";
import { Check } from "../../widgets/check.js";
import { Export } from "../../widgets/export.js";
import { Options } from "../../widgets/options.js";
import { Panel } from "../../widgets/panel.js";
import { Problem } from "../../widgets/problem.js";
import { kindLook, names } from "./kinds.js";
import { MAIN, Mini, Plot, workWords } from "./plot.js";
import { bytesAt } from "./rows.js";
import { holdTimes, lastEnd_s, moveCursor, runningNow, setView, shown, stageShown } from "./shown.js";
import { Selected, Tables } from "./tables.js";
import { Trace } from "./trace.js";
import { Choice, Versus } from "./versus.js";

/** What the chosen stage does at the cursor, as a sentence. */
function Readout() {
    const now = runningNow();
    const now_s = at_s.value;
    const stairs = shown.value.stairsOfStage.get(stageShown.value);
    const does = now ? `${kindLook(shown.value.kinds[now.row.kind[now.span]]).label.toLowerCase()}${workWords(now.row, now.span)}` : "idle";
    const kept = stairs ? `, ${memorySize(bytesAt(stairs, now_s))} of ${keptWords.value.toLowerCase()}` : "";
    return html`
        <p class="readout" role="status" aria-live=${playing.value ? "off" : "polite"} data-testid="readout">
            At <b>${exact(Number(now_s.toPrecision(6)))} s</b> stage ${stageShown.value}: ${does}${kept}</p>`;
}

function Transport() {
    const end_s = lastEnd_s.value;
    const whole = view_s.value === null;
    /* Not before it is known whether what stands beside is longer. */
    const known = besides.value.of === besideText.value;
    useEffect(() => {
        if (known) holdTimes();
    }, [known, end_s]);
    return html`
        <div class="transport">
            <button type="button" class="primary" aria-pressed=${playing.value}
                    onClick=${() => (playing.value ? pause() : play(end_s))}>${playing.value ? "Pause" : "Play"}</button>
            <input type="range" aria-label="Time cursor" min="0" max=${end_s} step="any" value=${at_s.value}
                   aria-valuetext="${seconds(at_s.value)} of ${seconds(end_s)}"
                   onInput=${(event) => moveCursor(Number(event.currentTarget.value))} />
            <label>Play in <select aria-label="Time of the cursor across the view"
                    onChange=${(event) => { pace_s.value = Number(event.currentTarget.value); }}>
                <${Options} now=${String(pace_s.value)} items=${PACES_S.map((pace) => [String(pace), `${pace} s`])} />
            </select></label>
            <button type="button" disabled=${whole} onClick=${() => { view_s.value = null; }}>Whole step</button>
            <${Check} on=${allLanes.value} set=${(on) => { allLanes.value = on; }}>Show links, copies, host<//>
            <${Check} on=${rings.value} set=${(on) => { rings.value = on; }}>Ring steps<//>
            <${Choice} />
        </div>`;
}

/** While every stage is at work, and what lies between the two marks. */
function Moments() {
    const { steady_s, end_s, stairsOfStage } = shown.value;
    const [a_s, b_s] = marks_s.value;
    const stairs = stairsOfStage.get(stageShown.value);
    const apart = stairs && b_s !== undefined ? bytesAt(stairs, b_s) - bytesAt(stairs, a_s) : 0;
    return html`
        ${steady_s === null ? null : html`
            <p class="readout" data-testid="steady">${names.says.steady} <b>${seconds(steady_s[0])}</b> to
                ${" "}<b>${seconds(steady_s[1])}</b>, ${percent((steady_s[1] - steady_s[0]) / end_s)} of the step
                ${" "}<button type="button" onClick=${() => setView(steady_s)}>Show this steady state</button></p>`}
        ${a_s === undefined ? null : html`
            <p class="readout" data-testid="marked">A ${exact(Number(a_s.toPrecision(6)))} s${b_s === undefined ? names.says.mark : html`,
                B ${exact(Number(b_s.toPrecision(6)))} s: <b>${seconds(Math.abs(b_s - a_s))}</b> ${b_s < a_s ? "back" : "on"}, stage ${stageShown.value} then keeps
                ${` ${memorySize(Math.abs(apart))} ${apart < 0 ? "less" : "more"}`}`}
                ${" "}<button type="button" onClick=${() => { marks_s.value = []; }}>Remove the marks</button></p>`}`;
}

function Legend() {
    const { kinds, rows } = shown.value;
    const used = new Set(rows.flatMap((row) => [...new Set(row.kind)]));
    return html`
        <ul class="key" aria-label="Kinds of spans">${kinds.map((name, at) => {
            const look = kindLook(name);
            return used.has(at) ? html`
                <li key=${name}><${Swatch} ...${look} /><span><b>${look.letter}</b> ${look.label}</span></li>` : null;
        })}</ul>`;
}

function Keys() {
    useEffect(() => registerCommands("Timeline", names.keys), []);
    return html`
        <p class="hint muted" id="timeline-keys">${names.hands.split("`").map((text, at) => (at % 2 === 0 ? text : html`<kbd>${text}</kbd>`))}</p>`;
}

export function Timeline() {
    const { phase, problem, answer, of } = timeline.value;
    const stale = phase === "loading" || of !== requestText.value;
    return html`
        <${Panel} id="timeline" title="Timeline of one step" data-phase=${stale && phase !== "problem" ? "loading" : phase} head=${answer && html`
            <p class="key">${seconds(answer.step_s)} simulated, ${seconds(answer.closed_form_s)} in closed form</p>
            <${Export} name="timeline" title="Timeline of one step" data=${timelineData} />`}>
            ${problem ? html`<${Problem} problem=${problem} />` : shown.value === null ? html`<p class="muted">Simulating one step…</p>` : html`
                <div class="answer" data-phase=${stale ? "loading" : "done"}>
                    ${answer.left_out > 0 ? html`<p class="warning">${exact(answer.left_out)} ${names.says.left_out}</p>` : null}
                    <${Legend} /><${Transport} /><${Mini} />
                    <${Plot} drawing=${MAIN} name="Timeline" testid="timeline" />
                    <${Readout} /><${Moments} /><${Selected} /><${Versus} /><${Keys} /><${Tables} /><${Trace} />
                </div>`}
        <//>`;
}
