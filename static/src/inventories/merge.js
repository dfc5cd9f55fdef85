/**
 * What files say of a cluster laid over what is stored of it, so that what the files do not say is not lost. Pure.
 *
 * @typedef {{spec: any, kept: string[]}} Merged  kept: in words, what stays though no file says it
 */
import { expand } from "./names.js";
import { wordsOf } from "../words.js";

/** @param {any} pool */
const hostsOf = (pool) => expand(pool.hosts ?? []);

/** Of the stored pools that share hosts with a read one the one that shares most; null for none. @param {any} pool @param {any[]} stored */
function sharing(pool, stored) {
    const names = new Set(hostsOf(pool));
    const [best] = stored.map((old) => ({ old, shared: hostsOf(old).filter((name) => names.has(name)).length }))
        .sort((a, b) => b.shared - a.shared);
    return best?.shared > 0 ? best.old : null;
}

/** @param {any} pool @param {any[]} stored */
function named(pool, stored) {
    return stored.find(({ name }) => name === pool.name) ?? null;
}

/**
 * The stored pool that each read one is: by hosts first, then by name. The largest chooses first: of a pool that the files split, the
 * larger part goes on as that pool.
 * @param {any[]} pools @param {any[]} stored @returns {{found: Map<any, any>, left: any[]}}  left: stored ones that none is
 */
function matched(pools, stored) {
    const left = [...stored];
    const found = new Map();
    for (const look of [sharing, named]) {
        for (const pool of pools.filter((one) => !found.has(one)).sort((a, b) => b.nodes - a.nodes)) {
            const old = look(pool, left);
            if (old === null) continue;
            found.set(pool, old);
            left.splice(left.indexOf(old), 1);
        }
    }
    return { found, left };
}

/** @param {any} pool @param {any} old @param {string[]} kept */
function overlaid(pool, old, kept) {
    const sameParts = pool.node.accelerator === old.node.accelerator;
    const node = sameParts ? { ...old.node, ...pool.node } : pool.node;
    const stays = [...Object.keys(old).filter((name) => !(name in pool)), ...(sameParts ? Object.keys(old.node).filter((name) => !(name in pool.node)) : [])];
    if (stays.length > 0) kept.push(`pool ${old.name} keeps ${stays.map(wordsOf).join(", ")}`);
    return { ...old, ...pool, name: old.name, node };
}

/** A name that a scheduler prints may be several parts: the stored one where it is among them. @param {any} pool @param {any} old @param {string[]} candidates */
function settled(pool, old, candidates) {
    return candidates.includes(old.node.accelerator) ? { ...pool, node: { ...pool.node, accelerator: old.node.accelerator } } : pool;
}

/** @param {string} name @param {Set<string>} taken */
function freeName(name, taken) {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
    taken.add(free);
    return free;
}

/**
 * @param {any} current  spec that is stored @param {any} read  spec that the files give
 * @param {string[][]} candidates  of each pool read: the parts that its accelerator may be, none where it is settled
 * @param {boolean} keepPools  pools that share no host with the files stay
 * @returns {Merged}
 */
export function mergeSpecs(current, read, candidates, keepPools) {
    /** @type {string[]} */
    const kept = [];
    const { found, left } = matched(read.pools, current.pools);
    const pairs = /** @type {any[]} */ (read.pools).map((pool, at) => {
        const old = found.get(pool) ?? null;
        return { old, pool: old === null ? pool : overlaid(settled(pool, old, candidates[at]), old, kept) };
    });
    const names = new Set(read.pools.flatMap(hostsOf));
    const stay = keepPools ? left.filter((pool) => !hostsOf(pool).some((name) => names.has(name))) : [];
    if (stay.length > 0) kept.push(`pools that the files do not name stay: ${stay.map(({ name }) => name).join(", ")}`);
    const taken = new Set([...stay, ...pairs.filter(({ old }) => old !== null).map(({ old }) => old)].map(({ name }) => name));
    const pools = pairs.map(({ pool, old }) => (old === null ? { ...pool, name: freeName(pool.name, taken) } : pool));
    return { spec: { ...current, ...read, pools: [...pools, ...stay] }, kept };
}
