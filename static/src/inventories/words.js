/** What the page of inventories says in words: ages, counts, fields of a node. Pure but for the clock and the units. */
import { withSubject } from "../state/fields.js";
import { exact } from "../units.js";
import { many } from "../words.js";
import { called } from "../widgets/words.js";

/** @type {[number, string][]} */
const SPANS = [[86_400, "day"], [3600, "hour"], [60, "minute"]];

/** @param {string} time  RFC 3339 @param {number} [now_ms] */
export function age(time, now_ms = Date.now()) {
    const past_s = (now_ms - Date.parse(time)) / 1000;
    const [span_s, word] = SPANS.find(([size_s]) => past_s >= size_s) ?? /** @type {[number, string]} */ ([0, ""]);
    return span_s === 0 ? "just now" : `${many(Math.floor(past_s / span_s), word).replace(" ", "\u00a0")} ago`;
}

/** To the minute, as everywhere in the records: UTC. @param {string} time */
export function when(time) {
    return `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}

/** @param {string} field */
export const labelOf = (field) => called("fields", field);

/** Why a saved plan stands as it does, as far as it is said. @param {Pick<Api.PlanItem, "reason" | "evaluation">} plan */
export function reasonOf({ reason, evaluation }) {
    return reason ?? (evaluation?.errors[0] ? withSubject(evaluation.errors[0]) : evaluation?.binding) ?? "";
}

const MOST_NAMES = 8;

/** Names and ranges, the first of them. @param {string[]} names @param {number} [most] @param {string} [between] */
export function named(names, most = MOST_NAMES, between = ", ") {
    const more = names.length - most;
    return names.slice(0, most).join(between) + (more > 0 ? ` and ${exact(more)} more` : "");
}
