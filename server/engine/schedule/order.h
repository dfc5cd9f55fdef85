/** What each rank of a pipeline runs in one step, pass after pass. */
#ifndef SL_ENGINE_ORDER_H
#define SL_ENGINE_ORDER_H

#include <stddef.h>

#include "engine/schedule/schedule.h"

typedef enum sl_work_kind {
    SL_WORK_FORWARD,
    SL_WORK_BACKWARD,        /* gradients of inputs and weights */
    SL_WORK_BACKWARD_INPUT,  /* of inputs alone */
    SL_WORK_BACKWARD_WEIGHT, /* of weights, after those of the inputs */
    SL_WORK_KINDS
} sl_work_kind;

/** A pass: one micro-batch through one chunk. */
typedef struct sl_work {
    uint32_t microbatch; /* DualPipe: those of the second copy count on from half of all */
    uint16_t chunk;      /* of the rank, by the index that sl_schedule_chunk takes */
    uint8_t kind;        /* sl_work_kind */
    bool beside;         /* a forward that runs at the same time as the backward after it */
} sl_work;

/**
 * Whether the plan's schedule has an order for so many micro-batches, at least one: 1F1B, ZB-H1 and
 * ZB-H2 with one chunk a rank, ZB-V with two, DualPipe with one of each copy, an even number of
 * ranks and an even number of micro-batches, 2p at least. The others always have.
 */
bool sl_order_exists(const sl_plan *plan, uint64_t microbatches);

/**
 * Micro-batches that interleaved chunks run in a row: the least from `asked` (0 = p) on that leaves
 * none or at least p for the last group, or all where there are fewer than p. A last group of fewer
 * would have ranks wait for each other forever; Megatron-LM refuses it. Source: Megatron-LM
 * schedules.py, get_schedule_table, which this continues.
 */
uint64_t sl_order_group(const sl_plan *plan, uint64_t microbatches, uint32_t asked);

/** Passes of a rank. The order must exist. */
uint64_t sl_order_count(const sl_plan *plan, uint64_t microbatches, uint32_t rank);

/**
 * Order of one rank of any schedule but ZB-V; `out` takes sl_order_count of them. Forwards first,
 * then pairs of forward and backward, then what is left. Ahead of the first backward run
 *   naive        1           of every chunk
 *   GPipe        m           and backward takes the micro-batches from the last on
 *   1F1B         p - r
 *   interleaved  2 (p - r - 1) + (v - 1) group + 1, chunk after chunk for one group of
 *                micro-batches
 *   ZB-H1        p - r       weights' gradients come r backwards later
 *   ZB-H2        2 (p - r) - 1, 2 r backwards later; a pair is backward, weights, then forward, so
 *                that no more than 2p - 1 are alive
 *   DualPipe     eight phases from both ends
 * with overlap_experts one more, and the forward of each pair beside its backward. Source: Huang
 * 2019 figure 2; Narayanan 2021; Megatron-LM schedules.py, get_pp_rank_microbatches; Qi 2023
 * section 2 (arXiv 2401.10241); deepseek-ai/DualPipe dualpipe.py.
 */
void sl_order_write(const sl_plan *plan, uint64_t microbatches, uint32_t group, uint32_t rank,
                    sl_work *out);

/** Seconds of one pass through a chunk of a rank. */
typedef struct sl_work_seconds {
    double forward_s;
    double backward_input_s;  /* with what is recomputed for it */
    double backward_weight_s; /* a whole backward takes both */
} sl_work_seconds;

/** Forwards and gradients of inputs of one rank of ZB-V, in the order that they keep however long they
 * take; `out` takes SL_ORDER_V_PASSES of each micro-batch. Returns how many. */
enum { SL_ORDER_V_PASSES = 4 };
uint64_t sl_order_write_v_skeleton(const sl_plan *plan, uint64_t microbatches, uint32_t rank,
                                   sl_work *out);

/** Micro-batches from which on ranks of ZB-V keep no more than before: by then as many wait as ever
 * will. */
static inline uint64_t
sl_order_v_settles(const sl_plan *plan)
{
    return 4 * (uint64_t)plan->pipeline;
}

/** Bytes of scratch memory of sl_order_write_v. */
size_t sl_order_v_bytes(const sl_plan *plan, uint64_t microbatches);

/**
 * ZB-V of all ranks, one after the other in `out`. Forwards and gradients of inputs alternate as in
 * the schedule for equal passes; a weights' gradient runs where nothing else is ready for so long,
 * where 2p activations of chunks are alive and a forward is next, or where waiting would make the
 * rank's idle time the longest of all. The last rule is left out where that is better.
 *
 * seconds  [s]  2 of each rank
 * send_s   [s]  from one rank to the next
 * Source: Qi 2023 section 6 (arXiv 2401.10241); rules for weights' gradients after
 * sail-sg/zero-bubble-pipeline-parallelism, zbv.py: of 300 drawn cases the bubble of 280 is within
 * 2 % of 1F1B's of what that finds, of the worst 7 %, on average 0.3 %.
 */
void sl_order_write_v(const sl_plan *plan, uint64_t microbatches, const sl_work_seconds *seconds,
                      double send_s, void *scratch, sl_work *out);

#endif
