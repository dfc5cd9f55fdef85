/**
 * Files that somebody dropped or chose: a config.json becomes the model, what tools print becomes
 * the cluster. Nothing is stored; what was read of a pool goes with the request, where the address
 * holds it.
 *
 * @typedef {{names: string[], pending: boolean, report: Api.ParsedInventory, problem: import("../../state/api.js").Problem | null,
 *            planned: string}} Intake   planned: the pool that the plan is on
 */
import { signal } from "@preact/signals";
import * as api from "../../state/api.js";
import { tell } from "../../shell/share.js";
import { NO_MODEL, withExtra, withoutExtra } from "../../state/plan.js";
import { accelerators, asProblem, change, plan, planAfter, setPlan } from "../../state/store.js";
import { isConfig, readConfig } from "../read-config.js";

/** @type {import("@preact/signals").Signal<Intake | null>} */
export const intake = signal(null);

/** Only the last files count: an older answer that comes late is dropped. */
let reading = new AbortController();

/** Nodes that can take work, as far as the files say. @param {Api.ParsedPool} pool  of a report */
export function usableNodes(pool) {
    return pool.states.unknown + pool.states.usable;
}

/** The pool as the spec has it, where it does. @param {Api.ParsedInventory} report @param {Api.ParsedPool} pool @returns {Api.InventoryPool | undefined} */
export function inSpecOf({ spec }, { name }) {
    return spec?.pools.find((/** @type {Api.InventoryPool} */ pool) => pool.name === name);
}

/** Those that a plan may have, the usual one first. */
const PRECISIONS = ["bf16", "fp16", "fp32"];

/** What of the workload goes with a part that a file named, so that it has an answer: kernels of another generation are left open. @param {string} id */
function fittedTo(id) {
    const [part, before] = [id, plan.value.accelerator].map((name) => accelerators.value.find((one) => one.id === name));
    const { attention, precision } = plan.value;
    return part ? { attention: part.arch === before?.arch ? attention : "",
        precision: [precision, ...PRECISIONS].find((/** @type {"bf16"} */ name) => part.peak_flops_per_s[name]) ?? precision } : {};
}

/**
 * Puts the plan on a pool as the files describe it.
 * @param {Api.ParsedInventory} report @param {Api.ParsedPool} pool  of its pools @param {string} accelerator  of the catalogue
 */
export function planOn(report, pool, accelerator) {
    const { node, fabric } = inSpecOf(report, pool);
    const { accelerator: printed, accelerators, ...figures } = node;
    const fitted = fittedTo(accelerator);
    if (Object.entries(fitted).some(([key, value]) => plan.value[key] !== value)) tell("Attention and precision go with the part");
    const next = planAfter(plan.value, {
        ...fitted, accelerator, perNode: accelerators ?? plan.value.perNode, nodes: usableNodes(pool), inventory: "", pool: "",
    });
    const bare = withoutExtra(next, "/cluster");
    const read = fabric ? { ...figures, fabric } : figures;
    setPlan(Object.keys(read).length > 0 ? withExtra(bare, { cluster: read }) : bare);
    intake.value = { ...intake.value, planned: pool.name };
}

/** The pool to plan on at once: the one with the most accelerators of those that are known. @param {Api.ParsedInventory} report */
function largestKnown(report) {
    const known = report.pools.filter((pool) => pool.accelerator !== null && usableNodes(pool) > 0 && inSpecOf(report, pool));
    return known.sort((a, b) => b.accelerators - a.accelerators)[0] ?? null;
}

/** @param {File[]} files */
async function takeInventory(files) {
    reading.abort();
    reading = new AbortController();
    /** @type {Intake} */
    const begun = { names: files.map(({ name }) => name), pending: true, report: null, problem: null, planned: "" };
    intake.value = begun;
    try {
        const report = await api.parseInventory(files, reading.signal);
        intake.value = { ...begun, pending: false, report };
        const pool = largestKnown(report);
        if (pool) planOn(report, pool, pool.accelerator);
    } catch (error) {
        const problem = asProblem(error);
        if (problem) intake.value = { ...begun, pending: false, problem };
    }
}

/** @param {Iterable<File>} list */
export async function takeFiles(list) {
    const files = [...list];
    if (files.length === 0) return;
    const texts = await Promise.all(files.map((file) => (/\.json$/i.test(file.name) ? file.text() : "")));
    const at = texts.findIndex(isConfig);
    if (at >= 0) change({ ...NO_MODEL, config: readConfig(texts[at]).config });
    const others = files.filter((_, place) => place !== at);
    if (others.length > 0) await takeInventory(others);
}
