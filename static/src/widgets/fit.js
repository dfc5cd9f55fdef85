/** Whether a plan fits: its tone, a sign for who sees no colour, and the words. */

const NARROW = ["narrow", "≈", "fits narrowly"];

/**
 * Narrowly: within the interval of its peak it may need more than there is.
 * @param {{fits: boolean, fits_certain?: boolean | null}} answer @returns {string[]}
 */
export function fitOf({ fits, fits_certain: certain }) {
    if (!fits) return ["bad", "✕", "does not fit"];
    return certain === false ? NARROW : ["good", "✓", "fits"];
}

/** In one text. @param {{fits: boolean, fits_certain?: boolean | null}} answer */
export function fitText(answer) {
    const [, sign, words] = fitOf(answer);
    return `${sign} ${words}`;
}
