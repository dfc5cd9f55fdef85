/**
 * A row of training_throughput.csv in the columns of training_memory.csv: the question is then
 * asked by the one mapping of request.mjs, and counted by the one score. Nothing is looked up by
 * row or by source; what no column says comes from the published configuration of the model.
 */
import { recipeOf } from './recipes.mjs';
import { datedTitan, foundryRelease, knownRelease } from './releases.mjs';
import { completeRow } from './request.mjs';
import { count, firstMatch, tokenDrop, truth } from './words.mjs';

/**
 * By name, under what the row says itself: dense layers, shared experts and ranks of latent
 * attention (config.json of deepseek-ai/DeepSeek-V3 and moonshotai/Kimi-K2-Base).
 */
const latentOfDeepSeek = 'q_lora=1536;kv_lora=512;qk_nope=128;qk_rope=64;v=128';
const published = [
    [/deepseek-?v3/, { denseFfn: '18432', mla: latentOfDeepSeek,
        experts: 'shared_ffn=2048;dense_layers=3' }],
    [/kimi-k2/, { denseFfn: '18432', mla: latentOfDeepSeek,
        experts: 'shared_ffn=2048;dense_layers=1' }],
];

/** Vocabularies of families that share one (config.json of each); frameworks pad them. */
const vocabularies = [
    [/^gpt-?oss/, '201088'], [/^gpt/, '50257'], [/^opt-/, '50272'], [/^bloom/, '250880'],
    [/^llama-?2|^(mistral|mixtral)/, '32000'], [/^llama-?3/, '128256'], [/^llama-?4/, '202048'],
    [/^qwen-?[123]/, '151936'], [/^gemma-?3/, '262144'], [/^gemma/, '256000'],
    [/^deepseek-?(v3|r1)/, '129280'], [/^deepseek/, '102400'], [/^kimi-k2/, '163840'],
    [/^falcon/, '65024'], [/^mpt/, '50432'], [/^bert/, '30522'], [/^t5/, '32128'],
];

/** Mechanisms of sharding by the name the mapping has for them. */
const shardings = [
    [/^0$/, 'none'],
    [/^megatron-fsdp/i, 'megatron zero-3'],
    [/^ddp \+ (distributed optimizer).*/i, 'megatron $1'],
    [/^(fsdp )?(?=(full_shard|shard_grad_op|_?hybrid_shard)\b)/i, 'fsdp1 '], // enumerators of torch's first FSDP
];

/** GiB that CUDA reports where a name sells two sizes: torchtitan's logs of the 96 GB part. */
const memories = [[/H100.*\b9[46] ?GB/i, '94.99']];

/**
 * What a flag says; what NVIDIA's recipes adapt is linear_qkv alone, Megatron-Bridge's
 * (scripts/performance, llama3_llm_finetune.py) as NeMo's (megatron_gpt_finetuning_config.yaml).
 */
const loraOf = ({ software, flags }) => /\bpeft=([^|]+)/.exec(flags)?.[1].replaceAll(/(?<!_c)_/g, ' ')
    ?? (/^(mbridge|nemo)/.test(software) ? 'lora on q, k, v' : 'lora');

/** Megatron's abbreviations of its scaling recipes. */
const recipes = [
    [/fp8-cs/i, 'fp8 current'],
    [/fp8-mx/i, 'mxfp8'],
    [/fp8 subchannel/i, 'fp8 block'],
];

/** What a flag says of the weights beneath an adapter. */
const baseOf = ({ flags }) => /\bbase_quant=([^|]+)/.exec(flags)?.[1].replaceAll('_', ' ') ?? '';

const reworded = (text, list) =>
    list.reduce((said, [pattern, word]) => said.replace(pattern, word), text);

/** "selective (layernorm, moe_act)" is "layernorm + moe_act". */
function recomputeOf(text) {
    const [, modules] = text.match(/^selective \((.+)\)$/) ?? [];
    return modules === undefined ? text : modules.replaceAll(/, */g, ' + ');
}

function attentionOf(row) {
    const used = truth(row.flash_attention);
    // In 8 bits TransformerEngine attends by cuDNN's kernels alone.
    if (/\bfp8 attention\b/.test(row.notes))
        return 'cudnn';
    if (used === undefined)
        return row.flash_attention.replace(/^(?:FA-?)?(?=[234]$)/i, 'flash ');
    // From 2.11 on it takes cuDNN's kernel on Hopper and Blackwell (sdp_utils.cpp, check_prefer_cudnn_attention).
    if (used && /\bH[12]00\b/.test(row.gpu) && /PyTorch 2\.(1[1-9]|[2-9]\d)\b/.test(row.framework))
        return 'cudnn';
    // AutoModel's benchmarks of GPT-OSS have FlexAttention (examples/benchmark/configs, attn: flex).
    if (used && /AutoModel/.test(row.framework) && /^GPT-OSS/i.test(row.model))
        return 'flex';
    // torchtitan calls torch's attention, which picks the kernel.
    return used ? /torchtitan/i.test(row.framework) ? 'SDPA flash' : 'flash' : 'unfused';
}

/** Some sources say it in the flags, others beside the figures. */
function compileOf(row) {
    if (/\bcompile\b/.test(`${row.flags} ${row.notes}`))
        return '1';
    return /\beager\b/.test(row.notes) ? '0' : '';
}

/** A loss that is not the release's own, where the notes have one. Liger's takes the head with it, unless logits are said to be there. */
function lossOf({ notes }) {
    if (/\bfused linear cross-entropy\b/.test(notes))
        return 'Liger';
    if (/\blogits materialized\b|\bmaterialized logits\b|\bfused cross-entropy\b/.test(notes))
        return 'fused';
    return /\bliger\b/i.test(notes) ? 'Liger' : '';
}

