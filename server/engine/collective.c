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
static const double ring_base_us = 8.4;
static const double peer_step_us = 3.4;
static const double host_step_us = 5.7;

/* RDMA reaches 0.92-0.96 of line rate for messages of a MiB and more (NCCL maintainers). */
static const double line_rate_ratio = 0.96;
/* Ring all-gather against the unidirectional link rate of NVLink parts (ml-engineering, H200). */
static const double ring_link_ratio = 0.81;
/* Bus bandwidth of PCIe boxes against the link: 24 of 31 GB/s, 48 of 63 (NVIDIA, NCCL slides). */
static const double host_link_ratio = 0.77;
/* Of the links, what DeepEP's kernels reach in a node of eight H100: .49 and .96 ms (aiconfigurator). */
static const double forward_ratio = 0.62;
/* Point to point across nodes, small messages: about 20 us (Vidur network tables, H100). */
static const double p2p_network_us = 20.0;

uint64_t
sl_collective_domain(const sl_cluster *cluster)
{
    const uint64_t domain = cluster->accelerator.scale_up_domain;
    const uint64_t per_node = cluster->accelerators_per_node;
    const uint64_t all = cluster->nodes * per_node;

    if (domain <= per_node || all <= domain)
        return domain;
    for (uint64_t segment = domain / per_node * per_node; segment > per_node; segment -= per_node)
        if (all % segment == 0)
            return segment;
    return domain;
}

static uint64_t
island_of(const sl_cluster *cluster)
{
    const uint64_t domain = sl_collective_domain(cluster);
    const uint64_t per_node = cluster->accelerators_per_node;

    return domain > per_node ? domain : per_node;
}

/* Whether all groups of this extent lie inside blocks of `block` ranks each. */
static bool
lines_up_inside(const sl_cluster *cluster, uint64_t block, uint64_t extent)
{
    const uint64_t all = (uint64_t)cluster->nodes * cluster->accelerators_per_node;

    return extent <= block && (block % extent == 0 || all <= block);
}

sl_group
sl_group_of(const sl_cluster *cluster, uint64_t ranks, uint64_t stride)
{
    assert(ranks >= 1 && stride >= 1);

    const uint64_t island = island_of(cluster);
    const uint64_t extent = ranks * stride;

    if (lines_up_inside(cluster, island, extent) || ranks == 1)
        return (sl_group){
            .ranks = (double)ranks,
            .nodes = 1.0,
            .members_per_node = (double)ranks,
            .level = ranks == 1 || lines_up_inside(cluster, sl_collective_domain(cluster), extent)
                         ? SL_LEVEL_SCALE_UP
                         : SL_LEVEL_HOST,
        };

    /* Spanning whole nodes, each holds island / stride members; otherwise the node with the
     * fewest counts. */
    const bool aligned =
        stride >= island ? stride % island == 0 : island % stride == 0 && extent % island == 0;
    uint64_t members = stride >= island ? 1 : island / stride;
    if (members >= ranks)
        members = ranks - 1;

    return (sl_group){
        .ranks = (double)ranks,
        .nodes = ceil((double)ranks / (double)members),
        .members_per_node = (double)members,
        .level = SL_LEVEL_NETWORK,
        .straddles = !aligned,
    };
}

