/** Reading the golden tables. */
import { readFile } from 'node:fs/promises';

/** Fields of one line; quotes are doubled inside quoted fields, and no field holds a line end. */
function fieldsOf(line) {
    const fields = [];
    const pattern = /(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/y;
    for (;;) {
        const [, quoted, plain, end] = pattern.exec(line);
        fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
        if (end === '')
            return fields;
    }
}

/** Rows of tests/golden/<name>, an object each, all values texts. */
export async function goldenRows(name) {
    const text = await readFile(new URL(`../../golden/${name}`, import.meta.url), 'utf8');
    const [header, ...lines] = text.trimEnd().split('\n').map(fieldsOf);
    return lines.map((fields) => Object.fromEntries(header.map((key, i) => [key, fields[i]])));
}
