/**
 * A part of the page as one SVG drawing: texts where they stand, drawings with the styles they have, canvases as
 * pictures. What only serves the hand (buttons, fields, hints) is left out, and the room it took.
 *
 * @typedef {{top: number, bottom: number, right: number, text: string}} Part  in pixels from the corner of the panel
 */

const SVG = "http://www.w3.org/2000/svg";
const LEFT_OUT = "button:not(.num):not(.link), input, select, label, details, .export, .transport, .hint, .tip, .scroll-hint, .more, .visually-hidden, .popover";
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family",
    "font-size", "font-weight", "text-anchor", "paint-order", "vector-effect", "display"];
const EDGE_PX = 16;

/** Of the lines at the foot. */
const SIGN_PX = 6.1;

/** Rows of nothing higher than this are made as high. */
const GAP_PX = 14;

/** @param {string} text */
export const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const number = (value) => String(Math.round(value * 100) / 100);

/** @param {Element} from @param {Element} to  its copy */
function inline(from, to) {
    const style = getComputedStyle(from);
    for (const name of STYLES) {
        const value = style.getPropertyValue(name);
        if (value !== "") to.setAttribute(name, value);
    }
    for (const { name } of [...to.attributes]) if (name === "class" || name.startsWith("data-") || name.startsWith("aria-")) to.removeAttribute(name);
    [...from.children].forEach((child, at) => inline(child, to.children[at]));
}

/** @param {Element} element @returns {Element} */
function styledCopy(element) {
    const copy = /** @type {Element} */ (element.cloneNode(true));
    inline(element, copy);
    return copy;
}

/** @param {Element} element */
function written(element) {
    return new XMLSerializer().serializeToString(element).replaceAll("url(&quot;#", "url(#").replaceAll("&quot;)", ")");
}

const ruler = document.createElement("canvas").getContext("2d");

/** The words of a text that stand in one line each. @param {Text} node @returns {{rect: DOMRect, text: string}[]} */
function linesOf(node) {
    const range = document.createRange();
    const lines = [];
    for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const rect = range.getBoundingClientRect();
        const last = lines.at(-1);
        if (last && Math.abs(last.rect.top - rect.top) < 2) last.text += ` ${word}`;
        else lines.push({ rect, text: word });
    }
    return lines.filter(({ rect }) => rect.width > 0);
}

/** @param {Text} node @param {DOMRect} frame @returns {Part[]} */
function textParts(node, frame) {
    const style = getComputedStyle(node.parentElement);
    ruler.font = style.font;
    const shown = style.textTransform === "uppercase" ? (text) => text.toUpperCase() : (text) => text;
    return linesOf(node).map(({ rect, text }) => {
        const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = ruler.measureText(text);
        const y = rect.top - frame.top + (rect.height - up - down) / 2 + up;
        return { top: rect.top - frame.top, bottom: rect.bottom - frame.top, right: rect.right - frame.left, text: `<text x="${number(rect.left - frame.left)}" y="${number(y)}" `
            + `fill="${style.color}" font-family="${escaped(style.fontFamily)}" font-size="${style.fontSize}" font-weight="${style.fontWeight}">${escaped(shown(text))}</text>` };
    });
}

/** @param {Element} element @param {DOMRect} frame @returns {Part[]} */
function boxParts(element, frame) {
    const style = getComputedStyle(element);
    const rect = element.getBoundingClientRect();
    const at = { top: rect.top - frame.top, bottom: rect.bottom - frame.top, right: rect.right - frame.left };
    const box = `x="${number(rect.left - frame.left)}" y="${number(at.top)}" width="${number(rect.width)}"`;
    const parts = [];
    if (!/^rgba\(.* 0\)$|^transparent$/.test(style.backgroundColor)) {
        parts.push({ ...at, text: `<rect ${box} height="${number(rect.height)}" fill="${style.backgroundColor}"/>` });
    }
    for (const [side, edge] of [["Top", at.top], ["Left", null]]) {
        const width = parseFloat(style[`border${side}Width`]);
        if (!(width > 0) || style[`border${side}Style`] === "none") continue;
        const [x2, y2] = edge === null ? [rect.left, rect.bottom] : [rect.right, rect.top];
        parts.push({ ...at, ...(edge === null ? {} : { bottom: at.top }), text: `<line x1="${number(rect.left - frame.left)}" y1="${number(at.top)}" x2="${number(x2 - frame.left)}" `
            + `y2="${number(y2 - frame.top)}" stroke="${style[`border${side}Color`]}" stroke-width="${width}"/>` });
    }
    return parts;
}

