/** A part of the address that one view reads and writes. */
import { changed } from "../state/look.js";

/** @param {import("@preact/signals").Signal<Record<string, string>>} members */
export function addressed(members) {
    return {
        /** @param {string} name @returns {string} "" where the address says nothing */
        said: (name) => members.value[name] ?? "",
        /** An empty text takes the name out. @param {Record<string, string>} changes */
        say: (changes) => { members.value = changed(members.peek(), changes); },
    };
}
