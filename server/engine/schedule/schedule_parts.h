/** Spans of schedules, in files of their own: schedule_span.c chooses. */
#ifndef SL_ENGINE_SCHEDULE_PARTS_H
#define SL_ENGINE_SCHEDULE_PARTS_H

#include "engine/schedule/schedule.h"

/** One pass through a chunk of a rank, on average over its chunks. */
static inline sl_chunk_pass
sl_pass_of(const sl_plan *plan, const sl_busy *busy)
{
    const double v = plan->virtual_pipeline;
    const double weight_s = sl_schedule_splits_backward(plan) ? busy->weight_s / v : 0.0;

    return (sl_chunk_pass){.forward_s = (busy->all_s - busy->backward_s) / v,
                           .input_s = busy->backward_s / v - weight_s,
                           .weight_s = weight_s};
}

/**
 * Span of DualPipe, as sl_schedule_span says: the longest path through its eight phases
 * (engine/schedule/order.h), of each of which it goes by the first pass and the last. Two ranks at
 * the same depth do the same; where one is slower, both count as slow. In time of p.
 */
double sl_schedule_dualpipe_s(const sl_plan *plan, double microbatches, const sl_busy *busy);

#endif
