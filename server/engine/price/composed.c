/* What eager PyTorch composes: how near norms come to the memory's bandwidth, and what the host
 * issues. */
#include <math.h>

#include "engine/extremes.h"
#include "engine/placement/adapter.h"
#include "engine/placement/attended.h"
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

/* LlamaRMSNorm reads and writes 36 bytes a value of 2 in forward, two of fp32 for each of its steps,
 * and in backward 84 for the gradient of its input (the square's alone 28: a power, a product with 2
 * and one with the gradient) and 8 for that of its weight; 4 and 8 are those of one kernel.
 * Source: transformers modeling_llama.py; PyTorch derivatives.yaml, the graph of it, counted. */
static const double norm_backward_bytes = 84.0 / 36.0 * 4.0;
static const double norm_weight_bytes = 8.0 / 36.0 * 4.0;

double
sl_price_norm_backward_bytes(const sl_slice *slice, const sl_operator *op)
{
    if (!slice->eager || op->centred || slice->software->norm_keeps != SL_NORM_KEEPS_CAST)
        return 8.0;
    return norm_backward_bytes + (sl_adapter_on(slice->adapter) ? 0.0 : norm_weight_bytes);
}

double
sl_price_norm_ratio(const sl_slice *slice, const sl_operator *op)
{
    const double ratio = slice->streaming.norm_ratio;

    return op->centred ? fmax(ratio, layer_norm_ratio) : ratio;
}

/* Operators of PyTorch that one of ours is issued as. */
typedef struct issued {
    double forward, backward;
} issued;

/* Of attention without a fused kernel: two products forward, four backward, a dropout, and what takes
 * the softmax. */
static issued
unfused_core_of(const sl_slice *slice, const sl_operator *op)
{
    const double drops = slice->dropout ? 1.0 : 0.0;
    const bool casts = slice->element_bytes < 4.0; /* to fp32 and back, or back alone */

    switch (sl_slice_scores(slice, op)) {
    case SL_SCORES_COMPOSED:
        return casts ? (issued){7.0 + drops, 9.0 + drops} : (issued){5.0 + drops, 7.0 + drops};
    case SL_SCORES_EAGER:
        return casts ? (issued){6.0 + drops, 7.0 + drops} : (issued){5.0 + drops, 6.0 + drops};
    default:
        return (issued){3.0 + drops, 5.0 + drops};
    }
}

/* Of norms, rotary embeddings and gates in eager code: LlamaRMSNorm is a cast, a square, a mean, a
 * sum, a root, a product, a cast and a product; apply_rotary_pos_emb of queries and of keys two
 * slices, a negation, a join, two products and a sum; a gate its function and a product. Backward
 * one for each operand that has a gradient, two for a slice's, and sums where a value was used
 * twice. All else, and fused code, is one.
 * Source: transformers modeling_llama.py; autograd's graph of it, counted. */
static issued
composed_of(const sl_slice *slice, const sl_operator *op)
{
    if (op->kind == SL_OPERATOR_ATTENTION && slice->attention == SL_ATTENTION_UNFUSED)
        return unfused_core_of(slice, op);
    if (slice->software->eager_activations && !slice->adapter->fused) {
        if (op->kind == SL_OPERATOR_NORM && !op->centred)
            return (issued){norm_forward, norm_backward};
        if (op->kind == SL_OPERATOR_ROTARY)
            return (issued){rotary_forward, rotary_backward};
        if (sl_operator_is_gated(op))
            return (issued){gate_forward, gate_backward};
        if (op->kind == SL_OPERATOR_ACTIVATION && op->composed)
            return (issued){gelu_forward, gelu_backward};
    }
    return (issued){1.0, 1.0};
}

/* Autocast casts the weight of each product, and what a norm gave it; backward casts both gradients
 * back. */
static double
casts_of(const sl_slice *slice, const sl_operator *op)
{
    const bool casts = op->kind == SL_OPERATOR_MATMUL && sl_slice_sums_wide(slice);
    const double each = sl_slice_casts_inputs(slice, op) ? 2.0 : 1.0;

    return casts ? each * sl_slice_products(slice, op) : 0.0;
}

/* Modules of PyTorch that one of our operators stands for, each of which DeepSpeed's ZeRO 3 hangs
 * its hooks on, there and back: linear layers, norms, activations, and in transformers' models what
 * holds them, a block and its attention with the core, an MLP with its activation.
 * Source: DeepSpeed runtime/zero/parameter_offload.py (_register_hooks_recursively);
 * transformers modeling_llama.py. */
static double
modules_of(const sl_slice *slice, const sl_operator *op)
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
    const bool wide = sl_slice_sums_wide(slice);

    if (!op->composed || !slice->eager)
        return false;
    *forward_bytes = wide ? gelu_wide_forward_bytes : gelu_forward_bytes;
    *backward_bytes = wide ? gelu_wide_backward_bytes : gelu_backward_bytes;
    return true;
}

/* Grouped products take all experts at once where the part has kernels for them. */
static bool
are_apart(const sl_slice *slice)
{
    const bool grouped = slice->accelerator->peak_flops_per_s[SL_PRECISION_NVFP4] > 0.0;

    return slice->software->experts_apart == SL_APART_ALWAYS ||
           (slice->software->experts_apart == SL_APART_WITHOUT_FP4 && !grouped);
}

/* A module of experts is prepared and then issued by the host expert by expert, after a wait for the
 * counts, while the device is at the one before it (TransformerEngine, GroupedLinear); biases that are
 * kernels of their own count as one. */
static void
await_experts(sl_pricing *p, double forward, double backward, double forward_s, double backward_s)
{
    const double host_s = p->slice->awaited_s;

    p->out->forward_awaited_s += sl_larger(0.0, forward * host_s - p->experts_forward_s);
    /* Backward comes to the module before after this one. */
    p->out->backward_awaited_s +=
        backward * host_s - sl_smaller(p->experts_backward_issue_s, backward_s);
    p->experts_forward_s = forward_s;
    p->experts_backward_issue_s = backward * host_s;
}

void
sl_price_count_issued(sl_pricing *p, const sl_operator *op, double forward_s, double backward_s)
{
    const sl_slice *slice = p->slice;
    const bool frozen = sl_adapter_on(slice->adapter);
    const double products = sl_slice_products(slice, op);
    const double casts = casts_of(slice, op);
    const issued composed = composed_of(slice, op);
    const double forward = fmax(products, composed.forward) + casts;
    const double backward = op->kind == SL_OPERATOR_MATMUL
                                ? (frozen ? products : 2.0 * products) + products - 1.0 + casts
                                : composed.backward;

    const double hooks = slice->module_operators * modules_of(slice, op);
    p->out->forward_issued += hooks;
    p->out->backward_issued += hooks;
    if (op->experts > 0 && (op->kind == SL_OPERATOR_MATMUL || op->biased) && are_apart(slice)) {
        const double experts = sl_slice_experts(slice, op);
        await_experts(p, forward * experts, backward * experts, forward_s, backward_s);
    } else {
        p->out->forward_issued += forward;
        p->out->backward_issued += backward;
    }
}
