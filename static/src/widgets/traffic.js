/** How figures of collectives come about, from what the service says of them. Pure. */

/** @typedef {Pick<Api.ColumnTraffic, "group" | "collective" | "level" | "bytes_per_step" | "seconds" | "exposed_s"> & {message_latency_s?: number}} Item */
/** @typedef {"bytes_per_step" | "seconds" | "exposed_s" | "message_latency_s"} Of */

const SOURCE = "What the service counts for one rank of the busiest stage";

/** The term of the step that the open part of a group's traffic is in: what goes once a step is data's. @param {Item} item @param {Api.TimeTerm[]} terms */
const termOf = ({ group }, terms) => terms.find(({ name }) => name === `${group}_communication`) ?? terms.find(({ name }) => name === "data_communication");

/** @type {Record<Of, (item: Item) => import("./explain.js").Explanation>} */
const ABOUT = {
    bytes_per_step: () => ({ formula: "sum of the buffers that this collective sends and receives in a step" }),
    seconds: ({ bytes_per_step }) => ({ formula: "bytes_per_step over the slowest links of the group, with a latency for each message", inputs: { bytes_per_step } }),
    exposed_s: ({ seconds }) => ({ formula: "seconds without what computing hides", inputs: { seconds } }),
    message_latency_s: () => ({ formula: "what a message of one byte takes in this group" }),
};

/** @param {Item} item @param {Of} of @param {Api.TimeTerm[]} [terms]  of the step @returns {import("./explain.js").Explanation} */
export function aboutTraffic(item, of, terms = []) {
    const about = { source: SOURCE, ...ABOUT[of](item) };
    const term = of === "exposed_s" && termOf(item, terms);
    if (!term) return about;
    return { ...about, inputs: { ...about.inputs, [term.name]: term.seconds }, parts: { [term.name]: term } };
}

/**
 * Of all collectives together.
 * @param {Item[]} items @param {Of} of @param {(names: string[]) => string} [join]  how their values make the figure @returns {import("./explain.js").Explanation}
 */
export function aboutAll(items, of, join = (names) => names.join(" + ")) {
    const named = items.map((item) => /** @type {[string, Item]} */ ([`${item.group}_${item.collective}_${item.level}`, item]));
    return { formula: join(named.map(([name]) => name)), source: SOURCE, inputs: Object.fromEntries(named.map(([name, item]) => [name, item[of]])),
        parts: Object.fromEntries(named.map(([name, item]) => [name, aboutTraffic(item, of)])) };
}
