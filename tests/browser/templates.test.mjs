/** Sentences of the templates: htm drops the space at a line's end, so a sentence that goes on with a value must say it. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../e2e/lib/server.mjs';

const folder = join(root, 'static/src');

/** A word or a mark at the end of a line, then a value or an element that stands in a sentence. */
const RUNS_ON = /[\w.,:;)>][,:;]\n\s*(?:\$\{(?!" "|`)|<(?:\$\{(?:Figure|Num|Age|Help)\}|b|a|code|kbd|span)[ >])|[a-z]\n\s*\$\{(?!" "|`)/g;

/** @param {string} text */
const faultsOf = (text) => [...text.matchAll(RUNS_ON)].map(({ index, 0: found }) =>
    `line ${text.slice(0, index).split('\n').length}: ${found.replace(/\s+/g, ' ')}`);

describe('sentences of the templates', () => {
    it('do not run into what follows on the next line', async () => {
        const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.js'));
        assert.ok(files.length > 100);
        const faults = await Promise.all(files.map(async (name) => faultsOf(await readFile(join(folder, name), 'utf8')).map((fault) => `${name} ${fault}`)));
        assert.deepEqual(faults.flat(), []);
    });

    it('would be found if they did', () => {
        assert.equal(faultsOf('<p>Not possible here:\n    ${names}</p>').length, 1);
        assert.equal(faultsOf('<p>goodput <${Figure} />,\n    <${Figure} /></p>').length, 1);
        assert.deepEqual(faultsOf('<p>Not possible here:\n    ${" "}${names}</p>'), []);
    });
});
