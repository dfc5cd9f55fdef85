/**
 * Sets of ranks as the service writes them: "0-7,12" and "0-56:8" for every eighth; slices as a reader
 * would. Pure.
 */

/** As Python writes it: the whole of an axis is a colon. @param {number[][]} slice @param {number[]} shape */
export function sliceText(slice, shape) {
    return `[${slice.map(([begin, end], axis) => (begin === 0 && end === shape[axis] ? ":" : `${begin}:${end}`)).join(", ")}]`;
}

/** @param {string} text @param {(rank: number) => void} visit */
export function eachRank(text, visit) {
    for (const item of text === "" ? [] : text.split(",")) {
        const [range, step] = item.split(":");
        const [first, last] = range.split("-");
        for (let rank = Number(first); rank <= Number(last ?? first); rank += Number(step ?? 1)) visit(rank);
    }
}

/** @param {string} text @returns {number} */
export function countOf(text) {
    let count = 0;
    eachRank(text, () => { count += 1; });
    return count;
}

/**
 * The ranks of one kind of group that a rank talks to, itself among them.
 * @param {{size: number, stride: number, starts: string}} group @param {number} rank @returns {number[]} none when it is in no such group
 */
export function groupOf({ size, stride, starts }, rank) {
    /** @type {number[]} */
    let members = [];
    eachRank(starts, (start) => {
        const place = (rank - start) / stride;
        if (Number.isInteger(place) && place >= 0 && place < size) {
            members = Array.from({ length: size }, (_, at) => start + at * stride);
        }
    });
    return members;
}

/** Numbers in their order, those that follow each other by the first and the last. @param {number[]} numbers */
export function runsOf(numbers) {
    const all = [...new Set(numbers)].sort((a, b) => a - b);
    const lasts = all.filter((number) => !all.includes(number + 1));
    return all.filter((number) => !all.includes(number - 1)).map((first, at) => (first === lasts[at] ? `${first}` : `${first} to ${lasts[at]}`)).join(", ");
}
