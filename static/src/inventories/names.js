/** Names of hosts, alone and as lists. Pure. */

/** @param {string} list  what stands in a bracket: "001-003,7" @returns {string[]} */
function numbersOf(list) {
    return list.split(",").flatMap((part) => {
        const [from, to = from] = part.split("-");
        return Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => String(Number(from) + at).padStart(from.length, "0"));
    });
}

/** @param {string} entry @returns {string[]} */
function expandOne(entry) {
    const open = entry.indexOf("[");
    if (open < 0) return [entry];
    const close = entry.indexOf("]", open);
    const tails = expandOne(entry.slice(close + 1));
    return numbersOf(entry.slice(open + 1, close)).flatMap((number) => tails.map((tail) => entry.slice(0, open) + number + tail));
}

/** Names of a list as the service writes them: "gpu[001-032]", "r[1-2]n[1-4],x1". @param {string[]} entries @returns {string[]} */
export function expand(entries) {
    return entries.flatMap((entry) => (entry.match(/(?:\[[^\]]*\]|[^,[])+/g) ?? []).flatMap(expandOne));
}

/** Without its domain. @param {string} name */
export const shortOf = (name) => name.split(".")[0];

/** The part of a name before its last number, where another number stands in it: often a rack. @param {string} name */
export function rackOf(name) {
    return /^(.*?\d+.*?)[^0-9]+\d+$/.exec(shortOf(name))?.[1] ?? "";
}
