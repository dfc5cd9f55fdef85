#include "engine/schedule.h"

#include <assert.h>
#include <math.h>
#include <string.h>

uint32_t
sl_schedule_chunks(const sl_plan *plan)
{
    return plan->pipeline * plan->virtual_pipeline;
}

uint32_t
sl_schedule_copies(const sl_plan *plan)
{
    return plan->schedule == SL_SCHEDULE_DUALPIPE ? 2 : 1;
}

uint32_t
sl_schedule_held(const sl_plan *plan)
{
    return plan->virtual_pipeline * sl_schedule_copies(plan);
}

sl_held
sl_schedule_all_held(const sl_plan *plan, uint32_t rank)
{
    return (sl_held){.rank = rank, .first = 0, .count = sl_schedule_held(plan)};
}

uint32_t
sl_schedule_rank(const sl_plan *plan, uint32_t chunk, uint32_t copy)
{
    const uint32_t p = plan->pipeline;

    assert(chunk < sl_schedule_chunks(plan) && copy < sl_schedule_copies(plan));
    if (plan->schedule == SL_SCHEDULE_ZB_V)
        return chunk < p ? chunk : 2 * p - 1 - chunk;
    return copy == 0 ? chunk % p : p - 1 - chunk;
}

uint32_t
sl_schedule_chunk(const sl_plan *plan, uint32_t rank, uint32_t index)
{
    const uint32_t p = plan->pipeline;

    assert(rank < p && index < sl_schedule_held(plan));
    if (index == 1 && plan->schedule == SL_SCHEDULE_ZB_V)
        return 2 * p - 1 - rank;
    if (index == 1 && plan->schedule == SL_SCHEDULE_DUALPIPE)
        return p - 1 - rank;
    return rank + index * p;
}

uint32_t
sl_schedule_directions(const sl_plan *plan)
{
    return plan->schedule == SL_SCHEDULE_ZB_V || plan->schedule == SL_SCHEDULE_DUALPIPE ? 2 : 1;
}

uint32_t
sl_schedule_crossing(const sl_plan *plan, uint32_t rank, uint32_t index)
{
    assert(rank + 1 < plan->pipeline);
    /* The way back begins at the farther rank. */
    return sl_schedule_chunk(plan, sl_schedule_directions(plan) == 2 ? rank + index : rank, index);
}

bool
sl_schedule_ends_apart(const sl_plan *plan)
{
    return plan->pipeline > 1 && sl_schedule_directions(plan) == 1;
}

bool
sl_schedule_splits_backward(const sl_plan *plan)
{
    switch (plan->schedule) {
    case SL_SCHEDULE_ZB_H1:
    case SL_SCHEDULE_ZB_H2:
    case SL_SCHEDULE_ZB_V:
    case SL_SCHEDULE_DUALPIPE:
        return true;
    default:
        return false;
    }
}

/* Whether the list of layers has an embedding and a head around its blocks. */
static bool
has_ends(const sl_model *model)
{
    return model->layer_count != model->block_count;
}

bool
sl_schedule_is_block(const sl_model *model, uint32_t kind)
{
    return !has_ends(model) ||
           (kind != model->layers[0] && kind != model->layers[model->layer_count - 1]);
}

/* A list of layers cut into chunks, the first `over` of which hold one more than the others. */
typedef struct cut {
    sl_split split;
    uint32_t chunks, layers;
    const uint16_t *given; /* blocks of each chunk, or NULL */
    uint32_t ahead;        /* layers before those that are cut evenly */
    uint32_t each, over;
} cut;

static cut
cut_of(const sl_model *model, const sl_plan *plan)
{
    const uint32_t chunks = sl_schedule_chunks(plan);
    cut out = {.chunks = chunks, .layers = model->layer_count};

    if (plan->layout_chunks > 0) {
        out.split = SL_SPLIT_GIVEN;
        out.ahead = has_ends(model);
        out.given = plan->layout;
    } else if (model->block_count % chunks == 0) {
        out.split = SL_SPLIT_BLOCKS;
        out.ahead = has_ends(model);
        out.each = model->block_count / chunks;
    } else {
        out.each = model->layer_count / chunks;
        out.over = model->layer_count % chunks;
        out.split = out.over == 0   ? SL_SPLIT_LAYERS
                    : out.each == 0 ? SL_SPLIT_NONE
                                    : SL_SPLIT_UNEVEN;
    }
    return out;
}

