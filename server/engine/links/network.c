#include "engine/links/network.h"

#include <assert.h>
#include <math.h>

#include "engine/extremes.h"
#include "engine/links/links.h"
#include "engine/links/protocols.h"
#include "shardline/units.h"

/* One message to another node: 20 us of 64 KiB, 27 of 256 (Vidur network tables, H100). */
static const double pair_us = 18.0;
static const double large_accelerators = 4096.0;

/* Cards that `ranks` of one node have to themselves. */
static double
cards_of(const sl_cluster *cluster, double ranks)
{
    return cluster->nics_per_node * ranks / cluster->accelerators_per_node;
}

/* What those cards carry at this share of their rate. */
static double
cards_bytes_per_s(const sl_cluster *cluster, double ranks, double rate_ratio)
{
    const sl_fabric *fabric = &cluster->fabric;
    const double accelerators =
        (double)cluster->nodes * cluster->accelerators_per_node + (double)cluster->beside;
    const double congestion_ratio = accelerators > large_accelerators
                                        ? fabric->large_congestion_ratio
                                        : fabric->congestion_ratio;

    assert(rate_ratio > 0.0 && congestion_ratio > 0.0);
    return rate_ratio * cards_of(cluster, ranks) * cluster->nic_bytes_per_s /
           (cluster->oversubscription_ratio * congestion_ratio);
}

/* Messages below this are slow, to and from so many ranks of a node. */
static double
small_bytes_of(const sl_cluster *cluster, double ranks)
{
    return cluster->fabric.small_bytes * cards_of(cluster, ranks);
}

/* Bytes as long under way as these, were the messages large. */
static double
carried(const sl_fabric *fabric, double small_bytes, double bytes)
{
    return bytes >= small_bytes ? bytes : sl_smaller(fabric->small_ratio * bytes, small_bytes);
}

/* Of the cards' rate, what such trees have for bus bandwidth over two and three nodes. */
static double
root_ratio(const sl_group *group)
{
    const double few = group->nodes <= 2.0 ? 2.0 : group->nodes <= 3.0 ? 4.0 / 3.0 : 1.0;

    return sl_larger(1.0, few * (group->ranks - 1.0) / group->ranks);
}

static sl_network_way *
add_way(sl_crossing *out, double begin_s, double bytes_per_s)
{
    assert(out->count < SL_NETWORK_WAYS_MAX);

    sl_network_way *way = &out->ways[out->count++];
    way->begin_s = begin_s;
    way->bytes_per_s = bytes_per_s;
    way->tree = SL_PROTOCOL_COUNT; /* none, unless it is said */
    return way;
}

/* Of the cards and the links inside the nodes, what a protocol gets. */
static double
rate_of(const sl_cluster *cluster, const sl_group *group, const sl_protocol *protocols,
        sl_protocol_kind kind, double bytes_per_s)
{
    const double rate = protocols[kind].rate_ratio * bytes_per_s;

    return kind != SL_PROTOCOL_LL
               ? rate
               : sl_smaller(rate,
                            sl_protocol_low_latency_bytes_per_s(cluster->amd_host, group->nodes));
}

static void
add_rings(const sl_cluster *cluster, const sl_group *group, double bytes_per_s, sl_crossing *out)
{
    const double members = group->members_per_node;
    const double steps = out->rounds * (group->ranks - 1.0);
    const double network_steps = out->rounds * (group->nodes - 1.0);
    const double post_s = sl_protocol_post_s(cluster->amd_host);
    const uint32_t first = cluster->fabric.ring_only ? SL_PROTOCOL_SIMPLE : SL_PROTOCOL_LL;

    for (uint32_t i = first; i < SL_PROTOCOL_COUNT; i++) {
        const sl_protocol *p = &sl_protocol_rings[i];
        const double hop_s =
            members > 1.0 ? p->network_step_s : sl_protocol_trees[i].network_step_s;
        (void)add_way(out,
                      p->base_s +
                          (steps - network_steps) * sl_larger(p->node_step_s, p->posts * post_s) +
                          network_steps * cluster->fabric.latency_ratio * hop_s,
                      rate_of(cluster, group, sl_protocol_rings, (sl_protocol_kind)i, bytes_per_s));
    }
}

static void
add_trees(const sl_cluster *cluster, const sl_group *group, double bytes_per_s, sl_crossing *out)
{
    const double hops = 2.0 * log2(group->nodes) * cluster->fabric.latency_ratio;

    for (uint32_t i = 0; i < SL_PROTOCOL_COUNT; i++) {
        const sl_protocol *p = &sl_protocol_trees[i];
        sl_network_way *way =
            add_way(out,
                    p->base_s + 2.0 * (group->members_per_node - 1.0) * p->node_step_s +
                        hops * p->network_step_s,
                    rate_of(cluster, group, sl_protocol_trees, (sl_protocol_kind)i, bytes_per_s));
        way->tree = (sl_protocol_kind)i;
    }
}

