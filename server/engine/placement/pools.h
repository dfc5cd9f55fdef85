/**
 * Where a plan stands on a cluster of several pools, whose ranks are numbered pool by pool.
 *
 * Stages are placed in the framework's order of ranks, pipeline outermost: consecutive ones fill
 * the first pool, then the second, and each lies wholly in one. Without a pipeline the replicas are
 * spread over all pools, and every step waits for the slowest of them.
 */
#ifndef SL_ENGINE_POOLS_H
#define SL_ENGINE_POOLS_H

#include "shardline/plan.h"

/** Pools of a cluster; 1 of equal nodes. */
uint32_t sl_pools_count(const sl_cluster *cluster);

/** One of them; the cluster itself where it is the only one. */
const sl_cluster *sl_pools_at(const sl_cluster *cluster, uint32_t pool);

/** The first pipeline stage on a pool, and the one after its last; spread, all have stage 0. */
void sl_pools_stages(const sl_cluster *cluster, const sl_plan *plan, uint32_t pool, uint32_t *first,
                     uint32_t *end);

/** The pool that a global rank is in, and the pool's first rank. */
uint32_t sl_pools_of_rank(const sl_cluster *cluster, uint64_t rank, uint64_t *first);

enum { SL_POOLS_POINTER_SIZE = 128 };

/** Where a member, "/nics", of a pool stands in a request. */
void sl_pools_pointer(uint32_t pool, const char *member, char out[SL_POOLS_POINTER_SIZE]);

/**
 * Rules of several pools. SL_E_RANGE: pools_split_stage where a pool would hold a part of a stage,
 * or of ranks that share a tensor or a sequence; nics_unknown where nothing joins the pools.
 * SL_E_UNSUPPORTED, not_modelled: schedules that need two directions or a V, replicas outside the
 * pipeline, experts shared across pools, DataParallel, offload and placement on the host, models of
 * so many kinds of layers that their prices on all pools have no room.
 */
sl_code sl_check_pools(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
