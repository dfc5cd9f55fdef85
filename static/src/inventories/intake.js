/** What is being uploaded: kept while the reader looks elsewhere, so that nothing typed or chosen is lost. */
import { batch, computed, signal } from "@preact/signals";
import { parseFiles } from "../state/api-inventories.js";
import { asProblem } from "../state/store.js";

/** @typedef {{phase: "idle" | "sending" | "reading" | "done" | "problem", sent: number, report: Api.ParsedInventory, problem: any}} Reading */

export const files = signal(/** @type {File[]} */ ([]));
export const pasted = signal("");
export const format = signal("auto");

/** @type {Reading} */
const IDLE = { phase: "idle", sent: 0, report: null, problem: null };
export const reading = signal(IDLE);


/** Parts that the reader chose where a name decides none, by pointer into the spec. */
export const choices = signal(/** @type {Record<string, string>} */ ({}));

export const slug = signal("");
export const title = signal("");

let withdraw = () => {};

/** The spec that was read, with what the reader chose; null while there is none. */
export const draft = computed(() => {
    const spec = reading.value.report?.spec ?? null;
    if (spec === null) return null;
    const pools = spec.pools.map((/** @type {Api.InventoryPool} */ pool, /** @type {number} */ at) => {
        const chosen = choices.value[`/pools/${at}/node/accelerator`];
        return chosen ? { ...pool, node: { ...pool.node, accelerator: chosen } } : pool;
    });
    return { ...spec, pools };
});

/** Names that still decide no part. */
export const open = computed(() => (reading.value.report?.unresolved ?? []).filter(({ pointer }) => pointer !== "" && !choices.value[pointer]));

/** A slug out of a name: lower-case letters, digits and inner dashes. @param {string} name */
export function slugOf(name) {
    return name.toLowerCase().replace(/\.[a-z0-9]+$/, "").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 63).replace(/-+$/, "");
}

/** Reads all that is chosen and pasted; an older reading is withdrawn. */
export async function read() {
    withdraw();
    const body = new FormData();
    for (const file of files.value) body.append("file", file, file.name);
    if (pasted.value.trim() !== "") body.append("file", new Blob([pasted.value]), "pasted");
    if (files.value.length === 0 && pasted.value.trim() === "") {
        reading.value = IDLE;
        return;
    }
    const controller = new AbortController();
    withdraw = () => controller.abort();
    reading.value = { ...IDLE, phase: "sending", report: reading.value.report };
    try {
        const report = await parseFiles(body, format.value, controller.signal, (sent) => {
            if (reading.value.phase === "sending") reading.value = { ...reading.value, sent, phase: sent < 1 ? "sending" : "reading" };
        });
        batch(() => {
            reading.value = { ...IDLE, phase: "done", report };
            choices.value = {};
            if (title.value === "") title.value = report.spec?.name ?? "";
            if (slug.value === "") slug.value = slugOf(title.value || report.files[0].name || "");
        });
    } catch (error) {
        const problem = asProblem(error);
        if (problem) reading.value = { ...IDLE, phase: "problem", problem };
    }
}

/** @param {File[]} more */
export function addFiles(more) {
    const names = new Set(more.map(({ name }) => name));
    files.value = [...files.value.filter(({ name }) => !names.has(name)), ...more];
    void read();
}

/** @param {File} file */
export function dropFile(file) {
    files.value = files.value.filter((other) => other !== file);
    void read();
}

export function cancel() {
    withdraw();
    reading.value = { ...reading.value, phase: reading.value.report === null ? "idle" : "done" };
}

/** It is stored: the next upload starts anew. */
export function forget() {
    batch(() => {
        files.value = [];
        pasted.value = "";
        slug.value = "";
        title.value = "";
        choices.value = {};
        reading.value = IDLE;
    });
}
