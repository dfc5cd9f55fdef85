#include "engine/holding.h"

#include <assert.h>

_Static_assert(SL_PIPELINE_MAX <= UINT8_MAX + 1, "a byte numbers every rank of a pipeline");

void
sl_hold(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
        const sl_kind_price *prices, sl_holdings *out)
{
    uint32_t count = 0;

    assert(plan->pipeline >= 1 && plan->pipeline <= SL_PIPELINE_MAX);
    out->shards = sl_states_shards(workload, plan);
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        if (r == 0 || !sl_schedule_repeats(model, plan, r)) {
            sl_holding *one = &out->list[count++];
            sl_schedule_stage(model, plan, r, &one->stage);
            one->elements = sl_states_stage(model, prices, &one->stage);
            one->layouts = sl_states_layouts(workload, &one->elements);
        }
        out->of[r] = (uint8_t)(count - 1);
    }
}

const sl_holding *
sl_holding_of(const sl_holdings *holdings, uint32_t rank)
{
    assert(rank < SL_PIPELINE_MAX);
    return &holdings->list[holdings->of[rank]];
}

bool
sl_holding_repeats(const sl_holdings *holdings, uint32_t rank)
{
    assert(rank > 0 && rank < SL_PIPELINE_MAX);
    return holdings->of[rank] == holdings->of[rank - 1];
}
