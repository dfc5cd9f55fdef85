/** The criteria of the courses as rows, in words and in the numbers of this model and cluster. Pure but for units. */
import { degreesOf } from "../state/cut.js";
import { dimensionValue } from "../search/figures.js";
import { exact, percent, scaled, seconds } from "../units.js";
import { MEMORY_TERMS, TIME_TERMS } from "../widgets/terms.js";
import { bytes, figureRow, termRows, wordsRow } from "./rows.js";

/** @type {Record<string, string>} */
const NAMES = {
    given: "The planner's plan", dp: "DP (DataParallel)", ddp: "DDP", zero_1: "ZeRO 1", zero_2: "ZeRO 2", zero_3: "ZeRO 3",
    fsdp_shard_grad_op: "FSDP, gradients and states", fsdp_full_shard: "FSDP, everything", hsdp: "HSDP", hsdp_zero_2: "HSDP, gradients and states",
    tensor: "Tensor (TP)", pipeline: "Pipeline (PP)", layer_wise: "Layer-wise", layer_wise_ddp: "Layer-wise, replicated",
    cpu_layers: "Layers on the host", offload: "Offload", mixed: "Mixed (3D)",
};

/** @param {string} name */
export const strategyName = (name) => NAMES[name] ?? name.replaceAll("_", " ");

/** @param {any} strategy @returns {string} its degrees and what it settles */
export function cutOfStrategy({ resolved, change }) {
    if (!resolved) return "";
    const recompute = change.workload?.recompute;
    return [...degreesOf(resolved), `ZeRO ${resolved.zero_stage}`, `MB${resolved.micro_batch_size}`,
        ...(recompute ? [`recompute ${dimensionValue("recompute", recompute)}`] : [])].join(" ");
}

/** Of a strategy, or of a way of fine-tuning. @param {any} column */
export function verdictOf({ applicable, fits, refused }) {
    if (!applicable) return `✕ not possible: ${refused.detail}`;
    return fits ? "✓ fits" : "✕ does not fit";
}

/** @param {any} strategy @returns {any}  with the sums of its traffic */
function withSums(strategy) {
    const { communication } = strategy;
    if (communication === null) return strategy;
    const sum = (of) => communication.reduce((total, item) => total + item[of], 0);
    return { ...strategy, traffic: { bytes: sum("bytes_per_step"), seconds: sum("seconds"),
        latency_s: Math.max(0, ...communication.map(({ message_latency_s: latency }) => latency)) } };
}

/** @param {any} strategy */
function trafficWords({ communication }) {
    const words = (text) => text.replaceAll("_", " ");
    if (communication === null) return null;
    return communication.map((item) =>
        `${words(item.group)} ${words(item.collective)} ${scaled(item.bytes_per_step, "B")}, ${words(item.level)}`).join("; ") || "nothing";
}

/** @param {any} strategy */
function supportWords({ supported_by: list }) {
    return list.map(({ framework, pro, con }) => `${framework}: + ${pro}; − ${con}`).join(". ") || null;
}

/** @param {any[]} strategies @returns {{title: string, rows: import("./rows.js").Row[]}[]} */
export function criteriaOf(strategies) {
    const columns = strategies.map((strategy) => ({ estimate: withSums(strategy) }));
    /* Words of different strategies always differ: that needs no mark. */
    const words = (label, read) => ({ ...wordsRow(columns, label, label, ({ estimate }) => read(estimate)), differs: false });
    const figure = (/** @type {import("./rows.js").Figure} */ ...spec) => figureRow(columns, spec);
    const range = ({ time }) => (time ? time.step_interval_s.map(seconds).join(" – ") : null);
    return [
        { title: "Here", rows: [
            words("Verdict", verdictOf), words("Plan", (s) => cutOfStrategy(s) || null),
            figure("/time/step_s", "Step time", -1, "s", seconds), words("Range of the step", range),
            figure("/throughput/tokens_per_s", "Tokens/s", 1, "", scaled), figure("/throughput/mfu_full", "MFU", 1, "", percent)] },
        { title: "What it is", rows: [
            words("Definition", (s) => s.definition), words("Use case", (s) => s.use_when), words("How it works", (s) => s.how_it_works)] },
        { title: "Communication", rows: [
            figure("/traffic/bytes", "Volume per step and device", -1, "bytes", (value) => scaled(value, "B")),
            words("By group", trafficWords), figure("/traffic/seconds", "Time of it", -1, "s", seconds),
            figure("/time/exposed_communication_s", "In the open", -1, "s", seconds),
            words("Sends activations", (s) => (s.exchanges_activations ? "yes" : "no"))] },
        { title: "Memory of the fullest device", rows: [
            figure("/memory/device_total_bytes", "Peak", -1, "bytes", bytes), figure("/memory/headroom_bytes", "Headroom", 1, "bytes", bytes),
            ...termRows(columns, MEMORY_TERMS, ({ memory }) => memory?.terms ?? [], { of: "bytes", unit: "bytes", write: bytes }),
            figure("/memory/host_bytes_per_node", "In host memory, per node", -1, "bytes", bytes)] },
        { title: "Time of a step", rows: [
            ...termRows(columns, TIME_TERMS, ({ time }) => time?.terms ?? [], { of: "seconds", unit: "s", write: seconds }),
            figure("/time/bubble_ratio", "Pipeline idle", -1, "", percent)] },
        { title: "Scalability", rows: [words("Grows until", (s) => s.scalability), words("Its limit here", (s) => s.scaling?.sentence ?? null)] },
        { title: "Complexity", rows: [figure("/complexity", "Degree, 1 to 5", -1, "", exact), words("What has to change", (s) => s.adoption)] },
        { title: "Latency", rows: [
            words("Who waits for whom", (s) => s.latency), figure("/traffic/latency_s", "Slowest message", -1, "s", seconds)] },
        { title: "Fault tolerance", rows: [
            words("A lost device", (s) => s.fault_tolerance), figure("/failure/ranks_stopped", "Ranks that stop", -1, "", exact),
            figure("/failure/copies_left", "Copies of the state left", 1, "", exact), figure("/failure/lost_s", "Work lost", -1, "s", seconds),
            figure("/failure/mean_time_between_failures_s", "Between failures", 1, "s", seconds),
            figure("/failure/goodput_ratio", "Goodput", 1, "", percent)] },
        { title: "Practice", rows: [
            words("Examples", (s) => s.examples), words("Supported by", supportWords), words("Source", (s) => s.source)] },
    ].map(({ title, rows }) => ({ title, rows: rows.filter(({ cells }) => cells.some(({ text }) => text !== "–")) }));
}