function mixtureOf(row, known) {
    if (row.experts === '')
        return { ffn: row.ffn_hidden };
    const own = `E=${row.experts};topk=${row.experts_topk};moe_ffn=${row.ffn_hidden}`;
    return { ffn: known.denseFfn, moe: known.experts ? `${own};${known.experts}` : own };
}

/**
 * Ranks an expert is split over, where notes, recipes or the degrees say it: Megatron-Bridge's base
 * configurations of experts (scripts/performance) set expert_tensor_parallel_size to 1, and experts on
 * more ranks than the data and context groups have lie across the tensor group.
 */
function expertTensorOf(row) {
    const said = /\bexpert tensor (\d+)/.exec(row.notes)?.[1];
    if (said !== undefined)
        return said;
    if (/^megatron-bridge/i.test(row.framework) && count(row.ep, 1) > 1)
        return '1';
    const experts = count(row.ep, 1);
    const outside = count(row.dp, 1) * (count(row.cp, 1) ?? 1);
    return experts > 1 && outside % experts !== 0 ? '1' : '';
}

/** `scored` where the table has it: precision or vocabulary alone may be missing. */
function completenessOf(row) {
    const scored = truth(row.scored);
    return scored === undefined ? row.completeness : scored ? 'full' : 'partial';
}

/** Seconds of a step; a rate of tokens is one by what a step is, rates of FLOPs are not. */
function stepOf(row) {
    const tokens = Number(row.global_batch_sequences) * Number(row.seq_len);
    const rate = Number(row.measured_tokens_per_s_per_gpu) * Number(row.num_gpus);
    if (Number(row.measured_step_s) > 0)
        return row.measured_step_s;
    return tokens > 0 && rate > 0 ? String(tokens / rate) : '';
}

/** Every column that is read here under another name, or with another meaning, than there. */
export const columns = ['id', 'scored', 'layers', 'hidden', 'heads', 'kv_heads', 'ffn_hidden',
    'experts', 'experts_topk', 'sequence_parallel', 'zero_stage_or_fsdp', 'precision',
    'flash_attention', 'flags', 'measured_tokens_per_s_per_gpu'];

/** What of a row's notes and source the mapping reads beside its flags. */
const wordsOf = ({ source, notes }) => [tokenDrop, /(?<=^|, )no_sync(?=$|,)/,
    /activation CPU offload of \d+ layers/, /\b\d+ x [A-Z]+\d+ nodes\b/,
    /CUDA graph of the full iteration/, /\bmoe_a2a_overlap\b/, /\ba2a context parallelism\b/, /\btransposes not cached\b/,
    /\bSwiGLU inputs kept in fp8\b/, /\bfp8 attention\b/,
    /\bFP8 primary weights\b/, /\bbf16 moments\b/, /\bbf16 main gradients\b/, /\bLiger norms\b/, /\blayout E[^\s:,;]*/, /\bresid(?:ual|_pdrop)\b[^,;]* 0\.\d+/, /\bdropout 0(?:\.1 and 0\.1)?(?=[,;]|$)/, /\bno mtp\b/, /\bwithout NVLink\b/]
    .map((words) => notes.match(words) ?? source.match(words)).filter((found) => found !== null)
    .map(([found]) => `, ${found}`).join('');

/** The row as the mapping and the score read it. */
export function throughputRow(raw) {
    const row = { ...completeRow(raw),
        ...Object.fromEntries(columns.map((name) => [name, raw[name] ?? ''])) };
    const model = row.model.toLowerCase().replaceAll(/[ _]/g, '-');
    const known = firstMatch(published, model) ?? {};
    const latent = row.kv_heads === 'MLA';
    const precision = reworded(row.precision, recipes);
    const complete = completeRow({
        ...row,
        row_id: row.id,
        // The identifier is the key of the source and a number.
        source: row.id.replace(/-\d+$/, '') || row.source,
        completeness: completenessOf(row),
        measured_step_s: stepOf(row),
        // Of one without a known neighbour every profile of the framework stays open.
        software: knownRelease(foundryRelease(row)) ?? datedTitan(row) ?? '',
        model,
        L: row.layers,
        h: row.hidden,
        a: row.heads,
        kv: latent ? row.heads : row.kv_heads,
        mla: latent ? known.mla : '',
        vocab: row.vocab || firstMatch(vocabularies, model),
        gpu_mem_gib: firstMatch(memories, row.gpu),
        ...mixtureOf(row, known),
        etp: expertTensorOf(row),
        sp: row.sequence_parallel,
        sharding: reworded(row.zero_stage_or_fsdp, shardings),
        schedule: row.schedule === 'none' ? '' : row.schedule,
        recompute: recomputeOf(row.recompute),
        precision_layout: precision,
        base_quant: row.task === 'lora' ? baseOf(row) : precision,
        attention: attentionOf(row),
        compile: compileOf(row),
        ce_impl: lossOf(row),
        peft: row.task === 'lora' ? loraOf(row) : '',
        lora_rank: /\blora_rank=(\d+)/.exec(row.flags)?.[1],
        notes: row.flags.replaceAll('_', ' ').replaceAll('|', ', ')
            + wordsOf(row) + recipeOf(row),
    });
    return { ...complete, published: raw };
}

/** @returns {{predicted_s, error, covered}} of one answered row */
export function scoreStep(row, estimate) {
    const measured = Number(row.measured_step_s);
    const predicted = estimate.time.step_s;
    const [low, high] = estimate.interval?.step_s ?? [predicted, predicted];
    return { predicted_s: predicted, error: Math.log(predicted / measured),
        covered: low <= measured && measured <= high };
}