sl_split
sl_schedule_split(const sl_model *model, const sl_plan *plan)
{
    return cut_of(model, plan).split;
}

static uint32_t
begin_of(const cut *c, uint32_t chunk)
{
    uint32_t begin = c->ahead;

    if (chunk == 0 || chunk == c->chunks)
        return chunk == 0 ? 0 : c->layers;
    if (c->given == NULL)
        return begin + chunk * c->each + (chunk < c->over ? chunk : c->over);
    for (uint32_t i = 0; i < chunk; i++)
        begin += c->given[i];
    return begin;
}

uint32_t
sl_schedule_chunk_begin(const sl_model *model, const sl_plan *plan, uint32_t chunk)
{
    const cut c = cut_of(model, plan);

    assert(c.split != SL_SPLIT_NONE);
    return begin_of(&c, chunk);
}

uint32_t
sl_schedule_last_kind(const sl_model *model, const sl_plan *plan, uint32_t chunk)
{
    assert(chunk < sl_schedule_chunks(plan));
    return model->layers[sl_schedule_chunk_begin(model, plan, chunk + 1) - 1];
}

static bool
is_on_host(const sl_model *model, const sl_plan *plan, uint32_t layer)
{
    const uint32_t block = layer - has_ends(model);

    for (uint32_t i = 0; i < plan->host_run_count; i++)
        if (layer >= has_ends(model) && block >= plan->host_runs[i].first &&
            block <= plan->host_runs[i].last)
            return true;
    return false;
}

static bool
ends_model(const sl_plan *plan, uint32_t chunk)
{
    return chunk == 0 || chunk + 1 == sl_schedule_chunks(plan);
}

/* Adds the layers from begin on that are not the host's, by kind. */
static void
count_layers(const sl_model *model, const sl_plan *plan, uint32_t begin, uint32_t end,
             sl_stage *out)
{
    if (plan->host_run_count == 0) {
        for (uint32_t i = begin; i < end; i++)
            out->layers[model->layers[i]]++;
        return;
    }
    for (uint32_t i = begin; i < end; i++)
        if (!is_on_host(model, plan, i))
            out->layers[model->layers[i]]++;
}

void
sl_schedule_part(const sl_model *model, const sl_plan *plan, const sl_held *held, sl_stage *out)
{
    const cut c = cut_of(model, plan);

    assert(held->rank < plan->pipeline && c.split != SL_SPLIT_NONE);
    assert(!has_ends(model) || model->layer_count == model->block_count + 2);

    /* Not the whole struct: a model has few of the kinds that there is room for. */
    for (uint32_t k = 0; k < model->kind_count; k++)
        out->layers[k] = 0;
    out->blocks = 0;
    out->first = out->last = false;
    for (uint32_t i = 0; i < held->count; i++) {
        const uint32_t chunk = sl_schedule_chunk(plan, held->rank, held->first + i);
        out->first = out->first || chunk == 0;
        out->last = out->last || chunk == c.chunks - 1;
        count_layers(model, plan, begin_of(&c, chunk), begin_of(&c, chunk + 1), out);
    }
    for (uint32_t k = 0; k < model->kind_count; k++)
        if (sl_schedule_is_block(model, k))
            out->blocks += out->layers[k];
}

void
sl_schedule_stage(const sl_model *model, const sl_plan *plan, uint32_t rank, sl_stage *out)
{
    const sl_held held = sl_schedule_all_held(plan, rank);

    sl_schedule_part(model, plan, &held, out);
}

