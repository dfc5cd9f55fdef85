/** Numbers for readers. The API speaks bytes and seconds; only this file turns them into text. */

/** What a unit of memory is of bytes. */
export const UNIT_BYTES = { GiB: 2 ** 30, GB: 1e9 };

/** @type {[number, string][]} */
const PREFIXES = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/** @type {[number, string][]} */
const COUNTS = [[1e12, "T"], [1e9, "B"], [1e6, "M"]];

/** @type {Record<string, number>} */
const FACTORS = { "": 1, k: 1e3, m: 1e6, b: 1e9, g: 1e9, t: 1e12 };

/** From here on a difference reads better as a factor. */
const FROM_FACTOR = 3;

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });

/** @typedef {(value: number) => string} Digits  of a number, without its unit */

/** Three significant digits, never more: the intervals do not support a fourth. @param {number} value */
export function digits(value) {
    const size = Math.abs(value);
    if (!Number.isFinite(value)) return "–";
    if (size >= 99.95) return GROUPED.format(Math.round(value));
    if (size >= 9.995) return value.toFixed(1);
    if (size >= 0.9995 || size === 0) return value.toFixed(2);
    return size >= 0.0005 ? value.toFixed(3) : value.toExponential(1);
}

/**
 * As many digits as the spread around a value bears out, three at most: 429 ± 90 reads 430. Rounding
 * moves it by a quarter of the spread at most; what is less than its last digit has none.
 * @param {number} value @param {number} spread  half of the interval, in the unit of value
 */
export function borneOut(value, spread) {
    const size = Math.abs(value);
    const place = spread > 0 ? Math.floor(Math.log10(spread / 2)) : -Infinity;
    if (size < 10 ** place) return `under ${exact(10 ** place)}`;
    const kept = size > 0 ? Math.min(3, Math.floor(Math.log10(size)) - place + 1) : 1;
    const rounded = Number(value.toPrecision(kept));
    /* Zeros after the point say how sure it is, those before it do not. */
    return rounded >= 10 ** (kept - 1) ? GROUPED.format(rounded) : value.toPrecision(kept);
}

/** Every digit, grouped. @param {number} value */
export function exact(value) {
    if (!Number.isFinite(value)) return String(value);
    const size = Math.abs(value);
    return size !== 0 && size < 1e-4 ? value.toExponential(4) : GROUPED.format(value);
}

/** @param {number} bytes @param {"GiB" | "GB"} unit */
export function gigabytes(bytes, unit) {
    const value = bytes / UNIT_BYTES[unit];
    const size = Math.abs(value);
    const text = size >= 99.95 ? GROUPED.format(Math.round(size)) : size.toFixed(size !== 0 && size < 0.1 ? 2 : 1);
    return value < 0 ? `−${text}` : text;
}

/** @param {number} value @param {string} [unit] @param {Digits} [write] */
export function scaled(value, unit = "", write = digits) {
    for (const [factor, prefix] of PREFIXES) {
        if (Math.abs(value) >= factor) return `${write(value / factor)} ${prefix}${unit}`;
    }
    return unit === "" ? write(value) : `${write(value)} ${unit}`;
}

/** Counts of parameters and tokens, in the words of the trade. @param {number} value */
export function count(value) {
    for (const [factor, suffix] of COUNTS) {
        if (value >= factor) return `${digits(value / factor)} ${suffix}`;
    }
    return GROUPED.format(value);
}

/** @param {number} value_s @param {Digits} [write] */
export function seconds(value_s, write = digits) {
    const size = Math.abs(value_s);
    if (size === 0) return "0 s";
    if (size < 1e-3) return `${write(value_s * 1e6)} µs`;
    if (size < 1) return `${write(value_s * 1e3)} ms`;
    if (size < 120) return `${write(value_s)} s`;
    if (size < 7200) return `${write(value_s / 60)} min`;
    return size < 172800 ? `${write(value_s / 3600)} h` : `${write(value_s / 86400)} days`;
}

/** @param {number} ratio @param {Digits} [write] */
export function percent(ratio, write = (value) => value.toFixed(1)) {
    const value = ratio * 100;
    return `${Math.abs(value) < 0.05 ? "0" : write(value)} %`;
}

/** A signed difference against a base. @param {number} now @param {number} before */
export function change(now, before) {
    if (now / before >= FROM_FACTOR) return `×${digits(now / before)}`;
    const ratio = now / before - 1;
    return `${ratio < 0 ? "−" : "+"}${Math.abs(ratio * 100).toFixed(1)} %`;
}

/** A count as a person types it, where that is shorter and loses nothing. @param {number} value */
export function shortCount(value) {
    for (const suffix of ["T", "B", "M"]) {
        const text = `${value / FACTORS[suffix.toLowerCase()]}${suffix}`;
        if (text.length <= 8 && !text.startsWith("0.") && parseCount(text) === value) return text;
    }
    return exact(value);
}

/**
 * What a person types for a large count: 2T, 300 B, 1.5e12, 2,000,000.
 * @param {string} text
 * @returns {number | null} null when it is not a count
 */
export function parseCount(text) {
    const match = /^([0-9][0-9,_ ]*(?:\.[0-9]+)?(?:e[0-9]+)?)\s*([kmbgt]?)$/i.exec(text.trim());
    if (!match) return null;
    const factor = FACTORS[match[2].toLowerCase()];
    const value = Math.round(Number(match[1].replace(/[,_ ]/g, "")) * factor);
    return Number.isSafeInteger(value) ? value : null;
}
