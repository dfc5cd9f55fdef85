/**
 * What the launchers share. Each writes what it has a verified name for, and says what it left out of
 * the settings that have a control; the others are listed for the reader to check.
 *
 * @typedef {{workload: any, parallelism: any, cluster: any}} Resolved  as of an estimate
 * @typedef {{text: string, notes: string[]}} Written
 */

/** @param {Resolved} resolved @param {string[]} own  frameworks that the file is for @param {string} name  of them */
export function foreign({ workload }, own, name) {
    return own.includes(workload.framework) ? []
        : [`The plan is for ${workload.framework}, this is for ${name}: the estimate does not hold for it. Choose the framework on the left first.`];
}

/**
 * Ways to cut that a file has no name for.
 * @param {Resolved} resolved @param {Record<string, string>} missing  member of parallelism -> what it is
 */
export function uncut({ parallelism }, missing) {
    return Object.entries(missing).filter(([name]) => parallelism[name] > 1)
        .map(([name, words]) => `Left out, this file has no name for it: ${words} ${parallelism[name]}.`);
}

/** @param {Resolved} resolved  offloading that a file has no name for @param {string[]} known */
export function unmoved({ workload }, known = []) {
    return Object.entries(workload.offload ?? {}).filter(([state, place]) => place !== "none" && !known.includes(state))
        .map(([state, place]) => `Left out: ${state} in the memory of the ${place}.`);
}

/** @param {Resolved} resolved @param {string[]} known */
export function optimizerNote({ workload }, known) {
    return known.includes(workload.optimizer) ? [] : [`Left out: the optimizer ${workload.optimizer}, which this file names otherwise or not at all.`];
}

/** @param {any} recompute  of the resolved workload */
export function recomputeWord(recompute) {
    return typeof recompute === "string" ? recompute : recompute?.mode ?? "none";
}
