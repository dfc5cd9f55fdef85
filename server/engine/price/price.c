#include <assert.h>
#include <math.h>

#include "engine/placement/adapter.h"
#include "engine/placement/attended.h"
#include "engine/placement/kept.h"
#include "engine/placement/ranks.h"
#include "engine/placement/recompute.h"
#include "engine/placement/shapes.h"
#include "engine/price/masks.h"
#include "engine/price/price_parts.h"

static void
add_context(const sl_pricing *p, sl_traffic *to, double times, double bytes, double cover_s)
{
    const double busy_s =
        times * sl_collective_s(p->cluster, p->out->context_collective, &p->context_group, bytes);

    to->calls += times;
    to->bytes += times * bytes;
    to->busy_s += busy_s;
    to->exposed_s += sl_price_visible_s(p->slice->software, busy_s, cover_s, cover_s > 0.0);
}

/* A ring passes keys and values on context - 1 times under the attention, and in backward their
 * gradients with them. An exchange moves queries, keys and values one way and the output the other,
 * each there and back again in backward. A gather brings all keys and values, and backward scatters
 * the sum of their gradients. */
static void
price_context(const sl_pricing *p, const sl_operator *op, double forward_s, double backward_s)
{
    const sl_slice *slice = p->slice;
    const double kv = sl_slice_kv_bytes(slice, op);
    const double query = slice->element_bytes * (double)op->outputs / slice->tensor * slice->tokens;
    sl_kind_price *out = p->out;

    if (slice->context <= 1.0)
        return;
    switch (slice->context_kind) {
    case SL_CONTEXT_RING:
        out->context_collective = SL_COLLECTIVE_SEND_RECEIVE;
        add_context(p, &out->context_forward, slice->context - 1.0, kv, forward_s);
        add_context(p, &out->context_backward, slice->context - 1.0, 2.0 * kv, backward_s);
        break;
    case SL_CONTEXT_EXCHANGE:
        out->context_collective = SL_COLLECTIVE_ALL_TO_ALL;
        add_context(p, &out->context_forward, 1.0, 2.0 * query + kv, 0.0);
        add_context(p, &out->context_backward, 1.0, 2.0 * query + kv, 0.0);
        break;
    case SL_CONTEXT_GATHER:
        out->context_collective = SL_COLLECTIVE_ALL_GATHER;
        add_context(p, &out->context_forward, 1.0, kv * slice->context, 0.0);
        add_context(p, &out->context_backward, 2.0, kv * slice->context, 0.0);
        break;
    case SL_CONTEXT_COUNT:
        assert(false);
    }
}

static void
price_attention(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const double width = (double)op->heads * op->head_dim;
    const double forward_s = sl_kernel_attention_s(slice, op, SL_PASS_FORWARD);

    p->out->forward_s += forward_s;
    p->out->core_forward_s += forward_s;
    const double backward_s = sl_kernel_attention_s(slice, op, SL_PASS_BACKWARD);
    p->out->backward_s += backward_s;
    price_context(p, op, forward_s, backward_s);
    if (sl_slice_shares_kv_heads(slice, op)) {
        /* Megatron cuts the projection evenly, gathers its output and takes its own heads of it. */
        const double mixed = slice->tokens * (double)op->inputs * slice->element_bytes;
        sl_price_add_traffic(p, p->out->tensor_forward, SL_COLLECTIVE_ALL_GATHER, mixed, 0.0);
        sl_price_add_traffic(p, p->out->tensor_backward, SL_COLLECTIVE_REDUCE_SCATTER, mixed, 0.0);
    }
    p->out->attention_flops += 4.0 * slice->tokens * sl_slice_all_keys(slice, op) * width;
    p->out->causal_flops += 4.0 * slice->tokens * sl_slice_causal_keys(slice, op) * width;
}

