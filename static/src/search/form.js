/** What is searched: for what, within which limits, and which values of which dimension. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { amount, clusters, CONSTRAINTS, DIMENSIONS, LIMITS, limit, MOST_CLUSTERS, objective, OBJECTIVES, PRICE, restricted, said, say,
    valuesOf } from "./ask.js";
import { run } from "./run.js";
import { accelerators, inventories, model } from "../state/store.js";
import { parseCount, shortCount } from "../units.js";
import { Check } from "../widgets/check.js";
import { Chips } from "../widgets/chips.js";
import { Options } from "../widgets/options.js";
import { called, Help, known } from "../widgets/words.js";
import { dimensionLabel, dimensionValue } from "./figures.js";

/** What the service said about a member of the search. @param {{pointer: string}} props */
function Fault({ pointer }) {
    const fault = run.value.problem?.errors.find((item) => item.pointer === pointer || item.pointer?.startsWith(`${pointer}/`));
    return fault ? html`<p class="field-error" id="fault-${pointer}"><span aria-hidden="true">▲ </span>${fault.detail}
        ${fault.hint ? html` <span class="muted">${fault.hint}</span>` : null}</p>` : null;
}

/** The first of them goes without saying. @param {{name: string, label: string, items: [string, string][], now: string}} props */
function OneOf({ name, label, items, now }) {
    return html`
        <div class="ask" role="radiogroup" aria-labelledby="ask-${name}">
            <span class="row-label" id="ask-${name}">${label}</span>
            <${Chips} name="ask-${name}" items=${items} now=${now}
                set=${(value) => say({ [name]: value === items[0][0] ? "" : value })} />
        </div>`;
}

/** A figure that may be left open. @param {import("./ask.js").Constraint & {pointer: string}} props */
function Limit({ name, factor = 1, whole, pointer }) {
    const unit = known("limit_units", name);
    const [draft, setDraft] = useState(/** @type {string | null} */ (null));
    const now = amount(name);
    const shown = now === undefined ? "" : shortCount(Number((now / factor).toPrecision(12)));
    /** @param {string} text */
    const read = (text) => {
        if (text.trim() === "") return "";
        const number = Number(text.replace(/[,_ ]/g, ""));
        const value = Number.isFinite(number) ? number : parseCount(text);
        return value > 0 && (!whole || Number.isInteger(value)) ? String(Number((value * factor).toPrecision(12))) : null;
    };
    const bad = draft !== null && read(draft) === null;
    /** @param {string} text */
    const commit = (text) => {
        const value = read(text);
        if (value === null) return;
        setDraft(null);
        say({ [name]: value });
    };
    return html`
        <div class="limit">
            <label for="ask-${name}" title=${called("limit_help", name)}>${called("limits", name)}</label>
            <span class="count">
                <input type="text" inputmode="decimal" autocomplete="off" spellcheck=${false} id="ask-${name}" placeholder="any"
                    value=${draft ?? shown} ...${bad ? { "aria-invalid": "true" } : {}}
                    onInput=${(event) => setDraft(event.currentTarget.value)} onChange=${(event) => commit(event.currentTarget.value)} />
                ${unit ? html`<span class="unit">${unit}</span>` : null}
            </span>
            ${bad ? html`<p class="field-error" role="alert">a ${whole ? "whole " : ""}number above 0</p>` : null}
            <${Fault} pointer=${pointer} />
        </div>`;
}

/**
 * Values beside those on offer, typed.
 * @param {{dimension: import("./ask.js").Dimension, now: any[], put: (values: any[]) => void}} props
 */
function Typed({ dimension, now, put }) {
    const { name, values } = dimension;
    const offered = now.filter((value) => values.includes(value));
    const others = now.filter((value) => !values.includes(value));
    /** What was no value is gone from the text as well. @param {Event & {currentTarget: HTMLInputElement}} event */
    const commit = (event) => {
        const typed = valuesOf(dimension, event.currentTarget.value);
        put([...offered, ...typed]);
        event.currentTarget.value = typed.filter((value) => !values.includes(value)).join(" ");
    };
    return html`<input type="text" class="typed" inputmode="numeric" autocomplete="off" spellcheck=${false} id="ask-${name}"
        placeholder="others" aria-label="${dimensionLabel(name)}: other values" value=${others.join(" ")}
        onChange=${commit} />`;
}

