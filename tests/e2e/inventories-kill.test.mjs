/**
 * Whatever is killed, and when: no write that was acknowledged is lost, and none is there by half.
 * SHARDLINE_TEST_KILLS sets how often the server is killed (25); the database, which waits for the
 * machine to clear away its processes before it starts again, two for every five of these.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inventory } from './lib/fixtures.mjs';
import { send } from './lib/http.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { startServer } from './lib/server.mjs';

const KILLS = Number(process.env.SHARDLINE_TEST_KILLS ?? 25);
const SLUGS = ['one', 'two', 'three'];
const base = '/api/v1/inventories';

/** Writes as fast as it can to wherever the server is, and notes what it was promised. */
class Writer {
    constructor(slug) {
        this.slug = slug;
        this.promised = new Map(); // revision -> nodes, 0 of a delete
        this.deleted = new Set();
        this.sent = 0;
    }

    async write(url) {
        this.sent++;
        const path = `${base}/${this.slug}`;
        const headers = { 'Content-Type': 'application/json', 'X-Request-Id': `w-${this.sent}` };
        if (this.sent % 10 === 0) {
            const { status, json } = await send(url, 'DELETE', path, { headers });
            if (status === 200)
                this.deleted.add(json.revision);
            return status;
        }
        const { status, json } = await send(url, 'PUT', path,
            { headers, body: JSON.stringify(inventory({ nodes: this.sent })) });
        if (status === 200 || status === 201)
            this.promised.set(json.revision, this.sent);
        return status;
    }

    /** Until told to stop; a broken connection is no answer, and thus no promise. */
    async run(state) {
        while (!state.stopped) {
            const status = await this.write(state.url).catch(() => 0);
            assert.ok([0, 200, 201, 404, 503, 504].includes(status), String(status));
            if (status === 0 || status >= 500)
                await new Promise((next) => setTimeout(next, 2));
        }
    }
}

/** Everything promised is there, and all that is there is whole. */
async function assertWhole(database, writers) {
    // Taken first: the writers go on while the database is asked.
    const taken = writers.map(({ slug, promised, deleted }) =>
        ({ slug, promised: new Map(promised), deleted: new Set(deleted) }));
    for (const { slug, promised, deleted } of taken) {
        const kept = new Map(JSON.parse(await database.query(`SELECT coalesce(json_agg(
            json_build_array(revision, spec -> 'pools' -> 0 -> 'nodes') ORDER BY revision), '[]')
            FROM inventory_revisions WHERE slug = '${slug}'`)));
        for (const [revision, nodes] of promised)
            assert.equal(kept.get(revision), nodes, `revision ${revision} of ${slug}`);
        assert.deepEqual([...kept.keys()], Array.from({ length: kept.size }, (_, i) => i + 1));
        const gone = new Set(JSON.parse(await database.query(`SELECT coalesce(json_agg(revision),
            '[]') FROM inventory_audit WHERE slug = '${slug}' AND action = 'delete'`)));
        for (const revision of deleted)
            assert.ok(gone.has(revision), `delete of revision ${revision} of ${slug}`);
    }
    assert.equal(await database.query(`SELECT count(*) FROM inventory_revisions r
        WHERE (SELECT count(*) FROM inventory_audit a WHERE a.slug = r.slug
            AND a.revision = r.revision AND a.action = 'put') <> 1`), '0', 'a write each');
    assert.equal(await database.query(`SELECT count(*) FROM inventories i
        LEFT JOIN inventory_revisions r USING (slug, revision)
        WHERE r.slug IS NULL OR r.spec::text <> i.spec::text OR i.revision <>
            (SELECT max(revision) FROM inventory_revisions m WHERE m.slug = i.slug)`), '0',
        'the last revision is current');
    assert.equal(await database.query(`SELECT count(*) FROM inventories i
        WHERE (deleted_at IS NOT NULL) <> EXISTS (SELECT FROM inventory_audit a
            WHERE a.slug = i.slug AND a.revision = i.revision AND a.action = 'delete')`), '0',
        'what is deleted was deleted');
}

const promises = (writers) => writers.reduce((sum, { promised, deleted }) =>
    sum + promised.size + deleted.size, 0);

/** Kills that often while clients write, each at another moment, and looks each fifth time. */
async function killAll(t, database, state, kills, kill) {
    const writers = SLUGS.map((slug) => new Writer(slug));
    const running = writers.map((writer) => writer.run(state));
    try {
        for (let i = 1; i <= kills; i++) {
            const before = promises(writers);
            while (promises(writers) < before + 5)
                await new Promise((next) => setTimeout(next, 5));
            await new Promise((next) => setTimeout(next, (i * 7) % 23));
            await kill();
            if (i % 5 === 0)
                await assertWhole(database, writers);
        }
    } finally {
        state.stopped = true;
        await Promise.all(running);
    }
    await assertWhole(database, writers);
    t.diagnostic(`${kills} kills, ${promises(writers)} acknowledged writes`);
    assert.ok(promises(writers) >= kills * 5);
}

test('killing the server loses nothing that it acknowledged', async (t) => {
    const database = await startPostgres();
    t.after(() => database.stop());
    let server = await startServer({ database });
    t.after(() => server.stop());
    const state = { url: server.url, stopped: false };
    await killAll(t, database, state, KILLS, async () => {
        server.signal('SIGKILL');
        await server.stop();
        server = await startServer({ database });
        state.url = server.url;
    });
});

test('killing the database loses nothing that was acknowledged', async (t) => {
    // A crash of the postmaster, which leaves the kernel's pages: what fsync adds is for power cuts.
    const database = await startPostgres();
    t.after(() => database.stop());
    const server = await startServer({ database });
    t.after(() => server.stop());
    const state = { url: server.url, stopped: false };
    await killAll(t, database, state, Math.ceil(KILLS * 2 / 5), async () => {
        await database.kill();
        await database.start();
    });
});
