/** What a view asks for: kept while it is asked anew, asked again by itself when the service was away. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { asProblem, storeChanged } from "../state/store.js";
import { Problem } from "./problem.js";

/**
 * @template T
 * @typedef {{value: T | null, problem: import("../state/api.js").Problem | null, pending: boolean, again: () => void}} Loaded
 */

const RETRY_MS = 3000;

/** What passes by itself: no answer, or one of a service that is starting, busy or without its database just now. */
const PASSING = [0, 429, 502, 503, 504];

/** Writes of this page; what was read before one is read again. */
const written = signal(0);

export function noteWrite() {
    written.value += 1;
    storeChanged();
}

/**
 * What was asked before stays until the next answer; a view that must not show it is given a key of its own.
 * @template T
 * @param {string} key  what is asked, as text @param {(abort: AbortSignal) => Promise<T>} ask
 * @param {number} [pause_ms]  before it is asked, for what follows the hand of the reader
 * @returns {Loaded<T>}
 */
export function useLoad(key, ask, pause_ms = 0) {
    const [round, setRound] = useState(0);
    const [state, setState] = useState({ key: "", value: /** @type {T | null} */ (null), problem: null, pending: true });
    const again = () => setRound((before) => before + 1);
    useEffect(() => {
        const controller = new AbortController();
        const start = () => ask(controller.signal).then((value) => setState({ key, value, problem: null, pending: false }), (error) => {
            const problem = asProblem(error);
            if (problem === null) return;
            setState((before) => ({ ...before, key, problem, pending: false }));
            if (PASSING.includes(problem.status)) timer = setTimeout(again, RETRY_MS);
        });
        setState((before) => ({ ...before, pending: true }));
        let timer = setTimeout(start, pause_ms);
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    }, [key, round, written.value]);
    return { ...state, pending: state.pending || state.key !== key, again };
}

/** What stands where nothing has come yet, and beside what is not as new as it could be. @param {{of: Loaded<any>, what: string}} props */
export function Waiting({ of: { problem, value, again }, what }) {
    if (problem === null) return value === null ? html`<p class="muted" role="status">Loading ${what}…</p>` : null;
    return html`
        <div class="refused"><${Problem} problem=${problem} />
            <p class="more">${value === null ? null : html`<span class="muted">What stands here is from before.</span>`}
                <button type="button" onClick=${again}>Try again</button>
                ${PASSING.includes(problem.status) ? html`<span class="muted">It is asked again by itself.</span>` : null}</p>
        </div>`;
}
