/* When a pipeline's closed form is no more than a first answer, and why. That of one stage is the
 * recurrence that is simulated (step_flow.c). */
#include "engine/answer/step_parts.h"

/* Of the step, traffic that nothing hides, and where chunks may be of any lengths, less of it; and
 * where the order of passes and sends was run, reductions and gathers in the open, which then have
 * the links of late sends to share. Of 13,025 drawn pipelines those below come within 5 % of the
 * step simulated (tests/unit/engine/check/combinations_test.c). */
static const double traffic_ratio = 0.09;
static const double late_data_ratio = 0.02;
static const double uneven_data_ratio = 0.05;

static double
seconds_of(const sl_time *time, sl_term_id id)
{
    return time->terms[id - SL_TERM_FORWARD].value;
}

/* Whether copies to the host go by a rank's mean block, and blocks that are simulated one by one
 * have their own. */
static bool
copies_differ(const sl_memory_case *c)
{
    return c->workload->offload.activations && c->cluster->accelerator.host_bytes_per_s > 0.0 &&
           c->plan->pipeline == 1 && !c->holdings->cut.alike;
}

/* Of traffic what the order of passes and sends did not run. */
bool
sl_step_traffic_is_open(const sl_plan *plan, const sl_sent *sent, const sl_time *time)
{
    const double most = plan->layout_chunks > 0 ? uneven_data_ratio : traffic_ratio;
    const double data_s = seconds_of(time, SL_TERM_DATA_COMMUNICATION);
    const double open_s = data_s +
                          (sent->run ? 0.0 : seconds_of(time, SL_TERM_PIPELINE_COMMUNICATION)) +
                          seconds_of(time, SL_TERM_ACTIVATION_OFFLOAD);

    return (sent->late && (!sent->run || data_s > late_data_ratio * time->step_s)) ||
           open_s > most * time->step_s;
}

sl_coarse
sl_step_coarse(const sl_memory_case *c, const sl_sent *sent, const sl_time *time)
{
    if (sl_plan_goes_by_layer(c->plan))
        return SL_COARSE_NONE;
    if (c->plan->pipeline > 1 && c->plan->schedule == SL_SCHEDULE_NAIVE)
        return SL_COARSE_NONE; /* nothing waits that is not on the one path */

    const double data_s = seconds_of(time, SL_TERM_DATA_COMMUNICATION);
    if (sl_step_traffic_is_open(c->plan, sent, time))
        return SL_COARSE_TRAFFIC;
    if (!sent->run && sl_step_has_few(c->plan, sl_plan_microbatches(c->workload, c->plan)))
        return SL_COARSE_FEW;
    if (copies_differ(c))
        return SL_COARSE_COPIES;
    return sent->differ && (!sent->run || data_s > uneven_data_ratio * time->step_s)
               ? SL_COARSE_CHUNKS
               : SL_COARSE_NONE;
}
