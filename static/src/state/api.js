/**
 * The service as this page uses it. Every failure becomes a Problem, shaped like the problem
 * documents of the service, so that views handle one thing.
 *
 * @typedef {{pointer: string, code: string, detail: string, hint?: string}} ProblemItem
 * @typedef {{type: string, title: string, status: number, detail: string, errors: ProblemItem[]}} Problem
 */

export class ProblemError extends Error {
    /** @param {Problem} problem */
    constructor(problem) {
        super(problem.detail || problem.title);
        this.problem = problem;
    }
}

/** @param {Response} response @returns {Promise<Problem>} */
async function problemOf(response) {
    const body = await response.json().catch(() => null);
    return {
        type: body?.type ?? "about:blank",
        title: body?.title ?? "The service could not answer",
        status: response.status,
        detail: body?.detail ?? `HTTP status ${response.status}`,
        errors: Array.isArray(body?.errors) ? body.errors : [],
    };
}

/**
 * @param {string} path
 * @param {{body?: any, signal?: AbortSignal}} [options]  a body makes it a POST
 * @returns {Promise<any>}
 */
async function call(path, { body, signal } = {}) {
    let response;
    try {
        response = await fetch(path, {
            method: body === undefined ? "GET" : "POST",
            headers: body === undefined ? { accept: "application/json" }
                : { accept: "application/json", "content-type": "application/json" },
            body: body === undefined ? undefined : JSON.stringify(body),
            signal,
        });
    } catch (error) {
        if (error instanceof DOMException && error.name === "AbortError") throw error;
        throw new ProblemError({
            type: "about:blank", title: "The service cannot be reached", status: 0,
            detail: "The service cannot be reached. Check that it runs, then try again.", errors: [],
        });
    }
    if (!response.ok) throw new ProblemError(await problemOf(response));
    return response.json();
}

/** @param {string} hub @param {string} revision @param {AbortSignal} signal */
export function fetchModel(hub, revision, signal) {
    const path = hub.split("/").map(encodeURIComponent).join("/");
    const query = revision === "" ? "" : `?revision=${encodeURIComponent(revision)}`;
    return call(`/api/v1/models/${path}${query}`, { signal });
}

/** @param {Record<string, any>} config @param {AbortSignal} signal */
export function inspectConfig(config, signal) {
    return call("/api/v1/models:inspect", { body: { config }, signal });
}

/** @param {Record<string, any>} request @param {AbortSignal} signal */
export function postEstimate(request, signal) {
    return call("/api/v1/estimates", { body: request, signal });
}

/** @param {Record<string, any>} request @param {AbortSignal} signal */
export function postChoices(request, signal) {
    return call("/api/v1/estimates:choices", { body: request, signal });
}

/** @param {Record<string, any>} request @param {number} limit  spans @param {AbortSignal} signal */
export function postTimeline(request, limit, signal) {
    return call(`/api/v1/timelines?limit=${limit}`, { body: request, signal });
}

/**
 * @param {Record<string, any>} request
 * @param {Record<string, string | number>} filter  rank, tensor, limit, cursor
 * @param {AbortSignal} [signal]
 */
export function postSharding(request, filter, signal) {
    return call(`/api/v1/shardings?${new URLSearchParams(filter)}`, { body: request, signal });
}

/** Every accelerator of the catalogue, following the cursor. @returns {Promise<any[]>} */
export async function fetchAccelerators() {
    const items = [];
    let query = "";
    for (let page = 0; page < 20; page += 1) {
        const answer = await call(`/api/v1/accelerators${query}`);
        items.push(...answer.items);
        if (!answer.next_cursor) break;
        query = `?cursor=${encodeURIComponent(answer.next_cursor)}`;
    }
    return items;
}

/** Whether there are inventories at all. @returns {Promise<"ok" | "not_configured" | "failed">} */
export async function databaseStatus() {
    const response = await fetch("/readyz", { headers: { accept: "application/json" } });
    const body = await response.json().catch(() => null);
    return body?.checks?.find((check) => check.name === "database")?.status ?? "failed";
}

/** @returns {Promise<{slug: string, name: string}[]>} */
export async function fetchInventories() {
    return (await call("/api/v1/inventories?limit=100")).items;
}

/** @param {string} slug @param {AbortSignal} signal */
export function fetchInventory(slug, signal) {
    return call(`/api/v1/inventories/${encodeURIComponent(slug)}`, { signal });
}
