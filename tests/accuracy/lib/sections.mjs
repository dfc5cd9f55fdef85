/**
 * The tables that are scored: how a row is read, asked and compared, and how it is printed.
 * Mapping, counting, baseline and reports are one for all.
 */
import { completeRow } from './request.mjs';
import { measuredBytes, metricOf, scoreRow } from './score.mjs';
import { scoreStep, throughputRow } from './throughput.mjs';

const GIB_BYTES = 2 ** 30;

export const memory = {
    name: 'training_memory',
    title: 'memory of training',
    rowOf: completeRow,
    asks: (row) => measuredBytes(row) > 0,
    unscorable: (row) => (metricOf(row) === undefined
        ? `the mapping knows no metric "${row.metric}"` : undefined),
    score: scoreRow,
    /** What was measured, how much, and the prediction. */
    print: (row, { predicted_bytes: predicted }) => [row.metric, `${row.measured_peak_gib} GiB`,
        `${(predicted / GIB_BYTES).toFixed(3)} GiB`],
};

export const throughput = {
    name: 'training_throughput',
    title: 'time of a training step',
    rowOf: throughputRow,
    asks: () => true,
    unscorable: (row) => (Number(row.measured_step_s) > 0
        ? undefined : 'the row gives neither the time of a step nor a rate of tokens'),
    score: scoreStep,
    print: (row, { predicted_s: predicted }) => [row.software, `${row.measured_step_s} s`,
        `${predicted?.toPrecision(6)} s`],
};

export const sections = [throughput, memory];
