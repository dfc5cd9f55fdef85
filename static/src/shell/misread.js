/** What an address asks for and the page does not have: said, so that a link that was mistyped or cut does not pass for what was meant. */
import { EXAMPLES } from "../state/examples.js";
import { FIELDS, UNKNOWN } from "../state/fields.js";
import { AXES } from "../state/look.js";
import { notice } from "../state/saved.js";
import { parseObject, planOfUrl } from "../state/url.js";
import { CONCEPTS } from "../widgets/read.js";
import { PAGES, VIEWS } from "./views.js";

/** What a text must be, as a test and in words. @typedef {[(text: string) => boolean, string]} Rule */

/** @param {string[]} names @returns {Rule} */
const oneOf = (names) => [(text) => names.includes(text), `there are ${names.join(", ")}`];

/** @type {Rule} */
const ANY = [() => true, ""];
/** @type {Rule} */
const TIME = [(text) => Number(text) >= 0, "seconds are meant"];
/** @type {Rule} */
const COUNT = [(text) => Number.isSafeInteger(Number(text)) && Number(text) >= 0, "a whole number is meant"];
const FLAG = oneOf(["0", "1"]);
/** @type {Record<import("../state/fields.js").Field["type"], Rule>} */
const OF_TYPE = { text: ANY, count: COUNT, flag: FLAG };

/** @type {Rule} */
const MODEL = [(text) => !text.startsWith("example:") || EXAMPLES.has(text.slice("example:".length)), oneOf([...EXAMPLES.keys()])[1]];

/** By name; what is only text is judged by the view or the service that takes it. @type {Map<string, Rule>} */
const RULES = new Map([
    ...FIELDS.map(({ url, type, optional }) => {
        const [fits, words] = OF_TYPE[type];
        return /** @type {[string, Rule]} */ ([url, [(text) => (optional && text === UNKNOWN) || fits(text), words]]);
    }),
    ["example", oneOf([...EXAMPLES.keys()])], ["extra", [(text) => parseObject(text) !== null, "a JSON object is meant"]],
    ["page", oneOf(PAGES.map(([name]) => name))], ["view", oneOf(VIEWS.map(([name]) => name))], ["by", oneOf(AXES)],
    ["p.term", oneOf(Object.keys(CONCEPTS))], ["p.a", MODEL], ["p.b", MODEL],
    ["from", TIME], ["to", TIME], ["at", TIME], ["stage", COUNT], ["node", COUNT], ["rank", COUNT], ["rings", FLAG],
    ...["marks", "sum", "lanes", "beside", "tensors", "pin", "plan"].map((name) => /** @type {[string, Rule]} */ ([name, ANY])),
]);

/** @param {string} search @param {string} hash  as in location @returns {string[]} what is left out, and what could stand there */
export function misread(search, hash) {
    const faults = [...new URLSearchParams(search)].flatMap(([name, text]) => {
        const [fits, words] = RULES.get(name) ?? (/^[psc]\./.test(name) ? ANY : [() => false, "nothing here is called so"]);
        return text === "" || fits(text) ? [] : [`${name} “${text.slice(0, 60)}” (${words})`];
    });
    return hash.startsWith("#config=") && planOfUrl("", hash).config === null ? [...faults, "the config (the link is damaged)"] : faults;
}

export function start() {
    const look = () => {
        const faults = misread(location.search, location.hash);
        if (faults.length > 0) notice.value = `The address asks for what is not here, which is left out: ${faults.join("; ")}.`;
    };
    look();
    addEventListener("hashchange", look);
}
