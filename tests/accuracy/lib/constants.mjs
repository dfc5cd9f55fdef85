/** constants.csv: every constant of training that is fitted or coarse, where it lives. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readFacts, readTable } from './csv.mjs';

const at = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const GIB_BYTES = 2 ** 30;

export async function readConstants() {
    return readTable(await readFile(at('tests/accuracy/constants.csv'), 'utf8'));
}

/** "0.50 * SL_GIB_BYTES" and plain numbers. */
function numberOf(text) {
    const [number, unit] = text.split('*').map((part) => part.trim());
    return Number(number) * (unit === 'SL_GIB_BYTES' ? GIB_BYTES : 1);
}

function inCode(text, name) {
    // A definition, or a member of an initializer.
    const [, value] = new RegExp(`^(?:(?:static )?const double |\\s+\\.)${name} = ([^;,]+)[;,]`, 'm')
        .exec(text) ?? [];
    return value === undefined ? undefined : [numberOf(value)];
}

function inTable(text, column, rowsNamed) {
    const rows = readFacts(text);
    return rowsNamed.split('|').map((name) => {
        // Tables without a name have several columns that name a row: part/kernel/width.
        const row = rows.find((one) =>
            name.split('/').every((word) => Object.values(one).includes(word)));
        return row === undefined ? undefined : Number(row[column]);
    });
}

/**
 * The values where a constant lives: path:identifier of C code, or path:column of a CSV followed by
 * @ and the rows that share it.
 */
export async function valuesAt(place) {
    const [path, identifier] = place.split(':');
    const text = await readFile(at(path), 'utf8');
    const [column, rows] = identifier.split('@');
    return rows === undefined ? inCode(text, column) : inTable(text, column, rows);
}
