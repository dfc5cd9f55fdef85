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

export const percent = (ratio) => `${(100 * ratio).toFixed(1)} %`;
