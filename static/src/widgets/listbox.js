/**
 * The combobox pattern of WAI-ARIA: the focus stays in the text, arrows walk a list beside it, Enter
 * takes what they stand on. Used by the palette and by the search for models.
 */
import { useState } from "preact/hooks";

/**
 * @param {Object} options
 * @param {string} options.id        of the list; its options are `${id}-0` and so on
 * @param {number} options.count     options in the list
 * @param {boolean} options.open     whether it is shown
 * @param {number} options.first     where the arrows stand at first: -1 is in the text
 * @param {string} options.about     what the list is of: a change starts anew
 * @param {(at: number) => void} options.take
 * @param {() => void} options.close
 */
export function useListbox({ id, count, open, first, about, take, close }) {
    const [walked, setWalked] = useState({ about, at: first });
    const now = Math.min(walked.about === about ? walked.at : first, count - 1);

    /** @param {number} to */
    const go = (to) => {
        setWalked({ about, at: to });
        document.getElementById(`${id}-${to}`)?.scrollIntoView({ block: "nearest" });
    };
    /** @param {KeyboardEvent} event */
    const onKeyDown = (event) => {
        if (!open || event.isComposing) return;
        const to = { ArrowDown: (now + 1) % count, ArrowUp: now <= 0 ? count - 1 : now - 1 }[event.key];
        if (to !== undefined && count > 0) go(to);
        else if (event.key === "Enter" && now >= 0) take(now);
        else if (event.key === "Escape") close();
        else return;
        event.preventDefault();
    };
    return {
        at: now,
        input: {
            role: "combobox", "aria-autocomplete": "list", "aria-expanded": String(open), "aria-controls": id,
            ...(open && now >= 0 ? { "aria-activedescendant": `${id}-${now}` } : {}), onKeyDown,
        },
        /** @param {number} place */
        option: (place) => ({
            id: `${id}-${place}`, role: "option", "aria-selected": String(place === now),
            onPointerDown: (/** @type {Event} */ event) => event.preventDefault(), /* the focus stays in the text */
            onClick: () => take(place),
        }),
    };
}
