/**
 * The service as this page uses it. Every failure becomes a Problem, shaped like the problem
 * documents of the service, so that views handle one thing.
 *
 * @typedef {{pointer: string, code: string, detail: string, hint?: string}} ProblemItem
 * @typedef {{type: string, title: string, status: number, detail: string, errors: ProblemItem[]}} Problem
 */
import { grouped } from "../units.js";
import { persist } from "./connection.js";

export class ProblemError extends Error {
    /** @param {Problem} problem @param {{ours?: boolean, after_s?: number | null}} [of]  ours: a document of the service itself */
    constructor(problem, { ours = false, after_s = null } = {}) {
        super(problem.detail || problem.title);
        this.problem = problem;
        this.ours = ours;
        this.after_s = after_s;
    }
}

/** Requests that compute and store nothing, beside every GET: they may be sent again. */
export const COMPUTING = ["models:inspect", "estimates", "estimates:batch", "estimates:choices", "shardings", "timelines", "timelines:compare", "limits",
    "limits:clusters", "comparisons", "searches", "inventories:parse"].map((name) => `/api/v1/${name}`);

/** Refusals of a moment. Any other, such as of a database that nobody configured, comes again whoever asks. */
const OF_A_MOMENT = ["busy", "stopping", "database_busy", "database_unavailable", "private_hardware_unread", "rate_limited"];

/** @param {Response} response @returns {number | null} */
function retryAfter(response) {
    const text = response.headers.get("retry-after");
    if (text === null) return null;
    const after_s = /^[0-9]+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
    return after_s > 0 ? after_s : null;
}

/** @param {Response} response @returns {Promise<ProblemError>} */
async function problemOf(response) {
    const body = await response.json().catch(/** @returns {null} */ () => null);
    return new ProblemError({
        type: body?.type ?? "about:blank",
        title: body?.title ?? "The service could not answer",
        status: response.status,
        detail: grouped(body?.detail ?? `HTTP status ${response.status}`),
        errors: Array.isArray(body?.errors) ? body.errors.map((/** @type {ProblemItem} */ item) => ({ ...item, detail: grouped(item.detail) })) : [],
    }, { ours: Array.isArray(body?.errors), after_s: retryAfter(response) });
}

/** No answer at all. @type {Problem} */
export const UNREACHABLE = {
    type: "about:blank", title: "The service cannot be reached", status: 0,
    detail: "The service cannot be reached. Check that it runs, then try again.", errors: [],
};

/**
 * What passes by itself, as a fault of the whole service or of one path.
 * @param {string} path @param {unknown} error @returns {import("./connection.js").Fault | null}
 */
