#include "engine/links/links.h"

#include <assert.h>
#include <math.h>

#include "engine/extremes.h"
#include "engine/links/protocols.h"
#include "shardline/units.h"

static const double host_step_us = 5.7; /* NCCL, ring and Simple over PCIe */

/* Ring all-gather against the unidirectional link rate of NVLink parts (ml-engineering, H200). */
static const double ring_link_ratio = 0.81;
/* Bus bandwidth of PCIe boxes against the link: 24 of 31 GB/s, 48 of 63 (NVIDIA, NCCL slides). */
static const double host_link_ratio = 0.77;

static const double sizes[SL_COLLECTIVE_SIZES] = {2.0, 4.0, 8.0, 72.0};
static const double most_measured = 8.0; /* of every part with laws */

double
sl_links_rounds(sl_collective kind)
{
    return kind == SL_COLLECTIVE_ALL_REDUCE ? 2.0 : 1.0;
}

/* A message has two ends, whatever group they are of. */
static double
group_of(sl_collective kind, double n)
{
    return kind == SL_COLLECTIVE_SEND_RECEIVE ? 2.0 : n;
}

static double
bus_factor(sl_collective kind, double n)
{
    return kind == SL_COLLECTIVE_SEND_RECEIVE ? 1.0 : sl_links_rounds(kind) * (n - 1.0) / n;
}

static sl_collective_law
law_between(const sl_collective_law *below, const sl_collective_law *above, double along)
{
    const double beside = 1.0 - along;

    return (sl_collective_law){
        .latency_s = beside * below->latency_s + along * above->latency_s,
        .bus_bytes_per_s = 1.0 / (beside / below->bus_bytes_per_s + along / above->bus_bytes_per_s),
        .ramp_s_per_sqrt_byte =
            beside * below->ramp_s_per_sqrt_byte + along * above->ramp_s_per_sqrt_byte,
    };
}

double
sl_links_shared_ratio(const sl_accelerator *part, double members)
{
    const double pairs = (members - 1.0) * part->scale_up_pair_bytes_per_s;

    return pairs <= 0.0 || pairs >= part->scale_up_bytes_per_s ? 1.0
                                                               : pairs / part->scale_up_bytes_per_s;
}

static bool
over_switch(const sl_accelerator *part)
{
    return sl_links_shared_ratio(part, 2.0) >= 1.0;
}

/* What a ring gets through the links of a group of n when nobody measured one. */
static double
link_bytes_per_s(const sl_accelerator *part, sl_level level, double n)
{
    return level == SL_LEVEL_SCALE_UP
               ? ring_link_ratio * part->scale_up_bytes_per_s * sl_links_shared_ratio(part, n)
               : host_link_ratio * part->host_bytes_per_s;
}

/* The law of a group of n over a switch, at this level, and the size it holds for: n, or the
 * largest there is. None: a rate of 0. */
static sl_collective_law
law_over_switch(const sl_accelerator *part, sl_level level, sl_collective kind, double n,
                double *size)
{
    const sl_collective_law *laws = part->collective[kind];
    uint32_t at = 0;

    *size = n;
    if (part->host_collectives != (level == SL_LEVEL_HOST))
        return (sl_collective_law){0};
    if (kind == SL_COLLECTIVE_SEND_RECEIVE)
        return laws[0];
    while (at + 1 < SL_COLLECTIVE_SIZES && sizes[at] < n && laws[at + 1].bus_bytes_per_s > 0.0)
        at++;
    if (sizes[at] < n)
        *size = sizes[at];
    if (sizes[at] <= n || at == 0 || level == SL_LEVEL_HOST)
        return laws[at];

    const double reducing = part->reducing_ranks;
    if (kind != SL_COLLECTIVE_ALL_REDUCE || reducing <= 0.0 || sizes[at] != most_measured)
        return law_between(&laws[at - 1], &laws[at],
                           (n - sizes[at - 1]) / (sizes[at] - sizes[at - 1]));
    if (n < reducing)
        return laws[at - 1];
    sl_collective_law switched = laws[at];
    switched.bus_bytes_per_s *= 9.0 / 7.0 * (n - 1.0) / (n + 1.0);
    return switched;
}

