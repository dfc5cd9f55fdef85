/**
 * Seconds of one collective inside a node or a scale-up domain, by laws that were measured there.
 *
 * In groups of 2, 4, 8 and, where there is such a law, 72:
 *   t = latency + S f / B + ramp sqrt(S f)        S the whole buffer, f the bus factor
 * Between two of those sizes each of latency, 1 / B and ramp lies on the line through both; but
 *   - where switches add up, an all-reduce has the law of 4 until they do, then that of 8 with
 *     B (9 / 7) (n - 1) / (n + 1): they send n + 1 parts where members send n
 *     (H200 414, 436, 460, 473 GB/s of 5 to 8; B200 778, 811, 838 of 6 to 8: within 2 %);
 *   - through the host the next size up counts: the two groups may lie on other sides of its
 *   sockets.
 * Beyond the largest law a ring goes on by the fastest of its protocols, whose shares are NCCL's:
 *   t + (rounds (n - largest)) step + (1 / share - 1) S f / B
 * and an all-to-all sends one more message, a step of LL, for each rank more. Where the part has no
 * law for the level:
 *   t = base + steps * step + S f / B,  B = 0.81 of the peer links or 0.77 of the host link
 *
 * Laws were measured over switches, which give any group all links of its members. Where
 * accelerators are joined pair by pair, a group of n has those between its members alone, and
 *   B <= 0.81 (n - 1) pair       n = 2 for send/receive; no switch that adds up
 * evenly used by rings over different cycles and by direct exchanges alike: NCCL counts 20 of the
 * 25 GB/s of a link (src/graph/topo.h), RCCL 3 x 48 for four of eight MI300X (ROCm/rccl issue 1210,
 * README "using less than 8 GPUs").
 */
#ifndef SL_ENGINE_LINKS_H
#define SL_ENGINE_LINKS_H

#include "engine/links/collective.h"

double sl_links_s(const sl_cluster *cluster, sl_level level, sl_collective kind, double n,
                  double bytes);

/** 2 for an all-reduce, which goes around the ring twice, 1 for others. */
double sl_links_rounds(sl_collective kind);

/** Of all scale-up links of one accelerator, those between it and the others of a group of so many:
 * 1 over a switch. */
double sl_links_shared_ratio(const sl_accelerator *part, double members);

/** Inside a node, among `members` of it, at the slowest links between them: what a ring gets ... */
double sl_links_ring_bytes_per_s(const sl_accelerator *part, double members);

/** ... and what an all-reduce gets whose switches add up; 0 where they cannot. */
double sl_links_switch_bytes_per_s(const sl_accelerator *part, double members);

/** False when a group inside a node would have to cross links of which no rate is known. */
bool sl_links_known(const sl_cluster *cluster);

/** Between a device and the memory of its host, one way: bytes / (0.77 of the host link). */
double sl_links_host_s(const sl_accelerator *part, double bytes);

#endif
