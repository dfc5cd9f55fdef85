/** What an address asks for and the page does not have: said, so that a link that was mistyped or cut does not pass for what was meant. */
import { EXAMPLES } from "../state/examples.js";
import { FIELDS, UNKNOWN } from "../state/fields.js";
import { AXES } from "../state/look.js";
import { notice } from "../state/saved.js";
import { parseObject, planOfUrl } from "../state/url.js";
import { PAGES, VIEWS } from "./views.js";

/** What a text must be, as a test and in words. @typedef {[(text: string) => boolean, string]} Rule */

/** @param {string[]} names @returns {Rule} */
export const oneOf = (names) => [(text) => names.includes(text), `there are ${names.join(", ")}`];

/** @type {Rule} */
export const ANY = [() => true, ""];
/** @type {Rule} */
const TIME = [(text) => Number(text) >= 0, "seconds are meant"];
/** @type {Rule} */
const TIMES = [(text) => text.split(",").length <= 2 && text.split(",").every(TIME[0]), "two times in seconds are meant"];
/** @type {Rule} */
export const COUNT = [(text) => Number.isSafeInteger(Number(text)) && Number(text) >= 0, "a whole number is meant"];
export const FLAG = oneOf(["0", "1"]);
/** @type {Record<import("../state/fields.js").Field["type"], Rule>} */
const OF_TYPE = { text: ANY, count: COUNT, flag: FLAG };

/** By name; what is only text is judged by the service that takes it. @type {Map<string, Rule>} */
const RULES = new Map([
    ...FIELDS.map(({ url, type, optional }) => {
        const [fits, words] = OF_TYPE[type];
        return /** @type {[string, Rule]} */ ([url, [(text) => (optional && text === UNKNOWN) || fits(text), words]]);
    }),
    ["example", oneOf([...EXAMPLES.keys()])], ["extra", [(text) => parseObject(text) !== null, "a JSON object is meant"]],
    ["page", oneOf(PAGES.map(([name]) => name))], ["view", oneOf(VIEWS.map(([name]) => name))], ["by", oneOf(AXES)],
    ["from", TIME], ["to", TIME], ["at", TIME], ["stage", COUNT], ["node", COUNT], ["rank", COUNT], ["rings", FLAG],
    ["lanes", oneOf(["compute"])], ["marks", TIMES], ["sum", TIMES], ["beside", [(text) => /^\/.+=/.test(text), "a pointer and a value are meant, as in /parallelism/pipeline=4"]],
    ...["tensors", "pin", "plan"].map((name) => /** @type {[string, Rule]} */ ([name, ANY])),
]);

/** Names that begin so are of views that come later, and their rules with them. */
const OF_VIEWS = /^[psc]\./;

/**
 * @param {string} search @param {string} hash  as in location
 * @param {Map<string, Rule> | null | undefined} views  rules of names of views, where they could be had
 * @returns {string[]} what is left out, and what could stand there
 */
function misread(search, hash, views) {
    const faults = [...new URLSearchParams(search)].flatMap(([name, text]) => {
        const [fits, words] = RULES.get(name) ?? views?.get(name) ?? (OF_VIEWS.test(name) && !views ? ANY : [() => false, "nothing here is called so"]);
        return text === "" || fits(text) ? [] : [`${name} “${text.slice(0, 60)}” (${words})`];
    });
    return hash.startsWith("#config=") && planOfUrl("", hash).config === null ? [...faults, "the config (the link is damaged)"] : faults;
}

export function start() {
    const look = async () => {
        const { search, hash } = location;
        const later = [...new URLSearchParams(search).keys()].some((name) => OF_VIEWS.test(name));
        const views = later ? await import("./rest.js").then(({ rulesOfViews }) => rulesOfViews(), /** @returns {null} */ () => null) : null;
        const faults = misread(search, hash, views);
        if (faults.length > 0) notice.value = `The address asks for what is not here, which is left out: ${faults.join("; ")}.`;
    };
    void look();
    addEventListener("hashchange", look);
}
