/** A comparison of the service that follows its request: a newer request withdraws the older, and the last answer stays until the next. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { copy, curlOf } from "../shell/share.js";
import { asProblem, PAUSE_MS } from "../state/store.js";

/**
 * @typedef {{phase: "loading" | "done" | "problem", answer: any, problem: import("../state/api.js").Problem | null, again: () => void}} Told
 * @param {string} text  the request
 * @param {(request: any, signal: AbortSignal) => Promise<any>} post
 * @returns {Told}
 */
export function useAnswer(text, post) {
    const [told, tell] = useState({ phase: "loading", answer: null, problem: null });
    const [times, setTimes] = useState(0);
    useEffect(() => {
        const controller = new AbortController();
        tell((before) => ({ ...before, phase: "loading" }));
        const timer = setTimeout(async () => {
            try {
                tell({ phase: "done", answer: await post(JSON.parse(text), controller.signal), problem: null });
            } catch (error) {
                const problem = controller.signal.aborted ? null : asProblem(error);
                if (problem) tell({ phase: "problem", answer: null, problem });
            }
        }, PAUSE_MS);
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    }, [text, times]);
    return /** @type {Told} */ ({ ...told, again: () => setTimes(times + 1) });
}

/** @param {{request: any}} props */
export function CopyComparison({ request }) {
    const copyCommand = () => copy(curlOf(request, location.origin, "comparisons"), "Command copied");
    return html`<button type="button" onClick=${copyCommand}>Copy comparison as curl</button>`;
}
