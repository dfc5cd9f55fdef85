/**
 * Seconds of one collective over one group of ranks, by the slowest links it crosses.
 * Buffer sizes follow nccl-tests: the whole tensor for all-reduce, the gathered one for all-gather
 * and reduce-scatter, the message for send/receive.
 */
#ifndef SL_ENGINE_COLLECTIVE_H
#define SL_ENGINE_COLLECTIVE_H

#include "shardline/hardware.h"

typedef enum sl_level {
    SL_LEVEL_SCALE_UP, /* links between peers: NVLink and its like */
    SL_LEVEL_HOST,     /* one node, through the host's PCIe */
    SL_LEVEL_NETWORK,
    SL_LEVEL_COUNT
} sl_level;

typedef struct sl_group {
    double ranks;
    double nodes;            /* it spans; a scale-up domain wider than a node counts as one */
    double members_per_node; /* the fewest that share a node: their cards carry the group */
    sl_level level;
    bool straddles; /* groups do not line up with nodes: some cross a boundary that others do not */
} sl_group;

/**
 * Groups of `ranks` whose neighbours are `stride` global ranks apart, ranks laid out node by
 * node (engine/placement/ranks.h says which stride). When a group's extent divides a node, or nodes
 * divide it, all groups cross the same links; else the worst counts.
 */
sl_group sl_group_of(const sl_cluster *cluster, uint64_t ranks, uint64_t stride);

/**
 * Ranks of a cluster that share one scale-up domain. A job larger than a domain of several nodes
 * takes as many whole nodes of each, the most that divide it: 64 of 72 for 256 ranks, 72 for 144.
 * Schedulers call that a segment (Slurm, topology/block: --segment).
 */
uint64_t sl_collective_domain(const sl_cluster *cluster);

/** Ranks without the network between them: those of a node, or of a scale-up domain that is
 * larger. */
uint64_t sl_collective_island(const sl_cluster *cluster);

/** Two ranks somewhere among the global ranks [first, last). */
sl_group sl_group_pair(const sl_cluster *cluster, uint64_t first, uint64_t last);

/** "scale_up", "host" or "network". */
const char *sl_level_name(sl_level level);

/**
 * Inside a node or scale-up domain by engine/links/links.h, across nodes by engine/links/network.h.
 * Broadcast and reduce (bytes: the message) move along the ring what an all-gather and a
 * reduce-scatter of n / (n - 1) times as many bytes do.
 */
double sl_collective_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group,
                       double bytes);

/** That n / (n - 1); 1 for one rank. */
static inline double
sl_collective_message_ratio(double ranks)
{
    return ranks > 1.0 ? ranks / (ranks - 1.0) : 1.0;
}

/**
 * Tokens to their experts, or back: once to each node, whose members pass them on to each other
 * while the next ones come in. to_ranks, to_nodes: bytes that one rank sends when a token goes once
 * to each rank, and once to each node. The two ways hide each other in part: the root of the sum of
 * squares, with which 16 and 32 H100 (DeepEP, hidden 7168, 4096 tokens, 8 experts each; 0.80 and
 * 1.78 ms, 1.85 and 3.52) come out within 8 %; 64 take 5.4 to 6.7 and 4.5 ms for 2.9 and 5.8.
 * Source: DeepEP's normal kernels; times of ai-dynamo/aiconfigurator, h100_sxm. HybridEP likewise.
 */
double sl_collective_dispatch_s(const sl_cluster *cluster, const sl_group *group, double to_ranks,
                                double to_nodes);

#endif
