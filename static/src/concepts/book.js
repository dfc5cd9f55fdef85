/**
 * Every concept: its words, and which plans its miniature asks about. All of it is data of concepts.json,
 * which comes when the page is first opened.
 *
 * @typedef {{name: string, label: string, values: number[], initial: number}} Knob
 * @typedef {Object} Term
 * @property {string} group
 * @property {string[]} text
 * @property {string} formula
 * @property {string} source
 * @property {string} note          of the miniature
 * @property {string[]} see         other concepts
 * @property {"bars" | "lanes" | "rings" | "cache"} show
 * @property {string[]} figures     names of figures of the book, or "time." and a term
 * @property {Knob[]} [knobs]
 * @property {boolean} [own]        whether the reader chooses the model
 * @property {any} [config]         of a model in place of the chosen one
 * @property {any} [equal]          sizes of a model of equal layers in place of the chosen one
 * @property {any} [every]          a merge patch of each variant's request, and of the reader's plan
 * @property {any} [only]           a further one, of the requests alone
 * @property {{label: string, patch?: any, only?: any}[]} variants  the same of one variant
 * @property {{label: string, config: any}[]} [models]  whose cache is compared
 *
 * @typedef {Object} Book
 * @property {any} base       request: one node of eight, a batch that every cut divides, nothing computed twice, nothing open
 * @property {any} equal      patch: equal layers with nothing at their ends, so that what a schedule does is not blurred
 * @property {Record<string, string>} software  by framework: left open, two variants could stand for different releases
 * @property {Record<string, import("./figures.js").Told>} figures
 * @property {Record<string, Term>} terms
 */
import { signal } from "@preact/signals";
import * as api from "../state/api.js";
import { asProblem } from "../state/store.js";
import file from "./concepts.json";

/** @type {import("@preact/signals").Signal<Book | null>} null until it is here */
export const book = signal(null);

/** Whether it could not be had. */
export const unread = signal(false);

/** The bundle has the address of the file in its place. */
export async function readBook() {
    if (book.value !== null) return;
    try {
        unread.value = false;
        book.value = await api.fetchAsset(new URL(String(file), import.meta.url));
    } catch (error) {
        unread.value = asProblem(error) !== null;
    }
}
