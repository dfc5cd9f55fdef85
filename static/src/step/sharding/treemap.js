/**
 * The tensors of a device as areas, in proportion to what it holds of each: a squarified treemap
 * (Bruls, Huizing, van Wijk 2000). Pure.
 *
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/** The worst ratio of sides in a row of areas laid along a side. @param {number} least @param {number} most @param {number} sum @param {number} side */
function worst(least, most, sum, side) {
    const square = side * side;
    return Math.max((square * most) / (sum * sum), (sum * sum) / (square * least));
}

/** How many of the areas from a place on stand together. @param {number[]} areas @param {number} from @param {number} side */
function rowEnd(areas, from, side) {
    let sum = areas[from];
    let before = worst(areas[from], areas[from], sum, side);
    let end = from + 1;
    while (end < areas.length) {
        const now = worst(areas[end], areas[from], sum + areas[end], side);
        if (now > before) break;
        before = now;
        sum += areas[end];
        end += 1;
    }
    return end;
}

/** @param {number[]} sizes  all above 0, the largest first @param {number} width @param {number} height @returns {Box[]} */
export function treemap(sizes, width, height) {
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const areas = sizes.map((size) => (size / total) * width * height);
    const boxes = [];
    let left = 0;
    let top = 0;
    for (let at = 0; at < areas.length;) {
        const [across, down] = [width - left, height - top];
        const side = Math.min(across, down);
        const end = rowEnd(areas, at, side);
        const sum = areas.slice(at, end).reduce((part, area) => part + area, 0);
        const thick = sum / side;
        let along = 0;
        for (; at < end; at += 1) {
            const length = areas[at] / thick;
            boxes.push(across >= down ? { x: left, y: top + along, width: thick, height: length }
                : { x: left + along, y: top, width: length, height: thick });
            along += length;
        }
        if (across >= down) left += thick;
        else top += thick;
    }
    return boxes;
}
