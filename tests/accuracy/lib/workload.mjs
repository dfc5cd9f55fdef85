/** What the row runs: framework, precision, optimizer, recomputation, adapter and the like. */
import { inWordsOf } from './model.mjs';
import { chunkedReleases, figuresOf, knownRelease, releaseFrameworks, titanRelease } from './releases.mjs';
import { count, firstMatch, known, pairs, tokenDrop, truth } from './words.mjs';

/** Sharding names the mechanism; the framework's name decides where it says nothing of it. */
const frameworks = [
    [/no_shard/i, 'ddp'],
    [/fsdp1/i, 'fsdp1'],
    [/fsdp ?2/i, 'fsdp2'],
    [/torchtitan|automodel/i, 'fsdp2'],
    [/megatron|\bnemo\b|gpt-?neox|megascale|nanotron/i, 'megatron'],
    [/deepspeed|zero[ -]?[0-3]|low-?level-?zero/i, 'deepspeed'],
    [/fsdp|full_shard|shard_grad_op|hybrid_shard|hsdp/i, 'fsdp2'],
    [/\bddp\b|torchtune|\bHF\b|hugging|accelerate|unsloth|lightning|litgpt|axolotl|llama-?factory|\btrl\b|nanogpt/i, 'ddp'],
    [/\bdata ?parallel\b|\bdp\b/i, 'dp'],
];

/** Trainer and what runs it, whose FSDP is the first unless a version is said (Accelerate's fsdp_version). */
const trainers = /^HF (PEFT$|Trainer|.*Accelerate)|^(trl|axolotl|llama-?factory)\b/i;

/** PyTorch's own by its name alone is the first, too, and so is that of tools from before the second. */
const firstFsdp = /PyTorch FSDP\b|composer|foundry|metaseq|fairseq|fms-fsdp|\bOLMo\b(?!-core)/i;

/** Releases as profiles name them. Without one, every profile of the framework stays open. */
const profiles = [
    [/^internlm\b/i, 'internlm-2023'],
    [/megatron-bridge/i, 'mbridge-26.04'],
    [/^megatron-deepspeed\b/i, 'megatron-deepspeed-2023'],
    [/^nemo (framework|launcher|megatron)\b/i, 'nemo-24.07'],
    [/^megatron-lm\b.*\blegacy\b/i, 'megatron-lm-2023'],
    [/\bautomodel\b/i, 'automodel-2025'],
    [/foundry|composer/i, 'llm-foundry-torch2.1'],
    [/^nanotron\b/i, 'nanotron-2024'],
    // PEFT's guides run its examples/sft, whose launch commands set use_reentrant; so does Trainer by itself.
    [trainers, 'transformers-fsdp1-4.x'],
    [/^modalities\b/i, 'modalities-2025'],
    [/^(?!torchtitan).*\bFSDP2\)?$/, 'pytorch-fsdp2-2.x'],
    [/megatron-lm.*(TransformerEngine|TE) 2\b/i, 'megatron-core-0.15'],
];

/** These tools fine-tune; the others pretrain unless the row has an adapter. */
const finetuners = /torchtune|\bHF\b|peft|unsloth|colossal|lightning|litgpt|llama-?factory|axolotl|\btrl\b/i;

const quantizedPrecisions = [[/nvfp4/i, 'nvfp4'], [/mxfp8/i, 'mxfp8'], [/float8|fp8/i, 'fp8']];
const precisions = [
    ...quantizedPrecisions,
    [/bf16 (compute|amp|autocast|mixed|parameters)/i, 'bf16'],
    [/fp16 (compute|amp|autocast|mixed)/i, 'fp16'],
    [/^tf32/i, 'tf32'],
    [/^fp32(?! ?\+ ?(bf|fp)16)/i, 'fp32'],
    [/bf16|bfloat16/i, 'bf16'],
    [/fp16|float16/i, 'fp16'],
];

