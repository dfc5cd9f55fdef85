/** The first screen: every inventory, what was seen longest ago first, with what is wrong there. */
import { useLayoutEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { fetchInventory } from "../state/api.js";
import { listInventories, readSpec } from "../state/api-inventories.js";
import { changed, place } from "../state/look.js";
import { asProblem } from "../state/store.js";
import { exact } from "../units.js";
import { many } from "../words.js";
import { Check } from "../widgets/check.js";
import { useLoad, Waiting } from "../widgets/load.js";
import { Plain } from "../widgets/plain.js";
import { Table, TableTools } from "../widgets/table.js";
import { Help } from "../widgets/words.js";
import { guessesOf } from "./guesses.js";
import { Age, Go, goTo } from "./parts.js";
import { expand } from "./names.js";
import { knownName } from "./pools.js";
import { age, named, reasonOf } from "./words.js";
import { bringBack } from "./writes.js";

/** @typedef {{item: Api.InventoryItem, inventory: Api.Inventory, guesses: number, problem: any}} Row  inventory: null until it has come */

const PAGE = 50;
const AT_ONCE = 4;
const PAUSE_MS = 250;

/** One that cannot be read hides no other. @param {Api.InventoryItem} item @param {AbortSignal} abort @returns {Promise<Row>} */
async function loadRow(item, abort) {
    try {
        const inventory = await fetchInventory(item.slug, abort);
        const guesses = guessesOf(await readSpec(inventory.spec, abort)).length;
        return { item, inventory, guesses, problem: null };
    } catch (error) {
        const problem = asProblem(error);
        if (problem === null) throw error;
        return { item, inventory: null, guesses: 0, problem };
    }
}

/** A few at a time, so that a slow service is not asked for all at once. @param {Api.InventoryItem[]} items @param {AbortSignal} abort */
async function loadRows(items, abort) {
    /** @type {Row[]} */
    const rows = [];
    const work = async () => {
        while (rows.length < items.length) {
            const at = rows.push(null) - 1;
            rows[at] = await loadRow(items[at], abort);
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return rows;
}

/** When the cluster was seen last, by the source that saw it last; null: never. @param {Api.Inventory} inventory @returns {string | null} */
function seenAt({ status }) {
    return status.hosts.sources.map(({ observed_at: at }) => at).sort((a, b) => Date.parse(b) - Date.parse(a))[0] ?? null;
}

/** @param {Api.AbsentHosts[]} groups */
const countOf = (groups) => groups.reduce((sum, { count }) => sum + count, 0);

/** What there is to see to, in words. @param {Api.Inventory} inventory @returns {string[]} */
function wrongs({ status }) {
    const { drained, down, sources, contradictions, unequal, usable } = status.hosts;
    const odd = new Set(unequal.flatMap(({ hosts }) => expand(hosts))).size;
    const [out, off] = [countOf(drained), countOf(down)];
    const lost = status.hardware.nodes - usable - out - off;
    const stale = sources.filter((source) => source.stale).map(({ source, observed_at: at }) => `${source} is stale, ${age(at)}`);
    const unknown = status.hardware.pools.filter(({ accelerator }) => accelerator === null);
    return [out > 0 ? `${exact(out)} drained` : "", off > 0 ? `${exact(off)} down` : "", lost > 0 ? `${exact(lost)} missing` : "",
        odd > 0 ? `${many(odd, "host")} unlike the others` : "", ...stale, contradictions.length > 0 ? many(contradictions.length, "contradiction") : "",
        unknown.length > 0 ? `${unknown.length > 1 ? "pools" : "pool"} ${named(unknown.map(({ name }) => name), MOST_NAMED)}: unknown part` : ""].filter(Boolean);
}

/** @param {Api.Inventory} inventory */
function stopped({ status }) {
    return status.plans.filter(({ verdict }) => verdict === "does_not_fit" || verdict === "refused");
}

/** @param {Api.Inventory} inventory @returns {[string, number][]} accelerators by part */
function kindsOf({ status }) {
    const kinds = new Map();
    for (const { accelerator, accelerators } of status.hardware.pools) kinds.set(accelerator, (kinds.get(accelerator) ?? 0) + accelerators);
    return [...kinds].map(([id, count]) => [knownName(id), count]);
}

/** Plans of one inventory that are named. */
const MOST_NAMED = 3;

/** @param {{inventory: Api.Inventory}} props */
function Verdicts({ inventory }) {
    const bad = stopped(inventory);
    const { plans } = inventory.status;
    if (bad.length === 0) return plans.length === 0 ? "none saved" : `✓ ${exact(plans.length)} fit`;
    return html`${bad.slice(0, MOST_NAMED).map((saved) => html`
        <p key=${saved.slug} class="bad"><b>✕ ${saved.name || saved.slug}</b>: ${reasonOf(saved) || "does not fit"}</p>`)}
        ${bad.length > MOST_NAMED ? html`<p class="bad">✕ ${many(bad.length - MOST_NAMED, "more plan")}</p>` : null}`;
}

/** What is known only of one that could be read. @template T @param {(inventory: Api.Inventory) => T} read @returns {(row: Row) => T | ""} */
const of = (read) => ({ inventory }) => (inventory === null ? "" : read(inventory));

/** @param {Row} row */
function Problems({ inventory, problem }) {
    if (inventory === null) return html`<span class="bad">could not be read: ${problem.detail}</span>`;
    const wrong = wrongs(inventory);
    return wrong.length > 0 ? html`<span class="bad">${wrong.join(" · ")}</span>` : html`<span class="good">none known</span>`;
}

/** @param {Row} row */
function Seen({ inventory }) {
    if (inventory === null) return "unknown";
    const seen = seenAt(inventory);
    return seen === null ? "never" : html`<${Age} of=${seen} />`;
}

/** In the order of the service, so none is sorted by. @type {import("../widgets/rows.js").Column[]} */
const COLUMNS = [
    { name: "slug", title: "Inventory", read: ({ item }) => item.slug, write: ({ item }) => html`<${Go} where=${{ inv: item.slug }}>${item.name || item.slug}<//>` },
    { name: "seen", title: "Last seen", field: "observed_at", read: of(seenAt), write: Seen },
    { name: "problems", title: "Problems", wraps: true, read: of((inventory) => wrongs(inventory).join("; ")), write: Problems },
    { name: "plans", title: "Saved plans", field: "plans that stopped fitting", wraps: true,
        read: of((inventory) => stopped(inventory).map(({ slug }) => slug).join(" ")), write: of((inventory) => html`<${Verdicts} inventory=${inventory} />`) },
    { name: "nodes", title: "Nodes", number: true, read: of(({ status }) => status.hardware.nodes), write: of(({ status }) => exact(status.hardware.nodes)) },
    { name: "gpus", title: "GPUs", number: true, read: of(({ status }) => status.hardware.accelerators), write: of(({ status }) => exact(status.hardware.accelerators)) },
    { name: "kinds", title: "Kinds", wraps: true, read: of((inventory) => kindsOf(inventory).map(([kind, count]) => `${count} × ${kind}`).join("; ")),
        write: of((inventory) => kindsOf(inventory).map(([kind, count]) => html`<div key=${kind}>${exact(count)} × ${kind}</div>`)) },
    { name: "guesses", title: "Guessed", field: "guessed fields", number: true, read: ({ guesses }) => guesses,
        write: ({ inventory, guesses }) => (inventory === null ? "" : guesses > 0 ? many(guesses, "field") : "none") },
];

/** @param {{rows: Row[]}} props */
function Rows({ rows }) {
    return html`
        <${Table} label="Inventories" columns=${COLUMNS} rows=${rows} keyOf=${(/** @type {Row} */ { item }) => item.slug}
            more=${(/** @type {Row} */ { item }) => ({ "data-slug": item.slug })} />
        <p class="commands"><span class="muted" role="status" data-testid="count">${
            rows.length === 1 ? "1 inventory" : `${exact(rows.length)} inventories`} here, what was seen longest ago first.</span>
            <${TableTools} rows=${rows} columns=${COLUMNS} file="shardline-inventories" /></p>`;
}

/** @param {{items: Api.InventoryItem[]}} props */
function Deleted({ items }) {
    return html`
        <${Plain} label="Deleted inventories" columns=${["Inventory", "Deleted", "Action"]} rows=${items.map(({ slug, name, deleted_at: at }) =>
            [name || slug, html`<${Age} of=${at} />`, html`<button type="button" onClick=${() => bringBack(slug, name || slug)}>Restore ${name || slug}</button>`])} />`;
}

/** @param {string} name @param {string} text  "" takes it out of the address; the page starts anew */
function set(name, text) {
    place.value = changed(place.value, { [name]: text, cursor: "" });
}

function Filter() {
    const [draft, setDraft] = useState(/** @type {string | null} */ (null));
    useLayoutEffect(() => {
        if (draft === null) return undefined;
        const timer = setTimeout(() => {
            set("q", draft);
            setDraft(null);
        }, PAUSE_MS);
        return () => clearTimeout(timer);
    }, [draft]);
    /** @param {string} name @param {string} words */
    const box = (name, words) => html`
        <${Check} on=${place.value[name] === "1"} set=${(on) => set(name, on ? "1" : "")}>${words}<//>`;
    return html`
        <div class="commands" role="search" aria-label="Filter">
            <label class="filter">Name <input type="text" id="filter-name" autocomplete="off" spellcheck=${false} value=${draft ?? place.value.q ?? ""}
                onInput=${(event) => setDraft(event.currentTarget.value)} /></label>
            ${box("bad", "Only with problems")}${box("gone", "Deleted ones")}
        </div>`;
}

function Nothing() {
    const filtered = ["q", "bad", "gone", "cursor"].some((name) => place.value[name] !== undefined);
    if (filtered) return html`<p><${Help} of="none_like" /></p>`;
    return html`
        <div class="empty"><h2>No inventory is stored</h2>
            <p><${Help} of="bring" /></p>
            <p class="commands"><${Go} where=${{ add: "1" }}>Upload an inventory<//><${Go} where=${{ gone: "1" }}>Look for deleted ones<//></p></div>`;
}

/** @param {{filter: Record<string, string>}} props */
function Found({ filter }) {
    const gone = filter.deleted === "true";
    const loaded = useLoad("list", async (abort) => {
        const page = await listInventories(filter, abort);
        return { ...page, rows: gone ? [] : await loadRows(page.items, abort) };
    });
    const { value, pending } = loaded;
    return html`
        <${Waiting} of=${loaded} what="inventories" />
        ${value === null ? null : value.items.length === 0 ? html`<${Nothing} />` : html`
            <section class="panel" aria-label="List of inventories" aria-busy=${pending}>${gone ? html`<${Deleted} items=${value.items} />` : html`<${Rows} rows=${value.rows} />`}
                ${value.next_cursor ? html`<p class="more">${gone ? null : html`<span class="muted"><${Help} of="pages" /></span>`}
                    <button type="button" onClick=${() => goTo({ ...place.value, cursor: value.next_cursor })}>Next page</button></p>` : null}
            </section>`}`;
}

export function List() {
    const { q: name = "", bad, gone, cursor = "" } = place.value;
    /* Who looks for a deleted one most often wants the one deleted last. */
    const order = gone === "1" ? { sort: "-updated_at", deleted: "true" } : { sort: "observed_at" };
    const filter = changed({ limit: String(PAGE), ...order }, { name, problems: bad === "1" ? "true" : "", cursor });
    return html`
        <div class="step">
            <header class="inv-head"><h2>Inventories</h2><p class="commands"><${Go} where=${{ add: "1" }}>Upload an inventory<//></p></header>
            <${Filter} />
            <${Found} key=${JSON.stringify(filter)} filter=${filter} />
        </div>`;
}
