/** The files of a figure. */
import { answer, settleAddress } from "../state/store.js";
import { csvOf } from "../widgets/rows.js";
import { save } from "../widgets/save.js";
import { drawingOf } from "./draw.js";
import { known } from "../widgets/words.js";

/** @typedef {import("../widgets/export.js").Data} Data */
/** @typedef {import("../widgets/export.js").Format} Format */

const SCALE = 2;

/** Canvases beyond this are empty in some browsers. */
const MOST_PX = 16_384;
const MOST_SIGNS = 900;

/** What the figure can be traced back to. */
function origin() {
    const { engine_version, catalog_revision, input_hash } = answer.value.estimate ?? {};
    return { engine_version, catalog_revision, input_hash };
}

/** The link of the page in lines; one that holds a whole config.json is told without it. @param {number} signs  of a line */
function footLines(signs) {
    const { engine_version, catalog_revision, input_hash } = origin();
    const whole = location.href.length <= MOST_SIGNS;
    const link = whole ? location.href : location.href.split("#")[0].slice(0, MOST_SIGNS);
    const lines = link.match(new RegExp(`.{1,${Math.max(20, signs)}}`, "g")) ?? [];
    const facts = [`Shardline`, engine_version && `engine ${engine_version}`, catalog_revision && `catalogue ${catalog_revision}`,
        input_hash && `input ${input_hash.slice(0, 12)}`].filter(Boolean).join(", ");
    return [facts, ...lines, ...(whole ? [] : [known("help", "long_link")])];
}

/** @param {{text: string, width: number, height: number}} drawing @returns {Promise<Blob>} */
async function pictureOf({ text, width, height }) {
    const scale = Math.min(SCALE, MOST_PX / Math.max(width, height));
    const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    try {
        const image = new Image(width, height);
        image.src = url;
        await image.decode();
        const canvas = document.createElement("canvas");
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        return await new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png"));
    } finally {
        URL.revokeObjectURL(url);
    }
}

/** @param {string} title @param {Data} data */
function jsonOf(title, { rows, columns, left_out = 0 }) {
    /** @param {any} row */
    const read = (row) => Object.fromEntries(columns.map((column) => [column.name, column.read(row) ?? null]));
    return `${JSON.stringify({ title, link: location.href, ...origin(), left_out, rows: rows.map(read) }, null, 2)}\n`;
}

/** @param {Element} panel @param {{name: string, title: string, format: Format, data: Data}} of */
export async function write(panel, { name, title, format, data }) {
    settleAddress();
    /* A part must not pass for the whole where it is opened next. */
    const file = `shardline-${name}${data.left_out > 0 ? "-in-part" : ""}.${format}`;
    if (format === "csv") save(csvOf(data.rows, data.columns), "text/csv", file);
    else if (format === "json") save(jsonOf(title, data), "application/json", file);
    else {
        const drawing = drawingOf(panel, footLines);
        if (format === "svg") save(drawing.text, "image/svg+xml", file);
        else save(await pictureOf(drawing), "image/png", file);
    }
}
