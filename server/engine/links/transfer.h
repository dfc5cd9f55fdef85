/** Collectives over one group of data ranks, of which a step asks more than once. */
#ifndef SL_ENGINE_TRANSFER_H
#define SL_ENGINE_TRANSFER_H

#include <assert.h>

#include "engine/links/network.h"

typedef struct sl_transfer {
    const sl_cluster *cluster; /* borrowed */
    sl_group group;
    bool reduces; /* all-reduces; else all-gathers and reduce-scatters, which take the same ways */
    sl_crossing crossing; /* across nodes; else not set */
} sl_transfer;

void sl_transfer_prepare(const sl_cluster *cluster, const sl_group *group, bool reduces,
                         sl_transfer *out);

/** What sl_collective_s says of one of the kinds that it was prepared for. */
static inline double
sl_transfer_s(const sl_transfer *transfer, sl_collective kind, double bytes)
{
    assert(transfer->reduces
               ? kind == SL_COLLECTIVE_ALL_REDUCE
               : kind == SL_COLLECTIVE_ALL_GATHER || kind == SL_COLLECTIVE_REDUCE_SCATTER);
    if (transfer->group.ranks <= 1.0 || bytes <= 0.0)
        return 0.0;
    if (transfer->group.level == SL_LEVEL_NETWORK)
        return sl_network_crossed_s(&transfer->crossing, bytes);
    return sl_collective_s(transfer->cluster, kind, &transfer->group, bytes);
}

#endif
