/**
 * A plan is every setting of the page as one flat value. It is never changed in place.
 *
 * @typedef {Record<string, any>} Plan
 * Beside the settings of fields.js:
 *   config  the pasted config.json as an object, or null
 *   extra   request members without a control of their own, as they came from a fix, or null
 */
import { combined, EXAMPLES, READY } from "./examples.js";
import { membersOf } from "./cut.js";
import { FIELDS, fieldAt } from "./fields.js";
import { memberWords } from "../words.js";

/** @returns {Plan} */
export function emptyPlan() {
    /** @type {Plan} */
    const plan = { config: null, extra: null };
    for (const field of FIELDS) plan[field.key] = field.initial;
    return plan;
}

/** What takes the place of whatever model there was. @type {Plan} */
export const NO_MODEL = { hub: "", revision: "", example: "", config: null };

/** @param {string} id  of an example @param {string} [cluster]  of CLUSTERS, the usual one unless said @returns {Plan} */
export function planOfExample(id, cluster) {
    const usual = READY.find(([model]) => model === id)[1];
    return { ...emptyPlan(), ...combined(id, cluster ?? usual) };
}

/** @param {Plan} plan */
export function hasModel(plan) {
    return plan.hub !== "" || plan.config !== null || EXAMPLES.has(plan.example);
}

const CLUSTER = FIELDS.filter(({ pointer }) => pointer.startsWith("/cluster/"));

/** Whether the reader chose a cluster: a model that comes later must not take it away. @param {Plan} plan */
export function hasCluster(plan) {
    return plan.extra?.cluster !== undefined || CLUSTER.some(({ key, initial }) => plan[key] !== initial);
}

/** @param {Plan} plan @returns {"hub" | "config" | "example" | "none"} */
export function modelSource(plan) {
    if (plan.config !== null) return "config";
    if (EXAMPLES.has(plan.example)) return "example";
    return plan.hub === "" ? "none" : "hub";
}

/** @param {Plan} plan @param {string} [own]  what a pasted config calls itself */
export function modelName({ config, example, hub, revision }, own = "pasted config.json") {
    if (config !== null) return own;
    return EXAMPLES.get(example)?.title ?? ([hub, revision].filter(Boolean).join("@") || "none");
}

/** The model as a request names it. @param {Plan} plan */
export function modelOf(plan) {
    const source = modelSource(plan);
    if (source === "config") return { config: plan.config };
    if (source === "example") return { config: EXAMPLES.get(plan.example).config };
    return plan.revision === "" ? { hub: plan.hub } : { hub: plan.hub, revision: plan.revision };
}

/** @param {Record<string, any>} target @param {string} pointer @param {any} value */
function putAt(target, pointer, value) {
    const names = pointer.slice(1).split("/");
    const last = names.pop();
    let at = target;
    for (const name of names) at = at[name] ??= {};
    at[last] = value;
}

/** RFC 7396. @param {any} target @param {any} patch @returns {any} */
export function mergePatch(target, patch) {
    if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
    const base = target !== null && typeof target === "object" && !Array.isArray(target) ? target : {};
    const merged = { ...base };
    for (const [name, value] of Object.entries(patch)) {
        if (value === null) delete merged[name];
        else merged[name] = mergePatch(merged[name], value);
    }
    return merged;
}

/** @param {Plan} plan @param {string} key */
function isSent(plan, key) {
    if (key === "hub" || key === "revision" || key === "example") return false;
    /* One rank has nothing to split; what is not said leaves it open at more. */
    if (key === "sequence") return plan.tensor > 1;
    if (plan.inventory === "") return key !== "inventory" && key !== "pool";
    return key !== "accelerator" && key !== "perNode" && !(key === "pool" && plan.pool === "");
}

/** The body of an estimate. @param {Plan} plan @returns {Record<string, any>} */
export function requestOf(plan) {
    /** @type {Record<string, any>} */
    const request = { model: modelOf(plan), workload: { kind: "pretraining" }, cluster: {}, parallelism: { data: "auto" } };
    for (const field of FIELDS) {
        const value = plan[field.key];
        if (!isSent(plan, field.key)) continue;
        if (field.optional && (value === "" || value === 0)) continue;
        putAt(request, field.pointer, value);
    }
    return plan.extra === null ? request : mergePatch(request, plan.extra);
}

