/** Figures as the page must write them, said a second time so that a slip in one shows. */

export const gib = (bytes) => gigabytes(bytes / 2 ** 30);
export const gb = (bytes) => gigabytes(bytes / 1e9);

function gigabytes(value) {
    const size = Math.abs(value);
    const text = size >= 99.95 ? Math.round(size).toLocaleString('en-US') : size.toFixed(size !== 0 && size < 0.1 ? 2 : 1);
    return value < 0 ? `−${text}` : text;
}

/** Three significant digits, as for any measured figure. */
export function threeDigits(value) {
    if (value >= 99.95)
        return Math.round(value).toLocaleString('en-US');
    if (value >= 9.995)
        return value.toFixed(1);
    return value >= 0.9995 || value === 0 ? value.toFixed(2) : value.toFixed(3);
}

/** The fewest digits, three at most, whose last is worth no more than half of the spread. */
export function borne(value, spread) {
    const digits = [1, 2, 3].find((count) => 10 ** (Math.floor(Math.log10(value)) - count + 1) <= spread / 2) ?? 3;
    const rounded = Number(value.toPrecision(digits));
    return rounded >= 10 ** (digits - 1) ? rounded.toLocaleString('en-US') : value.toPrecision(digits);
}

/** The share by which the figures of an answer may be off. */
export const offOf = ({ time: { step_s }, interval: { step_s: [least_s, most_s] } }) => Math.max(1 - step_s / most_s, step_s / least_s - 1);

/** Memory of a device as the interval of its peak bears it out. @param {any} answer @param {number} bytes @param {number} unit  in bytes */
export function borneSize({ interval: { peak_reserved_bytes: [least, most] } }, bytes, unit) {
    return borne(bytes / unit, (most - least) / 2 / unit);
}

/** What a reader may take for sure of a text: its digits without the zeros that say how large it is. @param {string} text */
export const sureDigits = (text) => text.replace(/\D/g, '').replace(text.includes('.') ? /^0+/ : /^0+|0+$/g, '').length;

export const percent = (ratio) => `${(100 * ratio).toFixed(1)} %`;
