/** What the planner works out without a page: digits, letters, bands, next parts, files, launchers, clocks. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { accelerate } from '../../static/src/launch/accelerate.js';
import { deepspeed } from '../../static/src/launch/deepspeed.js';
import { megatron } from '../../static/src/launch/megatron.js';
import { slurm } from '../../static/src/launch/slurm.js';
import { torchtitan } from '../../static/src/launch/torchtitan.js';
import { calibrate } from '../../static/src/planner/measured/calibrate.js';
import { rowsOf, symbolsOf } from '../../static/src/planner/ranks.js';
import { isConfig } from '../../static/src/planner/read-config.js';
import { layOut } from '../../static/src/planner/traffic/layout.js';
import { cutsNear, movesOf, nextPart, sizesThatDivide } from '../../static/src/planner/what-if/moves.js';
import { fuzzy } from '../../static/src/shell/fuzzy.js';
import { emptyPlan } from '../../static/src/state/plan.js';
import { planOfUrl } from '../../static/src/state/url.js';
import { borneOut, change, count, gigabytes, grouped, inUnit, ofAnySize, percent, roundText, scaled, seconds } from '../../static/src/units.js';
import { fitText } from '../../static/src/widgets/fit.js';
import { lookOf, MEMORY_TERMS, TIME_TERMS } from '../../static/src/widgets/terms.js';
import { many, memberWords } from '../../static/src/words.js';

describe('a verdict', () => {
    it('is narrow where the interval of the peak reaches beyond the device', () => {
        for (const [fits, certain, text] of [[true, true, '✓ fits'], [true, false, '≈ fits narrowly'],
            [true, undefined, '✓ fits'], [false, true, '✕ does not fit'], [false, false, '✕ does not fit']])
            assert.equal(fitText({ fits, fits_certain: certain }), text, `${fits} ${certain}`);
    });

    it('is that of nodes, too, where what goes to the host has no room there', () => {
        const warnings = [{ code: 'not_modelled' }, { code: 'host_memory_exceeded' }];
        assert.equal(fitText({ fits: true, fits_certain: false, warnings }), '✕ lacks host memory');
        assert.equal(fitText({ fits: false, fits_certain: true, warnings }), '✕ does not fit');
        assert.equal(fitText({ fits: true, fits_certain: false, warnings: warnings.slice(0, 1) }), '≈ fits narrowly');
    });
});

describe('digits', () => {
    it('are as many as the spread bears out, three at most', () => {
        for (const [value, spread, text] of [[429.4, 98, '430'], [25.27, 2.6, '25'], [204.2, 48, '200'], [412.4, 33, '410'],
            [412.4, 1, '412'], [0.0374, 0.004, '0.037'], [1234.5, 0.1, '1,230'], [9.96, 1.1, '10'], [3.04, 0.3, '3.0'], [0, 0, '0']])
            assert.equal(borneOut(value, spread), text, `${value} ± ${spread}`);
    });

    it('are none where the spread hides the value', () => {
        for (const [value, spread, text] of [[0.003, 7.2, 'under 1'], [0, 7.2, 'under 1'], [-4, 30, 'under 10'], [0.02, 0.3, 'under 0.1']])
            assert.equal(borneOut(value, spread), text, `${value} ± ${spread}`);
    });
});

describe('a sentence of the service', () => {
    it('has its long numbers grouped, but for those of names, versions and papers', () => {
        for (const [text, read] of [['must divide the 15360 sequences, got 2048', 'must divide the 15,360 sequences, got 2048'],
            ['669065609216 of 671026404352 are quantised', '669,065,609,216 of 671,026,404,352 are quantised'], ['rank 16383.', 'rank 16,383.'],
            ['gpu-12345 and r12345', 'gpu-12345 and r12345'], ['arXiv 2306.09782', 'arXiv 2306.09782'], ['535.161.08 of 12,345', '535.161.08 of 12,345'],
            ['0.123456 s', '0.123456 s'], ['12345.5 s', '12345.5 s'], ['at most 1048576 tokens, got 16777216', 'at most 1,048,576 tokens, got 16,777,216'],
            ['(100000 of them)', '(100,000 of them)'], ['must be at most 18446744073709551615', 'must be at most 18,446,744,073,709,551,615'],
            ['pipeline x virtual_pipeline must be at most the 82 layers, got 16384 x 10000', 'pipeline x virtual_pipeline must be at most the 82 layers, got 16,384 x 10,000']])
            assert.equal(grouped(text), read);
    });

    it('keeps every name, address, date and hash as it is, whatever its digits', () => {
        for (const text of ['gpu017', 'H100', 'gpt-oss-120b', 'meta-llama/Llama-3.1-405B', 'org/12345678', '12345/model', 'http://127.0.0.1:54321/api',
            'host "10086" is in no pool', "got '123456'", 'of `100000`', 'revision 9f86d081884c', 'engine 0.1.0+4e4b44260544', 'config@20250401', 'issue #12345',
            '2026-11-27T17:41:10Z', 'mbridge-26.04', 'torchtitan 2025-04-01', 'gpu[10001-10024]', 'gpu[10001,10003]', 'node[10001]', 'rack 00017',
            'arXiv:2205.05198', 'NVIDIA-H100-80GB-HBM3', 'GPU-12345678-90ab', 'driver 550.90.07', 'a=123456', 'sm_90a', 'nvidia-h100-sxm5-80gb'])
            for (const read of [grouped(text), inUnit(text, 'GB', [])])
                assert.equal(read, text);
    });

    it('is told in GB by every size that it has, in the forms in which the service has them, and by nothing else', () => {
        for (const [text, read] of [
            ['fsdp full shard: 42 s a step with 29.1 of 79.2 GiB free, the fastest that surely fits; nothing simpler comes within 3 % of it.',
                'fsdp full shard: 42 s a step with 31.2 of 85.0 GB free, the fastest that surely fits; nothing simpler comes within 3 % of it.'],
            [' mixed (tensor 4, pipeline 8, data 4) would take 37 s and fits narrowly, with 9.9 GiB free.',
                ' mixed (tensor 4, pipeline 8, data 4) would take 37 s and fits narrowly, with 10.6 GB free.'],
            ["At most 80 stages. The largest layer's states take 12.50 of the 79.2 GiB of its device.",
                "At most 80 stages. The largest layer's states take 13.4 of the 85.0 GB of its device."],
            ['out of memory: the nearest plan lacks 12.5 MiB', 'out of memory: the nearest plan lacks 13.1 MB'],
            ['tensor 4 instead of 8: step +1.5 %, memory -0.35 GiB', 'tensor 4 instead of 8: step +1.5 %, memory -0.4 GB'],
            ['Nothing fits: qlora lacks least, 1.3 GiB on devices of 15.0 GiB usable.', 'Nothing fits: qlora lacks least, 1.4 GB on devices of 16.1 GB usable.'],
            ['lacks 1,234.5 GiB', 'lacks 1,326 GB'], ['8 cards of 50 GB/s in a node of 8', '8 cards of 50 GB/s in a node of 8'],
            ['VRAM Total Memory (GiB)', 'VRAM Total Memory (GiB)'], ['pool a100-80 GiB', 'pool a100-80 GiB'], ['MemoryGiB', 'MemoryGiB']])
            assert.equal(inUnit(text, 'GB', []), read);
    });

    it('is told in another unit by what it had rounded, where that is known', () => {
        const text = 'needs 127 GiB of 79.2 GiB usable, with 31.8 of 40 GiB free; 3 GiB/s of node';
        assert.equal(inUnit(text, 'GB', [136747935261, 85017493504]), 'needs 137 GB of 85.0 GB usable, with 34.1 of 42.9 GB free; 3.2 GB/s of node');
    });
});

describe('units', () => {
    it('are the next ones where rounding reaches them', () => {
        for (const [written, text] of [[seconds(0.9996), '1.00 s'], [seconds(0.999), '999 ms'], [seconds(0.00099999), '1.00 ms'], [seconds(119.96), '2.00 min'],
            [seconds(0), '0 s'], [seconds(-0.5), '-500 ms'], [seconds(172799.9), '2.00 days'], [scaled(999.96e3), '1.00 M'], [scaled(999e3, 'B'), '999 kB'],
            [scaled(0.5, 'B'), '0.500 B'], [ofAnySize(131072, 'GiB'), '128 KiB'], [ofAnySize(131072, 'GB'), '131 kB'], [ofAnySize(2 ** 40 - 1, 'GiB'), '1.00 TiB'],
            [ofAnySize(0, 'GiB'), '0.00 B'], [count(999999), '999,999'], [count(999.96e6), '1.00 B'], [seconds(0.999, (value) => borneOut(value, value / 5)), '1.0 s']])
            assert.equal(written, text);
    });

    it('of a share say that it is little, not nothing', () => {
        assert.deepEqual([0, 1e-16, 0.0003, 0.0005, 0.123].map((ratio) => percent(ratio)), ['0 %', '0 %', '<0.1 %', '0.1 %', '12.3 %']);
    });

    it('of an axis have no zeros after what is round', () => {
        assert.deepEqual(['80.0 k', '2.50 M', '2.00 M', '0.0', '100', '1,200 k', '0.050', '10.0 ms'].map(roundText), ['80 k', '2.5 M', '2 M', '0', '100', '1,200 k', '0.05', '10 ms']);
    });

    it('of a change are a share, a factor, or none where it is noise', () => {
        assert.deepEqual([1, 1.0004, 1.001, 0.9, 2.2469, 3].map((now) => change(now, 1)), ['same', 'same', '+0.1 %', '−10.0 %', '+125 %', '×3.00']);
        assert.deepEqual([99.9, 8, 0.4882812, 0].map((now) => change(now, 1000)), ['−90.0 %', '÷125', '÷2,048', '−100 %'], 'not all of it is gone until it is');
    });

    it('of memory say that it is little, not nothing', () => {
        assert.deepEqual([0, 1, 5.3e6, 5.4e6, 1e8, 1.1e8, 1.5e11].map((bytes) => gigabytes(bytes, 'GiB')), ['0.0', '<0.01', '<0.01', '0.01', '0.09', '0.1', '140']);
    });
});

describe('names', () => {
    it('of terms are those of the sentences of the service, and no others', () => {
        const source = readFileSync(new URL('../../server/engine/answer/terms.c', import.meta.url), 'utf8');
        const named = new Map([...source.matchAll(/\[(SL_TERM_\w+)\] =\s*\{"(\w+)"/g)].map(([, id, name]) => [id, name]));
        const said = new Map([...source.matchAll(/case (SL_TERM_\w+):\s*return "([^"]+)";/g)].map(([, id, words]) => [id, words]));
        /* What has a look of its own among those of its name is still called so. */
        const whats = [...source.matchAll(/\[(SL_TERM_\w+)\] = "([^"]+)",/g)].map(([, id, what]) => `${named.get(id)} ${what}`);
        const apart = [...MEMORY_TERMS.keys()].filter((key) => key.includes(' '));
        assert.ok(apart.length > 1 && apart.every((key) => whats.includes(key)), apart.join());
        const ids = [...named.keys()];
        assert.ok(said.size > 5 && [...said.keys()].every((id) => named.has(id)));
        for (const [id, name] of ids.slice(0, ids.indexOf('SL_TERM_OVERHEAD') + 1).map((one) => [one, named.get(one)])) {
            const looks = ids.indexOf(id) < ids.indexOf('SL_TERM_FORWARD') ? MEMORY_TERMS : TIME_TERMS;
            assert.equal(said.get(id) ?? name.replaceAll('_', ' '), lookOf(looks, name).label.toLowerCase(), id);
        }
    });

    it('of members of a request are words, whatever they hold', () => {
        for (const [pointer, value, words] of [['/workload/compile', true, 'compile on'], ['/parallelism/context_kind', 'all_gather', 'context kind all gather'],
            ['/parallelism/overlap', { grad_reduce: true, tensor: 'bulk' }, 'overlap grad reduce on, tensor bulk'], ['/parallelism/pipeline_layout', [10, 12], 'pipeline layout 10, 12'],
            ['/workload/dropout', null, 'dropout open'], ['/cluster/memory_bytes', 2 ** 30, 'memory 1.0 GiB']])
            assert.equal(memberWords(pointer, value), words);
    });

    it('of counts are singular for one', () => {
        assert.deepEqual([0, 1, 1200].map((count) => many(count, 'node')), ['0 nodes', '1 node', '1,200 nodes']);
    });
});

