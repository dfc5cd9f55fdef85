/** Hands a file that was made on the page to the reader. */

/** @param {string | Blob} text @param {string} type  of its content @param {string} name */
export function save(text, type, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
}
