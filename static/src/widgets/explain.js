/**
 * Every number of the page is a button that opens its explanation: the formula, the same formula
 * with the values filled in, the inputs, and where it comes from.
 *
 * @typedef {{formula?: string, inputs?: Record<string, number>, source?: string, name?: string, parts?: Record<string, Explanation>}} Explanation
 *          parts: what explains its inputs, by their names
 * @typedef {{anchor: HTMLElement, title: string, text: string, exactText: string, about: Explanation | null,
 *            read: string, range?: string, from?: Opened}} Opened  read: what it is called where it is explained at length; range: its interval; from: what it is an input of
 */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { explainAll, units } from "../state/prefs.js";
import { estimated } from "../state/store.js";
import { exact } from "../units.js";
import { Read } from "./read.js";
import { valueAt, writerOf } from "./values.js";
import { Help } from "./words.js";

/** @type {import("@preact/signals").Signal<Opened | null>} */
const opened = signal(null);

const EDGE_PX = 12;

/** @param {string} pointer  into the estimate @returns {Explanation | null} */
export function explanationAt(pointer) {
    return estimated.value?.explanations?.[pointer] ?? null;
}

/** @param {string} name  the last of a pointer @param {(pointer: string) => boolean} [is] @returns {Explanation | undefined} */
function explanationOf(name, is = () => true) {
    return Object.entries(estimated.value?.explanations ?? {}).find(([pointer]) => pointer.endsWith(`/${name}`) && is(pointer))?.[1];
}

/** The interval of a figure, as far as it has one of its own. @param {string} pointer */
function rangeAt(pointer) {
    const name = pointer.slice(pointer.lastIndexOf("/") + 1);
    const ends = /** @type {Record<string, number[]>} */ (estimated.value?.interval)?.[name];
    return ends?.map((end) => writerOf(name)(end)).join(" – ");
}

/** How figures of that name are computed, where the values of a plan are not told. @param {string} name @returns {Explanation | null} */
export function formulaOf(name) {
    const { time, memory } = estimated.value ?? {};
    const about = explanationOf(name) ?? [...time?.terms ?? [], ...memory?.ranks[0].terms ?? []].find((term) => term.name === name);
    return about ? { formula: about.formula, source: about.source, name: about.name } : null;
}

/** The formula with its inputs in place of their names, without the words that follow it. @param {Explanation} about */
export function filledIn({ formula = "", inputs = {} }) {
    const [symbols] = formula.split(/[:;]/);
    const text = symbols.replace(/[A-Za-z_][A-Za-z0-9_]*/g, (name) => (typeof inputs[name] === "number" ? exact(inputs[name]) : name));
    return text === symbols ? "" : text;
}

/**
 * What explains an input: a part of its own, else a figure or a term of the step of that name and value.
 * @param {Explanation} about @param {string} name @param {any} value @returns {Explanation | undefined}
 */
function deeper(about, name, value) {
    const estimate = estimated.value;
    return about.parts?.[name] ?? explanationOf(name, (pointer) => valueAt(estimate, pointer) === value) ?? estimate?.time.terms.find((term) => term.name === name && term.seconds === value);
}

/** @param {boolean} returnFocus */
function close(returnFocus) {
    const anchor = opened.value?.anchor;
    opened.value = null;
    if (returnFocus) anchor?.focus();
}

/**
 * @param {Object} props
 * @param {string} props.title            what the number is
 * @param {string} props.text             as shown
 * @param {number} props.value            as the service sent it
 * @param {string} [props.unit]           of value: "bytes", "s" or none
 * @param {Explanation | null} [props.about]
 * @param {string} [props.pointer]        looked up when there is no about
 * @param {boolean} [props.inline]        shows the formula beneath in explain mode
 */
export function Num({ title, text, value, unit = "", about, pointer = "", inline = false }) {
    const found = about ?? explanationAt(pointer);
    const exactText = `${exact(value)}${unit === "" ? "" : ` ${unit}`}`;
    /** @param {Event & {currentTarget: HTMLElement}} event */
    const open = (event) => {
        const anchor = event.currentTarget;
        opened.value = opened.value?.anchor === anchor ? null
            /* A cell has its unit in the head of its column, which is not seen here. */
            : { anchor, title, text: unit === "bytes" && /\d$/.test(text) ? `${text} ${units.value}` : text, exactText, about: found, read: found?.name ?? pointer, range: rangeAt(pointer) };
    };
    /** The whole of it, for who only points: it would be much to hear at every number. @param {Event & {currentTarget: HTMLElement}} event */
    const hint = ({ currentTarget }) => {
        if (found?.formula) currentTarget.title = `${title} = ${found.formula}${filledIn(found) && `\n= ${filledIn(found)}`}\n= ${exactText}`;
    };
    return html`
        <button type="button" class="num" aria-haspopup="dialog" title="Explain: ${title}" onClick=${open} onPointerEnter=${hint}>
            ${text}<span class="visually-hidden">, explain ${title}</span>
        </button>
        ${inline && explainAll.value && found?.formula
            ? html`<span class="formula-line">${found.formula}</span>` : null}`;
}

