/**
 * Ports that stay free while nobody listens on them: for a server that is started again where it was, and for one
 * that cannot say which port it found.
 */
import { createServer } from 'node:net';

/** Below those that the kernel gives to whoever asks for any, be it a client of another test. */
const FIRST = 20_000;
const COUNT = 12_000;

/** Processes of tests that run beside each other begin apart. */
const APART = 16;
let last = process.pid * APART % COUNT;

const isFree = (port) => new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
});

/** One of 127.0.0.1 that this process has not had yet. */
export async function ownPort() {
    do
        last = (last + 1) % COUNT;
    while (!await isFree(FIRST + last));
    return FIRST + last;
}
