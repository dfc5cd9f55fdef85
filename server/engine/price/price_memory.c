/* What one layer of a kind holds and keeps: parameters and bytes of one micro-batch on one rank. */
#include "engine/placement/attended.h"
#include "engine/placement/kept.h"
#include "engine/price/masks.h"
#include "engine/price/price.h"

#include <math.h>

#include "engine/placement/adapter.h"
#include "engine/placement/recompute.h"

/* Gradients of what experts gave and of what they got, each here and where it came from. Read off
 * published Megatron peaks on B200. */
static const double route_gradient_copies = 4.0;

static double
plain_output_bytes(const sl_slice *slice, const sl_operator *op)
{
    const uint64_t output =
        op->sample_output_bytes != 0 ? op->sample_output_bytes : op->sample_kept_bytes;

    return (double)output * slice->sequences;
}

/* Full recomputation keeps the inputs of layers: each is the output of the layer before, so a stage
 * keeps as many bytes as its layers pass on, its own input in place of its output. Never more than
 * without recomputation. */
static void
price_plain_memory(const sl_slice *slice, const sl_operator *op, sl_kind_price *out)
{
    out->output_bytes = plain_output_bytes(slice, op);
    out->input_bytes = fmin(out->output_bytes, sl_slice_saved_bytes(slice, op));
    out->largest_gradient_bytes = out->output_bytes;
}

/* Rows and columns of a matrix over its elements; a vector is not factored. */
static double
factored_ratio(const sl_tensor *tensor)
{
    if (tensor->axes < 2)
        return 1.0;

    const double rows = (double)tensor->shape[tensor->axes - 2];
    const double columns = (double)tensor->shape[tensor->axes - 1];

    return (rows + columns) / (rows * columns);
}

static void
price_tensor(const sl_slice *slice, const sl_layer_kind *kind, const sl_tensor *tensor,
             sl_kind_price *out)
{
    const double elements = sl_slice_elements(slice, tensor);

    out->elements += elements;
    if (sl_adapter_on(slice->adapter)) {
        const sl_adapter_count adapters = sl_adapter_of_tensor(slice, kind, tensor);
        out->adapter_elements += adapters.trained;
        out->adapter_routed += sl_slice_is_routed(tensor) ? adapters.trained : 0.0;
        out->adapter_factored += adapters.factored;
        out->adapter_frozen += adapters.frozen;
        out->adapter_routed_frozen += sl_slice_is_routed(tensor) ? adapters.frozen : 0.0;
        out->adapter_buffers += adapters.buffers;
        out->adapter_shared_inputs = fmax(out->adapter_shared_inputs, adapters.shared_inputs);
        out->adapter_shared_outputs = fmax(out->adapter_shared_outputs, adapters.shared_outputs);
        out->largest_gradient_bytes =
            fmax(out->largest_gradient_bytes,
                 adapters.largest_temporary * sl_adapter_element_bytes(slice->adapter));
    }
    if (tensor->linear) {
        out->matrix_elements += elements;
        if (sl_slice_weight_may_be_low(tensor))
            out->low_elements += elements;
        out->largest_matrix = fmax(out->largest_matrix, elements);
    }

    const double factored = elements * factored_ratio(tensor);

    out->factored_elements += factored;
    if (!sl_slice_is_routed(tensor))
        return;
    out->routed_elements += elements;
    out->routed_factored += factored;
    if (tensor->linear)
        out->routed_matrices += elements;
}

/* torchtitan's op: every other product keeps its output, in the order they run, and so do the
 * attention and what tensor parallelism reduces. A row cut leaves each rank a whole partial sum.
 * Products in NVFP4 are none of those it knows: 27 blocks of an 8B model keep 63.5 GiB less that
 * way, 64.1 by this count (torchtitan docs of NVFP4). */
