/**
 * The part of the step in view: zooming and panning. Pure.
 *
 * @typedef {[number, number]} Span_s  from and to, in seconds
 */

/** The closest view, as a share of the step. */
const CLOSEST = 1e-6;

/**
 * Moved as little as it takes to lie within the step.
 * @param {number} from_s @param {number} length_s @param {number} end_s @returns {Span_s}
 */
function within(from_s, length_s, end_s) {
    const held_s = Math.max(end_s * CLOSEST, Math.min(length_s, end_s));
    const start_s = Math.max(0, Math.min(from_s, end_s - held_s));
    return [start_s, start_s + held_s];
}

/**
 * The moment at_s stays where it is on the screen.
 * @param {Span_s} view @param {number} at_s @param {number} factor  over 1 widens @param {number} end_s
 */
export function zoomed([from_s, to_s], at_s, factor, end_s) {
    const length_s = Math.max(end_s * CLOSEST, Math.min((to_s - from_s) * factor, end_s));
    const share = (at_s - from_s) / (to_s - from_s);
    return within(at_s - share * length_s, length_s, end_s);
}

/** @param {Span_s} view @param {number} by_s @param {number} end_s */
export function panned([from_s, to_s], by_s, end_s) {
    return within(from_s + by_s, to_s - from_s, end_s);
}

/** A span with some room around it. @param {number} from_s @param {number} to_s @param {number} end_s */
export function around(from_s, to_s, end_s) {
    const room_s = (to_s - from_s) * 0.1;
    return within(from_s - room_s, to_s - from_s + 2 * room_s, end_s);
}

/**
 * Turned like a page to where the moment is, when it is out of view.
 * @param {Span_s} view @param {number} at_s @param {number} end_s @returns {Span_s}
 */
export function showing(view, at_s, end_s) {
    const [from_s, to_s] = view;
    if (at_s >= from_s && at_s <= to_s) return view;
    return within(at_s > to_s ? at_s : at_s - (to_s - from_s) * 0.1, to_s - from_s, end_s);
}
