/** Moves the focus to the control of a setting. */

/** @param {string} key  of a field @returns {HTMLElement | null} what takes the focus there */
function controlOf(key) {
    const control = document.getElementById(`field-${key}`);
    return control?.matches("input, select, textarea") ? control
        : control?.querySelector("input:checked") ?? control?.querySelector("input") ?? null;
}

/** @param {string} key @returns {boolean} whether the page shows it */
export function isShown(key) {
    return controlOf(key) !== null;
}

/** @param {string} key */
export function reach(key) {
    const control = controlOf(key);
    control?.closest("details")?.setAttribute("open", "");
    control?.focus();
    control?.scrollIntoView({ block: "center" });
}
