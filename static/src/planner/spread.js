/** How far the figures of an estimate may be off, and figures with no digit more than that bears out. */
import { borneOut, UNIT_BYTES } from "../units.js";
import { known } from "../widgets/words.js";

const DAY_S = 86400;
const HOUR_S = 3600;

/**
 * How far a rate may be off, as the interval of the step says: the shorter the step, the higher the rate.
 * @param {{time: {step_s: number}, interval?: {step_s: number[]}}} estimate @returns {{low: number, high: number, about: any} | null}
 */
export function spreadOf({ time, interval }) {
    if (!interval) return null;
    const [least_s, most_s] = interval.step_s;
    return {
        low: 1 - time.step_s / most_s, high: time.step_s / least_s - 1,
        about: {
            formula: "1 - step_s / most_s below and step_s / least_s - 1 above", inputs: { least_s, step_s: time.step_s, most_s },
            source: known("help", "spread"),
        },
    };
}

/** The wider side, as a share of the figure. @param {Parameters<typeof spreadOf>[0]} estimate */
export function offBy(estimate) {
    const spread = spreadOf(estimate);
    return spread ? Math.max(spread.low, spread.high) : 0;
}

/** Digits of what may be off by a share. @param {number} off @returns {import("../units.js").Digits} */
export const sureBy = (off) => (value) => borneOut(value, Math.abs(value) * off);

/** @param {number} value_s @param {number} off  a share of it */
export function lasting(value_s, off) {
    const [size, word] = value_s >= 2 * DAY_S ? [DAY_S, "days"] : value_s >= 2 * HOUR_S ? [HOUR_S, "hours"] : [60, "minutes"];
    return `${sureBy(off)(value_s / size)} ${word}`;
}

/** Digits of memory of a device, as the interval of its peak bears them out. @param {Api.Estimate} estimate @param {"GiB" | "GB"} unit @returns {(bytes: number) => string} */
export function sureSize({ interval }, unit) {
    const [least, most] = interval?.peak_reserved_bytes ?? [0, 0];
    const giga = UNIT_BYTES[unit];
    return (bytes) => borneOut(bytes / giga, (most - least) / 2 / giga);
}
