#include "engine/placement/slice.h"

#include <assert.h>
#include <math.h>

#include "engine/placement/adapter.h"
#include "engine/placement/states.h"
#include "engine/price/low_precision.h"
#include "engine/price/masks.h"
#include "engine/schedule/schedule.h"

double
sl_precision_bytes(sl_precision precision)
{
    switch (precision) {
    case SL_PRECISION_BF16:
    case SL_PRECISION_FP16:
        return 2.0;
    case SL_PRECISION_FP8:
    case SL_PRECISION_MXFP8:
        return 1.0;
    case SL_PRECISION_NVFP4:
        return 0.5;
    default:
        return 4.0;
    }
}

bool
sl_precision_is_low(sl_precision precision)
{
    return precision == SL_PRECISION_FP8 || precision == SL_PRECISION_MXFP8 ||
           precision == SL_PRECISION_NVFP4;
}

double
sl_precision_kept_bytes(sl_precision precision)
{
    return sl_precision_is_low(precision) ? 2.0 : sl_precision_bytes(precision);
}

static bool
keeps_pointwise(const sl_software *software, const sl_workload *workload)
{
    if (workload->activations != SL_ACTIVATIONS_PROFILE)
        return workload->activations == SL_ACTIVATIONS_EAGER;
    return software->eager_activations && !workload->compile && !workload->adapter.fused;
}

bool
sl_slice_autocasts(const sl_workload *workload)
{
    const double stored = workload->layout.parameter_bytes;
    const bool frozen = sl_adapter_on(&workload->adapter);

    if (sl_framework_is_fsdp(workload->framework))
        return workload->gather == SL_WIRE_FP32 && (stored >= 4.0 || (stored < 0.0 && !frozen)) &&
               !workload->adapter.wide_rest && sl_precision_kept_bytes(workload->precision) < 4.0;
    return sl_framework_replicates(workload->framework) && !frozen &&
           (stored < 0.0 || stored >= 4.0);
}

/* Classes of fused kernels: generated code runs at their shares of the bandwidth (Vidur, LLMCompass
 * timings of fused norms, activations and rotary embeddings). */
static const sl_streaming generated = {
    .norm_ratio = 0.70,
    .activation_ratio = 0.85,
    .rotary_ratio = 0.85,
    .softmax_ratio = 0.70,
    .residual_ratio = 0.88,
};

/* Whether the host issues every operator by itself. */
static bool
is_issued(const sl_workload *workload)
{
    return !workload->compile && workload->graphs == SL_GRAPHS_NONE;
}

/* Tensorwise is Megatron's word for it. */
static bool
has_current_scales(const sl_workload *workload)
{
    return workload->precision == SL_PRECISION_FP8 &&
           (workload->fp8.recipe == SL_RECIPE_CURRENT ||
            workload->fp8.recipe == SL_RECIPE_TENSORWISE);
}

static bool
is_by_row(const sl_workload *workload)
{
    return workload->precision == SL_PRECISION_FP8 && workload->fp8.recipe == SL_RECIPE_ROWWISE &&
           !sl_low_keeps_operands(workload);
}

bool
sl_slice_hooked(const sl_software *software, const sl_plan *plan)
{
    return plan->zero_stage == 3 && software->module_operators > 0.0;
}