/* Bytes per element forward and backward for 2-byte elements; wider elements scale. */
static void
price_streaming(const sl_pricing *p, double elements, double forward_bytes, double backward_bytes,
                double ratio)
{
    const double width_ratio = p->slice->element_bytes / 2.0;

    p->out->forward_s +=
        sl_kernel_memory_s(p->slice, elements * forward_bytes * width_ratio, ratio);
    p->out->backward_s +=
        sl_kernel_memory_s(p->slice, elements * backward_bytes * width_ratio, ratio);
}

static void
price_lookup(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const double elements = slice->tokens * (double)op->outputs;
    const double bytes = elements * slice->element_bytes;

    price_streaming(p, elements, 4.0, 6.0, sl_copy_ratio);
    sl_price_close_region(p, bytes, bytes, 0.0, 0.0); /* each rank looked up its own rows only */
}

/* Products of quantised operands take rows by sixteens and more: what each expert got is copied to
 * where that many fit, and what it gave is copied back (Megatron-LM moe/experts.py, TransformerEngine
 * Fp8Padding). DeepEP's and HybridEP's permutation leaves room, and so does a capacity. */
static bool
pads_rows(const sl_slice *slice)
{
    return slice->operand_bytes > 0.0 && !slice->sends_once && slice->capacity <= 0.0;
}

/* Of a value on its way to its expert and back, in eager code: a copy, a mask, a product with the
 * token's score, a mask, a copy, of 4 bytes each, and a sum of 2; back the sums into zeros of both
 * copies, 8 and 6, both masks, the product, and one that is summed to the score's gradient, 8.
 * Source: transformers integrations/moe.py (grouped_mm_experts_forward), autograd's graph of it. */
static const double composed_route_forward = 22.0;
static const double composed_route_backward = 34.0;

/* Of a value of 2 bytes. */
typedef struct sl_route_bytes {
    double forward, backward;
} sl_route_bytes;

static sl_route_bytes
route_bytes(const sl_slice *slice)
{
    const sl_software *software = slice->software;
    const double copies = pads_rows(slice) ? 4.0 : 2.0;

    if (software->route_forward_bytes > 0.0)
        return (sl_route_bytes){software->route_forward_bytes, software->route_backward_bytes};
    if (slice->eager)
        return (sl_route_bytes){composed_route_forward, composed_route_backward};
    return (sl_route_bytes){4.0 * copies, 4.0 * copies};
}

/* Tokens are put in the order of their experts and sent to them, and brought back by their last
 * product; backward goes the other way round. */
static void
price_route(const sl_pricing *p, const sl_operator *op)
{
    const sl_route_bytes moved = route_bytes(p->slice);

    if (sl_masks_values(p->slice, op) > 0.0) {
        p->out->forward_s += sl_masks_s(p->slice, op, SL_PASS_FORWARD);
        p->out->backward_s += sl_masks_s(p->slice, op, SL_PASS_BACKWARD);
        sl_price_exchange(p, op, (double)op->inputs);
        return;
    }
    price_streaming(p, sl_slice_rows(p->slice, op) * (double)op->inputs, moved.forward,
                    moved.backward, sl_copy_ratio);
    sl_price_exchange(p, op, (double)op->inputs);
}

/* Vocabulary-parallel cross-entropy reduces maximum, sum and target logit: three fp32 scalars
 * a token; another gathers the logits. */
static void
price_loss(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const sl_entropy *entropy = &slice->entropy;
    const bool cut = op->cut == SL_CUT_VOCABULARY; /* the few classes of a classifier are not */
    const double width =
        cut ? sl_slice_vocabulary(slice, (double)op->inputs) / slice->tensor : (double)op->inputs;
    const double logits = sl_slice_positions(slice, op) * width;

    const double copies = cut ? entropy->copies : 1.0;
    p->out->logits += logits;
    p->out->forward_s +=
        sl_kernel_memory_s(slice, logits * copies * entropy->forward_bytes, sl_copy_ratio);
    p->out->backward_s +=
        sl_kernel_memory_s(slice, logits * copies * entropy->backward_bytes, sl_copy_ratio);
    if (!cut)
        return;
    if (copies > 1.0) {
        sl_price_add_traffic(p, p->out->tensor_forward, SL_COLLECTIVE_ALL_GATHER,
                             logits * copies * slice->element_bytes, 0.0);
        return;
    }
    for (uint32_t i = 0; i < 3; i++)
        sl_price_add_traffic(p, p->out->tensor_forward, SL_COLLECTIVE_ALL_REDUCE,
                             4.0 * slice->tokens, 0.0);
}

