/** Finds what a reader means by a few letters: they must stand in the text in their order. Pure. */

/**
 * @param {string} letters  without spaces, in lower case
 * @param {string} text     in lower case
 * @returns {number} the higher the better: beginnings of words and runs count; -1 when they do not stand in it
 */
function score(letters, text) {
    let at = -1;
    let sum = 0;
    for (const letter of letters) {
        const next = text.indexOf(letter, at + 1);
        if (next < 0) return -1;
        const begins = next === 0 || text[next - 1] === " ";
        sum += next === at + 1 ? 3 : begins ? 2 : 0;
        at = next;
    }
    return sum / (letters.length * 3) + (text.includes(letters) ? 1 : 0) - text.length / 10000;
}

/**
 * @template T
 * @param {string} typed @param {T[]} items @param {(item: T) => string} textOf
 * @returns {T[]} those that match, the best first; all in their order when nothing is typed
 */
export function fuzzy(typed, items, textOf) {
    const words = typed.toLowerCase().split(" ").filter((word) => word !== "");
    const scored = items.map((item, place) => {
        const text = textOf(item).toLowerCase();
        const scores = words.map((word) => score(word, text));
        return { item, place, sum: scores.includes(-1) ? -1 : scores.reduce((total, one) => total + one, 0) };
    });
    return scored.filter(({ sum }) => sum >= -0.5).sort((a, b) => b.sum - a.sum || a.place - b.place)
        .map(({ item }) => item);
}
