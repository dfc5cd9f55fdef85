/** The pools of an inventory: the drawing of each, and plans on it, with or without hosts. */
import { useMemo, useState } from "preact/hooks";
import { html } from "../html.js";
import { changed, place } from "../state/look.js";
import { withoutExtra } from "../state/plan.js";
import { openPlanner, plan } from "../state/store.js";
import { tell } from "../shell/share.js";
import { exact } from "../units.js";
import { many } from "../words.js";
import { Panel } from "../widgets/panel.js";
import { alike, inOrder, sorted } from "../widgets/rows.js";
import { Table, TableTools } from "../widgets/table.js";
import { partName } from "../widgets/values.js";
import { called, known } from "../widgets/words.js";
import { WORST } from "./hosts.js";
import { Legend, Rack } from "./rack.js";

/** Names of hosts that the reader leaves out, as the address has them. @returns {Set<string>} */
function leftOut() {
    return new Set((place.value.out ?? "").split(",").filter(Boolean));
}

/** What an address brings back of one of its parts. */
const MOST_LETTERS = 2000;

/** @param {Iterable<string>} names */
function leave(names) {
    const out = [...names].join(",");
    if (out.length > MOST_LETTERS) tell(known("help", "full"));
    else place.value = changed(place.value, { out });
}

/** @param {string | null} id */
export const knownName = (id) => (id === null ? known("help", "unknown_part") : partName(id));

/**
 * The planner on so many nodes of a pool. Hosts of a pool are equal, and those that cannot be used the service leaves out by itself,
 * so that leaving others out is asking for fewer.
 * @param {string} inventory @param {string} pool @param {number} nodes
 */
function planOn(inventory, pool, nodes) {
    openPlanner(withoutExtra({ ...plan.value, inventory, pool, nodes }, "/cluster"));
}

/** @typedef {import("./hosts.js").Pool} Pool */

/** How many pools have a drawing of their own; more are one drawing and a table. */
const MOST_DRAWN = 8;

/** @param {import("./hosts.js").Host} host */
const canBeUsed = ({ state }) => !["drained", "down", "missing"].includes(state);

/** @param {Set<string>} left @param {string} name */
function toggle(left, name) {
    leave(left.has(name) ? [...left].filter((other) => other !== name) : [...left, name]);
}

/** @param {{slug: string, pool: Pool, left: Set<string>}} props  left: hosts left out by the reader */
function Commands({ slug, pool, left }) {
    const chosen = pool.hosts.filter((host) => left.has(host.name) && canBeUsed(host));
    const odd = pool.hosts.filter(({ name, state }) => state === "differs" && !left.has(name));
    const nodes = pool.usable - chosen.length;
    const without = pool.nodes - nodes;
    const offer = pool.accelerator === null ? known("help", "no_part") : nodes < 1 ? known("help", "no_host")
        : without === 0 ? `Plan on ${nodes > 1 ? "all " : ""}${many(nodes, "node")}`
            : `Plan without ${without === 1 ? "this host" : `these ${exact(without)} hosts`}: ${many(nodes, "node")}`;
    return html`
        <button type="button" class="primary" disabled=${nodes < 1 || pool.accelerator === null} onClick=${() => planOn(slug, pool.name, nodes)}>${offer}</button>
        ${odd.length > 0 && odd.length < nodes ? html`<button type="button" onClick=${() => leave([...left, ...odd.map(({ name }) => name)])}>Leave out ${
            odd.length === 1 ? "the one that differs" : `the ${exact(odd.length)} that differ`}</button>` : null}
        ${chosen.length > 0 ? html`<button type="button" onClick=${() => leave([...left].filter((name) => !pool.hosts.some((host) => host.name === name)))}>Take ${
            chosen.length === 1 ? "it" : `the ${exact(chosen.length)}`} back in</button>` : null}`;
}