/** Bytes per parameter where the row's layout is not the one its framework has by itself. */
const layouts = [
    [/bf16 master weights, grads and optimizer states/i, [2, 2, 2, 4]],
    [/bf16 param\+grad, fp32 master/i, [2, 2, 4, 8]],
    [/pure bf16|bf16 weights.*bf16 (optimizer|states)/i, [2, 2, 0, 4]],
    [/bf16 params?(\/| and )grads?.*fp32 Adam/i, [2, 2, 0, 8]],
    // Megatron's precision-aware optimizer: what of a master its 16-bit weight lacks.
    [/bf16 main grads, int16 master\b.*fp32 m, v/i, [2, 2, 2, 8]],
    [/bf16 main grads, int16 master\b.*bf16 m, v/i, [2, 2, 2, 4]],
    [/bf16 main grads, int16 master\b.*fp8 m, v/i, [2, 2, 2, 2]],
    // DeepSpeed's bf16_optimizer.py adds the 16-bit gradients up in others, whole at stage 1.
    [/bf16 \+ fp32 accumulated gradients/i, [2, 6, 4, 8]],
];
const frozenBaseLayouts = [[/bf16 base/i, [2, 2, 0, 4]]];

const optimizers = [
    [/per recipe|\bor\b|lion|galore|lomo|apollo/i, undefined],
    [/4-?bit/i, 'adamw_4bit'],
    [/8-?bit|paged/i, 'adamw_8bit'],
    [/adafactor/i, 'adafactor'],
    [/muon/i, 'muon'],
    [/adam/i, 'adamw'],
    [/sgd.*(?<!no )momentum|(?<!no )momentum.*sgd/i, 'sgd_momentum'],
    [/sgd/i, 'sgd'],
];

/** FlashAttention 4 is Blackwell's and, where both were measured, as fast as cuDNN's (attention_laws.csv). */
const attentions = [
    [/eager|unfused|materialised/i, 'unfused'],
    [/flash-?(attn|attention)?[- ]?4/i, 'cudnn'],
    [/flash-?(attn|attention)?[- ]?3/i, 'flash3'],
    [/flash-?(attn|attention)?[- ]?2/i, 'flash2'],
    [/sdpa/i, 'sdpa'],
    [/flex/i, 'flex'],
    [/flash/i, 'flash'],
    [/\bTE\b|cudnn/i, 'cudnn'],
];

const losses = [
    [/CCE|tiled loss|\b[Ll]iger\b/, 'cut'],
    [/chunked(?!\/)/i, 'chunked'],
    [/compiled/i, 'fused'],
    [/fused/i, 'fused'],
    [/parallel/i, 'parallel'],
    [/bf16 logits/i, 'eager_16bit'],
    [/fp32 logits|eager/i, 'eager'],
];

/** Left to TransformerEngine: cuDNN's kernels, but on Ampere flash-attention's (get_attention_backend). */
const attentionOf = (row) => (/\bTE fused\/flash\b/.test(row.attention) && !/\bA\d/.test(row.gpu)
    ? 'cudnn' : firstMatch(attentions, row.attention));

/**
 * What tools do by themselves: torchtune's recipes compute the loss in chunks since its release of
 * Llama 3.1, of models as new as that, and took the logits to fp32 before, as transformers' loss does. Modalities' takes them as they are
 * (its loss_functions.py).
 */
const toolLosses = [[/torchtune.*(llama[ -]?3\.[1-9]|qwen|phi-?4)/i, 'chunked'], [/^Modalities\b/i, 'eager_16bit'],
    [/^(HF\b|torchtune|axolotl\b|llama-?factory\b|trl\b)/i, 'eager']];

const compiled = [[/^(1|true|yes|aot_eager|inductor)$/i, true], [/^(0|false|no|loss)$/i, false]];

/** Of hidden states; an adapter's own is none of these. */
const dropouts = [[/\bresid(ual|_pdrop)\b[^,;]* 0\.0*[1-9]|\bdropout 0\.1 and 0\.1\b/, true], [/\bdropout 0(?=[,;]|$)/, false]];

const modules = /^(core_attn|mlp|layernorm|moe_act|mla_up_proj|moe|shared_experts)$/;

/** ALST's: as many as the width goes into a rank's sequence (DeepSpeed's TiledMLP, as it is shown there). */
const tilesOf = (row) => Math.ceil(Number(row.seq_len) / Math.max(1, Number(row.cp)) / Number(row.h));