sl_slice
sl_slice_of(const sl_question *question, const sl_software *software, const sl_workload *workload,
            const sl_plan *plan, double clock_ratio)
{
    assert(plan->tensor >= 1 && plan->context >= 1);

    const double sequences = (double)workload->micro_batch;
    const double sequence =
        (double)workload->sequence_length + sl_adapter_prompt_tokens(&workload->adapter);

    return (sl_slice){
        .accelerator = &question->cluster->accelerator,
        .software = software,
        .clock_ratio = clock_ratio,
        .sequence = sequence,
        .document = workload->document_length > 0 ? (double)workload->document_length : sequence,
        .tokens = sequences * sequence / plan->context,
        .sequences = sequences,
        .tensor = plan->tensor,
        .context = plan->context,
        .context_kind = plan->context_kind,
        .expert = plan->expert,
        .expert_tensor = sl_plan_expert_tensor(plan),
        .capacity = workload->capacity,
        .imbalance = workload->imbalance > 0.0 ? workload->imbalance : 1.0,
        .spread = plan->sequence ? plan->tensor : 1.0,
        .element_bytes = sl_precision_kept_bytes(workload->precision),
        .stream_bytes =
            sl_slice_autocasts(workload) ? 4.0 : sl_precision_kept_bytes(workload->precision),
        .operand_bytes = sl_low_keeps_operands(workload) ? sl_low_value_bytes(workload) : 0.0,
        .transposed_bytes = sl_low_transposed_bytes(workload, &question->cluster->accelerator),
        .gated_bytes =
            workload->fp8.activation_inputs ? 1.0 : sl_precision_kept_bytes(workload->precision),
        .attended_bytes =
            workload->fp8.attention ? 1.0 : sl_precision_kept_bytes(workload->precision),
        .attention_bytes = sl_low_attention_bytes(workload),
        .precision = workload->precision,
        .entropy = sl_entropy_of(question->model, software, workload, plan->tensor),
        .by_row = is_by_row(workload),
        .current_scales = has_current_scales(workload),
        .framework = workload->framework,
        .attention = workload->attention,
        .adapter = &workload->adapter,
        .streaming = workload->compile ? generated : software->streaming,
        .sends_once = workload->dispatch == SL_DISPATCH_DEFAULT
                          ? software->sends_once
                          : workload->dispatch == SL_DISPATCH_ONCE,
        .in_turn = workload->forced && software->deals_in_turn,
        .generated = workload->compile,
        .awaited_s = workload->compile || workload->graphs == SL_GRAPHS_FULL
                         ? 0.0
                         : software->host_operator_s,
        .host_operator_s = is_issued(workload) ? software->host_operator_s : 0.0,
        .module_operators = sl_slice_hooked(software, plan) ? software->module_operators : 0.0,
        .recompute = workload->recompute,
        .recompute_modules =
            workload->recompute == SL_RECOMPUTE_MODULES ? workload->recompute_modules : 0,
        .mlp_tiles = workload->mlp_tiles,
        .dropout = workload->dropout,
        .eager = keeps_pointwise(software, workload),
        .ends_apart = sl_schedule_ends_apart(plan),
    };
}

double
sl_slice_vocabulary(const sl_slice *slice, double vocabulary)
{
    if (slice->framework != SL_FRAMEWORK_MEGATRON)
        return vocabulary;

    const double multiple = 128.0 * slice->tensor;

    return ceil(vocabulary / multiple) * multiple;
}

bool
sl_slice_is_routed(const sl_tensor *tensor)
{
    return tensor->component == SL_COMPONENT_ROUTED_EXPERTS;
}

/* Experts are dealt out whole, each cut on its own: what is stored of them together does not
 * matter. */
static double
routed_elements(const sl_slice *slice, const sl_tensor *tensor)
{
    double elements = tensor->experts > 0 ? tensor->experts : 1.0;

    for (uint32_t i = 0; i < tensor->axes; i++)
        elements *= (double)tensor->shape[i];
    if (tensor->cut != SL_CUT_REPLICATED)
        elements /= slice->expert_tensor;
    return elements / slice->expert;
}

bool
sl_slice_holds(const sl_slice *slice, const sl_tensor *tensor)
{
    return !tensor->buffer && (!tensor->tied || slice->ends_apart);
}

/* Of one axis, what a rank of the tensor group has. */
static double
axis_length(const sl_slice *slice, const sl_tensor *tensor, uint32_t axis)
{
    const double length = (double)tensor->shape[axis];

    if (tensor->cut == SL_CUT_REPLICATED || axis != tensor->cut_axis)
        return length;
    return ceil((tensor->cut == SL_CUT_VOCABULARY ? sl_slice_vocabulary(slice, length) : length) /
                slice->tensor);
}

