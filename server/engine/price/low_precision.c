#include "engine/price/low_precision.h"

#include "engine/placement/slice.h"

double
sl_low_value_bytes(const sl_workload *workload)
{
    if (workload->precision == SL_PRECISION_MXFP8)
        return 1.0 + 1.0 / 32.0;
    if (workload->precision == SL_PRECISION_NVFP4)
        return 0.5 + 1.0 / 16.0;
    return workload->fp8.recipe == SL_RECIPE_BLOCK ? 1.0 + 4.0 / 128.0 : 1.0;
}

double
sl_low_weight_value_bytes(const sl_workload *workload)
{
    const bool square =
        workload->precision == SL_PRECISION_FP8 && workload->fp8.recipe == SL_RECIPE_BLOCK;

    return square ? 1.0 + 4.0 / (128.0 * 128.0) : sl_low_value_bytes(workload);
}

bool
sl_low_has_one_scale(const sl_workload *workload)
{
    return workload->precision == SL_PRECISION_FP8 && workload->fp8.recipe != SL_RECIPE_BLOCK &&
           workload->fp8.recipe != SL_RECIPE_ROWWISE;
}

static double
weight_orientations(const sl_workload *workload, const sl_accelerator *part)
{
    return sl_low_has_one_scale(workload) && (part->any_layout || workload->fp8.transposed_anew)
               ? 1.0
               : 2.0;
}

bool
sl_low_keeps_operands(const sl_workload *workload)
{
    return workload->framework == SL_FRAMEWORK_MEGATRON && sl_precision_is_low(workload->precision);
}

double
sl_low_weight_bytes(const sl_workload *workload, const sl_accelerator *part)
{
    const double primary = workload->fp8.primary_weights ? 1.0 : 0.0;

    if (!sl_low_keeps_operands(workload))
        return 0.0;
    return sl_low_weight_value_bytes(workload) * (weight_orientations(workload, part) - primary);
}

double
sl_low_attention_bytes(const sl_workload *workload)
{
    const bool delayed =
        workload->precision == SL_PRECISION_FP8 &&
        (workload->fp8.recipe == SL_RECIPE_DEFAULT || workload->fp8.recipe == SL_RECIPE_DELAYED);

    return workload->fp8.attention && delayed ? 1.0 : sl_precision_kept_bytes(workload->precision);
}

double
sl_low_transposed_bytes(const sl_workload *workload, const sl_accelerator *part)
{
    return workload->fp8.transposed_anew && !part->any_layout ? sl_low_weight_value_bytes(workload)
                                                              : 0.0;
}
