/** What was read out of files, before it is stored: formats, pools, what was guessed, what is missing, what is odd. */
import { html } from "../html.js";
import { accelerators } from "../state/store.js";
import { exact, percent } from "../units.js";
import { many } from "../words.js";
import { Fold } from "../widgets/fold.js";
import { Options } from "../widgets/options.js";
import { Panel } from "../widgets/panel.js";
import { Plain } from "../widgets/plain.js";
import { alike } from "../widgets/rows.js";
import { partName, valueOf } from "../widgets/values.js";
import { Help } from "../widgets/words.js";
import { guessesOf } from "./guesses.js";
import { choices, draft } from "./intake.js";
import { Guesses } from "./one.js";
import { labelOf, named } from "./words.js";

const MOST_ROWS = 200;
const MOST_POOLS = 20;
const MOST_REASONS = 3;

/** Without these no plan can be made, or only on what is assumed. */
const WANTED = ["accelerators", "memory_bytes", "scale_up_bytes_per_s", "nic_count", "nic_bytes_per_s"];

/** @param {{files: Api.ParsedFile[]}} props */
export function Files({ files }) {
    return html`
        <ul class="notes">${files.map(({ name, title, confidence }, at) => html`
            <li key=${at}><b>${name || "text"}</b>: ${title}${confidence < 1 ? `, ${percent(confidence, (value) => value.toFixed())} sure` : ""}</li>`)}</ul>`;
}

/** @param {{hosts: Api.ParsedInventory["hosts"]}} props */
function Hosts({ hosts }) {
    const { total, without_accelerators: bare, states } = hosts;
    const parts = /** @type {[string, number][]} */ ([["usable", states.usable], ["drained", states.drained], ["down", states.down], ["of unknown state", states.unknown]])
        .filter(([, count]) => count > 0).map(([words, count]) => `${exact(count)} ${words}`);
    return html`<p><b>${many(total, "node")}</b>: ${parts.join(", ")}${bare > 0 ? `. ${exact(bare)} without accelerators are left out` : ""}.</p>`;
}

/** @param {Api.ReadValue} value @param {Api.ParsedFile[]} files */
function originOf({ origin, file, line, path, reason }, files) {
    const where = file === undefined ? "" : `${files[file].name || "text"}${line ? `, line ${exact(line)}` : ""}${path ? `, ${path}` : ""}`;
    return { file: `read: ${where}`, inferred: `guessed: ${reason ?? where}`, catalog: "of the part, in the catalogue", default: `guessed: ${reason ?? ""}` }[origin];
}

/** @param {{pool: Api.ParsedPool, files: Api.ParsedFile[]}} props */
export function Fields({ pool, files }) {
    return html`
        <${Plain} label="Fields of pool ${pool.name}" columns=${["Field", "Value", "~Where from"]}
            rows=${Object.entries(pool.fields).map(([name, field]) => [labelOf(name), valueOf(name, field.value),
                html`<span data-origin=${field.origin}>${originOf(field, files)}</span>`])} />`;
}

/** @param {{pools: Api.ParsedPool[], files: Api.ParsedFile[]}} props */
function Pools({ pools, files }) {
    const folds = pools.map((pool) => html`
        <${Fold} key=${pool.name} title="Every field of ${pool.name}" count=${exact(Object.keys(pool.fields).length)} testid="fields">${() =>
            html`<${Fields} pool=${pool} files=${files} />`}<//>`);
    return html`
        <${Plain} label="Pools that were read" most=${MOST_POOLS} columns=${["Pool", "Part", "#Nodes", "#GPUs", "~Hosts", "~Not usable"]}
            rows=${pools.map(({ name, accelerator, nodes, accelerators: count, hosts, groups }) => [name,
                accelerator === null ? html`<span class="bad">not settled</span>` : partName(accelerator), exact(nodes), exact(count), named(hosts),
                named(groups.filter(({ state }) => state === "drained" || state === "down")
                    .map((group) => `${named(group.hosts)} ${group.state}${group.reason ? `: ${group.reason}` : ""}`), MOST_REASONS, "; ")])} />
        ${pools.length > MOST_POOLS ? html`<${Fold} title="Every field of each pool" count=${exact(pools.length)} testid="all-fields">${() => folds}<//>` : folds}`;
}

