/** What a printed file says: its pages and its words, as far as this browser writes them (whole fonts, simple references). */
import { inflateSync } from 'node:zlib';

/** @param {string} hex  UTF-16 */
const textOf = (hex) => String.fromCharCode(...hex.match(/.{4}/g).map((unit) => parseInt(unit, 16)));

/** What each glyph of a font means. @param {string} map  as PostScript @returns {Map<number, string>} */
function glyphsOf(map) {
    const glyphs = new Map();
    for (const [, block] of map.matchAll(/beginbfchar\n(.*?)endbfchar/gs))
        for (const [, glyph, text] of block.matchAll(/<(\w+)> <(\w+)>/g))
            glyphs.set(parseInt(glyph, 16), textOf(text));
    for (const [, block] of map.matchAll(/beginbfrange\n(.*?)endbfrange/gs)) {
        for (const [, from, to, text] of block.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g)) {
            for (let at = parseInt(from, 16); at <= parseInt(to, 16); at += 1)
                glyphs.set(at, String.fromCharCode(parseInt(text, 16) + at - parseInt(from, 16)));
        }
    }
    return glyphs;
}

/** @param {Buffer} bytes @returns {{pages: number, width: number, height: number, words: string}} size in points; words: without white space, in the order of painting */
export function readPdf(bytes) {
    const file = bytes.toString('latin1');
    const objects = new Map([...file.matchAll(/(\d+) 0 obj\n(.*?)endobj/gs)].map(([, number, text]) => [number, text]));
    const streamOf = (number) => {
        const packed = objects.get(number).match(/stream\n(.*?)\nendstream/s)[1];
        return inflateSync(Buffer.from(packed, 'latin1')).toString('latin1');
    };
    const pages = [...objects.values()].filter((text) => /\/Type \/Page\b(?!s)/.test(text));
    let words = '';
    for (const page of pages) {
        const fonts = new Map([...page.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name, number]) =>
            [name, glyphsOf(streamOf(objects.get(number).match(/\/ToUnicode (\d+) 0 R/)[1]))]));
        let glyphs = new Map();
        const operations = streamOf(page.match(/\/Contents (\d+) 0 R/)[1]).matchAll(/\/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>/g);
        for (const [, font, hex] of operations) {
            if (font !== undefined)
                glyphs = fonts.get(font);
            else
                words += (hex.match(/.{4}/g) ?? []).map((unit) => glyphs.get(parseInt(unit, 16)) ?? '').join('');
        }
    }
    const [, , width, height] = file.match(/\/MediaBox \[([\d. ]+)\]/)[1].split(' ').map(Number);
    return { pages: pages.length, width, height, words: words.normalize('NFKC').replace(/\s+/g, '') };
}
