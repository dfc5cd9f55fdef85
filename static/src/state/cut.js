/** A cut that the service found as a change of the page's plan: what goes without saying is left out. Pure. */

/** What a request means by leaving a member out, so that it need not be said. @type {Record<string, (value: any, of: any) => boolean>} */
const UNSAID = {
    context: (value) => value === 1,
    context_kind: (_, { context = 1 }) => context === 1,
    expert: (value) => value === 1,
    expert_tensor: (value, { tensor = 1 }) => value === tensor,
    schedule: (value, { virtual_pipeline: chunks = 1 }) => value === (chunks > 1 ? "interleaved_1f1b" : "1f1b"),
    data: () => true,
    offload: (value) => Object.values(value).every((where) => where === "none" || where === null),
};

/** @param {Record<string, any>} members @param {(name: string) => boolean} keep */
export function membersOf(members, keep) {
    return Object.fromEntries(Object.entries(members).filter(([name]) => keep(name)));
}

/** @param {Record<string, any>} members @returns {Record<string, any>} without nulls and without what goes without saying */
export function toldMembers(members) {
    return membersOf(members, (name) => members[name] !== null && !UNSAID[name]?.(members[name], members));
}

/**
 * The extra members of a plan that a change does not decide.
 * @param {import("./plan.js").Plan} plan @param {(group: string, name: string) => boolean} decided
 */
export function extraWithout(plan, decided) {
    const left = Object.entries(plan.extra ?? {}).map(([group, members]) =>
        [group, membersOf(members, (name) => !decided(group, name))]).filter(([, members]) => Object.keys(members).length > 0);
    return left.length > 0 ? Object.fromEntries(left) : null;
}

/** @type {[string, string][]} */
const SHORT = [["tensor", "TP"], ["pipeline", "PP"], ["virtual_pipeline", "VPP"], ["context", "CP"], ["expert", "EP"], ["data", "DP"]];

/** Degrees in a few letters, as the trade writes them. @param {Record<string, any>} parallelism @returns {string[]} */
export function degreesOf(parallelism) {
    const degrees = SHORT.filter(([name]) => parallelism[name] > 1).map(([name, short]) => `${short}${parallelism[name]}`);
    return [...degrees, ...(parallelism.tensor > 1 && parallelism.sequence ? ["SP"] : []), ...(parallelism.pipeline_layout ? ["layout"] : [])];
}
