/** What the comparison works out without a page: pins, rows of a table as text, differences. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pinOf, planOfPin, pinParts, pins, readPins, MOST_PINS } from '../../static/src/state/pins.js';
import { applyPatch, emptyPlan, requestOf } from '../../static/src/state/plan.js';
import { degreesOf, toldMembers } from '../../static/src/state/cut.js';
import { csvOf, directionOf, inOrder, nextSort, sorted, tsvOf } from '../../static/src/widgets/rows.js';

describe('a pin', () => {
    const plain = { ...emptyPlan(), hub: 'meta-llama/Llama-3.1-8B', tensor: 4, recompute: '', tokens: 0 };
    const odd = { ...emptyPlan(), hub: 'org/a;b:c=d&e%f+g', extra: { workload: { offload: { optimizer: 'cpu' }, label: 'a;b:c=1&x%20+' } } };

    /** Through the address and back. */
    const throughAddress = (plan) => {
        pins.value = [pinOf(plan)];
        const query = new URLSearchParams(`?${pinParts().join('&')}`);
        pins.value = [];
        readPins(query);
        return planOfPin(pins.value[0], null).plan;
    };

    it('is the plan again, whatever its settings hold', () => {
        for (const plan of [plain, odd])
            assert.deepEqual(throughAddress(plan), plan);
    });

    it('of a pasted config is that of the same config only', () => {
        const config = { model_type: 'llama', hidden_size: 64 };
        const pin = pinOf({ ...emptyPlan(), config });
        assert.deepEqual(planOfPin(pin, { ...config }), { plan: { ...emptyPlan(), config }, missing: false });
        assert.equal(planOfPin(pin, { ...config, hidden_size: 128 }).missing, true);
        assert.equal(planOfPin(pin, null).missing, true);
        assert.equal(planOfPin(pinOf(plain), config).plan.config, null);
    });

    it('stands in an address once, with no more than fit side by side', () => {
        readPins(new URLSearchParams('pin=a&pin=b&pin=a&pin=c&pin=d&pin=e'));
        assert.deepEqual(pins.value, ['a', 'b', 'c', 'd', 'e'].slice(0, MOST_PINS));
    });
});

describe('a cut', () => {
    it('is told with its chunks, and with sequence parallelism where there is something to split', () => {
        assert.deepEqual(degreesOf({ tensor: 8, sequence: true, pipeline: 4, virtual_pipeline: 2, data: 4 }), ['TP8', 'PP4', 'VPP2', 'DP4', 'SP']);
        assert.deepEqual(degreesOf({ tensor: 1, sequence: true }), []);
    });

    it('leaves unsaid what a request means without it', () => {
        const full = { tensor: 1, virtual_pipeline: 1, schedule: '1f1b', context: 1, expert: 1, expert_tensor: 1, data: 8, zero_stage: 3, shard_group: null };
        assert.deepEqual(toldMembers(full), { tensor: 1, virtual_pipeline: 1, zero_stage: 3 });
        assert.deepEqual(toldMembers({ tensor: 2, expert_tensor: 1, virtual_pipeline: 2, schedule: '1f1b' }),
            { tensor: 2, expert_tensor: 1, virtual_pipeline: 2, schedule: '1f1b' });
        const request = requestOf(applyPatch({ ...emptyPlan(), hub: 'a/b' }, { parallelism: toldMembers(full) }));
        assert.equal(request.parallelism.zero_stage, 3);
        assert.ok(!('schedule' in request.parallelism));
    });
});

describe('rows of a table', () => {
    const columns = [{ name: 'name', title: 'Name', first: 1, read: ({ name }) => name },
        { name: 'size', title: 'Size GiB', field: 'size_bytes', first: -1, read: ({ size }) => size }, { name: 'note', title: 'Note', read: ({ note }) => note }];
    const rows = [{ name: 'b', size: 2, note: 'a, "b"' }, { name: 'a', size: null, note: 'two\nlines' }, { name: 'c', size: 3, note: { x: 1 } }];

    it('are sorted either way, what has no value last', () => {
        const values = [3, null, 1, 2].map((value) => ({ value }));
        assert.deepEqual(sorted(values, (row) => row.value, 1).map(({ value }) => value), [1, 2, 3, null]);
        assert.deepEqual(sorted(values, (row) => row.value, -1).map(({ value }) => value), [3, 2, 1, null]);
        assert.deepEqual(inOrder(rows, columns, '-size').map(({ name }) => name), ['c', 'b', 'a']);
        assert.deepEqual(inOrder(rows, columns, 'name').map(({ name }) => name), ['a', 'b', 'c']);
        for (const sort of ['', 'note', 'magic'])
            assert.equal(inOrder(rows, columns, sort), rows);
    });

    it('have three states of sorting, the better end first', () => {
        const [name, size] = columns;
        assert.deepEqual(['', 'name', '-name'].map((sort) => nextSort(name, sort)), ['name', '-name', '']);
        assert.deepEqual(['', '-size', 'size', 'other'].map((sort) => nextSort(size, sort)), ['-size', 'size', '', '-size']);
        assert.deepEqual(['size', '-size', 'name'].map((sort) => directionOf(sort, 'size')), [1, -1, 0]);
    });

    it('go to spreadsheets with every digit and the unit of what is read', () => {
        assert.equal(tsvOf(rows, columns), 'Name\tsize_bytes\tNote\nb\t2\ta, "b"\na\t\ttwo lines\nc\t3\t{"x":1}');
        assert.equal(csvOf(rows, columns), 'Name,size_bytes,Note\r\nb,2,"a, ""b"""\r\na,,"two\nlines"\r\nc,3,"{""x"":1}"\r\n');
    });
});
