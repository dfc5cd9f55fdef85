#include "engine/check/check_traffic.h"

#include <assert.h>
#include <stddef.h>

#include "engine/check/check.h"
#include "engine/placement/adapter.h"
#include "engine/placement/states.h"
#include "engine/price/low_precision.h"
#include "engine/schedule/schedule.h"

static sl_code
check_reduce(const sl_workload *workload, sl_errors *err)
{
    if (workload->reduce != SL_WIRE_BF16 || workload->framework != SL_FRAMEWORK_MEGATRON ||
        (workload->precision != SL_PRECISION_FP16 &&
         sl_precision_kept_bytes(workload->precision) < 4.0))
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "reduce_dtype_not_of_framework", "/parallelism/grad_reduce_dtype",
                "megatron reduces gradients in bf16 where it trains in bf16 only");
    sl_hint(err, "fp32, or precision bf16");
    return code;
}

/* Weights in 8 bits are gathered where torchao's Float8Linear multiplies them with one scale a tensor,
 * under fully_shard (enable_fsdp_float8_all_gather). */
static sl_code
check_gather_low(const sl_workload *workload, sl_errors *err)
{
    if (workload->gather != SL_WIRE_FP8 || !sl_framework_is_fsdp(workload->framework) ||
        (workload->framework == SL_FRAMEWORK_FSDP2 && workload->precision == SL_PRECISION_FP8 &&
         workload->fp8.recipe != SL_RECIPE_ROWWISE && workload->fp8.recipe != SL_RECIPE_BLOCK))
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "gather_dtype_not_of_framework", "/parallelism/gather_dtype",
                "fsdp2 alone gathers weights in 8 bits, those of precision fp8 with one scale a "
                "tensor");
    sl_hint(err, "bf16");
    return code;
}

/* Sharded optimizer states are stepped and written back as the parameters are stored; only FSDP
 * casts what it gathers. */
static sl_code
check_gather(const sl_workload *workload, sl_errors *err)
{
    static const sl_wire own[SL_PRECISION_COUNT] = {
        [SL_PRECISION_BF16] = SL_WIRE_BF16,  [SL_PRECISION_FP16] = SL_WIRE_FP16,
        [SL_PRECISION_TF32] = SL_WIRE_FP32,  [SL_PRECISION_FP32] = SL_WIRE_FP32,
        [SL_PRECISION_FP8] = SL_WIRE_BF16,   [SL_PRECISION_MXFP8] = SL_WIRE_BF16,
        [SL_PRECISION_NVFP4] = SL_WIRE_BF16,
    };
    static const char *const names[SL_WIRE_COUNT] = {
        [SL_WIRE_BF16] = "bf16", [SL_WIRE_FP32] = "fp32", [SL_WIRE_FP16] = "fp16"};
    const bool replicated = sl_framework_replicates(workload->framework);

    /* Weights that are stored with one scale a tensor travel as they are. */
    const bool stored = workload->fp8.primary_weights && workload->precision == SL_PRECISION_FP8;

    if (workload->gather == SL_WIRE_DEFAULT || (stored && workload->gather == SL_WIRE_FP8) ||
        sl_framework_is_fsdp(workload->framework) ||
        (!replicated && workload->gather == own[workload->precision]))
        return SL_OK;

    const sl_code code = sl_fail(
        err, SL_E_RANGE, "gather_dtype_not_of_framework", "/parallelism/gather_dtype", "%s",
        replicated ? "every rank holds every parameter: none is gathered"
                   : "only fsdp gathers parameters in another type than they are stored in");
    if (replicated)
        sl_hint(err, "leave it out, or framework fsdp2 with zero_stage 3");
    else
        sl_hint(err, "%s, or framework fsdp2 with zero_stage 3", names[own[workload->precision]]);
    return code;
}

/* Megatron's activation_func_fp8_input_store, of its fused SwiGLU alone (transformer_config.py). */
static sl_code
check_activation_inputs(const sl_question *question, sl_errors *err)
{
    const sl_model *model = question->model;
    bool gated = false;

    if (!question->workload.fp8.activation_inputs)
        return SL_OK;
    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].operator_count; i++)
            gated |= sl_operator_is_gated(&model->kinds[k].operators[i]);
    if (gated && question->workload.framework == SL_FRAMEWORK_MEGATRON)
        return SL_OK;
    const sl_code code =
        sl_fail(err, SL_E_RANGE, "activation_inputs_not_kept_low",
                "/workload/fp8/activation_input_store", "%s",
                gated ? "only megatron keeps what SwiGLU read in 8 bits until backward"
                      : "only what a gated activation read is kept in 8 bits");
    sl_hint(err, gated ? "false, or framework megatron" : "false");
    return code;
}

