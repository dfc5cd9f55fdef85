/**
 * Rows and columns of a table apart from how it is drawn: their order, and the text that spreadsheets take. Pure.
 *
 * @typedef {Object} Column
 * @property {string} name
 * @property {string} title            with the unit of its figures as they are written
 * @property {string} [field]          its title in a file, with the unit of what is read; the title when absent
 * @property {boolean} [number]        figures stand to the right
 * @property {boolean} [wraps]         words break into lines
 * @property {1 | -1} [first]          direction of the first sort; a column without it is not sorted by
 * @property {(row: any) => any} read  what is sorted, copied and exported
 * @property {(row: any) => any} [write]  what stands in the cell; what is read when absent
 * @property {any} [head]              what stands in its head in place of the title
 */

/**
 * Those that say the same of several, together and in their order.
 * @template T
 * @param {T[]} items @param {(item: T) => string} keyOf @returns {T[][]}
 */
export function alike(items, keyOf) {
    /** @type {Map<string, T[]>} */
    const groups = new Map();
    for (const item of items) groups.set(keyOf(item), [...groups.get(keyOf(item)) ?? [], item]);
    return [...groups.values()];
}

/** Three states: the better end first, the other end first, the order that they came in. @param {Column} column @param {string} now */
export function nextSort({ name, first }, now) {
    const states = first > 0 ? [name, `-${name}`] : [`-${name}`, name];
    return states[states.indexOf(now) + 1] ?? "";
}

/** @param {string} sort @param {string} name @returns {1 | -1 | 0} */
export function directionOf(sort, name) {
    return sort === name ? 1 : sort === `-${name}` ? -1 : 0;
}

/** Numbers by size, else by name. @param {unknown} a @param {unknown} b */
export const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));

/**
 * In the order of a column; what has no value there comes last, either way.
 * @template T
 * @param {T[]} rows @param {(row: T) => any} read @param {1 | -1} direction @returns {T[]}
 */
export function sorted(rows, read, direction) {
    return rows.map((row) => ({ row, value: read(row) ?? null })).sort((a, b) => {
        if (a.value === null || b.value === null) return (a.value === null ? 1 : 0) - (b.value === null ? 1 : 0);
        return direction * order(a.value, b.value);
    }).map(({ row }) => row);
}

/** As the address says it: the name of a column, behind a minus for the other way; anything else leaves them as they are. @template T @param {T[]} rows @param {Column[]} columns @param {string} sort @returns {T[]} */
export function inOrder(rows, columns, sort) {
    const column = columns.find(({ name, first }) => first && directionOf(sort, name) !== 0);
    return column ? sorted(rows, column.read, /** @type {1 | -1} */ (directionOf(sort, column.name))) : rows;
}

/** Every row and every digit. @param {any[]} rows @param {Column[]} columns @returns {string[][]} */
function cellsOf(rows, columns) {
    /** @param {unknown} value */
    const plain = (value) => (value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));
    return [columns.map(({ title, field = title }) => field), ...rows.map((row) => columns.map(({ read }) => plain(read(row))))];
}

/** As a spreadsheet takes it from the clipboard. @param {any[]} rows @param {Column[]} columns */
export function tsvOf(rows, columns) {
    return cellsOf(rows, columns).map((cells) => cells.map((text) => text.replace(/\s+/g, " ")).join("\t")).join("\n");
}

/** RFC 4180. @param {any[]} rows @param {Column[]} columns */
export function csvOf(rows, columns) {
    /** @param {string} text */
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    return `${cellsOf(rows, columns).map((cells) => cells.map(quoted).join(",")).join("\r\n")}\r\n`;
}
