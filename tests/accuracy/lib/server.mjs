/** The release server, by itself: loopback, a free port, no database, no Hub. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startServer as start } from '../../e2e/lib/server.mjs';

export const release = fileURLToPath(new URL('../../../build/release/shardlined', import.meta.url));

/** Runs `work(url)` with a server that ends with it, whatever happens. */
export async function withServer(work) {
    if (!existsSync(release))
        throw new Error('build the server first: ./tests/accuracy/run does');
    // Predictions are compared to the last digits: only ever those of one build.
    const server = await start({ program: release });
    try {
        return await work(server.url);
    } finally {
        await server.stop();
    }
}
