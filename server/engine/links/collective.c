#include "engine/links/collective.h"

#include <assert.h>
#include <math.h>

#include "engine/links/links.h"
#include "engine/links/network.h"

/* Of the links, what DeepEP's kernels reach in a node of eight H100: .49 and .96 ms
 * (aiconfigurator). */
static const double forward_ratio = 0.62;

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

uint64_t
sl_collective_island(const sl_cluster *cluster)
{
    const uint64_t domain = sl_collective_domain(cluster);
    const uint64_t per_node = cluster->accelerators_per_node;

    return domain > per_node ? domain : per_node;
}

/* Whether all groups of this extent lie inside blocks of `block` ranks each. */
static bool
lines_up_inside(const sl_cluster *cluster, uint64_t block, uint64_t extent)
{
    const uint64_t all =
        (uint64_t)cluster->nodes * cluster->accelerators_per_node + cluster->beside;

    return extent <= block && (block % extent == 0 || all <= block);
}

sl_group
sl_group_of(const sl_cluster *cluster, uint64_t ranks, uint64_t stride)
{
    assert(ranks >= 1 && stride >= 1);
    if (ranks == 1)
        return (sl_group){
            .ranks = 1.0, .nodes = 1.0, .members_per_node = 1.0, .level = SL_LEVEL_SCALE_UP};

    const uint64_t island = sl_collective_island(cluster);
    const uint64_t extent = ranks * stride;

    if (lines_up_inside(cluster, island, extent))
        return (sl_group){
            .ranks = (double)ranks,
            .nodes = 1.0,
            .members_per_node = (double)ranks,
            .level = lines_up_inside(cluster, sl_collective_domain(cluster), extent)
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

    const uint64_t island = sl_collective_island(cluster);
    const uint64_t whole = sl_collective_domain(cluster);
    const uint64_t domain = whole > 0 ? whole : 1;
    assert(island > 0);
    if (first / island != (last - 1) / island)
        return (sl_group){
            .ranks = 2.0, .nodes = 2.0, .members_per_node = 1.0, .level = SL_LEVEL_NETWORK};

    const bool linked = first / domain == (last - 1) / domain;
    return (sl_group){
        .ranks = 2.0,
        .nodes = 1.0,
        .members_per_node = 2.0,
        .level = linked ? SL_LEVEL_SCALE_UP : SL_LEVEL_HOST,
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

/* Inside a node, and across nodes with one message to each of `peers` ranks on others. */
static double
exchange_s(const sl_cluster *cluster, const sl_group *group, double peers, double bytes)
{
    return group->level == SL_LEVEL_NETWORK
               ? sl_network_exchange_s(cluster, group, peers, bytes)
               : sl_links_s(cluster, group->level, SL_COLLECTIVE_ALL_TO_ALL, group->ranks, bytes);
}

double
sl_collective_dispatch_s(const sl_cluster *cluster, const sl_group *group, double to_ranks,
                         double to_nodes)
{
    const double members = group->members_per_node;
    const double rate = forward_ratio * cluster->accelerator.scale_up_bytes_per_s *
                        sl_links_shared_ratio(&cluster->accelerator, members);

    if (group->ranks <= 1.0 || to_ranks <= 0.0 || group->level != SL_LEVEL_NETWORK ||
        members <= 1.0 || rate <= 0.0)
        return sl_collective_s(cluster, SL_COLLECTIVE_ALL_TO_ALL, group, to_ranks);
    return hypot(exchange_s(cluster, group, group->nodes - 1.0, to_nodes),
                 to_ranks * (members - 1.0) / members / rate);
}

double
sl_collective_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group, double bytes)
{
    if (group->ranks <= 1.0 || bytes <= 0.0)
        return 0.0;
    if (kind == SL_COLLECTIVE_ALL_TO_ALL)
        return exchange_s(cluster, group, group->ranks - group->members_per_node, bytes);
    if (kind == SL_COLLECTIVE_BROADCAST || kind == SL_COLLECTIVE_REDUCE) {
        kind = kind == SL_COLLECTIVE_BROADCAST ? SL_COLLECTIVE_ALL_GATHER
                                               : SL_COLLECTIVE_REDUCE_SCATTER;
        bytes *= sl_collective_message_ratio(group->ranks);
    }
    if (group->level != SL_LEVEL_NETWORK)
        return sl_links_s(cluster, group->level, kind, group->ranks, bytes);
    if (kind == SL_COLLECTIVE_SEND_RECEIVE)
        return sl_network_pair_s(cluster, bytes);
    return sl_network_s(cluster, kind, group, bytes);
}
