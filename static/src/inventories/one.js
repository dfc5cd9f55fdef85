/** One inventory: its pools drawn, what is wrong with hosts, what was guessed, who saw it when, and the plans on it. */
import { useMemo } from "preact/hooks";
import { html } from "../html.js";
import { fetchInventory } from "../state/api.js";
import { fetchObservations, readSpec } from "../state/api-inventories.js";
import { exact, seconds } from "../units.js";
import { many } from "../words.js";
import { fitOf } from "../widgets/fit.js";
import { useLoad, Waiting } from "../widgets/load.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { alike } from "../widgets/rows.js";
import { valueOf } from "../widgets/values.js";
import { guessesOf } from "./guesses.js";
import { History } from "./history.js";
import { clusterOf } from "./hosts.js";
import { Help } from "../widgets/words.js";
import { Age, Go } from "./parts.js";
import { Pools } from "./pools.js";
import { labelOf, named, reasonOf, when } from "./words.js";
import { remove } from "./writes.js";

const MOST_ROWS = 20;
const MOST_POOLS = 3;

/** Of an inventory; the service tells no more with it. */
const MOST_PLANS = 100;

/** @param {string} slug @param {AbortSignal} abort */
async function loadOne(slug, abort) {
    const [inventory, observations] = await Promise.all([fetchInventory(slug, abort), fetchObservations(slug, abort)]);
    return { inventory, observations };
}

/** @param {{troubles: import("./hosts.js").Trouble[]}} props */
function Troubles({ troubles }) {
    return html`
        <${Panel} title="Hosts with problems" id="troubles">
            ${troubles.length === 0 ? html`<p class="good"><${Help} of="none_told" /></p>` : html`
                <${Plain} label="Hosts with problems" most=${MOST_ROWS} columns=${["What", "#Hosts", "~Which", "~Why", "~Pool", "Source", "Since"]}
                    rows=${troubles.map(({ title, count, hosts, says, pools, source, since }) =>
                        [html`<b>${title}</b>`, exact(count), named(hosts), says, named(pools, MOST_POOLS), source, since === "" ? "" : html`<${Age} of=${since} />`])} />`}
        <//>`;
}

/** What was taken for several pools alike is told once. @param {{guesses: import("./guesses.js").Guess[]}} props */
export function Guesses({ guesses }) {
    if (guesses.length === 0) return html`<p class="good"><${Help} of="all_said" /></p>`;
    return html`
        <${Plain} label="Guessed fields" most=${MOST_ROWS} columns=${["Field", "Taken", "~Why", "~Pool"]}
            rows=${alike(guesses, ({ field, value, why }) => `${field} ${value} ${why}`).map(([first, ...others]) =>
                [labelOf(first.field), valueOf(first.field, first.value), first.why, named([first, ...others].map(({ pool }) => pool), MOST_POOLS)])} />`;
}

/** Read by itself: of a vast spec it comes later than the rest. @param {{inventory: Api.Inventory}} props */
function Guessed({ inventory: { slug, revision, spec } }) {
    const read = useLoad(`${slug} ${revision}`, (abort) => readSpec(spec, abort));
    return html`
        <${Panel} title="Guessed fields" id="guessed"><${Waiting} of=${read} what="what is guessed" />
            ${read.value === null ? null : html`<${Guesses} guesses=${guessesOf(read.value)} />`}<//>`;
}

/** @param {{sources: Api.Observation[]}} props */
function Sources({ sources }) {
    if (sources.length === 0) {
        return html`<p><${Help} of="observe" /></p>`;
    }
    return html`
        <${Plain} tight label="Observations" columns=${["Source", "~Format", "Seen", "Counts for", "#Hosts", "Changed"]}
            rows=${sources.map(({ source, format, observed_at: at, stale_after_s: after_s, stale, hosts, changed_at: changed }) => [source, format,
                html`<${Age} of=${at} />${stale ? html`<b class="bad">, stale: counts no more</b>` : null}`, seconds(after_s, exact), exact(hosts), html`<${Age} of=${changed} />`])} />`;
}

/** @type {Record<string, string[]>} */
const UNJUDGED = { refused: ["bad", "✕", "refused"], pending: ["", "…", "is being judged"] };

/** @param {{verdict: string, evaluation: any}} props */
function Verdict({ verdict, evaluation }) {
    const [tone, sign, words] = UNJUDGED[verdict] ?? fitOf({ fits: verdict === "fits", fits_certain: evaluation?.fits_certain });
    return html`<b class=${tone}>${sign} ${words}</b>`;
}

/** @param {{plans: Api.PlanItem[]}} props */
function Plans({ plans }) {
    if (plans.length === 0) return html`<p class="muted"><${Help} of="no_plan" /></p>`;
    return html`
        <${Plain} label="Saved plans" columns=${["Plan", "Now", "~Why", "Judged"]}
            rows=${plans.map(({ slug, name, evaluated_at: at, ...plan }) => [html`<a href="?plan=${slug}">${name || slug}</a>`,
                html`<${Verdict} ...${plan} />`, reasonOf(plan),
                at ? html`<${Age} of=${at} />` : ""])} />
        ${plans.length < MOST_PLANS ? null : html`<p class="muted">The first ${exact(MOST_PLANS)} are shown.</p>`}`;
}

/** @param {{inventory: Api.Inventory}} props */
function Head({ inventory }) {
    const { slug, revision, spec, status } = inventory;
    const labels = Object.entries(spec.labels ?? {});
    return html`
        <header class="inv-head">
            <div><h2>${spec.name || slug}</h2>
                <p class="muted">${slug} · revision ${exact(revision)} of ${when(status.updated_at)} UTC · ${many(status.hardware.nodes, "node")}, ${
                    many(status.hardware.accelerators, "GPU")} · ${exact(status.hosts.usable)} up${
                    labels.map(([name, text]) => html` <span class="tag">${name}: ${text}</span>`)}</p>
                ${spec.description ? html`<p>${spec.description}</p>` : null}</div>
            <p class="commands"><${Go} where=${{ add: "1", into: slug }}>Upload a new revision<//>
                <button type="button" onClick=${() => remove(inventory)}>Delete</button></p>
        </header>`;
}

/** @param {{slug: string}} props */
export function One({ slug }) {
    const loaded = useLoad(slug, (abort) => loadOne(slug, abort));
    const { value } = loaded;
    const cluster = useMemo(() => (value === null ? null : clusterOf(value.inventory, value.observations)), [value]);
    return html`
        <div class="step inventory" aria-busy=${loaded.pending}>
            <p><${Go} where=${{}}>← All inventories<//></p>
            <${Waiting} of=${loaded} what="the inventory" />
            ${value === null ? null : html`
                <${Head} inventory=${value.inventory} />
                <${Pools} slug=${slug} pools=${cluster.pools} />
                <${Troubles} troubles=${cluster.troubles} />
                <${Panel} title="Observations" id="observed"><${Sources} sources=${value.observations} /><//>
                <${Panel} title="Saved plans" id="plans-on"><${Plans} plans=${value.inventory.status.plans} /><//>
                ${/* What is asked for by itself comes last: it moves nothing that is about to be pressed. */ null}
                <${Guessed} inventory=${value.inventory} />
                <${History} inventory=${value.inventory} />`}
        </div>`;
}
