#include "engine/placement/holding.h"

#include <assert.h>

_Static_assert(SL_PIPELINE_MAX <= UINT8_MAX + 1, "a byte numbers every rank of a pipeline");

/* Of one layer, tensor by tensor. */
static sl_padding
pad_kind(const sl_slice *slice, const sl_layer_kind *kind, const sl_kind_price *price,
         const sl_degree *degree)
{
    sl_padding most = {0.0, 0.0};

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        if (sl_slice_is_routed(tensor))
            most.routed += sl_slice_shard_elements(slice, tensor, degree->routed);
        else
            most.dense += sl_slice_shard_elements(slice, tensor, degree->dense);
    }
    return (sl_padding){most.dense - (price->elements - price->routed_elements) / degree->dense,
                        most.routed - price->routed_elements / degree->routed};
}

/* Over no ranks: none. */
static void
pad(const sl_model *model, uint32_t ranks, const sl_slice *slice, const sl_kind_price *prices,
    const sl_degree *degree, sl_holdings *out)
{
    sl_padding *kinds = out->kinds;

    for (uint32_t k = 0; k < model->kind_count; k++)
        kinds[k] = degree->dense > 0.0 ? pad_kind(slice, &model->kinds[k], &prices[k], degree)
                                       : (sl_padding){0.0, 0.0};
    for (uint32_t i = 0; i <= out->of[ranks - 1]; i++) {
        sl_holding *one = &out->list[i];
        one->elements.padding = one->elements.routed_padding = 0.0;
        for (uint32_t k = 0; k < model->kind_count; k++) {
            one->elements.padding += one->stage.layers[k] * kinds[k].dense;
            one->elements.routed_padding += one->stage.layers[k] * kinds[k].routed;
        }
    }
    out->padded = *degree;
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
    /* Flat tensors are divided evenly but for an element a rank. */
    static const sl_degree even = {0.0, 0.0};

    out->shards = sl_states_shards(workload, plan);
    if (out->own_bf16 != sl_states_own_bf16(workload, plan) ||
        out->flat != sl_states_steps_flat(workload, plan))
        lay_out(workload, plan, out);
    const sl_degree *degree =
        workload->framework == SL_FRAMEWORK_FSDP2 ? &out->shards.parameters : &even;
    if (degree->dense != out->padded.dense || degree->routed != out->padded.routed)
        pad(model, plan->pipeline, slice, prices, degree, out);
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