/** The ZeRO stage that people take each framework for. @type {Record<string, number>} */
export const STAGE = { megatron: 1, ddp: 0, fsdp1: 3, fsdp2: 3, deepspeed: 3 };

/** Of these the service tries several values, or takes all there are, where a request leaves them open; a plan has one. */
const SINGLE = ["nodes", "microBatch", "zero"];

/** @param {any} members @returns {any} those that say something: null leaves open, as absence does */
const told = (members) => membersOf(members ?? {}, (name) => members[name] !== null);

/**
 * The way back from a request.
 * @param {Record<string, any>} request  of an estimate
 * @returns {{plan: Plan, open: import("./fields.js").Field[]}}  open: settings that it leaves open and a plan does not
 */
export function planOfRequest(request) {
    const [{ config = null, ...model }, { kind = "pretraining", ...workload }, cluster, parallelism] =
        ["model", "workload", "cluster", "parallelism"].map((group) => told(request[group]));
    /** @type {Record<string, any>} */
    const patch = { model, workload: kind === "pretraining" ? workload : { kind, ...workload }, cluster, parallelism };
    /** @type {Plan} */
    const plan = { ...emptyPlan(), config, zero: STAGE[workload.framework ?? "megatron"] ?? 0 };
    for (const { key, type, optional } of FIELDS) if (optional) plan[key] = type === "count" ? 0 : "";
    const open = FIELDS.filter(({ key, pointer }) => {
        const [, group, name] = pointer.split("/");
        return SINGLE.includes(key) && !(name in patch[group]) && (key !== "nodes" || "inventory" in cluster);
    });
    return { plan: applyPatch(plan, patch), open };
}

/**
 * Applies a merge patch of the request to the plan. What has a control goes to the control,
 * anything else is kept under extra so that nothing a fix asks for is lost.
 *
 * @param {Plan} plan
 * @param {Record<string, any>} patch
 * @returns {Plan}
 */
export function applyPatch(plan, patch) {
    const next = { ...plan };
    const rest = {};
    const pending = Object.entries(patch).map(([name, value]) => ({ pointer: `/${name}`, value }));
    while (pending.length > 0) {
        const { pointer, value } = pending.pop();
        const field = fieldAt(pointer);
        const nested = value !== null && typeof value === "object" && !Array.isArray(value);
        if (field && !nested && field.key !== "example") {
            next[field.key] = value ?? (field.type === "count" ? 0 : "");
        } else if (nested && pointer.split("/").length === 2) {
            for (const [name, inner] of Object.entries(value)) {
                pending.push({ pointer: `${pointer}/${name}`, value: inner });
            }
        } else if (pointer !== "/parallelism/data") {
            putAt(rest, pointer, value);
        }
    }
    return Object.keys(rest).length > 0 ? withExtra(next, rest) : next;
}

/** @param {Plan} plan @param {Record<string, any>} patch  a merge patch of the request @returns {Plan} */
export function withExtra(plan, patch) {
    return { ...plan, extra: mergePatch(plan.extra ?? {}, patch) };
}

/** @param {Plan} plan @param {string} pointer  of a member, or of a group of them @returns {Plan} the plan without */
export function withoutExtra(plan, pointer) {
    const [, group, name] = pointer.split("/");
    if (name === undefined) {
        const { [group]: whole, ...others } = plan.extra ?? {};
        return { ...plan, extra: Object.keys(others).length > 0 ? others : null };
    }
    const { [name]: dropped, ...kept } = plan.extra?.[group] ?? {};
    const { [group]: whole, ...others } = plan.extra ?? {};
    const extra = Object.keys(kept).length > 0 ? { ...others, [group]: kept } : others;
    return { ...plan, extra: Object.keys(extra).length > 0 ? extra : null };
}

/** @param {Plan} plan @param {"GiB" | "GB"} [unit] @returns {{pointer: string, text: string}[]} */
export function extraMembers(plan, unit) {
    return Object.entries(plan.extra ?? {}).flatMap(([group, members]) =>
        Object.entries(members).map(([name, value]) => ({
            pointer: `/${group}/${name}`,
            text: memberWords(`/${group}/${name}`, value, unit),
        })));
}
