/** Form parts: a labelled row with its message, a choice among legal values, a count, a text. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { FIELD_BY_KEY, FIELDS, valueWords } from "../state/fields.js";
import { change, choices, fieldErrors, plan, unread } from "../state/store.js";
import { exact, parseCount, shortCount } from "../units.js";
import { ReadLabel } from "./read.js";
import { known } from "./words.js";

/** More values than this are offered as a list instead of side by side. */
const MOST_CHIPS = 8;
const MOST_HINTS = 8;

/** What mends a problem: a value of the field, or of another where it is named. @typedef {{key: string, value: number | string}} Mend */

/**
 * The legal values of a field that a problem's hint names, of counts the nearest first; then those of other fields.
 * @param {string} name @param {{pointer: string, hint?: string}} problem @param {number} [most] @returns {Mend[]}
 */
export function hinted(name, { pointer, hint = "" }, most = MOST_HINTS) {
    const { type, pointer: own } = FIELD_BY_KEY.get(name);
    const parts = hint.split(", ");
    /* What a switch contradicts has values, a switch has none. */
    const words = pointer !== own || type === "flag" ? [] : parts.filter((word) => (type === "count" ? /^[0-9]+$/ : /^[a-z0-9][a-z0-9_.-]*$/).test(word));
    const off = (/** @type {string} */ word) => Math.abs(Number(word) - plan.value[name]);
    const values = (type === "count" ? words.sort((a, b) => off(a) - off(b)) : words).slice(0, most);
    return [...values.map((value) => ({ key: name, value: typed(name, value) })), ...parts.flatMap((part) => {
        /* "or global_batch_size 168"; what takes two settings is not for one press. */
        const [, choice, value] = /^(?:or )?([a-z_]+) (\S+)$/.exec(part) ?? [];
        const field = FIELDS.find((one) => one.choice === choice && one.type !== "flag");
        return field ? [{ key: field.key, value: typed(field.key, value) }] : [];
    })];
}

/** @param {string} key @param {string} value */
const typed = (key, value) => (FIELD_BY_KEY.get(key).type === "count" ? Number(value) : value);

/** Values to press. @param {{name: string, mends: Mend[]}} props  name: of the field that needs no name beside its values */
export function Use({ name, mends }) {
    return html`Use ${mends.map(({ key, value }) => {
        const { label } = FIELD_BY_KEY.get(key);
        return html`
            <button type="button" key=${key + value} class="chip-button" aria-label="Set ${label} to ${value}"
                    onClick=${() => change({ [key]: value })}>${key === name ? "" : `${label} `}${value}</button>`;
    })}`;
}

/** @param {{name: string}} props  the key of a field */
export function FieldError({ name }) {
    const problem = fieldErrors.value.get(name);
    if (!problem) return null;
    const mends = hinted(name, problem);
    return html`
        <div class="field-error">
            <p id="error-${name}"><span aria-hidden="true">▲ </span>${problem.detail}</p>
            ${mends.length > 0 ? html`<p class="try"><${Use} name=${name} mends=${mends} /></p>`
                : problem.hint ? html`<p class="muted">${{ true: "on", false: "off" }[problem.hint] ?? problem.hint}</p>` : null}
        </div>`;
}

/** What ties a control to its message. @param {string} name */
export function errorProps(name) {
    return fieldErrors.value.has(name)
        ? { "aria-invalid": "true", "aria-describedby": `error-${name}` } : {};
}

/** What a setting is for is said to a pointer at its label. @param {{name: string, label?: string, group?: boolean, children?: any}} props */
export function Row({ name, label, group = false, children }) {
    const help = known("settings", name) || undefined;
    const text = html`<${ReadLabel} of=${name} text=${label ?? FIELD_BY_KEY.get(name).label} help=${help} />`;
    return html`
        <div class="row" data-field=${name}>
            ${group
                ? html`<span class="row-label" id="label-${name}" title=${help}>${text}</span>`
                : html`<label class="row-label" for="field-${name}" title=${help}>${text}</label>`}
            <div class="row-control">${children}</div>
            <${FieldError} name=${name} />
        </div>`;
}

/**
 * A choice that offers legal values only. A current value that is not legal stays visible and
 * marked, because hiding it would hide what the message speaks about. A value of `shown` stays in
 * view while it is not legal, disabled and with the reason.
 *
 * @param {{name: string, fallback: any[], words?: Record<string, string>,
 *          shown?: Record<string, string>}} props  shown: value -> why it may be illegal
 */
