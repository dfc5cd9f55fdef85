#include "engine/links/transfer.h"

void
sl_transfer_prepare(const sl_cluster *cluster, const sl_group *group, bool reduces,
                    sl_transfer *out)
{
    out->cluster = cluster;
    out->group = *group;
    out->reduces = reduces;
    if (group->ranks > 1.0 && group->level == SL_LEVEL_NETWORK)
        sl_network_cross(cluster, reduces ? SL_COLLECTIVE_ALL_REDUCE : SL_COLLECTIVE_ALL_GATHER,
                         group, &out->crossing);
}
