/** What a rank of a pipeline keeps alive at most, by the order of its passes. */
#ifndef SL_ENGINE_ALIVE_H
#define SL_ENGINE_ALIVE_H

#include "engine/schedule/order.h"

/** What a chunk keeps of one micro-batch [bytes]. */
typedef struct sl_chunk_bytes {
    double whole;    /* from its forward until its backward has run, or that of its inputs */
    double deferred; /* from then until its gradients of weights are there */
} sl_chunk_bytes;

/** Micro-batches of a chunk that are alive at one moment. */
typedef struct sl_alive {
    double whole, deferred;
} sl_alive;

/**
 * The moment at which a rank keeps most, of a schedule that interleaves chunks or splits backwards:
 * out[i] and bytes[i] are of its `i`th chunk, below sl_schedule_held.
 *   interleaved    the order of sl_order_write, gone through in runs of micro-batches
 *   ZB-H1, ZB-H2   as many as sl_schedule_in_flight says are whole, or those that turn have turned
 *   DualPipe       the order of 2p micro-batches: more repeat its fourth phase
 *   ZB-V           a bound, as its order goes by times: with each forward and gradient of inputs
 *                  of its skeleton all else that may be alive, 2p chunks, waits
 * Source: sl_order_write; Qi 2023 sections 2 and 6 (arXiv 2401.10241).
 */
void sl_alive_most(const sl_plan *plan, uint64_t microbatches, uint32_t rank,
                   const sl_chunk_bytes *bytes, sl_alive *out);

/** The same of an order that is at hand, with two chunks. */
void sl_alive_in_order(const sl_work *order, uint64_t count, const sl_chunk_bytes bytes[2],
                       sl_alive out[2]);

#endif
