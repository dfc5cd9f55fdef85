/** What both drawings share: sharp canvases, the colours of the theme, hatches, drawing once a frame. */
import { effect, untracked } from "@preact/signals";
import { printing, theme } from "../state/prefs.js";

/** Of words in a drawing. */
export const FONT = "11px system-ui, sans-serif";

/** More device pixels than this cost time and show nothing. */
const MOST_RATIO = 3;
const HATCH_PX = 6;

export function pixelRatio() {
    return Math.min(MOST_RATIO, window.devicePixelRatio || 1);
}

/**
 * Sized in CSS pixels, drawn in device pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 * @param {string} [ground]  a colour that fills it: a browser need not look what lies below
 * @returns {CanvasRenderingContext2D} cleared
 */
export function contextOf(canvas, width, height, ground) {
    const ratio = pixelRatio();
    const across = Math.round(width * ratio);
    const down = Math.round(height * ratio);
    if (canvas.width !== across || canvas.height !== down) {
        canvas.width = across;
        canvas.height = down;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d", { alpha: ground === undefined });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (ground === undefined) {
        context.clearRect(0, 0, width, height);
    } else {
        context.fillStyle = colour(ground);
        context.fillRect(0, 0, width, height);
    }
    return context;
}

/** @type {Map<string, string | CanvasPattern>} of the theme in brushTheme */
const brushes = new Map();
let brushTheme = "";

/** A colour of the style sheet as the theme has it now. @param {string} name  such as "line" @returns {string} */
export function colour(name) {
    if (brushTheme !== theme()) {
        brushTheme = theme();
        brushes.clear();
    }
    if (!brushes.has(name)) {
        brushes.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    }
    return /** @type {string} */ (brushes.get(name));
}

/** @param {string} tone @returns {CanvasPattern} */
function hatchOf(tone) {
    const tile = document.createElement("canvas");
    tile.width = HATCH_PX;
    tile.height = HATCH_PX;
    const context = tile.getContext("2d");
    context.fillStyle = colour(tone);
    context.fillRect(0, 0, HATCH_PX, HATCH_PX);
    context.strokeStyle = colour("hatch");
    context.lineWidth = 2;
    for (const shift of [-HATCH_PX, 0, HATCH_PX]) {
        context.beginPath();
        context.moveTo(shift - 1, HATCH_PX + 1);
        context.lineTo(shift + HATCH_PX + 1, -1);
        context.stroke();
    }
    return context.createPattern(tile, "repeat");
}

/** @param {{tone?: string, hatched?: boolean}} look */
export function brush({ tone, hatched }) {
    if (!hatched) return colour(tone);
    colour(tone); /* forgets the hatches of another theme */
    const key = `hatch of ${tone}`;
    if (!brushes.has(key)) brushes.set(key, hatchOf(tone));
    return brushes.get(key);
}

/** @param {string} hex  #rrggbb @returns {number[]} */
function partsOf(hex) {
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** Black or white, whichever reads better on the colour. @param {string} hex */
export function inkOn(hex) {
    const [red, green, blue] = partsOf(hex).map((part) => (part / 255) ** 2.2);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.2 ? "#000000" : "#ffffff";
}

/** @param {string} from @param {string} to @param {number} share  0 to 1 */
export function mixed(from, to, share) {
    const ends = partsOf(to);
    return `#${partsOf(from).map((part, at) =>
        Math.round(part + (ends[at] - part) * share).toString(16).padStart(2, "0")).join("")}`;
}

/**
 * A picture with a line for each row, for what would be a rectangle for each pixel column.
 *
 * @typedef {{image: ImageData, pixels: Uint32Array, carrier: HTMLCanvasElement}} Picture  carrier: what lays it over a drawing
 * @param {number} across @param {number} down @returns {Picture} transparent
 */
export function pictureOf(across, down) {
    const image = new ImageData(Math.max(1, across), Math.max(1, down));
    const carrier = document.createElement("canvas");
    carrier.width = image.width;
    carrier.height = image.height;
    return { image, pixels: new Uint32Array(image.data.buffer), carrier };
}

/** A colour as a picture holds it, on the machines there are: least significant byte first. @param {string} hex */
export function pixelOf(hex) {
    const [red, green, blue] = partsOf(hex);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * Lays each line of a picture over what is drawn, as high as its place: device pixels.
 * @param {CanvasRenderingContext2D} context @param {Picture} picture @param {number} left
 * @param {{top: number, height: number}[]} places  of the lines
 */
export function showLines(context, { image, carrier }, left, places) {
    carrier.getContext("2d").putImageData(image, 0, 0);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.imageSmoothingEnabled = false;
    places.forEach(({ top, height }, line) => {
        if (height > 0) context.drawImage(carrier, 0, line, image.width, 1, left, top, image.width, height);
    });
    context.restore();
}

/**
 * Draws in the next frame after anything that was read, or the theme, has changed: many reasons, one drawing a frame. A printer waits for none.
 * For useLayoutEffect: useEffect takes down after the frame, and that would draw on what has left the page.
 * @param {() => void} read @param {() => void} draw @returns {() => void} stops
 */
export function drawAfter(read, draw) {
    let frame = 0;
    const stop = effect(() => {
        theme();
        read();
        if (printing.value) untracked(draw);
        else frame ||= requestAnimationFrame(() => {
            frame = 0;
            draw();
        });
    });
    return () => {
        stop();
        cancelAnimationFrame(frame);
    };
}

/** The width of an element, now and whenever it changes. @param {HTMLElement} element @param {(width: number) => void} use */
export function followWidth(element, use) {
    const observer = new ResizeObserver(() => use(element.clientWidth));
    observer.observe(element);
    use(element.clientWidth);
    return () => observer.disconnect();
}
