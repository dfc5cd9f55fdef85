#include "engine/collective.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "shardline/units.h"

/* NCCL src/graph/tuning.cc: latencies in microseconds, bandwidth as a share of Simple. */
typedef struct protocol {
    double base_us;
    double node_step_us;
    double network_step_us;
    double bandwidth_ratio;
} protocol;

static const protocol ring_protocols[] = {
    {6.6, 0.6, 2.7, 0.5},   /* LL */
    {14.0, 1.9, 4.0, 0.92}, /* LL128 */
    {8.4, 3.4, 14.0, 1.0},  /* Simple */
};
static const protocol tree_simple = {8.4, 4.0, 14.0, 0.92};

/* RDMA reaches 0.92-0.96 of line rate for messages of a MiB and more (NCCL maintainers). */
static const double line_rate_ratio = 0.96;
/* Ring all-gather against the unidirectional link rate of NVLink parts (ml-engineering, H200). */
static const double ring_link_ratio = 0.81;
/* Bus bandwidth of PCIe boxes against the link: 24 of 31 GB/s, 48 of 63 (NVIDIA, NCCL slides). */
static const double host_link_ratio = 0.77;
/* Point to point: about 10 us inside a node, 20 us across (Vidur network tables, H100). */
static const double p2p_node_us = 10.0;
static const double p2p_network_us = 20.0;

sl_group
sl_group_of(const sl_cluster *cluster, uint64_t ranks, uint64_t stride)
{
    assert(ranks >= 1 && stride >= 1);

    const uint64_t domain = cluster->accelerator.scale_up_domain;
    const uint64_t per_node = cluster->accelerators_per_node;
    const uint64_t island = domain > per_node ? domain : per_node;
    uint64_t members = stride >= island ? 1 : island / stride;

    if (members > ranks)
        members = ranks;

    const bool one_island = members == ranks;
    const bool linked = (ranks - 1) * stride < domain;

    return (sl_group){
        .ranks = (double)ranks,
        .nodes = ceil((double)ranks / (double)members),
        .members_per_node = (double)members,
        .level = !one_island ? SL_LEVEL_NETWORK
                 : linked    ? SL_LEVEL_SCALE_UP
                             : SL_LEVEL_HOST,
    };
}

const char *
sl_level_name(sl_level level)
{
    static const char *const names[] = {
        [SL_LEVEL_SCALE_UP] = "scale_up",
        [SL_LEVEL_HOST] = "host",
        [SL_LEVEL_NETWORK] = "network",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_LEVEL_COUNT, "a name per level");

    return names[level];
}

static double
bus_factor(sl_collective kind, double n)
{
    switch (kind) {
    case SL_COLLECTIVE_ALL_REDUCE:
        return 2.0 * (n - 1.0) / n;
    case SL_COLLECTIVE_ALL_GATHER:
    case SL_COLLECTIVE_REDUCE_SCATTER:
        return (n - 1.0) / n;
    default:
        return 1.0;
    }
}

static double
scale_up_s(const sl_accelerator *part, sl_collective kind, double n, double bytes)
{
    const uint32_t size = n <= 2.0 ? 0 : n <= 4.0 ? 1 : 2;
    const sl_collective_law *law = &part->collective[kind][size];
    const double moved = bytes * bus_factor(kind, n);

    assert(law->bus_bytes_per_s > 0.0);
    return law->latency_s + moved / law->bus_bytes_per_s + law->ramp_s_per_sqrt_byte * sqrt(moved);
}

static double
host_s(const sl_cluster *cluster, sl_collective kind, double n, double bytes)
{
    const double bandwidth = host_link_ratio * cluster->accelerator.host_bytes_per_s;

    assert(bandwidth > 0.0); /* sl_question_check refuses a node without any link */
    return p2p_node_us * SL_US_S + bytes * bus_factor(kind, n) / bandwidth;
}

/* Bytes per second that one ring of the group gets through the node's NICs. */
static double
network_bytes_per_s(const sl_cluster *cluster, const sl_group *group)
{
    const double nics =
        cluster->nics_per_node * group->members_per_node / cluster->accelerators_per_node;
    const double network =
        line_rate_ratio * nics * cluster->nic_bytes_per_s / cluster->oversubscription_ratio;
    const double g = group->members_per_node;

    if (g <= 1.0)
        return network;

    const double in_node = ring_link_ratio * cluster->accelerator.scale_up_bytes_per_s;

    return in_node > 0.0 ? fmin(network, in_node * g / (g - 1.0)) : network;
}

static double
network_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group, double bytes)
{
    const double n = group->ranks;
    const double rounds = kind == SL_COLLECTIVE_ALL_REDUCE ? 2.0 : 1.0;
    const double steps = rounds * (n - 1.0);
    const double network_steps = rounds * (group->nodes - 1.0);
    const double bandwidth = network_bytes_per_s(cluster, group);
    double best_s = HUGE_VAL;

    for (size_t i = 0; i < sizeof ring_protocols / sizeof ring_protocols[0]; i++) {
        const protocol *p = &ring_protocols[i];
        const double latency_us = p->base_us + (steps - network_steps) * p->node_step_us +
                                  network_steps * p->network_step_us;
        best_s = fmin(best_s, latency_us * SL_US_S +
                                  bytes * (steps / n) / (bandwidth * p->bandwidth_ratio));
    }
    if (kind == SL_COLLECTIVE_ALL_REDUCE) {
        const protocol *p = &tree_simple;
        const double latency_us =
            p->base_us + 2.0 * ((group->members_per_node - 1.0) * p->node_step_us +
                                log2(group->nodes) * p->network_step_us);
        best_s = fmin(best_s, latency_us * SL_US_S +
                                  bytes * (steps / n) / (bandwidth * p->bandwidth_ratio));
    }
    return best_s;
}

static double
send_receive_s(const sl_cluster *cluster, const sl_group *group, double bytes)
{
    if (group->level == SL_LEVEL_SCALE_UP)
        return p2p_node_us * SL_US_S +
               bytes / (ring_link_ratio * cluster->accelerator.scale_up_bytes_per_s);

    const sl_group single = {.ranks = 2.0, .nodes = 2.0, .members_per_node = 1.0};

    return p2p_network_us * SL_US_S + bytes / network_bytes_per_s(cluster, &single);
}

double
sl_collective_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group, double bytes)
{
    if (group->ranks <= 1.0 || bytes <= 0.0)
        return 0.0;
    if (group->level == SL_LEVEL_HOST)
        return host_s(cluster, kind, group->ranks, bytes);
    if (kind == SL_COLLECTIVE_SEND_RECEIVE)
        return send_receive_s(cluster, group, bytes);
    if (group->level == SL_LEVEL_SCALE_UP)
        return scale_up_s(&cluster->accelerator, kind, group->ranks, bytes);
    return network_s(cluster, kind, group, bytes);
}