/* What a layer keeps was written once and read once by the time it is kept, and the weights read;
 * backward does the FLOPs of two products for one, the gradients of input and weights, and moves
 * twice the bytes. */
static void
price_plain(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const double weights = p->out->elements;
    const double flops = (double)op->sample_flops * slice->sequences;
    const double bytes = 2.0 * sl_slice_saved_bytes(slice, op) + weights * slice->element_bytes;

    p->out->forward_s += sl_kernel_roofline_s(slice, flops, bytes, sl_copy_ratio);
    const double both_s = sl_kernel_roofline_s(slice, 2.0 * flops, 2.0 * bytes, sl_copy_ratio);
    p->out->backward_s += both_s + sl_price_accumulate_s(slice, weights);
    p->out->weight_s += both_s / 2.0 + sl_price_accumulate_s(slice, weights);
    p->out->matmul_flops += flops;
}

/* Model FLOPs are those of the recurrence, however it is computed: 7 for each number remembered, 8
 * with the delta rule, as Megatron-LM counts them (training.py). */
static void
price_scan(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;

    p->out->forward_s += sl_kernel_scan_s(slice, op, SL_PASS_FORWARD, sl_copy_ratio);
    p->out->backward_s += sl_kernel_scan_s(slice, op, SL_PASS_BACKWARD, sl_copy_ratio);
    p->out->matmul_flops +=
        (op->delta ? 8.0 : 7.0) * slice->tokens * (double)op->outputs * op->state;
}

static void
price_activation(const sl_pricing *p, const sl_operator *op)
{
    const bool gated = sl_operator_is_gated(op);
    double forward = op->forward_bytes > 0 ? op->forward_bytes : gated ? 6.0 : 4.0;
    double backward = op->backward_bytes > 0 ? op->backward_bytes : gated ? 10.0 : 6.0;

    if (gated && p->slice->gated_bytes < p->slice->element_bytes) {
        const double values = (double)op->inputs / (double)op->outputs;
        const double cast = values * (p->slice->element_bytes + p->slice->gated_bytes);
        forward += cast;
        backward += cast; /* it is cast back before the gradient */
    }
    const bool composed = sl_price_composed_gelu(p->slice, op, &forward, &backward);
    const sl_streaming *ratios = &p->slice->streaming;
    /* Its steps are as plain as the sum with a residual. */
    price_streaming(p, sl_slice_rows(p->slice, op) * sl_slice_outputs(p->slice, op), forward,
                    backward, composed ? ratios->residual_ratio : ratios->activation_ratio);
}

/* Queries and keys before their norms, and the gradients of what attention got. What is gathered comes
 * rank behind rank, and is copied to lie head by head (PyTorch _functional_collectives.py). */
static void
gather_heads(const sl_pricing *p, double values)
{
    const double bytes = values * p->slice->element_bytes;

    price_streaming(p, values, 4.0, 4.0, sl_copy_ratio);
    sl_price_add_traffic(p, p->out->tensor_forward, SL_COLLECTIVE_ALL_GATHER, bytes, 0.0);
    sl_price_add_traffic(p, p->out->tensor_backward, SL_COLLECTIVE_ALL_GATHER, bytes, 0.0);
}

