/** The pools of an inventory: the drawing of each, and plans on it, with or without hosts. */
import { html } from "../html.js";
import { changed, place } from "../state/look.js";
import { withoutExtra } from "../state/plan.js";
import { openPlanner, plan } from "../state/store.js";
import { tell } from "../shell/share.js";
import { exact } from "../units.js";
import { partName } from "../widgets/values.js";
import { Legend, Rack } from "./rack.js";
import { many } from "./words.js";

/** Names of hosts that the reader leaves out, as the address has them. @returns {Set<string>} */
function leftOut() {
    return new Set((place.value.out ?? "").split(",").filter(Boolean));
}

/** What an address brings back of one of its parts. */
const MOST_LETTERS = 2000;

/** @param {Iterable<string>} names */
function leave(names) {
    const out = [...names].join(",");
    if (out.length > MOST_LETTERS) tell("The address of this page cannot hold so many hosts: none was added");
    else place.value = changed(place.value, { out });
}

/** @param {string | null} id */
export const knownName = (id) => (id === null ? "a part that the catalogue does not know" : partName(id));

/**
 * The planner on so many nodes of a pool. Hosts of a pool are equal, and those that cannot be used the service leaves out by itself,
 * so that leaving others out is asking for fewer.
 * @param {string} inventory @param {string} pool @param {number} nodes
 */
function planOn(inventory, pool, nodes) {
    openPlanner(withoutExtra({ ...plan.value, inventory, pool, nodes }, "/cluster"));
}

/** @param {{slug: string, pool: import("./hosts.js").Pool}} props */
export function PoolCard({ slug, pool }) {
    const left = leftOut();
    /** @param {import("./hosts.js").Host} host */
    const canBeUsed = ({ state }) => !["drained", "down", "missing"].includes(state);
    const chosen = pool.hosts.filter((host) => left.has(host.name) && canBeUsed(host));
    const odd = pool.hosts.filter(({ name, state }) => state === "differs" && !left.has(name));
    const nodes = pool.usable - chosen.length;
    const without = pool.nodes - nodes;
    const offer = pool.accelerator === null ? "No plan on a part that is not known" : nodes < 1 ? "No host is left to plan on"
        : without === 0 ? `Plan on all ${many(nodes, "node")}`
            : `Plan without ${without === 1 ? "this host" : `these ${exact(without)} hosts`}: ${many(nodes, "node")}`;
    /** @param {string} name */
    const toggle = (name) => leave(left.has(name) ? [...left].filter((other) => other !== name) : [...left, name]);
    return html`
        <section class="panel" aria-label="Pool ${pool.name}" data-testid="pool" data-pool=${pool.name}>
            <header class="panel-head"><h2>${pool.name}</h2>
                <p class="key">${many(pool.nodes, "node")} · ${exact(pool.accelerators)} × ${knownName(pool.accelerator)}</p></header>
            <${Legend} hosts=${pool.hosts} />
            <${Rack} pool=${pool} left=${left} toggle=${toggle} />
            <p class="commands">
                <button type="button" class="primary" disabled=${nodes < 1 || pool.accelerator === null} onClick=${() => planOn(slug, pool.name, nodes)}>${offer}</button>
                ${odd.length > 0 ? html`<button type="button" onClick=${() => leave([...left, ...odd.map(({ name }) => name)])}>Leave out ${
                    odd.length === 1 ? "the one that differs" : `the ${exact(odd.length)} that differ`}</button>` : null}
                ${chosen.length > 0 ? html`<button type="button" onClick=${() => leave([...left].filter((name) => !pool.hosts.some((host) => host.name === name)))}>Take ${
                    chosen.length === 1 ? "it" : `the ${exact(chosen.length)}`} back in</button>` : null}
            </p>
        </section>`;
}
