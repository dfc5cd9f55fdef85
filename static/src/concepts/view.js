/** The concepts: a list of terms with a filter, and one term with its text, formula and miniature. */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { place } from "../state/look.js";
import { openPage } from "../state/store.js";
import { exact } from "../units.js";
import { Notes } from "../planner/details.js";
import { Problem } from "../widgets/problem.js";
import { Options } from "../widgets/options.js";
import { hrefOf, stay } from "../widgets/read.js";
import { modelChoices } from "./ask.js";
import { Bars } from "./bars.js";
import { Cache } from "./cache.js";
import { Lanes } from "./lanes.js";
import { book, readBook, unread } from "./book.js";
import { answer, id, ids, knobs, model, set, term, waiting } from "./state.js";
import { called, Help, worded } from "../widgets/words.js";

const filter = signal("");

/** A model that was chosen goes along from concept to concept. @param {string} to */
function open(to) {
    const { m } = place.value;
    openPage("concepts", m === undefined ? { term: to } : { term: to, m });
}

/** @param {{to: string, current?: boolean, children?: any}} props */
function To({ to, current = false, children = called("concepts", to) }) {
    return html`<a href=${hrefOf(to)} aria-current=${current ? "page" : null} onClick=${stay(() => open(to))}>${children}</a>`;
}

/** What can be found of a concept by typing. @param {string} of */
function wordsOf(of) {
    const { group, text } = book.value.terms[of];
    return [called("concepts", of), of, group, ...text].join(" ").toLowerCase();
}

function List() {
    const found = ids.value.filter((each) => wordsOf(each).includes(filter.value.trim().toLowerCase()));
    const groups = [...new Set(found.map((each) => book.value.terms[each].group))];
    const list = useRef(/** @type {HTMLElement | null} */ (null));
    /* What is read is in sight: the list may be longer than its room, on a phone by far. */
    useLayoutEffect(() => {
        const box = list.current.getBoundingClientRect();
        const now = list.current.querySelector("[aria-current]")?.getBoundingClientRect();
        if (now && (now.top < box.top || now.bottom > box.bottom)) list.current.scrollTop += now.top - box.top - box.height / 2;
    }, [id.value]);
    return html`
        <nav class="terms" aria-label="Concepts" ref=${list}>
            <label class="visually-hidden" for="field-terms">Filter concepts</label>
            <input id="field-terms" type="text" autocomplete="off" placeholder="Filter concepts" value=${filter.value}
                   onInput=${(event) => { filter.value = event.currentTarget.value; }} />
            <p class="muted hint" role="status">${`${found.length} of ${ids.value.length} concepts`}</p>
            ${groups.map((group) => html`
                <div key=${group}><h2>${group}</h2><ul>${found.filter((each) => book.value.terms[each].group === group).map((each) => html`
                    <li key=${each}><${To} to=${each} current=${each === id.value} /></li>`)}</ul></div>`)}
        </nav>`;
}

/** @param {{knob: import("./book.js").Knob}} props */
function Knob({ knob: { name, label, values } }) {
    const now = knobs.value[name];
    return html`
        <label class="knob">${label} <output>${exact(now)}</output>
            <input type="range" min="0" max=${values.length - 1} step="1" value=${values.indexOf(now)} aria-valuetext=${exact(now)} name=${name}
                   onInput=${(event) => set(name, values[Number(event.currentTarget.value)])} /></label>`;
}

function Knobs() {
    const { knobs: list = [], own = false } = term.value;
    if (list.length === 0 && !own) return null;
    return html`
        <div class="transport">
            ${own ? html`<label>Model <select name="m" onChange=${(event) => set("m", event.currentTarget.value)}>
                <${Options} items=${modelChoices()} now=${model.value} /></select></label>` : null}
            ${list.map((knob) => html`<${Knob} key=${knob.name} knob=${knob} />`)}
        </div>`;
}

/** What the service says beside its answers, each thing once. @param {any[]} answered @param {"warnings" | "assumptions"} kind */
const notesOf = (answered, kind) => [...new Map(answered.flatMap(({ estimate }) => estimate[kind] ?? []).map((note) => [note.message, note])).values()];

function Miniature() {
    const { of, shown } = answer.value;
    const { show, figures, note } = term.value;
    const current = of === id.value;
    const answered = current ? shown.filter(({ estimate }) => estimate !== null) : [];
    const refused = current ? shown.filter(({ problem }) => problem !== null) : [];
    return html`
        <section class="panel" aria-labelledby="miniature" data-testid="miniature" data-phase=${waiting.value ? "loading" : "done"} aria-busy=${waiting.value}>
            <h3 id="miniature">In numbers</h3>
            <p class="muted">${note} <${Help} of="very_question" /></p>
            <${Knobs} />
            ${current ? null : html`<p class="muted" role="status">Asking the service…</p>`}
            ${answered.length === 0 ? null : show === "bars" ? html`<${Bars} list=${answered} figures=${figures} />`
                : show === "cache" ? html`<${Cache} list=${answered} />`
                    : html`<${Lanes} key=${of} list=${answered} figures=${figures} rings=${show === "rings"} />`}
            ${show === "cache" ? null : html`
                <div class="folds"><${Notes} title="Warnings" items=${notesOf(answered, "warnings")} tone="warn" testid="warnings" />
                    <${Notes} title="Assumptions" items=${notesOf(answered, "assumptions")} testid="assumptions" /></div>`}
            ${refused.map(({ label, problem }) => html`
                <div key=${label} class="refused"><b>${label}</b><${Problem} problem=${problem} /></div>`)}
        </section>`;
}

function Turn() {
    const at = ids.value.indexOf(id.value);
    const [before, after] = [ids.value[at - 1], ids.value[at + 1]];
    return html`
        <nav class="turn" aria-label="Next and previous concept">
            ${before ? html`<${To} to=${before}>← ${called("concepts", before)}<//>` : html`<span></span>`}
            ${after ? html`<${To} to=${after}>${called("concepts", after)} →<//>` : null}
        </nav>`;
}

/** One concept. A reader who followed a link goes on at its title. */
function Concept() {
    const { text, formula, source, see } = term.value;
    const title = useRef(/** @type {HTMLElement | null} */ (null));
    const last = useRef(id.value);
    useLayoutEffect(() => {
        if (last.current !== id.value) title.current?.focus();
        last.current = id.value;
    }, [id.value]);
    return html`
        <article aria-labelledby="concept">
            <h2 id="concept" tabindex="-1" ref=${title}>${called("concepts", id.value)}</h2>
            ${text.map((each) => html`<p key=${each} class="prose">${each}</p>`)}
            <pre class="formula">${formula}</pre>
            <p class="source"><span class="muted">Source</span> ${source}</p>
            <${Miniature} key=${id.value} />
            <p class="see"><span class="muted">See also</span> ${see.map((each) => html`<${To} key=${each} to=${each} /> `)}</p>
            <${Turn} />
        </article>`;
}

export const Concepts = worded(() => {
    useEffect(() => void readBook(), []);
    if (book.value !== null) return html`<div class="concepts"><${List} /><${Concept} /></div>`;
    return html`<p class="muted" role="status">${unread.value
        ? html`The concepts could not be loaded. <button type="button" onClick=${readBook}>Try again</button>` : "Loading the concepts…"}</p>`;
});
