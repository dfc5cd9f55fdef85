/** Figures of a model with what they mean: the service sends numbers, this says what each counts. */
import { html } from "../html.js";
import { memorySize } from "../state/prefs.js";
import { count, scaled } from "../units.js";
import { Num } from "../widgets/explain.js";

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

const COUNTED = "Shapes of the model's class; a tied head counts once, with the embedding";

/**
 * @typedef {Object} Fact
 * @property {string} label
 * @property {(info: Api.Model) => number | string | null} read   null: the model has none of it
 * @property {(value: number) => string} [write]
 * @property {string} [unit]
 * @property {(info: Api.Model) => any} [about]
 */

/** @type {Fact[]} */
export const FACTS = [
    { label: "Architecture", read: (info) => info.architecture },
    { label: "Family", read: (info) => info.model_type },
    { label: "Blocks", read: (info) => info.layers.filter(({ pipeline_parallel: stage }) => stage === "by_layer").reduce((sum, run) => sum + run.count, 0),
        write: String, about: (info) => ({ formula: "sum of the counts of the runs between embedding and head", source: "layers of the model",
            inputs: Object.fromEntries(info.layers.filter(({ pipeline_parallel: stage }) => stage === "by_layer").map((run, at) => [`${run.kind}_${at + 1}`, run.count])) }) },
    { label: "Parameters", read: (info) => info.parameters.total, write: count,
        about: (info) => ({ formula: Object.keys(partsOf(info)).join(" + "), inputs: partsOf(info), source: COUNTED }) },
    { label: "Active for a token", read: (info) => info.parameters.active_per_token, write: count,
        about: (info) => ({ formula: "total - the routed experts that a token does not visit", source: COUNTED,
            inputs: { total: info.parameters.total, routed_experts: info.parameters.routed_experts } }) },
    { label: "Weights as stored", read: (info) => info.weights_bytes, write: memorySize, unit: "bytes",
        about: (info) => (info.quantization === null
            ? { formula: "sum over the runs of layers", source: "Element type of the checkpoint",
                inputs: Object.fromEntries(info.layers.map((run, at) => [`${run.kind}_${at + 1}`, run.weights_bytes])) }
            : { formula: "quantised weights + their scales + what stays as it was", source: `Layout of ${info.quantization.method} files`,
                inputs: { scale_bytes: info.quantization.scale_bytes, quantized_parameters: info.quantization.quantized_parameters,
                    kept_parameters: info.quantization.kept_parameters } }) },
    { label: "Quantisation", read: ({ quantization }) => (quantization === null ? "none"
        : [quantization.method, quantization.format, quantization.bits ? `${quantization.bits} bits` : null].filter(Boolean).join(", ")) },
    { label: "KV cache per token", read: (info) => info.kv_cache.bytes_per_token, write: (bytes) => scaled(bytes, "B"), unit: "bytes",
        about: (info) => ({ name: "kv_cache", formula: "sum over the layers that see every token, two bytes an element", source: "Shapes of keys and values, or of the latent that stands for them",
            inputs: { bytes_per_token: info.kv_cache.bytes_per_token, naive_bytes_per_token: info.kv_cache.naive_bytes_per_token } }) },
    { label: "KV state per sequence", read: (info) => info.kv_cache.bytes_per_sequence || null, write: (bytes) => scaled(bytes, "B"), unit: "bytes",
        about: () => ({ name: "kv_cache", formula: "states of state-space layers, whatever the length", source: "Shapes of the states" }) },
    { label: "Window layers", read: ({ kv_cache: { window_layers: runs } }) => (runs.length === 0 ? null
        : runs.map((run) => `${run.count} × ${run.window} positions of ${scaled(run.bytes_per_token, "B")}`).join(", ")) },
    { label: "Towers, not planned", read: (info) => info.tower_parameters || null, write: count,
        about: () => ({ formula: "parameters beside the language part; in the total", source: COUNTED }) },
    { label: "Multi-token prediction", read: (info) => info.mtp_parameters || null, write: count,
        about: () => ({ formula: "layers that checkpoints hold and the class does not; in no total", source: "Keys of the config" }) },
    { label: "Stored buffers", read: (info) => info.persistent_buffers || null, write: count,
        about: () => ({ formula: "elements a checkpoint stores that are no parameters; in no total", source: COUNTED }) },
    { label: "Commit", read: (info) => info.revision?.slice(0, 12) ?? null },
    { label: "Count of the Hub", read: (info) => info.cross_check?.total ?? null, write: count,
        about: (info) => ({ formula: "count in the files; less our own: difference, of which unexplained", source: String(info.cross_check?.source ?? "").replaceAll("_", " "),
            inputs: { computed: info.cross_check?.computed, difference: info.cross_check?.difference, unexplained: info.cross_check?.unexplained } }) },
];

const CACHE = FACTS.find(({ label }) => label === "KV cache per token");

/** @param {{fact: Fact, info: Api.Model, text?: string}} props */
export function FactNum({ fact, info, text }) {
    const value = fact.read(info);
    if (typeof value !== "number") return value ?? "–";
    return html`<${Num} title=${fact.label} text=${text ?? fact.write(value)} value=${value} unit=${fact.unit ?? ""} about=${fact.about(info)} />`;
}

/** @param {{info: Api.Model, text: string}} props */
export const CacheNum = (props) => html`<${FactNum} fact=${CACHE} ...${props} />`;