function recomputeOf(row, isTitan) {
    const text = row.recompute;
    const parts = text.replace(/ selective$/, '').split(' + ');
    if (text === '' || /not stated|none stated|per recipe/i.test(text))
        return undefined;
    if (/^none/i.test(text) || truth(text) === false)
        return 'none';
    if (/^every 2nd layer/i.test(text) && count(row.L, 2) !== undefined)
        return { mode: 'full', method: 'block', layers: Math.floor(Number(row.L) / 2) };
    const [, layers] = text.match(/^(?:full \()?block,? (\d+)(?: layers)?(?: per stage)?\)?$/i) ?? [];
    if (layers !== undefined)
        return { mode: 'full', method: 'block', layers: Number(layers) };
    if (/tiled MLP/i.test(text))
        return { mode: 'full', mlp_tiles: tilesOf(row) };
    if (/^full|checkpointing|^AC$/i.test(text) || truth(text) === true)
        return 'full';
    if (/^(selective \()?core[ _]att(n|ention)\)?$/.test(parts.join(' + ')))
        return { mode: 'core_attention' };
    if (/SAC/.test(text) || (isTitan && /^selective/i.test(text)))
        return { mode: 'op_sac' };
    if (parts.every((part) => modules.test(part)))
        return { mode: 'modules', modules: parts };
    return /^selective/i.test(text) ? 'selective' : undefined;
}

/** torchtitan's own loss is the profile's, unless it alone was compiled, or that is one in chunks. */
function lossOf(row, release) {
    const loss = firstMatch(losses, row.ce_impl) ?? firstMatch(losses, row.recompute)
        ?? firstMatch(toolLosses, row.source) ?? firstMatch(toolLosses, `${row.framework}, ${row.model}`);
    if (release === undefined)
        return loss;
    if (row.compile === 'loss')
        return 'fused';
    return loss === 'eager' && !chunkedReleases.has(release) ? undefined : loss;
}

const adapterMethods = [
    [/^q?lora-fa/i, 'lora_fa'],
    [/^q?lora\b/i, 'lora'],
    [/layernorm|^ln/i, 'ln_tuning'],
];
const untargeted = ['ia3', 'ln_tuning', 'prompt_tuning'];
const attentionTargets = ['q_proj', 'v_proj'];
const mlpTargets = ['gate_proj', 'up_proj', 'down_proj'];
const adapterTargets = [
    [/all[ -]linear.*output/i, ['all-linear', 'lm_head']],
    [/all[ -]linear|\batt(n|ention)\b.*\bMLP\b/i, ['all-linear']],
    [/\bq, ?k, ?v,? ?(and )?o\b|\batt(n|ention)\b/i, ['q_proj', 'k_proj', 'v_proj', 'o_proj']],
    [/\bq, ?k, ?v\b/i, ['q_proj', 'k_proj', 'v_proj']],
    [/\bq, ?v\b/i, attentionTargets],
    [/\bMLP\b/i, mlpTargets],
];

/** The layers that the text names itself, as PEFT is told them; else what its words stand for. */
const targetsOf = (text) => text.match(/\b\w+_proj\b|\bquery_key_value\b|\bc_attn\b|\blm_head\b/g)
    ?? firstMatch(adapterTargets, text);

/** The month that a source names; one that names none is of no known age. */
const monthOf = ({ source }) => /\b20\d\d-\d\d\b/.exec(source)?.[0] ?? '';
const isBefore = (row, month) => monthOf(row) !== '' && monthOf(row) < month;

/** Transformers' Trainer runs under autocast with bf16=True; so does what calls itself amp. */
const autocasts = ({ framework, precision_layout: layout }) => !/no autocast/.test(layout)
    && (/\bamp\b/.test(layout) || /^HF transformers\b/.test(framework));

