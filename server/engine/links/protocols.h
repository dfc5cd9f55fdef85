/**
 * Algorithms and protocols of NCCL: how long a step of each takes and what share of the links it
 * keeps busy. Source: NVIDIA/nccl src/graph/tuning.cc (5067397), one home of its constants.
 */
#ifndef SL_ENGINE_PROTOCOLS_H
#define SL_ENGINE_PROTOCOLS_H

#include <stdbool.h>

typedef enum sl_protocol_kind {
    SL_PROTOCOL_LL,
    SL_PROTOCOL_LL128,
    SL_PROTOCOL_SIMPLE,
    SL_PROTOCOL_COUNT
} sl_protocol_kind;

typedef struct sl_protocol {
    double base_s;
    double node_step_s;    /* between peers of one node */
    double network_step_s; /* between nodes, over InfiniBand */
    double rate_ratio;     /* of what Simple gets around a ring */
    double posts;          /* to a card, for each step */
} sl_protocol;

extern const sl_protocol sl_protocol_rings[SL_PROTOCOL_COUNT];
extern const sl_protocol sl_protocol_trees[SL_PROTOCOL_COUNT];

/** Trees inside the switches of a node, from their root to other nodes (NVLSTree). */
extern const sl_protocol sl_protocol_switched;

/** One accelerator a node, log2 of the nodes steps of all (PAT), and what each rank adds to it. */
extern const sl_protocol sl_protocol_pat;
extern const double sl_protocol_pat_rank_s;

/** What posting to a network card takes a host. */
double sl_protocol_post_s(bool amd_host);

/** What LL gets at most across nodes. */
double sl_protocol_low_latency_bytes_per_s(bool amd_host, double nodes);

/**
 * Of its rate, what a tree reaches at this size.
 *
 * Between the powers of two of NCCL's table, 64 B to 512 MiB, along a line, so that no byte more
 * takes less time. NCCL applies it to NVLSTree from Blackwell on; here to every part's.
 */
double sl_protocol_tree_ratio(sl_protocol_kind protocol, double bytes);

#endif
