/* What eager PyTorch composes: how near norms come to the memory's bandwidth, and what the host
 * issues. */
#include <math.h>

#include "engine/price/price_parts.h"

/* PyTorch's own kernel: 0.30 to 0.42 in Vidur and LLMCompass timings. */
static const double layer_norm_ratio = 0.35;
/* Counted in transformers' modeling_llama.py and in autograd's graph of it. */
static const double norm_forward = 8.0;
static const double norm_backward = 12.0;
static const double rotary_forward = 14.0;
static const double rotary_backward = 22.0;
static const double gate_forward = 2.0;
static const double gate_backward = 3.0;
/* gelu_new of its activations.py, and what each kernel reads and writes of a value of 2 bytes, or,
 * under autocast, which raises to a power in fp32, of both widths. */
static const double gelu_forward = 8.0;
static const double gelu_backward = 11.0;
static const double gelu_forward_bytes = 36.0;
static const double gelu_backward_bytes = 56.0;
static const double gelu_wide_forward_bytes = 76.0;
static const double gelu_wide_backward_bytes = 130.0;

double
sl_price_norm_ratio(const sl_slice *slice, const sl_operator *op)
{
    const double ratio = slice->streaming.norm_ratio;

    return op->centred ? fmax(ratio, layer_norm_ratio) : ratio;
}

sl_issued
sl_price_composed(const sl_slice *slice, const sl_operator *op)
{
    if (slice->software->eager_activations && !slice->adapter->fused) {
        if (op->kind == SL_OPERATOR_NORM && !op->centred)
            return (sl_issued){norm_forward, norm_backward};
        if (op->kind == SL_OPERATOR_ROTARY)
            return (sl_issued){rotary_forward, rotary_backward};
        if (op->kind == SL_OPERATOR_ACTIVATION && op->inputs > op->outputs)
            return (sl_issued){gate_forward, gate_backward};
        if (op->kind == SL_OPERATOR_ACTIVATION && op->composed)
            return (sl_issued){gelu_forward, gelu_backward};
    }
    return (sl_issued){1.0, 1.0};
}

double
sl_price_modules(const sl_slice *slice, const sl_operator *op)
{
    const double experts = op->experts > 0 ? sl_slice_experts(slice, op) : 1.0;

    switch (op->kind) {
    case SL_OPERATOR_MATMUL:
        return experts * sl_slice_products(slice, op);
    case SL_OPERATOR_NORM:
        return op->cut == SL_CUT_COLUMN ? 2.0 : 1.0; /* of queries and of keys */
    case SL_OPERATOR_ACTIVATION:
        return experts * 2.0;
    case SL_OPERATOR_ATTENTION:
    case SL_OPERATOR_SCAN:
        return 2.0;
    case SL_OPERATOR_LOOKUP:
    case SL_OPERATOR_ROTARY:
    case SL_OPERATOR_ROUTE:
    case SL_OPERATOR_PLAIN:
        return 1.0;
    default:
        return 0.0;
    }
}

bool
sl_price_composed_gelu(const sl_slice *slice, const sl_operator *op, double *forward_bytes,
                       double *backward_bytes)
{
    const bool wide = slice->stream_bytes > slice->element_bytes;

    if (!op->composed || !slice->eager)
        return false;
    *forward_bytes = wide ? gelu_wide_forward_bytes : gelu_forward_bytes;
    *backward_bytes = wide ? gelu_wide_backward_bytes : gelu_backward_bytes;
    return true;
}
