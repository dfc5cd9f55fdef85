/** Ways of fine-tuning under the plan of the page: what trains, what is rebuilt, which attention. */
import { html } from "../html.js";
import { postComparison } from "../state/api.js";
import { mergePatch, requestOf } from "../state/plan.js";
import { readable, units } from "../state/prefs.js";
import { plan, setPlan } from "../state/store.js";
import { gigabytes, scaled, seconds } from "../units.js";
import { Told } from "../widgets/explain.js";
import { inOrder } from "../widgets/rows.js";
import { Table, TableTools } from "../widgets/table.js";
import { signed } from "../widgets/values.js";
import { called, known, titled } from "../widgets/words.js";
import { Answered } from "./answered.js";
import { said, say } from "./columns.js";
import { wordsRow } from "./rows.js";
import { Sheet } from "./sheet.js";
import { planWith } from "./strategies.js";
import { verdictOf } from "./strategy-rows.js";

const KIND = { workload: { kind: "finetuning" } };

/** @param {Pick<Api.Tuning, "method" | "recompute" | "attention">} choice */
const keyOf = ({ method, recompute, attention }) => `${method} ${recompute} ${attention}`;

/** A plan that trains from the start becomes one that goes on training. @param {Api.Tuning} choice */
function apply({ change: { workload, parallelism } }) {
    const kept = parallelism ?? requestOf(plan.peek()).parallelism;
    setPlan(planWith(plan.peek(), { workload: mergePatch(workload, KIND.workload), parallelism: kept }));
}

/** @typedef {import("../widgets/rows.js").Column} Column */

/** @returns {Column[]} */
export function columnsOf() {
    /** @param {number} value */
    const size = (value) => gigabytes(value, units.value);
    /** @param {string} name @param {string} title @param {Column["read"]} read @returns {Column} */
    const word = (name, title, read) => ({ name, title, first: 1, read });
    /** @param {string} name @param {string} title @param {1 | -1} first @param {(value: number) => string} write @param {Column["read"]} [read] @returns {Column} */
    const figure = (name, title, first, write, read = (choice) => choice[name]) => ({ name, title, field: name, number: true, first, read,
        write: (choice) => (typeof read(choice) === "number" ? html`<${Told} name=${name} title=${title} text=${write(read(choice))} value=${read(choice)} />` : "–") });
    return [
        word("method", "Method", ({ method }) => called("ways", method)), word("recompute", "Checkpointing", ({ recompute }) => recompute),
        word("attention", "Attention", ({ attention }) => attention), word("verdict", "Verdict", verdictOf),
        figure("device_total_bytes", `Peak ${units.value}`, 1, size, ({ memory }) => memory?.device_total_bytes),
        figure("gain_bytes", `Saves ${units.value}`, -1, size), figure("step_s", "Step", 1, seconds, ({ time }) => time?.step_s),
        figure("cost_s", "Against first", 1, (value) => signed(value, seconds)),
        figure("tokens_per_s", "Tokens/s", -1, scaled, ({ throughput }) => throughput?.tokens_per_s),
    ];
}

/** Not of the figures: it is neither copied nor exported. @type {import("../widgets/rows.js").Column} */
const APPLY = { name: "apply", title: "", head: html`<span class="visually-hidden">Apply</span>`, read: () => "",
    write: (choice) => (choice.applicable ? html`
        <button type="button" aria-label="Apply ${called("ways", choice.method)}, checkpointing ${choice.recompute}, ${choice.attention} attention"
                onClick=${() => apply(choice)}>Apply</button>` : "–") };

/** @param {{answer: Api.TuningComparison}} props */
function Choices({ answer: { choices, recommendation } }) {
    const columns = columnsOf();
    const [method, ...figures] = columns;
    const rows = inOrder(choices, columns, said("sort"));
    /** @param {Api.Tuning} choice */
    const isBest = (choice) => keyOf(choice) === keyOf(recommendation);
    return html`
        <div class="commands"><span class="muted" role="status">${rows.length} choices</span>
            <${TableTools} rows=${rows} columns=${columns} file="shardline-finetuning" /></div>
        <${Table} cards label="Ways of fine-tuning" columns=${[{ ...method, write: (/** @type {Api.Tuning} */ choice) => `${isBest(choice) ? "★ " : ""}${method.read(choice)}` },
            ...figures, APPLY]} rows=${rows} keyOf=${keyOf} sort=${said("sort")} setSort=${(sort) => say({ sort })}
            more=${(/** @type {Api.Tuning} */ choice) => ({ "data-best": isBest(choice) })} />`;
}

/** @param {{methods: Api.TuningComparison["methods"][number][]}} props */
function Methods({ methods }) {
    const columns = methods.map((method) => ({ estimate: method }));
    const rows = ["definition", "how_it_works", "kept", "lost", "source"].map((of) =>
        ({ ...wordsRow(columns, of, titled("criteria", of), ({ estimate }) => estimate[of]), differs: false }));
    return html`
        <${Sheet} cards label="Methods in words" file="shardline-methods" parts=${[{ title: "The methods", rows }]}
            columns=${methods.map(({ name }) => ({ key: name, title: called("ways", name), head: html`<b>${called("ways", name)}</b>` }))} />`;
}

export function Tuning() {
    const request = { ...mergePatch(requestOf(plan.value), KIND), of: "finetuning" };
    return html`
        <${Answered} title=${known("help", "tuning")} id="tuning" asked=${request} ask=${postComparison}>${(answer) => html`
            <p class="binding" role="status" data-testid="tuning-reason">${readable(answer.recommendation.reason)}</p>
            <${Choices} answer=${answer} /><${Methods} methods=${answer.methods} />`}
        <//>`;
}
