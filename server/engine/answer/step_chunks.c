/* Chunks of a pipeline one by one. */
#include <assert.h>

#include "engine/answer/step_parts.h"
#include "engine/extremes.h"

/* By how much chunks of ranks that differ may slow each other, and how many times as long as others
 * chunks inside the model may take: of drawn plans below both the formulas come within 5 % of the
 * step simulated (tests/unit/engine/check/combinations_test.c). */
static const double in_step_ratio = 1.05;
static const double uneven_ratio = 1.6;

/* Whether a chunk takes as long as the one before it. */
static bool
repeats(const sl_memory_case *c, uint32_t chunk, uint32_t r)
{
    const sl_plan *plan = c->plan;

    if (chunk == 0 ||
        !sl_schedule_chunk_repeats(c->question->model, plan, &c->holdings->cut, chunk))
        return false;
    return c->pools == NULL ||
           (r == sl_schedule_rank(plan, chunk - 1, 0) + 1 && sl_case_goes_on(c, r));
}

/* Of a rank's elements, those of one of its chunks [ratio]. */
static double
part_of(const sl_memory_case *c, uint32_t r, uint32_t index)
{
    const sl_held held = {.rank = r, .first = index, .count = 1};
    const sl_holding *holding = sl_holding_of(c->holdings, r);
    sl_stage stage;

    sl_schedule_part(c->question->model, c->plan, &c->holdings->cut, &held, &stage);
    return sl_states_stage(c->question->model, c->prices, &stage).all /
           sl_larger(1.0, holding->elements.all);
}

/* Parameters and gradients by the elements that travel, all else alike. */
static void
share_rest(const sl_memory_case *c, uint32_t r, const sl_busy *busy, sl_chunk_pass *passes)
{
    const sl_plan *plan = c->plan;
    const double v = plan->virtual_pipeline;
    const double weight_s = sl_schedule_splits_backward(plan) ? busy->weight_s : 0.0;
    const bool travels = busy->gathers_s + busy->reduces_s > 0.0;
    sl_chunk_pass rest = {.forward_s = busy->all_s - busy->backward_s - busy->gathers_s,
                          .input_s = busy->backward_s - weight_s - busy->reduces_s,
                          .weight_s = weight_s};

    for (uint32_t i = 0; i < plan->virtual_pipeline; i++) {
        const sl_chunk_pass *pass = &passes[sl_schedule_chunk(plan, r, i)];
        rest.forward_s -= pass->forward_s;
        rest.input_s -= pass->input_s;
        rest.weight_s -= pass->weight_s;
    }
    for (uint32_t i = 0; i < plan->virtual_pipeline; i++) {
        sl_chunk_pass *pass = &passes[sl_schedule_chunk(plan, r, i)];
        const double part = travels ? part_of(c, r, i) : 0.0;
        pass->forward_s =
            sl_larger(0.0, pass->forward_s + rest.forward_s / v) + part * busy->gathers_s;
        pass->input_s = sl_larger(0.0, pass->input_s + rest.input_s / v) + part * busy->reduces_s;
        pass->weight_s = sl_larger(0.0, pass->weight_s + rest.weight_s / v);
    }
}

void
sl_step_chunks(const sl_memory_case *c, const sl_busy busy[SL_PIPELINE_MAX],
               sl_chunk_pass passes[SL_MODEL_LAYERS_MAX])
{
    const sl_plan *plan = c->plan;
    const bool splits = sl_schedule_splits_backward(plan);

    assert(sl_schedule_copies(plan) == 1);
    for (uint32_t i = 0; i < sl_schedule_chunks(plan); i++) {
        const uint32_t r = sl_schedule_rank(plan, i, 0);
        if (repeats(c, i, r)) {
            passes[i] = passes[i - 1];
            continue;
        }
        const sl_rank_time t = sl_step_chunk(c, r, i / plan->pipeline);
        const double weight_s = splits ? t.weight_s : 0.0;
        passes[i] = (sl_chunk_pass){
            .forward_s = sl_pass_s(&t.forward),
            .input_s = sl_pass_s(&t.backward) + sl_pass_s(&t.again) - weight_s,
            .weight_s = weight_s,
        };
    }
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        sl_memory_case space;
        share_rest(sl_case_of_stage(c, r, &space), r, &busy[r], passes);
    }
}

/* Ranks go through their chunks about in step: with the first ones all of them, then with the
 * second ones. How long they take differs among those, or which rank is the slowest. */
bool
sl_step_chunks_differ(const sl_plan *plan, const sl_chunk_pass passes[SL_MODEL_LAYERS_MAX],
                      double slowest_s)
{
    const uint32_t last = sl_schedule_chunks(plan) - 1;
    double in_step_s = 0.0;
    double longest_s = 0.0;
    double shortest_s = slowest_s;

    for (uint32_t first = 0; first < last; first += plan->pipeline) {
        double most_s = 0.0;
        for (uint32_t i = first; i < first + plan->pipeline; i++) {
            const double seconds = passes[i].forward_s + passes[i].input_s;
            most_s = sl_larger(most_s, seconds);
            if (i == 0 || i == last) /* embedding and head are long or short of their own */
                continue;
            longest_s = sl_larger(longest_s, seconds);
            shortest_s = sl_smaller(shortest_s, seconds);
        }
        in_step_s += most_s;
    }
    return in_step_s > in_step_ratio * slowest_s || longest_s > uneven_ratio * shortest_s;
}
