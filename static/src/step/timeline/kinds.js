/**
 * How the parts of a step are called and drawn: data of names.json, which comes with the first answer about a step.
 *
 * @typedef {{label: string, tone: string, hatched?: boolean, letter: string}} KindLook  a tone as elsewhere on the page, a hatch
 *   where two kinds share one, a letter where there is room for it
 */
import * as api from "../../state/api.js";
import { titleOf } from "../../widgets/terms.js";
import file from "../names.json";
import { wordsOf } from "../../words.js";

/**
 * ways: copies go one way or the other, which of the two stands in place of a group; schedules: those that the service
 * simulates; settings: others to draw beside the plan, by pointer, whose last part is the name of their list of choices; hands: what
 * pointer and keys do, the names of keys between marks; keys: the same for the list of all keys; figures, about: how come about those that no formula of the estimate gives, the former with the names of
 * their inputs
 * @type {{kinds: Record<string, KindLook>, hands: string, keys: import("../../shell/commands.js").Command[], figures: Record<string, string[]>, about: Record<string, import("../../widgets/explain.js").Explanation>}
 *   & Record<"streams" | "ways" | "schedules" | "settings" | "says", Record<string, string>>}
 */
export let names = null;

/** An answer about a step, and what its parts are called. @template T @param {Promise<T>} asked @returns {Promise<T>} */
export async function withNames(asked) {
    const [answer, found] = await Promise.all([asked, names ?? api.fetchAsset(new URL(String(file), import.meta.url))]);
    names = found;
    return answer;
}

/** A simulated step. @param {any} request @param {any} filter @param {AbortSignal} abort */
export const fetchTimeline = (request, filter, abort) => withNames(api.postTimeline(request, filter, abort));

/** @param {string} name @returns {KindLook} */
export function kindLook(name) {
    return names.kinds[name] ?? { label: titleOf(name), tone: "grey", letter: titleOf(name).charAt(0) };
}

/** @param {string} stream */
const streamWords = (stream) => names.streams[stream] ?? wordsOf(stream);

/** @param {{stream: string, group: string | null}} lane */
export function laneWords({ stream, group }) {
    const words = streamWords(stream);
    return group === null ? words : `${words} ${names.ways[group] ?? `of the ${group} group`}`;
}

/** As short as a lane is low. @param {{stream: string, group: string | null}} lane */
export function laneName({ stream, group }) {
    return group === null ? streamWords(stream) : names.ways[group] ?? group;
}
