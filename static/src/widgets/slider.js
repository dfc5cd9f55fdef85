/**
 * A slider that stops on legal values only: what the service offers given all other settings. A
 * value that is not legal, as after another setting has changed, keeps its stop and is marked.
 */
import { useRef } from "preact/hooks";
import { html } from "../html.js";
import { FIELD_BY_KEY } from "../state/fields.js";
import { change, choices, fieldErrors, plan } from "../state/store.js";
import { errorProps, Row, Use } from "./field.js";

/** More numbers than this do not fit beneath the line: then its two ends and the value stand there. */
const MOST_MARKS = 7;

/** @param {{stops: number[], at: number}} props */
function Marks({ stops, at }) {
    const few = stops.length <= MOST_MARKS;
    const shown = few ? stops : [stops[0], stops.at(-1)];
    return html`<span class="stops" data-few=${few} aria-hidden="true">${shown.map((stop) => html`
        <i key=${stop} data-at=${stop === stops[at]}>${stop}</i>`)}</span>`;
}

/** The legal values on both sides of one that is not. @param {{name: string, legal: number[], current: number}} props */
function Nearest({ name, legal, current }) {
    const near = [legal.filter((value) => value < current).at(-1), legal.find((value) => value > current)];
    return html`
        <p class="try">${current} is not possible now. <${Use} name=${name} mends=${near.flatMap((value) => (value ? [{ key: name, value }] : []))} /></p>`;
}

/** @param {{name: string, why?: string}} props  why: what a value beyond its only one would break */
export function Slider({ name, why }) {
    const moving = useRef(false);
    const current = plan.value[name];
    const legal = choices.value[FIELD_BY_KEY.get(name).choice] ?? [];
    const stops = [...new Set([...legal, current])].sort((a, b) => a - b);
    const at = stops.indexOf(current);
    const illegal = legal.length > 0 && !legal.includes(current);
    const only = stops.length === 1;
    const told = only && legal.length === 1; /* at once, and why when it is known: there is room for two lines */
    /** @param {Event & {currentTarget: HTMLInputElement}} event */
    const onInput = (event) => {
        change({ [name]: stops[Number(event.currentTarget.value)] }, moving.current);
        moving.current = true;
    };
    const said = `${current}${illegal || fieldErrors.value.has(name) ? ", not possible now" : ""}, of ${stops.join(", ")}`;
    return html`
        <${Row} name=${name}>
            <div class="slide" data-illegal=${illegal}>
                <input type="range" id="field-${name}" min="0" max=${only ? 1 : stops.length - 1} step="1" value=${at} disabled=${only}
                       data-stops=${stops.join(" ")} aria-valuetext=${said} ...${errorProps(name)}
                       onInput=${onInput} onChange=${() => { moving.current = false; }} />
                ${told ? null : html`<${Marks} stops=${stops} at=${at} />`}
            </div>
            <output class="slide-value" for="field-${name}">${current}</output>
        <//>
        ${told ? html`<p class="hint muted">${stops[0]} only${why ? `: ${why}` : ""}</p>` : null}
        ${illegal ? html`<${Nearest} name=${name} legal=${legal} current=${current} />` : null}`;
}
