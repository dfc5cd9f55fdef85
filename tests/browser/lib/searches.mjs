/**
 * A stand-in for searches in front of a real server: everything else goes through. For what no real search does on
 * demand: thousands of plans, a stream that stops, one that lasts until it is cancelled.
 *
 *     const standIn = await startSearches(server, { events: eventsOf({ front: 3000 }) });
 *     standIn.url; standIn.requests; standIn.closed; await standIn.stop();
 */
import { createServer, request as ask } from 'node:http';

const TENSOR = [1, 2, 4, 8];
const PIPELINE = [1, 2, 4, 8, 16];
const RECOMPUTE = ['none', 'selective', 'full'];
const GIB = 2 ** 30;

/** The plan of that number, of a space without end; figures that lie on no grid. */
export function planOf(at) {
    const tensor = TENSOR[at % 4];
    const pipeline = PIPELINE[Math.floor(at / 4) % 5];
    const micro = 1 + (Math.floor(at / 20) % 97);
    const step_s = 4 + 3 * Math.sin(at * 12.9898) ** 2 + at / 500;
    const headroom = (40 * Math.cos(at * 78.233) ** 2) * GIB;
    const nodes = 1 + (at % 16);
    return {
        id: at.toString(16), cluster_index: 0, cluster_name: '16 nodes', nodes, accelerators: 8 * nodes,
        parallelism: { tensor, sequence: tensor > 1, pipeline, virtual_pipeline: 1, context: 1, context_kind: 'p2p', expert: 1,
            expert_tensor: null, data: 128 / tensor, zero_stage: 1, shard_group: null, schedule: '1f1b', pipeline_layout: null },
        workload: { micro_batch_size: micro, global_batch_size: 512, recompute: RECOMPUTE[Math.floor(at / 7) % 3] },
        cluster: { nodes }, step_s, simulated_step_s: step_s * 1.01, tokens_per_s: 4e6 / step_s,
        peak_reserved_bytes: 75 * GIB - headroom, headroom_bytes: headroom,
        cost: null, time_to_train_s: null, energy_j: null, rank: null,
    };
}

const rejectedOf = () => [
    { reason: 'out_of_memory', pointer: '', count: 1234, sentence: 'out of memory: the nearest plan lacks 1.3 GiB',
        nearest: { ...planOf(3), headroom_bytes: -1.3 * GIB, step_s: null, tokens_per_s: null } },
    { reason: 'not_divisible', pointer: '/parallelism/tensor', count: 77, sentence: 'tensor must divide the attention heads', nearest: null },
];

/** Events as the service sends them. @param {{best?: number, front?: number, steps?: number}} [sizes] */
export function eventsOf({ best = 20, front = 40, steps = 3 } = {}) {
    const plans = Array.from({ length: best + front }, (_, at) => planOf(at)).sort((a, b) => b.tokens_per_s - a.tokens_per_s);
    const upTo = (share, state) => ({
        state, evaluated: Math.round(900_000 * share), feasible: Math.round(400_000 * share), pruned: Math.round(7e6 * share), refused: 1311,
        units: 64, units_done: Math.round(64 * share), elapsed_s: 0.9 * share, best: plans.slice(0, Math.ceil(best * share)), pareto: plans.slice(Math.floor(best / 2), best + Math.ceil(front * share)),
        rejected: rejectedOf(),
    });
    const progress = Array.from({ length: steps }, (_, at) => ({ name: 'progress', data: upTo((at + 1) / (steps + 1), 'running') }));
    return [...progress, { name: 'result', data: upTo(1, 'done') }];
}

const written = ({ name, data }) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * @param {{url: string}} server
 * @param {{events: any[], before?: (at: number) => Promise<void>, hold?: boolean}} given  before: an event is sent; hold: never ends
 */
export async function startSearches(server, given) {
    const state = { requests: [], closed: 0, ...given };
    const target = new URL(server.url);
    const stream = async (from, to) => {
        let body = '';
        for await (const part of from)
            body += part;
        state.requests.push(JSON.parse(body));
        to.on('close', () => { state.closed += to.writableFinished ? 0 : 1; });
        to.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
        to.write('retry: 60000\n\n: \n\n');
        for (const [at, event] of state.events.entries()) {
            await state.before?.(at);
            if (to.destroyed)
                return;
            to.write(written(event));
        }
        if (!state.hold)
            to.end();
    };
    const pass = (from, to) => {
        const onward = ask({ host: target.hostname, port: target.port, path: from.url, method: from.method,
            headers: { ...from.headers, host: target.host } }, (answer) => {
            to.writeHead(answer.statusCode, answer.headers);
            answer.pipe(to);
        });
        onward.on('error', () => to.destroy());
        from.pipe(onward);
    };
    const proxy = createServer((from, to) => (from.url === '/api/v1/searches' ? void stream(from, to) : pass(from, to)));
    await new Promise((ready) => proxy.listen(0, '127.0.0.1', ready));
    state.url = `http://127.0.0.1:${proxy.address().port}`;
    state.stop = () => new Promise((done) => {
        proxy.closeAllConnections();
        proxy.close(done);
    });
    return state;
}
