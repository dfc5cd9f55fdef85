/** Two to four plans in columns. */
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { MOST_PINS, pins } from "../state/pins.js";
import { ownPin, setPlan, togglePin } from "../state/store.js";
import { Check } from "../widgets/check.js";
import { Panel } from "../widgets/panel.js";
import { Help } from "../widgets/words.js";
import { cutOf } from "../search/figures.js";
import { askAgain, baseline, columns, followWanted, said, say, wanted } from "./columns.js";
import { partsOf } from "./rows.js";
import { Baseline, Sheet } from "./sheet.js";

/** @param {{column: import("./columns.js").Column}} props */
function Refused({ column }) {
    const { problem, own } = column;
    const again = !own && (problem.status === 0 || problem.status >= 500) && problem.type !== "missing";
    return html`
        <span class="field-error"><span aria-hidden="true">▲ </span>${problem.title}: ${problem.errors[0]?.detail ?? problem.detail}</span>
        ${again ? html`<button type="button" aria-label="Try again: ${column.name}" onClick=${() => askAgain(column)}>Try again</button>` : null}`;
}

/** @param {{column: import("./columns.js").Column}} props */
function Head({ column }) {
    const { key, name, own, pin, plan, phase, estimate } = column;
    const said = own ? "the planner's plan" : name.toLowerCase();
    return html`
        <b>${name}</b><span class="muted">${estimate ? cutOf(estimate.resolved) : phase === "loading" ? "on its way…" : ""}</span>
        ${phase === "problem" ? html`<${Refused} column=${column} />` : null}
        <span class="pin-tools">
            <${Baseline} pressed=${baseline.value.key === key} name=${said} press=${() => say({ base: own ? "" : key })} />
            ${own ? html`
                <button type="button" aria-pressed=${pin !== ""} disabled=${pin === "" && pins.value.length >= MOST_PINS}
                    aria-label="Pin the planner's plan" onClick=${() => togglePin(ownPin.value)}>Pin</button>` : html`
                <button type="button" class="primary" aria-label="Apply ${said} to the planner" onClick=${() => setPlan(plan)}>Apply</button>
                <button type="button" aria-label="Remove ${said}" onClick=${() => togglePin(pin)}>Remove</button>`}
        </span>`;
}

export function Plans() {
    useEffect(() => followWanted(wanted.value), [wanted.value]);
    useEffect(() => () => followWanted([]), []);
    const list = columns.value;
    const phase = list.some((column) => column.phase === "loading") ? "loading" : "done";
    const only = said("only") === "1";
    return html`
        <${Panel} title="Plans side by side" id="compared-plans" class="panel answer" data-phase=${phase} head=${html`
            <p class="key">the planner's and up to ${MOST_PINS} <${Help} of="pinned" /></p>`}>
            ${list.length < 2 ? html`<p class="hint" data-testid="nothing-pinned"><${Help} of="pins" /></p>` : null}
            <${Sheet} label="Plans side by side" file="shardline-plans" parts=${partsOf(list)} base=${list.indexOf(baseline.value)}
                columns=${list.map((column) => ({ key: column.key, title: column.name, head: html`<${Head} column=${column} />` }))}
                onlyDifferent=${only && list.length > 1}>
                ${list.length > 1 ? html`<${Check} on=${only} set=${(on) => say({ only: on ? "1" : "" })}>Only differences<//>` : null}
            <//>
        <//>`;
}
