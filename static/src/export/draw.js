/**
 * A part of the page as one SVG drawing: texts where they stand, drawings with the styles they have, canvases as
 * pictures. What only serves the hand (buttons, fields, hints) is left out by the style sheet, and the room it takes.
 *
 * @typedef {{frame: DOMRect, right: number, parts: string[]}} Sheet  right: how far the parts reach, from the left of the frame
 */

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family",
    "font-size", "font-weight", "text-anchor", "paint-order", "vector-effect", "display"];
const EDGE_PX = 16;

/** Of the lines at the foot. */
const SIGN_PX = 6.1;
const LINE_PX = 14;

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** @param {string} name @param {Record<string, string | number>} attributes @param {string} [content] */
function element(name, attributes, content = "") {
    /** @param {string | number} value */
    const write = (value) => (typeof value === "number" ? Math.round(value * 100) / 100 : escaped(value));
    return `<${name} ${Object.entries(attributes).map(([key, value]) => `${key}="${write(value)}"`).join(" ")}>${content}</${name}>`;
}

/** @param {Element} from @param {Element} to  its copy */
function inline(from, to) {
    const style = getComputedStyle(from);
    for (const { name } of [...to.attributes]) if (/^(class$|style$|data-|aria-)/.test(name)) to.removeAttribute(name);
    for (const name of STYLES) if (style.getPropertyValue(name) !== "") to.setAttribute(name, style.getPropertyValue(name));
    [...from.children].forEach((child, at) => inline(child, to.children[at]));
}

/** @param {Element} of @param {Record<string, any>} [attributes] */
function styledCopy(of, attributes = {}) {
    const copy = /** @type {Element} */ (of.cloneNode(true));
    inline(of, copy);
    for (const [name, value] of Object.entries(attributes)) copy.setAttribute(name, value);
    return new XMLSerializer().serializeToString(copy).replaceAll("url(&quot;#", "url(#").replaceAll("&quot;)", ")");
}

const ruler = document.createElement("canvas").getContext("2d");

/** The words of a text that stand in one line each. @param {Text} node @returns {{rect: DOMRect, text: string}[]} */
function linesOf(node) {
    const range = document.createRange();
    /** @type {{rect: DOMRect, text: string}[]} */
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

/** Where it stands on the sheet, which reaches as far. @param {Sheet} sheet @param {DOMRect} rect */
function placeOn(sheet, { left, top, right, width, height }) {
    sheet.right = Math.max(sheet.right, right - sheet.frame.left);
    return { x: left - sheet.frame.left, y: top - sheet.frame.top, width, height };
}

/** @param {Text} node @param {Sheet} sheet */
function drawText(node, sheet) {
    const style = getComputedStyle(node.parentElement);
    ruler.font = style.font;
    for (const { rect, text } of linesOf(node)) {
        const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = ruler.measureText(text);
        const { x, y } = placeOn(sheet, rect);
        sheet.parts.push(element("text", { x, y: y + (rect.height - up - down) / 2 + up, fill: style.color, "font-family": style.fontFamily,
            "font-size": style.fontSize, "font-weight": style.fontWeight }, escaped(style.textTransform === "uppercase" ? text.toUpperCase() : text)));
    }
}

/** The ground of a box and the lines above and left of it. @param {Element} node @param {Sheet} sheet */
function drawBox(node, sheet) {
    const style = getComputedStyle(node);
    const { x, y, width, height } = placeOn(sheet, node.getBoundingClientRect());
    if (!/^rgba.* 0\)$/.test(style.backgroundColor)) sheet.parts.push(element("rect", { x, y, width, height, fill: style.backgroundColor }));
    for (const [side, x2, y2] of [["top", x + width, y], ["left", x, y + height]]) {
        const line = parseFloat(style.getPropertyValue(`border-${side}-width`));
        if (line > 0) sheet.parts.push(element("line", { x1: x, y1: y, x2, y2, stroke: style.getPropertyValue(`border-${side}-color`), "stroke-width": line }));
    }
}

/** @param {Node} node @param {Sheet} sheet */
function draw(node, sheet) {
    if (node instanceof Text) drawText(node, sheet);
    if (!(node instanceof Element)) return;
    const { display, visibility } = getComputedStyle(node);
    if (display === "none" || visibility === "hidden") return;
    const place = () => placeOn(sheet, node.getBoundingClientRect());
    if (node instanceof HTMLCanvasElement) sheet.parts.push(element("image", { ...place(), href: node.toDataURL() }));
    else if (node instanceof SVGSVGElement) sheet.parts.push(styledCopy(node, { ...place(), overflow: "visible" }));
    else {
        drawBox(node, sheet);
        node.childNodes.forEach((child) => draw(child, sheet));
    }
}

/** What a drawing refers to of the rest of the page: hatches. @param {string} drawing */
function definitions(drawing) {
    const names = new Set([...drawing.matchAll(/url\(#([\w-]+)\)/g)].map(([, name]) => name));
    return [...names].map((name) => styledCopy(document.getElementById(name))).join("");
}

/** @param {Element} panel @returns {Sheet} as the style sheet has it for a drawing; the page is as before */
function sheetOf(panel) {
    const { scrollX, scrollY } = window;
    panel.classList.add("drawing");
    const frame = panel.getBoundingClientRect();
    /** @type {Sheet} */
    const sheet = { frame, right: 0, parts: [] };
    panel.childNodes.forEach((child) => draw(child, sheet));
    panel.classList.remove("drawing");
    window.scrollTo(scrollX, scrollY);
    return sheet;
}

/**
 * @param {Element} panel  the figure, with its title and its key
 * @param {(signs: number) => string[]} footOf  lines beneath it, of so many signs
 * @returns {{text: string, width: number, height: number}} a whole SVG document
 */
export function drawingOf(panel, footOf) {
    const { frame, right, parts } = sheetOf(panel);
    const width = Math.ceil(Math.max(frame.width, right + EDGE_PX));
    const foot = footOf(Math.floor((width - 2 * EDGE_PX) / SIGN_PX));
    const end = Math.ceil(frame.height);
    const height = end + foot.length * LINE_PX + EDGE_PX;
    const drawn = parts.join("\n");
    const { color, backgroundColor } = getComputedStyle(panel);
    const lines = foot.map((line, row) => element("text",
        { x: EDGE_PX, y: end + 10 + row * LINE_PX, "font-family": "monospace", "font-size": 10, fill: color }, escaped(line)));
    return { width, height, text: element("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
        `<defs>${definitions(drawn)}</defs>${element("rect", { width: "100%", height: "100%", fill: backgroundColor })}\n${drawn}\n${lines.join("\n")}`) };
}
