/**
 * What moves between devices at the cursor: the spans that run on links, each with the communicator
 * of a device, its members and the slowest link that one of its groups crosses.
 *
 * @typedef {{stage: number, kind: string, group: string, stream: string, microbatch: number, layer: number,
 *            members: number[], level: string}} Move
 */
import { computed } from "@preact/signals";
import { html } from "../../html.js";
import { at_s } from "../../state/look.js";
import { exact } from "../../units.js";
import { Swatch } from "../../widgets/charts.js";
import { Scroll } from "../../widgets/scroll.js";
import { table_s } from "../cursor.js";
import { kindLook, laneWords } from "../timeline/kinds.js";
import { spanAt } from "../timeline/rows.js";
import { shown } from "../timeline/shown.js";
import { groupOf } from "./rank-sets.js";
import { chosen, groups } from "./shown.js";

/** The chosen device speaks for its stage, the first replica's for the others. @param {import("../timeline/rows.js").Row} row */
function speakerOf({ stage, rank }) {
    const place = chosen();
    return place !== null && place.coordinates.pipeline === stage ? place.rank : rank;
}

/** @param {import("../timeline/rows.js").Row} row @param {number} span @returns {Move} */
function moveOf(row, span) {
    const group = groups.value.find(({ kind }) => kind === row.group);
    return {
        stage: row.stage, kind: shown.value.kinds[row.kind[span]], group: row.group ?? "", stream: row.stream,
        microbatch: row.microbatch[span], layer: row.layer[span],
        members: group ? groupOf(group, speakerOf(row)) : [], level: group?.level ?? "",
    };
}

/** @param {number} now_s @returns {Move[]} */
function movesAt(now_s) {
    if (shown.value === null) return [];
    return shown.value.rows.filter(({ stream }) => stream !== "compute" && stream !== "host").flatMap((row) => {
        const span = spanAt(row, now_s);
        return span < 0 ? [] : [moveOf(row, span)];
    });
}

export const moves = computed(() => movesAt(at_s.value));

/** The same in words, as often as somebody can read it. */
export function Moving() {
    const now = movesAt(table_s.value);
    return html`
        <div data-testid="moving">
            <h3>Moving at the cursor</h3>
            ${now.length === 0 ? html`
                <p class="muted">Nothing is on its way between stages or replicas. Collectives of tensor and expert groups run inside passes.</p>` : html`
                <${Scroll} label="Table of what moves">
                    <table class="figures tight">
                        <caption class="visually-hidden">What moves between devices at the cursor</caption>
                        <thead><tr><th scope="col">Stage</th><th scope="col">Does</th><th scope="col">Over</th><th scope="col" class="n">Devices</th>
                            <th scope="col">Slowest link</th></tr></thead>
                        <tbody>${now.map((move) => {
                            const { label, tone, hatched } = kindLook(move.kind);
                            const of = move.microbatch >= 0 ? `, micro-batch ${move.microbatch}` : move.layer >= 0 ? `, layer ${move.layer}` : "";
                            return html`
                                <tr key=${`${move.stage} ${move.stream} ${move.group}`}>
                                    <th scope="row">${move.stage}</th><td><${Swatch} tone=${tone} hatched=${hatched} />${label}${of}</td>
                                    <td>${laneWords({ stream: move.stream, group: move.group || null })}</td>
                                    <td class="n">${move.members.length > 0 ? exact(move.members.length) : "–"}</td>
                                    <td>${move.level === "" ? "–" : move.level.replaceAll("_", " ")}</td>
                                </tr>`;
                        })}</tbody>
                    </table>
                <//>`}
        </div>`;
}