/* Trees whose members in a node meet in its switches, where they can. */
static void
add_switched(const sl_cluster *cluster, const sl_group *group, double network_bytes_per_s,
             sl_crossing *out)
{
    const sl_protocol *p = &sl_protocol_switched;
    const double members = group->members_per_node;
    const double inside =
        members > 1.0 ? sl_links_switch_bytes_per_s(&cluster->accelerator, members) : 0.0;

    if (inside <= 0.0)
        return;
    sl_network_way *way =
        add_way(out,
                p->base_s + p->node_step_s +
                    2.0 * log2(group->nodes) * cluster->fabric.latency_ratio * p->network_step_s,
                sl_smaller(network_bytes_per_s, inside));
    way->tree = SL_PROTOCOL_SIMPLE;
}

static void
add_pat(const sl_cluster *cluster, const sl_group *group, double bytes_per_s, sl_crossing *out)
{
    const sl_protocol *p = &sl_protocol_pat;

    (void)add_way(out,
                  p->base_s +
                      log2(group->nodes) * cluster->fabric.latency_ratio * p->network_step_s +
                      group->ranks * sl_protocol_pat_rank_s,
                  p->rate_ratio * bytes_per_s);
}

void
sl_network_cross(const sl_cluster *cluster, sl_collective kind, const sl_group *group,
                 sl_crossing *out)
{
    const double members = group->members_per_node;
    const double network = cards_bytes_per_s(cluster, members, cluster->fabric.line_rate_ratio);
    const double inside =
        members > 1.0
            ? sl_links_ring_bytes_per_s(&cluster->accelerator, members) * members / (members - 1.0)
            : HUGE_VAL;
    const double around = sl_smaller(network, inside);
    const bool reduces = kind == SL_COLLECTIVE_ALL_REDUCE;

    assert(network > 0.0); /* sl_question_check refuses nodes without cards */
    out->cluster = cluster;
    out->small_bytes = small_bytes_of(cluster, members);
    out->ranks = group->ranks;
    out->rounds = sl_links_rounds(kind);
    out->count = 0;
    add_rings(cluster, group, around, out);
    if (!cluster->fabric.ring_only && !reduces && group->ranks == group->nodes)
        add_pat(cluster, group, around, out);
    out->first_tree = out->count;
    if (cluster->fabric.ring_only || !reduces)
        return;
    add_trees(cluster, group, around, out);
    add_switched(cluster, group, root_ratio(group) * network, out);
}

double
sl_network_crossed_s(const sl_crossing *crossing, double bytes)
{
    const sl_cluster *cluster = crossing->cluster;
    /* What a byte per second would need for all of it. */
    const double carried_s = carried(&cluster->fabric, crossing->small_bytes, bytes) *
                             crossing->rounds * (crossing->ranks - 1.0) / crossing->ranks;
    double best_s = HUGE_VAL;

    for (uint32_t i = 0; i < crossing->first_tree; i++)
        best_s = sl_smaller(best_s,
                            crossing->ways[i].begin_s + carried_s / crossing->ways[i].bytes_per_s);
    for (uint32_t i = crossing->first_tree; i < crossing->count; i++) {
        const sl_network_way *way = &crossing->ways[i];
        const double rate = way->bytes_per_s * sl_protocol_tree_ratio(way->tree, bytes);
        best_s = sl_smaller(best_s, way->begin_s + carried_s / rate);
    }
    return best_s * (1.0 + cluster->excess.network_ratio);
}

double
sl_network_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group, double bytes)
{
    sl_crossing crossing;

    sl_network_cross(cluster, kind, group, &crossing);
    return sl_network_crossed_s(&crossing, bytes);
}

double
sl_network_pair_s(const sl_cluster *cluster, double bytes)
{
    const sl_fabric *fabric = &cluster->fabric;
    const double rate = cards_bytes_per_s(cluster, 1.0, fabric->pair_rate_ratio);

    return (fabric->latency_ratio * pair_us * SL_US_S +
            carried(fabric, small_bytes_of(cluster, 1.0), bytes) / rate) *
           (1.0 + cluster->excess.network_ratio);
}

double
sl_network_exchange_s(const sl_cluster *cluster, const sl_group *group, double peers, double bytes)
{
    const sl_fabric *fabric = &cluster->fabric;
    const sl_protocol *simple = &sl_protocol_rings[SL_PROTOCOL_SIMPLE];
    const double members = group->members_per_node;
    const double own = cards_bytes_per_s(cluster, 1.0, fabric->line_rate_ratio);
    const double outside_s = carried(fabric, small_bytes_of(cluster, 1.0), bytes) *
                             (group->nodes - 1.0) / group->nodes / own;
    const double inside_s = members > 1.0
                                ? bytes * (members - 1.0) / group->ranks /
                                      sl_links_ring_bytes_per_s(&cluster->accelerator, members)
                                : 0.0;
    const double posted_s = simple->posts * sl_protocol_post_s(cluster->amd_host);

    return (fabric->latency_ratio * pair_us * SL_US_S + sl_larger(0.0, peers - 1.0) * posted_s +
            sl_larger(outside_s, inside_s)) *
           (1.0 + cluster->excess.network_ratio);
}
