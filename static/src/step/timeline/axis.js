/** Round times for the axis of the part in view. Pure. */
import { ticks } from "../../widgets/charts.js";

/** @type {[number, string][]} */
const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

/**
 * Round times in view with their words, no more digits than tell neighbours apart.
 * @param {[number, number]} view_s @param {number} wanted @returns {{at_s: number, text: string}[]}
 */
export function axisTimes([from_s, to_s], wanted) {
    const length_s = to_s - from_s;
    const step_s = ticks(length_s, wanted)[1] ?? length_s;
    const [factor, unit] = UNITS.find(([size]) => step_s >= size * 0.0999) ?? UNITS.at(-1);
    const decimals = Math.max(0, -Math.floor(Math.log10(step_s / factor) + 1e-9));
    const times = [];
    for (let n = Math.ceil(from_s / step_s - 1e-9); n * step_s <= to_s * (1 + 1e-12) && times.length <= 3 * wanted; n += 1) {
        times.push({ at_s: n * step_s, text: `${(n * step_s / factor).toFixed(decimals)} ${unit}` });
    }
    return times;
}
