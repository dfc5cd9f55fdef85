/**
 * Each source without what was fitted on it alone: the same rows, asked with the values that the
 * others leave. A constant that several sources decide moves by less than it is given to.
 */

/** By key: what is taken away, and what a request says instead (a JSON merge patch). */
export const without = new Map(Object.entries({
    vtrain1n: {
        what: 'the host of Megatron takes what TransformerEngine was fitted to, 55 us an operator',
        patch: { workload: { profile: { host_operator_s: 5.5e-5 } } },
    },
    mbridge: {
        what: 'the host takes what Megatron was fitted to, 66 us; GB200 and GB300 hold the clock of any '
            + 'other part, 0.815',
        patch: { workload: { profile: { host_operator_s: 6.6e-5 } } },
        blackwell: { cluster: { accelerator_overrides: { sustained_ratio: 0.815 } } },
    },
    foundry: {
        what: 'H100 has no law of FlashAttention 1: that of its successor',
        hopper: { workload: { attention: 'flash2' } },
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
