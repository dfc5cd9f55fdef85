/** Ways out of too little memory: each is what its change, applied to the request, is answered with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOfFile } from './lib/client.mjs';
import { dice, draw } from './lib/drawn.mjs';
import { estimate, llama } from './lib/fixtures.mjs';
import { mergePatch } from './lib/merge.mjs';

const client = await clientOfFile();
const ask = (request) => client.post('/api/v1/estimates', request);
const PLANS = 250;
const OPEN = { workload: { software: null, recompute: null, attention: null, micro_batch_size: null, dropout: null },
    parallelism: { sequence: null, zero_stage: null } };
/** What the plans drawn here lead to; losses and adapters too. */
const KINDS = ['recompute', 'micro_batch_size', 'tensor', 'pipeline', 'expert', 'context', 'sequence', 'zero_stage', 'loss',
    'gradient_sync', 'offload', 'adapter', 'framework', 'nodes'];

/** Some fields of a drawn request left open, or its sharding said in a word. */
function opened(request, { any, once }) {
    if (request.workload.framework.startsWith('fsdp') && once(0.3))
        return mergePatch(request, { parallelism: { zero_stage: null, sharding: any('full_shard', 'shard_grad_op', 'hybrid_shard') } });
    return once(0.5) ? request : mergePatch(request, once(0.5) ? OPEN : { workload: any(OPEN.workload, { attention: null }) });
}

/** So many experts that they are what lacks room. */
const withManyExperts = (request) => (request.model.config.num_local_experts
    ? mergePatch(request, { model: { config: { num_local_experts: 64, intermediate_size: 4096 } } }) : request);

/** The same on parts that lack some of what it needs; null where it has no answer. */
async function lacking(request, { any }) {
    const { status, json } = await ask(request);
    return status === 200 ? mergePatch(request,
        { cluster: { memory_bytes: Math.ceil(json.memory.device_total_bytes * any(0.3, 0.5, 0.8, 0.99)), reserved_bytes: 0 } }) : null;
}

test('a fix is what its change is answered with, of any plan', async () => {
    const drawn = dice(4);
    const seen = new Set();
    let pairs = 0, short = 0;
    for (let plan = 0; plan < PLANS; plan++) {
        const request = await lacking(withManyExperts(opened(draw(drawn), drawn)), drawn);
        const first = request && await ask(request);
        if (first?.status !== 200 || first.json.fits)
            continue;
        short++;
        for (const fix of first.json.binding.fixes) {
            const { status, json, text } = await ask(mergePatch(request, fix.change));
            const said = `${JSON.stringify(request)} with ${JSON.stringify(fix)}`;
            assert.equal(status, 200, `${said}: ${text.slice(0, 500)}`);
            assert.deepEqual([json.memory.device_total_bytes, json.time.step_s, json.fits, json.fits_certain],
                [fix.memory_bytes, fix.step_s, fix.fits, fix.fits_certain], said);
            seen.add(fix.what).add(fix.with);
            pairs += fix.with !== null;
        }
    }
    assert.ok(short > PLANS / 4 && pairs > short / 8, `${short} lack memory, ${pairs} pairs`);
    assert.deepEqual(KINDS.filter((kind) => !seen.has(kind)), []);
});

test('what DDP or DP holds whole may be sharded instead, unless the request says what its own release does', async () => {
    for (const framework of ['ddp', 'dp']) {
        const request = estimate({ config: { ...llama, hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32 }, workload: { framework, software: null },
            cluster: { nodes: 1 }, parallelism: { tensor: 1, sequence: false, pipeline: 1, data: null, zero_stage: 0 } });
        const ways = async (more) => {
            const { status, json, text } = await ask(mergePatch(request, more));
            assert.equal(status, 200, text);
            assert.equal(json.fits, false);
            return json.binding.fixes.filter(({ what, with: other }) => [what, other].includes('framework'));
        };
        const [fix] = await ways({});
        assert.deepEqual([fix.change.workload.framework, fix.change.workload.software, fix.change.parallelism.zero_stage, fix.fits],
            ['fsdp2', 'pytorch-fsdp2-2.x', 3, true]);
        assert.deepEqual(await ways({ workload: { profile: { step_overhead_s: 0.01 } } }), []);
    }
});

test('a plan that says nothing has its framework\'s own way of sharing a sequence, in fixes as in answers', async () => {
    for (const [framework, kind] of [['deepspeed', 'a2a'], ['fsdp2', 'allgather']]) {
        const request = estimate({ config: { ...llama, hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32 },
            workload: { framework, software: null, recompute: 'full', sequence_length: 65536, global_batch_size: 16 }, cluster: { nodes: 1, memory_bytes: 34e9, reserved_bytes: 0 } });
        delete request.parallelism;
        const { json } = await ask(request);
        assert.equal(json.fits, false);
        const shared = json.binding.fixes.filter(({ change }) => change.parallelism?.context > 1);
        assert.ok(shared.length > 0, JSON.stringify(json.binding.fixes));
        for (const fix of shared) {
            const after = (await ask(mergePatch(request, fix.change))).json;
            assert.equal(after.resolved.parallelism.context_kind, kind);
            assert.deepEqual([after.time.step_s, after.memory.device_total_bytes], [fix.step_s, fix.memory_bytes], JSON.stringify(fix));
        }
    }
});

test('of Megatron\'s optimizer no more leaves than has to', async () => {
    const request = estimate({ config: { ...llama, hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, vocab_size: 32000 },
        workload: { framework: 'megatron', recompute: 'full', global_batch_size: 512 }, cluster: { nodes: 1 },
        parallelism: { tensor: 1, sequence: false, pipeline: 1, data: 8, zero_stage: 1 } });
    const { memory } = (await ask(request)).json;
    const states = memory.ranks[0].terms
        .filter(({ name }) => name === 'master_weights' || name === 'optimizer').reduce((sum, { bytes }) => sum + bytes, 0);
    /* What a full device cannot give back. */
    const needed = memory.peak_allocated_bytes + memory.device_total_bytes - memory.peak_reserved_bytes;
    const ofShare = async (share) => {
        const { json } = await ask(mergePatch(request, { cluster: { memory_bytes: Math.ceil(needed - share * states), reserved_bytes: 0 } }));
        assert.equal(json.fits, false);
        return json.binding.fixes.find(({ what, with: other }) => what === 'offload' && other === null)?.change.workload.offload;
    };
    for (const [share, fraction] of [[0.2, 0.25], [0.4, 0.5], [0.7, 0.75], [0.9, undefined]]) {
        const offload = await ofShare(share);
        assert.deepEqual([offload?.optimizer, offload?.optimizer_fraction], ['cpu', fraction], `${share} of the states too much`);
    }
});
