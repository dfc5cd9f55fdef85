#include "engine/placement/kept.h"

#include <math.h>

#include "engine/placement/adapter.h"
#include "engine/placement/attended.h"
#include "engine/price/masks.h"

/* The delta rule also keeps queries and keys of every head, values, and each chunk's inverse. */
static double
delta_kept(const sl_operator *op)
{
    return op->delta ? op->heads * (2.0 * op->state + op->head_dim + op->chunk) : 0.0;
}

/* Eager code multiplies tokens by their scores, and the product keeps them: torchtitan, which never
 * compiles that, in fp32, before the experts or behind (moe.py, score_before_experts), Transformers
 * what the experts gave. */
static double
scored_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double value = slice->framework == SL_FRAMEWORK_FSDP2 ? 4.0 : slice->element_bytes;
    const bool keeps = slice->eager || slice->software->route_forward_bytes > 0.0;

    return keeps ? value * (double)op->inputs * sl_slice_rows(slice, op) : 0.0;
}

/* Norms within attention are of what products gave, in 16 bits. One that is composed of kernels
 * casts what it reads to fp32, which two of them keep, and keeps what its weight multiplies, where
 * that trains. */
static double
norm_saved_bytes(const sl_slice *slice, const sl_operator *op)
{
    const bool within = op->cut == SL_CUT_COLUMN;
    const double values = (double)op->inputs * sl_slice_positions(slice, op) /
                          (within ? slice->tensor : slice->spread);
    const double stream =
        within ? slice->element_bytes : fmax(slice->stream_bytes, sl_adapter_stream_bytes(slice));
    const bool trains =
        !sl_adapter_on(slice->adapter) || slice->adapter->method == SL_ADAPTER_LN_TUNING;

    /* Cohere's takes the mean off twice, and all three steps stay in fp32. */
    if (slice->eager && op->centred && op->wide)
        return values * (trains ? 12.0 : 8.0);
    if (!slice->eager || op->centred || slice->software->norm_keeps == SL_NORM_KEEPS_INPUT)
        return values * stream;
    if (!trains)
        return values * 4.0;
    const bool cast = slice->software->norm_keeps == SL_NORM_KEEPS_CAST && !op->wide;
    return values * (4.0 + (cast ? stream : 4.0));
}

/* Each of them keeps its own copy of what is cast. */
static double
product_saved_bytes(const sl_slice *slice, const sl_operator *op, bool copied)
{
    const double e = copied ? slice->operand_bytes : slice->element_bytes;
    const double casts = sl_slice_casts_inputs(slice, op) ? sl_slice_products(slice, op) : 1.0;

    if (op->shares_input && !copied)
        return 0.0;
    if (op->experts > 0) /* what arrived: already this rank's part */
        return e * sl_slice_inputs(slice, op) * sl_slice_rows(slice, op);
    return casts * e * sl_slice_inputs(slice, op) * sl_slice_positions(slice, op) /
           (op->cut == SL_CUT_ROW || !slice->software->regathers_inputs ? 1.0 : slice->spread);
}

/* Of 0.5 x (1 + tanh(c (x + a x^3))) beside x: the tanh and both factors of the last product.
 * Autocast raises x to its power in fp32, and so are x, the tanh and the second factor. */
static double
step_bytes(const sl_slice *slice, const sl_operator *op)
{
    if (!op->composed || !slice->eager)
        return 0.0;
    return sl_slice_sums_wide(slice) ? 4.0 * 3.0 : 3.0 * slice->element_bytes;
}

double
sl_slice_saved_bytes(const sl_slice *slice, const sl_operator *op)
{
    /* A product of quantised operands keeps its own copy of an input, whoever else keeps it. */
    const bool copied = sl_slice_keeps_low(slice, op);
    const double e = copied ? slice->operand_bytes : slice->element_bytes;
    const double tokens = sl_slice_positions(slice, op);

    switch (op->kind) {
    case SL_OPERATOR_LOOKUP: /* int64 token ids, and the mask of the embedding dropout */
        return 8.0 * tokens + (slice->dropout ? (double)op->outputs * tokens / slice->spread : 0.0);
    case SL_OPERATOR_NORM:
        return norm_saved_bytes(slice, op);
    case SL_OPERATOR_MATMUL:
        return product_saved_bytes(slice, op, copied);
    case SL_OPERATOR_ATTENTION:
        return sl_slice_attention_bytes(slice, op);
    case SL_OPERATOR_ACTIVATION: {
        if (op->shares_input)
            return 0.0;
        /* Unfused gated code also keeps silu(gate), as wide as its output. */
        const bool gated = sl_operator_is_gated(op);
        const double mask = op->drops && slice->dropout ? (double)op->outputs : 0.0;
        const double read =
            op->rectified ? 0.0 : (gated ? slice->gated_bytes : e) * (double)op->inputs;
        const double gate = slice->eager && gated ? e * (double)op->outputs : 0.0;
        const double steps = step_bytes(slice, op) * (double)op->outputs;
        return (read + gate + steps + mask) / sl_slice_cut_ranks(slice, op) *
               sl_slice_rows(slice, op);
    }
    case SL_OPERATOR_ROUTE: /* fp32 scores and probabilities, and the maps there and back */
        return (2.0 * 4.0 * (double)op->outputs + 2.0 * 4.0 * op->visits) * tokens / slice->spread +
               scored_bytes(slice, op) + sl_masks_kept_bytes(slice, op);
    case SL_OPERATOR_RESIDUAL:
        return slice->dropout ? (double)op->outputs * tokens / slice->spread : 0.0;
    case SL_OPERATOR_SCAN: /* what it read and what it gave before the gate; the rest is rebuilt */
        return e * ((double)(op->inputs + op->outputs) + delta_kept(op)) / slice->tensor * tokens;
    case SL_OPERATOR_PLAIN:
        return (double)op->sample_kept_bytes * slice->sequences;
    case SL_OPERATOR_ROTARY: /* backward turns back; but values that are a view keep all of it */
        return op->joined && (slice->eager || slice->generated)
                   ? e * (double)op->inputs / slice->tensor * tokens
                   : 0.0;
    case SL_OPERATOR_LOSS: /* logits are counted at the head, where they peak */
    case SL_OPERATOR_KIND_COUNT:
        break;
    }
    return 0.0;
}
