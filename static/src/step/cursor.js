/** The time cursor set in motion: it crosses what is in view in some seconds, then the view moves on. */
import { batch, computed, signal } from "@preact/signals";
import { at_s, view_s } from "../state/look.js";
import { panned } from "./window.js";

/** How long the cursor takes across the view. */
export const PACES_S = [40, 20, 10, 5];

/** Tables follow a moving cursor this often: nobody reads faster. */
const TOLD_EVERY_MS = 250;

export const playing = signal(false);
export const pace_s = signal(20);

const told_s = signal(0);

/** The cursor as tables show it. */
export const table_s = computed(() => (playing.value ? told_s.value : at_s.value));

let frame = 0;
let last_ms = 0;
let told_ms = 0;

/** @param {number} end_s  of the step @returns {[number, number]} */
export function viewOf(end_s) {
    const view = view_s.value;
    return view !== null && view[0] < end_s ? [view[0], Math.min(view[1], end_s)] : [0, end_s];
}

export function pause() {
    cancelAnimationFrame(frame);
    playing.value = false;
}

/** @param {number} now_ms @param {number} end_s */
function advance(now_ms, end_s) {
    const view = viewOf(end_s);
    const length_s = view[1] - view[0];
    const next_s = at_s.peek() + ((now_ms - last_ms) / 1000) * (length_s / pace_s.peek());
    last_ms = now_ms;
    if (next_s >= end_s) {
        at_s.value = end_s;
        pause();
        return;
    }
    batch(() => {
        at_s.value = next_s;
        if (next_s >= view[1]) view_s.value = panned(view, length_s, end_s);
        if (now_ms - told_ms < TOLD_EVERY_MS) return;
        told_ms = now_ms;
        told_s.value = next_s;
    });
    frame = requestAnimationFrame((ms) => advance(ms, end_s));
}

/** From where the cursor is, or from the start of the view when it is out of it. @param {number} end_s */
export function play(end_s) {
    const [from_s, to_s] = viewOf(end_s);
    if (at_s.peek() < from_s || at_s.peek() >= to_s) at_s.value = from_s;
    told_s.value = at_s.peek();
    playing.value = true;
    frame = requestAnimationFrame((ms) => {
        last_ms = ms;
        advance(ms, end_s);
    });
}
