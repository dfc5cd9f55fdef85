/**
 * What is searched: which values of which dimension, for what, within which limits. All of it stands in the address,
 * under the names of the request, and nowhere else.
 *
 * @typedef {{name: string, group: "parallelism" | "workload", type: "count" | "flag" | "word", values: any[], experts?: boolean}} Dimension
 *          experts: of models that have them
 * @typedef {{name: string, factor?: number, whole?: boolean}} Constraint  factor: of the request's unit in one of the page's
 */
import { computed } from "@preact/signals";
import { membersOf } from "../state/cut.js";
import { asking } from "../state/look.js";
import { requestOf } from "../state/plan.js";
import { parseCount } from "../units.js";
import { addressed } from "../widgets/address.js";

const POWERS = [1, 2, 4, 8, 16];

/** @type {Dimension[]} */
export const DIMENSIONS = [
    { name: "tensor", group: "parallelism", type: "count", values: POWERS },
    { name: "sequence", group: "parallelism", type: "flag", values: [false, true] },
    { name: "pipeline", group: "parallelism", type: "count", values: [...POWERS, 32] },
    { name: "virtual_pipeline", group: "parallelism", type: "count", values: [1, 2, 4, 8] },
    { name: "schedule", group: "parallelism", type: "word", values: ["1f1b", "interleaved_1f1b", "gpipe", "zb_h1", "zb_h2", "zb_v", "dualpipe"] },
    { name: "context", group: "parallelism", type: "count", values: POWERS },
    { name: "expert", group: "parallelism", type: "count", values: [...POWERS, 32, 64], experts: true },
    { name: "expert_tensor", group: "parallelism", type: "count", values: [1, 2, 4, 8], experts: true },
    { name: "data", group: "parallelism", type: "count", values: [] },
    { name: "zero_stage", group: "parallelism", type: "count", values: [0, 1, 2, 3] },
    { name: "micro_batch_size", group: "workload", type: "count", values: POWERS },
    { name: "global_batch_size", group: "workload", type: "count", values: [] },
    { name: "recompute", group: "workload", type: "word", values: ["none", "selective", "full", "op_sac"] },
    { name: "offload", group: "workload", type: "word", values: ["none", "optimizer", "optimizer+parameters", "activations"] },
    { name: "layout", group: "parallelism", type: "word", values: ["rule", "balanced"] },
];

/** @type {Constraint[]} */
export const CONSTRAINTS = [{ name: "max_accelerators", whole: true }, { name: "max_step_s" }, { name: "min_tokens_per_s" },
    { name: "deadline_s", factor: 86400 }, { name: "budget" }, { name: "headroom_ratio", factor: 0.01 }, { name: "critical_batch_size", whole: true }];

/** What a node costs is the cluster's; the planner has no control for it. */
export const PRICE = "price_per_node_hour";

export const OBJECTIVES = ["throughput", "time_to_train", "cost", "accelerators", "energy"];

/** Beside the planner's: the service takes sixteen. */
export const MOST_CLUSTERS = 15;

export const LIMITS = [20, 50, 100];

/** Not searched unless asked: until then they are as the planner has them. */
const WHEN_ASKED = ["global_batch_size", "offload"];

/** A plan may have more members than dimensions of their own show; these are of the cut as well. */
const ALSO_CUT = ["context_kind", "shard_group", "sharding", "replicate", "pipeline_layout"];

export const { said, say } = addressed(asking);

/** The parts of a list as it is typed. @param {string} text */
export const listed = (text) => text.split(/[,;\s]+/).filter((part) => part !== "");

/** @param {Dimension} dimension @param {string} text @returns {any} undefined for what is no value of it */
export function valueOf(dimension, text) {
    if (dimension.type === "count") return parseCount(text) ?? undefined;
    return dimension.values.find((value) => String(value) === text);
}

