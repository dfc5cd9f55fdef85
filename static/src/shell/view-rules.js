/** What may stand in the address for the views that come after the first screen: p. of a page, s. of a search, c. of a comparison. */
import { columnsOf } from "../compare/tuning.js";
import { SHOWN } from "../compare/strategies.js";
import { SUBJECTS } from "../compare/view.js";
import { book, readBook } from "../concepts/book.js";
import { CONSTRAINTS, DIMENSIONS, isCluster, LIMITS, listed, OBJECTIVES, PRICE, valueOf } from "../search/ask.js";
import { FIGURES } from "../search/figures.js";
import { EXAMPLES } from "../state/examples.js";
import { page } from "../state/look.js";
import { hashOf, pins } from "../state/pins.js";
import { alike } from "../widgets/rows.js";
import { readWords } from "../widgets/words.js";
import { ANY, COUNT, FLAG, oneOf } from "./misread.js";

/** @typedef {import("./misread.js").Rule} Rule */

/** @type {Rule} */
const AMOUNT = [(text) => Number(text) > 0, "a number above 0 is meant"];
/** @type {Rule} */
const COUNTS = [(text) => listed(text).every((part) => COUNT[0](part)), "whole numbers are meant"];
/** The lower end first, where both are numbers. @type {Rule} */
const PART = [(text) => text.includes("..") && !(Number(text.split("..")[0]) > Number(text.split("..")[1])), "from..to is meant"];
/** @type {Rule} */
const CLUSTERS = [(text) => text.split(",").every(isCluster), "part: or inventory: with a name is meant"];
/** @type {Rule} */
const NODES = [(text) => text === "any" || COUNTS[0](text), `any or ${COUNTS[1]}`];
/** @type {Rule} */
const MODEL = [(text) => !text.startsWith("example:") || EXAMPLES.has(text.slice("example:".length)), oneOf([...EXAMPLES.keys()])[1]];

/** A column, behind a minus for the other way. @param {string[]} names @returns {Rule} */
function sortOf(names) {
    const [fits, words] = oneOf(names);
    return [(text) => fits(text.replace(/^-/, "")), words];
}

/** @param {import("../search/ask.js").Dimension} dimension @returns {Rule} */
function valuesOf(dimension) {
    const words = dimension.type === "count" ? COUNTS[1] : oneOf(dimension.values.map(String))[1];
    return [(text) => listed(text).every((part) => valueOf(dimension, part) !== undefined), words];
}

/** @param {string} prefix @param {string[]} names @param {Rule} rule @returns {[string, Rule][]} */
const all = (prefix, names, rule) => names.map((name) => [prefix + name, rule]);

/** @param {[string, ...any[]][]} items  the first of them goes without saying, where it has no name */
const firsts = (items) => oneOf(items.map(([name]) => name).filter(Boolean));

/** @returns {Promise<Map<string, Rule> | null>} by name; null where what tells them did not come */
export async function rulesOfViews() {
    const { ways } = await readWords() ?? {};
    const learning = page.value === "concepts";
    if (learning) await readBook();
    if (learning && book.value === null) return null;
    const terms = learning ? book.value.terms : {};
    const knobs = Object.values(terms).flatMap(({ knobs: own = [] }) => own);
    const figures = FIGURES.map(({ name }) => name);
    const dimensions = ["cluster", "nodes", ...DIMENSIONS.map(({ name }) => name)];
    return new Map([
        ["p.term", learning ? oneOf(Object.keys(terms)) : ANY], ["p.m", oneOf(["plan", ...EXAMPLES.keys()])], ...all("p.", ["a", "b"], MODEL), ["p.of", oneOf(["a", "b"])],
        ...alike(knobs, ({ name }) => name).map((same) => /** @type {[string, Rule]} */ ([`p.${same[0].name}`, oneOf([...new Set(same.flatMap(({ values }) => values))].map(String))])),
        ...all("p.", ["add", "bad", "gone"], FLAG), ...all("p.", ["from", "to"], COUNT), ...all("p.", ["inv", "into", "q", "cursor", "out", "find"], ANY),
        ...all("s.", ["run", "anywhere", "rejected"], FLAG), ...all("s.", [...CONSTRAINTS.map(({ name }) => name), PRICE], AMOUNT),
        ...DIMENSIONS.map((dimension) => /** @type {[string, Rule]} */ ([`s.${dimension.name}`, valuesOf(dimension)])),
        ["s.objective", oneOf(OBJECTIVES)], ["s.limit", oneOf(LIMITS.map(String))], ["s.nodes", NODES], ["s.also", CLUSTERS],
        ...all("s.", ["x", "y"], oneOf(figures)), ["s.colour", oneOf([...figures, ...dimensions])], ["s.sort", sortOf(["rank", "verdict", ...figures, ...dimensions])],
        ...all("s.only.", [...figures, ...dimensions], PART),
        ...all("c.", ["fixed", "only"], FLAG), ["c.of", firsts(SUBJECTS)], ["c.show", firsts(SHOWN)], ["c.sort", sortOf(columnsOf().map(({ name }) => name))],
        ["c.base", ways ? oneOf([...pins.value.map(hashOf), ...Object.keys(ways)]) : ANY],
    ]);
}