function adapterOf(row) {
    if (row.peft === '')
        return undefined;
    const fused = /unsloth/i.test(row.framework);
    // PEFT's guides of sharded training run examples/sft: nested scales, a dropout of 0.1.
    const guided = /^HF PEFT$/.test(row.framework) && /fsdp|zero-?3/i.test(row.sharding);
    // Unsloth and torchao, whose NF4 torchtune takes, always quantise the scales too.
    const nf4 = guided || /unsloth|torchtune/i.test(row.framework) ? 'nf4_double' : 'nf4';
    // Scales apart, whatever else has 4 bits takes the same bytes.
    const base = [[/double/i, 'nf4_double'], [/gptq/i, 'nf4_double'], [/nf4|fp4|int4|\b4[ -]?bit/i, nf4],
        [/int8|\b8[ -]?bit/i, 'int8']];
    const plainBase = /bf16/i.test(row.precision_layout) ? 'bf16' : undefined;
    // What is sharded is stored in one type, adapters and all.
    const inOneType = /bf16 storage/i.test(row.base_quant);
    const method = firstMatch(adapterMethods, row.peft)
        ?? row.peft.toLowerCase().replace(/[^a-z0-9]+/g, '_');
    // Each virtual token trains one row as wide as the embedding.
    const [, trainable] = row.other_measured.match(/trainable (\d+)/) ?? [];
    const tokens = method === 'prompt_tuning' ? Number(trainable) / Number(row.h) : undefined;
    const peftOwn = /peft/i.test(row.framework) && !untargeted.includes(method)
        ? attentionTargets : undefined;
    return known({
        method,
        rank: count(row.lora_rank, 1) ?? count(/\br(?:ank)?[ =]?(\d+)\b/i.exec(row.peft)?.[1], 1),
        virtual_tokens: Number.isInteger(tokens) ? tokens : undefined,
        targets: inWordsOf(row, targetsOf(row.peft) ?? peftOwn),
        dtype: /pure bf16|bf16\/fp16 params/i.test(row.precision_layout) || inOneType
            ? 'bf16' : undefined,
        autocast: autocasts(row) || (/no autocast/.test(row.precision_layout) ? false : undefined),
        fused: fused || undefined,
        dropout: guided ? 0.1 : Number(row.peft.match(/\bdropout (0\.\d+)/)?.[1]) || undefined,
        sequence_parallel_input_regather: /regathered input|input re-gather/.test(row.notes) || undefined,
        base: firstMatch(base, row.base_quant) ?? (/^q/i.test(row.peft) ? nf4 : plainBase),
        // PEFT casts what bitsandbytes does not quantise before it trains on it.
        unquantized: /bnb/i.test(row.base_quant) && /^HF\b/.test(row.framework) && !inOneType
            ? 'fp32' : undefined,
        // bitsandbytes kept what its 4-bit products read before 0.43.2.
        base_keeps_inputs: /^bnb nf4/i.test(row.base_quant) && isBefore(row, '2024-08') || undefined,
    });
}

/** Under autocast FSDP gathers what it stores, in 32 bits; a policy of its own has it in 16. */
export const gathersWide = (row) =>
    /\bamp\b/.test(row.precision_layout) && /^fsdp/.test(frameworkOf(row) ?? '');

/** "2+2+8", or with master weights "2+2+4+8". */
function summedOf({ precision_layout: text }) {
    const [, parameters, gradients, third, last] = /(?<![\d+])(\d)\+(\d)\+(\d{1,2})(?:\+(\d{1,2}))?(?![\d+/])/.exec(text) ?? [];
    if (parameters === undefined)
        return undefined;
    return [parameters, gradients, ...(last === undefined ? [0, third] : [third, last])].map(Number);
}

/** The lists have Adam's two moments; SGD has one of them, or none. */
const ofMoments = (row) => ({ sgd: 0, sgd_momentum: 0.5 })[firstMatch(optimizers, row.optimizer)] ?? 1;

function layoutOf(row) {
    if (row.peft !== '' && (gathersWide(row) || /\bfp32 (frozen )?base\b/.test(row.precision_layout)))
        return { parameter_bytes: 4 };
    const lists = row.peft === '' ? [...layouts, ...frozenBaseLayouts] : [];
    const bytes = firstMatch(lists, row.precision_layout) ?? (row.peft === '' ? summedOf(row) : undefined);
    if (bytes === undefined) {
        const narrow = known({
            gradient_bytes: /\bbf16 main gradients\b/.test(row.notes) ? 2 : undefined,
            optimizer_bytes: /\bbf16 moments\b/.test(row.notes) ? 4 : undefined,
        });
        return Object.keys(narrow).length > 0 ? narrow : undefined;
    }
    const [parameter_bytes, gradient_bytes, master_weight_bytes, moments] = bytes;
    return { parameter_bytes, gradient_bytes, master_weight_bytes, optimizer_bytes: moments * ofMoments(row) };
}

