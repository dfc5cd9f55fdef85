/* When a step's closed form is no more than a first answer, and why. */
#include "engine/answer/step_parts.h"

/* Of the step, traffic that nothing hides. Of 829 drawn plans those below it, none of whose sends come late
 * and whose chunks do not differ (step_chunks.c), come within 5 % of the step simulated
 * (tests/unit/combinations_test.c). */
static const double traffic_ratio = 0.1;
static const double uneven_traffic_ratio = 0.05; /* where chunks differ */

static double
seconds_of(const sl_time *time, sl_term_id id)
{
    return time->terms[id - SL_TERM_FORWARD].value;
}

/* Whether chunks that differ have traffic of their own that counts as if they did not. */
static bool
goes_by_mean_chunk(const sl_memory_case *c, const sl_time *time)
{
    return c->workload->offload.activations ||
           seconds_of(time, SL_TERM_DATA_COMMUNICATION) > uneven_traffic_ratio * time->step_s;
}

sl_coarse
sl_step_coarse(const sl_memory_case *c, const sl_sent *sent, const sl_time *time)
{
    const sl_plan *plan = c->plan;
    const double open_s = seconds_of(time, SL_TERM_DATA_COMMUNICATION) +
                          (sent->run ? 0.0 : seconds_of(time, SL_TERM_PIPELINE_COMMUNICATION)) +
                          seconds_of(time, SL_TERM_ACTIVATION_OFFLOAD);

    if (sent->late || open_s > traffic_ratio * time->step_s)
        return SL_COARSE_TRAFFIC;
    if (sl_schedule_of(plan) == SL_SCHEDULE_ZB_V &&
        sl_plan_microbatches(c->workload, plan) < 2 * (uint64_t)plan->pipeline - 1)
        return SL_COARSE_FEW;
    return sent->differ && (!sent->run || goes_by_mean_chunk(c, time)) ? SL_COARSE_CHUNKS
                                                                       : SL_COARSE_NONE;
}