sl_group
sl_group_pair(const sl_cluster *cluster, uint64_t first, uint64_t last)
{
    assert(first < last);

    const uint64_t island = island_of(cluster);
    const uint64_t whole = sl_collective_domain(cluster);
    const uint64_t domain = whole > 0 ? whole : 1;
    const bool together = first / island == (last - 1) / island;
    const bool linked = first / domain == (last - 1) / domain;

    return (sl_group){
        .ranks = 2.0,
        .nodes = together ? 1.0 : 2.0,
        .members_per_node = together ? 2.0 : 1.0,
        .level = !together ? SL_LEVEL_NETWORK
                 : linked  ? SL_LEVEL_SCALE_UP
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
rounds_of(sl_collective kind)
{
    return kind == SL_COLLECTIVE_ALL_REDUCE ? 2.0 : 1.0;
}

static double
bus_factor(sl_collective kind, double n)
{
    return kind == SL_COLLECTIVE_SEND_RECEIVE ? 1.0 : rounds_of(kind) * (n - 1.0) / n;
}

/* The law measured at this level for the next group size up, or NULL. */
static const sl_collective_law *
fitted_law(const sl_accelerator *part, sl_level level, sl_collective kind, double n)
{
    const uint32_t size = n <= 2.0 ? 0 : n <= 4.0 ? 1 : 2;
    const sl_collective_law *law =
        &part->collective[kind][kind == SL_COLLECTIVE_SEND_RECEIVE ? 0 : size];

    if (part->host_collectives != (level == SL_LEVEL_HOST) || law->bus_bytes_per_s <= 0.0)
        return NULL;
    return law;
}

/* What a ring gets through the links of a level when nobody measured one. */
static double
link_bytes_per_s(const sl_accelerator *part, sl_level level)
{
    return level == SL_LEVEL_SCALE_UP ? ring_link_ratio * part->scale_up_bytes_per_s
                                      : host_link_ratio * part->host_bytes_per_s;
}

double
sl_collective_host_s(const sl_accelerator *part, double bytes)
{
    return bytes / (host_link_ratio * part->host_bytes_per_s);
}

static bool
level_known(const sl_accelerator *part, sl_level level)
{
    return link_bytes_per_s(part, level) > 0.0 ||
           (fitted_law(part, level, SL_COLLECTIVE_ALL_GATHER, 8.0) != NULL &&
            fitted_law(part, level, SL_COLLECTIVE_SEND_RECEIVE, 2.0) != NULL);
}

bool
sl_collective_links_known(const sl_cluster *cluster)
{
    const sl_accelerator *part = &cluster->accelerator;
    const uint64_t all = (uint64_t)cluster->nodes * cluster->accelerators_per_node;

    if (all == 1)
        return true;
    if (part->scale_up_domain > 1 && !level_known(part, SL_LEVEL_SCALE_UP))
        return false;
    return cluster->accelerators_per_node == 1 ||
           cluster->accelerators_per_node <= part->scale_up_domain ||
           level_known(part, SL_LEVEL_HOST);
}

static double
in_node_s(const sl_accelerator *part, sl_level level, sl_collective kind, double n, double bytes)
{
    const sl_collective_law *law = fitted_law(part, level, kind, n);
    const double step_s = (level == SL_LEVEL_SCALE_UP ? peer_step_us : host_step_us) * SL_US_S;
    const double moved = bytes * bus_factor(kind, n);

    if (law != NULL) {
        const double more_steps = n > 8.0 ? rounds_of(kind) * (n - 8.0) : 0.0;
        return law->latency_s + more_steps * step_s + moved / law->bus_bytes_per_s +
               law->ramp_s_per_sqrt_byte * sqrt(moved);
    }

    const double bandwidth = link_bytes_per_s(part, level);
    assert(bandwidth > 0.0); /* sl_question_check refuses a node whose links are not known */
    return ring_base_us * SL_US_S + rounds_of(kind) * (n - 1.0) * step_s + moved / bandwidth;
}

/* Ring bandwidth inside a node among `members`, at the slowest links between them. */
static double
node_ring_bytes_per_s(const sl_accelerator *part, double members)
{
    const sl_level level = members <= part->scale_up_domain ? SL_LEVEL_SCALE_UP : SL_LEVEL_HOST;
    const sl_collective_law *law = fitted_law(part, level, SL_COLLECTIVE_ALL_GATHER, members);

    return law != NULL ? law->bus_bytes_per_s : link_bytes_per_s(part, level);
}

/* Bytes per second that one ring of the group gets through a node and its cards. */
static double
network_bytes_per_s(const sl_cluster *cluster, const sl_group *group)
{
    const double g = group->members_per_node;
    const double nics = cluster->nics_per_node * g / cluster->accelerators_per_node;
    const double network =
        line_rate_ratio * nics * cluster->nic_bytes_per_s / cluster->oversubscription_ratio;

    return g <= 1.0
               ? network
               : fmin(network, node_ring_bytes_per_s(&cluster->accelerator, g) * g / (g - 1.0));
}

static double
network_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group, double bytes)
{
    const double n = group->ranks;
    const double steps = rounds_of(kind) * (n - 1.0);
    const double network_steps = rounds_of(kind) * (group->nodes - 1.0);
    const double bandwidth = network_bytes_per_s(cluster, group);
    double best_s = HUGE_VAL;

    assert(bandwidth > 0.0); /* sl_question_check refuses nodes without cards */
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

/* Each rank sends an equal part to every other. Inside a node that moves what an all-gather of as many
 * bytes moves; across nodes each rank uses its own share of the cards, and only what leaves the node
 * takes it. */
static double
exchange_s(const sl_cluster *cluster, const sl_group *group, double bytes)
{
    const sl_accelerator *part = &cluster->accelerator;

    if (group->level != SL_LEVEL_NETWORK)
        return in_node_s(part, group->level, SL_COLLECTIVE_ALL_GATHER, group->ranks, bytes);

    const double own = line_rate_ratio * cluster->nics_per_node * cluster->nic_bytes_per_s /
                       cluster->accelerators_per_node / cluster->oversubscription_ratio;
    const double outside = bytes * (group->nodes - 1.0) / group->nodes;

    return p2p_network_us * SL_US_S + outside / own;
}

double
sl_collective_dispatch_s(const sl_cluster *cluster, const sl_group *group, double to_ranks,
                         double to_nodes)
{
    const double members = group->members_per_node;
    const double rate = forward_ratio * cluster->accelerator.scale_up_bytes_per_s;

    if (group->level != SL_LEVEL_NETWORK || members <= 1.0 || rate <= 0.0)
        return sl_collective_s(cluster, SL_COLLECTIVE_ALL_TO_ALL, group, to_ranks);
    return hypot(sl_collective_s(cluster, SL_COLLECTIVE_ALL_TO_ALL, group, to_nodes),
                 to_ranks * (members - 1.0) / members / rate);
}

double
sl_collective_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group, double bytes)
{
    if (group->ranks <= 1.0 || bytes <= 0.0)
        return 0.0;
    if (kind == SL_COLLECTIVE_ALL_TO_ALL)
        return exchange_s(cluster, group, bytes);
    if (kind == SL_COLLECTIVE_BROADCAST || kind == SL_COLLECTIVE_REDUCE) {
        kind = kind == SL_COLLECTIVE_BROADCAST ? SL_COLLECTIVE_ALL_GATHER
                                               : SL_COLLECTIVE_REDUCE_SCATTER;
        bytes *= group->ranks / (group->ranks - 1.0);
    }
    if (group->level != SL_LEVEL_NETWORK)
        return in_node_s(&cluster->accelerator, group->level, kind, group->ranks, bytes);
    if (kind == SL_COLLECTIVE_SEND_RECEIVE)
        return p2p_network_us * SL_US_S + bytes / network_bytes_per_s(cluster, group);
    return network_s(cluster, kind, group, bytes);
}
