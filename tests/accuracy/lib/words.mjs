/**
 * What the words of a column mean: lists of [pattern, value], the first that matches decides. No
 * match, or a blank, is undefined: the request then leaves the field out.
 */

export function firstMatch(list, text) {
    return list.find(([pattern]) => pattern.test(text ?? ''))?.[1];
}

/** Experts padded to their capacity, in the words of tables and of notes. */
export const tokenDrop = /token[-_ ]?drop/i;

/** A whole number of at least `least`, or undefined for a blank and for anything else. */
export function count(text, least = 0) {
    const number = Number(text);
    return text && Number.isInteger(number) && number >= least ? number : undefined;
}

/** 1 and 0, yes and no, true and false. */
export function truth(text) {
    return firstMatch([[/^(1|yes|true|on)$/i, true], [/^(0|no|false|off)$/i, false]], text);
}

/** "a=1;b=2" as an object of numbers. */
export function pairs(text) {
    const found = (text ?? '').matchAll(/([a-z_]+)=(\d+(?:\.\d+)?)/gi);
    return Object.fromEntries(Array.from(found, ([, name, value]) => [name, Number(value)]));
}

/** Without the members that are unknown, and without objects that are left empty. */
export function known(object) {
    const kept = Object.entries(object).filter(([, value]) => value !== undefined
        && !(value?.constructor === Object && Object.keys(value).length === 0));
    return Object.fromEntries(kept);
}
