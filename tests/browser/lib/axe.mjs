/** axe-core, brought in through the debugger: a script element would break the page's own policy. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { atRest } from './browser.mjs';

/** What it finds is named by its place: the HTML of everything that it looked at is not written out. */
const source = `${await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')}
globalThis.axe.configure({ noHtml: true });`;
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A region that came to scroll sideways says so, and takes the keyboard, a frame after its size changed. */
const regionsHaveLooked = (page) => page.waitForFunction(() => [...document.querySelectorAll('.scroll')]
    .every((region) => !region.checkVisibility()
        || region.dataset.over === String(region.scrollWidth > region.clientWidth + 1)));

/** Asserts that axe-core finds nothing on the page as it is. */
export async function expectAccessible(page, what) {
    await regionsHaveLooked(page);
    await atRest(page);
    if (await page.evaluate(() => !globalThis.axe)) /* once a page: it is half a megabyte of script */
        await page.evaluate(source);
    const found = await page.evaluate(async (tags) => {
        const { violations } = await globalThis.axe.run(document,
            { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] });
        return violations.map(({ id, help, nodes }) =>
            `${id}: ${help}\n${nodes.map((node) => `  ${node.target} ${node.failureSummary}`).join('\n')}`);
    }, TAGS);
    assert.deepEqual(found, [], `axe-core finds nothing: ${what}`);
}