static double
products_bytes(const sl_slice *slice, const sl_layer_kind *kind, const sl_kind_price *price)
{
    double bytes = price->input_bytes;
    uint32_t products = 0;

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        sl_matrices of;
        /* Grouped products of experts are not among those that count. */
        if (!tensor->linear || sl_slice_is_routed(tensor) || !sl_tensor_matrices(tensor, &of) ||
            (slice->precision == SL_PRECISION_NVFP4 && !tensor->half) || products++ % 2 != 0)
            continue;
        /* A compiled block knows that the next block's input holds what its last product gave, or,
         * where that is a part of a sum, the sum that is kept as well. */
        if (!slice->eager && tensor->cut == SL_CUT_ROW &&
            (slice->spread <= 1.0 || slice->software->sums_kept))
            continue;
        bytes += slice->element_bytes * (double)of.outputs * slice->tokens /
                 (tensor->cut == SL_CUT_COLUMN ? slice->tensor : 1.0);
    }
    for (uint32_t i = 0; i < kind->operator_count; i++) {
        const sl_operator *op = &kind->operators[i];
        if (op->kind == SL_OPERATOR_ATTENTION)
            bytes += slice->tokens / slice->tensor *
                     (slice->element_bytes * (double)op->outputs + 4.0 * op->heads);
        if (op->kind == SL_OPERATOR_ROUTE && price->keeps_exchange)
            bytes += slice->element_bytes * (double)op->inputs * sl_slice_rows(slice, op);
        if (op->kind == SL_OPERATOR_MATMUL && op->cut == SL_CUT_ROW && op->experts == 0 &&
            slice->software->sums_kept && slice->spread > 1.0)
            bytes += slice->element_bytes * (double)op->outputs * slice->tokens / slice->spread;
    }
    return bytes;
}

/* Of the softmax output and of the scores; that of a bias waits beside them. */
static double
scores_gradient_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double each =
        2.0 * sl_slice_softmax_bytes(slice, op) + (op->biased ? slice->element_bytes : 0.0);

    return each * op->heads / slice->tensor * slice->tokens * slice->sequence;
}

static double
context_foreign_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double kv = sl_slice_kv_bytes(slice, op);

    if (slice->context_kind == SL_CONTEXT_RING)
        return 2.0 * 2.0 * kv; /* two blocks in flight, each with its gradients */
    return slice->context_kind == SL_CONTEXT_GATHER ? 2.0 * kv * slice->context : 0.0;
}

static double
kept_of(const sl_slice *slice, const sl_layer_kind *kind, const sl_operator *op)
{
    return sl_adapter_on(slice->adapter) ? sl_adapter_kept_bytes(slice, kind, op)
                                         : sl_slice_saved_bytes(slice, op);
}

/* What module by module is dropped: what several of them would rebuild goes once. */
static void
price_modules_memory(const sl_slice *slice, const sl_layer_kind *kind, sl_kind_price *out)
{
    double live[SL_MODULE_COUNT] = {0};

    for (uint32_t i = 0; slice->recompute_modules != 0 && i < kind->operator_count; i++) {
        const sl_operator *op = &kind->operators[i];
        const double saved = op->kind == SL_OPERATOR_ATTENTION ? sl_slice_qkv_bytes(slice, op)
                                                               : kept_of(slice, kind, op);
        bool dropped = false;
        for (uint32_t m = 0; m < SL_MODULE_COUNT; m++) {
            if ((slice->recompute_modules >> m & 1) == 0)
                continue;
            if (m == SL_MODULE_CORE_ATTENTION) {
                live[m] += sl_slice_core_bytes(slice, op);
            } else if (sl_recompute_drops(kind, i, (sl_recompute_module)m)) {
                live[m] += saved;
                dropped = true;
            }
        }
        out->modules_bytes += dropped ? saved : 0.0;
    }
    out->modules_bytes += live[SL_MODULE_CORE_ATTENTION];
    for (uint32_t m = 0; m < SL_MODULE_COUNT; m++)
        out->module_live_bytes = fmax(out->module_live_bytes, live[m]);
}

/* A product's gradient of its weights needs its input, as it was kept, and the gradient of its
 * output: 32 sbh of a GPT block (Qi 2023 section 2). With sequence parallelism the input stays the
 * rank's part and is gathered again, the gradient stays whole
 * (sail-sg/zero-bubble-pipeline-parallelism, layers.py). Of a plain layer all it kept, and its
 * output's gradient. Frozen products have none. */
