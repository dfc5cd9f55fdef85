/**
 * Pipelines in closed form: which layers a rank holds, how many micro-batches it keeps alive, how
 * long a step spans.
 */
#ifndef SL_ENGINE_SCHEDULE_H
#define SL_ENGINE_SCHEDULE_H

#include "shardline/plan.h"

/** Layers of each kind that a pipeline rank holds, all its chunks together. */
typedef struct sl_stage {
    uint32_t layers[SL_KINDS_MAX];
    uint32_t blocks; /* of them, neither embedding nor head */
    bool first;      /* holds the embedding */
    bool last;       /* holds the head */
} sl_stage;

/**
 * Megatron's rule: equal blocks per chunk, chunk c on rank c mod p, the embedding with the first chunk,
 * the head with the last. blocks must divide by pipeline * virtual_pipeline.
 */
void sl_schedule_stage(const sl_model *model, const sl_plan *plan, uint32_t rank, sl_stage *out);

/**
 * Chunks whose activations pipeline rank r keeps alive at most [count].
 *   1F1B         min(m, p - r)
 *   interleaved  min(m v, 2 (p - r - 1) + (v - 1) p + 1)
 * Source: Narayanan 2021; Megatron-LM schedules.py. Divide by v for micro-batches.
 */
uint64_t sl_schedule_chunks_in_flight(const sl_plan *plan, uint64_t microbatches, uint32_t rank);

typedef struct sl_span {
    double span_s;     /* first forward to last backward */
    double bubble_s;   /* of it, when the slowest rank has nothing to do */
    double idle_ratio; /* idle share of all ranks over the span */
    uint32_t slowest;
} sl_span;

/**
 * busy_s[r]: forward and backward of one micro-batch on rank r, all chunks [s].
 *   span = m * max_r busy + (sum_r busy - max_r busy) / v
 * With equal stages the bubble is (p - 1)(F + B) / v. Source: Narayanan 2021 section 2.2; uneven stages
 * derived: fill and drain pass every other stage once, the slowest sets the steady state.
 */
sl_span sl_schedule_span(const sl_plan *plan, uint64_t microbatches,
                         const double busy_s[SL_PIPELINE_MAX]);

#endif
