/** What was read of dropped files: what was recognised, what was guessed, what is missing. */
import { html } from "../../html.js";
import { units } from "../../state/prefs.js";
import { accelerators } from "../../state/store.js";
import { exact, gigabytes, scaled } from "../../units.js";
import { Problem } from "../../widgets/problem.js";
import { Scroll } from "../../widgets/scroll.js";
import { intake, planOn, usableNodes } from "./state.js";

/** @param {string} name @param {any} value */
function written(name, value) {
    if (typeof value !== "number") return String(value);
    if (name.endsWith("_bytes_per_s")) return scaled(value, "B/s");
    return name.endsWith("_bytes") ? `${gigabytes(value, units.value)} ${units.value}` : exact(value);
}

/** @param {any} field @param {any} report */
function originOf({ origin, file, line, path, reason }, report) {
    if (origin === "file") {
        const name = report.files.length > 1 ? ` of ${report.files[file].name}` : "";
        return `line ${line}${name}${path ? `, ${path}` : ""}`;
    }
    return origin === "catalog" ? "catalogue" : `guessed${reason ? `: ${reason}` : ""}`;
}

/** @param {{pool: any, report: any}} props */
function Fields({ pool, report }) {
    const rows = Object.entries(pool.fields);
    const guessed = rows.filter(([, { origin }]) => origin === "default").length;
    return html`
        <details class="read-fields">
            <summary>${rows.length - guessed} figures read or of the catalogue, ${guessed} guessed</summary>
            <${Scroll} label="Figures of ${pool.name}">
                <table class="figures tight">
                    <caption class="visually-hidden">Figures of ${pool.name} and where each comes from</caption>
                    <thead><tr><th scope="col">Figure</th><th scope="col" class="n">Value</th><th scope="col">From</th></tr></thead>
                    <tbody>${rows.map(([name, field]) => html`
                        <tr key=${name} data-origin=${field.origin}>
                            <th scope="row">${name.replaceAll("_", " ")}</th><td class="n">${written(name, field.value)}</td>
                            <td>${originOf(field, report)}</td></tr>`)}
                    </tbody>
                </table>
            <//>
        </details>`;
}

/** The part is not known: the reader says which it is. @param {{pool: any, report: any}} props */
function Which({ pool, report }) {
    const asked = report.unresolved.find((item) => item.pool === pool.name);
    const named = asked?.name ? `“${asked.name}” is ${asked.why === "ambiguous" ? "any of several parts" : "not in the catalogue"}` : "No file says what its accelerators are";
    const nameOf = (id) => accelerators.value.find((part) => part.id === id)?.name ?? id;
    return html`
        <p class="warning"><span aria-hidden="true">▲ </span>${named}. Which is it?</p>
        ${asked?.candidates.length > 0 ? html`
            <div class="chips">${asked.candidates.map(({ accelerator }) => html`
                <button type="button" key=${accelerator} onClick=${() => planOn(report, pool, accelerator)}>${nameOf(accelerator)}</button>`)}
            </div>` : html`
            <select aria-label="Accelerator of ${pool.name}" onChange=${(event) => planOn(report, pool, event.currentTarget.value)}>
                <option value="" selected disabled>Choose a part</option>
                ${accelerators.value.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
            </select>`}`;
}

/** @param {{pool: any, report: any, planned: boolean}} props */
function Pool({ pool, report, planned }) {
    const usable = usableNodes(pool);
    const away = pool.nodes - usable;
    const inSpec = report.spec?.pools.some(({ name }) => name === pool.name);
    return html`
        <li class="read-pool" data-pool=${pool.name} data-planned=${planned}>
            <p><b>${pool.name}</b> ${pool.nodes} ${pool.nodes === 1 ? "node" : "nodes"}, ${pool.accelerators} accelerators${
                away > 0 ? `, ${away} drained or down` : ""}${planned ? html` <span class="tag">planned on</span>` : null}</p>
            ${!inSpec || usable === 0 ? html`<p class="muted">No node of it can be planned on.</p>`
                : pool.accelerator === null && !planned ? html`<${Which} pool=${pool} report=${report} />`
                    : planned ? null : html`<button type="button" onClick=${() => planOn(report, pool, pool.accelerator)}>Plan on it</button>`}
            <${Fields} pool=${pool} report=${report} />
        </li>`;
}

/** @param {{report: any, planned: string}} props */
function Report({ report, planned }) {
    return html`
        <ul class="muted">${report.files.map((file) => html`
            <li key=${file.name}>${file.name ? `${file.name}: ` : ""}${file.title}, ${Math.round(file.confidence * 100)} % sure</li>`)}</ul>
        <ul>${report.pools.map((pool) => html`
            <${Pool} key=${pool.name} pool=${pool} report=${report} planned=${pool.name === planned} />`)}</ul>
        ${report.pools.length === 0 ? html`<p class="warning">No node with accelerators was found.</p>` : null}
        ${report.warnings.length > 0 ? html`
            <ul class="notes">${report.warnings.map(({ message, line }) => html`
                <li key=${message}>${message}${line ? html` <span class="muted">line ${line}</span>` : null}</li>`)}</ul>` : null}`;
}

export function IntakeCard() {
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
}
