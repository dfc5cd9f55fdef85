#include "engine/price/masks.h"

/* Gates of one and of two visits are made by code of their own. */
static const double own_code_visits = 2.0;

double
sl_masks_values(const sl_slice *slice, const sl_operator *op)
{
    if (slice->framework != SL_FRAMEWORK_DEEPSPEED || slice->capacity <= 0.0 ||
        op->kind != SL_OPERATOR_ROUTE)
        return 0.0;
    return slice->tokens * slice->tokens * op->visits * slice->capacity;
}

double
sl_masks_kept_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double values = sl_masks_values(slice, op);
    const double places = op->visits > own_code_visits ? values : values * op->visits / op->experts;

    return values > 0.0 ? 2.0 * slice->element_bytes * values + 4.0 * places : 0.0;
}

double
sl_masks_gradient_bytes(const sl_slice *slice, const sl_operator *op)
{
    return (slice->element_bytes + 4.0) * sl_masks_values(slice, op);
}

/* Bytes that kernels move for each value of a mask. Forward, weights are written in fp32, for two
 * visits twice and added up, for more made of one-hots in int64 and fp32; read for the other mask,
 * which is of bytes, and both are cast. Backward casts the gradient, and reads it for each visit's
 * gates. */
static double
value_bytes(const sl_slice *slice, const sl_operator *op, sl_pass pass)
{
    const double e = slice->element_bytes;
    const double made = op->visits <= 1.0               ? 4.0
                        : op->visits <= own_code_visits ? 4.0 + 4.0 + 12.0
                                                        : 8.0 + 12.0 + 8.0;
    const double read = op->visits <= own_code_visits ? 4.0 * op->visits : 16.0;

    return pass == SL_PASS_FORWARD ? made + 5.0 + (1.0 + e) + (4.0 + e) : e + 4.0 + read;
}

double
sl_masks_s(const sl_slice *slice, const sl_operator *op, sl_pass pass)
{
    const double values = sl_masks_values(slice, op);
    const double rows = values / slice->tokens; /* of all experts */
    const double width = (double)op->inputs;
    const sl_precision precision = sl_slice_precision(slice, op);
    const sl_alignment alignment = sl_kernel_alignment(width, precision);
    const double to_experts_s = sl_kernel_product_s(
        slice, (sl_product){1.0, rows, width, slice->tokens, precision, alignment});
    const double back_s = sl_kernel_product_s(
        slice, (sl_product){1.0, slice->tokens, width, rows, precision, alignment});
    const double weights_s = sl_kernel_product_s(
        slice, (sl_product){1.0, slice->tokens, rows, width, precision, alignment});

    return to_experts_s + back_s + (pass == SL_PASS_BACKWARD ? weights_s : 0.0) +
           sl_kernel_memory_s(slice, values * value_bytes(slice, op, pass),
                              slice->streaming.residual_ratio);
}
