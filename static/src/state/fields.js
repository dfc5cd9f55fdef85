/**
 * One row per setting of the page: where it lives in the URL and where in an estimate request.
 *
 * Everything that carries a setting from one place to another (URL, request, merge patch,
 * problem document) reads this table, so that a setting is described once.
 *
 * @typedef {Object} Field
 * @property {string} key       name in the plan
 * @property {string} url       name in the query string
 * @property {string | number | boolean} initial
 * @property {string} pointer   RFC 6901 pointer into the request
 * @property {string} label     what the page calls it
 * @property {boolean} [optional]  may be unknown: the field is then left out of the request
 * @property {string} [open]    what the page calls it when it is left out; unknown unless said
 * @property {"text" | "count" | "flag"} type  as its initial value has it
 * @property {string} choice  name of its list in the answer of estimates:choices, where it has one
 */

import { leafOf, plainWords, wordsOf } from "../words.js";

/** Word in the URL for "left out on purpose": absence alone means the initial value. */
export const UNKNOWN = "unknown";

const ROWS = [
    { key: "hub", url: "model", initial: "", pointer: "/model/hub", label: "Model" },
    { key: "revision", url: "rev", initial: "", pointer: "/model/revision", label: "Revision", open: "default" },
    { key: "example", url: "example", initial: "", pointer: "/model/config", label: "Model" },

    { key: "accelerator", url: "acc", initial: "nvidia-h100-sxm5-80gb", pointer: "/cluster/accelerator", label: "Accelerator" },
    { key: "perNode", url: "pernode", initial: 8, pointer: "/cluster/accelerators_per_node", label: "Per node" },
    { key: "inventory", url: "inv", initial: "", pointer: "/cluster/inventory", label: "Inventory", open: "none" },
    { key: "pool", url: "pool", initial: "", pointer: "/cluster/pool", label: "Pool", open: "none" },
    { key: "nodes", url: "nodes", initial: 1, pointer: "/cluster/nodes", label: "Nodes" },

    { key: "framework", url: "fw", initial: "megatron", pointer: "/workload/framework", label: "Framework" },
    { key: "software", url: "sw", initial: "", pointer: "/workload/software", label: "Software", optional: true },
    { key: "sequenceLength", url: "seq", initial: 4096, pointer: "/workload/sequence_length", label: "Sequence length" },
    { key: "globalBatch", url: "gbs", initial: 128, pointer: "/workload/global_batch_size", label: "Global batch" },
    { key: "microBatch", url: "mbs", initial: 1, pointer: "/workload/micro_batch_size", label: "Micro-batch" },
    { key: "precision", url: "prec", initial: "bf16", pointer: "/workload/precision", label: "Precision" },
    { key: "recompute", url: "rc", initial: "selective", pointer: "/workload/recompute", label: "Recompute", optional: true },
    { key: "attention", url: "attn", initial: "flash2", pointer: "/workload/attention", label: "Attention", optional: true },
    { key: "tokens", url: "tokens", initial: 0, pointer: "/workload/tokens", label: "Training tokens", optional: true },

    { key: "tensor", url: "tp", initial: 1, pointer: "/parallelism/tensor", label: "Tensor" },
    { key: "sequence", url: "sp", initial: false, pointer: "/parallelism/sequence", label: "Sequence parallel" },
    { key: "pipeline", url: "pp", initial: 1, pointer: "/parallelism/pipeline", label: "Pipeline" },
    { key: "virtualPipeline", url: "vpp", initial: 1, pointer: "/parallelism/virtual_pipeline", label: "Virtual pipeline" },
    { key: "context", url: "cp", initial: 1, pointer: "/parallelism/context", label: "Context" },
    { key: "expert", url: "ep", initial: 1, pointer: "/parallelism/expert", label: "Expert" },
    { key: "zero", url: "zero", initial: 1, pointer: "/parallelism/zero_stage", label: "ZeRO stage" },
    { key: "gradientSync", url: "gs", initial: "", pointer: "/parallelism/gradient_sync", label: "Gradient sync", optional: true, open: "default" },
];

/** @type {Record<string, Field["type"]>} */
const TYPES = { string: "text", number: "count", boolean: "flag" };

/** @type {Field[]} */
export const FIELDS = ROWS.map((row) => ({ ...row, type: TYPES[typeof row.initial], choice: leafOf(row.pointer) }));

/** @type {Map<string, Field>} */
export const FIELD_BY_KEY = new Map(FIELDS.map((field) => [field.key, field]));

/** @type {Map<string, Field>} */
const FIELD_BY_POINTER = new Map(FIELDS.map((field) => [field.pointer, field]));

/** Where a problem is shown that speaks about no setting of its own, or about several. @type {Record<string, string>} */
const STAND_INS = {
    "/model": "hub", "/model/config": "hub", "/cluster": "accelerator", "/parallelism": "tensor",
    "/parallelism/data": "globalBatch", "/workload/gradient_accumulation": "globalBatch",
};

/** A value as a person says it. @param {Field} field @param {any} value */
export function valueWords({ optional, open = UNKNOWN }, value) {
    if (value === "" || (optional && value === 0)) return open;
    return typeof value === "string" ? value : plainWords(value);
}

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

/** What a problem says, with what it is about: by itself it says the rule. @param {{pointer?: string, detail: string}} item */
export const withSubject = ({ pointer = "", detail }) => (pointer === "" ? detail
    : `${pointer === "/parallelism/data" ? "data parallel" : fieldAt(pointer)?.label ?? wordsOf(leafOf(pointer))}: ${detail}`);

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
    const values = /^[0-9 ,]+$/.test(item.hint ?? "");
    return { ...item, detail: withSubject(item), hint: values ? undefined : item.hint };
}