double
sl_slice_elements(const sl_slice *slice, const sl_tensor *tensor)
{
    if (!sl_slice_holds(slice, tensor))
        return 0.0;
    if (sl_slice_is_routed(tensor))
        return routed_elements(slice, tensor);

    double elements = 1.0;
    for (uint32_t i = 0; i < tensor->axes; i++)
        elements *= axis_length(slice, tensor, i);
    return elements;
}

/* Whether experts are an axis of their own: they do not stand end to end along the one that is cut,
 * nor in tensors of their own. */
static bool
is_stacked(const sl_tensor *tensor)
{
    return sl_slice_is_routed(tensor) && tensor->experts == 0 && tensor->axes > 1 &&
           (tensor->cut == SL_CUT_REPLICATED || tensor->cut_axis != 0);
}

uint32_t
sl_slice_shard_axis(const sl_tensor *tensor, uint64_t expert_ranks, uint64_t ranks)
{
    return is_stacked(tensor) && expert_ranks > 1 && ranks * expert_ranks > tensor->shape[0];
}

/* Of routed experts: those of one rank where they share a tensor, each cut on its own. */
static double
routed_length(const sl_slice *slice, const sl_tensor *tensor, uint32_t axis)
{
    double length = (double)tensor->shape[axis];

    if (axis == 0 && tensor->experts == 0)
        length /= slice->expert;
    if (tensor->cut != SL_CUT_REPLICATED && axis == tensor->cut_axis)
        length /= slice->expert_tensor;
    return length;
}

double
sl_slice_shard_elements(const sl_slice *slice, const sl_tensor *tensor, double ranks)
{
    const double elements = sl_slice_elements(slice, tensor);
    const uint32_t axis = sl_slice_shard_axis(tensor, (uint64_t)slice->expert, (uint64_t)ranks);
    const double rows = sl_slice_is_routed(tensor) ? routed_length(slice, tensor, axis)
                                                   : axis_length(slice, tensor, axis);

    return elements > 0.0 ? ceil(rows / ranks) * (elements / rows) : 0.0;
}

double
sl_slice_flat_elements(const sl_slice *slice, const sl_tensor *tensor, double ranks)
{
    const double tensors = tensor->experts == 0 ? 1.0 : tensor->experts / slice->expert;

    return tensors * ceil(sl_slice_elements(slice, tensor) / tensors / ranks);
}

bool
sl_slice_may_be_low(const sl_operator *op)
{
    return op->kind == SL_OPERATOR_MATMUL && op->cut != SL_CUT_VOCABULARY && !op->half &&
           (op->cut != SL_CUT_REPLICATED || op->component == SL_COMPONENT_ATTENTION);
}

bool
sl_slice_weight_may_be_low(const sl_tensor *tensor)
{
    return tensor->linear && !tensor->half && tensor->component != SL_COMPONENT_ROUTER;
}

sl_precision
sl_slice_precision(const sl_slice *slice, const sl_operator *op)
{
    if (!sl_precision_is_low(slice->precision) || sl_slice_may_be_low(op))
        return slice->precision;
    return SL_PRECISION_BF16;
}

/* Over how many ranks an operator is cut. */
static double
cut_ranks(const sl_slice *slice, const sl_operator *op)
{
    if (op->cut == SL_CUT_REPLICATED)
        return 1.0;
    return op->experts > 0 ? slice->expert_tensor : slice->tensor;
}

double
sl_slice_positions(const sl_slice *slice, const sl_operator *op)
{
    return op->once ? slice->sequences : slice->tokens;
}

double
sl_slice_rows(const sl_slice *slice, const sl_operator *op)
{
    if (op->experts == 0)
        return sl_slice_positions(slice, op);

    const double most = fmin(slice->expert, (double)op->experts / op->visits);
    const double load = slice->capacity > 0.0 ? slice->capacity : fmin(slice->imbalance, most);

    return slice->tokens * op->visits * slice->expert_tensor / slice->tensor * fmax(1.0, load);
}

