/** Bytes of every distinct rank, by term, at its peak. */
#ifndef SL_ENGINE_MEMORY_H
#define SL_ENGINE_MEMORY_H

#include "engine/placement/holding.h"
#include "shardline/estimate.h"

/** What a case has of its own on each pool of a cluster of several. */
typedef struct sl_pool_price {
    const sl_cluster *cluster;
    const sl_slice *slice;
    const sl_kind_price *prices;
    uint32_t first_stage, end_stage;
} sl_pool_price;

typedef struct sl_pool_prices {
    uint32_t count;
    sl_pool_price list[SL_POOLS_MAX];
} sl_pool_prices;

typedef struct sl_memory_case {
    const sl_question *question;
    const sl_cluster *cluster;   /* equal nodes: all of them, or those of a pool */
    const sl_pool_prices *pools; /* NULL: they are all */
    const sl_workload *workload;
    const sl_plan *plan;
    const sl_software *software;
    const sl_slice *slice;
    const sl_kind_price *prices;
    const sl_holdings *holdings;
    /* Of neighbouring stages with equal layers only the first, which needs most; the host's bytes
     * are then those of these alone. */
    bool fullest_only;
    bool explained;        /* terms with their inputs, traffic by group; else values alone */
    const sl_layout *lent; /* a device that DataParallel lends this for a step; else NULL */
} sl_memory_case;

/** What a chunk of a rank, which is `stage`, keeps of one micro-batch [bytes]. */
typedef struct sl_chunk_kept {
    double blocks, ends; /* of blocks; of embedding and head */
    double operands;     /* of blocks, what gradients of weights wait with */
} sl_chunk_kept;

sl_chunk_kept sl_memory_chunk_kept(const sl_memory_case *c, const sl_held *held,
                                   const sl_stage *stage);

/** Of several pools: the case on one, in *space; the one that a pipeline stage stands on. */
const sl_memory_case *sl_case_on_pool(const sl_memory_case *c, uint32_t pool,
                                      sl_memory_case *space);
uint32_t sl_case_pool_of(const sl_memory_case *c, uint32_t stage);

/** Whether a run can start: no device lacks memory, and no node whose memory is known lacks it for
 * what its ranks keep there. A verdict of devices alone is the headroom's. */
static inline bool
sl_memory_has_room(const sl_memory *memory)
{
    return memory->headroom_bytes >= 0 && memory->host_lacking_bytes == 0;
}

/** What the fullest device or the shortest node lacks, whichever is more [bytes]; 0 with room. */
static inline double
sl_memory_lacking_bytes(const sl_memory *memory)
{
    const double device = memory->headroom_bytes < 0 ? -(double)memory->headroom_bytes : 0.0;
    const double node = (double)memory->host_lacking_bytes;

    return device > node ? device : node;
}

/** Whether the replicas of the one stage are spread over several pools. */
static inline bool
sl_case_is_spread(const sl_memory_case *c)
{
    return c->pools != NULL && c->plan->pipeline == 1;
}

/** Spread over pools: what ranks of one take, when the links of another carry what all of them
 * share. */
const sl_memory_case *sl_case_of_spread(const sl_memory_case *c, uint32_t pool, uint32_t links,
                                        sl_memory_case *space);

/** The case on a pool; where there is one, as it is. */
static inline const sl_memory_case *
sl_case_of_pool(const sl_memory_case *c, uint32_t pool, sl_memory_case *space)
{
    return c->pools == NULL ? c : sl_case_on_pool(c, pool, space);
}

/** The case where a pipeline stage stands; spread over pools, as it is. */
static inline const sl_memory_case *
sl_case_of_stage(const sl_memory_case *c, uint32_t stage, sl_memory_case *space)
{
    if (c->pools == NULL || sl_case_is_spread(c))
        return c;
    return sl_case_on_pool(c, sl_case_pool_of(c, stage), space);
}

/** Whether a stage above 0 stands on the same pool as the one before it. */
static inline bool
sl_case_goes_on(const sl_memory_case *c, uint32_t stage)
{
    return c->pools == NULL || sl_case_pool_of(c, stage) == sl_case_pool_of(c, stage - 1);
}

/**
 * Bytes that some rank needs in any case: those of the states that the mean rank holds, with
 * gradients, what the allocator loses of them and the context [bytes]. Ranks hold the model's
 * elements between them, and what one needs grows with its elements and with all that is left out
 * here: activations, gathered copies, buffers. Not for lent replicas, nor several pools. The case
 * needs no holdings.
 *
 * model  elements of the whole model, on ranks of the case's tensor and expert degrees
 */
double sl_memory_floor_bytes(const sl_memory_case *c, const sl_elements *model);

/** Widest output of one micro-batch that passes between pipeline ranks `rank` and rank + 1, whole
 * [bytes]; of plain layers, and of any. */
double sl_memory_plain_sent_bytes(const sl_memory_case *c, uint32_t rank);

static inline double
sl_memory_sent_bytes(const sl_memory_case *c, uint32_t rank)
{
    if (c->question->model->hidden == 0)
        return sl_memory_plain_sent_bytes(c, rank);
    return c->prices[0].output_bytes; /* every layer passes on the hidden state */
}

/**
 * Peak of every pipeline rank, or of those that may need most; ranks with equal bytes are one
 * entry. The peak is the largest of these moments, never a sum of their maxima:
 *   forward        its end: activations in flight, what FSDP did not let go of, logits in 16 and 32
 *                  bits, all casts of autocast
 *   head           the same when the loss has run backward, logits in 32 bits; or while the head does,
 *                  its unit gathered again and its gradients beside one in 16 bits
 *   backward       the first block to run backward: activations, what it rebuilds, its gradients,
 *                  and a block whose forward runs beside it
 *   last_backward  the last one: no other activations, all gradients
 *   optimizer      the step: no activations, all gradients, copies of them
 * From the second step on, when optimizer states exist. False when a rank would need more than
 * 2^53 bytes, which no figure here could hold; *out is then good for nothing.
 */
bool sl_memory_evaluate(const sl_memory_case *c, sl_memory *out) SL_MUST_CHECK;

#endif