/* TransformerEngine's fp8_dpa: cuDNN's kernels, under recipes of 8 bits (its
 * dot_product_attention/utils.py; FlashAttention 3 has no backward of it). */
static sl_code
check_attention_low(const sl_question *question, sl_errors *err)
{
    const sl_workload *workload = &question->workload;
    const bool eight =
        workload->precision == SL_PRECISION_FP8 || workload->precision == SL_PRECISION_MXFP8;
    const bool fused = workload->attention == SL_ATTENTION_CUDNN ||
                       !sl_check_knows(question, SL_UNKNOWN_ATTENTION);

    if (!workload->fp8.attention ||
        (eight && fused && workload->framework == SL_FRAMEWORK_MEGATRON))
        return SL_OK;
    const sl_code code = sl_fail(
        err, SL_E_RANGE, "attention_not_low", "/workload/fp8/dot_product_attention", "%s",
        !eight   ? "attention multiplies in 8 bits under precisions fp8 and mxfp8 alone"
        : !fused ? "attention in 8 bits is cuDNN's"
                 : "attention in 8 bits is TransformerEngine's, modelled for megatron alone");
    sl_hint(err, "false, or %s",
            !eight   ? "precision fp8"
            : !fused ? "attention cudnn"
                     : "framework megatron");
    return code;
}

static sl_code
check_primary(const sl_workload *workload, sl_errors *err)
{
    if (workload->fp8.transposed_anew &&
        !(workload->fp8.primary_weights && sl_low_has_one_scale(workload))) {
        sl_code code =
            sl_fail(err, SL_E_RANGE, "transposes_not_apart", "/workload/fp8/transpose_cache",
                    "only weights that are stored in fp8 with one scale a tensor can be "
                    "transposed when they are needed");
        sl_hint(err, "true, or primary_weights true under recipe delayed or current");
        return code;
    }
    if (!workload->fp8.primary_weights)
        return SL_OK;
    if (sl_adapter_on(&workload->adapter) && workload->adapter.base != SL_ADAPTER_BASE_BF16) {
        sl_code code = sl_fail(err, SL_E_RANGE, "primary_weights_of_quantised_base",
                               "/workload/fp8/primary_weights",
                               "a base that is quantised is stored as adapter.base says");
        sl_hint(err, "false, or adapter.base bf16");
        return code;
    }
    if (sl_low_keeps_operands(workload))
        return SL_OK;

    const sl_code code = sl_fail(err, SL_E_RANGE, "primary_weights_not_of_framework",
                                 "/workload/fp8/primary_weights",
                                 "only megatron stores weights in the type they multiply in");
    sl_hint(err, "false, or framework megatron");
    return code;
}

/* Megatron's combined 1F1B: one micro-batch's forward beside another's backward, chunk by chunk. */
static sl_code
check_overlap(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const char *pointer = "/workload/moe/overlap";
    sl_code code = SL_OK;

    if (!plan->overlap_experts)
        return SL_OK;
    if (question->workload.framework != SL_FRAMEWORK_MEGATRON) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                       "tokens that travel under computing are modelled for megatron");
        sl_hint(err, "false, or framework megatron");
    } else if (plan->expert <= 1) {
        code = sl_fail(err, SL_E_RANGE, "overlap_not_possible", pointer,
                       "no tokens travel: experts are not parallel");
        sl_hint(err, "false, or parallelism.expert above 1");
    } else if (plan->pipeline > 1 && sl_schedule_of(plan) != SL_SCHEDULE_INTERLEAVED_1F1B &&
               sl_schedule_of(plan) != SL_SCHEDULE_DUALPIPE) {
        code = sl_fail(err, SL_E_RANGE, "overlap_not_possible", pointer,
                       "with a pipeline it needs several chunks on each rank");
        sl_hint(err, "false, or parallelism.virtual_pipeline above 1");
    } else if (question->workload.recompute == SL_RECOMPUTE_FULL) {
        code = sl_fail(err, SL_E_RANGE, "overlap_not_possible", pointer,
                       "it does not go with full recomputation");
        sl_hint(err, "false, or recompute selective, none or by modules");
    }
    return code;
}

