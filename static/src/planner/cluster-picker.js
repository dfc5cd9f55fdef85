/** Which cluster: a part of the catalogue times nodes, or a pool of a stored inventory. */
import { html } from "../html.js";
import { accelerators, change, inventories, inventory, plan } from "../state/store.js";
import { memorySize } from "../state/prefs.js";
import { exact, scaled } from "../units.js";
import { many } from "../words.js";
import { Chips } from "../widgets/chips.js";
import { Count, errorProps, Row } from "../widgets/field.js";
import { Options } from "../widgets/options.js";
import { Extras, ofCluster } from "./controls.js";
import { ReadFiles } from "./intake/drop.js";

/** Letters of a name that a list shows whole in this column. */
const MOST_SHOWN = 38;

/** @type {Record<string, string>} */
const VENDORS = { nvidia: "NVIDIA", amd: "AMD", intel: "Intel", google: "Google", aws: "AWS" };

function AcceleratorSelect() {
    const current = plan.value.accelerator;
    /** @type {Map<string, Api.Accelerator[]>} */
    const groups = new Map();
    for (const part of accelerators.value) {
        const vendor = VENDORS[part.vendor] ?? part.vendor ?? "Other";
        groups.set(vendor, [...(groups.get(vendor) ?? []), part]);
    }
    const known = accelerators.value.find((part) => part.id === current);
    return html`
        <${Row} name="accelerator">
            <select id="field-accelerator" value=${current} title=${known?.name ?? current} ...${errorProps("accelerator")}
                    onChange=${(event) => change({ accelerator: event.currentTarget.value })}>
                ${known ? null : html`<${Options} items=${[[current, current]]} now=${current} />`}
                ${[...groups].map(([vendor, parts]) => html`
                    <optgroup key=${vendor} label=${vendor}><${Options} items=${parts.map(({ id, name }) => [id, name])} now=${current} /></optgroup>`)}
            </select>
        <//>
        <p class="part muted">${known ? [
            known.name.length > MOST_SHOWN ? known.name : "",
            known.memory_bytes ? memorySize(known.memory_bytes) : "",
            known.peak_flops_per_s?.bf16 ? `${scaled(known.peak_flops_per_s.bf16, "FLOP/s")} bf16` : "",
            known.scale_up_domain > 1 ? `scale-up domain of ${known.scale_up_domain}` : "",
        ].filter(Boolean).join(" · ") : "\u00a0"}</p>`;
}

function InventorySelect() {
    const { inventory: slug, pool } = plan.value;
    const { items } = inventories.value;
    /** @type {Api.InventoryPool[]} */
    const pools = inventory.value?.spec?.pools ?? [];
    /** @param {string} next */
    const choose = (next) => {
        const found = pools.find((item) => item.name === next);
        change({ pool: next, nodes: Math.min(plan.value.nodes, found?.nodes ?? plan.value.nodes) });
    };
    return html`
        <${Row} name="inventory">
            <select id="field-inventory" value=${slug} ...${errorProps("inventory")}
                    onChange=${(event) => change({ inventory: event.currentTarget.value, pool: "" })}>
                <${Options} now=${slug} items=${[...items.some((item) => item.slug === slug) ? [] : [[slug, slug]], ...items.map((item) => [item.slug, item.name ?? item.slug])]} />
            </select>
        <//>
        ${pools.length > 0 ? html`
            <${Row} name="pool">
                <select id="field-pool" value=${pool} ...${errorProps("pool")}
                        onChange=${(event) => choose(event.currentTarget.value)}>
                    <${Options} now=${pool} items=${[["", pools.length > 1 ? "Choose one" : "Any"], ...pools.map(({ name, nodes }) => [name, `${name} · ${many(nodes, "node")}`])]} />
                </select>
            <//>` : null}`;
}

/** @type {[string, string][]} */
const SOURCES = [["catalogue", "Catalogue"], ["stored", "Inventory"]];

/** Turns between the catalogue and stored inventories, where there are any. */
function ClusterSource() {
    const { items, hint } = inventories.value;
    const stored = plan.value.inventory !== "";
    if (items.length === 0 && !stored) {
        return hint === "" ? null : html`<span class="muted hint">${hint}</span>`;
    }
    /** @param {string} next */
    const pick = (next) => change({ inventory: next === "stored" ? items[0]?.slug ?? "" : "", pool: "" });
    return html`<${Chips} name="cluster-source" items=${SOURCES} now=${stored ? "stored" : "catalogue"} set=${pick} label="Where the cluster comes from" small />`;
}

export function ClusterPicker() {
    const stored = plan.value.inventory !== "";
    return html`
        <section class="group" aria-labelledby="group-cluster">
            <div class="group-head"><h2 id="group-cluster">Cluster</h2><${ClusterSource} /></div>
            ${stored ? html`<${InventorySelect} />` : html`<${AcceleratorSelect} />`}
            <${Count} name="nodes" />
            ${stored ? null : html`<${Count} name="perNode" />`}
            <${Extras} label="Further settings of the cluster" of=${ofCluster} />
            <${ReadFiles} />
        </section>`;
}