/**
 * Megatron-Bridge's recipes with delayed and current scaling keep the weights themselves in fp8
 * (fp8_param_gather in its mixed_precision.py), those in MXFP8 since 2026, and so does who says it.
 * Its adapters train beside weights as they were stored.
 */
function keepsWeightsLow(row, precision, recipe) {
    if (/fp8 primary weights/i.test(`${row.precision_layout} ${row.notes}`))
        return true;
    return /^megatron-bridge/i.test(row.framework) && row.peft === '' && recipe !== 'block'
        && (precision === 'fp8' || (precision === 'mxfp8' && !/-25\./.test(row.software)));
}

function fp8Of(row, precision) {
    const text = `${row.base_quant} ${row.precision_layout}`;
    if (!['fp8', 'mxfp8', 'nvfp4'].includes(precision))
        return undefined;
    const [, last] = text.match(/layers 0-(\d+), bf16 tail/) ?? [];
    const recipes = [[/mxfp8/i, 'mxfp8'], [/tensorwise/i, 'tensorwise'], [/rowwise/i, 'rowwise'],
        [/block/i, 'block'], [/delayed/i, 'delayed'], [/current/i, 'current']];
    // NeMo's configurations have a history of 1,024 maxima (fp8_amax_history_len, fp8_amax_compute_algo).
    const recipe = firstMatch(recipes, text)
        ?? (precision === 'fp8' && /^nemo framework/i.test(row.framework) ? 'delayed' : undefined);
    return known({
        recipe,
        primary_weights: keepsWeightsLow(row, precision, recipe) || undefined,
        transpose_cache: /transposes not cached/.test(row.notes) ? false : undefined,
        activation_input_store: /SwiGLU inputs kept in fp8/.test(row.notes) || undefined,
        dot_product_attention: /\bfp8 attention\b/.test(row.notes) || undefined,
        all_gather: /(?<!bf16 )all-gather/i.test(row.base_quant) || undefined,
        bf16_layers: last === undefined ? undefined : Number(row.L) - 1 - Number(last),
    });
}

function moeOf(row) {
    return known({
        balance: firstMatch([[/forced balance/i, 'forced'], [/free routing/i, 'free']],
            row.notes),
        // Grok-1's experts are padded to a capacity of 1.0 (dgxc-benchmarking grok1/grok1_314b.yaml).
        capacity_factor: pairs(row.moe).capacity_factor ?? (/^grok/i.test(row.model) ? 1 : undefined),
        dispatcher: firstMatch([[/hybridep/i, 'hybridep'], [/deepep/i, 'deepep'],
            [/all-?to-?all dispatcher/i, 'alltoall'],
            // Megatron drops tokens with its all-to-all alone (moe_expert_capacity_factor).
            [tokenDrop, 'alltoall']], row.notes),
        overlap: /moe[_ ]a2a[_ ]overlap|overlap moe ep comm|(?<!\bno )overlap of expert exchange/.test(row.notes) || undefined,
    });
}

/** Batches padded to their longest; how long the others are is not known, and counts for nothing. */
function documentsOf(row) {
    const mean_length = count(row.seq_len, 1);
    return mean_length !== undefined && /longest sample|length varies|unpacked/i.test(row.notes)
        ? { mean_length, packed: false, padding: 'longest' } : undefined;
}

/** Where the row keeps states off the device. */
export function offloadOf(row) {
    const text = row.cpu_offload;
    const states = /optimizer|\badam\b|deepspeed|zero|fsdp/i.test(text) && !/fraction 0$/.test(text);
    const away = (condition) => (condition ? 'cpu' : undefined);
    const [, fraction] = text.match(/fraction (0?\.\d+)/) ?? [];
    const [, layers] = row.notes.match(/activation CPU offload of (\d+) layers/) ?? [];
    return known({
        optimizer: away(states),
        parameters: away(/zero-?3|fsdp|\bparam(eter)?s\b/i.test(text)),
        activations: away(/offload/i.test(row.recompute)
            || /activation (CPU )?offload/i.test(row.notes)),
        activation_layers: layers === undefined ? undefined : Number(layers),
        optimizer_fraction: fraction === undefined ? undefined : Number(fraction),
    });
}