/** @param {{slug: string, pool: Pool, left: Set<string>}} props */
function PoolCard({ slug, pool, left }) {
    return html`
        <section class="panel" aria-label="Pool ${pool.name}" data-testid="pool" data-pool=${pool.name}>
            <header class="panel-head"><h2>${pool.name}</h2>
                <p class="key">${many(pool.nodes, "node")} · ${exact(pool.accelerators)} × ${knownName(pool.accelerator)}</p></header>
            <${Legend} hosts=${pool.hosts} />
            <${Rack} pool=${pool} left=${left} toggle=${(/** @type {string} */ name) => toggle(left, name)} />
            <p class="commands"><${Commands} slug=${slug} pool=${pool} left=${left} /></p>
        </section>`;
}

/** @param {import("./hosts.js").Host} host */
const isWrong = ({ state }) => state !== "usable" && state !== "unseen";

/** What is wrong with hosts of a pool, in words. @param {Pool} pool */
function wrongOf({ hosts }) {
    return alike(sorted(hosts.filter(isWrong), ({ state }) => WORST.indexOf(state), 1), ({ state }) => state).map((same) => `${exact(same.length)} ${called("states", same[0].state)}`).join(" · ");
}

/** @param {string} slug @param {Set<string>} left @returns {import("../widgets/rows.js").Column[]} */
function columnsOf(slug, left) {
    return [
        { name: "pool", title: "Pool", first: 1, read: ({ name }) => name },
        { name: "wrong", title: "Problems", first: -1, read: ({ hosts }) => hosts.filter(isWrong).length,
            field: "hosts with problems", wraps: true, write: (/** @type {Pool} */ pool) => html`<span class=${wrongOf(pool) ? "bad" : "good"}>${wrongOf(pool) || "none known"}</span>` },
        { name: "usable", title: "Usable", number: true, first: -1, read: ({ usable }) => usable, write: ({ usable }) => exact(usable) },
        { name: "nodes", title: "Nodes", number: true, first: -1, read: ({ nodes }) => nodes, write: ({ nodes }) => exact(nodes) },
        { name: "gpus", title: "GPUs", number: true, first: -1, read: ({ accelerators }) => accelerators, write: ({ accelerators }) => exact(accelerators) },
        { name: "part", title: "Part", wraps: true, first: 1, read: ({ accelerator }) => knownName(accelerator) },
        { name: "plan", title: "Plan", wraps: true, read: () => "", write: (pool) => html`<div class="pin-tools"><${Commands} slug=${slug} pool=${pool} left=${left} /></div>` },
    ];
}

/** @param {Pool[]} pools @returns {Pool}  all hosts; those without a name of their own by their pool's */
function togetherOf(pools) {
    return { ...pools[0], name: "all", named: pools.every(({ named }) => named), hosts: pools.flatMap(({ name, named, hosts }) =>
        (named ? hosts : hosts.map((host) => ({ ...host, name: `${name} ${host.name}` })))) };
}

/** @param {{slug: string, pools: Pool[], left: Set<string>}} props */
function ManyPools({ slug, pools, left }) {
    const [sort, setSort] = useState("-wrong");
    const all = useMemo(() => togetherOf(pools), [pools]);
    /* Of as many problems each, what lost the most hosts is first. */
    const worst = useMemo(() => sorted(pools, ({ nodes, usable }) => nodes - usable, -1), [pools]);
    const columns = columnsOf(slug, left);
    const rows = inOrder(worst, columns, sort);
    return html`
        <${Panel} title="Pools" id="many-pools" head=${html`<p class="key">${exact(pools.length)} pools, drawn together</p>`}>
            <${Legend} hosts=${all.hosts} />
            <${Rack} pool=${all} left=${left} toggle=${(/** @type {string} */ name) => toggle(left, name)} />
            <${Table} label="Pools" columns=${columns} rows=${rows} keyOf=${(/** @type {Pool} */ { name }) => name} sort=${sort} setSort=${setSort} />
            <p class="commands"><${TableTools} rows=${rows} columns=${columns.slice(0, -1)} file="shardline-pools" /></p>
        <//>`;
}

/** @param {{slug: string, pools: Pool[]}} props */
export function Pools({ slug, pools }) {
    const left = leftOut();
    if (pools.length > MOST_DRAWN) return html`<${ManyPools} slug=${slug} pools=${pools} left=${left} />`;
    return html`<div class="pools">${pools.map((pool) => html`<${PoolCard} key=${pool.name} slug=${slug} pool=${pool} left=${left} />`)}</div>`;
}
