/** The criteria of the courses as rows, in words and in the numbers of this model and cluster. Pure but for units. */
import { degreesOf } from "../state/cut.js";
import { dimensionValue } from "../search/figures.js";
import { memorySize, readable } from "../state/prefs.js";
import { percent, scaled, seconds } from "../units.js";
import { fitText } from "../widgets/fit.js";
import { MEMORY_TERMS, TIME_TERMS } from "../widgets/terms.js";
import { called, titled } from "../widgets/words.js";
import { figureRow, known, termRows, trafficRows, wordsRow } from "./rows.js";

/** @param {Api.Strategy} strategy @returns {string} its degrees and what it settles */
export function cutOfStrategy({ resolved, change }) {
    if (!resolved) return "";
    const recompute = change.workload?.recompute;
    return [...degreesOf({ ...change.parallelism, ...resolved }), `ZeRO ${resolved.zero_stage}`, `MB${resolved.micro_batch_size}`,
        ...(recompute ? [`recompute ${dimensionValue("recompute", recompute)}`] : [])].join(" ");
}

/** Of a strategy, or of a way of fine-tuning. @param {any} column */
export function verdictOf(column) {
    return column.applicable ? fitText(column) : `✕ not possible: ${readable(column.refused.detail)}`;
}

/** @typedef {"bytes_per_step" | "seconds" | "message_latency_s"} Of */

/** A figure of all collectives together. @param {Api.ColumnTraffic[]} items @param {Of} of @param {(names: string[]) => string} [join]  how theirs make it */
function aboutAll(items, of, join = (names) => names.join(" + ")) {
    const named = items.map((item) => /** @type {[string, Api.ColumnTraffic]} */ ([`${item.group}_${item.collective}_${item.level}`, item]));
    return { formula: join(named.map(([name]) => name)), inputs: Object.fromEntries(named.map(([name, item]) => [name, item[of]])),
        parts: Object.fromEntries(named.map(([name, item]) => [name, item.explain[of]])), source: called("sources", "collectives") };
}

/** @param {Api.Strategy} strategy @returns {any}  with the sums of its traffic */
function withSums(strategy) {
    const { communication } = strategy;
    if (communication === null) return strategy;
    /** @param {Of} of */
    const all = (of) => communication.map((item) => item[of]);
    /** @param {Of} of */
    const sum = (of) => all(of).reduce((total, value) => total + value, 0);
    const explanations = { "/traffic/bytes": aboutAll(communication, "bytes_per_step"), "/traffic/seconds": aboutAll(communication, "seconds"),
        "/traffic/latency_s": aboutAll(communication, "message_latency_s", (names) => `the largest of ${names.join(", ")}`) };
    return { ...strategy, explanations, traffic: { bytes: sum("bytes_per_step"), seconds: sum("seconds"), latency_s: Math.max(0, ...all("message_latency_s")) } };
}

/** @param {Api.Strategy} strategy */
function supportWords({ supported_by: list }) {
    return list.map(({ framework, pro, con }) => `${framework}: + ${pro}; − ${con}`).join(". ") || null;
}

/** @param {Api.Strategy[]} strategies @returns {{title: string, rows: import("./rows.js").Row[]}[]} */
export function criteriaOf(strategies) {
    const columns = strategies.map((strategy) => ({ estimate: withSums(strategy) }));
    /** Words of different strategies always differ: that needs no mark. @param {string} label @param {(strategy: any) => string | null} read */
    const words = (label, read) => ({ ...wordsRow(columns, label, label, ({ estimate }) => read(estimate)), differs: false });
    /** @param {string} name */
    const told = (name) => words(titled("criteria", name), (strategy) => strategy[name] || null);
    const figure = (/** @type {import("./rows.js").Figure} */ ...spec) => figureRow(columns, spec, "criteria");
    return [
        { title: "Here", rows: [
            words("Verdict", verdictOf), words("Plan", (s) => cutOfStrategy(s) || null), figure("/time/step_s", -1),
            words("Range of the step", ({ time }) => time?.step_interval_s.map((/** @type {number} */ end_s) => seconds(end_s)).join(" – ") ?? null),
            figure("/throughput/tokens_per_s", 1), figure("/throughput/mfu_full", 1, percent)] },
        { title: "What it is", rows: ["definition", "use_when", "how_it_works"].map(told) },
        { title: "Communication", rows: [
            figure("/traffic/bytes", -1, (value) => scaled(value, "B")), ...trafficRows(columns), figure("/traffic/seconds", -1, seconds),
            figure("/time/exposed_communication_s", -1), words("Sends activations", (s) => (s.exchanges_activations ? "yes" : "no"))] },
        { title: "Memory of the fullest device", rows: [
            figure("/memory/device_total_bytes", -1), figure("/memory/headroom_bytes", 1),
            ...termRows(columns, MEMORY_TERMS, "bytes", ({ memory }) => memory?.terms ?? []), figure("/memory/host_bytes_per_node", -1, memorySize)] },
        { title: "Time of a step", rows: [
            ...termRows(columns, TIME_TERMS, "seconds", ({ time }) => time?.terms ?? []), figure("/time/bubble_ratio", -1)] },
        { title: "Scalability", rows: [told("scalability"), words("Its limit here", (s) => s.scaling ? readable(s.scaling.sentence) : null)] },
        { title: "Complexity", rows: [figure("/complexity", -1), told("adoption")] },
        { title: "Latency", rows: [told("latency"), figure("/traffic/latency_s", -1)] },
        { title: "Fault tolerance", rows: [
            told("fault_tolerance"), figure("/failure/ranks_stopped", -1), figure("/failure/copies_left", 1), figure("/failure/lost_s", -1),
            figure("/failure/mean_time_between_failures_s", 1), figure("/failure/goodput_ratio", 1)] },
        { title: "Practice", rows: [told("examples"), words("Supported by", supportWords), told("source")] },
    ].map(known);
}
