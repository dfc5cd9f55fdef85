/** Numbers for readers. The API speaks bytes and seconds; only this file turns them into text. */

/** What a unit of memory is of bytes. */
export const UNIT_BYTES = { GiB: 2 ** 30, GB: 1e9 };

/** Rising, each with where the next one begins: 1,000 unless said. @typedef {[number, string, number?][]} Scale */

/** @type {Scale} */
const PREFIXES = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"], [1e15, "P"], [1e18, "E", Infinity]];
/** @type {Scale} */
const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].map((name, at) => [1024 ** at, name, 1024]);
/** @type {Scale} */
const COUNTS = [[1e6, "M"], [1e9, "B"], [1e12, "T", Infinity]];
/** @type {Scale} */
const TIMES = [[1e-6, "µs"], [1e-3, "ms"], [1, "s", 120], [60, "min", 120], [3600, "h", 48], [86400, "days", Infinity]];

/** @type {Record<string, number>} */
const FACTORS = { "": 1, k: 1e3, m: 1e6, b: 1e9, g: 1e9, t: 1e12 };

/** From here on a difference reads better as a factor. */
const FROM_FACTOR = 3;

/** So does a fall to less than a hundredth: a share would soon round to all of it. */
const FROM_SHARE = 100;

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

/** A sentence with its long numbers grouped, digit for digit; those of names, versions, addresses and what is quoted stay. @param {string} text */
export const grouped = (text) => text.replace(/(?<![\w.,:/#@='"`[-])[1-9]\d{4,}(?![\w/'"`-]|[.,:]\d)/g, (number) => number.replace(/\B(?=(\d{3})+$)/g, ","));

/** Sizes of a tensor. @param {number[]} shape */
export const shapeText = (shape) => shape.map(exact).join(" × ");

/** As on an axis, whose values are round: without the zeros after them. @param {string} text */
export const roundText = (text) => text.replace(/\.0+(?= |$)|(?<=\.\d+)0+(?= |$)/, "");

/** @param {number} bytes @param {"GiB" | "GB"} unit */
export function gigabytes(bytes, unit) {
    const value = bytes / UNIT_BYTES[unit];
    const size = Math.abs(value);
    const text = size >= 99.95 ? GROUPED.format(Math.round(size))
        : size === 0 || size >= 0.1 ? size.toFixed(1) : size < 0.005 ? "<0.01" : size.toFixed(2);
    return value < 0 ? `−${text}` : text;
}

/** Sizes as sentences of the service have them: 3.1 GiB, 3.1 of 79.2 GiB, 3.1 of the 79.2 GiB, 12.5 MiB. */
const SIZES = /(?<![\w.,]|\w-)(\d[\d.,]*)(?:( of (?:the )?)(\d[\d.,]*))? ([GM])iB\b/g;

/**
 * A sentence that gives memory in GiB, in another unit: what it has rounded from the figure itself, where that is known.
 * @param {string} text @param {"GiB" | "GB"} unit @param {number[]} bytes  figures that it may have rounded
 */
export function inUnit(text, unit, bytes) {
    /** @param {string} number */
    const sizeOf = (number) => bytes.find((size) => gigabytes(size, "GiB") === number) ?? Number(number.replaceAll(",", "")) * UNIT_BYTES.GiB;
    return text.replace(SIZES, (_, part, of, whole, prefix) => (prefix === "M" ? ofAnySize(sizeOf(part) / 1024, unit)
        : `${gigabytes(sizeOf(part), unit)}${of ? of + gigabytes(sizeOf(whole), unit) : ""} ${unit}`));
}

/** In the first unit where it stays below the next as it is written: 999.6 ms is 1.00 s, not 1,000 ms. @param {number} value @param {Scale} scale @param {Digits} write @returns {[string, string]} */
function inScale(value, scale, write) {
    for (const [factor, name, most = 1000] of scale) {
        const text = write(value / factor);
        if (Math.abs(value / factor) < most && !(Math.abs(Number(text.replaceAll(",", ""))) >= most)) return [text, name];
    }
    const [factor, name] = scale.at(-1);
    return [write(value / factor), name];
}

/** @param {number} value @param {string} [unit] @param {Digits} [write] */
export function scaled(value, unit = "", write = digits) {
    const [text, prefix] = inScale(value, PREFIXES, write);
    return prefix + unit === "" ? text : `${text} ${prefix}${unit}`;
}

/** What is stored, of any size. @param {number} bytes @param {"GiB" | "GB"} unit  whose kin it is written in */
export const ofAnySize = (bytes, unit) => (unit === "GB" ? scaled(bytes, "B") : inScale(bytes, BINARY, digits).join(" "));

/** Counts of parameters and tokens, in the words of the trade. @param {number} value */
export function count(value) {
    return value >= 1e6 ? inScale(value, COUNTS, digits).join(" ") : GROUPED.format(value);
}

/** @param {number} value_s @param {Digits} [write] */
export function seconds(value_s, write = digits) {
    return value_s === 0 ? "0 s" : inScale(value_s, TIMES, write).join(" ");
}

/** What is less is what rounding left of nothing. */
const LEAST_SHARE = 1e-9;

/** A little is not nothing. @param {number} ratio @param {Digits} [write] */
export function percent(ratio, write = (value) => value.toFixed(1)) {
    const value = ratio * 100;
    return `${Math.abs(ratio) < LEAST_SHARE ? "0" : Math.abs(value) < 0.05 ? "<0.1" : write(value)} %`;
}

/** Differences below this share are noise to a reader. */
export const LEAST_CHANGE = 0.0005;

/** A signed difference against a base, "same" where it is noise. @param {number} now @param {number} before */
export function change(now, before) {
    if (now / before >= FROM_FACTOR) return `×${digits(now / before)}`;
    if (now > 0 && before / now >= FROM_SHARE) return `÷${digits(before / now)}`;
    const ratio = now / before - 1;
    if (Math.abs(ratio) < LEAST_CHANGE) return "same";
    const share = Math.abs(ratio * 100);
    return `${ratio < 0 ? "−" : "+"}${share < 99.95 ? share.toFixed(1) : share.toFixed()} %`;
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
