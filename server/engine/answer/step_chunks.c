/* Chunks of a pipeline one by one. */
#include "engine/answer/step_parts.h"
#include "engine/extremes.h"

/* By how much chunks of ranks that differ may slow each other, and how many times as long as others chunks
 * inside the model may take: of drawn plans below both the formulas come within 5 % of the step simulated
 * (tests/unit/combinations_test.c). */
static const double in_step_ratio = 1.05;
static const double uneven_ratio = 1.6;

/* Whether a chunk takes as long as the one before it. */
static bool
repeats(const sl_memory_case *c, uint32_t chunk)
{
    const uint32_t r = chunk % c->plan->pipeline;

    return chunk > 0 && (c->pools == NULL || (r > 0 && sl_case_goes_on(c, r))) &&
           sl_schedule_chunk_repeats(c->question->model, c->plan, &c->holdings->cut, chunk);
}

static void
share_rest(const sl_plan *plan, uint32_t r, const sl_busy *busy, sl_chunk_pass *passes)
{
    const uint32_t chunks = sl_schedule_chunks(plan);
    double forward_s = busy->all_s - busy->backward_s;
    double backward_s = busy->backward_s;

    for (uint32_t i = r; i < chunks; i += plan->pipeline) {
        forward_s -= passes[i].forward_s;
        backward_s -= passes[i].input_s;
    }
    for (uint32_t i = r; i < chunks; i += plan->pipeline) {
        sl_chunk_pass *pass = &passes[i];
        pass->forward_s = sl_larger(0.0, pass->forward_s + forward_s / plan->virtual_pipeline);
        pass->input_s = sl_larger(0.0, pass->input_s + backward_s / plan->virtual_pipeline);
    }
}

void
sl_step_chunks(const sl_memory_case *c, const sl_busy busy[SL_PIPELINE_MAX],
               sl_chunk_pass passes[SL_MODEL_LAYERS_MAX])
{
    const sl_plan *plan = c->plan;

    for (uint32_t i = 0; i < sl_schedule_chunks(plan); i++) {
        if (repeats(c, i)) {
            passes[i] = passes[i - 1];
            continue;
        }
        const sl_rank_time t = sl_step_chunk(c, i % plan->pipeline, i / plan->pipeline);
        passes[i] = (sl_chunk_pass){.forward_s = sl_pass_s(&t.forward),
                                    .input_s = sl_pass_s(&t.backward) + sl_pass_s(&t.again)};
    }
    for (uint32_t r = 0; r < plan->pipeline; r++)
        share_rest(plan, r, &busy[r], passes);
}

/* Ranks go through their chunks about in step: with the first ones all of them, then with the second ones.
 * How long they take differs among those, or which rank is the slowest. */
bool
sl_step_chunks_differ(const sl_plan *plan, const sl_chunk_pass passes[SL_MODEL_LAYERS_MAX],
                      double slowest_s)
{
    const uint32_t chunks = sl_schedule_chunks(plan);
    double in_step_s = 0.0;
    double longest_s = 0.0;
    double shortest_s = slowest_s;
    double most_s = 0.0;

    for (uint32_t i = 0; i < chunks; i++) {
        const double seconds = passes[i].forward_s + passes[i].input_s;
        most_s = sl_larger(i % plan->pipeline == 0 ? 0.0 : most_s, seconds);
        if ((i + 1) % plan->pipeline == 0)
            in_step_s += most_s;
        if (i == 0 || i + 1 == chunks) /* embedding and head are long or short of their own */
            continue;
        longest_s = sl_larger(longest_s, seconds);
        shortest_s = sl_smaller(shortest_s, seconds);
    }
    return in_step_s > in_step_ratio * slowest_s || longest_s > uneven_ratio * shortest_s;
}
