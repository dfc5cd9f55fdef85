/** A server of one file of tests, without storage and Hub, and the client that asks it. */
import { after } from 'node:test';
import { connectTo } from './http.mjs';
import { startServer, stopClean } from './server.mjs';

/** @returns the client; the server ends, clean, after the last test of the file */
export async function clientOfFile() {
    const server = await startServer();
    after(() => stopClean(server));
    return connectTo(server);
}
