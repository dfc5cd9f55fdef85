/** Storing what was read: as a new inventory, or as the next revision of one, with what that changes told first. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { fetchInventory } from "../state/api.js";
import { diffDraft, listInventories } from "../state/api-inventories.js";
import { changed, place } from "../state/look.js";
import { asProblem } from "../state/store.js";
import { exact } from "../units.js";
import { Check } from "../widgets/check.js";
import { useLoad, Waiting } from "../widgets/load.js";
import { Options } from "../widgets/options.js";
import { Panel } from "../widgets/panel.js";
import { Problem } from "../widgets/problem.js";
import { Help } from "../widgets/words.js";
import { Diff } from "./history.js";
import { draft, forget, open, reading, slug, title } from "./intake.js";
import { mergeSpecs } from "./merge.js";
import { store } from "./writes.js";

const MOST_OFFERED = "1000";
const keepPools = signal(true);

/** @param {string} into */
function aim(into) {
    place.value = changed(place.value, { into });
}

/** Of each pool read the parts that its name may mean, while the reader has not chosen. */
function candidates() {
    return draft.value.pools.map((/** @type {unknown} */ _, /** @type {number} */ at) => open.value.find(({ pointer }) => pointer === `/pools/${at}/node/accelerator`)?.candidates
        .map(({ accelerator }) => accelerator) ?? []);
}

/** @param {string} into @param {AbortSignal} abort */
async function compare(into, abort) {
    const { revision, spec: current } = await fetchInventory(into, abort);
    const merged = mergeSpecs(current, draft.value, candidates(), keepPools.value);
    return { revision, ...merged, diff: await diffDraft(into, merged.spec) };
}

/** A refused write; what to do when somebody was faster. @param {{problem: any, into: string, again: () => void}} props */
function Refused({ problem, into, again }) {
    if (problem.status !== 412) return html`<div class="refused"><${Problem} problem=${problem} /><p class="muted"><${Help} of="not_stored" /></p></div>`;
    return html`
        <div class="refused" role="alert" data-testid="lost-race">
            <p>${into === "" ? html`<b>There is an inventory ${slug.value} already.</b> <${Help} of="kept_theirs" />`
                : html`<b>${into} was changed meanwhile.</b> <${Help} of="kept_change" />`}</p>
            <button type="button" onClick=${into === "" ? () => aim(slug.value) : again}><${Help} of="compare_now" /></button></div>`;
}

/** @param {unknown} error @param {(problem: any) => void} tell */
function caught(error, tell) {
    const problem = asProblem(error);
    if (problem) tell(problem);
}

/** What is to be chosen before anything is stored; false where nothing is. */
const unsettled = () => open.value.length > 0
    && html`<p class="warning">Choose the part of ${open.value.map(({ pool }) => `pool ${pool}`).join(", ")} first, above.</p>`;

/** @param {{into: string}} props */
function NextRevision({ into }) {
    const [problem, setProblem] = useState(/** @type {any} */ (null));
    const asked = JSON.stringify([into, draft.value, keepPools.value]);
    const compared = useLoad(asked, (abort) => compare(into, abort));
    useLayoutEffect(() => setProblem(null), [asked]);
    const { value } = compared;
    const again = () => {
        setProblem(null);
        compared.again();
    };
    const save = () => store(into, value.spec, value.revision).then(forget, (error) => caught(error, setProblem));
    return html`
        <${Check} on=${keepPools.value} set=${(on) => { keepPools.value = on; }}><${Help} of="keep_pools" /><//>
        ${(compared.problem?.status === 422 && unsettled()) || html`<${Waiting} of=${compared} what="what it would change" />`}
        ${value === null ? null : html`
            <h3>Against revision ${exact(value.revision)} of ${into}</h3><${Diff} diff=${value.diff} />
            ${value.kept.length > 0 ? html`<ul class="notes muted">${value.kept.map((words) => html`<li key=${words}>${words}: no file says otherwise</li>`)}</ul>` : null}`}
        <p class="commands"><button type="button" class="primary" disabled=${value === null || compared.pending || compared.problem !== null} onClick=${save}>
            Store as the next revision</button></p>
        ${problem === null ? null : html`<${Refused} problem=${problem} into=${into} again=${again} />`}`;
}

function New() {
    const [problem, setProblem] = useState(/** @type {any} */ (null));
    const named = title.value.trim();
    const save = () => store(slug.value, named === "" ? draft.value : { ...draft.value, name: named }, null)
        .then(forget, (error) => caught(error, setProblem));
    /** @param {string} id @param {string} words @param {import("@preact/signals").Signal<string>} of @param {string} help */
    const field = (id, words, of, help) => html`
        <div class="row"><label class="row-label" for=${id}>${words}</label><div class="row-control"><input type="text" id=${id} autocomplete="off"
            spellcheck=${false} placeholder=${help} value=${of.value} onInput=${(event) => { of.value = event.currentTarget.value; }} /></div></div>`;
    return html`
        ${field("field-slug", "Slug", slug, "prod-eu")}${field("field-title", "Name", title, "free text")}
        ${unsettled()}
        <p class="commands"><button type="button" class="primary" disabled=${open.value.length > 0 || slug.value === ""} onClick=${save}>Store as a new inventory</button></p>
        ${problem === null ? null : html`<${Refused} problem=${problem} into="" again=${() => setProblem(null)} />`}`;
}

export function Save() {
    const into = place.value.into ?? "";
    const list = useLoad("targets", (abort) => listInventories({ limit: MOST_OFFERED, sort: "name" }, abort));
    const items = (list.value?.items ?? []).map((item) => [item.slug, item.name || item.slug]);
    const offered = into === "" || items.some(([slug]) => slug === into) ? items : [[into, into], ...items];
    return html`
        <${Panel} title="Store it" id="save">
            <div class="row"><label class="row-label" for="field-into">As</label><div class="row-control">
                <select id="field-into" value=${into} disabled=${reading.value.phase === "sending"} onChange=${(event) => aim(event.currentTarget.value)}>
                    <${Options} items=${[["", "a new inventory"], ...offered.map(([slug, name]) => [slug, `next revision of ${name}`])]} now=${into} />
                </select></div></div>
            ${into === "" ? html`<${New} />` : html`<${NextRevision} key=${into} into=${into} />`}
        <//>`;
}
