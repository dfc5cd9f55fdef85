/**
 * What a search that uses every core costs whoever asks for an estimate meanwhile, by hand and never by
 * the suite: npm ci in tests/e2e, build release, then
 *
 *     SHARDLINED=build/release/shardlined node tests/bench/search_latency.mjs [seconds]
 *
 * Connections ask one after the other, each for the next estimate when its last was answered, or at a rate
 * that leaves the cores time of their own. Times are the client's, which shares the cores with the server,
 * and those of the server's log.
 */
import http from 'node:http';
import { endlessSearch, estimate } from '../e2e/lib/fixtures.mjs';
import { startServer } from '../e2e/lib/server.mjs';

const CONNECTIONS = 32;
const RATE_PER_S = 500;
const seconds = Number(process.argv[2] ?? 5);
const headers = { 'Content-Type': 'application/json' };

function quantiles(times) {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return { median: at(0.5), p99: at(0.99), most: sorted.at(-1) };
}

const show = ({ median, p99, most }) => `median ${median.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms,`
    + ` most ${most.toFixed(1)} ms`;

function once(url, agent, path, body) {
    const { hostname, port } = new URL(url);
    return new Promise((done, fail) => {
        const request = http.request({ hostname, port, method: 'POST', path, headers, agent },
            (response) => {
                response.resume();
                response.on('end', done);
            });
        request.on('error', fail);
        request.end(body);
    });
}

/** Milliseconds of each estimate, asked on all connections for some seconds. */
async function ask(server, ratePerS) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const body = JSON.stringify(estimate());
    const times = [];
    const end = performance.now() + seconds * 1000;
    await Promise.all(Array.from({ length: CONNECTIONS }, async (_, i) => {
        const pause = ratePerS === 0 ? 0 : CONNECTIONS * 1000 / ratePerS;
        let due = performance.now() + pause * i / CONNECTIONS;
        while (performance.now() < end) {
            if (pause > 0)
                await new Promise((next) => setTimeout(next, Math.max(0, due - performance.now())));
            due += pause;
            const start = performance.now();
            await once(server.url, agent, '/api/v1/estimates', body);
            times.push(performance.now() - start);
        }
    }));
    agent.destroy();
    return times;
}

/** The same, with what the server's log says of them. */
async function measure(server, ratePerS) {
    const seen = server.output().stderr.length;
    const client = await ask(server, ratePerS);
    await new Promise((next) => setTimeout(next, 300));
    const own = server.output().stderr.slice(seen).split('\n')
        .filter((line) => line.includes('"route":"/api/v1/estimates"'))
        .map((line) => JSON.parse(line).duration_s * 1000);
    return { perS: client.length / seconds, client: quantiles(client), server: quantiles(own) };
}

/** A search beside the measurement, and how much of the machine it got. */
function search(server) {
    const body = JSON.stringify(endlessSearch());
    const { hostname, port } = new URL(server.url);
    const state = { data: {} };
    const sent = http.request({ hostname, port, method: 'POST', path: '/api/v1/searches',
        headers: { ...headers, Accept: 'application/x-ndjson' }, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
            text += chunk;
            const end = text.lastIndexOf('\n');
            const start = text.lastIndexOf('\n', end - 1);
            if (end >= 0)
                state.data = JSON.parse(text.slice(start + 1, end)).data;
            text = text.slice(end + 1);
        });
    });
    sent.on('error', () => {});
    sent.end(body);
    return Object.assign(state, { stop: () => sent.destroy() });
}

const server = await startServer();
await ask(server, 0);
for (const [what, rate] of [['as many as go', 0], [`${RATE_PER_S} a second`, RATE_PER_S]]) {
    const alone = await measure(server, rate);
    const running = search(server);
    await new Promise((next) => setTimeout(next, 1000));
    const before = running.data.units_done;
    if (before === undefined)
        throw new Error('the search does not run');
    const beside = await measure(server, rate);
    const units = running.data.units_done - before;
    if (units === 0)
        throw new Error('the search did not outlive the measurement');
    running.stop();
    await new Promise((next) => setTimeout(next, 500));
    console.log(`${CONNECTIONS} connections, ${what}`);
    for (const [name, { perS, client, server: own }] of Object.entries({ alone, beside })) {
        console.log(`  ${name.padEnd(7)} ${perS.toFixed(0)} a second`);
        console.log(`    client ${show(client)}\n    server ${show(own)}`);
    }
    console.log(`  p99 beside a search / alone: client `
        + `${(beside.client.p99 / alone.client.p99).toFixed(2)}, server `
        + `${(beside.server.p99 / alone.server.p99).toFixed(2)}; the search did ${units} units`);
}
await server.stop();
