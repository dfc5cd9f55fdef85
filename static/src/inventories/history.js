/** Revisions of an inventory: what each changed, any two compared, an older one brought back as the next; and the audit trail. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { changed, place } from "../state/look.js";
import { fetchPart } from "../state/api-inventories.js";
import { copy } from "../shell/share.js";
import { readable } from "../state/prefs.js";
import { exact } from "../units.js";
import { Fold } from "../widgets/fold.js";
import { useLoad, Waiting } from "../widgets/load.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { Help } from "../widgets/words.js";
import { Age } from "./parts.js";
import { named, when } from "./words.js";
import { goBack } from "./writes.js";

const PAGE = 50;
const MOST = 1000;

/** @param {{diff: Api.InventoryDiff}} props  as the service answers it */
export function Diff({ diff }) {
    const { hosts, changes } = diff;
    if (changes.length === 0 && (hosts === null || hosts.added.length + hosts.removed.length + hosts.moved.length === 0)) {
        return html`<p data-testid="diff">Nothing is different.</p>`;
    }
    return html`
        <div data-testid="diff"><ul class="notes">
            ${changes.map(({ pointer, text }) => html`<li key=${pointer}>${readable(text)}</li>`)}
            ${hosts?.added.length > 0 ? html`<li>hosts added: ${named(hosts.added)}</li>` : null}
            ${hosts?.removed.length > 0 ? html`<li>hosts removed: ${named(hosts.removed)}</li>` : null}
            ${hosts?.moved.map(({ hosts: moved, from, to }) => html`<li key=${from + to}>hosts moved from ${from} to ${to}: ${named(moved)}</li>`)}
            ${hosts === null ? html`<li><${Help} of="incomparable" /></li>` : null}
        </ul>
        <${Fold} title="As JSON" count=${exact(changes.length)} testid="diff-json">${() => html`
            <button type="button" onClick=${() => copy(JSON.stringify(diff, null, 2), "JSON copied")}>Copy</button>
            <pre class="formula" tabindex="0">${JSON.stringify(diff, null, 2)}</pre>`}<//></div>`;
}

/** @param {{of: any, limit: number, set: (limit: number) => void}} props  the next lines of a page that shows its newest */
function Older({ of, limit, set }) {
    if (of.value.next_cursor === null) return null;
    return limit >= MOST ? html`<p class="muted">The newest ${exact(MOST)} are shown.</p>`
        : html`<p class="more"><button type="button" onClick=${() => set(Math.min(MOST, limit * 4))}>Show older ones</button></p>`;
}

/** @param {{slug: string, from: number, to: number}} props */
function Compared({ slug, from, to }) {
    const diff = useLoad(`${slug} ${from} ${to}`, (abort) => fetchPart(slug, `diff?from=${from}&to=${to}`, abort));
    return html`
        <h3>What changed from revision ${exact(from)} to ${exact(to)}</h3>
        <${Waiting} of=${diff} what="the differences" />
        ${diff.value === null ? null : html`<${Diff} diff=${diff.value} />`}`;
}

/** @param {{inventory: Api.Inventory}} props */
function Revisions({ inventory }) {
    const { slug, revision: current } = inventory;
    const [limit, setLimit] = useState(PAGE);
    const list = useLoad(`${slug} ${limit}`, (abort) => fetchPart(slug, `revisions?limit=${limit}`, abort));
    /** @param {string} name @param {number} initial */
    const numberAt = (name, initial) => Math.min(current, Number(place.value[name]) || initial);
    const to = numberAt("to", current);
    const from = numberAt("from", Math.max(1, to - 1));
    /** @param {string} name @param {number} number */
    const choose = (name, number) => { place.value = changed(place.value, { [name]: String(number) }); };
    /** @param {string} name @param {number} number @param {number} chosen */
    const radio = (name, number, chosen) => html`
        <label class="pick"><input type="radio" name=${name} checked=${number === chosen} onChange=${() => choose(name, number)}
            aria-label="Compare ${name} revision ${number}" /></label>`;
    return html`
        <${Waiting} of=${list} what="the revisions" />
        ${list.value === null ? null : html`
            <${Plain} label="Revisions" columns=${["Revision", "From", "To", "~Accepted (UTC)", "~By", "~Name", "Action"]}
                rows=${list.value.items.map((/** @type {Api.RevisionItem} */ { revision, updated_at: at, name, written }) => [exact(revision), radio("from", revision, from), radio("to", revision, to),
                    html`${when(at)}, <${Age} of=${at} />`, written ? `${written.action} from ${written.remote_address}` : "not recorded", name,
                    revision === current ? "current" : html`<button type="button" onClick=${() => goBack(inventory, revision)}>Bring back revision ${exact(revision)}</button>`])} />
            <${Older} of=${list} limit=${limit} set=${setLimit} />`}
        ${current > 1 && from !== to ? html`<${Compared} key=${`${from} ${to}`} slug=${slug} from=${from} to=${to} />` : null}`;
}

/** @param {{slug: string}} props */
function Audit({ slug }) {
    const [limit, setLimit] = useState(PAGE);
    const trail = useLoad(`${slug} ${limit}`, (abort) => fetchPart(slug, `audit?limit=${limit}`, abort));
    return html`
        <${Waiting} of=${trail} what="the audit trail" />
        ${trail.value === null ? null : html`
            <${Plain} label="Audit trail" columns=${["When (UTC)", "What", "#Revision", "From", "~With", "~Request"]}
                rows=${trail.value.items.map((/** @type {Api.AuditItem} */ item) => [when(item.written_at), item.action, exact(item.revision), item.remote_address, item.user_agent,
                    html`<code>${item.request_id}</code>`])} />
            <${Older} of=${trail} limit=${limit} set=${setLimit} />`}`;
}

/** @param {{inventory: Api.Inventory}} props */
export function History({ inventory }) {
    return html`
        <${Panel} title="Revisions" id="revisions"><${Revisions} inventory=${inventory} /><//>
        <${Fold} title="Audit trail" count="who and when" testid="audit">${() => html`<${Audit} slug=${inventory.slug} />`}<//>`;
}
