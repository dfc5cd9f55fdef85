#include "engine/placement/holding.h"

#include <assert.h>

_Static_assert(SL_PIPELINE_MAX <= UINT8_MAX + 1, "a byte numbers every rank of a pipeline");

void
sl_hold(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
        const sl_kind_price *prices, sl_holdings *out)
{
    const bool alike = sl_states_alike(workload);
    uint32_t count = 0;

    assert(plan->pipeline >= 1 && plan->pipeline <= SL_PIPELINE_MAX);
    out->cut = sl_schedule_cut(model, plan);
    sl_hold_shards(workload, plan, out);
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        if (r == 0 || !sl_schedule_repeats(model, plan, &out->cut, r)) {
            sl_holding *one = &out->list[count++];
            sl_schedule_stage(model, plan, &out->cut, r, &one->stage);
            one->elements = sl_states_stage(model, prices, &one->stage);
            one->layouts =
                alike && r > 0 ? out->list[0].layouts : sl_states_layouts(workload, &one->elements);
        }
        out->of[r] = (uint8_t)(count - 1);
        out->list[count - 1].end_rank = r + 1;
    }
}
