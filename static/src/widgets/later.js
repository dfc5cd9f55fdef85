/** A part of the page whose code comes when it is first shown, so that the first screen stays light. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../html.js";

/**
 * @param {() => Promise<any>} load  of the component
 * @returns {(props: any) => any} the component; nothing until it has come
 */
export function later(load) {
    const part = signal(/** @type {any} */ (null));
    return function Later(props) {
        useEffect(() => {
            /* Where it cannot be had now, it is asked for again when it is shown again. */
            if (part.peek() === null) load().then((view) => { part.value = view; }, () => {});
        }, []);
        return part.value === null ? null : html`<${part.value} ...${props} />`;
    };
}
