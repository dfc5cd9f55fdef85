/* When a step's closed form is no more than a first answer, and why. */
#include "engine/answer/step_parts.h"
#include "engine/extremes.h"

/* Of the step, traffic that nothing hides; by how much chunks of ranks that differ may slow each other; and
 * how many times as long as others chunks inside the model take. Of 829 drawn plans those below all three,
 * none of whose sends come late, come within 5 % of the step simulated (tests/unit/combinations_test.c). */
static const double traffic_ratio = 0.1;
static const double in_step_ratio = 1.05;
static const double uneven_ratio = 1.6;

static double
seconds_of(const sl_time *time, sl_term_id id)
{
    return time->terms[id - SL_TERM_FORWARD].value;
}

static double
chunk_s(const sl_memory_case *c, uint32_t r, uint32_t index)
{
    const sl_rank_time t = sl_step_chunk(c, r, index);
    return sl_pass_s(&t.forward) + sl_pass_s(&t.backward) + sl_pass_s(&t.again);
}

/* Ranks go through their chunks about in step: with the first ones all of them, then with the second ones.
 * How long they take differs among those, or which rank is the slowest. */
static bool
has_uneven_chunks(const sl_memory_case *c, double slowest_s)
{
    const sl_plan *plan = c->plan;
    const uint32_t chunks = sl_schedule_chunks(plan);
    double in_step_s = 0.0;
    double longest_s = 0.0;
    double shortest_s = slowest_s;

    for (uint32_t i = 0; i < plan->virtual_pipeline; i++) {
        double most_s = 0.0;
        for (uint32_t r = 0; r < plan->pipeline; r++) {
            const uint32_t chunk = sl_schedule_chunk(plan, r, i);
            const double seconds = chunk_s(c, r, i);
            most_s = sl_larger(most_s, seconds);
            if (chunk == 0 || chunk + 1 == chunks)
                continue;
            longest_s = sl_larger(longest_s, seconds);
            shortest_s = sl_smaller(shortest_s, seconds);
        }
        in_step_s += most_s;
    }
    return in_step_s > in_step_ratio * slowest_s || longest_s > uneven_ratio * shortest_s;
}

sl_coarse
sl_step_coarse(const sl_memory_case *c, bool late, bool run, double slowest_s, const sl_time *time)
{
    const sl_plan *plan = c->plan;
    const double open_s = seconds_of(time, SL_TERM_DATA_COMMUNICATION) +
                          (run ? 0.0 : seconds_of(time, SL_TERM_PIPELINE_COMMUNICATION)) +
                          seconds_of(time, SL_TERM_ACTIVATION_OFFLOAD);

    if (late || open_s > traffic_ratio * time->step_s)
        return SL_COARSE_TRAFFIC;
    if (sl_schedule_of(plan) == SL_SCHEDULE_ZB_V &&
        sl_plan_microbatches(c->workload, plan) < 2 * (uint64_t)plan->pipeline - 1)
        return SL_COARSE_FEW;
    if (!run && sl_schedule_of(plan) == SL_SCHEDULE_INTERLEAVED_1F1B && has_uneven_chunks(c, slowest_s))
        return SL_COARSE_CHUNKS;
    return SL_COARSE_NONE;
}