/** @param {Dimension} dimension @param {string} text @returns {any[]} each once; counts ascending, others as they are offered */
export function valuesOf(dimension, text) {
    const values = listed(text).map((part) => valueOf(dimension, part));
    const kept = [...new Set(values.filter((value) => value !== undefined))];
    /** @param {any} value */
    const placeOf = (value) => (dimension.type === "count" ? value : dimension.values.indexOf(value));
    return kept.sort((a, b) => placeOf(a) - placeOf(b));
}

/** @param {string} text @returns {number[]} */
function countsOf(text) {
    return valuesOf(DIMENSIONS.find(({ type }) => type === "count"), text);
}

/** The dimensions that the address restricts. @returns {Record<string, any[]>} */
export const restricted = computed(() => {
    const found = DIMENSIONS.map((dimension) => [dimension.name, valuesOf(dimension, said(dimension.name))]);
    return Object.fromEntries(found.filter(([, values]) => values.length > 0));
});

/** A figure of the address. @param {string} name @returns {number | undefined} */
export function amount(name) {
    const value = Number(said(name));
    return Number.isFinite(value) && value > 0 ? value : undefined;
}

/** @returns {Record<string, number>} */
export const constraints = computed(() =>
    Object.fromEntries(CONSTRAINTS.map(({ name }) => [name, amount(name)]).filter(([, value]) => value !== undefined)));

/** What the search knows of the cluster and the planner may not. */
export function priceAsked() {
    const price = amount(PRICE);
    return price === undefined ? {} : { [PRICE]: price };
}

export const objective = computed(() => OBJECTIVES.find((name) => name === said("objective")) ?? OBJECTIVES[0]);
export const limit = computed(() => LIMITS.find((count) => String(count) === said("limit")) ?? LIMITS[0]);

/** Numbers of nodes: the planner's, any up to it, or a list. */
function nodesAsked() {
    if (said("nodes") === "any") return { nodes: "any" };
    const list = countsOf(said("nodes"));
    return list.length > 0 ? { nodes: list } : {};
}

/** @param {string} text */
export const isCluster = (text) => /^(part|inventory):./.test(text);

/** Further clusters, as the address names them: "part:ID" or "inventory:SLUG". */
export const clusters = computed(() => said("also").split(",")
    .filter(isCluster).slice(0, MOST_CLUSTERS));

/** As many nodes of another part, or all that an inventory has. @param {string} text @param {number} nodes */
function clusterOf(text, nodes) {
    const [kind, name] = [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)];
    return kind === "part" ? { accelerator: name, nodes } : { inventory: name };
}

/** The planner's cluster, alone or with others. @param {Record<string, any>} cluster @param {number} nodes */
function clustersAsked(cluster, nodes) {
    const own = { ...cluster, ...priceAsked() };
    if (clusters.value.length === 0) return { cluster: own };
    return { clusters: [own, ...clusters.value.map((text) => clusterOf(text, nodes))] };
}

/** Whether a search decides a member of a plan. @param {string} group @param {string} name */
export function isSearched(group, name) {
    if (WHEN_ASKED.includes(name)) return name in restricted.value;
    return DIMENSIONS.some((dimension) => dimension.group === group && dimension.name === name)
        || (group === "parallelism" && ALSO_CUT.includes(name));
}

/** The body of a search for the plan of the page. @param {import("../state/plan.js").Plan} plan @returns {Record<string, any>} */
export function searchOf(plan) {
    const { model, workload, cluster, parallelism } = requestOf(plan);
    const kept = membersOf(parallelism, (name) => !isSearched("parallelism", name));
    return {
        model,
        workload: membersOf(workload, (name) => !isSearched("workload", name)),
        ...clustersAsked(cluster, plan.nodes),
        ...(Object.keys(kept).length > 0 ? { parallelism: kept } : {}),
        space: { ...restricted.value, ...nodesAsked(), ...(said("anywhere") === "1" ? { tensor_across_domains: true } : {}) },
        objective: objective.value,
        constraints: constraints.value,
        limit: limit.value,
        pareto: true,
    };
}