static double
operands_of(const sl_slice *slice, const sl_operator *op)
{
    if (sl_adapter_on(slice->adapter))
        return 0.0;
    if (op->kind == SL_OPERATOR_PLAIN)
        return sl_slice_saved_bytes(slice, op) + plain_output_bytes(slice, op);
    if (op->kind != SL_OPERATOR_MATMUL)
        return 0.0;
    /* What closes a region shares its input with an operator that is no product. */
    const double input = op->cut == SL_CUT_ROW ? slice->element_bytes * sl_slice_inputs(slice, op) *
                                                     sl_slice_rows(slice, op)
                                               : sl_slice_saved_bytes(slice, op);
    return input + slice->element_bytes * sl_slice_outputs(slice, op) * sl_slice_rows(slice, op);
}

/* Gradients of what an activation reads and, of one that multiplies in a kernel of its own, of what
 * it gives: autograd has it until both of its factors' are there. */
static double
activation_gradient_bytes(const sl_slice *slice, const sl_operator *op)
{
    const bool apart = slice->eager && sl_operator_is_gated(op);
    const double width = (double)op->inputs + (apart ? (double)op->outputs : 0.0);

    /* Of experts in a loop those of one. */
    const bool looped = op->experts > 0 && slice->software->experts_apart == SL_APART_LOOPED;

    return slice->element_bytes * width * sl_slice_rows(slice, op) /
           (op->experts > 0 ? slice->expert_tensor : slice->tensor) /
           (looped ? sl_slice_experts(slice, op) : 1.0);
}

void
sl_price_memory(const sl_slice *slice, const sl_layer_kind *kind, sl_kind_price *out)
{
    for (uint32_t i = 0; i < kind->tensor_count; i++)
        price_tensor(slice, kind, &kind->tensors[i], out);

    double tiled_bytes = 0.0; /* what tiles make anew in backward, of all of them */
    for (uint32_t i = 0; i < kind->operator_count; i++) {
        const sl_operator *op = &kind->operators[i];
        const double saved = kept_of(slice, kind, op);
        const double gradient =
            op->kind == SL_OPERATOR_ACTIVATION ? activation_gradient_bytes(slice, op) : 0.0;

        if (slice->mlp_tiles > 0.0 && sl_recompute_drops(kind, i, SL_MODULE_MLP)) {
            tiled_bytes += saved + gradient;
            continue;
        }
        out->saved_bytes += saved;
        out->core_bytes += sl_slice_core_bytes(slice, op);
        out->operand_bytes += operands_of(slice, op);
        if (sl_adapter_on(slice->adapter)) {
            const double tokens = sl_adapter_of_operator(slice, op);
            out->adapter_elements += tokens;
            out->adapter_factored += tokens;
            out->foreign_bytes =
                fmax(out->foreign_bytes, sl_adapter_regathered_bytes(slice, kind, op));
        }
        out->largest_gradient_bytes = fmax(out->largest_gradient_bytes, gradient);
        if (op->kind == SL_OPERATOR_ATTENTION && slice->attention == SL_ATTENTION_UNFUSED)
            out->largest_gradient_bytes =
                fmax(out->largest_gradient_bytes, scores_gradient_bytes(slice, op));
        /* What came from the other ranks that share the sequence, and its gradients. */
        if (op->kind == SL_OPERATOR_ATTENTION && slice->context > 1.0)
            out->foreign_bytes = fmax(out->foreign_bytes, context_foreign_bytes(slice, op));
        if (op->kind == SL_OPERATOR_ATTENTION && sl_slice_shares_kv_heads(slice, op))
            out->largest_gradient_bytes =
                fmax(out->largest_gradient_bytes,
                     slice->element_bytes * (double)op->inputs * slice->tokens);
        if (op->kind == SL_OPERATOR_ROUTE)
            out->largest_gradient_bytes =
                fmax(out->largest_gradient_bytes,
                     fmax(sl_masks_gradient_bytes(slice, op),
                          route_gradient_copies * slice->element_bytes * (double)op->inputs *
                              sl_slice_rows(slice, op)));
        if (op->kind == SL_OPERATOR_PLAIN)
            price_plain_memory(slice, op, out);
    }
    if (tiled_bytes > 0.0)
        out->largest_gradient_bytes =
            fmax(out->largest_gradient_bytes, tiled_bytes / slice->mlp_tiles);
    out->keeps_exchange = sl_recompute_keeps_exchange(slice, kind);
    out->products_bytes = products_bytes(slice, kind, out);
    price_modules_memory(slice, kind, out);
}