describe('rows of memory', () => {
    const term = (name, what) => ({ name, what, bytes: 1 });
    const labels = (...terms) => rowsOf([{ terms }]).map(({ label }) => label);

    it('that are called the same are told apart by what the service says they are', () => {
        const [own, copy] = [term('parameters', 'of the model'), term('parameters', 'as they multiply')];
        assert.deepEqual(labels(own), ['Parameters']);
        assert.deepEqual(labels(own, copy), ['Parameters, of the model', 'Parameters, as they multiply']);
        assert.deepEqual(symbolsOf([own, copy, term('logits', 'with their gradient')]), ['parameters_of_the_model', 'parameters_as_they_multiply', 'logits']);
    });
});

describe('letters', () => {
    const items = ['Set: Global batch', 'Set: Tensor', 'Copy as curl', 'Switch light and dark'];
    const find = (typed) => fuzzy(typed, items, (text) => text);
    it('find what holds them in their order, beginnings of words first', () => {
        assert.deepEqual(find(''), items);
        assert.equal(find('gb')[0], 'Set: Global batch');
        assert.equal(find('curl')[0], 'Copy as curl');
        assert.deepEqual(find('zzz'), []);
        assert.deepEqual(find('batch global'), ['Set: Global batch']);
    });
});

describe('bands', () => {
    const item = (group, collective, level, bytes) => ({ group, collective, level, bytes_per_step: bytes, seconds: 2, exposed_s: 1 });
    it('are as high as their bytes, side by side at both ends', () => {
        const items = [item('data', 'all_gather', 'network', 300), item('tensor', 'all_gather', 'scale_up', 600), item('data', 'all_gather', 'scale_up', 100),
            item('pipeline', 'send_receive', 'network', 0)];
        const { left, right, bands } = layOut(items, 400, 20);
        assert.deepEqual([...left.keys()], ['data all gather', 'tensor all gather']);
        assert.deepEqual([...right.keys()], ['scale_up', 'network'], 'from the inside outwards');
        assert.equal(bands.length, 3);
        for (const band of bands) assert.equal(band.exposed, 0.5);
        const tall = (name) => bands.filter(({ from }) => from === name).reduce((sum, { height }) => sum + height, 0);
        assert.ok(Math.abs(tall('data all gather') - left.get('data all gather').height) < 1e-9);
        assert.ok(Math.abs(bands[1].height - 2 * bands[0].height) < 1e-9);
        assert.equal(bands[2].left, bands[0].left + bands[0].height);
    });
});

