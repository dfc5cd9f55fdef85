#include "engine/placement/slice.h"

#include <assert.h>
#include <math.h>

#include "engine/placement/adapter.h"
#include "engine/placement/states.h"
#include "engine/price/low_precision.h"
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

static bool
wraps_units(const sl_workload *workload, const sl_plan *plan)
{
    return sl_framework_is_fsdp(workload->framework) && plan->zero_stage > 0;
}

sl_slice
sl_slice_of(const sl_question *question, const sl_software *software, const sl_workload *workload,
            const sl_plan *plan, double clock_ratio)
{
    assert(plan->tensor >= 1 && plan->context >= 1);

    const double sequences = (double)workload->micro_batch;
    const bool wraps = wraps_units(workload, plan);
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
        .sums_half = sl_states_sums_half(workload),
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
                         : software->expert_operator_s,
        .host_operator_s = is_issued(workload) ? software->host_operator_s : 0.0,
        .unit_operators = wraps ? software->unit_operators : 0.0,
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

bool
sl_slice_norms_heads(const sl_layer_kind *kind)
{
    for (uint32_t i = 0; i < kind->operator_count; i++)
        if (kind->operators[i].kind == SL_OPERATOR_NORM && kind->operators[i].cut == SL_CUT_COLUMN)
            return true;
    return false;
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
sl_slice_shard_axis(const sl_software *software, const sl_tensor *tensor, uint64_t expert_ranks,
                    uint64_t ranks)
{
    return is_stacked(tensor) && (expert_ranks > 1 || software->cuts_experts) &&
           ranks * expert_ranks > tensor->shape[0];
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
    const uint32_t axis =
        sl_slice_shard_axis(slice->software, tensor, (uint64_t)slice->expert, (uint64_t)ranks);
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

bool
sl_slice_keeps_low(const sl_slice *slice, const sl_operator *op)
{
    return slice->operand_bytes > 0.0 && op->kind == SL_OPERATOR_MATMUL &&
           sl_slice_precision(slice, op) == slice->precision;
}

double
sl_slice_cut_ranks(const sl_slice *slice, const sl_operator *op)
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
    return op->cut == SL_CUT_ROW ? (double)op->inputs / sl_slice_cut_ranks(slice, op)
                                 : (double)op->inputs;
}

double
sl_slice_outputs(const sl_slice *slice, const sl_operator *op)
{
    if (op->cut == SL_CUT_COLUMN)
        return (double)op->outputs / sl_slice_cut_ranks(slice, op);
    if (op->cut == SL_CUT_VOCABULARY)
        return sl_slice_vocabulary(slice, (double)op->outputs) / slice->tensor;
    return (double)op->outputs;
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

bool
sl_slice_casts_inputs(const sl_slice *slice, const sl_operator *op)
{
    return sl_slice_sums_wide(slice) && op->cut == SL_CUT_COLUMN && op->experts == 0;
}
