/**
 * What the reader prefers, remembered on this machine only: units, theme, single-key commands, and what views keep here.
 */
import { effect, signal } from "@preact/signals";
import { gigabytes, grouped, inUnit, ofAnySize } from "../units.js";

/** @param {string} key @param {string} fallback */
export function stored(key, fallback) {
    try {
        return localStorage.getItem(`shardline.${key}`) ?? fallback;
    } catch {
        return fallback; /* storage may be refused: preferences then last one visit */
    }
}

/** @param {string} key @param {string} value */
export function store(key, value) {
    try {
        localStorage.setItem(`shardline.${key}`, value);
    } catch {
        /* as above */
    }
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemTheme = signal(prefersDark.matches ? "dark" : "light");

/** "auto" until the reader chooses. */
const chosenTheme = signal(stored("theme", "auto"));

/** @type {import("@preact/signals").Signal<"GiB" | "GB">} */
export const units = signal(stored("units", "GiB") === "GB" ? "GB" : "GiB");
export const shortcuts = signal(stored("shortcuts", "on") === "on");
export const explainAll = signal(false);

/** Paper is white, and shows all that there is. */
export const printing = signal(false);

export function theme() {
    if (printing.value) return "light";
    return chosenTheme.value === "auto" ? systemTheme.value : chosenTheme.value;
}

export function toggleTheme() {
    chosenTheme.value = theme() === "dark" ? "light" : "dark";
    store("theme", chosenTheme.value);
}

/** Bytes of memory in the reader's unit, with it. @param {number} bytes */
export const memorySize = (bytes) => `${gigabytes(bytes, units.value)} ${units.value}`;

/** The same of a tensor, or of a cache, down to bytes. @param {number} bytes */
export const storedSize = (bytes) => ofAnySize(bytes, units.value);

/** A sentence of the service as the reader reads numbers. @param {string} text @param {number[]} [bytes]  figures that it may have rounded */
export const readable = (text, bytes = []) => grouped(units.value === "GiB" ? text : inUnit(text, units.value, bytes));

/** The unit of memory that is not in use. */
export const otherUnit = () => (units.value === "GiB" ? "GB" : "GiB");

export function toggleUnits() {
    units.value = otherUnit();
    store("units", units.value);
}

/**
 * One of two ways to write the same figure; the service always says both.
 * @template {string} T
 * @param {string} key @param {T} usual @param {T} other @returns {{now: () => T, toggle: () => void}}
 */
function wayOf(key, usual, other) {
    const way = signal(stored(key, usual) === other ? other : usual);
    return {
        now: () => way.value,
        toggle() {
            way.value = way.value === usual ? other : usual;
            store(key, way.value);
        },
    };
}

/** What a rate counts, and what a cost is of. */
export const rate = wayOf("rate", /** @type {"tokens" | "samples"} */ ("tokens"), "samples");
export const cost = wayOf("cost", /** @type {"run" | "hour"} */ ("run"), "hour");

/** @param {boolean} on */
export function setShortcuts(on) {
    shortcuts.value = on;
    store("shortcuts", on ? "on" : "off");
}

/** Keeps the document in step with the theme, with explain mode and with a printer. */
export function start() {
    prefersDark.addEventListener("change", () => {
        systemTheme.value = prefersDark.matches ? "dark" : "light";
    });
    addEventListener("beforeprint", () => { printing.value = true; });
    addEventListener("afterprint", () => { printing.value = false; });
    effect(() => {
        document.documentElement.dataset.theme = theme();
        document.documentElement.classList.toggle("explain", explainAll.value);
    });
}
