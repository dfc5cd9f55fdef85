/** The hand of the reader on a drawing: keys that it takes, and where the pointer is. */

/** What it takes nobody else hears. @param {Record<string, (shift: boolean) => void>} keys  what each does */
export function onKeys(keys) {
    return (/** @type {KeyboardEvent} */ event) => {
        const does = keys[event.key];
        if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        does(event.shiftKey);
    };
}

/** Pixels from the corner of the drawing. @param {MouseEvent} event */
export function spotOf(event) {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** @param {number} value @param {number} least @param {number} most */
export const within = (value, least, most) => Math.max(least, Math.min(most, value));
