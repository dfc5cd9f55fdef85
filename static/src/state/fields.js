/**
 * One row per setting of the page: where it lives in the URL and where in an estimate request.
 *
 * Everything that carries a setting from one place to another (URL, request, merge patch,
 * problem document) reads this table, so that a setting is described once.
 *
 * @typedef {Object} Field
 * @property {string} key       name in the plan
 * @property {string} url       name in the query string
 * @property {"text" | "count" | "flag"} type
 * @property {string | number | boolean} initial
 * @property {string} pointer   RFC 6901 pointer into the request
 * @property {string} label     what the page calls it
 * @property {string} [choice]  name of its list in the answer of estimates:choices
 * @property {boolean} [optional]  may be unknown: the field is then left out of the request
 */

/** Word in the URL for "left out on purpose": absence alone means the initial value. */
export const UNKNOWN = "unknown";

/** @type {Field[]} */
export const FIELDS = [
    { key: "hub", url: "model", type: "text", initial: "", pointer: "/model/hub", label: "Model" },
    { key: "revision", url: "rev", type: "text", initial: "", pointer: "/model/revision", label: "Revision" },
    { key: "example", url: "example", type: "text", initial: "", pointer: "/model/config", label: "Model" },

    { key: "accelerator", url: "acc", type: "text", initial: "nvidia-h100-sxm5-80gb",
        pointer: "/cluster/accelerator", label: "Accelerator" },
    { key: "perNode", url: "pernode", type: "count", initial: 8,
        pointer: "/cluster/accelerators_per_node", label: "Per node" },
    { key: "inventory", url: "inv", type: "text", initial: "", pointer: "/cluster/inventory", label: "Inventory" },
    { key: "pool", url: "pool", type: "text", initial: "", pointer: "/cluster/pool", label: "Pool" },
    { key: "nodes", url: "nodes", type: "count", initial: 1, pointer: "/cluster/nodes", label: "Nodes" },

    { key: "framework", url: "fw", type: "text", initial: "megatron",
        pointer: "/workload/framework", label: "Framework", choice: "framework" },
    { key: "software", url: "sw", type: "text", initial: "",
        pointer: "/workload/software", label: "Software", choice: "software", optional: true },
    { key: "sequenceLength", url: "seq", type: "count", initial: 4096,
        pointer: "/workload/sequence_length", label: "Sequence length" },
    { key: "globalBatch", url: "gbs", type: "count", initial: 128,
        pointer: "/workload/global_batch_size", label: "Global batch" },
    { key: "microBatch", url: "mbs", type: "count", initial: 1,
        pointer: "/workload/micro_batch_size", label: "Micro-batch", choice: "micro_batch_size" },
    { key: "precision", url: "prec", type: "text", initial: "bf16",
        pointer: "/workload/precision", label: "Precision", choice: "precision" },
    { key: "recompute", url: "rc", type: "text", initial: "selective",
        pointer: "/workload/recompute", label: "Recompute", choice: "recompute", optional: true },
    { key: "attention", url: "attn", type: "text", initial: "flash2",
        pointer: "/workload/attention", label: "Attention", choice: "attention", optional: true },
    { key: "tokens", url: "tokens", type: "count", initial: 0,
        pointer: "/workload/tokens", label: "Training tokens", optional: true },

    { key: "tensor", url: "tp", type: "count", initial: 1,
        pointer: "/parallelism/tensor", label: "Tensor", choice: "tensor" },
    { key: "sequence", url: "sp", type: "flag", initial: false,
        pointer: "/parallelism/sequence", label: "Sequence parallel", choice: "sequence" },
    { key: "pipeline", url: "pp", type: "count", initial: 1,
        pointer: "/parallelism/pipeline", label: "Pipeline", choice: "pipeline" },
    { key: "virtualPipeline", url: "vpp", type: "count", initial: 1,
        pointer: "/parallelism/virtual_pipeline", label: "Virtual pipeline", choice: "virtual_pipeline" },
    { key: "context", url: "cp", type: "count", initial: 1,
        pointer: "/parallelism/context", label: "Context", choice: "context" },
    { key: "expert", url: "ep", type: "count", initial: 1,
        pointer: "/parallelism/expert", label: "Expert", choice: "expert" },
    { key: "zero", url: "zero", type: "count", initial: 1,
        pointer: "/parallelism/zero_stage", label: "ZeRO stage", choice: "zero_stage" },
];

/** @type {Map<string, Field>} */
export const FIELD_BY_KEY = new Map(FIELDS.map((field) => [field.key, field]));

/** @type {Map<string, Field>} */
const FIELD_BY_POINTER = new Map(FIELDS.map((field) => [field.pointer, field]));

/** Where a problem is shown that speaks about no setting of its own, or about several. */
const STAND_INS = {
    "/model": "hub", "/model/config": "hub", "/cluster": "accelerator", "/parallelism": "tensor",
    "/parallelism/data": "globalBatch", "/workload/gradient_accumulation": "globalBatch",
};

/** @param {string} pointer @returns {Field | undefined} */
export function fieldAt(pointer) {
    return FIELD_BY_POINTER.get(pointer);
}

/**
 * The setting a problem speaks about: the pointer itself or its nearest ancestor. A fault in the
 * model or the cluster as a whole is shown at the setting that names it.
 *
 * @param {string} pointer
 * @returns {string | null} the key of a field
 */
export function fieldForProblem(pointer) {
    for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
        const field = FIELD_BY_POINTER.get(at);
        if (field) return field.key === "example" ? "hub" : field.key;
        if (STAND_INS[at]) return STAND_INS[at];
    }
    return null;
}

/**
 * A problem as it reads at the setting that shows it. Away from its own setting it says what it is
 * about, and its values are no values of that setting.
 *
 * @param {{pointer: string, code: string, detail: string, hint?: string}} item
 * @param {string} key
 */
export function atField(item, key) {
    const own = FIELD_BY_KEY.get(key).pointer;
    if (item.pointer === own || STAND_INS[item.pointer] === "hub") return item;
    const name = item.pointer.slice(item.pointer.lastIndexOf("/") + 1).replaceAll("_", " ");
    const values = /^[0-9 ,]+$/.test(item.hint ?? "");
    return { ...item, detail: `${name}: ${item.detail}`, hint: values ? undefined : item.hint };
}
