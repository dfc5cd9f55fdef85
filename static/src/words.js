/** Settings whose values say little by themselves, as a reader would say them. */

const STATES = { optimizer: "optimizer states", parameters: "parameters", activations: "activations" };
const PLACES = { cpu: "in host memory", nvme: "on disks of the host" };

/** @param {Record<string, string>} places */
function offloaded(places) {
    const moved = Object.entries(STATES).filter(([state]) => places[state] in PLACES)
        .map(([state, words]) => `${words} ${PLACES[places[state]]}`);
    return moved.length > 0 ? moved.join(" and ") : "nothing in host memory";
}

/** @param {any} recompute  the object; a word has a control of its own */
function recomputed({ mode, method, layers, modules }) {
    if (mode === "modules") return `recompute ${modules.map((name) => name.replaceAll("_", " ")).join(", ")}`;
    return method === "block" ? `recompute the first ${layers} blocks of each chunk`
        : `recompute all blocks, ${layers} at a time`;
}

/** @type {Record<string, (value: any) => string>} by pointer into the request */
const SPOKEN = {
    "/workload/offload": offloaded,
    "/workload/recompute": recomputed,
    "/cluster/nodes": (nodes) => `${nodes} nodes`,
};

/**
 * The whole setting in words; empty where its name and value do.
 * @param {string} pointer @param {any} value
 */
export function spoken(pointer, value) {
    const plain = pointer !== "/cluster/nodes" && (value === null || typeof value !== "object");
    return plain || !(pointer in SPOKEN) ? "" : SPOKEN[pointer](value);
}
