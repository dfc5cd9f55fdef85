/** What a pipeline's schedule asks of chunks, stages and micro-batches. */
#ifndef SL_ENGINE_CHECK_SCHEDULE_H
#define SL_ENGINE_CHECK_SCHEDULE_H

#include "shardline/plan.h"

/**
 *   schedule_mismatch   interleaved_1f1b has more than one chunk a rank, zb_v two, the others one
 *   needs_pipeline      chunks there and back, or two copies, are for more than one stage
 *   stages_not_even     dualpipe's stages are pairs
 *   schedule_not_of_framework   deepspeed's pipeline engine runs 1f1b, one chunk a rank
 * Source: Qi 2023 section 6; deepseek-ai/DualPipe dualpipe.py; DeepSpeed runtime/pipe/engine.py,
 * which takes TrainSchedule.
 */
sl_code sl_check_schedule(const sl_workload *workload, const sl_plan *plan,
                          sl_errors *err) SL_MUST_CHECK;

/**
 *   microbatches_not_divisible  interleaved_1f1b: by the stages
 *   too_few_microbatches        dualpipe: an even number, twice the stages at least
 * For a plan that passed sl_check_schedule, and batches that divide.
 */
sl_code sl_check_microbatches(const sl_workload *workload, const sl_plan *plan,
                              sl_errors *err) SL_MUST_CHECK;

/** Of the global batches that replicas share evenly, in the rounds that the schedule goes by, the
 * one nearest to that of the workload, which is none of them; of two the larger [sequences]. */
uint64_t sl_nearest_batch(const sl_workload *workload, const sl_plan *plan);

#endif
