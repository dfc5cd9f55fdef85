/** Which layers a stage works on at the cursor, as far as the spans say: passes of layers do, passes of chunks do not. */
import { table_s } from "../cursor.js";
import { detailRows } from "../timeline/detail.js";
import { spanAt } from "../timeline/rows.js";
import { shown } from "../timeline/shown.js";

/** @param {import("./cells.js").Place | null} place @returns {Set<number>} computed on, gathered or reduced */
export function layersNow(place) {
    if (place === null || shown.value === null) return new Set();
    const stage = place.coordinates.pipeline;
    const rows = [...shown.value.rowsOfStage.get(stage) ?? [], ...detailRows.value.filter((row) => row.stage === stage)];
    return new Set(rows.flatMap((row) => {
        const span = spanAt(row, table_s.value);
        return span >= 0 && row.layer[span] >= 0 ? [row.layer[span]] : [];
    }));
}
