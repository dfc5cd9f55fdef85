/** What the two figures share: hatching, swatches, round ticks. */
import { html } from "../html.js";

/** In the order in which figures take them. */
export const TONES = ["blue", "sky", "green", "yellow", "orange", "vermillion", "purple", "ink"];

/** Definitions of the hatches, rendered once for the page: references reach across figures. */
export function Hatches() {
    return html`
        <svg class="defs" width="0" height="0" aria-hidden="true">
            <defs>${[...TONES, "grey"].map((tone) => html`
                <pattern key=${tone} id="hatch-${tone}" width="7" height="7" patternUnits="userSpaceOnUse"
                         patternTransform="rotate(45)">
                    <rect width="7" height="7" class="hatch-ground tone-${tone}" />
                    <rect width="2.6" height="7" class="hatch-line" />
                </pattern>`)}
                <pattern id="hatch-deficit" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
                    <rect width="2" height="6" class="deficit-line" />
                </pattern>
            </defs>
        </svg>`;
}

/** @param {{tone: string, hatched?: boolean}} props */
export function Swatch({ tone, hatched = false }) {
    return html`
        <svg class="swatch" width="12" height="12" aria-hidden="true">
            <rect x="0.5" y="0.5" width="11" height="11" rx="2" class="bar tone-${tone}"
                  ...${hatched ? { fill: `url(#hatch-${tone})` } : {}} />
        </svg>`;
}

/**
 * Round positions from zero, about `wanted` of them, none beyond the end.
 * @param {number} end @param {number} wanted @returns {number[]}
 */
export function ticks(end, wanted) {
    if (!(end > 0)) return [0];
    const rough = end / wanted;
    const magnitude = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((size) => size >= rough);
    const positions = [];
    for (let at = 0; at <= end * (1 + 1e-9) && positions.length <= 2 * wanted; at += step) positions.push(at);
    return positions;
}

/** A position as an SVG percentage, rounded so that a rendering is stable. @param {number} ratio */
export function share(ratio) {
    return `${(ratio * 100).toFixed(3)}%`;
}
