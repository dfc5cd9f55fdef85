/**
 * Seconds of one collective across nodes: the fastest of what NCCL chooses among, by its own model.
 *
 * k nodes, G members in each, n ranks; steps = 2 (n-1) for an all-reduce, n-1 otherwise, of them
 * x = 2 (k-1) or k-1 between nodes; L = latency_ratio of the fabric:
 *   ring    t = base + (steps - x) max(step, posts * post) + x L net_step
 *               + M (steps / n) / (share R)
 *           in LL, LL128 and Simple; LL gets no more than NCCL lets it; one rank a node waits as in
 *           trees
 *   tree    t = base + 2 ((G-1) step + log2(k) L net_step) + M (steps / n) / (share ratio(S) R)
 *           for an all-reduce, in the same three
 *   switched (NVLSTree)  t = step + 2 log2(k) L net_step + M (steps / n) / (ratio(S) W)
 *           for an all-reduce, where the switches of a node add up
 *   PAT     t = base + log2(k) L net_step + n each + M (steps / n) / (share R)
 *           for an all-gather or reduce-scatter of one rank a node
 *   R = min(N, ring inside the node * G / (G-1))
 *   N = line * NICs of the members in a node * NIC rate / oversubscription / congestion
 *   W = min(F N, all-reduce inside the node)
 *   F = max(1, (n-1)/n * (2 over two nodes, 4/3 over three)): a tree has its root on one of them
 *   M = S; on a fabric slow with small messages min(small_ratio S, small_bytes * those NICs), or S
 *   if more
 * Where the fabric has rings only, the Simple ring.
 * All-to-all (bytes: what one rank sends and keeps), for each of `peers` on other nodes one
 * message:
 *   t = L pair + (peers - 1) 3 post
 *       + max(M (k-1)/k / (N of one rank), S (G-1)/n / ring inside the node)
 * Send and receive:
 *   t = L pair + M / (pair rate of the NICs of one rank / oversubscription / congestion)
 *
 * Source: NVIDIA/nccl src/graph/tuning.cc (5067397; engine/links/protocols.h has its constants). 2
 * and 4/3: SimAI calbusbw.cc; two nodes of H100 get 470 GB/s of 400 so (nccl-tests issue 309), 3 x
 * 4 and 3 x 8 GB200 235 and 484 of 200 and 400 (NCCL issue 1801). Trees outside the switches could,
 * and are not seen to: A100 over two and three nodes of four cards gets 89 to 96 GB/s of 100
 * (nccl-tests issues 119 and 152, vTrain's tensor groups of 16), H100 330 of 400 (NCCL issue 1221).
 * Pinned by collectives_measured_test.
 */
#ifndef SL_ENGINE_NETWORK_H
#define SL_ENGINE_NETWORK_H

#include "engine/links/collective.h"
#include "engine/links/protocols.h"

enum { SL_NETWORK_WAYS_MAX = 2 * SL_PROTOCOL_COUNT + 1 };

/** One of the ways that NCCL chooses among: what it takes before the bytes, and at what rate they
 * go. */
typedef struct sl_network_way {
    double begin_s;
    double bytes_per_s;
    sl_protocol_kind tree; /* of that rate, trees reach a part that goes by size; COUNT = no tree */
} sl_network_way;

/** Everything about collectives of one kind over one group that does not depend on their bytes. */
typedef struct sl_crossing {
    const sl_cluster *cluster;
    double small_bytes; /* below which messages are slow */
    double ranks;
    double rounds;              /* all-reduce: twice around */
    uint32_t first_tree, count; /* trees come last */
    sl_network_way ways[SL_NETWORK_WAYS_MAX];
} sl_crossing;

void sl_network_cross(const sl_cluster *cluster, sl_collective kind, const sl_group *group,
                      sl_crossing *out);

double sl_network_crossed_s(const sl_crossing *crossing, double bytes);

/** All-reduce, all-gather or reduce-scatter of a group that spans nodes. */
double sl_network_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group,
                    double bytes);

double sl_network_pair_s(const sl_cluster *cluster, double bytes);

double sl_network_exchange_s(const sl_cluster *cluster, const sl_group *group, double peers,
                             double bytes);

#endif
