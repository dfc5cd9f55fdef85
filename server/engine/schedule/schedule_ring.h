/** Interleaved chunks that differ in length: a step whose order is run pass by pass, for so few
 * passes that a closed form may. */
#ifndef SL_ENGINE_SCHEDULE_RING_H
#define SL_ENGINE_SCHEDULE_RING_H

#include "engine/schedule/schedule.h"

/** Forwards with their backwards that are run at most, all ranks together; each takes some 20
 * instructions. */
enum { SL_RING_PAIRS_MAX = 320 };

/** What a chunk made, to the rank of the next one; and as long back. */
typedef struct sl_ring_send {
    double seconds;
    bool network; /* else over links that are no lane of the network's */
} sl_ring_send;

typedef struct sl_ring {
    const sl_plan *plan;
    uint64_t microbatches;
    const sl_chunk_pass
        *passes;               /* of each chunk in the model's order: chunk c is on rank c mod p */
    const sl_ring_send *after; /* of each but the last; NULL = nothing takes time to send */
    bool beside;               /* else a rank computes nothing while it sends */
} sl_ring;

/**
 * Whether the span is one of sl_ring_span_s: interleaved chunks of at least two ranks,
 * micro-batches a multiple of those, no forward beside a backward, and no more pairs than
 * SL_RING_PAIRS_MAX in what is run.
 */
bool sl_ring_runs(const sl_plan *plan, uint64_t microbatches);

/**
 * Span of an interleaved step [s], of which sl_ring_runs.
 *
 * In the order of sl_order_write rank r has 2 (p - 1 - r) + (v - 1) p forwards ahead of its
 * backwards. Let it run in tick t backward t + r, and before it the forward that is ahead: t + (v +
 * 1) p - 2 - r. Then all that a pass waits for is of the tick before, or of the same rank and tick:
 * the rank before has run the same forward, the last rank that of the chunk before for the first;
 * the rank after has run the same backward, the first rank that of the chunk after for the last. So
 * ranks are a ring, of each of which one time for itself, for what goes on and for what goes back
 * is all that is kept:
 *   on_r   = send(max(free_r, on_(r-1)) + F)
 *   back_r = send(max(free_r, back_(r+1)) + B)
 * What a rank sends over one kind of links leaves one after another. Of more than four rounds of p
 * micro-batches each of the further ones takes as long as the last but the drain: what is periodic
 * repeats after a few.
 *
 * Source: derived. Held against steps simulated (engine/schedule/pipeline.h), 4,000 each: to
 * rounding up to four rounds, beyond to 1.1 %, on average 0.02 %.
 */
double sl_ring_span_s(const sl_ring *ring);

#endif
