/** What the page asks for: kept while it is asked anew, asked again by itself when the service was away. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { asProblem, openPage, storeChanged } from "../state/store.js";

/**
 * @template T
 * @typedef {{key: string, value: T | null, problem: import("../state/api.js").Problem | null, pending: boolean, again: () => void}} Loaded
 */

const RETRY_MS = 3000;

/** What passes by itself: no answer, or one of a service that is starting, busy or without its database just now. */
export const PASSING = new Set([0, 429, 502, 503, 504]);

/** Writes of this page; what was read before one is read again. */
const written = signal(0);

export function noteWrite() {
    written.value += 1;
    storeChanged();
}

/**
 * @template T
 * @param {string} key  what is asked, as text @param {(abort: AbortSignal) => Promise<T>} ask @returns {Loaded<T>}
 */
export function useLoad(key, ask) {
    const [round, setRound] = useState(0);
    const [state, setState] = useState({ key, value: /** @type {T | null} */ (null), problem: null, pending: true });
    const again = () => setRound((before) => before + 1);
    useEffect(() => {
        const controller = new AbortController();
        let timer = 0;
        setState((before) => (before.key === key ? { ...before, pending: true } : { key, value: null, problem: null, pending: true }));
        ask(controller.signal).then((value) => setState({ key, value, problem: null, pending: false }), (error) => {
            const problem = asProblem(error);
            if (problem === null) return;
            setState((before) => ({ ...before, problem, pending: false }));
            if (PASSING.has(problem.status)) timer = setTimeout(again, RETRY_MS);
        });
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    }, [key, round, written.value]);
    return state.key === key ? { ...state, again } : { key, value: null, problem: null, pending: true, again };
}

/** Another part of the page: whoever reads or types goes on at its top. @param {Record<string, string>} where */
export function goTo(where) {
    openPage("inventories", where);
    scrollTo(0, 0);
    document.getElementById("answer")?.focus({ preventScroll: true });
}
