/**
 * How alike devices are: with which spread of their speeds steps grow with their number as they were
 * measured to. The committed one is that of least median error (constants.csv, speed_sigma_ratio).
 */
import { changesWithin, percent } from './compare.mjs';

export const SPREADS = [0.005, 0.01, 0.015, 0.02, 0.025, 0.03];

/** Whether a row may say something of it: sums of what one device takes do not. */
export const saysSpread = ({ id = '' }) => !id.startsWith('vtrain1n');

export function requestAt(ratio, request) {
    const operation = { ...request.cluster.operation, speed_sigma_ratio: ratio };
    return { ...request, cluster: { ...request.cluster, operation } };
}

/** Of pairs of runs that differ in the number of devices alone, the error of the predicted ratio. */
export function spreadLine(ratio, results) {
    const { pairs, median, sources } = changesWithin(results).find(({ change }) => change === 'num_gpus');
    return [ratio.toFixed(3), `${String(pairs).padStart(5)} pairs`, `median ${percent(median)}`,
        ...sources.map((own) => `${own.source} ${own.pairs}: ${percent(own.median)}`)].join('  ');
}
