/** What the service names, as a reader would say it: names, counts, and settings whose values say little by themselves. */
import { exact, gigabytes, percent, scaled } from "./units.js";

/** A name of the service as words. @param {string} name */
export const wordsOf = (name) => name.replaceAll("_", " ");

/** The name of what a pointer leads to. @param {string} pointer */
export const leafOf = (pointer) => pointer.slice(pointer.lastIndexOf("/") + 1);

/** @param {number} count @param {string} word */
export const many = (count, word) => `${exact(count)} ${word}${count === 1 ? "" : "s"}`;

const STATES = { optimizer: "optimizer states", parameters: "parameters", activations: "activations" };
/** @type {Record<string, string>} */
const PLACES = { cpu: "in host memory", nvme: "on disks of the host" };

/** @param {any} places  by state, and the fraction of the optimizer */
function offloaded(places) {
    const part = places.optimizer_fraction ?? 1;
    const moved = Object.entries(STATES).filter(([state]) => places[state] in PLACES)
        .map(([state, words]) => `${state === "optimizer" && part < 1 ? `${Math.round(100 * part)} % of ` : ""}${words} ${PLACES[places[state]]}`);
    return moved.length > 0 ? moved.join(" and ") : "nothing in host memory";
}

/**
 * @param {{mode: string, method?: string, layers?: number, modules?: string[], mlp_tiles?: number}} recompute  the object; a word has a control of its own
 */
function recomputed({ mode, method, layers, modules, mlp_tiles: tiles }) {
    if (tiles) return `recompute ${mode}, MLPs in ${tiles} tiles`;
    if (mode === "modules") return `recompute ${modules.map(wordsOf).join(", ")}`;
    return method === "block" ? `recompute the first ${layers} blocks of each chunk`
        : `recompute all blocks, ${layers} at a time`;
}

/** @param {{count: number, bytes_per_s: number, kind?: string}[]} groups */
function cards(groups) {
    return groups.map(({ count, bytes_per_s, kind }) => `${count} × ${scaled(bytes_per_s, "B/s")}${kind ? ` ${kind}` : ""}`).join(", ");
}

/** @param {{method: string, rank?: number, base?: string}} adapter */
function adapted({ method, rank, base }) {
    return `${method === "lora" ? "LoRA" : method}${rank ? ` of rank ${rank}` : ""}${base ? `, base in ${base}` : ""}`;
}

/** @param {string} what @returns {(bytes: number, unit: "GiB" | "GB") => string} */
const amount = (what) => (bytes, unit) => `${what} ${gigabytes(bytes, unit)} ${unit}`;

/** @type {Record<string, (value: any, unit: "GiB" | "GB") => string>} by pointer into the request */
const SPOKEN = {
    "/cluster/memory_bytes": amount("memory"),
    "/cluster/reserved_bytes": amount("reserved"),
    "/cluster/host_memory_bytes": amount("memory of a node"),
    "/cluster/scale_up_bytes_per_s": (rate) => `scale-up links ${scaled(rate, "B/s")}`,
    "/cluster/scale_up_pair_bytes_per_s": (rate) => `links of a pair ${scaled(rate, "B/s")}`,
    "/cluster/scale_up_domain": (size) => `scale-up domain of ${size}`,
    "/cluster/node_type": (id) => `node type ${id}`,
    "/cluster/nics": (groups) => `network cards ${cards(groups)}`,
    "/cluster/accelerator_overrides": ({ sustained_ratio: ratio, ...others }) =>
        (ratio === undefined || Object.keys(others).length > 0 ? "" : `sustained clock ${percent(ratio)}, from your measurement`),
    "/workload/adapter": adapted,
    "/workload/offload": offloaded,
    "/workload/recompute": recomputed,
    "/cluster/nodes": (nodes) => many(nodes, "node"),
};

/**
 * The whole setting in words; empty where its name and value do.
 * @param {string} pointer @param {any} value @param {"GiB" | "GB"} [unit]  of memory
 */
export function spoken(pointer, value, unit = "GiB") {
    const plain = !pointer.startsWith("/cluster/") && (value === null || typeof value !== "object");
    return plain || !(pointer in SPOKEN) ? "" : SPOKEN[pointer](value, unit);
}

/** A value by itself. @param {any} value @returns {string} */
export function plainWords(value) {
    if (typeof value === "number") return exact(value);
    if (value === null || typeof value !== "object") return { true: "on", false: "off", null: "open" }[String(value)] ?? wordsOf(value);
    return Object.entries(value).map(([name, member]) => (Array.isArray(value) ? "" : `${wordsOf(name)} `) + plainWords(member)).join(", ");
}

/** A member of a request without a control of its own. @param {string} pointer @param {any} value @param {"GiB" | "GB"} [unit] */
export const memberWords = (pointer, value, unit) => spoken(pointer, value, unit) || `${wordsOf(leafOf(pointer))} ${plainWords(value)}`;
