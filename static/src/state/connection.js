/**
 * What this page does while the service is away, busy or slow. A request that may be sent twice waits and is sent
 * again, later each time, until it is answered or withdrawn: whoever asked sees only an answer that takes long. The
 * banner reads `trouble` and says so.
 *
 * @typedef {{part: string, detail: string, after_s: number | null}} Fault
 *          part: what waits for it to pass, "" the whole service, else one path; after_s: as asked for by Retry-After
 * @typedef {{kind: "fault" | "slow", detail: string, next_ms: number | null}} Trouble  next_ms: null while it is tried
 */
import { signal } from "@preact/signals";

const FIRST_MS = 500;
const MOST_MS = 15_000;

/** Whoever asks for more than this is not believed. */
const MOST_ASKED_S = 300;

/** So long an answer may take before the reader is told, and before it is asked for again, at first. */
const SLOW_MS = 5_000;
const HANGING_MS = 30_000;

/** @type {import("@preact/signals").Signal<Trouble | null>} */
export const trouble = signal(null);

/**
 * @typedef {{failures: number, waiting: number, detail: string, next_ms: number | null, opened: Promise<void> | null, open: () => void}} Part
 * @type {Map<string, Part>}
 */
const parts = new Map();

/** Requests that hang for long, each with what sends it again. @type {Set<() => void>} */
const hanging = new Set();

/** Later after each failure, and no two pages at the same moment; never before the service asked for. @param {number} failures @param {number | null} after_s */
export function pauseOf(failures, after_s) {
    const own_ms = Math.min(MOST_MS, FIRST_MS * 2 ** failures) * (0.5 + Math.random() / 2);
    const asked_ms = Math.min(MOST_ASKED_S, after_s ?? 0) * 1000;
    return asked_ms > own_ms ? asked_ms * (1 + Math.random() / 10) : own_ms;
}

/** What ails the whole service comes first. */
function show() {
    const worst = parts.get("") ?? parts.values().next().value;
    if (worst) trouble.value = { kind: "fault", detail: worst.detail, next_ms: worst.next_ms };
    else trouble.value = hanging.size > 0 ? { kind: "slow", detail: "The service takes long to answer.", next_ms: null } : null;
}

/** Nobody may try before the pause is over: many requests that fail together wait together. @param {Fault} fault */
function close({ part, detail, after_s }) {
    /** @type {Part} */
    const now = parts.get(part) ?? { failures: 0, waiting: 0, detail, next_ms: null, opened: null, open: () => {} };
    if (now.opened !== null) return;
    const pause_ms = pauseOf(now.failures, after_s);
    now.opened = new Promise((done) => {
        const timer = setTimeout(() => now.open(), pause_ms);
        now.open = () => {
            if (now.opened === null) return;
            clearTimeout(timer);
            now.opened = null;
            now.next_ms = null;
            /* What nobody waits for any more is no trouble. */
            if (now.waiting === 0) parts.delete(part);
            show();
            done();
        };
    });
    parts.set(part, Object.assign(now, { detail, failures: now.failures + 1, next_ms: Date.now() + pause_ms }));
    show();
}

/** The service answered at this path. @param {string} path */
function answered(path) {
    for (const part of ["", path]) {
        parts.get(part)?.open();
        parts.delete(part);
    }
    show();
}

/** @param {AbortSignal | undefined} withdrawn @returns {Promise<never>} */
function withdrawal(withdrawn) {
    return new Promise((_, fail) => withdrawn?.addEventListener("abort", () => fail(withdrawn.reason), { once: true }));
}

/** @param {string} path @param {AbortSignal | undefined} withdrawn */
async function waitTurn(path, withdrawn) {
    for (const part of ["", path]) {
        const now = parts.get(part);
        if (!now?.opened) continue;
        now.waiting += 1;
        try {
            await Promise.race([now.opened, withdrawal(withdrawn)]);
        } finally {
            now.waiting -= 1;
        }
    }
}

/**
 * One sending. It is told of when it takes long, and given up for the next when it takes longer.
 * @template T @param {(signal: AbortSignal) => Promise<T>} ask @param {AbortSignal | undefined} withdrawn @param {number} patience_ms
 * @returns {Promise<{answer: T} | null>} null: to be sent again
 */
async function askOnce(ask, withdrawn, patience_ms) {
    const sending = new AbortController();
    let again = false;
    const giveUp = () => {
        again = true;
        sending.abort();
    };
    withdrawn?.addEventListener("abort", () => sending.abort(withdrawn.reason), { once: true });
    const tell = setTimeout(() => {
        hanging.add(giveUp);
        show();
    }, SLOW_MS);
    const late = setTimeout(giveUp, patience_ms);
    try {
        return { answer: await ask(sending.signal) };
    } catch (error) {
        if (again && !withdrawn?.aborted) return null;
        throw error;
    } finally {
        clearTimeout(tell);
        clearTimeout(late);
        if (hanging.delete(giveUp)) show();
    }
}

/**
 * Asks until there is an answer, be it a refusal.
 * @template T
 * @param {string} path  without its query
 * @param {(signal: AbortSignal) => Promise<T>} ask  sends once
 * @param {(error: unknown) => Fault | null} faultOf  null for what is an answer
 * @param {AbortSignal} [withdrawn]
 * @returns {Promise<T>}
 */
export async function persist(path, ask, faultOf, withdrawn) {
    let patience_ms = HANGING_MS;
    for (;;) {
        withdrawn?.throwIfAborted();
        /* Sent at once where nothing is amiss: before the page is drawn, which takes as long as the service. */
        if (parts.size > 0) await waitTurn(path, withdrawn);
        try {
            const got = await askOnce(ask, withdrawn, patience_ms);
            if (got !== null) {
                answered(path);
                return got.answer;
            }
            patience_ms *= 2;
        } catch (error) {
            const fault = withdrawn?.aborted ? null : faultOf(error);
            if (fault === null) {
                if (!withdrawn?.aborted) answered(path);
                throw error;
            }
            close(fault);
        }
    }
}

/** Ends every pause, and sends again what hangs. */
export function tryNow() {
    for (const part of [...parts.values()]) part.open();
    for (const again of [...hanging]) again();
}
