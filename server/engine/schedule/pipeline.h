/** One training step of a pipeline, simulated: who runs what when, and what is alive. */
#ifndef SL_ENGINE_PIPELINE_H
#define SL_ENGINE_PIPELINE_H

#include "engine/schedule/order.h"
#include "engine/schedule/simulation.h"
#include "shardline/timeline.h"

/** What one chunk of a rank takes and keeps, for a micro-batch of the usual size. */
typedef struct sl_chunk_cost {
    sl_work_seconds work;
    /* Of forward and of a whole backward, what both of them hide when they run beside each
     * other. */
    double forward_exchange_s;
    double backward_exchange_s;
    /* Of its output to the next chunk, and of the gradient of that back: nothing where one rank
     * holds both. Over links of one of the two streams. */
    double send_s;
    bool send_scale_up;
    double gather_s;         /* of its parameters, before its first forward ... */
    double gather_beside_s;  /* ... and of the rest of them, before what that makes goes on */
    double reduce_beside_s;  /* of its gradients, beside the last pass that adds to them ... */
    double reduce_s;         /* ... and after it */
    uint64_t kept_bytes;     /* from a forward's begin, or its pair's end, to its backward's end */
    uint64_t deferred_bytes; /* what gradients of weights wait for with; more, where rebuilt */
} sl_chunk_cost;

/** Everything that the step depends on, borrowed. */
typedef struct sl_pipeline {
    const sl_plan *plan; /* schedule, pipeline, virtual_pipeline, overlap_experts */
    uint64_t microbatches;
    uint32_t group;              /* as sl_order_group takes it */
    const sl_chunk_cost *chunks; /* sl_schedule_held of each rank, rank after rank */
    const double *slowness;      /* of each rank, times its passes and optimizer; NULL = 1 */
    const double *sizes;         /* of each micro-batch over the usual; NULL = 1 */
    const double *optimizer_s;   /* of each rank, after all else; NULL = none */
    bool barrier;                /* no optimizer runs before all ranks have come to theirs */
    bool overlaps_sends;         /* else a rank computes nothing while it sends */
    bool data_scale_up;          /* parameters and gradients travel on this stream; else network */
    bool gathers_first;          /* nothing runs before all parameters of the rank are there */
    bool reduces_last;           /* no gradient is reduced before the last pass of the rank */
} sl_pipeline;

/** At most so many tasks, and so many bytes of scratch memory. */
typedef struct sl_pipeline_size {
    uint64_t tasks;
    uint64_t bytes; /* UINT64_MAX where the tasks are more than can be numbered */
} sl_pipeline_size;

/** The order must exist. Both grow with the product of ranks, chunks and micro-batches. */
sl_pipeline_size sl_pipeline_measure(const sl_plan *plan, uint64_t microbatches);

typedef struct sl_rank_run {
    double begin_s; /* first pass */
    double end_s;   /* last pass */
    double busy_s;  /* passes */
    uint64_t peak_bytes;
} sl_rank_run;

/** A step that was simulated; lives in the scratch memory, and refers to the question. */
typedef struct sl_pipeline_run {
    const sl_pipeline *of;
    double step_s; /* end of the last task */
    sl_tasks tasks;
    uint32_t task_count;
    const double *start_s, *end_s; /* of each task */
    const sl_work *passes;         /* tasks of the first lanes, one for each rank */
    const uint32_t *origins;       /* of the others: the pass that is sent, or the chunk */
    const uint8_t *kinds;          /* of the others: sl_span_kind */
    const uint16_t *lanes;         /* of each task */
    sl_rank_run ranks[SL_PIPELINE_MAX];
} sl_pipeline_run;

/**
 * Simulates one step. A pass waits for what it needs from the chunk before or after it, and for
 * that chunk's send. A forward beside a backward takes, with it,
 *   max(both without their exchanges, both exchanges)
 * and both begin and end together. Sends of a rank leave it one after another on a stream, whatever
 * takes them in; gathers and reductions have a line of their own. What two ranks exchange over one
 * link both ways does not share it; a send and what either of its ends gathers or reduces over the
 * same stream do, each at half its rate (engine/schedule/simulation.h). ZB-V's order is made for
 * the costs as given, not for stragglers and sizes, which nobody foresees. `scratch` is aligned for
 * any type and has the bytes of sl_pipeline_measure. False where ranks would wait for each other in
 * a circle.
 */
bool sl_pipeline_simulate(const sl_pipeline *pipeline, void *scratch, sl_pipeline_run *out);

/** A task as a drawing shows it; of two passes beside each other, each. */
typedef struct sl_event {
    uint32_t rank; /* of a barrier 0 */
    sl_stream stream;
    uint32_t kind;              /* sl_span_kind */
    uint32_t microbatch, chunk; /* 0 where it has none */
    double start_s, end_s;
} sl_event;

sl_event sl_pipeline_event(const sl_pipeline_run *run, uint32_t task);

/** Of each task that sends, the pass that takes what is sent; others are left alone. */
void sl_pipeline_takers(const sl_pipeline_run *run, uint32_t *takers);

/** What a rank keeps, one step for each of its passes in their order: from `at_s` on, `bytes`. The
 * first is task run->tasks.lane_first[rank]. Returns their number, sl_order_count. */
uint64_t sl_pipeline_staircase(const sl_pipeline_run *run, uint32_t rank, double *at_s,
                               uint64_t *bytes);

#endif
