#include "engine/check_traffic.h"

#include <assert.h>
#include <stddef.h>

#include "engine/adapter.h"
#include "engine/low_precision.h"
#include "engine/schedule.h"
#include "engine/states.h"

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

/* Sharded optimizer states are stepped and written back as the parameters are stored; only FSDP casts
 * what it gathers. */
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
        sl_hint(err, "leave it out, or framework fsdp2");
    else
        sl_hint(err, "%s, or framework fsdp2", names[own[workload->precision]]);
    return code;
}

static sl_code
check_primary(const sl_workload *workload, sl_errors *err)
{
    if (!workload->fp8.primary_weights)
        return SL_OK;
    if (sl_adapter_on(&workload->adapter))
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/fp8/primary_weights",
                       "a frozen base is stored as the adapter's base says, not as it multiplies");
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

sl_code
sl_check_traffic(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_code reduce = check_reduce(&question->workload, err);
    const sl_code gather = check_gather(&question->workload, err);
    const sl_code primary = check_primary(&question->workload, err);
    const sl_code overlap = check_overlap(question, err);

    return reduce != SL_OK    ? reduce
           : gather != SL_OK  ? gather
           : primary != SL_OK ? primary
                              : overlap;
}
