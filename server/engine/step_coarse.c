/* When a step's closed form is no more than a first answer, and why. */
#include "engine/extremes.h"
#include "engine/step_parts.h"

/* Of the step, traffic that nothing hides; and by how much chunks of ranks that differ may slow each other.
 * Of 820 drawn plans those below both come within 5 % of the step simulated
 * (tests/unit/combinations_test.c). */
static const double traffic_ratio = 0.1;
static const double chunks_ratio = 0.05;

static double
seconds_of(const sl_time *time, sl_term_id id)
{
    return time->terms[id - SL_TERM_FORWARD].value;
}

/* What one micro-batch takes where ranks go through their first chunks in step, then through their second ones,
 * and so on: no more than the slowest rank takes by itself where all its chunks are the slowest. */
static double
in_step_s(const sl_memory_case *c)
{
    const sl_plan *plan = c->plan;
    double sum_s = 0.0;

    for (uint32_t i = 0; i < plan->virtual_pipeline; i++) {
        double most_s = 0.0;
        for (uint32_t r = 0; r < plan->pipeline; r++) {
            const sl_held held = {.rank = r, .first = i, .count = 1};
            sl_memory_case space;
            sl_stage stage;
            sl_schedule_part(c->question->model, plan, &held, &stage);
            const sl_rank_time t = sl_step_rank(sl_case_of_stage(c, r, &space), &held, &stage);
            most_s = sl_larger(most_s, sl_pass_s(&t.forward) + sl_pass_s(&t.backward) +
                                           sl_pass_s(&t.again));
        }
        sum_s += most_s;
    }
    return sum_s;
}

sl_coarse
sl_step_coarse(const sl_memory_case *c, double slowest_s, const sl_time *time)
{
    const sl_plan *plan = c->plan;
    const double open_s = seconds_of(time, SL_TERM_DATA_COMMUNICATION) +
                          seconds_of(time, SL_TERM_PIPELINE_COMMUNICATION) +
                          seconds_of(time, SL_TERM_ACTIVATION_OFFLOAD);

    if (open_s > traffic_ratio * time->step_s)
        return SL_COARSE_TRAFFIC;
    if (sl_schedule_of(plan) == SL_SCHEDULE_ZB_V &&
        sl_plan_microbatches(c->workload, plan) < 2 * (uint64_t)plan->pipeline - 1)
        return SL_COARSE_FEW;
    if (sl_schedule_of(plan) == SL_SCHEDULE_INTERLEAVED_1F1B &&
        in_step_s(c) > (1.0 + chunks_ratio) * slowest_s)
        return SL_COARSE_CHUNKS;
    return SL_COARSE_NONE;
}
