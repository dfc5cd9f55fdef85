/** The step for other tools: as a trace to keep, in Perfetto, and a recorded trace laid beside it. */
import { signal } from "@preact/signals";
import { html } from "../../html.js";
import * as api from "../../state/api.js";
import { asProblem, requestText } from "../../state/store.js";
import { digits, exact, seconds } from "../../units.js";
import { many, wordsOf } from "../../words.js";
import { Problem } from "../../widgets/problem.js";
import { Plain } from "../../widgets/plain.js";
import { save } from "../../widgets/save.js";
import { fetchInto, nothing, timeline } from "../state.js";
import { names } from "./kinds.js";
import { Help, known } from "../../widgets/words.js";

const PERFETTO = "https://ui.perfetto.dev";
const FILE = "step.pt.trace.json.gz";
const KNOCK_MS = 100;
const PATIENCE_MS = 20_000;

/** What becomes of a trace on its way out. */
const told = signal("");

const compared = signal(nothing());
let withdraw = () => {};

/** @param {(blob: Blob) => void} use */
async function withTrace(use) {
    told.value = "Writing the trace…";
    try {
        use(await api.postTrace(JSON.parse(requestText.peek())));
    } catch (error) {
        told.value = asProblem(error)?.detail ?? "";
    }
}

/** A trace of a very long step is cut, which is said. */
function cutWords() {
    const { span_count: spans = 0 } = timeline.value.answer ?? {};
    return spans > api.TRACE_SPANS ? ` Cut at ${exact(api.TRACE_SPANS)} of ${exact(spans)} spans.` : "";
}

function download() {
    void withTrace((blob) => {
        save(blob, "application/gzip", FILE);
        told.value = `${FILE}: ${known("help", "opens")}${cutWords()}`;
    });
}

/** Perfetto answers a knock once it listens. @param {Window} opened @param {Blob} blob */
function handOver(opened, blob) {
    const stop = new AbortController();
    const knocking = setInterval(() => opened.postMessage("PING", PERFETTO), KNOCK_MS);
    /** @param {string} text */
    const end = (text) => {
        clearInterval(knocking);
        clearTimeout(patience);
        stop.abort();
        told.value = text;
    };
    const patience = setTimeout(() => end(names.says.no_perfetto), PATIENCE_MS);
    window.addEventListener("message", async ({ source, origin, data }) => {
        if (source !== opened || origin !== PERFETTO || data !== "PONG") return;
        end(`Handed to Perfetto in its own tab.${cutWords()}`);
        const buffer = await blob.arrayBuffer();
        opened.postMessage({ perfetto: { buffer, title: "Shardline: one step", fileName: FILE } }, PERFETTO, [buffer]);
    }, { signal: stop.signal });
}

/** The tab is opened at once, while the click counts as one. */
function openPerfetto() {
    const opened = window.open(PERFETTO);
    if (opened === null) {
        told.value = names.says.no_perfetto;
        return;
    }
    void withTrace((blob) => {
        told.value = "Waiting for Perfetto…";
        handOver(opened, blob);
    });
}

/** @param {File | undefined} file */
function compare(file) {
    if (!file) return;
    withdraw();
    const controller = new AbortController();
    withdraw = () => controller.abort();
    const request = requestText.peek();
    void fetchInto(compared, file.name, controller.signal, async () =>
        ({ ...await api.compareTrace(JSON.parse(request), file, controller.signal), request }));
}

/** @param {number | null | undefined} value_s */
const told_s = (value_s) => (value_s == null ? "–" : seconds(value_s));

/** @param {string} label @param {{measured_s: number | null, predicted_s: number | null, ratio: number | null, calls?: number}} pair */
const cellsOf = (label, { measured_s, predicted_s, ratio, calls }) => [wordsOf(label),
    html`<td class="n" title="${exact(measured_s)} s">${told_s(measured_s)}</td>`, told_s(predicted_s), ratio === null ? "–" : digits(ratio), calls && exact(calls)];

/** @param {{caption: string, name: string, rows: any[][]}} props */
function Pairs({ caption, name, rows }) {
    return html`
        <${Plain} tight label="${caption}, in seconds of one step" caption="${caption}, in seconds of one step"
            columns=${[name, "#Recorded", "#Predicted", "#Predicted / recorded", "#Calls"]} rows=${rows} />`;
}

/** @param {{answer: Api.TraceComparison & {request: string}}} props  request: what it was asked with, as text */
function Comparison({ answer }) {
    const { step_s, exposed_communication_s: bare, categories, communication, streams, unmatched, trace, device, warnings } = answer;
    const kinds = [...new Set(streams.flatMap((stream) => stream.categories.map(({ name }) => name)))];
    /** @param {string} label @param {Api.MeasuredPair} pair */
    const whole = (label, { measured, predicted, ratio }) => cellsOf(label, { measured_s: measured, predicted_s: predicted, ratio });
    const caption = names.says.streams;
    return html`
        ${answer.request === requestText.value ? null : html`<p class="warning">${names.says.changed}</p>`}
        <p>${many(trace.steps, "step")} of ${compared.value.of}${trace.steps_marked ? ""
            : ", unmarked: the whole counts as one"}; busiest device ${device.device}, idle ${seconds(device.idle_s)} of a step (predicted bubble ${seconds(device.predicted_bubble_s)}).</p>
        <${Pairs} caption="The step" name="Figure" rows=${[whole("step time", step_s), whole("exposed communication", bare),
            ...categories.map((each) => cellsOf(each.name, each))]} />
        <${Pairs} caption="Collectives" name="Collective" rows=${communication.map((each) => cellsOf(each.collective, each))} />
        <${Plain} tight label=${caption} caption=${caption} testid="streams" columns=${["Device, stream", "#Busy", ...kinds.map((name) => `#${name}`)]}
            rows=${streams.map(({ device: of, stream, busy_s, categories: own }) => [`${of}, ${stream}`, seconds(busy_s),
                ...kinds.map((name) => told_s(own.find((each) => each.name === name)?.measured_s))])} />
        ${unmatched.length === 0 ? null : html`<p class="muted"><${Help} of="nameless" /> ${unmatched.map(({ name, measured_s }) =>
            `${name} ${seconds(measured_s)}`).join("; ")}</p>`}
        ${warnings.map(({ message }) => html`<p key=${message} class="warning">${message}</p>`)}`;
}

export function Trace() {
    const { phase, of, problem, answer } = compared.value;
    /** @param {DragEvent} event */
    const drop = (event) => {
        event.preventDefault();
        compare(event.dataTransfer?.files[0]);
    };
    return html`
        <section class="trace" aria-label="Traces" data-testid="trace" data-phase=${phase} onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
            <div class="transport">
                <button type="button" onClick=${openPerfetto}>Open in Perfetto</button>
                <button type="button" onClick=${download}>Download the trace</button>
                <label class="file"><${Help} of="recorded" /><input type="file" class="visually-hidden" accept=".json,.gz"
                    onChange=${(event) => compare(event.currentTarget.files[0])} /></label>
            </div>
            <p class="muted" role="status">${phase === "loading" ? `Reading ${of}…` : told.value || `Perfetto is at ${PERFETTO}: ${names.says.perfetto}`}</p>
            ${problem ? html`<${Problem} problem=${problem} />` : phase === "done" && html`<${Comparison} answer=${answer} />`}
        </section>`;
}
