import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { startPostgres } from './lib/postgres.mjs';

test('a throwaway cluster comes and goes', async (t) => {
    const database = await startPostgres();
    t.after(() => database.stop());

    await t.test('it is UTF-8 in a locale that does not depend on the machine', async () => {
        assert.equal(await database.query('SHOW server_encoding'), 'UTF8');
        assert.equal(await database.query(
            'SELECT datcollate FROM pg_database WHERE datname = current_database()'), 'C.UTF-8');
    });
    await t.test('it has no port', async () => {
        assert.equal(await database.query('SHOW listen_addresses'), '');
    });
    await t.test('it keeps what was committed when it is killed', async () => {
        await database.query('CREATE TABLE kept (n integer); INSERT INTO kept VALUES (7)');
        await database.kill();
        await assert.rejects(database.query('SELECT 1'));
        await database.start();
        assert.equal(await database.query('SELECT n FROM kept'), '7');
    });
    await t.test('it leaves nothing behind', async () => {
        await database.stop();
        assert.equal(existsSync(database.folder), false);
    });
});