/** @param {{dimension: import("./ask.js").Dimension}} props */
function Values({ dimension }) {
    const { name, type, values } = dimension;
    /** @type {any[]} */
    const now = restricted.value[name] ?? [];
    /** @param {any[]} list */
    const put = (list) => say({ [name]: valuesOf(dimension, list.join(",")).join(",") });
    /** It goes off by choosing a value, not by itself. @param {Event & {currentTarget: HTMLInputElement}} event */
    const putAny = (event) => {
        event.currentTarget.checked = true;
        put([]);
    };
    /** @param {any} value */
    const toggle = (value) => put(now.includes(value) ? now.filter((other) => other !== value) : [...now, value]);
    return html`
        <div class="ask" role="group" aria-labelledby="ask-label-${name}" data-dimension=${name}>
            <span class="row-label" id="ask-label-${name}">${dimensionLabel(name)}</span>
            <span class="chips">
                <label class="chip"><input type="checkbox" value="any" checked=${now.length === 0} onChange=${putAny} /><span>any</span></label>
                ${values.map((value) => html`
                    <label class="chip" key=${value}><input type="checkbox" value=${String(value)} checked=${now.includes(value)}
                        onChange=${() => toggle(value)} /><span>${dimensionValue(name, value)}</span></label>`)}
                ${type === "count" ? html`<${Typed} dimension=${dimension} now=${now} put=${put} />` : null}
            </span>
            <${Fault} pointer="/space/${name}" />
        </div>`;
}

/** Clusters beside the planner's, so that the search says which. */
function Also() {
    const have = clusters.value;
    /** @param {string[]} list */
    const put = (list) => say({ also: list.join(",") });
    const all = [...inventories.value.items.map(({ slug, name }) => [`inventory:${slug}`, name ?? slug]),
        ...accelerators.value.map(({ id, name }) => [`part:${id}`, name])];
    /** @param {string} text */
    const nameOf = (text) => all.find(([value]) => value === text)?.[1] ?? text.slice(text.indexOf(":") + 1);
    return html`
        <div class="ask">
            <label class="row-label" for="ask-also" title=${known("help", "also")}>Also on</label>
            <span class="chips">
                ${have.map((text) => html`
                    <button type="button" key=${text} class="chip-button" onClick=${() => put(have.filter((other) => other !== text))}>${nameOf(text)}
                        <span aria-hidden="true"> ✕</span><span class="visually-hidden">: leave it out</span></button>`)}
                <select id="ask-also" disabled=${have.length >= MOST_CLUSTERS} onChange=${(event) => put([...have, event.currentTarget.value])}>
                    <${Options} items=${[["", "another cluster…"], ...all.filter(([value]) => !have.includes(value))]} now="" />
                </select>
            </span>
            <${Fault} pointer="/clusters" />
        </div>`;
}

/** @type {[string, string][]} */
const NODES = [["", "as in the plan"], ["any", "any number up to it"]];

function Space() {
    const count = Object.keys(restricted.value).length;
    const experts = (model.value.info?.parameters?.routed_experts ?? 1) > 0;
    const shown = DIMENSIONS.filter((dimension) => experts || !dimension.experts || restricted.value[dimension.name]);
    return html`
        <details class="space" data-testid="search-space">
            <summary>Space <span class="tag">${count === 0 ? "everything legal" : `${count} restricted`}</span></summary>
            <${OneOf} name="nodes" label="Nodes" items=${NODES} now=${said("nodes") === "any" ? "any" : ""} />
            ${shown.map((dimension) => html`<${Values} key=${dimension.name} dimension=${dimension} />`)}
            <${Check} on=${said("anywhere") === "1"} set=${(on) => say({ anywhere: on ? "1" : "" })}><${Help} of="anywhere" /><//>
        </details>`;
}

export function Form() {
    return html`
        <form class="asking" aria-label="What to search" onSubmit=${(event) => event.preventDefault()}>
            <${OneOf} name="objective" label="Objective" now=${objective.value}
                items=${OBJECTIVES.map((name) => [name, called("objectives", name)])} />
            <${Fault} pointer="/objective" />
            <${Also} />
            <div class="limits" role="group" aria-label="Constraints">
                ${CONSTRAINTS.map((item) => html`<${Limit} key=${item.name} pointer="/constraints/${item.name}" ...${item} />`)}
                <${Limit} name=${PRICE} pointer="/cluster/${PRICE}" /></div>
            <${OneOf} name="limit" label="Plans wanted" now=${String(limit.value)}
                items=${LIMITS.map((count) => [String(count), String(count)])} />
            <${Space} />
        </form>`;
}
