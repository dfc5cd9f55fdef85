#include "engine/schedule.h"

#include <assert.h>

/* Whether the list of layers has an embedding and a head around its blocks. */
static bool
has_ends(const sl_model *model)
{
    return model->layer_count != model->block_count;
}

sl_split
sl_schedule_split(const sl_model *model, const sl_plan *plan)
{
    const uint32_t chunks = plan->pipeline * plan->virtual_pipeline;

    if (plan->layout_chunks > 0)
        return SL_SPLIT_GIVEN;
    if (model->block_count % chunks == 0)
        return SL_SPLIT_BLOCKS;
    if (model->layer_count % chunks == 0)
        return SL_SPLIT_LAYERS;
    return model->layer_count > chunks ? SL_SPLIT_UNEVEN : SL_SPLIT_NONE;
}

bool
sl_schedule_is_block(const sl_model *model, uint32_t kind)
{
    return !has_ends(model) ||
           (kind != model->layers[0] && kind != model->layers[model->layer_count - 1]);
}

static uint32_t
given_begin(const sl_model *model, const sl_plan *plan, uint32_t chunk)
{
    uint32_t begin = has_ends(model);

    for (uint32_t i = 0; i < chunk; i++)
        begin += plan->layout[i];
    return begin;
}

uint32_t
sl_schedule_chunk_begin(const sl_model *model, const sl_plan *plan, uint32_t chunk)
{
    const uint32_t chunks = plan->pipeline * plan->virtual_pipeline;
    const uint32_t each = model->layer_count / chunks;
    const uint32_t over = model->layer_count % chunks;

    if (chunk == 0)
        return 0;
    if (chunk == chunks)
        return model->layer_count;
    switch (sl_schedule_split(model, plan)) {
    case SL_SPLIT_GIVEN:
        return given_begin(model, plan, chunk);
    case SL_SPLIT_BLOCKS:
        return has_ends(model) + chunk * (model->block_count / chunks);
    case SL_SPLIT_LAYERS:
    case SL_SPLIT_UNEVEN:
        return chunk * each + (chunk < over ? chunk : over);
    case SL_SPLIT_NONE:
        break;
    }
    assert(false);
    return 0;
}

uint32_t
sl_schedule_last_kind(const sl_model *model, const sl_plan *plan, uint32_t chunk)
{
    assert(chunk < plan->pipeline * plan->virtual_pipeline);
    return model->layers[sl_schedule_chunk_begin(model, plan, chunk + 1) - 1];
}

void
sl_schedule_stage(const sl_model *model, const sl_plan *plan, uint32_t rank, sl_stage *out)
{
    const uint32_t p = plan->pipeline;
    const uint32_t chunks = p * plan->virtual_pipeline;

    assert(rank < p && sl_schedule_split(model, plan) != SL_SPLIT_NONE);
    assert(!has_ends(model) || model->layer_count == model->block_count + 2);

    /* Not the whole struct: a model has few of the kinds that there is room for. */
    for (uint32_t k = 0; k < model->kind_count; k++)
        out->layers[k] = 0;
    out->blocks = 0;
    out->first = rank == 0;
    out->last = rank == p - 1;
    for (uint32_t chunk = rank; chunk < chunks; chunk += p) {
        const uint32_t end = sl_schedule_chunk_begin(model, plan, chunk + 1);
        for (uint32_t i = sl_schedule_chunk_begin(model, plan, chunk); i < end; i++)
            out->layers[model->layers[i]]++;
    }
    for (uint32_t k = 0; k < model->kind_count; k++)
        if (sl_schedule_is_block(model, k))
            out->blocks += out->layers[k];
}

sl_schedule
sl_schedule_of(const sl_plan *plan)
{
    if (plan->virtual_pipeline > 1)
        return SL_SCHEDULE_INTERLEAVED_1F1B;
    return plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B ? SL_SCHEDULE_1F1B : plan->schedule;
}

uint64_t
sl_schedule_chunks_in_flight(const sl_plan *plan, uint64_t microbatches, uint32_t rank)
{
    if (plan->schedule == SL_SCHEDULE_NAIVE)
        return 1;
    if (plan->schedule == SL_SCHEDULE_GPIPE)
        return microbatches;

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

    const double passes = plan->schedule == SL_SCHEDULE_NAIVE ? m : 1.0 / plan->virtual_pipeline;
    const double bubble_s = (sum_s - busy_s[slowest]) * passes;
    const double span_s = m * busy_s[slowest] + bubble_s;

    return (sl_span){
        .span_s = span_s,
        .bubble_s = bubble_s,
        .sum_s = sum_s,
        .idle_ratio = span_s > 0.0 ? 1.0 - m * sum_s / (plan->pipeline * span_s) : 0.0,
        .slowest = slowest,
    };
}
