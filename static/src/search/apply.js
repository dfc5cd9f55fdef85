/** A plan that was found as a change of the page's. */
import { extraWithout, membersOf, toldMembers } from "../state/cut.js";
import { isSearched, priceAsked } from "./ask.js";

/** The cluster of a plan as a change of the page's. @param {Api.SearchPlan} found @param {any} request @param {Api.SearchResult} result  of the search */
function clusterPatch({ cluster = {}, cluster_index: index = 0 }, request, result) {
    if (index === 0) return { ...cluster, ...priceAsked() };
    const { nodes, accelerators } = result.clusters[index];
    return { inventory: null, pool: null, accelerators_per_node: accelerators / nodes, ...request.clusters[index], ...cluster };
}

/**
 * The page's plan with the cut of another. What the old cut had beside the controls goes.
 * @param {import("../state/plan.js").Plan} plan @param {Api.SearchPlan} found  a plan of the answer
 * @param {any} request  of the search @param {Api.SearchResult} result
 * @returns {{plan: import("../state/plan.js").Plan, patch: Record<string, any>}}  the patch goes on that plan
 */
export function changeTo(plan, found, request, result) {
    const { parallelism, workload } = found;
    const patch = { parallelism: toldMembers(parallelism), workload: toldMembers(workload), cluster: clusterPatch(found, request, result) };
    return { plan: { ...plan, extra: extraWithout(plan, isSearched) }, patch };
}

/** The page's own plan, for the question why it is not the best. @param {Record<string, any>} request */
export function cutOfRequest({ parallelism, workload }) {
    return { parallelism, workload: membersOf(workload, (name) => isSearched("workload", name) || name === "global_batch_size") };
}
