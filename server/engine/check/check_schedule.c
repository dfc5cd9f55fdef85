#include "engine/check/check_schedule.h"

#include <assert.h>
#include <stddef.h>

static sl_code
check_chunks(const sl_plan *plan, sl_errors *err)
{
    const uint32_t v = plan->virtual_pipeline;
    const bool two = plan->schedule == SL_SCHEDULE_ZB_V;
    const bool interleaved = plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B;

    if (two && v != 2) {
        const sl_code code =
            sl_fail(err, SL_E_RANGE, "schedule_mismatch", "/parallelism/virtual_pipeline",
                    "zb_v gives each rank 2 chunks, got %u", v);
        sl_hint(err, "or schedule %s", v > 1 ? "interleaved_1f1b" : "1f1b");
        return code;
    }
    if (two || interleaved == (v > 1))
        return SL_OK;

    const sl_code code = sl_fail(
        err, SL_E_RANGE, "schedule_mismatch", "/parallelism/schedule",
        "interleaved_1f1b goes with virtual_pipeline above 1, the others with 1; got %u", v);
    sl_hint(err, v == 1 ? "1f1b" : "interleaved_1f1b, zb_v, or virtual_pipeline 1");
    return code;
}

static sl_code
check_engine(const sl_workload *workload, const sl_plan *plan, sl_errors *err)
{
    const bool alone = plan->pipeline == 1 && plan->schedule != SL_SCHEDULE_INTERLEAVED_1F1B &&
                       plan->schedule != SL_SCHEDULE_ZB_V && plan->schedule != SL_SCHEDULE_DUALPIPE;
    sl_code code = SL_OK;

    if (workload->framework != SL_FRAMEWORK_DEEPSPEED || alone ||
        plan->schedule == SL_SCHEDULE_1F1B)
        return SL_OK;
    if (plan->virtual_pipeline > 1) {
        code = sl_fail(
            err, SL_E_RANGE, "schedule_not_of_framework", "/parallelism/virtual_pipeline",
            "deepspeed's pipeline engine has one chunk a rank, got %u", plan->virtual_pipeline);
        sl_hint(err, "1");
    }
    code = sl_fail(err, SL_E_RANGE, "schedule_not_of_framework", "/parallelism/schedule",
                   "deepspeed's pipeline engine runs 1f1b alone");
    sl_hint(err, "1f1b");
    return code;
}

sl_code
sl_check_schedule(const sl_workload *workload, const sl_plan *plan, sl_errors *err)
{
    assert(workload != NULL && plan != NULL && err != NULL);

    const uint32_t p = plan->pipeline;
    sl_code code = check_engine(workload, plan, err);

    if (code != SL_OK)
        return code;
    if (p == 1 && (plan->schedule == SL_SCHEDULE_ZB_V || plan->schedule == SL_SCHEDULE_DUALPIPE)) {
        code = sl_fail(err, SL_E_RANGE, "needs_pipeline", "/parallelism/pipeline",
                       "this schedule needs more than one stage, got %u", p);
        sl_hint(err, "or schedule 1f1b");
        return code;
    }
    if (p == 1 && plan->virtual_pipeline > 1) {
        code = sl_fail(err, SL_E_RANGE, "needs_pipeline", "/parallelism/virtual_pipeline",
                       "%u chunks per rank need pipeline above 1", plan->virtual_pipeline);
        sl_hint(err, "or pipeline 2");
        return code;
    }
    if (plan->schedule == SL_SCHEDULE_DUALPIPE && p % 2 != 0)
        return sl_fail(err, SL_E_RANGE, "stages_not_even", "/parallelism/pipeline",
                       "dualpipe needs an even number of stages, got %u", p);
    return check_chunks(plan, err);
}

uint64_t
sl_nearest_batch(const sl_workload *workload, const sl_plan *plan)
{
    assert(workload != NULL && plan != NULL);

    const uint64_t p = plan->pipeline;
    const uint64_t replicas = plan->data * workload->micro_batch; /* sequences of a micro-batch */
    const uint64_t rounds = plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B ? p
                            : plan->schedule == SL_SCHEDULE_DUALPIPE       ? 2
                                                                           : 1;
    const uint64_t least = plan->schedule == SL_SCHEDULE_DUALPIPE ? 2 * p * replicas : 0;
    const uint64_t below = workload->global_batch / (replicas * rounds) * replicas * rounds;
    const uint64_t next = below + replicas * rounds;

    if (below > 0 && below >= least &&
        workload->global_batch - below < next - workload->global_batch)
        return below;
    return next > least ? next : least;
}

sl_code
sl_check_microbatches(const sl_workload *workload, const sl_plan *plan, sl_errors *err)
{
    assert(workload != NULL && plan != NULL && err != NULL);

    const uint64_t m = sl_plan_microbatches(workload, plan);
    const uint64_t least = 2 * (uint64_t)plan->pipeline;

    if (plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B && m % plan->pipeline != 0) {
        const sl_code code = sl_fail(
            err, SL_E_RANGE, "microbatches_not_divisible", "/parallelism/virtual_pipeline",
            "the interleaved schedule needs micro-batches (%llu) divisible by pipeline (%u)",
            (unsigned long long)m, plan->pipeline);
        sl_hint(err, "or global_batch_size %llu",
                (unsigned long long)sl_nearest_batch(workload, plan));
        return code;
    }
    if (plan->schedule != SL_SCHEDULE_DUALPIPE || (m >= least && m % 2 == 0))
        return SL_OK;

    const sl_code code = sl_fail(
        err, SL_E_RANGE, "too_few_microbatches", "/workload/global_batch_size",
        "dualpipe needs an even number of micro-batches, at least 2 x pipeline (%llu), got %llu",
        (unsigned long long)least, (unsigned long long)m);
    sl_hint(err, "%llu", (unsigned long long)sl_nearest_batch(workload, plan));
    return code;
}
