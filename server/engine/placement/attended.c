#include "engine/placement/attended.h"

#include <math.h>

/* Rows that a block of Megatron's kernel takes, and columns that it has registers for. */
static const double scores_at_once = 4.0;
static const double longest_scores = 2048.0;
static const double longest_engine_scores = 16384.0;

static bool
has_scores_kernel(const sl_slice *slice, const sl_operator *op)
{
    const double rows = slice->sequences * op->heads / slice->tensor;
    const bool engine = slice->software->engine_workspaces > 0.0;

    return slice->element_bytes < 4.0 && fmod(rows, scores_at_once) == 0.0 &&
           fmod(slice->sequence, scores_at_once) == 0.0 &&
           slice->sequence <= (engine ? longest_engine_scores : longest_scores);
}

sl_scores
sl_slice_scores(const sl_slice *slice, const sl_operator *op)
{
    if (slice->eager)
        return SL_SCORES_EAGER;
    if (slice->framework != SL_FRAMEWORK_MEGATRON)
        return SL_SCORES_ROWS;
    if (!has_scores_kernel(slice, op))
        return SL_SCORES_COMPOSED;
    return op->unmasked || op->window > 0 ? SL_SCORES_ROWS : SL_SCORES_CAUSAL;
}

double
sl_slice_softmax_bytes(const sl_slice *slice, const sl_operator *op)
{
    const sl_scores scores = sl_slice_scores(slice, op);

    return scores == SL_SCORES_COMPOSED || scores == SL_SCORES_EAGER ? 4.0 : slice->element_bytes;
}

/* Scores of the unfused core, per element of the s x s matrix of one head: the softmax output, and
 * with dropout its mask; what the product with the values reads, where that is not the softmax
 * output itself; and the tanh that bounds them. */
static double
unfused_score_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double e = slice->element_bytes;
    const double softmax = sl_slice_softmax_bytes(slice, op);

    return softmax + (slice->dropout ? 1.0 : 0.0) + (slice->dropout || softmax > e ? e : 0.0) +
           (op->capped ? e : 0.0);
}

double
sl_slice_core_bytes(const sl_slice *slice, const sl_operator *op)
{
    if (op->kind != SL_OPERATOR_ATTENTION || slice->attention != SL_ATTENTION_UNFUSED)
        return 0.0;

    const double heads = op->heads / slice->tensor;

    return heads * slice->tokens * slice->sequence * unfused_score_bytes(slice, op);
}

bool
sl_slice_shares_kv_heads(const sl_slice *slice, const sl_operator *op)
{
    return op->kv_heads < slice->tensor;
}

/* A rank has a whole head at least: of its tokens where they stay, of the whole sequence where ranks
 * exchange them for heads. */
static double
least_kv_heads(const sl_slice *slice)
{
    return slice->context_kind == SL_CONTEXT_EXCHANGE ? fmax(1.0, slice->context) : 1.0;
}

double
sl_slice_kv_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double heads = fmax(least_kv_heads(slice), op->kv_heads / slice->tensor);

    return 2.0 * slice->element_bytes * heads * op->head_dim * slice->tokens;
}

/* An exchange of sequences for heads keeps its output on both sides (TransformerEngine >= 2.8).
 * What a ring passes on and a gather brings is not kept. */
static double
context_saved_bytes(const sl_slice *slice, const sl_operator *op)
{
    if (slice->context <= 1.0)
        return 0.0;
    if (slice->context_kind == SL_CONTEXT_EXCHANGE)
        return slice->element_bytes * (double)op->outputs / slice->tensor * slice->tokens;
    return 0.0;
}

double
sl_slice_qkv_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double e = op->half ? slice->element_bytes : slice->attended_bytes;
    const double even = e * (double)op->inputs / slice->tensor * slice->tokens;
    const double cut = 2.0 * e * op->kv_heads * op->head_dim / slice->tensor * slice->tokens;

    /* Keys and values of an earlier block are kept there: queries are as wide as the output. */
    if (op->shares_input)
        return e * (double)op->outputs / slice->tensor * slice->tokens;
    return op->kv_heads < slice->tensor * least_kv_heads(slice)
               ? even - cut + e / slice->element_bytes * sl_slice_kv_bytes(slice, op)
               : even;
}

/* Grouped keys and values are repeated, and kept so, for products of scores in eager code, and by
 * some releases for SDPA, which could have done without. */
static double
repeated_bytes(const sl_slice *slice, const sl_operator *op)
{
    const bool repeats =
        slice->attention == SL_ATTENTION_UNFUSED ? slice->eager : slice->software->repeats_keys > 0.0;

    if (!repeats || op->shares_input || op->kv_heads >= op->heads)
        return 0.0;
    return 2.0 * slice->element_bytes * (op->heads - op->kv_heads) * op->head_dim / slice->tensor *
           slice->tokens;
}

/* Eager code lays out anew what some kernels give. A kernel of flash-attention has sequences before
 * positions: of several what it gave, which its backward reads, is laid anew for the product behind
 * it, unless that keeps a quantised copy, or ranks exchange what each gave, which is counted there. */
static bool
is_laid_anew(const sl_slice *slice, const sl_operator *op)
{
    const bool flash = slice->attention == SL_ATTENTION_FLASH1 ||
                       slice->attention == SL_ATTENTION_FLASH2 ||
                       slice->attention == SL_ATTENTION_FLASH3;
    const bool exchanged = slice->context > 1.0 && slice->context_kind == SL_CONTEXT_EXCHANGE;

    if (slice->eager && op->relaid && slice->attention != SL_ATTENTION_UNFUSED &&
        slice->software->relays_outputs > 0.0)
        return true;
    return flash && slice->software->sequence_first && slice->sequences > 1.0 &&
           slice->operand_bytes <= 0.0 && !exchanged;
}

double
sl_slice_attention_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double output = (double)op->outputs / slice->tensor;
    const bool fused = slice->attention != SL_ATTENTION_UNFUSED;
    const double e = op->half ? slice->element_bytes : slice->attention_bytes;
    double bytes =
        sl_slice_qkv_bytes(slice, op) + e * output * slice->tokens + repeated_bytes(slice, op);

    /* Fused kernels keep one fp32 log-sum-exp per row and head instead of the scores. */
    if (fused)
        bytes += 4.0 * op->heads / slice->tensor * slice->tokens;
    if (is_laid_anew(slice, op))
        bytes += slice->element_bytes * output * slice->tokens;
    return bytes + context_saved_bytes(slice, op) + sl_slice_core_bytes(slice, op);
}

double
sl_slice_causal_keys(const sl_slice *slice, const sl_operator *op)
{
    const double s = slice->document;
    const double w = op->window;

    if (op->unmasked)
        return s;
    if (op->window == 0 || w >= s)
        return (s + 1.0) / 2.0;
    return w * (1.0 - w / (2.0 * s));
}

double
sl_slice_all_keys(const sl_slice *slice, const sl_operator *op)
{
    return op->window > 0 && !op->unmasked ? fmin(op->window, slice->document) : slice->document;
}
