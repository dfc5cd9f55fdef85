/* Products of a layer: what they take with the casts before them and the sums of their gradients. */
#include <math.h>

#include "engine/placement/adapter.h"
#include "engine/price/price_parts.h"

/* Main-gradient accumulation per weight and micro-batch, beyond the 2-byte write that the product's
 * law already holds. Fused into the product: fp32 read and write, less those 2 bytes (Megatron-LM,
 * fused_weight_gradient_mlp). Unfused, by hand: the 16-bit gradient read (2), the fp32 one read and
 * written (8), and the autocast of the weight, fp32 read and 16-bit write (6). */
static const double fused_accumulate_bytes = 6.0;
static const double unfused_accumulate_bytes = 16.0;
/* Added up in 16 bits: both read, one written. Fused it would be 2, and is taken as fp32's until the
 * clocks and the rate of 8 bits, which were fitted so, are fitted anew. */
static const double half_accumulate_bytes = 6.0;

double
sl_price_accumulate_s(const sl_slice *slice, double weights)
{
    const double fused = slice->software->gradient_accumulation_fusion;
    const double apart = slice->sums_half ? half_accumulate_bytes : unfused_accumulate_bytes;
    const double bytes = fused * fused_accumulate_bytes + (1.0 - fused) * apart;

    return weights * bytes / (slice->accelerator->memory_bytes_per_s * sl_copy_ratio);
}

/* Operands that are kept quantised are written once, and once more transposed: what a norm makes by
 * the norm, other inputs and output gradients by a cast that reads them first (TransformerEngine,
 * cast_transpose). */
static const double normed_cast_bytes = 2.0;
static const double cast_bytes = 4.0;
/* Scales of the values at hand take a pass for their maximum first (TransformerEngine,
 * Float8CurrentScaling). Of what a norm makes, too, before its kernels found the maximum themselves
 * and where they are cuDNN's, as NVIDIA's recipes have them (NVTE_NORM_FWD_USE_CUDNN). */
static const double maximum_bytes = 2.0;
/* Scaled row by row, an operand is read for its maxima, read again and written for each way it is
 * multiplied: an input forward, and by columns for the weights' gradient; an output gradient both
 * ways (torchao). */
static const double row_cast_bytes = 5.0;

/* Where 16 bits are kept an input is cast forward and once more for the weights' gradient, an
 * output gradient once for both of its products; what sequence parallelism gathers, before it is
 * gathered (torchao, float8 tensor parallelism). */
static void
price_casts_again(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const double rows = sl_slice_rows(slice, op);
    const bool cut = op->cut != SL_CUT_REPLICATED && op->experts == 0;
    const double inputs =
        sl_slice_inputs(slice, op) / (cut && op->cut != SL_CUT_ROW ? slice->spread : 1.0);
    const double outputs =
        sl_slice_outputs(slice, op) / (cut && op->cut == SL_CUT_ROW ? slice->spread : 1.0);
    const double input_s = sl_kernel_cast_s(slice, slice->precision, rows * inputs);

    p->out->forward_s += input_s;
    p->out->backward_s += sl_kernel_cast_s(slice, slice->precision, rows * outputs);
    if (!sl_adapter_on(slice->adapter))
        p->out->backward_s += input_s;
}

static void
price_casts(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const double rows = sl_slice_rows(slice, op);
    const double rate = slice->accelerator->memory_bytes_per_s * sl_copy_ratio;

    if (sl_slice_precision(slice, op) != slice->precision)
        return;
    if (slice->operand_bytes <= 0.0 && !slice->by_row) {
        price_casts_again(p, op);
        return;
    }

    const double input_s = rows * sl_slice_inputs(slice, op) / rate;
    const double gradient_s = rows * sl_slice_outputs(slice, op) / rate;

    if (slice->by_row) {
        p->out->forward_s += input_s * row_cast_bytes;
        p->out->backward_s += (input_s + 2.0 * gradient_s) * row_cast_bytes;
        return;
    }
    const double full = cast_bytes + (slice->current_scales ? maximum_bytes : 0.0);
    /* Attention and activation give what is cut by rows, the dispatcher what experts read. */
    const bool normed = op->cut != SL_CUT_ROW && op->experts == 0 && !slice->current_scales;
    /* Attention keeps what it gives in 16 bits: the product after it casts that itself. */
    if (!op->shares_input || op->cut == SL_CUT_ROW)
        p->out->forward_s += input_s * (normed ? normed_cast_bytes : full);
    p->out->backward_s += gradient_s * full;
    if (slice->transposed_bytes > 0.0) { /* weights are read and written the other way round */
        const sl_product whole = sl_price_product(slice, op);
        p->out->backward_s +=
            whole.batch * whole.k * whole.n * 2.0 * slice->transposed_bytes / rate;
    }
}

/* Of the outputs of an operator those of one of its products. */
static double
width_of(const sl_slice *slice, const sl_operator *op, uint32_t at)
{
    const double n = sl_slice_outputs(slice, op);

    return sl_slice_products(slice, op) > 1 ? n * (double)op->parts[at] / (double)op->outputs : n;
}

