#include "engine/schedule.h"

#include <assert.h>

void
sl_schedule_stage(const sl_model *model, const sl_plan *plan, uint32_t rank, sl_stage *out)
{
    const uint32_t p = plan->pipeline;
    const uint32_t chunks = p * plan->virtual_pipeline;
    const uint32_t per_chunk = model->block_count / chunks;

    assert(rank < p && model->block_count % chunks == 0);
    assert(model->layer_count == model->block_count + 2);

    *out = (sl_stage){
        .blocks = per_chunk * plan->virtual_pipeline,
        .first = rank == 0,
        .last = rank == p - 1,
    };
    if (out->first)
        out->layers[model->layers[0]]++;
    if (out->last)
        out->layers[model->layers[model->layer_count - 1]]++;
    for (uint32_t chunk = rank; chunk < chunks; chunk += p)
        for (uint32_t i = 0; i < per_chunk; i++)
            out->layers[model->layers[1 + chunk * per_chunk + i]]++;
}

uint64_t
sl_schedule_chunks_in_flight(const sl_plan *plan, uint64_t microbatches, uint32_t rank)
{
    const uint64_t p = plan->pipeline;
    const uint64_t v = plan->virtual_pipeline;
    const uint64_t chunks = v > 1 ? 2 * (p - rank - 1) + (v - 1) * p + 1 : p - rank;
    const uint64_t all = microbatches * v;

    return chunks < all ? chunks : all;
}

sl_span
sl_schedule_span(const sl_plan *plan, uint64_t microbatches, const double busy_s[SL_PIPELINE_MAX])
{
    const double m = (double)microbatches;
    double sum_s = 0.0;
    uint32_t slowest = 0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        sum_s += busy_s[r];
        if (busy_s[r] > busy_s[slowest])
            slowest = r;
    }

    const double bubble_s = (sum_s - busy_s[slowest]) / plan->virtual_pipeline;
    const double span_s = m * busy_s[slowest] + bubble_s;

    return (sl_span){
        .span_s = span_s,
        .bubble_s = bubble_s,
        .idle_ratio = span_s > 0.0 ? 1.0 - m * sum_s / (plan->pipeline * span_s) : 0.0,
        .slowest = slowest,
    };
}
