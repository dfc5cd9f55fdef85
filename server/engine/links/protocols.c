#include "engine/links/protocols.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "shardline/units.h"

const sl_protocol sl_protocol_rings[SL_PROTOCOL_COUNT] = {
    [SL_PROTOCOL_LL] = {6.6 * SL_US_S, 0.6 * SL_US_S, 2.7 * SL_US_S, 0.5, 1.0},
    [SL_PROTOCOL_LL128] = {14.0 * SL_US_S, 1.9 * SL_US_S, 4.0 * SL_US_S, 0.92, 1.0},
    [SL_PROTOCOL_SIMPLE] = {8.4 * SL_US_S, 3.4 * SL_US_S, 14.0 * SL_US_S, 1.0, 3.0},
};

/* 0.92 of a ring, of which LL keeps 1 / 3.8 and LL128 120 / 128. */
const sl_protocol sl_protocol_trees[SL_PROTOCOL_COUNT] = {
    [SL_PROTOCOL_LL] = {6.8 * SL_US_S, 0.6 * SL_US_S, 5.0 * SL_US_S, 0.92 / 3.8, 0.0},
    [SL_PROTOCOL_LL128] = {14.0 * SL_US_S, 1.25 * SL_US_S, 8.5 * SL_US_S, 0.92 * 0.9375, 0.0},
    [SL_PROTOCOL_SIMPLE] = {8.4 * SL_US_S, 4.0 * SL_US_S, 14.0 * SL_US_S, 0.92, 0.0},
};

const sl_protocol sl_protocol_switched = {0.0, 25.0 * SL_US_S, 20.9 * SL_US_S, 1.0, 0.0};
const sl_protocol sl_protocol_pat = {8.0 * SL_US_S, 0.0, 4.0 * SL_US_S, 0.75,
                                     0.0}; /* 14 us / 3.5 */
const double sl_protocol_pat_rank_s = 2.8 * SL_US_S;

double
sl_protocol_post_s(bool amd_host)
{
    return (amd_host ? 2.0 : 1.0) * SL_US_S;
}

double
sl_protocol_low_latency_bytes_per_s(bool amd_host, double nodes)
{
    static const double bytes_per_s[2][2] = {{39.0e9, 20.4e9}, {22.5e9, 19.0e9}};

    return bytes_per_s[amd_host][nodes > 2.0];
}

double
sl_protocol_tree_ratio(sl_protocol_kind protocol, double bytes)
{
    static const double ratios[SL_PROTOCOL_COUNT][25] = {
        [SL_PROTOCOL_LL] = {1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4,
                            0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0},
        [SL_PROTOCOL_LL128] = {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6,
                               0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0, 1.0},
        [SL_PROTOCOL_SIMPLE] = {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5,
                                0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9, 1.0},
    };
    int power = 0;

    assert(bytes > 0.0);
    const double along = 2.0 * frexp(bytes / 64.0, &power) - 1.0;
    if (power < 1)
        return ratios[protocol][0];
    if (power > 24)
        return ratios[protocol][24];
    const double *at = &ratios[protocol][power - 1];
    return at[0] + (at[1] - at[0]) * along;
}
