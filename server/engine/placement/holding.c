#include "engine/placement/holding.h"

#include <assert.h>
#include <math.h>

#include "engine/placement/unit.h"

_Static_assert(SL_PIPELINE_MAX <= UINT8_MAX + 1, "a byte numbers every rank of a pipeline");

/* What shards are worked out from. */
typedef struct question_of {
    const sl_model *model;
    const sl_workload *workload;
    const sl_plan *plan;
    const sl_slice *slice;
    const sl_kind_price *prices; /* of each kind */
} question_of;

/* Of one layer whose tensors are divided one by one, by whole rows or as `flat` ones. */
static sl_padding
pad_tensors(const sl_slice *slice, const sl_layer_kind *kind, const sl_kind_price *price,
            const sl_degree *degree, bool flat)
{
    sl_padding most = {0.0, 0.0};

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        const bool routed = sl_slice_is_routed(tensor);
        const double ranks = routed ? degree->routed : degree->dense;
        *(routed ? &most.routed : &most.dense) +=
            flat ? sl_slice_flat_elements(slice, tensor, ranks)
                 : sl_slice_shard_elements(slice, tensor, ranks);
    }
    return (sl_padding){most.dense - (price->elements - price->routed_elements) / degree->dense,
                        most.routed - price->routed_elements / degree->routed};
}

/* Of tensors that are laid end to end and divided as one, all experts among them. */
static double
pad_unit(double elements, const sl_degree *degree)
{
    return ceil(elements / degree->dense) - elements / degree->dense;
}

static bool
is_wrapped(const question_of *q, uint32_t kind)
{
    return sl_schedule_is_block(q->model, kind) &&
           sl_unit_wraps(&q->plan->unit, q->slice, &q->model->kinds[kind],
                         q->prices[kind].elements);
}

static sl_padding
pad_kind(const question_of *q, uint32_t kind, const sl_degree *degree)
{
    if (degree->dense <= 0.0)
        return (sl_padding){0.0, 0.0};
    if (q->workload->framework == SL_FRAMEWORK_FSDP1)
        return (sl_padding){is_wrapped(q, kind) ? pad_unit(q->prices[kind].elements, degree) : 0.0,
                            0.0};
    return pad_tensors(q->slice, &q->model->kinds[kind], &q->prices[kind], degree,
                       q->workload->framework == SL_FRAMEWORK_DEEPSPEED);
}

/* What FSDP 1 wraps with no block is one unit on a rank: of the kinds it has no share. */
static double
pad_root(const question_of *q, const sl_holding *holding, const sl_degree *degree)
{
    double root = holding->elements.all;

    if (degree->dense <= 0.0 || q->workload->framework != SL_FRAMEWORK_FSDP1)
        return 0.0;
    for (uint32_t k = 0; k < q->model->kind_count; k++)
        if (is_wrapped(q, k))
            root -= holding->stage.layers[k] * q->prices[k].elements;
    return pad_unit(root, degree);
}

/* Over no ranks: none. */
static void
pad(const question_of *q, const sl_degree *degree, sl_holdings *out)
{
    sl_padding *kinds = out->kinds;

    for (uint32_t k = 0; k < q->model->kind_count; k++)
        kinds[k] = pad_kind(q, k, degree);
    for (uint32_t i = 0; i <= out->of[q->plan->pipeline - 1]; i++) {
        sl_holding *one = &out->list[i];
        one->elements.padding = pad_root(q, one, degree);
        one->elements.routed_padding = 0.0;
        for (uint32_t k = 0; k < q->model->kind_count; k++) {
            one->elements.padding += one->stage.layers[k] * kinds[k].dense;
            one->elements.routed_padding += one->stage.layers[k] * kinds[k].routed;
        }
    }
    out->padded = *degree;
}

/* Over how many ranks parameters are divided with padding. Modules of a block that FSDP 1 wraps are
 * counted as if they were divided evenly, and so is what is divided in buckets. */
static sl_degree
padded_over(const sl_workload *workload, const sl_plan *plan, const sl_degree *parameters)
{
    const bool divides = sl_states_divides_parameters(workload, plan);

    switch (workload->framework) {
    case SL_FRAMEWORK_FSDP1:
        if (divides && plan->unit.kind != SL_UNIT_BY_MODULE)
            return *parameters;
        break;
    case SL_FRAMEWORK_DEEPSPEED:
        if (divides)
            return *parameters;
        break;
    case SL_FRAMEWORK_FSDP2:
        return *parameters;
    case SL_FRAMEWORK_MEGATRON:
    case SL_FRAMEWORK_DDP:
    case SL_FRAMEWORK_DP:
    case SL_FRAMEWORK_COUNT:
        break;
    }
    return (sl_degree){0.0, 0.0};
}

static void
lay_out(const sl_workload *workload, const sl_plan *plan, sl_holdings *out)
{
    const bool alike = sl_states_alike(workload);

    out->own_bf16 = sl_states_own_bf16(workload, plan);
    out->flat = sl_states_steps_flat(workload, plan);
    for (uint32_t i = 0; i <= out->of[plan->pipeline - 1]; i++)
        out->list[i].layouts = alike && i > 0
                                   ? out->list[0].layouts
                                   : sl_states_layouts(workload, plan, &out->list[i].elements);
}

void
sl_hold_shards(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
               const sl_slice *slice, const sl_kind_price *prices, sl_holdings *out)
{
    const question_of question = {model, workload, plan, slice, prices};

    out->shards = sl_states_shards(workload, plan);
    if (out->own_bf16 != sl_states_own_bf16(workload, plan) ||
        out->flat != sl_states_steps_flat(workload, plan))
        lay_out(workload, plan, out);
    const sl_degree degree = padded_over(workload, plan, &out->shards.parameters);
    if (degree.dense != out->padded.dense || degree.routed != out->padded.routed)
        pad(&question, &degree, out);
}

void
sl_hold(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
        const sl_slice *slice, const sl_kind_price *prices, sl_holdings *out)
{
    uint32_t count = 0;

    assert(plan->pipeline >= 1 && plan->pipeline <= SL_PIPELINE_MAX);
    out->cut = sl_schedule_cut(model, plan);
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        if (r == 0 || !sl_schedule_repeats(model, plan, &out->cut, r)) {
            sl_holding *one = &out->list[count++];
            sl_schedule_stage(model, plan, &out->cut, r, &one->stage);
            one->elements = sl_states_stage(model, prices, &one->stage);
        }
        out->of[r] = (uint8_t)(count - 1);
        out->list[count - 1].end_rank = r + 1;
    }
    lay_out(workload, plan, out);
    out->padded = (sl_degree){0.0, 0.0}; /* as sl_states_stage leaves them */
    sl_hold_shards(model, workload, plan, slice, prices, out);
}
