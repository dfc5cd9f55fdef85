/** Values of the service as the page writes them. Their names end with their unit: so does the way they are written. */
import { memorySize, readable } from "../state/prefs.js";
import { accelerators } from "../state/store.js";
import { digits, exact, percent, scaled, seconds } from "../units.js";

const WATT_HOUR_J = 3600;

/** The first end that fits. @type {[string, (value: number) => string][]} */
const BY_END = [["_bytes_per_s", (value) => scaled(value, "B/s")], ["_bytes", memorySize], ["_per_s", scaled], ["_per_accelerator", digits],
    ["_s", seconds], ["_j", (value) => scaled(value / WATT_HOUR_J, "Wh")], ["_w", (value) => `${exact(value)} W`], ["_ratio", percent], ["cost", scaled]];

/** How a figure of that name is written. @param {string} name @returns {(value: number) => string} */
export function writerOf(name) {
    return BY_END.find(([end]) => name.endsWith(end))?.[1] ?? exact;
}

/** What a figure of that name is counted in, "" for what is only counted. @param {string} name */
export function unitOf(name) {
    if (name.includes("_per_s")) return "";
    return name.includes("bytes") ? "bytes" : /(_s|seconds)$/.test(name) ? "s" : name.endsWith("_j") ? "J" : "";
}

/** @param {any} from  an answer @param {string} pointer @returns {any} undefined where it has none */
export function valueAt(from, pointer) {
    return pointer.slice(1).split("/").reduce((at, name) => at?.[name], from);
}

/** @param {string} name @param {any} value  words as they are */
export function valueOf(name, value) {
    return typeof value === "number" ? writerOf(name)(value) : String(value);
}

/** The fullest of the ranks. @param {Api.Memory} memory */
export const fullestOf = ({ ranks, binding_rank: binding }) => ranks.find(({ rank }) => rank === binding) ?? ranks[0];

/** What binds, in the words of the service. @param {Api.Estimate} estimate */
export function bindingWords({ binding, memory }) {
    return readable(binding?.sentence ?? "", [memory.device_total_bytes, memory.usable_bytes, ...(fullestOf(memory)?.terms ?? []).map(({ bytes }) => bytes)]);
}

/** A difference with its sign, the minus as long as the plus. @param {number} value @param {(size: number) => string} write */
export function signed(value, write) {
    return value === 0 ? "0" : `${value < 0 ? "−" : "+"}${write(Math.abs(value))}`;
}

/** What the catalogue calls an accelerator. @param {string} id */
export function partName(id) {
    return accelerators.value.find((part) => part.id === id)?.name ?? id;
}
