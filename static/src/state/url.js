/**
 * The URL is the state. Settings are readable in the query; a pasted config.json travels in the
 * fragment, which the browser never sends to a server.
 */
import { FIELDS, UNKNOWN } from "./fields.js";
import { applyPatch, emptyPlan } from "./plan.js";

/** @param {string} text @returns {string} base64url of its UTF-8 */
function encodeText(text) {
    const bytes = new TextEncoder().encode(text);
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} coded @returns {string} */
function decodeText(coded) {
    const binary = atob(coded.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)));
}

/** @param {string | null} text @returns {Record<string, any> | null} an object, or null for anything else */
export function parseObject(text) {
    if (!text) return null;
    try {
        const value = JSON.parse(text);
        return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
    } catch {
        return null;
    }
}

/** @param {import("./fields.js").Field} field @param {string} text */
function readValue(field, text) {
    if (field.optional && text === UNKNOWN) return field.type === "count" ? 0 : "";
    if (field.type === "flag") return text === "1";
    if (field.type === "text") return text.slice(0, 200);
    const count = Number(text);
    return Number.isSafeInteger(count) && count >= 0 ? count : field.initial;
}

/** @param {import("./fields.js").Field} field @param {any} value */
function writeValue(field, value) {
    if (field.optional && (value === "" || value === 0)) return UNKNOWN;
    return field.type === "flag" ? (value ? "1" : "0") : String(value);
}

/** @param {import("./plan.js").Plan} plan */
function isUntouched(plan) {
    return plan.config === null && plan.extra === null
        && FIELDS.every((field) => plan[field.key] === field.initial);
}

/**
 * Query and fragment of a plan. Every setting is written as soon as one was touched, so that a
 * link keeps its meaning when the initial values of the page change.
 *
 * @param {import("./plan.js").Plan} plan
 * @param {string[]} [looking]  further parts of the query: what the reader looks at
 * @returns {string} "" for the untouched page at its first view
 */
export function urlOf(plan, looking = []) {
    if (isUntouched(plan)) return looking.length === 0 ? "" : `?${looking.join("&")}`;
    const parts = [];
    for (const field of FIELDS) {
        const value = plan[field.key];
        if (value === "" && !field.optional) continue;
        const text = encodeURIComponent(writeValue(field, value)).replaceAll("%2F", "/");
        parts.push(`${field.url}=${text}`);
    }
    if (plan.extra !== null) parts.push(`extra=${encodeURIComponent(JSON.stringify(plan.extra))}`);
    parts.push(...looking);
    const fragment = plan.config === null ? "" : `#config=${encodeText(JSON.stringify(plan.config))}`;
    return `?${parts.join("&")}${fragment}`;
}

/**
 * @param {string} search   as in location.search
 * @param {string} hash     as in location.hash
 * @returns {import("./plan.js").Plan}
 */
export function planOfUrl(search, hash) {
    const query = new URLSearchParams(search);
    const plan = emptyPlan();
    for (const field of FIELDS) {
        const text = query.get(field.url);
        if (text !== null) plan[field.key] = readValue(field, text);
    }
    if (hash.startsWith("#config=")) {
        try {
            plan.config = parseObject(decodeText(hash.slice("#config=".length)));
        } catch {
            plan.config = null; /* a damaged link opens as a page without that model */
        }
    }
    /* A link from before a setting had a control names it among the others. */
    const extra = parseObject(query.get("extra"));
    return extra === null ? plan : applyPatch(plan, extra);
}
