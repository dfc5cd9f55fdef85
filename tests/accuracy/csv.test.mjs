/** Tables as other people write them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTable } from './lib/csv.mjs';

test('quoted commas, doubled quotes and quoted line ends are part of a field', () => {
    assert.deepEqual(readTable('a,b\n"1, 2","say ""x""\nagain"\n'),
        [{ a: '1, 2', b: 'say "x"\nagain' }]);
});

test('CRLF, a byte-order mark, blank lines and a missing last line end change nothing', () => {
    const rows = [{ a: '1', b: '2' }, { a: '3', b: '' }];
    assert.deepEqual(readTable('a,b\n1,2\n3,\n'), rows);
    assert.deepEqual(readTable('\uFEFFa,b\r\n1,2\r\n\r\n3,'), rows);
    assert.deepEqual(readTable('a , b\n 1, "2" \n,\n3'), rows);
});

test('an empty file has no rows', () => {
    assert.deepEqual(readTable(''), []);
    assert.deepEqual(readTable('a,b\n'), []);
});
