/** The distinct ranks of an estimate: what they are called, which are shown, what they hold. */
import { many } from "../words.js";
import { MEMORY_TERMS, lookOf } from "../widgets/terms.js";

/** More bars than this are a wall, not a comparison. */
const MOST_RANKS = 5;

const ORDER = [...MEMORY_TERMS.keys()];
/** @param {string} name */
function orderOf(name) {
    const at = ORDER.indexOf(name);
    return at < 0 ? ORDER.length : at;
}

/** A name may stand several times in a rank. @param {Api.MemoryTerm} term */
export const keyOf = ({ name, what }) => `${name} ${what}`;

/** One symbol for each, as formulas write them. @param {{name: string, what: string}[]} terms @returns {string[]} */
export const symbolsOf = (terms) => terms.map(({ name, what }) => (terms.filter((other) => other.name === name).length > 1
    ? `${name}_${what}`.replace(/\W+/g, "_") : name));

/** @param {{terms: {bytes: number}[]}} rank */
export function totalOf(rank) {
    return rank.terms.reduce((sum, term) => sum + term.bytes, 0);
}

/**
 * What is not zero, in the order of stacking.
 * @template {{name: string, bytes: number}} Term
 * @param {{terms: Term[]}} rank @returns {Term[]}
 */
export function stackOf(rank) {
    return rank.terms.filter((term) => term.bytes > 0).sort((a, b) => orderOf(a.name) - orderOf(b.name));
}

/**
 * The rows of the table: every term that any of the ranks has.
 * @param {Api.RankMemory[]} ranks @returns {{key: string, label: string, tone: string, term: Api.MemoryTerm}[]}
 */
export function rowsOf(ranks) {
    /** @type {Map<string, any>} */
    const found = new Map();
    for (const rank of ranks) {
        for (const term of stackOf(rank)) if (!found.has(keyOf(term))) found.set(keyOf(term), term);
    }
    const terms = [...found.values()].sort((a, b) => orderOf(a.name) - orderOf(b.name));
    return terms.map((term) => {
        const { label, tone } = lookOf(MEMORY_TERMS, term.name, term.what);
        const twice = terms.filter((other) => other.name === term.name).length > 1;
        return { key: keyOf(term), tone, term, label: twice ? `${label}, ${term.what}` : label };
    });
}

/** @param {Api.RankMemory} rank @param {number} of  how many distinct ranks there are */
export function nameOf(rank, of) {
    if (of === 1 || typeof rank.first_stage !== "number") return rank.role;
    const last = rank.first_stage + (rank.stages ?? 1) - 1;
    return last > rank.first_stage ? `stages ${rank.first_stage}–${last}` : `stage ${rank.first_stage}`;
}

/** @param {Api.RankMemory} rank @param {number} of */
export function detailOf(rank, of) {
    const place = of === 1 ? "" : { "first stage": "first, ", "last stage": "last, ", "first and last stage": "first and last, " }[rank.role] ?? "";
    return place + many(rank.count, "device");
}

/**
 * The ranks to show: all while they are few, else both ends, the fullest and some between.
 * @param {Api.Memory} memory @returns {Api.RankMemory[]}
 */
export function representatives(memory) {
    const { ranks, binding_rank: binding } = memory;
    if (ranks.length <= MOST_RANKS) return ranks;
    const end = ranks.length - 1;
    const fullest = ranks.findIndex((rank) => rank.rank === binding);
    const wanted = [0, end, fullest, 1, end - 1, Math.floor(end / 2), 2].filter((at) => at >= 0);
    const picked = new Set([...new Set(wanted)].slice(0, MOST_RANKS));
    return ranks.filter((_, at) => picked.has(at));
}
