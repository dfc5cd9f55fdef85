/**
 * The real server, on a free port, with settings of its own.
 *
 *     const server = await startServer({ database: true, hub });
 *     server.url; server.log(); await server.stop() === 0
 *
 * database: true starts a throwaway cluster and stops it with the server; a cluster of
 * postgres.mjs is used and left running; a string is a libpq URL; false is none.
 * hub: a stand-in of tests/hub, or null for offline. program: another build than binary() picks.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Process, cleanEnvironment } from './processes.mjs';
import { startPostgres } from './postgres.mjs';

export const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

export function binary() {
    const candidates = [process.env.SHARDLINED, join(root, 'build/dev/shardlined'),
        join(root, 'build/release/shardlined')];
    const found = candidates.find((path) => path && existsSync(path));
    if (found === undefined)
        throw new Error('build the server first: cmake --preset dev && cmake --build --preset dev');
    return found;
}

export async function startServer({
    database = false, hub = null, env = {}, program = binary(),
} = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'slsrv-'));
    const owned = database === true ? await startPostgres() : null;
    const cluster = owned ?? (typeof database === 'object' ? database : null);
    const settings = {
        SHARDLINE_LISTEN: '127.0.0.1:0',
        SHARDLINE_CACHE_DIR: join(folder, 'cache'),
        SHARDLINE_STATIC_DIR: join(root, 'static/dist'),
        HOME: folder,
        HF_HOME: join(folder, 'huggingface'),
    };
    if (cluster !== null || typeof database === 'string')
        settings.SHARDLINE_DATABASE_URL = cluster?.url ?? database;
    if (hub !== null)
        settings.HF_ENDPOINT = hub.url;
    else
        settings.HF_HUB_OFFLINE = '1';

    const child = new Process(program, [], { env: cleanEnvironment({ ...settings, ...env }) });
    const release = async () => {
        await owned?.stop();
        await rm(folder, { recursive: true, force: true });
    };
    try {
        const url = (await child.firstLine()).trim().replace(/\/$/, '');
        return {
            url,
            pid: child.pid,
            database: cluster,
            log: () => child.log(),
            output: () => ({ stdout: child.stdout, stderr: child.stderr }),
            signal: (name) => child.signal(name),
            /** The exit code (or the signal's name), once it has ended by itself. */
            ended: () => child.ended(),
            /** Asks it to end and cleans up; its exit code. Fine to call twice. */
            async stop() {
                if (child.exit === null)
                    child.signal('SIGTERM');
                try {
                    return await child.ended();
                } finally {
                    await release();
                }
            },
        };
    } catch (error) {
        child.kill();
        await release();
        throw error;
    }
}

/** Stops the server; any end but a clean one (a leak, a sanitizer's finding) throws its log. */
export async function stopClean(server) {
    const code = await server.stop();
    if (code !== 0)
        throw new Error(`the server ended with ${code}\n${server.log()}`);
}
