/**
 * Every number of the page is a button that opens its explanation: the formula, the same formula
 * with the values filled in, the inputs, and where it comes from.
 *
 * @typedef {{formula?: string, inputs?: Record<string, number>, source?: string, name?: string}} Explanation
 * @typedef {{anchor: HTMLElement, title: string, text: string, exactText: string, about: Explanation | null,
 *            read: string}} Opened  read: what it is called where it is explained at length
 */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { explainAll } from "../state/prefs.js";
import { answer } from "../state/store.js";
import { exact } from "../units.js";
import { Read } from "./read.js";

/** @type {import("@preact/signals").Signal<Opened | null>} */
const opened = signal(null);

const EDGE_PX = 12;

/** @param {string} pointer  into the estimate @returns {Explanation | null} */
export function explanationAt(pointer) {
    return answer.value.estimate?.explanations?.[pointer] ?? null;
}

/** The formula with its inputs in place of their names. @param {Explanation} about */
export function filledIn(about) {
    const inputs = about.inputs ?? {};
    const text = (about.formula ?? "").replace(/[A-Za-z_][A-Za-z0-9_]*/g, (name) =>
        (typeof inputs[name] === "number" ? exact(inputs[name]) : name));
    return text === about.formula ? "" : text;
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
            : { anchor, title, text, exactText, about: found, read: found?.name ?? pointer };
    };
    return html`
        <button type="button" class="num" aria-haspopup="dialog" title="Explain: ${title}" onClick=${open}>
            ${text}<span class="visually-hidden">, explain ${title}</span>
        </button>
        ${inline && explainAll.value && found?.formula
            ? html`<span class="formula-line">${found.formula}</span>` : null}`;
}

/** @param {{about: Explanation}} props */
function Inputs({ about }) {
    const rows = Object.entries(about.inputs ?? {});
    if (rows.length === 0) return null;
    return html`
        <table class="inputs">
            <caption class="visually-hidden">Inputs of the formula</caption>
            <tbody>${rows.map(([name, value]) => html`
                <tr key=${name}>
                    <th scope="row"><code>${name}</code></th>
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
            <div class="popover-head">
                <h2 id="explain-title">${now.title}</h2>
                <button type="button" class="icon" aria-label="Close the explanation" onClick=${() => close(true)}>✕</button>
            </div>
            <p class="popover-value"><strong>${now.text}</strong> <span class="muted">${now.exactText}</span></p>
            ${about?.formula ? html`<pre class="formula">${about.formula}</pre>` : html`
                <p class="muted">An input of the request or a figure of the catalogue: it is not computed.</p>`}
            ${filled ? html`<pre class="formula filled">= ${filled}</pre>` : null}
            ${about ? html`<${Inputs} about=${about} />` : null}
            ${about?.source ? html`<p class="source"><span class="muted">Source</span> ${about.source}</p>` : null}
            <${Read} of=${now.read} onGo=${() => close(false)} />
        </section>`;
}
