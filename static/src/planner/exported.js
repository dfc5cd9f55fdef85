/** The data behind the figures of the planner, every rank and every term, as the service gave it. */
import { MEMORY_TERMS, TIME_TERMS, lookOf } from "../widgets/terms.js";

/** @typedef {import("../widgets/rows.js").Column} Column */

/** @param {string} name @returns {Column} */
const member = (name) => ({ name, title: name, read: (row) => row[name] });

/** @param {Api.Memory} memory @returns {import("../widgets/export.js").Data} */
export function memoryData({ ranks, capacity_bytes, usable_bytes }) {
    const rows = ranks.flatMap((rank) => rank.terms.map((term) => ({ ...rank, ...term, label: lookOf(MEMORY_TERMS, term.name).label,
        capacity_bytes, usable_bytes })));
    return { rows, columns: ["rank", "role", "first_stage", "stages", "count", "name", "label", "lifetime", "bytes", "formula", "source",
        "usable_bytes", "capacity_bytes"].map(member) };
}

/** @param {Api.StepTime} time @returns {import("../widgets/export.js").Data} */
export function timeData({ terms, step_s, ideal_s }) {
    const rows = terms.map((term) => ({ ...term, label: lookOf(TIME_TERMS, term.name).label, step_s, ideal_s }));
    return { rows, columns: ["name", "label", "seconds", "step_s", "ideal_s", "formula", "source"].map(member) };
}
