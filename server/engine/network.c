#include "engine/network.h"

#include <assert.h>
#include <math.h>

#include "engine/links.h"
#include "engine/protocols.h"
#include "shardline/units.h"

/* One message to another node: 20 us of 64 KiB, 27 of 256 (Vidur network tables, H100). */
static const double pair_us = 18.0;
static const double large_accelerators = 4096.0;

/* One group's way across the network. */
typedef struct route {
    const sl_cluster *cluster;
    const sl_group *group;
    bool reduces; /* all-reduce: twice around */
    double bytes;
    double carried_s;        /* what a byte per second would need for all of it */
    double rate_bytes_per_s; /* around a ring, the cards and the links inside the nodes */
    double latency_ratio;
} route;

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

/* Bytes as long under way as these, were the messages large. */
static double
carried(const sl_cluster *cluster, double ranks, double bytes)
{
    const sl_fabric *fabric = &cluster->fabric;
    const double small_bytes = fabric->small_bytes * cards_of(cluster, ranks);

    return bytes >= small_bytes ? bytes : fmin(fabric->small_ratio * bytes, small_bytes);
}

/* Of the cards' rate, what such trees have for bus bandwidth over two and three nodes. */
static double
root_ratio(const sl_group *group)
{
    const double few = group->nodes <= 2.0 ? 2.0 : group->nodes <= 3.0 ? 4.0 / 3.0 : 1.0;

    return fmax(1.0, few * (group->ranks - 1.0) / group->ranks);
}

static double
rings_s(const route *r)
{
    const sl_cluster *cluster = r->cluster;
    const double members = r->group->members_per_node;
    const double rounds = r->reduces ? 2.0 : 1.0;
    const double steps = rounds * (r->group->ranks - 1.0);
    const double network_steps = rounds * (r->group->nodes - 1.0);
    const double post_s = sl_protocol_post_s(cluster->amd_host);
    const uint32_t first = cluster->fabric.ring_only ? SL_PROTOCOL_SIMPLE : SL_PROTOCOL_LL;
    double best_s = HUGE_VAL;

    for (uint32_t i = first; i < SL_PROTOCOL_COUNT; i++) {
        const sl_protocol *p = &sl_protocol_rings[i];
        const double hop_s =
            members > 1.0 ? p->network_step_s : sl_protocol_trees[i].network_step_s;
        double rate = p->rate_ratio * r->rate_bytes_per_s;
        if (i == SL_PROTOCOL_LL)
            rate =
                fmin(rate, sl_protocol_low_latency_bytes_per_s(cluster->amd_host, r->group->nodes));
        best_s = fmin(
            best_s, p->base_s + (steps - network_steps) * fmax(p->node_step_s, p->posts * post_s) +
                        network_steps * r->latency_ratio * hop_s + r->carried_s / rate);
    }
    return best_s;
}

static double
trees_s(const route *r)
{
    const double hops = 2.0 * log2(r->group->nodes) * r->latency_ratio;
    const double members = r->group->members_per_node;
    double best_s = HUGE_VAL;

    for (uint32_t i = 0; i < SL_PROTOCOL_COUNT; i++) {
        const sl_protocol *p = &sl_protocol_trees[i];
        double rate = p->rate_ratio * r->rate_bytes_per_s;
        if (i == SL_PROTOCOL_LL)
            rate = fmin(rate,
                        sl_protocol_low_latency_bytes_per_s(r->cluster->amd_host, r->group->nodes));
        rate *= sl_protocol_tree_ratio((sl_protocol_kind)i, r->bytes);
        best_s = fmin(best_s, p->base_s + 2.0 * (members - 1.0) * p->node_step_s +
                                  hops * p->network_step_s + r->carried_s / rate);
    }
    return best_s;
}

/* Trees whose members in a node meet in its switches; HUGE_VAL where they cannot. */
static double
switched_s(const route *r, double network_bytes_per_s)
{
    const sl_protocol *p = &sl_protocol_switched;
    const double members = r->group->members_per_node;
    const double inside =
        members > 1.0 ? sl_links_switch_bytes_per_s(&r->cluster->accelerator, members) : 0.0;

    if (inside <= 0.0)
        return HUGE_VAL;
    return p->base_s + p->node_step_s +
           2.0 * log2(r->group->nodes) * r->latency_ratio * p->network_step_s +
           r->carried_s / (fmin(network_bytes_per_s, inside) *
                           sl_protocol_tree_ratio(SL_PROTOCOL_SIMPLE, r->bytes));
}

static double
pat_s(const route *r)
{
    const sl_protocol *p = &sl_protocol_pat;

    return p->base_s + log2(r->group->nodes) * r->latency_ratio * p->network_step_s +
           r->group->ranks * sl_protocol_pat_rank_s +
           r->carried_s / (p->rate_ratio * r->rate_bytes_per_s);
}

double
sl_network_s(const sl_cluster *cluster, sl_collective kind, const sl_group *group, double bytes)
{
    const double members = group->members_per_node;
    const double network = cards_bytes_per_s(cluster, members, cluster->fabric.line_rate_ratio);
    const double inside =
        members > 1.0
            ? sl_links_ring_bytes_per_s(&cluster->accelerator, members) * members / (members - 1.0)
            : HUGE_VAL;
    const bool reduces = kind == SL_COLLECTIVE_ALL_REDUCE;
    const route r = {
        .cluster = cluster,
        .group = group,
        .reduces = reduces,
        .bytes = bytes,
        .carried_s = carried(cluster, members, bytes) * sl_links_rounds(kind) *
                     (group->ranks - 1.0) / group->ranks,
        .rate_bytes_per_s = fmin(network, inside),
        .latency_ratio = cluster->fabric.latency_ratio,
    };
    double best_s = rings_s(&r);

    assert(network > 0.0); /* sl_question_check refuses nodes without cards */
    if (!cluster->fabric.ring_only && reduces)
        best_s = fmin(best_s, fmin(trees_s(&r), switched_s(&r, root_ratio(group) * network)));
    else if (!cluster->fabric.ring_only && group->ranks == group->nodes)
        best_s = fmin(best_s, pat_s(&r));
    return best_s * (1.0 + cluster->excess.network_ratio);
}

double
sl_network_pair_s(const sl_cluster *cluster, double bytes)
{
    const sl_fabric *fabric = &cluster->fabric;
    const double rate = cards_bytes_per_s(cluster, 1.0, fabric->pair_rate_ratio);

    return (fabric->latency_ratio * pair_us * SL_US_S + carried(cluster, 1.0, bytes) / rate) *
           (1.0 + cluster->excess.network_ratio);
}

double
sl_network_exchange_s(const sl_cluster *cluster, const sl_group *group, double peers, double bytes)
{
    const sl_fabric *fabric = &cluster->fabric;
    const sl_protocol *simple = &sl_protocol_rings[SL_PROTOCOL_SIMPLE];
    const double members = group->members_per_node;
    const double own = cards_bytes_per_s(cluster, 1.0, fabric->line_rate_ratio);
    const double outside_s =
        carried(cluster, 1.0, bytes) * (group->nodes - 1.0) / group->nodes / own;
    const double inside_s = members > 1.0
                                ? bytes * (members - 1.0) / group->ranks /
                                      sl_links_ring_bytes_per_s(&cluster->accelerator, members)
                                : 0.0;
    const double posted_s = simple->posts * sl_protocol_post_s(cluster->amd_host);

    return (fabric->latency_ratio * pair_us * SL_US_S + fmax(0.0, peers - 1.0) * posted_s +
            fmax(outside_s, inside_s)) *
           (1.0 + cluster->excess.network_ratio);
}
