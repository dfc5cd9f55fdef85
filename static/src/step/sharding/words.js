/** Devices in words. */
import { kindLook } from "../timeline/kinds.js";
import { doing, sizes } from "./shown.js";

/** @param {number} stage */
export function doingWords(stage) {
    const kind = doing.value.get(stage);
    return kind ? kindLook(kind).label.toLowerCase() : "idle";
}

/** @param {import("./cells.js").Place} place */
export function coordinateWords({ coordinates }) {
    return [...sizes.value.keys()].map((name) => `${name} ${coordinates[name]}`).join(", ");
}
