/**
 * Words of the views that come after the first screen: how they call what the service names, and help in sentences.
 * They are data, which comes after the first screen. Where they cannot be had, names are as the service has them.
 */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { fetchAsset } from "../state/api.js";
import { asProblem } from "../state/store.js";
import wordsFile from "./words.json";
import { wordsOf } from "../words.js";

/** By what they are of; null until they have come or could not, which is tried again. @type {import("@preact/signals").Signal<Record<string, Record<string, string>> | null>} */
const words = signal(null);

/** The bundle has the address of the file in its place. @returns {Promise<Record<string, Record<string, string>> | null>} */
export async function readWords() {
    if (!words.peek()?.names) try {
        words.value = await fetchAsset(new URL(String(wordsFile), import.meta.url));
    } catch (error) {
        if (asProblem(error)) words.value = {};
    }
    return words.peek();
}

/** What the words have under a name, "" where nothing. @param {string} of  a part of words.json @param {string} name */
export const known = (of, name) => words.value?.[of]?.[name] ?? "";

/** How the page calls what the service names. @param {string} of @param {string} name */
export const called = (of, name) => known(of, name) || wordsOf(name);

/** The same at the start of a line. @param {string} of @param {string} name */
export function titled(of, name) {
    const text = called(of, name);
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Sentences by their name, in which a key stands between bars and code between backquotes. @param {{of: string}} props */
export function Help({ of }) {
    return (words.value?.help?.[of] ?? "").split(/([`|])(.*?)\1/).map((part, at, parts) => (
        at % 3 === 0 ? part : at % 3 === 1 ? null : parts[at - 1] === "|" ? html`<kbd>${part}</kbd>` : html`<code>${part}</code>`));
}

/** A view that begins with its words. @param {(props: any) => any} View */
export function worded(View) {
    /** @param {any} props */
    return function Worded(props) {
        useEffect(() => void readWords(), []);
        return words.value === null ? html`<p class="muted" role="status">Loading the view…</p>` : html`<${View} ...${props} />`;
    };
}
