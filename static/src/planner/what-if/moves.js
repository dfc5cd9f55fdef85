/**
 * Changes worth asking about: one setting away from the plan, each evaluated by the service, which
 * also says which of them are not possible. Pure.
 *
 * @typedef {{id: string, title: string, changes: Record<string, any>}} Move
 */
import { degreesOf } from "../../state/cut.js";
import { many } from "../../words.js";

/** What one rank computes with, the better the later. @param {Api.Accelerator} part */
const rankOf = (part) => [part.peak_flops_per_s?.bf16 ?? 0, part.memory_bytes ?? 0];

/** Parts of one size differ by what their firmware keeps. */
const AS_MUCH_MEMORY = 0.95;

/**
 * The next part of the same maker that scales up alike, over as many: more FLOP/s, or the same and more memory.
 * @param {Api.Accelerator[]} parts  the catalogue @param {string} id
 */
export function nextPart(parts, id) {
    const now = parts.find((part) => part.id === id);
    if (!now) return null;
    const [flops, bytes] = rankOf(now);
    const better = parts.filter((part) => {
        const [more, room] = rankOf(part);
        return part.vendor === now.vendor && (part.scale_up_domain > 1) === (now.scale_up_domain > 1)
            && part.scale_up_domain >= now.scale_up_domain && room >= AS_MUCH_MEMORY * bytes && (more > flops || (more === flops && room > bytes));
    });
    return better.sort((a, b) => rankOf(a)[0] - rankOf(b)[0] || rankOf(a)[1] - rankOf(b)[1])[0] ?? null;
}

/** More cuts than this are not asked about: each costs the service an answer. */
const MOST_CUTS = 32;

/** What does divide the cluster, where that is what the cut does not do. @param {import("../../state/api.js").Problem | null} problem @returns {number[] | null} */
export function sizesThatDivide(problem) {
    const refusal = problem?.errors.find(({ pointer, code }) => pointer === "/parallelism" && code === "not_divisible");
    return refusal ? (refusal.hint?.match(/[0-9]+/g) ?? []).map(Number) : null;
}

/**
 * Cuts of a cluster that the plan's own does not divide, the fewest doublings away first. The service says which of them the model bears.
 * @param {import("../../state/plan.js").Plan} plan @param {number[]} sizes  that do divide it @returns {Move[]}
 */
export function cutsNear(plan, sizes) {
    /** @param {Move} move */
    const farOf = ({ changes }) => Object.entries(changes).reduce((sum, [key, size]) => sum + Math.abs(Math.log2(size / plan[key])), 0);
    const cuts = sizes.flatMap((tensor) => sizes.flatMap((pipeline) => [...new Set([plan.virtualPipeline, 1])].map((virtualPipeline) => {
        const title = degreesOf({ tensor, pipeline, virtual_pipeline: virtualPipeline }).join(" ") || "no cut";
        return { id: title, title, changes: { tensor, pipeline, virtualPipeline } };
    })));
    return cuts.filter(({ changes: { tensor, pipeline } }) => sizes.includes(tensor * pipeline * plan.context))
        .sort((one, other) => farOf(one) - farOf(other)).slice(0, MOST_CUTS);
}

/** @param {import("../../state/plan.js").Plan} plan @param {Api.Accelerator[]} parts @returns {Move[]} */
export function movesOf(plan, parts) {
    const half = Math.floor(plan.nodes / 2);
    const next = plan.inventory === "" ? nextPart(parts, plan.accelerator) : null;
    const recompute = plan.recompute === "full" ? "selective" : "full";
    /** @type {(Move | false | null)[]} */
    const moves = [
        { id: "context", title: "2 × context", changes: { sequenceLength: plan.sequenceLength * 2 } },
        next && { id: "part", title: next.name.replace(/^\S+ /, ""), changes: { accelerator: next.id } },
        plan.nodes > 1 && { id: "half", title: `Half: ${many(half, "node")}`, changes: { nodes: half } },
        { id: "twice", title: `Double: ${many(plan.nodes * 2, "node")}`, changes: { nodes: plan.nodes * 2 } },
        plan.precision !== "fp8" && { id: "fp8", title: "fp8", changes: { precision: "fp8" } },
        plan.zero < 3 && { id: "zero", title: `ZeRO ${plan.zero} → ${plan.zero + 1}`, changes: { zero: plan.zero + 1 } },
        { id: "micro", title: `Micro-batch ${plan.microBatch * 2}`, changes: { microBatch: plan.microBatch * 2 } },
        { id: "recompute", title: `${recompute === "full" ? "Full" : "Selective"} recompute`, changes: { recompute } },
    ];
    return moves.flatMap((move) => (move ? [move] : []));
}
