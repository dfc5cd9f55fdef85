/**
 * What nobody said and a plan needs, out of what the reader of files answers. Pure.
 *
 * @typedef {{pool: string, field: string, value: string | number, why: string}} Guess
 */

/** Said of other nodes, or assumed; what the catalogue knows of a part is no guess. */
const GUESSED = ["inferred", "default"];

/** @param {string} pool @param {Record<string, Api.ReadValue>} fields @returns {Guess[]} */
function guessedOf(pool, fields) {
    return Object.entries(fields).filter(([, { origin }]) => GUESSED.includes(origin))
        .map(([field, { value, origin, reason }]) => ({ pool, field, value, why: reason ?? (origin === "default" ? "assumed" : "follows from what files say") }));
}

/** @param {Api.ParsedInventory} read  an answer of inventories:parse @returns {Guess[]} */
export function guessesOf({ pools, fabric }) {
    return [...pools.flatMap(({ name, fields }) => guessedOf(name, fields)), ...guessedOf("all", fabric)];
}
