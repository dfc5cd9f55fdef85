/**
 * Seconds of one collective over one group of ranks, by the level of links it crosses.
 * Buffer sizes follow nccl-tests: the whole tensor for all-reduce, the gathered one for all-gather
 * and reduce-scatter, the message for send/receive.
 */
#ifndef SL_ENGINE_COLLECTIVE_H
#define SL_ENGINE_COLLECTIVE_H

#include "shardline/hardware.h"

typedef enum sl_level {
    SL_LEVEL_SCALE_UP, /* NVLink and its like */
    SL_LEVEL_HOST,     /* one node without such links between the members: PCIe */
    SL_LEVEL_NETWORK,
    SL_LEVEL_COUNT
} sl_level;

typedef struct sl_group {
    double ranks;
    double nodes;            /* it spans; a scale-up domain wider than a node counts as one */
    double members_per_node; /* the most on one node */
    sl_level level;          /* the slowest links it crosses */
} sl_group;

/**
 * A group of `ranks` whose neighbours are `stride` global ranks apart, with ranks laid out node by
 * node. Groups start aligned, as Megatron's order tp-cp-ep-dp-pp makes them.
 */
sl_group sl_group_of(const sl_cluster *cluster, uint64_t ranks, uint64_t stride);

/** "scale_up", "host" or "network". */
const char *sl_level_name(sl_level level);

/**
 * Inside a scale-up domain: latency + S f / B + ramp sqrt(S f), f the bus factor, with the law
 * measured for the next group size up.
 * Inside a node over PCIe: 10 us + S f / B, B = 0.77 of the host link.
 * Across k nodes of G members each, the fastest of NCCL's ring (LL, LL128, Simple) and, for
 * all-reduce, tree:
 *   ring  t = base + (steps - ni) * step + ni * net_step + S (steps / n) / B
 *   steps = 2(n-1) for all-reduce, n-1 otherwise;  ni = 2(k-1) or k-1
 *   B = min(0.96 * NICs of the members in a node * NIC rate / oversubscription,
 *           ring inside the node * G / (G-1))
 * Source: NCCL src/graph/tuning.cc (latencies, protocol shares). With nothing fitted the ring agrees
 * with SimAI's 1-128 node table to 7.9 % mean.
 */
double sl_collective_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group,
                       double bytes);

#endif
