/**
 * Tables of measured runs, read with patience: quoted commas and line ends, CRLF, a byte-order
 * mark, blank lines, short rows, columns nobody knows. All values are texts without outer blanks.
 */

/** @returns {Object<string, string>[]} an object per row, keyed by the header */
export function readTable(text) {
    const [header = [], ...rows] = recordsOf(text.replace(/^\uFEFF/, ''))
        .filter((fields) => fields.some((field) => field !== ''));
    return rows.map((fields) =>
        Object.fromEntries(header.map((name, i) => [name, fields[i] ?? ''])));
}

/** A table of the catalogue: lines that begin with # are for readers. */
export function readFacts(text) {
    return readTable(text.split('\n').filter((line) => !line.startsWith('#')).join('\n'));
}

function recordsOf(text) {
    const records = [];
    const pattern = /(?:[ \t]*"((?:[^"]|"")*)"[^,\r\n]*|([^,\r\n]*))(,|\r?\n|\r|$)/y;
    let fields = [];
    while (pattern.lastIndex < text.length || fields.length > 0) {
        const [, quoted, plain, end] = pattern.exec(text);
        fields.push((quoted === undefined ? plain : quoted.replaceAll('""', '"')).trim());
        if (end === ',')
            continue;
        records.push(fields);
        fields = [];
    }
    return records;
}
