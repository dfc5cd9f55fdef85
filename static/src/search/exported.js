/** The plans of the scatter as data: every figure and every dimension, and those that no answer was found for. */
import { rows } from "./run.js";
import { FIGURES } from "./figures.js";
import { dimensions } from "./shown.js";

/** @returns {import("../widgets/export.js").Data} */
export function plansData() {
    const names = [...dimensions.value.varied, ...dimensions.value.same];
    /** @type {import("../widgets/rows.js").Column[]} */
    const columns = [
        { name: "rank", title: "rank", read: ({ rank }) => rank || null },
        { name: "front", title: "front", read: ({ front }) => front },
        { name: "fits_certain", title: "fits_certain", read: ({ plan }) => plan.fits_certain ?? null },
        ...FIGURES.map((figure) => ({ name: figure.name, title: figure.name, read: (/** @type {import("./plans.js").Row} */ { plan }) => figure.read(plan) })),
        ...names.filter((name) => !FIGURES.some((figure) => figure.name === name))
            .map((name) => ({ name, title: name, read: (/** @type {import("./plans.js").Row} */ { values }) => values[name] })),
    ];
    return { rows: rows.value, columns };
}
