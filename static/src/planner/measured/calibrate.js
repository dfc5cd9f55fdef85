/**
 * The sustained clock at which the service predicts a measured step. The service is asked at each
 * try, so the answer is its own; the search for the clock is regula falsi between bounds that hold
 * the measured step.
 */
import * as api from "../../state/api.js";
import { mergePatch } from "../../state/plan.js";

/** What the service takes for the clock. */
const LEAST_RATIO = 0.1;
const MOST_RATIO = 1.2;

/** As near as a reading of a step is worth. */
const NEAR_ENOUGH = 0.001;
const MOST_TRIES = 14;

/** The part of the request that carries the clock. @param {number} ratio */
export function patchOf(ratio) {
    return { cluster: { accelerator_overrides: { sustained_ratio: ratio } } };
}

/**
 * @param {Record<string, any>} request @param {number} measured_s @param {AbortSignal} abort
 * @returns {Promise<{ratio: number | null, nearest_s: number}>} ratio null: no clock explains the step
 */
export async function calibrate(request, measured_s, abort) {
    /** @param {number} ratio */
    const stepAt = async (ratio) => {
        const asked = { ...mergePatch(request, patchOf(ratio)), annotations: { asked_by: "calibration" } };
        return (await api.postEstimate(asked, abort)).time.step_s;
    };
    /** A step takes the longer the lower the clock. */
    let [slow, fast] = [LEAST_RATIO, MOST_RATIO];
    let [slow_s, fast_s] = await Promise.all([stepAt(slow), stepAt(fast)]);
    if (measured_s > slow_s) return { ratio: null, nearest_s: slow_s };
    if (measured_s < fast_s) return { ratio: null, nearest_s: fast_s };
    let ratio = fast;
    let step_s = fast_s;
    for (let tries = 0; tries < MOST_TRIES && Math.abs(step_s / measured_s - 1) > NEAR_ENOUGH; tries += 1) {
        /* A step is nearly linear in the inverse of the clock. */
        const share = (measured_s - fast_s) / (slow_s - fast_s);
        ratio = 1 / (1 / fast + share * (1 / slow - 1 / fast));
        step_s = await stepAt(ratio);
        if (step_s > measured_s) [slow, slow_s] = [ratio, step_s];
        else [fast, fast_s] = [ratio, step_s];
    }
    return { ratio: Number(ratio.toPrecision(4)), nearest_s: step_s };
}