static void
price_norm(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const bool heads = op->cut == SL_CUT_COLUMN;
    const double values = slice->tokens * (double)op->inputs;
    const double cut = !heads ? slice->spread : p->whole_heads ? 1.0 : slice->tensor;

    /* What autocast leaves wide is twice the bytes; the steps of an RMSNorm are wide anyway. */
    const double wide = op->centred && !heads ? slice->stream_bytes / slice->element_bytes : 1.0;
    price_streaming(p, values / cut, 4.0 * wide, sl_price_norm_backward_bytes(slice, op) * wide,
                    sl_price_norm_ratio(slice, op));
    if (heads && p->whole_heads)
        gather_heads(p, values);
}

/* Under autocast the sum is fp32: it is read and written, and its gradient added to and cast back. */
static void
price_residual(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const bool wide = sl_slice_sums_wide(slice);
    const double mask = slice->dropout ? 1.0 : 0.0;

    price_streaming(p, slice->tokens / slice->spread * (double)op->outputs,
                    (wide ? 10.0 : 6.0) + mask, (wide ? 14.0 : 4.0) + mask,
                    slice->streaming.residual_ratio);
}

static void
price_rotary(const sl_pricing *p, const sl_operator *op)
{
    const sl_slice *slice = p->slice;
    const double heads = (double)op->heads + op->kv_heads;
    const double cut = p->whole_heads ? 1.0 : slice->tensor;

    price_streaming(p, slice->tokens * heads * op->head_dim / cut, 4.0, 4.0,
                    slice->streaming.rotary_ratio);
}

static void
price_operator(const sl_pricing *p, const sl_operator *op)
{
    switch (op->kind) {
    case SL_OPERATOR_LOOKUP:
        price_lookup(p, op);
        break;
    case SL_OPERATOR_NORM:
        price_norm(p, op);
        break;
    case SL_OPERATOR_MATMUL:
        sl_price_multiply(p, op);
        break;
    case SL_OPERATOR_ROTARY:
        price_rotary(p, op);
        break;
    case SL_OPERATOR_ATTENTION:
        price_attention(p, op);
        break;
    case SL_OPERATOR_ACTIVATION:
        price_activation(p, op);
        break;
    case SL_OPERATOR_RESIDUAL:
        price_residual(p, op);
        break;
    case SL_OPERATOR_LOSS:
        price_loss(p, op);
        break;
    case SL_OPERATOR_ROUTE:
        price_route(p, op);
        break;
    case SL_OPERATOR_SCAN:
        price_scan(p, op);
        break;
    case SL_OPERATOR_PLAIN:
        price_plain(p, op);
        break;
    case SL_OPERATOR_KIND_COUNT:
        assert(false);
    }
}

static bool
runs_again(const sl_slice *slice, const sl_layer_kind *kind, uint32_t index)
{
    for (uint32_t m = 0; m < SL_MODULE_COUNT; m++)
        if ((slice->recompute_modules >> m & 1) != 0 &&
            sl_recompute_runs(kind, index, (sl_recompute_module)m))
            return true;
    return false;
}

static bool
is_grouped(const sl_operator *op)
{
    return op->kind == SL_OPERATOR_MATMUL && op->experts > 0;
}