export function Choice({ name, fallback, words, shown = {} }) {
    const field = FIELD_BY_KEY.get(name);
    const given = choices.value[field.choice] ?? [];
    const legal = given.length > 0 ? given : fallback;
    const offered = [...legal.filter((value) => value !== null), ...(field.optional ? [""] : [])];
    const current = plan.value[name];
    const isLegal = offered.includes(current);
    const all = isLegal ? offered : [current, ...offered];
    const barred = Object.keys(shown).filter((value) => !all.includes(value));
    /** @param {any} value */
    const set = (value) => change({ [name]: value });
    /** @param {any} value */
    const wordFor = (value) => words?.[value] ?? (value === "" ? valueWords(field, value) : String(value));

    if (all.length > MOST_CHIPS) {
        return html`
            <${Row} name=${name}>
                <select id="field-${name}" ...${errorProps(name)} value=${String(all.indexOf(current))}
                        onChange=${(event) => set(all[Number(event.currentTarget.value)])}>
                    ${all.map((value, at) => html`
                        <option key=${String(value)} value=${String(at)} selected=${value === current}>
                            ${wordFor(value)}</option>`)}
                </select>
            <//>`;
    }
    return html`
        <${Row} name=${name} group>
            <div class="chips" role="radiogroup" id="field-${name}" aria-labelledby="label-${name}" ...${errorProps(name)}>
                ${[...all, ...barred].map((value, at) => {
                    const why = at < all.length ? undefined : shown[value];
                    return html`
                        <label key=${String(value)} class="chip ${why ? "barred" : !isLegal && value === current ? "illegal" : ""}" title=${why}>
                            <input type="radio" name=${name} value=${String(value)} checked=${value === current} disabled=${why !== undefined}
                                   title=${why} onChange=${() => set(value)} />
                            <span>${wordFor(value)}</span>
                        </label>`;
                })}
            </div>
        <//>`;
}

/** @param {{name: string, legal: any[]}} props */
export function Switch({ name, legal }) {
    const on = plan.value[name];
    const fixed = !legal.includes(!on);
    return html`
        <${Row} name=${name}>
            <input type="checkbox" role="switch" class="switch" id="field-${name}" checked=${on} disabled=${fixed}
                   ...${errorProps(name)} onChange=${(event) => change({ [name]: event.currentTarget.checked })} />
        <//>`;
}

/**
 * A count typed by hand. Up and down step it: by one, or doubling where powers of two are usual.
 *
 * @param {{name: string, step?: "one" | "double", suffixes?: boolean, placeholder?: string, unit?: any}} props
 */
export function Count({ name, step = "one", suffixes = false, placeholder = "", unit = null }) {
    const [draft, setDraft] = useState(/** @type {string | null} */ (null));
    const value = plan.value[name];
    const { label, optional } = FIELD_BY_KEY.get(name);
    /** @param {string} text */
    const read = (text) => (optional && text.trim() === "" ? 0
        : suffixes || /^[0-9, _]+$/.test(text.trim()) ? parseCount(text) : null);
    const shown = draft ?? (optional && value === 0 ? "" : suffixes ? shortCount(value) : exact(value));
    const bad = draft !== null && read(draft) === null;
    useEffect(() => {
        if (!bad) return undefined;
        unread.value = [...unread.peek(), label];
        return () => { unread.value = unread.peek().filter((other) => other !== label); };
    }, [bad]);

    /** @param {string} text */
    const commit = (text) => {
        const count = read(text);
        if (count === null) return;
        setDraft(null);
        if (count !== value) change({ [name]: count });
    };
    /** @param {KeyboardEvent} event */
    const onKeyDown = (event) => {
        if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
        event.preventDefault();
        const up = event.key === "ArrowUp";
        const next = step === "double" ? (up ? value * 2 : Math.floor(value / 2)) : value + (up ? 1 : -1);
        if (next >= 1) commit(String(next));
    };
    return html`
        <${Row} name=${name}>
            <span class="count">
                <input type="text" inputmode="numeric" autocomplete="off" spellcheck=${false} id="field-${name}"
                       value=${shown} placeholder=${placeholder} ...${errorProps(name)}
                       ...${bad ? { "aria-invalid": "true" } : {}}
                       onInput=${(event) => setDraft(event.currentTarget.value)}
                       onChange=${(event) => commit(event.currentTarget.value)} onKeyDown=${onKeyDown} />
                ${unit}
            </span>
            ${bad ? html`<p class="field-error" role="alert">a whole number${suffixes ? ", such as 2T or 300B" : ""}</p>` : null}
        <//>`;
}