/** Why a name decides no part. @param {{name?: string, why?: string}} open */
export function openWords({ name, why }) {
    return name ? `“${name}” ${why === "ambiguous" ? "may be several parts" : "is no part of the catalogue"}` : "no accelerator is named";
}

/** @param {{except?: string[], now?: string}} props  as options */
export function Parts({ except = [], now }) {
    return html`<${Options} now=${now} items=${accelerators.value.filter(({ id }) => !except.includes(id)).map(({ id, name }) => [id, name])} />`;
}

/** @param {{open: Api.UnresolvedName}} props  a name that decides no part */
function Unsettled({ open }) {
    const { pointer, pool, candidates } = open;
    const likely = candidates.map(({ accelerator }) => accelerator);
    const chosen = choices.value[pointer] ?? "";
    const id = `part-of-${pool}`;
    return html`
        <li><label for=${id}>pool ${pool}: ${openWords(open)}</label>${" "}
            ${pointer === "" ? null : html`<select id=${id} value=${chosen} onChange=${(event) => { choices.value = { ...choices.value, [pointer]: event.currentTarget.value }; }}>
                <${Options} items=${[["", "choose the part"]]} now=${chosen} />
                ${likely.length > 0 ? html`<optgroup label="It may be"><${Options} items=${likely.map((part) => [part, partName(part)])} now=${chosen} /></optgroup>` : null}
                <optgroup label="Of the catalogue"><${Parts} except=${likely} now=${chosen} /></optgroup></select>`}</li>`;
}

/** @param {{report: Api.ParsedInventory}} props */
function Missing({ report }) {
    const gaps = report.pools.map(({ name, fields }) => ({ name, lacks: WANTED.filter((field) => !(field in fields)) })).filter(({ lacks }) => lacks.length > 0);
    if (report.unresolved.length === 0 && gaps.length === 0) return html`<p class="good"><${Help} of="nothing_missing" /></p>`;
    return html`
        <ul class="notes">${report.unresolved.map((open) => html`<${Unsettled} key=${open.pool} open=${open} />`)}
            ${alike(gaps, ({ lacks }) => lacks.join()).map(([{ name, lacks }, ...others]) => html`
                <li key=${name}>pool ${named([name, ...others.map((other) => other.name)])}: no file says ${lacks.map(labelOf).join(", ")}</li>`)}</ul>`;
}

/** @param {{report: Api.ParsedInventory}} props */
function Odd({ report: { warnings, files } }) {
    if (warnings.length === 0) return html`<p class="good"><${Help} of="understood" /></p>`;
    return html`
        <${Plain} label="What is odd" columns=${["File", "#Line", "~What", "#Times"]}
            most=${MOST_ROWS} rows=${warnings.map(({ message, file, line, count }) =>
                [file === undefined ? "all together" : files[file].name || "text", line ? exact(line) : "", message, exact(count ?? 1)])} />`;
}

/** @param {{report: Api.ParsedInventory}} props */
export function Report({ report }) {
    return html`
        <${Panel} title="What was read" id="report">
            <${Files} files=${report.files} /><${Hosts} hosts=${report.hosts} />
            ${draft.value === null ? html`<p class="bad"><${Help} of="no_accelerators" /></p>` : html`<${Pools} pools=${report.pools} files=${report.files} />`}
        <//>
        <${Panel} title="Missing" id="missing"><${Missing} report=${report} /><//>
        <${Panel} title="Guessed" id="report-guessed"><${Guesses} guesses=${guessesOf(report)} /><//>
        <${Panel} title="Odd, or different between files" id="odd"><${Odd} report=${report} /><//>`;
}
