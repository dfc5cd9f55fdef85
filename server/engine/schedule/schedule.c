#include "engine/schedule/schedule.h"

#include <assert.h>
#include <string.h>

#include "engine/extremes.h"

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
    return rank + index * p; /* the first is the rank's own number, whatever the schedule */
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

/* Whether the list of layers has an embedding and a head around its blocks. */
static bool
has_ends(const sl_model *model)
{
    return model->layer_count != model->block_count;
}

sl_split
sl_schedule_split(const sl_model *model, const sl_plan *plan)
{
    const uint32_t chunks = sl_schedule_chunks(plan);

    if (plan->layout_chunks > 0)
        return SL_SPLIT_GIVEN;
    if (model->block_count % chunks == 0)
        return SL_SPLIT_BLOCKS;
    if (model->layer_count < chunks)
        return SL_SPLIT_NONE;
    return model->layer_count % chunks == 0 ? SL_SPLIT_LAYERS : SL_SPLIT_UNEVEN;
}

bool
sl_schedule_blocks_alike(const sl_model *model)
{
    uint32_t kinds = 0;

    for (uint32_t k = 0; k < model->kind_count; k++)
        kinds += sl_schedule_is_block(model, k);
    return kinds == 1;
}

sl_chunking
sl_schedule_cut(const sl_model *model, const sl_plan *plan)
{
    const uint32_t chunks = sl_schedule_chunks(plan);
    sl_chunking out;

    /* Not the whole struct: few layouts are given. */
    out.chunks = chunks;
    out.layers = model->layer_count;
    out.split = sl_schedule_split(model, plan);
    out.alike = sl_schedule_blocks_alike(model);
    out.given = out.split == SL_SPLIT_GIVEN;
    out.ends = has_ends(model);
    out.ahead = out.given || out.split == SL_SPLIT_BLOCKS ? out.ends : 0;
    out.each = out.over = 0;
    if (out.given) {
        out.before[0] = 0;
        for (uint32_t i = 0; i < plan->layout_chunks; i++)
            out.before[i + 1] = (uint16_t)(out.before[i] + plan->layout[i]);
    } else if (out.split == SL_SPLIT_BLOCKS) {
        out.each = model->block_count / chunks;
    } else {
        out.each = model->layer_count / chunks;
        out.over = model->layer_count % chunks;
    }
    return out;
}

uint32_t
sl_schedule_chunk_begin(const sl_model *model, const sl_plan *plan, uint32_t chunk)
{
    if (plan->layout_chunks > 0 && chunk > 0 && chunk < plan->layout_chunks) {
        uint32_t begin = has_ends(model);
        for (uint32_t i = 0; i < chunk; i++)
            begin += plan->layout[i];
        return begin;
    }

    const sl_chunking c = sl_schedule_cut(model, plan);
    return sl_schedule_begin(&c, chunk);
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
ends_model(const sl_chunking *c, uint32_t chunk)
{
    return chunk == 0 || chunk + 1 == c->chunks;
}

/* Adds layers by kind. Most chunks are of one kind but for their ends, which one comparison
 * tells. */
static void
count_layers(const uint8_t *layers, uint32_t count, sl_stage *out)
{
    const uint32_t between = count > 2 ? count - 2 : 0;

    if (between == 0 || memcmp(&layers[1], &layers[2], (between - 1) * sizeof layers[0]) != 0) {
        for (uint32_t i = 0; i < count; i++)
            out->layers[layers[i]]++;
        return;
    }
    out->layers[layers[0]]++;
    out->layers[layers[1]] = (uint16_t)(out->layers[layers[1]] + between);
    out->layers[layers[count - 1]]++;
}

/* Adds the layers from begin on that are not the host's, by kind. */
static void
count_own_layers(const sl_model *model, const sl_plan *plan, uint32_t begin, uint32_t end,
                 sl_stage *out)
{
    if (plan->host_run_count == 0) {
        count_layers(&model->layers[begin], end - begin, out);
        return;
    }
    for (uint32_t i = begin; i < end; i++)
        if (!is_on_host(model, plan, i))
            out->layers[model->layers[i]]++;
}

/* All layers but those of the two kinds that the model begins and ends with, where they are no
 * blocks. */
static uint32_t
block_count(const sl_model *model, const sl_stage *stage)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < model->kind_count; k++)
        count += stage->layers[k];
    if (!has_ends(model))
        return count;

    const uint32_t head = model->layers[0];
    const uint32_t tail = model->layers[model->layer_count - 1];
    return count - stage->layers[head] - (tail == head ? 0U : stage->layers[tail]);
}

void
sl_schedule_part(const sl_model *model, const sl_plan *plan, const sl_chunking *c,
                 const sl_held *held, sl_stage *out)
{
    assert(held->rank < plan->pipeline && c->split != SL_SPLIT_NONE);
    assert(!has_ends(model) || model->layer_count == model->block_count + 2);

    /* Not the whole struct: a model has few of the kinds that there is room for. */
    for (uint32_t k = 0; k < model->kind_count; k++)
        out->layers[k] = 0;
    out->first = out->last = false;
    for (uint32_t i = held->first; i < held->first + held->count; i++) {
        const uint32_t chunk = i == 0 ? held->rank : sl_schedule_chunk(plan, held->rank, i);
        out->first = out->first || chunk == 0;
        out->last = out->last || chunk == c->chunks - 1;
        count_own_layers(model, plan, sl_schedule_begin(c, chunk), sl_schedule_begin(c, chunk + 1),
                         out);
    }
    out->blocks = block_count(model, out);
}