/** @param {Element} element @param {DOMRect} frame @returns {Part} */
function pictureParts(element, frame) {
    const rect = element.getBoundingClientRect();
    const place = { x: number(rect.left - frame.left), y: number(rect.top - frame.top), width: number(rect.width), height: number(rect.height) };
    const at = { top: rect.top - frame.top, bottom: rect.bottom - frame.top, right: rect.right - frame.left };
    if (element instanceof HTMLCanvasElement) {
        const href = element.width > 0 && element.height > 0 ? element.toDataURL("image/png") : "";
        return { ...at, text: href === "" ? "" : `<image ${Object.entries(place).map(([name, value]) => `${name}="${value}"`).join(" ")} href="${href}"/>` };
    }
    const copy = styledCopy(element);
    for (const [name, value] of Object.entries(place)) copy.setAttribute(name, value);
    copy.setAttribute("overflow", "visible");
    return { ...at, text: written(copy) };
}

/** @param {Node} node @param {DOMRect} frame @param {Part[]} into */
function walk(node, frame, into) {
    if (node instanceof Text) {
        into.push(...textParts(node, frame));
        return;
    }
    if (!(node instanceof Element) || node.matches(LEFT_OUT)) return;
    const { display, visibility } = getComputedStyle(node);
    if (display === "none" || visibility === "hidden") return;
    if (node instanceof HTMLCanvasElement || node instanceof SVGSVGElement) {
        into.push(pictureParts(node, frame));
        return;
    }
    into.push(...boxParts(node, frame));
    node.childNodes.forEach((child) => walk(child, frame, into));
}

/** What a drawing refers to of the rest of the page: hatches. @param {string} drawing */
function definitions(drawing) {
    const names = new Set([...drawing.matchAll(/url\(#([\w-]+)\)/g)].map(([, name]) => name));
    const found = [...names].map((name) => document.getElementById(name)).filter((element) => element !== null);
    return found.map((element) => written(styledCopy(element))).join("");
}

/** How far what begins at a height moves up, once rows of nothing are closed. @param {Part[]} parts */
function closing(parts) {
    const moves = [];
    let end = 0;
    let moved = 0;
    for (const { top, bottom } of [...parts].sort((a, b) => a.top - b.top)) {
        if (top - end > GAP_PX) {
            moved += top - end - GAP_PX;
            moves.push({ from: top, moved });
        }
        end = Math.max(end, bottom);
    }
    return { end: end - moved, at: (top) => moves.findLast(({ from }) => from <= top)?.moved ?? 0 };
}

/**
 * @param {Element} panel  the figure, with its title and its key
 * @param {(signs: number) => string[]} footOf  lines beneath it, of so many signs
 * @returns {{text: string, width: number, height: number}} a whole SVG document
 */
export function drawingOf(panel, footOf) {
    const frame = panel.getBoundingClientRect();
    /** @type {Part[]} */
    const parts = [];
    panel.childNodes.forEach((child) => walk(child, frame, parts));
    const { end, at } = closing(parts);
    const width = Math.ceil(Math.max(frame.width, ...parts.map(({ right }) => right + EDGE_PX)));
    const foot = footOf(Math.floor((width - 2 * EDGE_PX) / SIGN_PX));
    const height = Math.ceil(end + EDGE_PX + foot.length * 14 + EDGE_PX);
    const drawn = parts.map(({ top, text }) => (at(top) > 0 ? `<g transform="translate(0 ${number(-at(top))})">${text}</g>` : text)).join("\n");
    const style = getComputedStyle(panel);
    const lines = foot.map((line, row) => `<text x="${EDGE_PX}" y="${Math.ceil(end) + EDGE_PX + 10 + row * 14}" font-family="monospace" font-size="10" fill="${style.color}">${escaped(line)}</text>`);
    return { width, height, text: `<svg xmlns="${SVG}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n`
        + `<defs>${definitions(drawn)}</defs>\n<rect width="100%" height="100%" fill="${style.backgroundColor}"/>\n${drawn}\n${lines.join("\n")}\n</svg>\n` };
}