describe('the next part', () => {
    const part = (id, bf16, memory_bytes, vendor = 'nvidia', scale_up_domain = 8) => ({ id, name: id, vendor, memory_bytes, scale_up_domain, peak_flops_per_s: { bf16 } });
    const parts = [part('b', 2, 20), part('a', 1, 10), part('a2', 1, 15), part('small', 3, 5), part('other', 1.5, 50, 'amd'), part('card', 1.2, 30, 'nvidia', 1)];
    it('is of the same maker, scales up alike, and lacks nothing', () => {
        assert.equal(nextPart(parts, 'a').id, 'a2');
        assert.equal(nextPart(parts, 'a2').id, 'b');
        assert.equal(nextPart(parts, 'b'), null);
        assert.equal(nextPart(parts, 'unknown'), null);
    });
    it('scales up over no fewer, and may keep a little more for its firmware', () => {
        const others = [part('a', 1, 100), part('pair', 2, 120, 'nvidia', 2), part('c', 3, 99), part('tiny', 2, 80)];
        assert.equal(nextPart(others, 'a').id, 'c');
    });
    it('is no question of a stored inventory, nor half of one node', () => {
        const ids = movesOf({ ...emptyPlan(), inventory: 'north', accelerator: 'a' }, parts).map(({ id }) => id);
        assert.ok(!ids.includes('part') && !ids.includes('half') && ids.includes('twice'), ids.join());
        assert.equal(movesOf({ ...emptyPlan(), nodes: 2048 }, parts).find(({ id }) => id === 'half').title, 'Half: 1,024 nodes');
    });
});

