/**
 * Plans set aside to be compared. Each stands in the address as a query of its own, so that a link opens the same
 * comparison; they outlive changes of the plan.
 */
import { signal } from "@preact/signals";
import { planOfUrl, urlOf } from "./url.js";

/** As many as stand side by side, beside the plan of the page where that is not one of them. */
export const MOST_PINS = 4;

/** @type {import("@preact/signals").Signal<string[]>} */
export const pins = signal([]);

/** FNV-1a, twice over so that some thousand texts do not meet. @param {string} text */
export function hashOf(text) {
    let [low, high] = [0x811c9dc5, 0x01000193];
    for (let at = 0; at < text.length; at += 1) {
        low = Math.imul(low ^ text.charCodeAt(at), 0x01000193);
        high = Math.imul(high ^ text.charCodeAt(text.length - 1 - at), 0x85ebca6b);
    }
    return (low >>> 0).toString(36) + (high >>> 0).toString(36);
}

/** @param {Record<string, any>} config */
const configHash = (config) => hashOf(JSON.stringify(config));

/**
 * A plan as a pin: the query of its address in characters that another query may hold. A pasted config is too long for
 * that; the pin says which it was.
 * @param {import("./plan.js").Plan} plan @returns {string}
 */
export function pinOf(plan) {
    const [query] = urlOf(plan).slice(1).split("#");
    const text = query.replaceAll("&", ";").replaceAll("=", ":");
    return plan.config === null ? text : `${text};config:${configHash(plan.config)}`;
}

/**
 * @param {string} pin @param {Record<string, any> | null} config  that the page holds
 * @returns {{plan: import("./plan.js").Plan, missing: boolean}}  missing: it is of a pasted config that the page does not hold
 */
export function planOfPin(pin, config) {
    const plan = planOfUrl(`?${pin.replaceAll(";", "&").replaceAll(":", "=")}`, "");
    const [, wanted] = /(?:^|;)config:([0-9a-z]+)$/.exec(pin) ?? [];
    const held = wanted !== undefined && config !== null && configHash(config) === wanted;
    return { plan: held ? { ...plan, config } : plan, missing: wanted !== undefined && !held };
}

/** As parts of a query. @returns {string[]} */
export function pinParts() {
    return pins.value.map((pin) => `pin=${pin.replaceAll("%", "%25")}`);
}

/** @param {URLSearchParams} query */
export function readPins(query) {
    const found = [...new Set(query.getAll("pin").map((text) => text.slice(0, 2000)))].slice(0, MOST_PINS);
    if (found.join(" ") !== pins.peek().join(" ")) pins.value = found;
}
