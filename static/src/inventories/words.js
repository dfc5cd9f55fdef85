/** What the page of inventories says in words: ages, counts, fields of a node. Pure but for the clock and the units. */
import { exact } from "../units.js";
import { wordsOf } from "../widgets/values.js";

/** @type {[number, string][]} */
const SPANS = [[86_400, "day"], [3600, "hour"], [60, "minute"]];

/** @param {number} count @param {string} word */
export function many(count, word) {
    return `${exact(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** @param {string} time  RFC 3339 @param {number} [now_ms] */
export function age(time, now_ms = Date.now()) {
    const past_s = (now_ms - Date.parse(time)) / 1000;
    const [span_s, word] = SPANS.find(([size_s]) => past_s >= size_s) ?? /** @type {[number, string]} */ ([0, ""]);
    return span_s === 0 ? "just now" : `${many(Math.floor(past_s / span_s), word)} ago`;
}

/** To the minute, as everywhere in the records: UTC. @param {string} time */
export function when(time) {
    return `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}

/** @type {Record<string, string>} */
const LABELS = {
    accelerators: "accelerators of a node", memory_bytes: "memory of a GPU", nominal_memory_bytes: "nominal memory of a GPU",
    reserved_bytes: "memory that the driver keeps", host_memory_bytes: "memory of the host", power_limit_w: "power limit",
    scale_up_bytes_per_s: "scale-up links of a GPU", scale_up_domain: "GPUs of a scale-up domain", nic_count: "network cards",
    nic_bytes_per_s: "rate of a network card", nic_kind: "kind of network", price_per_node_hour: "price of a node-hour",
    sliced_accelerators: "GPUs cut into slices", cpus: "processor threads", driver: "driver",
};

/** @param {string} field */
export function labelOf(field) {
    return LABELS[field] ?? wordsOf(field);
}

const MOST_NAMES = 8;

/** Names and ranges, the first of them. @param {string[]} hosts */
export function named(hosts) {
    const more = hosts.length - MOST_NAMES;
    return hosts.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${exact(more)} more` : "");
}