/* One line a rule of a framework, with what it does have. */
static sl_code
refuse_sync(const char *rule, const char *message, const char *hint, sl_errors *err)
{
    const sl_code code =
        sl_fail(err, SL_E_RANGE, rule, "/parallelism/gradient_sync", "%s", message);
    sl_hint(err, "%s", hint);
    return code;
}

/* To reduce once a step takes gradients that are whole until then. */
static sl_code
check_last(const sl_question *question, bool divided, sl_errors *err)
{
    static const char rule[] = "gradient_sync_not_of_framework";

    switch (question->workload.framework) {
    case SL_FRAMEWORK_DP:
        return refuse_sync(rule, "dp sums the gradients of its devices with every micro-batch",
                           "each, or framework ddp", err);
    case SL_FRAMEWORK_DEEPSPEED:
        return !divided ? SL_OK
                        : refuse_sync(rule,
                                      "deepspeed refuses no_sync where it partitions gradients: "
                                      "stages 2 and 3 reduce with every micro-batch",
                                      "each, or zero_stage 1", err);
    case SL_FRAMEWORK_MEGATRON:
        return !divided ? SL_OK
                        : refuse_sync(rule,
                                      "Megatron-FSDP (stages 2 and 3) reduces divided gradients "
                                      "with every micro-batch",
                                      "each, or zero_stage 1", err);
    default:
        return question->software_count == 1 && question->software->traced_sharding
                   ? refuse_sync(rule,
                                 "one traced graph reduces each gradient where it is made: it has "
                                 "no no_sync",
                                 "each, or other software", err)
                   : SL_OK;
    }
}

/* ... and to reduce with each one, a framework that does not wait for the end of the step. */
static sl_code
check_each(const sl_question *question, bool divided, sl_errors *err)
{
    static const char rule[] = "gradient_sync_not_of_framework";
    const sl_workload *workload = &question->workload;
    const bool several =
        workload->global_batch > (uint64_t)question->plan.data * workload->micro_batch;

    if (workload->framework == SL_FRAMEWORK_MEGATRON && !divided)
        return refuse_sync(rule, "megatron sums gradients where they lie and reduces them once",
                           "last, or zero_stage 3", err);
    if (workload->framework == SL_FRAMEWORK_DEEPSPEED && !divided)
        return refuse_sync(rule, "deepspeed's stages 0 and 1 reduce once, when the step is due",
                           "last, or zero_stage 2", err);
    if (workload->framework == SL_FRAMEWORK_FSDP1 && workload->offload.parameters && several &&
        (question->unknown & (uint32_t)SL_UNKNOWN_MICRO_BATCH) == 0)
        return refuse_sync("each_with_offload",
                           "FSDP 1 with its parameters in the host's memory overwrites the "
                           "gradients of earlier micro-batches outside of no_sync",
                           "last, or framework fsdp2", err);
    return SL_OK;
}

static sl_code
check_gradient_sync(const sl_question *question, sl_errors *err)
{
    const bool divided = question->plan.zero_stage >= 2;
    const bool stage_open = (question->unknown & (uint32_t)SL_UNKNOWN_ZERO_STAGE) != 0;
    const sl_framework framework = question->workload.framework;
    const bool by_stage = framework == SL_FRAMEWORK_DEEPSPEED || framework == SL_FRAMEWORK_MEGATRON;

    if (question->plan.gradient_sync == SL_GRADIENT_SYNC_DEFAULT || (stage_open && by_stage))
        return SL_OK;
    return question->plan.gradient_sync == SL_GRADIENT_SYNC_LAST
               ? check_last(question, divided, err)
               : check_each(question, divided, err);
}

sl_code
sl_check_traffic(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_code reduce = check_reduce(&question->workload, err);
    const sl_code wide = check_gather(&question->workload, err);
    const sl_code gather = wide != SL_OK ? wide : check_gather_low(&question->workload, err);
    const sl_code primary = check_primary(&question->workload, err);
    const sl_code inputs = check_activation_inputs(question, err);
    const sl_code attention = check_attention_low(question, err);
    const sl_code overlap = check_overlap(question, err);
    const sl_code sync = check_gradient_sync(question, err);

    return reduce != SL_OK      ? reduce
           : gather != SL_OK    ? gather
           : primary != SL_OK   ? primary
           : inputs != SL_OK    ? inputs
           : attention != SL_OK ? attention
           : overlap != SL_OK   ? overlap
                                : sync;
}