/** Replicas that share nothing. */
export const plainReplicas = /^(ddp|dp|data[ -]?parallel)$/i;

/**
 * Some name stages of ZeRO for Megatron's optimizers: a release that is known tells whose they are.
 * What a tool does by itself cuts no model: one whose model is cut does something else, unsaid.
 */
export function frameworkOf(row) {
    const said = releaseFrameworks.get(row.software) ?? firstMatch(frameworks, row.sharding);
    const own = firstMatch(frameworks, row.framework);
    const cuts = (count(row.tp, 2) ?? count(row.pp, 2)) !== undefined;
    // Megatron and its kin have replicas and a stage 1 of their own, but where DeepSpeed is beneath.
    if (own === 'megatron' && (/zero[ -]?[01]\b/i.test(row.sharding) || plainReplicas.test(row.sharding))
        && !/deepspeed|neox/i.test(row.framework))
        return own;
    if (said === 'fsdp2' && (trainers.test(row.framework) || firstFsdp.test(row.framework))
        && !/fsdp ?2/i.test(row.sharding))
        return 'fsdp1';
    return said ?? (cuts && own === 'ddp' ? undefined : own);
}

/** Replicas of models of transformers as sources of before 2023 ran them, whose PyTorch was 1. */
const early = (row) => frameworkOf(row) === 'ddp' && /\b20(1\d|2[0-2])\b/.test(row.source)
    ? 'pytorch-ddp-1.x' : undefined;

/** NeMo and Megatron-Bridge by their months. */
function datedOf(framework) {
    const [, family, month] = /\b(nemo|megatron-bridge)\b[^\d]*(\d\d\.\d\d)\b/i.exec(framework) ?? [];
    return month && knownRelease(`${/nemo/i.test(family) ? 'nemo' : 'mbridge'}-${month}`);
}

const isReleaseOf = (row, named) => named !== undefined && releaseFrameworks.get(named) === frameworkOf(row);

/** What the row names, else what its source tells of torchtitan, else the framework's words. */
function softwareOf(row, release) {
    // Beside DeepSpeed's own stages Megatron-DeepSpeed is no release of it.
    const own = [datedOf(row.framework), firstMatch(profiles, row.framework)].find((named) => isReleaseOf(row, named));
    const named = knownRelease(row.software);
    return named !== undefined && (frameworkOf(row) === undefined || isReleaseOf(row, named)) ? named
        : release || own || early(row);
}

export const interleaved = /^interleaved([ _-]?1f1b)?$|^1f1b[ -]interleaved$/i;
const FEWEST_STAGES = 2;
const MOST_STAGES = 8;

/**
 * Stages a rank holds of an interleaved schedule that does not say: torchtitan's two, unless its
 * command line says, and elsewhere as few as blocks divide by.
 */
export function stagesPerRank(row) {
    const said = count(row.vpp, 1);
    if (said !== undefined || !interleaved.test(row.schedule))
        return said;
    let stages = FEWEST_STAGES;
    while (!/torchtitan/i.test(row.framework) && stages < MOST_STAGES && Number(row.L) % (Number(row.pp) * stages) !== 0)
        stages++;
    return stages === MOST_STAGES ? FEWEST_STAGES : stages;
}

/** Sequences of a replica: "local batch N", or its part of those of a step. */
function replicaBatchOf(row) {
    const data = count(row.dp, 1);
    const whole = count(row.global_batch_sequences, 1);
    return count(/local batch (\d+)/.exec(row.notes)?.[1], 1)
        ?? (whole !== undefined && whole % data === 0 ? whole / data : undefined);
}

/**
 * A micro-batch; torchtitan's pipelines split a replica's batch into as many as they have stages, as
 * pipeline_parallel_microbatches has it unless it is set (its config_manager.py until 2025-03).
 */