describe('a cut that does not divide the cluster', () => {
    const plan = { ...emptyPlan(), tensor: 8, pipeline: 4, virtualPipeline: 2 };
    const refusal = (errors) => ({ errors });
    it('has the nearest that do, of those the ones with the same chunks first', () => {
        const titles = cutsNear(plan, [1, 2, 4, 5, 8, 10, 16, 20, 40, 80]).map(({ title }) => title);
        assert.deepEqual(titles.slice(0, 2).sort(), ['TP10 PP4 VPP2', 'TP8 PP5 VPP2']);
        assert.ok(titles.includes('TP8 PP5') && titles.length <= 32, titles.join());
        assert.equal(new Set(titles).size, titles.length);
    });
    it('is one that the service calls so', () => {
        assert.deepEqual(sizesThatDivide(refusal([{ pointer: '/parallelism', code: 'not_divisible', hint: 'tensor * pipeline * context: 1, 2, 10' }])), [1, 2, 10]);
        assert.equal(sizesThatDivide(refusal([{ pointer: '/parallelism/tensor', code: 'not_divisible', hint: '1, 2' }])), null);
        assert.equal(sizesThatDivide(null), null);
    });
});

describe('a file', () => {
    it('is a model when it describes one', () => {
        assert.equal(isConfig('{"model_type":"llama"}'), true);
        assert.equal(isConfig('{"kind":"List","items":[]}'), false);
        assert.equal(isConfig('NodeName=gpu1'), false);
        assert.equal(isConfig('[1]'), false);
    });
});