function faultOf(path, error) {
    if (!(error instanceof ProblemError)) return null;
    const { problem: { status, detail, errors }, ours, after_s } = error;
    if (status === 0) return { part: "", detail: "The service cannot be reached.", after_s };
    if (![502, 503, 504].includes(status)) return null;
    if (!ours) return { part: "", detail: `The service does not answer: status ${status} of what stands before it.`, after_s };
    const code = errors[0]?.code ?? "";
    const sentence = `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
    return OF_A_MOMENT.includes(code) ? { part: code === "stopping" ? "" : path, detail: sentence, after_s } : null;
}

/**
 * @template T
 * @param {string} path @param {RequestInit} init
 * @param {(response: Response) => Promise<T>} read  what to make of an answer
 * @param {(response: Response) => boolean} takes  which answers are none of a failure
 * @returns {Promise<T>}
 */
async function exchange(path, init, read, takes) {
    try {
        const response = await fetch(path, init);
        if (!takes(response)) throw await problemOf(response);
        return await read(response);
    } catch (error) {
        /* Fetching fails with a TypeError, and so does reading an answer that broke off. */
        throw error instanceof TypeError ? new ProblemError(UNREACHABLE) : error;
    }
}

/**
 * @typedef {Object} Asked
 * @property {any} [body]      sent as JSON
 * @property {string | Blob | FormData} [raw]   sent as it is, in place of a body
 * @property {string} [method]  POST with something to send, else GET
 * @property {Record<string, string>} [headers]  beside the usual ones, or in place of them
 * @property {AbortSignal} [signal]
 * @property {string} [accept]
 * @property {(response: Response) => boolean} [takes]  which answers are none of a failure; those of success unless said
 */

/** Of a form the browser says the type, with its boundary. @param {Asked["raw"]} content @returns {Record<string, string>} */
function typeOf(content) {
    if (content === undefined || content instanceof FormData) return {};
    return { "content-type": content instanceof Blob ? "application/octet-stream" : "application/json" };
}

/**
 * @template T
 * @param {string} path @param {Asked} options
 * @param {(response: Response) => Promise<T>} read
 * @returns {Promise<T>}
 */
function send(path, { body, raw, method, headers, signal, accept = "application/json", takes = ({ ok }) => ok }, read) {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const init = {
        method: method ?? (content === undefined ? "GET" : "POST"),
        headers: { accept, ...typeOf(content), ...headers },
        body: content,
    };
    const bare = path.split("?")[0];
    const again = init.method === "GET" || (init.method === "POST" && COMPUTING.includes(bare));
    /** @param {AbortSignal} withdrawn */
    const ask = (withdrawn) => exchange(path, { ...init, signal: withdrawn }, read, takes);
    return again ? persist(bare, ask, (error) => faultOf(bare, error), signal) : ask(signal);
}

/** @param {string} path @param {Asked} [options] @returns {Promise<any>} */
export function call(path, options = {}) {
    return send(path, options, (response) => response.json());
}

/** The answer as it was written. @param {string} path @param {Asked} [options] @returns {Promise<string>} */
export function callText(path, options = {}) {
    return send(path, options, (response) => response.text());
}

/** @param {string} hub @param {string} revision @param {AbortSignal} signal @returns {Promise<Api.Model>} */
export function fetchModel(hub, revision, signal) {
    const path = hub.split("/").map(encodeURIComponent).join("/");
    const query = revision === "" ? "" : `?revision=${encodeURIComponent(revision)}`;
    return call(`/api/v1/models/${path}${query}`, { signal });
}

/**
 * Models by a part of their name; those of the cache where the Hub does not answer.
 * @param {string} query @param {number} limit @param {AbortSignal} signal
 * @returns {Promise<Api.ModelSearch>}
 */
export function searchModels(query, limit, signal) {
    return call(`/api/v1/models?${new URLSearchParams({ query, limit: String(limit) })}`, { signal });
}

/** What tools printed of one cluster; nothing is stored. @param {File[]} files @param {AbortSignal} [signal] @returns {Promise<Api.ParsedInventory>} */
export function parseInventory(files, signal) {
    const form = new FormData();
    for (const file of files) form.append("file", file, file.name);
    return call("/api/v1/inventories:parse", { raw: form, signal });
}

/** @param {Record<string, any>} config @param {AbortSignal} signal @returns {Promise<Api.Model>} */
export function inspectConfig(config, signal) {
    return call("/api/v1/models:inspect", { body: { config }, signal });
}

/**
 * A question with its answer.
 * @template T
 * @param {string} of @returns {(request: Record<string, any>, signal: AbortSignal) => Promise<T>}
 */
const question = (of) => (body, signal) => call(`/api/v1/${of}`, { body, signal });

/** @type {ReturnType<typeof question<Api.Estimate>>} */
export const postEstimate = question("estimates");

/** @type {ReturnType<typeof question<Api.Comparison>>} */
export const postComparison = question("comparisons");

/** @type {ReturnType<typeof question<Api.Choices>>} */
export const postChoices = question("estimates:choices");

/**
 * Several at once. Answers in the order of the requests, a problem where one was refused.
 * @param {Record<string, any>[]} requests @param {AbortSignal} signal @returns {Promise<(Api.Estimate | Problem)[]>}
 */
export async function postEstimates(requests, signal) {
    const accept = "application/x-ndjson";
    const raw = requests.map((request) => JSON.stringify(request)).join("\n");
    const lines = await callText("/api/v1/estimates:batch", { raw, headers: { "content-type": accept }, accept, signal });
    return lines.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/**
 * @param {Record<string, any>} request
 * @param {Record<string, string | number>} filter  limit of spans, from_s, to_s, rank, rings
 * @param {AbortSignal} signal
 * @returns {Promise<Api.Timeline>}
 */
export function postTimeline(request, filter, signal) {
    return call(`/api/v1/timelines?${new URLSearchParams(/** @type {any} */ (filter))}`, { body: request, signal });
}

/** More spans than this are no part of a trace. */
export const TRACE_SPANS = 1_000_000;

/** The step as a trace that Perfetto and TensorBoard open, packed. @param {Record<string, any>} request @returns {Promise<Blob>} */
export function postTrace(request) {
    return send(`/api/v1/timelines?limit=${TRACE_SPANS}`, { body: request, accept: "application/gzip" }, (response) => response.blob());
}

/** A recorded trace beside the plan. @param {Record<string, any>} request @param {Blob} trace @param {AbortSignal} signal @returns {Promise<Api.TraceComparison>} */
export function compareTrace(request, trace, signal) {
    return call("/api/v1/timelines:compare", { raw: new Blob([JSON.stringify(request), trace]), signal });
}

/** Text that somebody types means a part of a name; with a star it is the whole. @param {string} typed */
export function wholePattern(typed) {
    return /[*?]/.test(typed) ? typed : `*${typed}*`;
}

/**
 * @param {Record<string, any>} request
 * @param {Record<string, any>} filter  rank, tensor, limit, cursor: text or number
 * @param {AbortSignal} [signal]
 * @returns {Promise<Api.Sharding>}
 */
export function postSharding(request, filter, signal) {
    return call(`/api/v1/shardings?${new URLSearchParams(filter)}`, { body: request, signal });
}

/**
 * The answer of a search as it comes.
 * @param {Record<string, any>} request @param {AbortSignal} signal  closes it, which cancels the search
 * @param {(body: ReadableStream<Uint8Array>) => Promise<void>} read
 */
export async function postSearch(request, signal, read) {
    const response = await send("/api/v1/searches", { body: request, signal, accept: "text/event-stream" }, async (answer) => answer);
    await read(response.body);
}

/** A file that came with the page. @param {URL} url @returns {Promise<any>} */
export function fetchAsset(url) {
    return call(url.pathname);
}

/** Every accelerator of the catalogue. @returns {Promise<Api.Accelerator[]>} */
export async function fetchAccelerators() {
    return (await call("/api/v1/accelerators")).items;
}

/** Whether there are inventories at all. @returns {Promise<"ok" | "not_configured" | "failed">} */
export async function databaseStatus() {
    const body = await send("/readyz", { takes: ({ headers }) => headers.get("content-type")?.startsWith("application/json") === true },
        (response) => response.json());
    return body?.checks?.find((/** @type {Api.ReadinessCheck} */ check) => check.name === "database")?.status ?? "failed";
}

/** Pages beyond these are a fault. */
const MOST_PAGES = 100;

/** Every inventory, following the cursor. @returns {Promise<Api.InventoryItem[]>} */
export async function fetchInventories() {
    const items = [];
    let query = "?limit=100";
    for (let page = 0; page < MOST_PAGES; page += 1) {
        const answer = await call(`/api/v1/inventories${query}`);
        items.push(...answer.items);
        if (!answer.next_cursor) break;
        query = `?limit=100&cursor=${encodeURIComponent(answer.next_cursor)}`;
    }
    return items;
}

/** A saved plan. @param {string} slug @param {AbortSignal} [signal] @returns {Promise<Api.Plan>} */
export function fetchPlan(slug, signal) {
    return call(`/api/v1/plans/${encodeURIComponent(slug)}`, { signal });
}

/** @param {string} slug @param {AbortSignal} signal @returns {Promise<Api.Inventory>} */
export function fetchInventory(slug, signal) {
    return call(`/api/v1/inventories/${encodeURIComponent(slug)}`, { signal });
}