/* The same over the links that the group has. */
static sl_collective_law
law_of(const sl_accelerator *part, sl_level level, sl_collective kind, double n, double *size)
{
    sl_collective_law law = law_over_switch(part, level, kind, n, size);

    if (level == SL_LEVEL_SCALE_UP && law.bus_bytes_per_s > 0.0 && !over_switch(part))
        law.bus_bytes_per_s =
            sl_smaller(law.bus_bytes_per_s, link_bytes_per_s(part, level, group_of(kind, n)));
    return law;
}

static double
law_rate(const sl_accelerator *part, sl_level level, sl_collective kind, double n)
{
    double size = 0.0;

    return law_of(part, level, kind, n, &size).bus_bytes_per_s;
}

double
sl_links_host_s(const sl_accelerator *part, double bytes)
{
    return bytes / (host_link_ratio * part->host_bytes_per_s);
}

static bool
level_known(const sl_accelerator *part, sl_level level)
{
    return link_bytes_per_s(part, level, 2.0) > 0.0 ||
           (law_rate(part, level, SL_COLLECTIVE_ALL_GATHER, 8.0) > 0.0 &&
            law_rate(part, level, SL_COLLECTIVE_SEND_RECEIVE, 2.0) > 0.0);
}

bool
sl_links_known(const sl_cluster *cluster)
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

/* What a ring takes beyond its law for as many more steps. */
static double
further_s(double steps, double moved_s)
{
    double best_s = HUGE_VAL;

    for (uint32_t i = 0; i < SL_PROTOCOL_COUNT; i++) {
        const sl_protocol *p = &sl_protocol_rings[i];
        best_s = sl_smaller(best_s, steps * p->node_step_s + (1.0 / p->rate_ratio - 1.0) * moved_s);
    }
    return best_s;
}

double
sl_links_s(const sl_cluster *cluster, sl_level level, sl_collective kind, double n, double bytes)
{
    const sl_accelerator *part = &cluster->accelerator;
    const double moved = bytes * bus_factor(kind, n);
    double size = 0.0;
    sl_collective_law law = law_of(part, level, kind, n, &size);

    /* An all-to-all that nobody measured moves what an all-gather does. */
    if (kind == SL_COLLECTIVE_ALL_TO_ALL && law.bus_bytes_per_s <= 0.0)
        law = law_of(part, level, SL_COLLECTIVE_ALL_GATHER, n, &size);
    if (law.bus_bytes_per_s > 0.0) {
        const double moved_s = moved / law.bus_bytes_per_s;
        double time_s = law.latency_s + moved_s + law.ramp_s_per_sqrt_byte * sqrt(moved);
        if (n > size)
            time_s += kind == SL_COLLECTIVE_ALL_TO_ALL
                          ? (n - size) * sl_protocol_rings[SL_PROTOCOL_LL].node_step_s
                          : further_s(sl_links_rounds(kind) * (n - size), moved_s);
        return n > most_measured ? time_s * (1.0 + cluster->excess.wide_ratio) : time_s;
    }

    const sl_protocol *simple = &sl_protocol_rings[SL_PROTOCOL_SIMPLE];
    const double step_s = level == SL_LEVEL_SCALE_UP ? simple->node_step_s : host_step_us * SL_US_S;
    const double bandwidth = link_bytes_per_s(part, level, group_of(kind, n));
    assert(bandwidth > 0.0); /* sl_question_check refuses a node whose links are not known */
    return simple->base_s + sl_links_rounds(kind) * (n - 1.0) * step_s + moved / bandwidth;
}

static sl_level
level_of(const sl_accelerator *part, double members)
{
    return members <= part->scale_up_domain ? SL_LEVEL_SCALE_UP : SL_LEVEL_HOST;
}

double
sl_links_ring_bytes_per_s(const sl_accelerator *part, double members)
{
    const sl_level level = level_of(part, members);
    const double rate = law_rate(part, level, SL_COLLECTIVE_ALL_GATHER, members);

    return rate > 0.0 ? rate : link_bytes_per_s(part, level, members);
}

double
sl_links_switch_bytes_per_s(const sl_accelerator *part, double members)
{
    if (part->reducing_ranks == 0 || !over_switch(part) ||
        level_of(part, members) != SL_LEVEL_SCALE_UP)
        return 0.0;
    return law_rate(part, SL_LEVEL_SCALE_UP, SL_COLLECTIVE_ALL_REDUCE, members);
}
