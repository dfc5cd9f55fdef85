/** Figures of a model with what they mean: the service sends numbers, this says what each counts. */
import { html } from "../html.js";
import { memorySize, storedSize } from "../state/prefs.js";
import { count } from "../units.js";
import { wordsOf } from "../words.js";
import { Num } from "../widgets/explain.js";
import { breaking } from "../widgets/name.js";
import { known } from "../widgets/words.js";

/** @typedef {keyof Api.Model["parameters"]} Role */

/** Roles as the service names them, in the order of drawing. @type {[Role, {label: string, tone: string}][]} */
export const ROLES = [
    ["embedding", { label: "Embedding", tone: "yellow" }], ["attention", { label: "Attention", tone: "blue" }],
    ["mlp", { label: "MLP", tone: "green" }], ["routed_experts", { label: "Routed experts", tone: "orange" }],
    ["shared_experts", { label: "Shared experts", tone: "vermillion" }], ["router", { label: "Router", tone: "purple" }],
    ["state_space", { label: "State space", tone: "sky" }], ["norms", { label: "Norms", tone: "grey" }],
    ["lm_head", { label: "Head", tone: "ink" }], ["other", { label: "Other", tone: "grey" }],
];

/** @type {Map<string, {label: string, tone: string}>} */
const LOOKS = new Map(ROLES);

/** @param {string} role */
export const roleLook = (role) => LOOKS.get(role) ?? { label: role, tone: "grey" };

/** The parts of a total. @param {Api.Model} info @returns {Record<string, number>} */
export const partsOf = ({ parameters }) => Object.fromEntries(ROLES.filter(([role]) => parameters[role] > 0).map(([role]) => [role, parameters[role]]));

/** @param {(info: Api.LayerRun) => number} read @returns {(info: Api.Model) => Record<string, number>} by run of layers */
const ofRuns = (read) => ({ layers }) => Object.fromEntries(layers.map((run, at) => /** @type {[string, number]} */ ([`${run.kind}_${at + 1}`, read(run)])));

/** @param {Api.Model} info */
const blocksOf = ({ layers }) => layers.filter(({ pipeline_parallel: stage }) => stage === "by_layer");

/**
 * Its formula and its source stand in words.json, but where the source is the model's own.
 * @typedef {Object} Fact
 * @property {string} label
 * @property {(info: Api.Model) => number | string | null} read   null: the model has none of it
 * @property {(value: number) => string} [write]
 * @property {string} [unit]
 * @property {(info: Api.Model) => Record<string, number>} [inputs]  of the formula
 * @property {(info: Api.Model) => string | null} [source]
 * @property {string} [name]  what it is explained as at length
 */

/** @type {Fact[]} */
export const FACTS = [
    { label: "Architecture", read: (info) => info.architecture },
    { label: "Family", read: (info) => info.model_type },
    { label: "Blocks", read: (info) => blocksOf(info).reduce((sum, run) => sum + run.count, 0), write: String,
        inputs: (info) => ofRuns(({ count: blocks }) => blocks)({ ...info, layers: blocksOf(info) }) },
    { label: "Parameters", read: (info) => info.parameters.total, write: count, inputs: partsOf },
    { label: "Active for a token", read: (info) => info.parameters.active_per_token, write: count,
        inputs: ({ parameters: { total, routed_experts } }) => ({ total, routed_experts }) },
    { label: "Weights as stored", read: (info) => info.weights_bytes, write: memorySize, unit: "bytes",
        source: ({ quantization }) => quantization && `Layout of ${quantization.method} files`,
        inputs: (info) => (info.quantization === null ? ofRuns((run) => run.weights_bytes)(info) : { scale_bytes: info.quantization.scale_bytes,
            quantized_parameters: info.quantization.quantized_parameters, kept_parameters: info.quantization.kept_parameters }) },
    { label: "Quantisation", read: ({ quantization }) => (quantization === null ? "none"
        : [quantization.method, quantization.format, quantization.bits ? `${quantization.bits} bits` : null].filter(Boolean).join(", ")) },
    { label: "KV cache per token", read: (info) => info.kv_cache.bytes_per_token, write: storedSize, unit: "bytes", name: "kv_cache",
        inputs: ({ kv_cache: { bytes_per_token, naive_bytes_per_token } }) => ({ bytes_per_token, naive_bytes_per_token }) },
    { label: "KV state per sequence", read: (info) => info.kv_cache.bytes_per_sequence || null, write: storedSize, unit: "bytes", name: "kv_cache" },
    { label: "Window layers", read: ({ kv_cache: { window_layers: runs } }) => (runs.length === 0 ? null
        : runs.map((run) => `${run.count} × ${run.window} positions of ${storedSize(run.bytes_per_token)}`).join(", ")) },
    { label: "Towers, not planned", read: (info) => info.tower_parameters || null, write: count },
    { label: "Multi-token prediction", read: (info) => info.mtp_parameters || null, write: count },
    { label: "Stored buffers", read: (info) => info.persistent_buffers || null, write: count },
    { label: "Commit", read: (info) => info.revision?.slice(0, 12) ?? null },
    { label: "Count of the Hub", read: (info) => info.cross_check?.total ?? null, write: count,
        source: (info) => wordsOf(info.cross_check.source ?? ""),
        inputs: ({ cross_check: { computed, difference, unexplained } }) => ({ computed, difference, unexplained }) },
];

/** @param {string} named */
const factOf = (named) => FACTS.find(({ label }) => label === named);
const CACHE = factOf("KV cache per token");
export const TOTAL = factOf("Parameters");
const STORED = factOf("Weights as stored");

/** @param {{fact: Fact, info: Api.Model, text?: string}} props */
export function FactNum({ fact, info, text }) {
    const value = fact.read(info);
    if (typeof value !== "number") return breaking(value ?? "–");
    const inputs = fact.inputs?.(info);
    /* The parts of the whole are its formula; of what is stored otherwise than computed the other one. */
    const key = fact === STORED && info.quantization ? "Quantised weights" : fact.label;
    const about = { name: fact.name, inputs, formula: fact === TOTAL ? Object.keys(inputs).join(" + ") : known("formulas", key),
        source: fact.source?.(info) || known("sources", fact.label) };
    return html`<${Num} title=${fact.label} text=${text ?? fact.write(value)} value=${value} unit=${fact.unit ?? ""} about=${about} />`;
}

/** @param {{info: Api.Model, text: string}} props */
export const CacheNum = (props) => html`<${FactNum} fact=${CACHE} ...${props} />`;
