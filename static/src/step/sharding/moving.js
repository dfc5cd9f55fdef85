/**
 * What moves between devices at the cursor: the spans that run on links, each with the communicator
 * of a device, its members and the slowest link that one of its groups crosses.
 *
 * @typedef {import("../timeline/shown.js").Running & {kind: string, members: number[], level?: string}} Move
 */
import { computed } from "@preact/signals";
import { html } from "../../html.js";
import { at_s } from "../../state/look.js";
import { plan } from "../../state/store.js";
import { exact } from "../../units.js";
import { wordsOf } from "../../words.js";
import { Swatch } from "../../widgets/charts.js";
import { Plain } from "../../widgets/plain.js";
import { Help } from "../../widgets/words.js";
import { alike } from "../../widgets/rows.js";
import { table_s } from "../cursor.js";
import { kindLook, laneWords, names } from "../timeline/kinds.js";
import { runningAt, shown, stageShown } from "../timeline/shown.js";
import { groupOf, runsOf } from "./rank-sets.js";
import { cells, chosen, groups } from "./shown.js";

/** The chosen device speaks for its stage, the first replica's for the others. @param {import("../timeline/rows.js").Row} row */
function speakerOf({ stage, rank }) {
    const place = chosen();
    return place !== null && place.coordinates.pipeline === stage ? place.rank : rank;
}

/** Stages on from the one that sends. @type {Record<string, number>} */
const SENDS = { send_output: 1, send_gradient: -1 };

/** Schedules that lay the model over the stages there and back: every other chunk runs from the last stage to the first. */
const FOLDED = ["zb_v", "dualpipe"];

/**
 * The devices that it runs between: both ends of a send, all of a group of a collective.
 * @param {number[]} group @param {number} from @param {string} kind @param {number} chunk
 */
function endsOf(group, from, kind, chunk) {
    const way = SENDS[kind];
    if (way === undefined || group.length < 2) return group;
    const back = chunk % 2 === 1 && FOLDED.includes(plan.value.extra?.parallelism?.schedule);
    return [from, group.at((group.indexOf(from) + (back ? -way : way)) % group.length)];
}

/** @param {import("../timeline/rows.js").Row} row @param {number} span @returns {Move} */
function moveOf(row, span) {
    const group = groups.value.find(({ kind }) => kind === row.group);
    const kind = shown.value.kinds[row.kind[span]];
    const from = speakerOf(row);
    return { row, span, kind, members: group ? endsOf(groupOf(group, from), from, kind, row.chunk[span]) : [], level: group?.level };
}

/** @param {number} now_s @returns {Move[]} */
function movesAt(now_s) {
    return runningAt(now_s).filter(({ row: { stream } }) => stream !== "compute" && stream !== "host").map(({ row, span }) => moveOf(row, span));
}

/** Lines between more devices than these are all that is seen of the map. */
const MOST_JOINED = 64;

/** @param {Move[]} moves */
function joined(moves) {
    return moves.reduce((sum, { members }) => sum + members.filter((at) => cells.value?.x[at] >= 0).length, 0);
}

/** Those that are drawn: of many, the chosen stage's stand for all. */
export const moves = computed(() => {
    const all = movesAt(at_s.value);
    return joined(all) <= MOST_JOINED ? all : all.filter(({ row }) => row.stage === stageShown.value);
});

/** What spans are of: passes have a micro-batch, what is gathered or reduced may have a layer. @type {["microbatch" | "layer", string][]} */
const PARTS = [["microbatch", "micro-batch"], ["layer", "layer"]];

/** @param {Move[]} same */
function partsOf(same) {
    for (const [name, words] of PARTS) {
        const of = runsOf(same.map(({ row, span }) => row[name][span]).filter((number) => number >= 0));
        if (of !== "") return `, ${words} ${of}`;
    }
    return "";
}

/** @param {Move[]} same  on several stages */
function cellsOf(same) {
    const [{ row, kind, members, level = "–" }] = same;
    const look = kindLook(kind);
    return [runsOf(same.map((move) => move.row.stage)), html`<${Swatch} ...${look} />${look.label}${partsOf(same)}`, laneWords(row),
        members.length > 0 ? exact(members.length) : "–", wordsOf(level)];
}

/** The same in words, as often as somebody can read it. */
export function Moving() {
    const now = movesAt(table_s.value);
    return html`
        <div data-testid="moving">
            <h3>Moving at the cursor</h3>
            ${moves.value.length < now.length ? html`<p class="muted">${names.says.one_stage} ${stageShown.value}.</p>` : null}
            ${now.length === 0 ? html`
                <p class="muted"><${Help} of="no_moves" /></p>` : html`
                <${Plain} tight label=${names.says.moving} columns=${["Stage", "Does", "~Over", "#Devices", "Slowest link"]}
                    rows=${alike(now, ({ row, kind, members, level }) => `${kind} ${laneWords(row)} ${members.length} ${level}`).map(cellsOf)} />`}
        </div>`;
}
