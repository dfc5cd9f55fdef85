/**
 * What the launchers share. Each writes what it has a verified name for, and says what it left out of
 * the settings that have a control; the others are listed for the reader to check.
 *
 * @typedef {{workload: any, parallelism: any, cluster: any}} Resolved  as of an estimate
 * Notes are sentences, or names of those that come with the words (help).
 * @typedef {{text: string, notes: string[]}} Written
 *
 * What a file has names for, or all of it where it is not said.
 * @typedef {Object} Knows
 * @property {string} name            of the launcher
 * @property {string[]} frameworks    that the file is for
 * @property {string[]} precisions
 * @property {string[]} [recomputes]
 * @property {string[]} [schedules]
 * @property {string[]} [offloads]    states that it can move; none unless said
 * @property {boolean} [dataOnly]     it cuts along the data alone
 */

/** Members of parallelism beside the data. */
const CUTS = { tensor: "tensor parallel", pipeline: "pipeline", context: "context parallel", expert: "expert parallel" };

/** @param {any} recompute  of the resolved workload */
export function recomputeWord(recompute) {
    return typeof recompute === "string" ? recompute : recompute?.mode ?? "none";
}

/** What of a plan is not in the file. @param {Resolved} resolved @param {Knows} knows @returns {string[]} */
export function leftOut({ workload, parallelism }, { name, frameworks, precisions, recomputes, schedules, offloads = [], dataOnly }) {
    const { framework, precision, optimizer, offload = {} } = workload;
    const { pipeline, schedule } = parallelism;
    const recompute = recomputeWord(workload.recompute);
    const cuts = dataOnly ? Object.entries(CUTS).filter(([member]) => parallelism[member] > 1) : [];
    /* Who moves parameters moves what steps on them too. */
    const goes = offload.parameters === "cpu" ? "parameters" : "optimizer";
    const moved = Object.entries(offload).filter(([state, place]) => ["cpu", "nvme"].includes(place) && !offloads.includes(state === "optimizer" ? goes : state));
    const missing = [
        ...cuts.map(([member, words]) => `${words} ${parallelism[member]}, for which this file has no name`),
        !precisions.includes(precision) && `precision ${precision}`,
        recomputes && !recomputes.includes(recompute) && `recomputation ${recompute}`,
        schedules && pipeline > 1 && !schedules.includes(schedule) && `the schedule ${schedule}`,
        workload.expandable_segments && "expandable_segments",
        optimizer !== "adamw" && `the optimizer ${optimizer}, which this file names otherwise or not at all`,
        ...moved.map(([state, place]) => `${state} in the memory of the ${place}`),
    ].filter(Boolean).map((what) => `Left out: ${what}.`);
    return frameworks.includes(framework) ? missing
        : [`The plan is for ${framework}, this is for ${name}: the estimate does not hold for it. Choose that framework for the plan first.`, ...missing];
}
