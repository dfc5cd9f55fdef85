/** Where the ranks of each parallel group stand among the global ranks. */
#ifndef SL_ENGINE_RANKS_H
#define SL_ENGINE_RANKS_H

#include "engine/links/collective.h"
#include "shardline/plan.h"

/**
 * Global ranks between neighbours; those of a tensor group are next to one another.
 *   tp-cp-ep-dp-pp  rank = tensor + t (context + c (data + D pipeline))
 *   tp-cp-ep-pp-dp  rank = tensor + t (context + c (pipeline + p data))
 * replica: neighbours in data x context, which are evenly apart in both (sl_check_order).
 * Source: Megatron-LM parallel_state.py, RankGenerator; use_tp_pp_dp_mapping.
 */
typedef struct sl_strides {
    uint64_t context, data, pipeline, replica;
} sl_strides;

sl_strides sl_ranks_strides(const sl_plan *plan);

/** Groups of ranks that send each other something. */
typedef enum sl_axis {
    SL_AXIS_TENSOR,
    SL_AXIS_CONTEXT,
    SL_AXIS_SHARD,    /* of replicas and context, those that divide one copy of the states */
    SL_AXIS_REPLICAS, /* hybrid sharding: those with the same part, one of each copy */
    SL_AXIS_EXPERT,
    SL_AXIS_EXPERT_TENSOR, /* those that cut one expert */
    SL_AXIS_EXPERT_SHARD,  /* of one copy, those that hold the same experts */
    SL_AXIS_COUNT
} sl_axis;

/** How many ranks a group of that kind has, and how far apart they stand. */
typedef struct sl_spacing {
    uint64_t ranks, stride;
} sl_spacing;

sl_spacing sl_ranks_spacing(const sl_plan *plan, sl_axis axis);

/** ... and the links between them. */
sl_group sl_ranks_group(const sl_cluster *cluster, const sl_plan *plan, sl_axis axis);

/** The slowest links between two ranks of stages `first` to `last`, of one replica where replicas
 * stand apart. */
sl_group sl_ranks_between(const sl_cluster *cluster, const sl_plan *plan, uint32_t first,
                          uint32_t last);

/** Whether all neighbouring stages have the same links between them: a stage fills whole nodes or
 * scale-up domains. False where that is not obvious. */
bool sl_ranks_stages_alike(const sl_cluster *cluster, const sl_plan *plan);

/**
 * Replicas outside the pipeline: Megatron only (order_not_of_framework), and not_modelled with
 * sequences or experts that ranks share, whose groups are then no longer evenly spaced.
 */
sl_code sl_check_order(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
