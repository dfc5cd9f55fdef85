/**
 * The reverse proxy with the repository's own Caddyfile, adapted by environment variables alone.
 *
 *     const proxy = await startCaddy(['127.0.0.1:4711', '127.0.0.1:4712']);
 *     proxy.url; proxy.log(); await proxy.stop()
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { send } from './http.mjs';
import { ownPort } from './ports.mjs';
import { Process, cleanEnvironment, eventually, run } from './processes.mjs';

const caddyfile = fileURLToPath(new URL('../../../docker/Caddyfile', import.meta.url));
const config = ['--config', caddyfile, '--adapter', 'caddyfile'];

/** What the file means with these variables: its handlers and where they listen. */
export async function adaptCaddyfile(env = {}) {
    const { code, stdout, stderr } = await run('caddy', ['adapt', ...config],
        { env: cleanEnvironment(env) });
    if (code !== 0)
        throw new Error(`caddy adapt ended with ${code}\n${stderr}`);
    const { srv0: site } = JSON.parse(stdout).apps.http.servers;
    const [{ match, handle }] = site.routes;
    const flat = handle.flatMap((handler) => handler.handler === 'subroute'
        ? handler.routes.flatMap((route) => route.handle) : [handler]);
    const named = (name) => flat.find(({ handler }) => handler === name);
    return {
        proxy: named('reverse_proxy'),
        bodyMaxBytes: named('request_body').max_size,
        addresses: site.listen,
        hosts: match?.[0].host,
    };
}

/** `upstreams`: addresses, or the whole of what the file has in their place. */
export async function startCaddy(upstreams) {
    const folder = await mkdtemp(join(tmpdir(), 'slcaddy-'));
    const port = await ownPort(); /* it does not say which one it found by itself */
    const child = new Process('caddy', ['run', ...config], {
        env: cleanEnvironment({
            HOME: folder,
            XDG_CONFIG_HOME: folder,
            XDG_DATA_HOME: folder,
            SHARDLINE_PROXY_ADMIN: 'off',
            SHARDLINE_SITE: `http://:${port}`,
            SHARDLINE_UPSTREAMS: typeof upstreams === 'string' ? upstreams
                : `to ${upstreams.join(' ')}`,
        }),
    });
    const url = `http://127.0.0.1:${port}`;
    const stop = async () => {
        if (child.exit === null)
            child.signal('SIGTERM');
        try {
            return await child.ended();
        } finally {
            await rm(folder, { recursive: true, force: true });
        }
    };
    try {
        await eventually(() => child.exit !== null || send(url, 'GET', '/healthz')
            .then(() => true, () => false), 'the proxy listens');
        if (child.exit !== null)
            throw new Error(`the proxy ended\n${child.log()}`);
    } catch (error) {
        await stop();
        throw error;
    }
    return { url, log: () => child.log(), stop };
}
