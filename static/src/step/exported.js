/** The timeline and the sharding map as data: every span, every device. */
import { timeline } from "./state.js";
import { shown } from "./timeline/shown.js";
import { ranks, sizes } from "./sharding/shown.js";

/** @param {string} name @returns {import("../widgets/rows.js").Column} */
const member = (name) => ({ name, title: name, read: (row) => row[name] });

/** @param {number} value  below zero where there is none */
const known = (value) => (value < 0 ? null : value);

/** @returns {import("../widgets/export.js").Data} */
export function timelineData() {
    const { rows: lanes, kinds } = shown.value;
    const rows = lanes.flatMap((lane) => Array.from(lane.start_s, (start_s, span) => ({
        rank: lane.rank, stage: lane.stage, stream: lane.stream, group: lane.group, kind: kinds[lane.kind[span]],
        microbatch: known(lane.microbatch[span]), chunk: known(lane.chunk[span]), layer: known(lane.layer[span]), start_s, end_s: lane.end_s[span],
    })));
    return { rows, left_out: timeline.value.answer.left_out ?? 0, columns: ["rank", "stage", "stream", "group", "kind", "microbatch", "chunk", "layer", "start_s", "end_s"].map(member) };
}

/** @returns {import("../widgets/export.js").Data} */
export function placesData() {
    return { rows: ranks.value, columns: [...["rank", "node", "local_rank"].map(member),
        ...[...sizes.value.keys()].map((name) => ({ name, title: name, read: (/** @type {import("./sharding/cells.js").Place} */ { coordinates }) => coordinates[name] }))] };
}
