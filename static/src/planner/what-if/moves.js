/**
 * Changes worth asking about: one setting away from the plan, each evaluated by the service, which
 * also says which of them are not possible. Pure.
 *
 * @typedef {{id: string, title: string, changes: Record<string, any>}} Move
 */

/** What one rank computes with, the better the later. @param {Api.Accelerator} part */
const rankOf = (part) => [part.peak_flops_per_s?.bf16 ?? 0, part.memory_bytes ?? 0];

/**
 * The next part of the same maker that scales up alike: more FLOP/s, or the same and more memory.
 * @param {Api.Accelerator[]} parts  the catalogue @param {string} id
 */
export function nextPart(parts, id) {
    const now = parts.find((part) => part.id === id);
    if (!now) return null;
    const [flops, bytes] = rankOf(now);
    const better = parts.filter((part) => {
        const [more, room] = rankOf(part);
        return part.vendor === now.vendor && (part.scale_up_domain > 1) === (now.scale_up_domain > 1)
            && part.memory_bytes >= bytes && (more > flops || (more === flops && room > bytes));
    });
    return better.sort((a, b) => rankOf(a)[0] - rankOf(b)[0] || rankOf(a)[1] - rankOf(b)[1])[0] ?? null;
}

/** @param {import("../../state/plan.js").Plan} plan @param {Api.Accelerator[]} parts @returns {Move[]} */
export function movesOf(plan, parts) {
    const next = plan.inventory === "" ? nextPart(parts, plan.accelerator) : null;
    const recompute = plan.recompute === "full" ? "selective" : "full";
    /** @type {(Move | false | null)[]} */
    const moves = [
        { id: "context", title: "2 × context", changes: { sequenceLength: plan.sequenceLength * 2 } },
        next && { id: "part", title: next.name.replace(/^\S+ /, ""), changes: { accelerator: next.id } },
        plan.nodes > 1 && { id: "half", title: `Half: ${Math.floor(plan.nodes / 2)} nodes`, changes: { nodes: Math.floor(plan.nodes / 2) } },
        { id: "twice", title: `Double: ${plan.nodes * 2} nodes`, changes: { nodes: plan.nodes * 2 } },
        plan.precision !== "fp8" && { id: "fp8", title: "fp8", changes: { precision: "fp8" } },
        plan.zero < 3 && { id: "zero", title: `ZeRO ${plan.zero} → ${plan.zero + 1}`, changes: { zero: plan.zero + 1 } },
        { id: "micro", title: `Micro-batch ${plan.microBatch * 2}`, changes: { microBatch: plan.microBatch * 2 } },
        { id: "recompute", title: `${recompute === "full" ? "Full" : "Selective"} recompute`, changes: { recompute } },
    ];
    return moves.flatMap((move) => (move ? [move] : []));
}
