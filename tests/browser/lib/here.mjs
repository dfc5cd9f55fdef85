/** One browser and one server for all tests of the file that imports them; they are there from the first test on. */
import { after, before } from 'node:test';
import { startServer, stopClean } from '../../e2e/lib/server.mjs';
import { launch } from './browser.mjs';

/** @type {import('playwright-core').Browser} */
export let browser;

/** @type {any} */
export let server;

before(async () => {
    [browser, server] = await Promise.all([launch(), startServer()]);
});
after(async () => {
    await browser?.close();
    if (server)
        await stopClean(server);
});
