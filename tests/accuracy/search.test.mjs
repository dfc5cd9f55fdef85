/**
 * Searches against plans that people published: each is in the space, and what is found is never predicted
 * slower. vTrain's runs on several nodes, and the models of three papers on Megatron-LM.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { estimateOf } from './lib/ask.mjs';
import { readTable } from './lib/csv.mjs';
import { requestOf } from './lib/request.mjs';
import { withServer } from './lib/server.mjs';
import { throughputRow } from './lib/throughput.mjs';

const sources = { vtrainMn: 100, meg21t1: 9, meg21t2: 10, kor22t5: 7 };
const table = fileURLToPath(new URL('data/training_throughput.csv', import.meta.url));

/** What a search decides, taken out of a request; the rest of it is the question. */
function questionOf({ model, workload, cluster }) {
    const { micro_batch_size, recompute, ...rest } = workload;
    return { model, workload: rest, cluster };
}

/** The published plan with the values that stand for what its source leaves open. */
function publishedPlan(request, resolved) {
    const { tensor, sequence, pipeline, virtual_pipeline, schedule, context, data, zero_stage } =
        resolved.parallelism;
    return {
        parallelism: { tensor, sequence, pipeline, virtual_pipeline, schedule, context, data,
            zero_stage },
        workload: { micro_batch_size: resolved.workload.micro_batch_size,
            recompute: resolved.workload.recompute },
    };
}

async function search(url, body) {
    const response = await fetch(new URL('/api/v1/searches', url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
    });
    const json = await response.json();
    assert.equal(response.status, 200, JSON.stringify(json));
    return json;
}

async function compare(url, raw) {
    const row = throughputRow(raw);
    const { request } = requestOf(row);
    const { estimate } = await estimateOf(url, request);
    if (estimate === undefined)
        return undefined;
    const { software, attention, dropout } = estimate.resolved.workload;
    const question = questionOf(request);
    const found = await search(url, {
        ...question,
        /* Beyond a node nobody cuts tensors unasked; some of these runs did. */
        space: { tensor_across_domains: Number(raw.tp) > Number(raw.gpus_per_node) },
        workload: { ...question.workload, software, attention, dropout },
        objective: 'throughput', limit: 3, pareto: false, simulate: false, neighbours: false,
        why_not: publishedPlan(request, estimate.resolved),
    });
    return { id: raw.id, plan: raw, found };
}

function assertNoSlower({ id, found }) {
    const why = found.why_not;
    assert.equal(found.state, 'done', id);
    assert.ok(why.legal, `${id}: ${JSON.stringify(why.refused)}`);
    assert.deepEqual(why.outside_space, [], `${id} is in the space`);
    if (!why.fits)
        return;
    assert.ok(found.best.length > 0, id);
    assert.ok(found.best[0].step_s <= why.figures.step_s,
        `${id}: found ${found.best[0].step_s}, published ${why.figures.step_s}`);
}

test('a published plan is in the space, and none found is predicted slower', async (t) => {
    const rows = readTable(await readFile(table, 'utf8'));
    await withServer(async (url) => {
        for (const [source, least] of Object.entries(sources)) {
            const gains = [];
            for (const raw of rows.filter(({ id }) => id.startsWith(`${source}-`))) {
                const compared = await compare(url, raw);
                if (compared === undefined)
                    continue;
                assertNoSlower(compared);
                if (compared.found.why_not.fits)
                    gains.push(compared.found.why_not.figures.step_s
                        / compared.found.best[0].step_s);
            }
            gains.sort((a, b) => a - b);
            t.diagnostic(`${source}: ${gains.length} plans; found over published, rate: median `
                + `${gains[gains.length >> 1]?.toFixed(2)}, most ${gains.at(-1)?.toFixed(2)}`);
            assert.ok(gains.length >= least, `${source}: ${gains.length} plans were compared`);
        }
    });
});