describe('a link', () => {
    it('from before a setting had a control still sets it', () => {
        const plan = planOfUrl(`?example=llama-8b&extra=${encodeURIComponent('{"parallelism":{"context":4,"context_kind":"a2a"}}')}`, '');
        assert.equal(plan.context, 4);
        assert.deepEqual(plan.extra, { parallelism: { context_kind: 'a2a' } });
    });
});

/** What an estimate resolves, with what a test changes. */
const resolved = ({ workload = {}, parallelism = {} } = {}) => ({
    workload: { framework: 'megatron', sequence_length: 4096, global_batch_size: 64, micro_batch_size: 2, gradient_accumulation: 8, precision: 'bf16',
        optimizer: 'adamw', recompute: 'none', attention: 'flash2', compile: false, offload: { optimizer: 'none', parameters: 'none', activations: 'none' }, ...workload },
    parallelism: { tensor: 1, sequence: false, pipeline: 1, virtual_pipeline: 1, context: 1, context_kind: 'p2p', expert: 1, expert_tensor: null, data: 4, zero_stage: 0,
        shard_group: null, schedule: '1f1b', pipeline_layout: null, overlap: { grad_reduce: true, param_gather: true, tensor: 'bulk' }, ...parallelism },
    cluster: { nodes: 1, accelerators_per_node: 4, accelerators: 4 },
});
const notes = (written) => written.notes.join('\n');