bool
sl_schedule_repeats(const sl_model *model, const sl_plan *plan, uint32_t rank)
{
    const cut c = cut_of(model, plan);
    const uint32_t held = sl_schedule_held(plan);

    assert(rank > 0 && rank < plan->pipeline && c.split != SL_SPLIT_NONE);
    for (uint32_t i = 0; i < held; i++) {
        const uint32_t chunk = sl_schedule_chunk(plan, rank, i);
        const uint32_t other = sl_schedule_chunk(plan, rank - 1, i);
        if (ends_model(plan, chunk) || ends_model(plan, other))
            return false;
        const uint32_t begin = begin_of(&c, chunk);
        const uint32_t begin_other = begin_of(&c, other);
        const uint32_t layers = begin_of(&c, chunk + 1) - begin;
        if (layers != begin_of(&c, other + 1) - begin_other ||
            memcmp(&model->layers[begin], &model->layers[begin_other],
                   layers * sizeof model->layers[0]) != 0)
            return false;
    }
    return plan->host_run_count == 0;
}

sl_schedule
sl_schedule_of(const sl_plan *plan)
{
    if (plan->virtual_pipeline == 2 && plan->schedule == SL_SCHEDULE_ZB_V)
        return SL_SCHEDULE_ZB_V;
    if (plan->virtual_pipeline > 1)
        return SL_SCHEDULE_INTERLEAVED_1F1B;
    if (plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B || plan->schedule == SL_SCHEDULE_ZB_V ||
        (plan->schedule == SL_SCHEDULE_DUALPIPE && plan->pipeline == 1))
        return SL_SCHEDULE_1F1B;
    return plan->schedule;
}

static sl_in_flight
deferring(double whole, double units, double microbatches)
{
    const double kept = fmin(whole, microbatches);

    return (sl_in_flight){.whole = kept, .deferred = fmin(units, microbatches) - kept};
}

sl_in_flight
sl_schedule_in_flight(const sl_plan *plan, uint64_t microbatches, uint32_t rank)
{
    const double p = plan->pipeline;
    const double v = plan->virtual_pipeline;
    const double m = (double)microbatches;
    const double later = p - rank - 1.0;                    /* ranks after this one */
    const double ahead = plan->overlap_experts ? 1.0 : 0.0; /* a forward beside each backward */

    switch (plan->schedule) {
    case SL_SCHEDULE_NAIVE:
        return (sl_in_flight){.whole = 1.0 / v};
    case SL_SCHEDULE_GPIPE:
        return (sl_in_flight){.whole = m};
    case SL_SCHEDULE_INTERLEAVED_1F1B:
        return (sl_in_flight){.whole = fmin((2.0 * later + (v - 1.0) * p + 1.0 + ahead) / v, m)};
    case SL_SCHEDULE_ZB_H1:
        return deferring(later + 1.0, p, m);
    case SL_SCHEDULE_ZB_H2:
        return deferring(2.0 * later + 1.0, 2.0 * p - 1.0, m);
    case SL_SCHEDULE_ZB_V:
        return (sl_in_flight){.whole = fmin(p, m), .turning = fmin(p, m)};
    case SL_SCHEDULE_DUALPIPE:
        return (sl_in_flight){.whole = fmin((p + 1.0) / 2.0, m / 2.0),
                              .turning = (1.0 + fmin(rank, later)) / 2.0};
    case SL_SCHEDULE_1F1B:
    case SL_SCHEDULE_COUNT:
        break;
    }
    return (sl_in_flight){.whole = fmin(later + 1.0 + ahead, m)};
}

double
sl_schedule_drain_s(const sl_plan *plan, const sl_busy *busy)
{
    if (plan->schedule == SL_SCHEDULE_ZB_H1)
        return fmax(0.0, busy->backward_s - 2.0 * busy->weight_s);
    return sl_schedule_splits_backward(plan) ? 0.0 : busy->backward_s / plan->virtual_pipeline;
}

double
sl_schedule_fill_boundaries(const sl_plan *plan)
{
    if (plan->schedule == SL_SCHEDULE_DUALPIPE)
        return plan->pipeline / 2.0 - 1.0;
    return plan->pipeline - 1.0;
}
