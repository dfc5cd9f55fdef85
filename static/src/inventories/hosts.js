/**
 * Every host of an inventory with what is known of it, and what is wrong in words: the status joined with what each
 * source says. Pure.
 *
 * @typedef {"usable" | "unseen" | "differs" | "unknown" | "drained" | "down" | "missing"} State
 * @typedef {{name: string, state: State, says: string[]}} Host
 * @typedef {{name: string, accelerator: string | null, nodes: number, accelerators: number, usable: number, named: boolean,
 *            hosts: Host[]}} Pool
 * @typedef {{title: string, pools: string[], hosts: string[], count: number, says: string, source: string, since: string}} Trouble
 */
import { alike } from "../widgets/rows.js";
import { expand, shortOf } from "./names.js";
import { valueOf } from "../widgets/values.js";
import { called } from "../widgets/words.js";
import { labelOf } from "./words.js";
import { many } from "../words.js";

/** The first that holds is what a host is drawn as. @type {State[]} */
export const WORST = ["missing", "down", "drained", "unknown", "differs", "usable", "unseen"];

/** @param {Api.Inventory} inventory @returns {Pool[]} */
function poolsOf({ spec, status }) {
    return spec.pools.map((/** @type {Api.InventoryPool} */ pool, /** @type {number} */ at) => {
        const names = expand(pool.hosts ?? []);
        const { usable } = status.hosts.pools[at];
        const { accelerator, accelerators } = status.hardware.pools[at];
        const hosts = names.length > 0 ? names : Array.from({ length: pool.nodes }, (_, node) => `node ${node + 1}`);
        return { name: pool.name, accelerator, accelerators, nodes: pool.nodes, usable, named: names.length > 0,
            hosts: hosts.map(/** @returns {Host} */ (name) => ({ name, state: "unseen", says: [] })) };
    });
}

/**
 * Finds a host by its name or its short name, with its pool; null for a stranger.
 * @param {Pool[]} pools @returns {(name: string) => {pool: Pool, host: Host} | null}
 */
function finderOf(pools) {
    const known = new Map();
    for (const pool of pools.filter(({ named }) => named)) {
        for (const host of pool.hosts) {
            known.set(shortOf(host.name), { pool, host });
            known.set(host.name, { pool, host });
        }
    }
    return (name) => known.get(name) ?? known.get(shortOf(name)) ?? null;
}

/** @param {Host} host @param {State} state @param {string} says */
function mark(host, state, says) {
    if (WORST.indexOf(state) < WORST.indexOf(host.state)) host.state = state;
    if (says !== "") host.says.push(says);
}

/** Hosts that cannot be used, and those that nobody expected. @param {Api.HostStatus} hosts @returns {Trouble[]} */
function absent(hosts) {
    const rows = /** @type {const} */ (["drained", "down"]).flatMap((title) => hosts[title].map((group) => ({
        title, pools: /** @type {string[]} */ ([]), hosts: group.hosts, count: group.count, says: group.reason ?? "no reason given", source: group.source ?? "",
        since: group.since ?? "" })));
    const others = /** @type {const} */ (["missing", "unexpected"]).filter((title) => hosts[title].length > 0).map((title) => ({
        title, pools: /** @type {string[]} */ ([]), hosts: hosts[title], count: expand(hosts[title]).length, says: called("says", title), source: "", since: "" }));
    return [...rows, ...others];
}

/** @param {Api.HostStatus} hosts @returns {Trouble[]} */
function contradicted(hosts) {
    return hosts.contradictions.map(({ pool, hosts: list, field, spec, observed, source }) => ({
        title: called("unequal", field), pools: [pool], hosts: list, count: expand(list).length, source, since: "",
        says: `${labelOf(field)}: the spec says ${valueOf(field, spec)}, seen ${valueOf(field, observed)}` }));
}

/** What is said of many pools alike, once. @param {Trouble[]} troubles @returns {Trouble[]} */
function together(troubles) {
    return alike(troubles, ({ title, says, source }) => `${title} ${says} ${source}`).map((rows) => ({ ...rows[0], pools: rows.flatMap(({ pools }) => pools),
        hosts: rows.flatMap(({ hosts }) => hosts), count: rows.reduce((sum, { count }) => sum + count, 0) }));
}

/** Hosts that one source sees otherwise than most of their pool. @param {Api.HostStatus} hosts @returns {Trouble[]} */
function unequal(hosts) {
    return hosts.unequal.map(({ pool, hosts: list, field, usual, alike: others, observed, source }) => ({
        title: called("unequal", field), pools: [pool], hosts: list, count: expand(list).length, source, since: "",
        says: `${labelOf(field)} ${valueOf(field, observed)}, but ${valueOf(field, usual)} on ${many(others, "other")}` }));
}

/** What is wrong with a host, and a state by itself. */
const AWAY = ["drained", "down", "missing"];

/**
 * @param {Api.Inventory} inventory  as the service answers it @param {Api.Observation[]} observations  with their facts
 * @returns {{pools: Pool[], troubles: Trouble[]}}
 */
export function clusterOf(inventory, observations) {
    const pools = poolsOf(inventory);
    const find = finderOf(pools);
    const fresh = observations.filter(({ stale }) => !stale);
    for (const { facts } of fresh) {
        for (const name of facts.groups.flatMap(({ hosts }) => expand(hosts))) if (find(name)) mark(find(name).host, "usable", "");
    }
    const { hosts } = inventory.status;
    const unknown = pools.flatMap((pool, at) => {
        if (pool.accelerator !== null) return [];
        for (const host of pool.hosts) mark(host, "unknown", ""); /* those without a name, too */
        return [{ title: "unknown part", pools: [pool.name], hosts: inventory.spec.pools[at].hosts ?? [], count: pool.nodes,
            says: called("says", "unknown part"), source: "", since: "" }];
    });
    const troubles = [...absent(hosts), ...together([...unknown, ...contradicted(hosts)]), ...unequal(hosts)];
    for (const row of troubles) {
        for (const name of expand(row.hosts)) {
            const found = find(name);
            if (found === null) continue;
            mark(found.host, AWAY.includes(row.title) ? /** @type {State} */ (row.title) : "differs", `${row.title}: ${row.says}`);
            if (!row.pools.includes(found.pool.name)) row.pools.push(found.pool.name);
        }
    }
    return { pools, troubles };
}
