/** What was read of dropped files, in short: what was recognised, what was guessed, what is missing. */
import { html } from "../../html.js";
import { Fields, Files, openWords, Parts } from "../../inventories/report.js";
import { exact } from "../../units.js";
import { many } from "../../words.js";
import { Problem } from "../../widgets/problem.js";
import { partName } from "../../widgets/values.js";
import { worded } from "../../widgets/words.js";
import { inSpecOf, intake, planOn, usableNodes } from "./state.js";

/** The part is not known: the reader says which it is. @param {{pool: Api.ParsedPool, report: Api.ParsedInventory}} props */
function Which({ pool, report }) {
    const open = report.unresolved.find((item) => item.pool === pool.name);
    const candidates = open?.candidates ?? [];
    return html`
        <p class="warning"><span aria-hidden="true">▲ </span>${openWords(open ?? {})}. Which is it?</p>
        ${candidates.length > 0 ? html`
            <div class="chips">${candidates.map(({ accelerator }) => html`
                <button type="button" key=${accelerator} onClick=${() => planOn(report, pool, accelerator)}>${partName(accelerator)}</button>`)}
            </div>` : html`
            <select aria-label="Accelerator of ${pool.name}" onChange=${(event) => planOn(report, pool, event.currentTarget.value)}>
                <option value="" selected disabled>Choose a part</option><${Parts} />
            </select>`}`;
}

/** @param {{pool: Api.ParsedPool, report: Api.ParsedInventory, planned: boolean}} props */
function Pool({ pool, report, planned }) {
    const usable = usableNodes(pool);
    const away = pool.nodes - usable;
    const inSpec = inSpecOf(report, pool) !== undefined;
    const fields = Object.values(pool.fields);
    const guessed = fields.filter(({ origin }) => origin === "default").length;
    return html`
        <li class="read-pool" data-pool=${pool.name} data-planned=${planned}>
            <p><b>${pool.name}</b> ${many(pool.nodes, "node")}, ${many(pool.accelerators, "accelerator")}${
                away > 0 ? `, ${exact(away)} drained or down` : ""}${planned ? html` <span class="tag">planned on</span>` : null}</p>
            ${!inSpec || usable === 0 ? html`<p class="muted">No node of it can be planned on.</p>`
                : planned ? null : pool.accelerator === null ? html`<${Which} pool=${pool} report=${report} />`
                    : html`<button type="button" onClick=${() => planOn(report, pool, pool.accelerator)}>Plan on it</button>`}
            <details class="read-fields">
                <summary>${fields.length - guessed} figures read or of the catalogue, ${guessed} guessed</summary>
                <${Fields} pool=${pool} files=${report.files} />
            </details>
        </li>`;
}

/** @param {{report: Api.ParsedInventory, planned: string}} props */
function Report({ report, planned }) {
    return html`
        <${Files} files=${report.files} />
        <ul>${report.pools.map((pool) => html`
            <${Pool} key=${pool.name} pool=${pool} report=${report} planned=${pool.name === planned} />`)}</ul>
        ${report.pools.length === 0 ? html`<p class="warning">No node with accelerators was found.</p>` : null}
        ${report.warnings.length > 0 ? html`
            <ul class="notes">${report.warnings.map(({ message, line }) => html`
                <li key=${message}>${message}${line ? html` <span class="muted">line ${line}</span>` : null}</li>`)}</ul>` : null}`;
}

export const IntakeCard = worded(() => {
    const { names, pending, report, problem, planned } = intake.value;
    return html`
        <div class="card intake" role="region" aria-label="What the files say" aria-busy=${pending} data-testid="intake">
            <div class="group-head"><p class="card-title">${names.join(", ")}</p>
                <button type="button" class="icon" aria-label="Close what the files say" onClick=${() => { intake.value = null; }}>✕</button></div>
            <p class="visually-hidden" role="status">${pending ? "Reading the files"
                : planned ? `Read, planned on ${planned}` : report ? "Read, choose what to plan on" : "The files could not be read"}</p>
            ${pending ? html`<p class="muted">Reading…</p>` : null}
            ${problem ? html`<${Problem} problem=${problem} />` : null}
            ${report ? html`<${Report} report=${report} planned=${planned} />` : null}
        </div>`;
});