/** A figure of a plan that is answered in few members: it opens where its name says how it is computed. @param {{name: string, title: string, text: string, value: number}} props */
export function Told({ name, title, text, value }) {
    const about = formulaOf(name);
    return about ? html`<${Num} title=${title} text=${text} value=${value} about=${about} />` : text;
}

/** @param {{about: Explanation}} props */
function Inputs({ about }) {
    const rows = Object.entries(about.inputs ?? {});
    if (rows.length === 0) return null;
    /** @param {string} name @param {any} value */
    const label = (name, value) => {
        const inner = deeper(about, name, value);
        const code = html`<code>${name}</code>`;
        const open = () => { opened.value = { ...opened.value, title: name, text: "", exactText: exact(value), about: inner, read: name, range: "", from: opened.value }; };
        return inner ? html`<button type="button" class="link" aria-label="Explain ${name}" onClick=${open}>${code}</button>` : code;
    };
    return html`
        <table class="inputs">
            <caption class="visually-hidden">Inputs of the formula</caption>
            <tbody>${rows.map(([name, value]) => html`
                <tr key=${name}>
                    <th scope="row">${label(name, value)}</th>
                    <td>${typeof value === "number" ? exact(value) : String(value)}</td>
                </tr>`)}
            </tbody>
        </table>`;
}

/** @param {HTMLElement} panel @param {HTMLElement} anchor */
function place(panel, anchor) {
    const at = anchor.getBoundingClientRect();
    const roomRight = document.documentElement.clientWidth - panel.offsetWidth - EDGE_PX;
    const below = at.bottom + 6 + panel.offsetHeight < window.innerHeight - EDGE_PX;
    const top = below ? at.bottom + 6 : Math.max(EDGE_PX, at.top - 6 - panel.offsetHeight);
    panel.style.left = `${Math.max(EDGE_PX, Math.min(at.left - 8, roomRight)) + window.scrollX}px`;
    panel.style.top = `${top + window.scrollY}px`;
}

/** The popover, rendered once at the end of the page. */
export function ExplainPopover() {
    const panel = useRef(/** @type {HTMLElement | null} */ (null));
    const now = opened.value;

    useLayoutEffect(() => {
        if (!now || !panel.current) return undefined;
        place(panel.current, now.anchor);
        panel.current.focus({ preventScroll: true });
        /** @param {Event} event */
        const outside = (event) => {
            const target = /** @type {Node} */ (event.target);
            if (!panel.current?.contains(target) && !now.anchor.contains(target)) close(false);
        };
        const off = new AbortController();
        for (const event of ["pointerdown", "focusin"]) document.addEventListener(event, outside, off);
        return () => off.abort();
    }, [now]);

    if (!now) return null;
    /** @param {KeyboardEvent} event */
    const onKeyDown = (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close(true);
    };
    const { about } = now;
    const filled = about ? filledIn(about) : "";
    return html`
        <section class="popover" role="dialog" aria-labelledby="explain-title" tabindex="-1"
                 ref=${panel} onKeyDown=${onKeyDown}>
            ${now.from ? html`<button type="button" class="link" onClick=${() => { opened.value = now.from; }}>← ${now.from.title}</button>` : null}
            <div class="popover-head">
                <h2 id="explain-title">${now.title}</h2>
                <button type="button" class="icon" aria-label="Close the explanation" onClick=${() => close(true)}>✕</button>
            </div>
            <p class="popover-value"><strong>${now.text}</strong> <span class="muted">${now.exactText}</span></p>
            ${about?.formula ? html`<pre class="formula">${about.formula}</pre>` : html`
                <p class="muted"><${Help} of="not_computed" /></p>`}
            ${filled ? html`<pre class="formula filled">= ${filled}</pre>` : null}
            ${about ? html`<${Inputs} about=${about} />` : null}
            ${now.range ? html`<p class="source"><span class="muted">Interval</span> ${now.range}</p>` : null}
            ${about?.source ? html`<p class="source"><span class="muted">Source</span> ${about.source}</p>` : null}
            <${Read} of=${now.read} onGo=${() => close(false)} />
        </section>`;
}
