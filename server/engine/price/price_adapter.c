/* Adapters beside the products of a frozen base: two thin products each, and what goes around
 * them; and what unpacks a base that is quantised. */
#include <math.h>

#include "engine/extremes.h"
#include "engine/placement/adapter.h"
#include "engine/price/kernel.h"
#include "engine/price/price_parts.h"

/* Passes over the input, which is dropped (a mask of one byte beside it) and cast, and over the
 * output, which is scaled and added to the base's; each in a kernel of its own, backward the same
 * way round, with the sum of both gradients of the input. PEFT tuners/lora/layer.py: (result +
 * lora_B(lora_A(dropout(x))) * scaling).to(dtype of result), x cast to the adapters' type first.
 * Adapters that are wider than the base do all of theirs in their own width, and the sum, which then
 * is cast back, as its gradient is twice; autocast casts what was dropped once more, and the rest is
 * narrow. Generated code scales, drops and casts where it reads or writes anyway. */
static const double mask_bytes = 1.0;
/* Of an adapter two products, a dropout and what holds them and the base. PEFT tuners/lora/layer.py. */
static const double adapter_modules = 4.0;

typedef struct around {
    double input_forward, input_backward, output_forward, output_backward; /* bytes per element */
    double kernels_forward, kernels_backward;                              /* of each matrix */
} around;

static around
around_of(const sl_slice *slice)
{
    const sl_adapter *adapter = slice->adapter;
    const bool drops = adapter->dropout_ratio > 0.0 && sl_adapter_drops(adapter->method);
    const bool casts = sl_adapter_casts(adapter, slice->element_bytes);
    const double base = slice->element_bytes;
    const double own = sl_adapter_multiplied_bytes(adapter, base);
    const bool wide = own > base;
    const double cast = base + sl_adapter_element_bytes(adapter); /* either way */
    const double sum = 3.0 * base;
    const double casts_in = casts ? 1.0 + adapter->autocast : 0.0;
    const double dropped = adapter->autocast && casts ? sl_adapter_element_bytes(adapter) : own;
    const double input = (drops ? 2.0 * dropped + mask_bytes : 0.0) + casts_in * cast;
    const double kernels = (double)drops + casts_in;

    if (adapter->fused) /* sums are those of the products themselves */
        return (around){0};
    if (slice->generated)
        return (around){.input_backward = sum, .output_forward = sum};
    return (around){
        .input_forward = input,
        .input_backward = input + sum,
        .output_forward = 2.0 * own + (base + 2.0 * own) + (wide ? cast : 0.0),
        .output_backward = 2.0 * own + (wide ? 2.0 * cast : 0.0),
        .kernels_forward = kernels + 2.0 + (wide ? 1.0 : 0.0),
        .kernels_backward = kernels + 2.0 + (wide ? 2.0 : 0.0),
    };
}

static double
pass_s(const sl_slice *slice, double bytes)
{
    return bytes > 0.0 ? sl_kernel_memory_s(slice, bytes, slice->streaming.residual_ratio) : 0.0;
}

/* m x k by k x n: forward, and the gradients of both. */
static void
add_product(const sl_pricing *p, const sl_product *of)
{
    const sl_slice *slice = p->slice;

    p->out->forward_s += sl_kernel_product_s(slice, *of);
    p->out->backward_s += sl_kernel_product_s(slice, (sl_product){of->batch, of->m, of->k, of->n,
                                                                  of->precision, of->alignment}) +
                          sl_kernel_product_s(slice, (sl_product){of->batch, of->n, of->k, of->m,
                                                                  of->precision, of->alignment});
    p->out->forward_issued += 1.0;
    p->out->backward_issued += 2.0;
}

/* bitsandbytes writes a matrix out in 16 bits before each product with it, forward and back; one in
 * int8 it multiplies with as it is, forward. */
static void
price_unpacking(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const sl_adapter_base base = slice->adapter->base;

    if (base == SL_ADAPTER_BASE_BF16 || op->cut == SL_CUT_VOCABULARY) /* heads stay as they are */
        return;
    const sl_product whole = sl_price_product(slice, op);
    const double elements = whole.batch * whole.k * whole.n;
    const double matrices = sl_slice_products(slice, op);
    const double seconds =
        pass_s(slice, elements / matrices * (sl_adapter_base_bytes(base) + slice->element_bytes));
    if (base != SL_ADAPTER_BASE_INT8) {
        p->out->forward_s += matrices * seconds;
        p->out->forward_issued += matrices;
    }
    p->out->backward_s += matrices * seconds;
    p->out->backward_issued += matrices;
}

/* Of a part that has no rate in fp32 the base's stands for it, which a note says. */
static sl_precision
precision_of(const sl_slice *slice)
{
    if (sl_adapter_multiplied_bytes(slice->adapter, slice->element_bytes) > slice->element_bytes &&
        slice->accelerator->peak_flops_per_s[SL_PRECISION_FP32] > 0.0)
        return SL_PRECISION_FP32;
    return sl_precision_is_low(slice->precision) ? SL_PRECISION_BF16 : slice->precision;
}

/* A unit of FSDP 1 is one flat parameter, which trains or does not, and each half of an adapter is
 * one by itself (PEFT utils/other.py, fsdp_auto_wrap_policy). The host is at most two units ahead of
 * the device (limit_all_gathers), so that what it takes around those of a product's adapters is
 * waited for, but for as long as that product and they run. */
static void
await_units(const sl_pricing *p, double units, double forward_s, double backward_s)
{
    const double host_s = units * p->slice->unit_operators * p->slice->host_operator_s;

    p->out->forward_awaited_s += sl_larger(0.0, host_s - forward_s);
    p->out->backward_awaited_s += sl_larger(0.0, host_s - backward_s);
}

void
sl_price_adapter(const sl_pricing *p, const sl_layer_kind *kind, const sl_operator *op,
                 double forward_s, double backward_s)
{
    const sl_slice *slice = p->slice;
    double units = 0.0;
    const around with = around_of(slice);
    const double rows = sl_slice_rows(slice, op);
    const sl_precision precision = precision_of(slice);
    sl_adapter_pair pairs[SL_ADAPTER_PAIRS_MAX];
    const uint32_t count = sl_adapter_pairs(slice, kind, op, pairs);

    price_unpacking(p, op);
    for (uint32_t i = 0; i < count; i++) {
        const sl_adapter_pair *pair = &pairs[i];
        const double batch = fmax(1.0, pair->copies);
        const double rank = slice->adapter->rank;
        const sl_alignment thin = sl_kernel_alignment(rank, precision);
        const sl_product down = {batch, rows / batch, rank, pair->inputs, precision, thin};
        const sl_product up = {batch, rows / batch, pair->outputs, rank, precision, thin};

        if (pair->inputs > 0.0)
            add_product(p, &down);
        add_product(p, &up);
        units += (pair->inputs > 0.0 ? 2.0 : 1.0) * batch;
        p->out->forward_s += pass_s(slice, rows * pair->inputs * with.input_forward) +
                             pass_s(slice, rows * pair->outputs * with.output_forward);
        p->out->backward_s += pass_s(slice, rows * pair->inputs * with.input_backward) +
                              pass_s(slice, rows * pair->outputs * with.output_backward);
        const double hooks = slice->module_operators * adapter_modules * batch;
        p->out->forward_issued += with.kernels_forward + hooks;
        p->out->backward_issued += with.kernels_backward + hooks;
    }
    if (slice->framework == SL_FRAMEWORK_FSDP1)
        await_units(p, units, p->out->forward_s - forward_s, p->out->backward_s - backward_s);
}