function microBatchOf(row, software) {
    const pipeline = count(row.pp, 2);
    const splits = pipeline !== undefined && /^torchtitan-202(4|5-0[1-3])/.test(software);
    const split = replicaBatchOf(row) / (pipeline * (stagesPerRank(row) ?? 1));
    return count(row.micro_batch, 1)
        ?? (splits && Number.isInteger(split) ? split : undefined);
}

/** Sequences of one step, where the row lets us multiply them. */
function globalBatchOf(row) {
    const data = count(row.dp, 1);
    const perReplica = replicaBatchOf(row);
    const microBatch = count(row.micro_batch, 1);
    if (count(row.global_batch_sequences, 1) !== undefined)
        return Number(row.global_batch_sequences);
    if (data === undefined)
        return undefined;
    if (microBatch === undefined)
        return perReplica === undefined ? undefined : perReplica * data;
    // "4/8/32 (same peak reused)" are several runs; without pipeline one micro-batch is a step.
    const [said] = row.num_microbatches.match(/^\d+/) ?? [];
    const [, accumulated] = row.precision_layout.match(/grad accum (\d+)/) ?? [];
    const steps = said ?? accumulated ?? (count(row.pp, 1) ?? 1) * (count(row.vpp, 1) ?? 1);
    return microBatch * Number(steps) * data;
}

/** Liger's kernels go as those of a release that has fused ones. */
const fusedKernels = figuresOf('mbridge-26.04', ['norm_ratio', 'activation_ratio', 'rotary_ratio']);
const hasFusedNorms = (row) => /\bLiger norms\b/.test(row.notes);

/**
 * Figures that a row says in place of the release's: a foreach AdamW makes lists, a fused one none, nor did PyTorch
 * before 2.0 (March 2023).
 */
function profileOf(row) {
    const lists = /foreach/i.test(row.optimizer) ? 1
        : /fused/i.test(row.optimizer) || /\b20(1\d|2[0-2])\b/.test(row.source) ? 0 : undefined;
    const figures = known({
        step_lists: lists,
        gradient_accumulation_fusion: /\bweight gradients not fused\b/.test(row.notes) ? 0 : undefined,
        // --cross-entropy-fusion-impl te: in place of the logits.
        fused_logits_peak_bytes: /\bTE fused\b/.test(row.ce_impl) ? 2 : undefined,
        ...(hasFusedNorms(row) ? fusedKernels : {}),
    });
    return Object.keys(figures).length > 0 ? figures : undefined;
}

export function workloadOf(row) {
    const isTitan = /torchtitan/i.test(row.framework);
    const framework = frameworkOf(row);
    const release = isTitan && framework === 'fsdp2' ? titanRelease(row) : undefined;
    const adapter = adapterOf(row);
    const finetunes = adapter !== undefined || finetuners.test(row.framework)
        || /sft|lora|finetun/i.test(row.task);
    // A quantised base belongs to the adapter; without one the linears compute in that format.
    const precision = (adapter === undefined && firstMatch(quantizedPrecisions, row.base_quant))
        || firstMatch(precisions, row.precision_layout);
    return known({
        kind: finetunes ? 'finetuning' : 'pretraining',
        framework,
        software: softwareOf(row, release),
        sequence_length: count(row.seq_len, 1),
        documents: documentsOf(row),
        global_batch_size: globalBatchOf(row),
        micro_batch_size: microBatchOf(row, softwareOf(row, release)),
        precision,
        fp8: fp8Of(row, precision),
        layout: layoutOf(row),
        optimizer: firstMatch(optimizers, row.optimizer),
        profile: profileOf(row),
        recompute: recomputeOf(row, isTitan),
        attention: attentionOf(row),
        loss: lossOf(row, release),
        activation_profile: hasFusedNorms(row) ? 'fused' : undefined,
        compile: firstMatch(compiled, row.compile),
        dropout: firstMatch(dropouts, row.notes),
        cuda_graphs: /CUDA graph of the full iteration/i.test(row.notes) ? 'full'
            : /CUDA graphs/i.test(row.notes) ? 'layer' : undefined,
        moe: moeOf(row),
        mtp: /\bno mtp\b/.test(row.notes) ? false : /\bmtp\b/.test(row.notes) || undefined,
        adapter,
        offload: offloadOf(row),
    });
}