double
sl_slice_experts(const sl_slice *slice, const sl_operator *op)
{
    return op->experts > 0 ? op->experts / slice->expert : 1.0;
}

double
sl_slice_inputs(const sl_slice *slice, const sl_operator *op)
{
    return op->cut == SL_CUT_ROW ? (double)op->inputs / cut_ranks(slice, op) : (double)op->inputs;
}

double
sl_slice_outputs(const sl_slice *slice, const sl_operator *op)
{
    if (op->cut == SL_CUT_COLUMN)
        return (double)op->outputs / cut_ranks(slice, op);
    if (op->cut == SL_CUT_VOCABULARY)
        return sl_slice_vocabulary(slice, (double)op->outputs) / slice->tensor;
    return (double)op->outputs;
}

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
        slice->attention == SL_ATTENTION_UNFUSED ? slice->eager : slice->software->repeats_keys;

    if (!repeats || op->shares_input || op->kv_heads >= op->heads)
        return 0.0;
    return 2.0 * slice->element_bytes * (op->heads - op->kv_heads) * op->head_dim / slice->tensor *
           slice->tokens;
}

static double
attention_saved_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double output = (double)op->outputs / slice->tensor;
    const bool fused = slice->attention != SL_ATTENTION_UNFUSED;
    const double e = op->half ? slice->element_bytes : slice->attention_bytes;
    double bytes =
        sl_slice_qkv_bytes(slice, op) + e * output * slice->tokens + repeated_bytes(slice, op);

    /* Fused kernels keep one fp32 log-sum-exp per row and head instead of the scores. */
    if (fused)
        bytes += 4.0 * op->heads / slice->tensor * slice->tokens;
    if (fused && slice->eager && op->relaid)
        bytes += slice->element_bytes * output * slice->tokens;
    return bytes + context_saved_bytes(slice, op) + sl_slice_core_bytes(slice, op);
}

/* The delta rule also keeps queries and keys of every head, values, and each chunk's inverse. */
static double
delta_kept(const sl_operator *op)
{
    return op->delta ? op->heads * (2.0 * op->state + op->head_dim + op->chunk) : 0.0;
}

/* Eager code multiplies tokens by their scores, and the product keeps them: torchtitan in fp32, before
 * the experts or behind (moe.py, score_before_experts), Transformers what the experts gave. */
static double
scored_bytes(const sl_slice *slice, const sl_operator *op)
{
    const double value = slice->framework == SL_FRAMEWORK_FSDP2 ? 4.0 : slice->element_bytes;

    return slice->eager ? value * (double)op->inputs * sl_slice_rows(slice, op) : 0.0;
}

uint32_t
sl_slice_products(const sl_slice *slice, const sl_operator *op)
{
    uint32_t count = 0;

    if (slice->software->splits_products)
        while (count < sizeof op->parts / sizeof op->parts[0] && op->parts[count] > 0)
            count++;
    return count > 0 ? count : 1;
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

bool
sl_slice_casts_inputs(const sl_slice *slice, const sl_operator *op)
{
    return sl_slice_sums_wide(slice) && op->cut == SL_CUT_COLUMN && op->experts == 0;
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
    const bool copied = slice->operand_bytes > 0.0 && op->kind == SL_OPERATOR_MATMUL &&
                        sl_slice_precision(slice, op) == slice->precision;
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
        return attention_saved_bytes(slice, op);
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
        return (read + gate + steps + mask) / cut_ranks(slice, op) * sl_slice_rows(slice, op);
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
        return op->joined && slice->eager ? e * (double)op->inputs / slice->tensor * tokens : 0.0;
    case SL_OPERATOR_LOSS: /* logits are counted at the head, where they peak */
    case SL_OPERATOR_KIND_COUNT:
        break;
    }
    return 0.0;
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