/* The operators from `begin` up to `end`. */
static void
price_operators(sl_pricing *p, const sl_layer_kind *kind, uint32_t begin, uint32_t end)
{
    const uint32_t stop = sl_recompute_end(p->slice, kind);
    sl_kind_price *out = p->out;

    p->whole_heads =
        p->slice->software->gathers_heads && p->slice->tensor > 1.0 && sl_slice_norms_heads(kind);
    p->experts_forward_s = p->experts_backward_issue_s = 0.0;
    for (uint32_t i = begin; i < end; i++) {
        const bool again = p->slice->recompute_modules != 0 && runs_again(p->slice, kind, i);
        const bool grouped = i < stop && is_grouped(&kind->operators[i]);
        const sl_kind_price before = again || grouped || i >= stop ? *out : (sl_kind_price){0};
        const double forward_s = out->forward_s, backward_s = out->backward_s;
        const double flops = out->matmul_flops;
        price_operator(p, &kind->operators[i]);
        sl_price_count_issued(p, &kind->operators[i], out->forward_s - forward_s,
                              out->backward_s - backward_s);
        if (sl_adapter_on(p->slice->adapter) && kind->operators[i].kind == SL_OPERATOR_MATMUL)
            sl_price_adapter(p, kind, &kind->operators[i], forward_s, backward_s);
        if (sl_recompute_is_tiled(p->slice, kind, i)) {
            out->backward_s += out->forward_s - forward_s; /* each tile runs again */
            out->tiled_flops += out->matmul_flops - flops;
        }
        if (again)
            sl_price_add_rerun(&out->again, out, &before);
        if (grouped)
            sl_price_add_rerun(&out->grouped, out, &before);
        if (i >= stop)
            sl_price_add_rerun(&out->tail, out, &before);
    }
    /* Fused kernels rebuild their scores by themselves. */
    if ((p->slice->recompute_modules >> SL_MODULE_CORE_ATTENTION & 1) != 0 &&
        p->slice->attention == SL_ATTENTION_UNFUSED) {
        out->again.forward_s += out->core_forward_s;
        out->again.attention_flops += out->attention_flops;
    }
    if (p->slice->recompute != SL_RECOMPUTE_MODULES)
        out->again = sl_recompute_rerun(p->slice, out);
    sl_price_passes(p->slice, out);
}

static sl_pricing
pricing_of(const sl_cluster *cluster, const sl_plan *plan, const sl_slice *slice)
{
    return (sl_pricing){
        .cluster = cluster,
        .slice = slice,
        .tensor_group = sl_ranks_group(cluster, plan, SL_AXIS_TENSOR),
        .expert_group = sl_ranks_group(cluster, plan, SL_AXIS_EXPERT),
        .expert_tensor_group = sl_ranks_group(cluster, plan, SL_AXIS_EXPERT_TENSOR),
        .context_group = sl_ranks_group(cluster, plan, SL_AXIS_CONTEXT),
    };
}

void
sl_price_one(const sl_cluster *cluster, const sl_plan *plan, const sl_slice *slice,
             const sl_layer_kind *kind, uint32_t index, sl_kind_price *out)
{
    sl_pricing p = pricing_of(cluster, plan, slice);

    assert(index < kind->operator_count);
    *out = (sl_kind_price){0};
    sl_price_memory(slice, kind, out);
    p.out = out;
    price_operators(&p, kind, index, index + 1);
}

/* What is in no block is one unit of its stage, the root, however many kinds it comes in. */
static bool
opens_unit(const sl_model *model, const sl_plan *plan, uint32_t kind)
{
    return sl_schedule_is_block(model, kind) || kind == model->layers[0] || plan->pipeline > 1;
}

void
sl_price_kinds(const sl_model *model, const sl_cluster *cluster, const sl_plan *plan,
               const sl_slice *slice, sl_kind_price out[SL_KINDS_MAX])
{
    sl_pricing p = pricing_of(cluster, plan, slice);
    const double hidden = (double)model->hidden * slice->tokens;
    const double hidden_bytes = slice->element_bytes * hidden;
    const double input_bytes =
        fmax(slice->stream_bytes, sl_adapter_stream_bytes(slice)) * hidden / slice->spread;

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_layer_kind *kind = &model->kinds[k];
        const double around = opens_unit(model, plan, k) ? slice->unit_operators : 0.0;

        p.out = &out[k];
        out[k] = (sl_kind_price){.output_bytes = hidden_bytes,
                                 .input_bytes = input_bytes,
                                 .forward_issued = around,
                                 .backward_issued = around};
        sl_price_memory(slice, kind, &out[k]);
        price_operators(&p, kind, 0, kind->operator_count);
    }
    sl_shapes_price(model, slice, out);
}