describe('a launcher', () => {
    it('Megatron-LM gets experts, context and recomputation by its own names', () => {
        const written = megatron(resolved({ workload: { recompute: { mode: 'full', method: 'block', layers: 3 }, precision: 'fp8' },
            parallelism: { context: 2, context_kind: 'allgather', expert: 4, expert_tensor: 1, zero_stage: 0, schedule: 'zb_h1', pipeline: 2 } }));
        for (const flag of ['--context-parallel-size 2', '--cp-comm-type all_gather', '--expert-model-parallel-size 4', '--expert-tensor-parallel-size 1',
            '--recompute-granularity full', '--recompute-method block', '--recompute-num-layers 3', '--bf16', '--fp8-format hybrid'])
            assert.ok(written.text.includes(flag), flag);
        assert.ok(!written.text.includes('--use-distributed-optimizer') && !written.text.includes('--overlap-param-gather'));
        assert.match(notes(written), /Left out: the schedule zb_h1/);
    });

    it('Megatron-LM has as many instances of its optimizer as groups that divide states, and a precision but in 32 bits', () => {
        const { text } = megatron(resolved({ parallelism: { data: 8, zero_stage: 1, shard_group: 2 } }));
        assert.match(text, /--use-distributed-optimizer \\\n--num-distributed-optimizer-instances 4 /);
        assert.doesNotMatch(megatron(resolved({ parallelism: { zero_stage: 1 } })).text, /instances/);
        const precisionOf = (precision) => megatron(resolved({ workload: { precision } })).text.match(/--(?:bf16|fp16)\b/g);
        assert.deepEqual(['bf16', 'fp16', 'fp32', 'tf32', 'mxfp8'].map(precisionOf), [['--bf16'], ['--fp16'], null, null, ['--bf16']]);
    });

    it('Megatron-LM moves the part of its optimizer that is asked for', () => {
        const flags = (offload) => megatron(resolved({ workload: { offload } })).text.match(/--optimizer-offload-fraction \S+|--optimizer-cpu-offload|--use-precision-aware-optimizer/g);
        assert.deepEqual(flags({ optimizer: 'cpu', optimizer_fraction: 0.25 }),
            ['--optimizer-cpu-offload', '--optimizer-offload-fraction 0.25', '--use-precision-aware-optimizer']);
        assert.deepEqual(flags({ optimizer: 'cpu' })[1], '--optimizer-offload-fraction 1');
        assert.equal(flags({ optimizer: 'none' }), null);
        assert.doesNotMatch(notes(megatron(resolved({ workload: { offload: { optimizer: 'cpu', optimizer_fraction: 0.25 } } }))), /memory of/);
    });

    it('Megatron-LM has the backend of attention that its part has the kernel behind', () => {
        const backendOn = (attention, accelerator) => megatron({ ...resolved({ workload: { attention } }), cluster: { accelerator } }).text.match(/--attention-backend \S+/)?.[0];
        assert.equal(backendOn('flash3', 'nvidia-h100-sxm5-80gb'), '--attention-backend flash');
        assert.equal(backendOn('flash3', 'amd-mi300x'), '--attention-backend fused');
        assert.equal(backendOn('flash2', 'amd-mi300x'), '--attention-backend flash');
    });

    it('nothing is left out in silence', () => {
        const odd = resolved({ workload: { optimizer: 'muon', precision: 'nvfp4', recompute: 'op_sac', offload: { optimizer: 'cpu', parameters: 'none', activations: 'cpu' } } });
        for (const write of [megatron, deepspeed, torchtitan, accelerate]) {
            const said = notes(write(odd));
            for (const what of [/muon/, /nvfp4/, /activations in the memory of the cpu/])
                assert.match(said, what, write.name);
        }
        const grown = resolved({ workload: { expandable_segments: true } });
        for (const write of [megatron, deepspeed, torchtitan, accelerate])
            assert.match(notes(write(grown)), /expandable_segments/, write.name);
        assert.match(slurm(grown).text, /^export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True$/m);
        assert.doesNotMatch(slurm(odd).text, /ALLOC_CONF/);
        assert.match(notes(megatron(odd)), /op_sac/);
        assert.match(notes(accelerate(odd)), /op_sac/);
        assert.deepEqual(JSON.parse(deepspeed(odd).text).zero_optimization.offload_optimizer, { device: 'cpu' });
        assert.ok(torchtitan(odd).text.includes('selective_ac_option = "op"'));
    });

    it('torchtitan is told copies and shards, and the whole feed of a pipeline', () => {
        const { text } = torchtitan(resolved({ workload: { framework: 'fsdp2' }, parallelism: { data: 4, shard_group: 2, zero_stage: 2, pipeline: 2 } }));
        for (const line of ['data_parallel_replicate_degree = 2', 'data_parallel_shard_degree = 2', 'fsdp_reshard_after_forward = "never"', 'local_batch_size = 16',
            'pipeline_parallel_microbatch_size = 2', 'pipeline_parallel_schedule = "1F1B"'])
            assert.ok(text.includes(line), line);
    });

    it('Accelerate is told the strategy of FSDP 1 and the resharding of FSDP 2', () => {
        assert.ok(accelerate(resolved({ workload: { framework: 'fsdp1' }, parallelism: { zero_stage: 2 } })).text.includes('fsdp_sharding_strategy: SHARD_GRAD_OP'));
        const second = accelerate(resolved({ workload: { framework: 'fsdp2', recompute: 'full' }, parallelism: { zero_stage: 3 } }));
        assert.ok(second.text.includes('fsdp_version: 2') && second.text.includes('fsdp_reshard_after_forward: true'));
        assert.ok(second.text.includes('fsdp_activation_checkpointing: true'));
    });
});

describe('a clock', () => {
    const serve = (stepAt) => {
        const asked = [];
        globalThis.fetch = async (path, { body }) => {
            const ratio = JSON.parse(body).cluster.accelerator_overrides.sustained_ratio;
            asked.push(ratio);
            return new Response(JSON.stringify({ time: { step_s: stepAt(ratio) } }), { status: 200 });
        };
        return asked;
    };
    it('is found where the prediction meets the measured step, with few questions', async () => {
        const asked = serve((ratio) => 7 / ratio + 3 + 0.2 * ratio ** 2);
        const { ratio, nearest_s } = await calibrate({ cluster: { nodes: 2 } }, 13, new AbortController().signal);
        assert.ok(Math.abs(nearest_s / 13 - 1) <= 0.001 && Math.abs(7 / ratio + 3 + 0.2 * ratio ** 2 - 13) < 0.02, `${ratio}`);
        assert.ok(asked.length <= 8, `${asked.length} questions`);
    });
    it('is not made up where none explains the step', async () => {
        serve((ratio) => 1 / ratio);
        assert.deepEqual(await calibrate({ cluster: {} }, 100, new AbortController().signal), { ratio: null, nearest_s: 10 });
        assert.equal((await calibrate({ cluster: {} }, 0.1, new AbortController().signal)).ratio, null);
    });
});
