/** The drawing of a pool: a cell for each host, by rack where names tell one; colour, hatch and letter say its state. */
import { effect } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { theme } from "../state/prefs.js";
import { brush, colour, contextOf, followWidth, inkOn } from "../widgets/canvas.js";
import { onKeys, spotOf } from "../widgets/hand.js";
import { called, Help } from "../widgets/words.js";
import { Swatch } from "../widgets/charts.js";
import { rackOf } from "./names.js";
import { exact } from "../units.js";

/** @typedef {import("./hosts.js").Host} Host */
/** @typedef {{across: number, down: number, height: number, x: number[], y: number[], labels: {text: string, x: number, y: number}[]}} Frame */

/** @type {Record<import("./hosts.js").State, {tone: string, hatched: boolean, letter: string}>} */
export const LOOKS = {
    usable: { tone: "green", hatched: false, letter: "" },
    unseen: { tone: "sky", hatched: false, letter: "·" },
    unknown: { tone: "grey", hatched: false, letter: "?" },
    differs: { tone: "purple", hatched: true, letter: "≠" },
    drained: { tone: "orange", hatched: true, letter: "D" },
    down: { tone: "vermillion", hatched: false, letter: "X" },
    missing: { tone: "grey", hatched: true, letter: "M" },
};

/** Sides of a cell by how many hosts there are at most. */
const SIDES = [[64, 30, 22], [500, 22, 18], [4000, 13, 13], [8000, 9, 9], [20_000, 6, 6], [Infinity, 3, 3]];
const LABEL_PX = 16;
const RACK_ROWS = 16;
const LETTER_PX = 6.5;
const LETTERED_PX = 11;

/** The drawing grows beyond this height only when its cells cannot shrink. */
const MOST_PX = 700;

/** Hosts by rack; one rack without a name where names tell none. @param {Host[]} hosts @returns {Map<string, number[]>} */
function racksOf(hosts) {
    const racks = new Map();
    hosts.forEach(({ name }, at) => {
        const rack = rackOf(name);
        if (!racks.has(rack)) racks.set(rack, []);
        racks.get(rack).push(at);
    });
    return racks.size > 1 ? racks : new Map([["", hosts.map((_, at) => at)]]);
}

/** @param {[string, number[]][]} racks @param {number} count  hosts @param {number} width @param {number[]} side @param {boolean} labelled @returns {Frame} */
function laidOut(racks, count, width, [, narrow, down], labelled) {
    /** @param {number[]} members */
    const columnsOf = (members) => (racks.length > 1 ? Math.ceil(members.length / RACK_ROWS) : Math.max(1, Math.floor(width / narrow)));
    /* A rack is as wide as its name; racks of more than one column share that. */
    const longest = labelled ? Math.max(...racks.map(([name, members]) => name.length * LETTER_PX / columnsOf(members))) : 0;
    const across = Math.max(narrow, Math.ceil(longest));
    const [label, gap] = [labelled ? LABEL_PX : 0, Math.min(10, down >> 1)];
    /** @type {Frame} */
    const frame = { across, down, height: 0, x: new Array(count), y: new Array(count), labels: [] };
    let [left, top, tallest] = [0, 0, 0];
    for (const [text, members] of racks) {
        const columns = columnsOf(members);
        if (left > 0 && left + columns * across > width) [left, top, tallest] = [0, top + tallest + gap, 0];
        if (labelled) frame.labels.push({ text, x: left, y: top + 11 });
        members.forEach((at, place) => {
            frame.x[at] = left + (place % columns) * across;
            frame.y[at] = top + label + Math.floor(place / columns) * down;
        });
        tallest = Math.max(tallest, label + Math.ceil(members.length / columns) * down);
        left += columns * across + gap;
    }
    frame.height = top + tallest + 2;
    return frame;
}

/** As large and as much told as the height allows. @param {Host[]} hosts @param {number} width @returns {Frame} */
export function frameOf(hosts, width) {
    const racks = [...racksOf(hosts)];
    const first = SIDES.findIndex(([most]) => hosts.length <= most);
    /** @type {[number[], boolean][]} */
    const ways = SIDES.slice(first).flatMap((side) => (racks.length > 1 && side[2] >= LETTERED_PX ? [[side, true], [side, false]] : [[side, false]]));
    let frame = null;
    for (const [side, labelled] of ways) {
        frame = laidOut(racks, hosts.length, width, side, labelled);
        if (frame.height <= MOST_PX) break;
    }
    return frame;
}

