/** Ways of fine-tuning under the plan of the page: what trains, what is rebuilt, which attention. */
import { html } from "../html.js";
import { postComparison } from "../state/api.js";
import { mergePatch, requestOf } from "../state/plan.js";
import { units } from "../state/prefs.js";
import { plan, setPlan } from "../state/store.js";
import { gigabytes, scaled, seconds } from "../units.js";
import { inOrder } from "../widgets/rows.js";
import { Problem } from "../widgets/problem.js";
import { Table, TableTools } from "../widgets/table.js";
import { CopyComparison, useAnswer } from "./answered.js";
import { said, say } from "./columns.js";
import { wordsRow } from "./rows.js";
import { Sheet } from "./sheet.js";
import { planWith } from "./strategies.js";
import { verdictOf } from "./strategy-rows.js";

/** @type {Record<string, string>} */
const NAMES = { full: "Full", lora: "LoRA", lora_int8: "LoRA, 8-bit base", qlora: "QLoRA", qlora_double: "QLoRA, double quantised" };
const KIND = { workload: { kind: "finetuning" } };

/** @param {string} name */
const methodName = (name) => NAMES[name] ?? name.replaceAll("_", " ");

/** @param {any} choice */
const keyOf = ({ method, recompute, attention }) => `${method} ${recompute} ${attention}`;

/** A plan that trains from the start becomes one that goes on training. @param {any} choice */
function apply({ change: { workload, parallelism } }) {
    const kept = parallelism ?? requestOf(plan.peek()).parallelism;
    setPlan(planWith(plan.peek(), { workload: mergePatch(workload, KIND.workload), parallelism: kept }));
}

/** @param {(value: number) => string} write */
const figure = (write) => (value) => (typeof value === "number" ? write(value) : "–");
const signed = (write) => figure((value) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${write(Math.abs(value))}`);

/** @returns {import("../widgets/rows.js").Column[]} */
function columnsOf() {
    const size = (value) => gigabytes(value, units.value);
    const column = (name, title, first, read, write) =>
        ({ name, title, field: name, number: true, first, read, write: (choice) => write(read(choice)) });
    return [
        { name: "method", title: "Method", first: 1, read: ({ method }) => methodName(method) },
        { name: "recompute", title: "Checkpointing", first: 1, read: ({ recompute }) => recompute },
        { name: "attention", title: "Attention", first: 1, read: ({ attention }) => attention },
        { name: "verdict", title: "Verdict", first: 1, read: verdictOf },
        column("device_total_bytes", `Peak ${units.value}`, 1, ({ memory }) => memory?.device_total_bytes ?? null, figure(size)),
        column("gain_bytes", `Saves ${units.value}`, -1, ({ gain_bytes: bytes }) => bytes, figure(size)),
        column("step_s", "Step", 1, ({ time }) => time?.step_s ?? null, figure(seconds)),
        column("cost_s", "Step against the first", 1, ({ cost_s: cost }) => cost, signed(seconds)),
        column("tokens_per_s", "Tokens/s", -1, ({ throughput }) => throughput?.tokens_per_s ?? null, figure(scaled)),
    ];
}

/** Not of the figures: it is neither copied nor exported. @type {import("../widgets/rows.js").Column} */
const APPLY = { name: "apply", title: "", head: html`<span class="visually-hidden">Apply</span>`, read: () => "",
    write: (choice) => (choice.applicable ? html`
        <button type="button" aria-label="Apply ${methodName(choice.method)}, checkpointing ${choice.recompute}, ${choice.attention} attention"
                onClick=${() => apply(choice)}>Apply</button>` : "–") };

/** @param {{answer: any}} props */
function Choices({ answer: { choices, recommendation } }) {
    const columns = columnsOf();
    const [method, ...figures] = columns;
    const rows = inOrder(choices, columns, said("sort"));
    const isBest = ({ method, recompute, attention }) => method === recommendation.method && recompute === recommendation.recompute
        && attention === recommendation.attention;
    return html`
        <div class="commands"><span class="muted" role="status">${rows.length} choices</span>
            <${TableTools} rows=${rows} columns=${columns} file="shardline-finetuning" /></div>
        <${Table} label="Ways of fine-tuning" columns=${[{ ...method, write: (choice) => `${isBest(choice) ? "★ " : ""}${method.read(choice)}` },
            ...figures, APPLY]} rows=${rows} keyOf=${keyOf} sort=${said("sort")} setSort=${(sort) => say({ sort })}
            more=${(choice) => ({ "data-best": isBest(choice) })} />`;
}

/** @param {{methods: any[]}} props */
function Methods({ methods }) {
    const columns = methods.map((method) => ({ estimate: method }));
    const words = (label, of) => wordsRow(columns, of, label, ({ estimate }) => estimate[of]);
    const rows = [words("Definition", "definition"), words("How it works", "how_it_works"), words("What is left", "kept"),
        words("What it gives up", "lost"), words("Source", "source")].map((row) => ({ ...row, differs: false }));
    return html`
        <${Sheet} label="Methods in words" file="shardline-methods" parts=${[{ title: "The methods", rows }]}
            columns=${methods.map(({ name }) => ({ key: name, title: methodName(name), head: html`<b>${methodName(name)}</b>` }))} />`;
}

export function Tuning() {
    const request = { ...mergePatch(requestOf(plan.value), KIND), of: "finetuning" };
    const { phase, answer, problem, again } = useAnswer(JSON.stringify(request), postComparison);
    return html`
        <section class="panel answer" aria-labelledby="panel-tuning" data-testid="tuning" data-phase=${phase} aria-busy=${phase === "loading"}>
            <header class="panel-head"><h2 id="panel-tuning">Ways of fine-tuning under this plan</h2>
                <${CopyComparison} request=${request} /></header>
            ${problem ? html`<div class="refused"><${Problem} problem=${problem} /><button type="button" onClick=${again}>Try again</button></div>`
                : answer ? html`
                    <p class="binding" role="status" data-testid="tuning-reason">${answer.recommendation.reason}</p>
                    <${Choices} answer=${answer} /><${Methods} methods=${answer.methods} />` : html`<p class="muted">Comparing…</p>`}
        </section>`;
}
