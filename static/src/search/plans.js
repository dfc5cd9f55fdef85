/**
 * The plans of an answer as rows: one row per plan, whichever list of the answer it stands in. Pure.
 *
 * @typedef {{key: string, rank: number, front: boolean, plan: Api.SearchPlan, values: Record<string, any>}} Row
 *          rank: place among the best, 0 for none; values: by dimension
 */
import { hashOf } from "../state/pins.js";
import { DIMENSIONS } from "./ask.js";

/** @param {Api.SearchPlan} plan @returns {Record<string, any>} */
function valuesOf(plan) {
    const values = DIMENSIONS.map(({ name, group }) => [name, /** @type {Record<string, any>} */ (plan[group])?.[name] ?? null]);
    const stages = plan.parallelism.pipeline_layout;
    return { ...Object.fromEntries(values), layout: stages === undefined ? null : stages === null ? "rule" : "balanced",
        cluster: plan.cluster_name ?? null, nodes: plan.nodes ?? null };
}

/**
 * What a plan is known by: everything that a search decides. Its id is its place in the space, which is another in the
 * next space.
 * @param {Api.SearchPlan} plan
 */
export function keyOf({ cluster_index: cluster, accelerators, parallelism, workload }) {
    const told = [cluster, accelerators, parallelism, workload];
    return hashOf(JSON.stringify(told, (_, value) => (value !== null && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort()) : value)));
}

/** While a search runs its plans are told in few members each. @param {{plan: Api.SearchPlan}} row */
export function isWhole({ plan }) {
    return plan.cluster !== undefined;
}

/**
 * The best in their order, then the rest of the front.
 * @param {{best?: Api.SearchPlan[], pareto?: Api.SearchPlan[]}} answer @returns {Row[]}
 */
export function rowsOf({ best = [], pareto = [] }) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    /** @param {Api.SearchPlan} plan */
    const rowKey = (plan) => (isWhole({ plan }) ? keyOf(plan) : `now ${plan.id}`);
    for (const plan of best) {
        const key = rowKey(plan);
        rows.set(key, { key, rank: rows.size + 1, front: false, plan, values: valuesOf(plan) });
    }
    for (const plan of pareto) {
        const key = rowKey(plan);
        const row = rows.get(key);
        if (row) row.front = true;
        else rows.set(key, { key, rank: 0, front: true, plan, values: valuesOf(plan) });
    }
    return [...rows.values()];
}

/** Dimensions in which the rows differ, and those in which all say the same. @param {Row[]} rows */
export function splitDimensions(rows) {
    const names = ["cluster", "nodes", ...DIMENSIONS.map(({ name }) => name)];
    /** @param {Row} row @param {string} name */
    const written = (row, name) => JSON.stringify(row.values[name]);
    /** @param {string} name */
    const differs = (name) => rows.some((row) => written(row, name) !== written(rows[0], name));
    return {
        varied: names.filter(differs),
        same: rows.length === 0 ? [] : names.filter((name) => !differs(name) && rows[0].values[name] !== null),
    };
}
