/**
 * Each source without what was fitted on it alone: the same rows, asked with the values that the
 * others leave. A constant that several sources decide moves by less than it is given to.
 */
import { readConstants } from './constants.mjs';

const constants = new Map((await readConstants()).map(({ name, value }) => [name, Number(value)]));
const [megatron, engine] = ['megatron', 'transformer_engine']
    .map((family) => ({ host_operator_s: constants.get(`${family} host_operator_s`) }));
const other = { sustained_ratio: constants.get('other sustained_ratio') };
const us = ({ host_operator_s: seconds }) => `${Number((1e6 * seconds).toPrecision(3))} us`;

/** By key: what is taken away, and what a request says instead (a JSON merge patch). */
export const without = new Map(Object.entries({
    vtrain1n: {
        what: `the host of Megatron takes what TransformerEngine was fitted to, ${us(engine)} an operator`,
        patch: { workload: { profile: engine } },
    },
    mbridge: {
        what: `one expert's product takes what an operator of Megatron was fitted to, ${us(megatron)}; GB200 and `
            + `GB300 hold the clock of any other part, ${other.sustained_ratio}`,
        patch: { workload: { profile: { expert_operator_s: megatron.host_operator_s } } },
        blackwell: { cluster: { accelerator_overrides: other } },
    },
    foundry: {
        what: 'FlashAttention 1 is to its successor on H100 as on A100, by the shares of the peak that '
            + 'Dao 2023 gives: 0.52 of its rate, 0.73 as fitted',
        hopper: { cluster: { accelerator_overrides: { attention_ratio: 0.52 / 0.73 } } },
    },
}));

function merged(target, patch) {
    const out = { ...target };
    for (const [name, value] of Object.entries(patch))
        out[name] = value !== null && typeof value === 'object' && !Array.isArray(value)
            ? merged(out[name] ?? {}, value) : value;
    return out;
}

/** The request without the constants of its own source, or undefined where it has none. */
export function requestWithout(key, request) {
    const own = without.get(key);
    if (own === undefined)
        return undefined;
    let out = own.patch === undefined ? request : merged(request, own.patch);
    if (own.blackwell !== undefined && /gb[23]00/.test(request.cluster.accelerator))
        out = merged(out, own.blackwell);
    if (own.hopper !== undefined && /h100/.test(request.cluster.accelerator))
        out = merged(out, own.hopper);
    return out;
}