/* Routers are too small for it to matter. */
static sl_alignment
alignment_of(const sl_operator *op, double n, double k, sl_precision precision)
{
    return op->component == SL_COMPONENT_ROUTER
               ? SL_ALIGNED
               : sl_worse_alignment(sl_kernel_alignment(n, precision),
                                    sl_kernel_alignment(k, precision));
}

sl_product
sl_price_product(const sl_slice *slice, const sl_operator *op)
{
    const double batch = sl_slice_experts(slice, op);
    sl_product out = {.batch = batch,
                      .m = sl_slice_rows(slice, op) / batch,
                      .n = sl_slice_outputs(slice, op),
                      .k = sl_slice_inputs(slice, op),
                      .precision = sl_slice_precision(slice, op)};

    for (uint32_t i = 0; i < sl_slice_products(slice, op); i++)
        out.alignment = sl_worse_alignment(
            out.alignment, alignment_of(op, width_of(slice, op, i), out.k, out.precision));
    return out;
}

/* Gradients of an input that several products read are added up: two at a time, or all by one
 * kernel of generated code. */
static double
sum_gradients_s(const sl_slice *slice, const sl_operator *op, uint32_t products)
{
    const double count = products;
    const double passes = slice->generated ? count + 1.0 : 3.0 * (count - 1.0);
    const double values = sl_slice_rows(slice, op) * sl_slice_inputs(slice, op);
    const double each =
        sl_slice_casts_inputs(slice, op) ? slice->stream_bytes : slice->element_bytes;

    return products > 1
               ? sl_kernel_memory_s(slice, passes * values * each, slice->streaming.residual_ratio)
               : 0.0;
}

/* Autocast casts what a norm gave for each product that reads it, and each gradient of it back;
 * generated code does so in the kernels around. */
static double
autocast_s(const sl_slice *slice, const sl_operator *op, uint32_t products)
{
    const double values = sl_slice_rows(slice, op) * sl_slice_inputs(slice, op);
    const double bytes = slice->stream_bytes + slice->element_bytes;

    return sl_slice_casts_inputs(slice, op) && !slice->generated
               ? products * sl_kernel_memory_s(slice, values * bytes, sl_copy_ratio)
               : 0.0;
}

typedef struct product_time {
    double forward_s, dgrad_s, wgrad_s;
} product_time;

static product_time
time_products(const sl_slice *slice, const sl_operator *op)
{
    const sl_product whole = sl_price_product(slice, op);
    const uint32_t count = sl_slice_products(slice, op);
    const double casts_s = autocast_s(slice, op, count);
    product_time t = {.forward_s = casts_s,
                      .dgrad_s = casts_s + sum_gradients_s(slice, op, count),
                      .wgrad_s = sl_price_accumulate_s(slice, whole.batch * whole.k * whole.n)};

    for (uint32_t i = 0; i < count; i++) {
        const double n = width_of(slice, op, i);
        const sl_alignment alignment = alignment_of(op, n, whole.k, whole.precision);
        t.forward_s += sl_kernel_product_s(
            slice, (sl_product){whole.batch, whole.m, n, whole.k, whole.precision, alignment});
        t.dgrad_s += sl_kernel_product_s(
            slice, (sl_product){whole.batch, whole.m, whole.k, n, whole.precision, alignment});
        t.wgrad_s += sl_kernel_product_s(
            slice, (sl_product){whole.batch, n, whole.k, whole.m, whole.precision, alignment});
    }
    return t;
}

void
sl_price_multiply(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const double tokens = sl_slice_positions(slice, op);
    const double visits = op->experts > 0 ? op->visits : 1.0;
    const product_time t = time_products(slice, op);
    const double forward_s = t.forward_s, dgrad_s = t.dgrad_s, wgrad_s = t.wgrad_s;

    p->out->forward_s += forward_s;
    p->out->backward_s += sl_adapter_on(slice->adapter) ? dgrad_s : dgrad_s + wgrad_s;
    p->out->weight_s += sl_adapter_on(slice->adapter) ? 0.0 : wgrad_s;
    p->out->matmul_flops += 2.0 * tokens * visits * (double)op->inputs * (double)op->outputs;
    price_casts(p, op);

    if (op->experts > 0) { /* what is cut of them is gathered and scattered with the tokens */
        if (op->cut == SL_CUT_ROW)
            sl_price_exchange(p, op, (double)op->outputs);
        return;
    }
    const double values = tokens * (double)(op->cut == SL_CUT_ROW ? op->outputs : op->inputs);
    const double bytes = values * slice->element_bytes;
    const double low = sl_slice_keeps_low(slice, op) ? values * slice->operand_bytes : bytes;

    /* Adapters read the input in 16 bits, gathered before it is cast (NeMo's and Megatron-Bridge's set
     * return_layernorm_output_gathered). */
    if (op->cut == SL_CUT_ROW)
        sl_price_close_region(p, bytes, low, forward_s, dgrad_s);
    else if (op->cut != SL_CUT_REPLICATED)
        sl_price_open_region(p, bytes, sl_adapter_on(slice->adapter) ? bytes : low, forward_s,
                             dgrad_s, wgrad_s);
}