void
sl_schedule_stage(const sl_model *model, const sl_plan *plan, const sl_chunking *c, uint32_t rank,
                  sl_stage *out)
{
    const sl_held held = sl_schedule_all_held(plan, rank);

    sl_schedule_part(model, plan, c, &held, out);
}

/* Whether two chunks, neither of them an end of the model, have the same kinds in the same
 * order. */
static bool
are_alike(const sl_model *model, const sl_chunking *c, uint32_t one, uint32_t other)
{
    if (ends_model(c, one) || ends_model(c, other))
        return false;

    const uint32_t begin = sl_schedule_begin(c, one);
    const uint32_t begin_other = sl_schedule_begin(c, other);
    const uint32_t layers = sl_schedule_begin(c, one + 1) - begin;

    if (layers != (other + 1 == one ? begin : sl_schedule_begin(c, other + 1)) - begin_other)
        return false;
    return c->alike || memcmp(&model->layers[begin], &model->layers[begin_other],
                              layers * sizeof model->layers[0]) == 0;
}

bool
sl_schedule_repeats(const sl_model *model, const sl_plan *plan, const sl_chunking *c, uint32_t rank)
{
    const uint32_t held = sl_schedule_held(plan);

    assert(rank > 0 && rank < plan->pipeline && c->split != SL_SPLIT_NONE);
    if (plan->host_run_count > 0 || !are_alike(model, c, rank, rank - 1))
        return false;
    for (uint32_t i = 1; i < held; i++)
        if (!are_alike(model, c, sl_schedule_chunk(plan, rank, i),
                       sl_schedule_chunk(plan, rank - 1, i)))
            return false;
    return true;
}

bool
sl_schedule_chunk_repeats(const sl_model *model, const sl_plan *plan, const sl_chunking *c,
                          uint32_t chunk)
{
    assert(chunk > 0 && chunk < c->chunks && c->split != SL_SPLIT_NONE);
    return plan->host_run_count == 0 && are_alike(model, c, chunk, chunk - 1);
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

/* Of `units` at most `whole` are whole, and `waiting` wait. */
static sl_in_flight
deferring(double whole, double waiting, double units, double microbatches)
{
    const double kept = sl_smaller(whole, microbatches);
    const double deferred = sl_smaller(units, microbatches) - kept;

    return (sl_in_flight){.whole = kept,
                          .deferred = deferred,
                          .turning = sl_smaller(waiting, microbatches) - deferred};
}

sl_in_flight
sl_schedule_in_flight(const sl_plan *plan, uint64_t microbatches, uint32_t rank)
{
    const double p = plan->pipeline;
    const double v = plan->virtual_pipeline;
    const double m = (double)microbatches;
    const double later = p - rank - 1.0; /* ranks after this one */

    switch (plan->schedule) {
    case SL_SCHEDULE_NAIVE:
        return (sl_in_flight){.whole = 1.0 / v};
    case SL_SCHEDULE_GPIPE:
        return (sl_in_flight){.whole = sl_schedule_holds_all(plan) ? m : 1.0};
    case SL_SCHEDULE_INTERLEAVED_1F1B:
        return (sl_in_flight){.whole = sl_smaller((2.0 * later + (v - 1.0) * p + 1.0) / v, m)};
    case SL_SCHEDULE_ZB_H1:
        return deferring(later + 1.0, rank + 1.0, p, m);
    case SL_SCHEDULE_ZB_H2:
        return deferring(2.0 * later + 1.0, 2.0 * rank + 1.0, 2.0 * p - 1.0, m);
    case SL_SCHEDULE_ZB_V:
        return (sl_in_flight){.whole = sl_smaller(p, m), .turning = sl_smaller(p, m)};
    case SL_SCHEDULE_DUALPIPE:
        return (sl_in_flight){.whole = sl_smaller((p + 1.0) / 2.0, m / 2.0),
                              .turning = (1.0 + sl_smaller(rank, later)) / 2.0};
    case SL_SCHEDULE_1F1B:
    case SL_SCHEDULE_COUNT:
        break;
    }
    return (sl_in_flight){.whole = sl_smaller(later + 1.0, m)};
}

bool
sl_schedule_in_flight_falls(const sl_plan *plan)
{
    switch (plan->schedule) {
    case SL_SCHEDULE_ZB_H1:
    case SL_SCHEDULE_ZB_H2:
    case SL_SCHEDULE_DUALPIPE:
        return false;
    default:
        return true;
    }
}

double
sl_schedule_drain_s(const sl_plan *plan, const sl_busy *busy, double send_s)
{
    if (plan->schedule == SL_SCHEDULE_ZB_H1)
        return sl_larger(0.0, busy->backward_s + send_s - 2.0 * busy->weight_s);
    return sl_schedule_splits_backward(plan) ? 0.0
                                             : busy->backward_s / plan->virtual_pipeline + send_s;
}

double
sl_schedule_fill_s(const sl_plan *plan, double forward_s, double send_s)
{
    if (plan->schedule == SL_SCHEDULE_ZB_H2 || plan->schedule == SL_SCHEDULE_ZB_V ||
        plan->schedule == SL_SCHEDULE_DUALPIPE)
        return 0.0;
    return forward_s / plan->virtual_pipeline + send_s;
}

double
sl_schedule_fill_boundaries(const sl_plan *plan)
{
    if (plan->schedule == SL_SCHEDULE_DUALPIPE)
        return plan->pipeline / 2.0 - 1.0;
    return plan->pipeline - 1.0;
}
