/* Interleaved chunks one by one, where there are so few passes that their order is run. */
#include "engine/answer/step_parts.h"
#include "engine/extremes.h"

/* Whether a chunk takes as long as the one before it. */
static bool
repeats(const sl_memory_case *c, uint32_t chunk)
{
    const uint32_t r = chunk % c->plan->pipeline;

    return chunk > 0 && (c->pools == NULL || (r > 0 && sl_case_goes_on(c, r))) &&
           sl_schedule_chunk_repeats(c->question->model, c->plan, &c->holdings->cut, chunk);
}

/* What a rank waits besides with each micro-batch falls to its chunks alike. */
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
        pass->forward_s =
            sl_larger(0.0, pass->forward_s + forward_s / plan->virtual_pipeline);
        pass->input_s = sl_larger(0.0, pass->input_s + backward_s / plan->virtual_pipeline);
    }
}

bool
sl_step_chunks(const sl_memory_case *c, uint64_t m, const sl_busy busy[SL_PIPELINE_MAX],
               sl_chunk_pass passes[SL_RING_PAIRS_MAX / 2])
{
    const sl_plan *plan = c->plan;

    if (!sl_ring_runs(plan, m))
        return false;
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
    return true;
}
