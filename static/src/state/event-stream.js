/**
 * Events of a text/event-stream as they come, the part of the format that the service writes: names, one or more lines
 * of data, comments. Pure.
 *
 * @typedef {{name: string, data: any}} StreamEvent
 */

/** @param {string} block  the lines of one event @returns {StreamEvent | null} null when it is only a comment or a retry time */
function eventOf(block) {
    let name = "message";
    const data = [];
    for (const line of block.split("\n")) {
        const at = line.indexOf(":");
        const value = line.slice(at + 1).replace(/^ /, "");
        if (line.slice(0, at) === "event") name = value;
        if (line.slice(0, at) === "data") data.push(value);
    }
    return data.length === 0 ? null : { name, data: JSON.parse(data.join("\n")) };
}

/**
 * Splits what has come so far into whole events and the beginning of the next.
 * @param {string} text @returns {{events: StreamEvent[], rest: string}}
 */
export function splitEvents(text) {
    const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
    const rest = blocks.pop();
    return { events: blocks.map(eventOf).filter((event) => event !== null), rest };
}

/**
 * Reads to the end, be it the service's or that of the connection: which it was shows in what was told.
 * @param {ReadableStream<Uint8Array>} body @param {(event: StreamEvent) => void} tell
 */
export async function readEvents(body, tell) {
    const text = /** @type {ReadableWritablePair<string, Uint8Array>} */ (new TextDecoderStream());
    const reader = body.pipeThrough(text).getReader();
    let rest = "";
    for (;;) {
        const { value, done } = await reader.read().catch(() => ({ value: "", done: true }));
        if (done) return;
        const split = splitEvents(rest + value);
        rest = split.rest;
        split.events.forEach(tell);
    }
}