/** @param {CanvasRenderingContext2D} context @param {Host[]} hosts @param {Frame} frame @param {Set<string>} left */
function paint(context, hosts, { across, down, x, y, labels }, left) {
    const gap = across > 4 ? 1.5 : 0.5;
    const lettered = down >= LETTERED_PX;
    context.font = "11px sans-serif";
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = colour("muted");
    for (const { text, x: right, y: below } of labels) context.fillText(text, right, below);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `700 ${Math.min(13, down - 3)}px sans-serif`;
    context.lineWidth = lettered ? 2 : 1;
    hosts.forEach(({ name, state }, place) => {
        const { tone, hatched, letter } = LOOKS[state];
        const out = left.has(name);
        context.fillStyle = out && !lettered ? colour("text") : brush({ tone, hatched: hatched && lettered });
        context.fillRect(x[place], y[place], across - gap, down - gap);
        if (letter === "" && !out) return;
        context.strokeStyle = colour("text");
        /* Too small for a letter: what is wrong stands out by its edge. */
        if (!lettered) {
            if (across > 4 && state !== "unseen") context.strokeRect(x[place] + 0.5, y[place] + 0.5, across - gap - 1, down - gap - 1);
            return;
        }
        if (out) context.strokeRect(x[place] + 1, y[place] + 1, across - gap - 2, down - gap - 2);
        /* No hatch beneath a letter. */
        const [middle, centre] = [x[place] + (across - gap) / 2, y[place] + (down - gap) / 2];
        context.fillStyle = colour(tone);
        context.fillRect(middle - 5, y[place] + 2, 10, down - gap - 4);
        context.fillStyle = inkOn(colour(tone));
        context.fillText(out ? "–" : letter, middle, centre + 0.5);
    });
}

/** The nearest host that way; the same one at the edge. @param {Frame} frame @param {number} from @param {number[]} way */
function neighbour({ x, y }, from, [right, below]) {
    let [best, nearest] = [from, Infinity];
    for (let at = 0; at < x.length; at += 1) {
        const along = (x[at] - x[from]) * right + (y[at] - y[from]) * below;
        const aside = Math.abs((x[at] - x[from]) * below) + Math.abs((y[at] - y[from]) * right);
        if (along > 0 && along + 3 * aside < nearest) [best, nearest] = [at, along + 3 * aside];
    }
    return best;
}

/** @param {Frame} frame @param {{x: number, y: number}} spot */
function hostAt({ across, down, x, y }, spot) {
    return x.findIndex((left, at) => spot.x >= left && spot.x < left + across && spot.y >= y[at] && spot.y < y[at] + down);
}

/** @param {{hosts: Host[]}} props  which states there are, with how many */
export function Legend({ hosts }) {
    const counts = new Map();
    for (const { state } of hosts) counts.set(state, (counts.get(state) ?? 0) + 1);
    return html`
        <ul class="key">${Object.entries(LOOKS).filter(([state]) => counts.has(state)).map(([state, { tone, hatched, letter }]) => html`
            <li key=${state}><${Swatch} tone=${tone} hatched=${hatched} /><span>${letter === "" ? null : html`<b>${letter}</b> `}${
                exact(counts.get(state))} ${called("states", state)}</span></li>`)}</ul>`;
}

/** @param {Host} host @param {boolean} out */
function spoken({ name, state, says }, out) {
    return `${name}: ${says.length > 0 ? says.join("; ") : called("states", state)}${out ? ". Left out by you" : ""}`;
}

/** @param {{pool: import("./hosts.js").Pool, left: Set<string>, toggle: (name: string) => void}} props  left: hosts left out by the reader */
export function Rack({ pool, left, toggle }) {
    const box = useRef(/** @type {HTMLElement | null} */ (null));
    const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    const [width, setWidth] = useState(0);
    const [at, setAt] = useState(-1);
    const { hosts } = pool;
    const out = [...left].join();
    const frame = useMemo(() => frameOf(hosts, width), [hosts, width]);
    useLayoutEffect(() => followWidth(box.current, setWidth), []);
    useLayoutEffect(() => effect(() => {
        theme();
        if (width > 0) paint(contextOf(canvas.current, width, frame.height), hosts, frame, left);
    }), [frame, out]);
    /** @param {PointerEvent} event */
    const under = (event) => hostAt(frame, spotOf(event));
    /** @param {number} place */
    const choose = (place) => {
        if (place >= 0 && pool.named) toggle(hosts[place].name);
    };
    /** @param {[number, number]} way */
    const walk = (...way) => () => setAt(at < 0 ? 0 : neighbour(frame, at, way));
    const take = () => choose(at);
    const onKeyDown = onKeys({ Enter: take, " ": take, ArrowLeft: walk(-1, 0), ArrowRight: walk(1, 0), ArrowUp: walk(0, -1), ArrowDown: walk(0, 1) });
    const id = `rack-${pool.name}`;
    return html`
        <div class="plot map" ref=${box} tabindex="0" role="application" aria-label="Hosts of pool ${pool.name}" aria-describedby=${id}
             data-testid="rack" onKeyDown=${onKeyDown} onPointerMove=${(event) => setAt(under(event))}
             onClick=${(event) => choose(under(event))}>
            <canvas ref=${canvas}></canvas>
            ${at in hosts ? html`<i class="host-cursor" style=${{ left: `${frame.x[at]}px`, top: `${frame.y[at]}px`, width: `${frame.across}px`, height: `${frame.down}px` }}></i>` : null}
        </div>
        <p class="readout muted" id=${id} role="status">${at in hosts ? spoken(hosts[at], left.has(hosts[at].name))
            : html`<${Help} of=${pool.named ? "hosts" : "no_hosts"} />`}</p>`;
}
