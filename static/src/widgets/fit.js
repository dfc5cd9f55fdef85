/** Whether a plan fits: its tone, a sign for who sees no colour, and the words. */

const NARROW = ["narrow", "≈", "fits narrowly"];

/**
 * Narrowly: within the interval of its peak it may need more than there is. Devices that fit are not enough where
 * nodes lack memory for what goes to the host, which the answer warns of.
 * @param {{fits: boolean, fits_certain?: boolean | null, warnings?: {code: string}[] | null}} answer @returns {string[]}
 */
export function fitOf({ fits, fits_certain: certain, warnings }) {
    if (!fits) return ["bad", "✕", "does not fit"];
    if (warnings?.some(({ code }) => code === "host_memory_exceeded")) return ["bad", "✕", "lacks host memory"];
    return certain === false ? NARROW : ["good", "✓", "fits"];
}

/** In one text. @param {{fits: boolean, fits_certain?: boolean | null, warnings?: {code: string}[] | null}} answer */
export function fitText(answer) {
    const [, sign, words] = fitOf(answer);
    return `${sign} ${words}`;
}
