/** What only the page of inventories asks of the service. */
import { call, callText, ProblemError, UNREACHABLE } from "./api.js";

const BASE = "/api/v1/inventories";

/** @param {string} slug @param {string} [rest] */
const pathOf = (slug, rest = "") => `${BASE}/${encodeURIComponent(slug)}${rest}`;

/** Only when the stored revision is still this one. @param {number} revision */
const ifStill = (revision) => ({ "if-match": `"${revision}"` });

/** @param {Record<string, string>} filter  sort, name, problems, deleted, limit, cursor @param {AbortSignal} signal @returns {Promise<Api.InventoryPage>} */
export function listInventories(filter, signal) {
    return call(`${BASE}?${new URLSearchParams(filter)}`, { signal });
}

/** A part of an inventory: "revisions", "audit", "observations", with a query. @param {string} slug @param {string} part @param {AbortSignal} signal */
export function fetchPart(slug, part, signal) {
    return call(pathOf(slug, `/${part}`), { signal });
}

/** The latest of every source, with its facts. @param {string} slug @param {AbortSignal} signal @returns {Promise<Api.Observation[]>} */
export async function fetchObservations(slug, signal) {
    const { items } = await fetchPart(slug, "observations?limit=1000", signal);
    return Promise.all(items.map((/** @type {Api.ObservationItem} */ { source }) => fetchPart(slug, `observations/${encodeURIComponent(source)}`, signal)));
}

/** A spec exactly as it was accepted. @param {string} slug @param {number} revision @returns {Promise<string>} */
export function fetchSpecText(slug, revision) {
    return callText(pathOf(slug, `/revisions/${revision}?view=spec`));
}

/** What a spec leaves open and what stands in for it. @param {any} spec @param {AbortSignal} signal */
export function readSpec(spec, signal) {
    return call(`${BASE}:parse?format=shardline_spec`, { raw: JSON.stringify(spec), headers: { "content-type": "text/plain" }, signal });
}

/** What a spec would change of what is stored. @param {string} slug @param {any} spec */
export function diffDraft(slug, spec) {
    return call(pathOf(slug, "/diff"), { body: spec });
}

/**
 * @param {string} slug @param {string} text  the spec
 * @param {number | null} revision  that it replaces; null: there must be none yet
 */
export function putInventory(slug, text, revision) {
    return call(pathOf(slug), { method: "PUT", raw: text, headers: revision === null ? { "if-none-match": "*" } : ifStill(revision) });
}

/** @param {string} slug @param {number} revision */
export function deleteInventory(slug, revision) {
    return call(pathOf(slug), { method: "DELETE", headers: ifStill(revision) });
}

/** @param {string} slug */
export function restoreInventory(slug) {
    return call(pathOf(slug, ":restore"), { method: "POST" });
}

/** @param {AbortSignal} signal @returns {Promise<{name: string, title: string}[]>} */
export async function fetchFormats(signal) {
    return (await call(`${BASE}:formats`, { signal })).items;
}

/**
 * Reads files and stores nothing. Through the older interface, which alone tells how much of a body has gone.
 * @param {Blob | FormData} body @param {string} format @param {AbortSignal} signal @param {(sent: number) => void} tell  share of the body
 * @returns {Promise<Api.ParsedInventory>}
 */
export function parseFiles(body, format, signal, tell) {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open("POST", `${BASE}:parse?format=${encodeURIComponent(format)}`);
        request.responseType = "json";
        request.upload.addEventListener("progress", ({ loaded, total }) => tell(total > 0 ? loaded / total : 0));
        request.addEventListener("error", () => reject(new ProblemError(UNREACHABLE)));
        request.addEventListener("load", () => {
            const { status, response } = request;
            if (status === 200 && response !== null) resolve(response);
            else reject(new ProblemError({ ...UNREACHABLE, title: "The service could not answer", detail: `HTTP status ${status}`, ...response, status }));
        });
        signal.addEventListener("abort", () => {
            request.abort();
            reject(new DOMException("withdrawn", "AbortError"));
        });
        request.send(body);
    });
}
