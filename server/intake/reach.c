#include "intake/reach.h"

#include <assert.h>
#include <stddef.h>

static uint32_t
root_of(const sl_reach *reach, uint32_t device)
{
    while (reach->parent[device] > 0)
        device = reach->parent[device] - 1;
    return device;
}

void
sl_reach_join(sl_reach *reach, uint32_t a, uint32_t b)
{
    assert(reach != NULL && a < reach->count && b < reach->count);
    assert(reach->count <= SL_REACH_MAX);

    const uint32_t from = root_of(reach, a);
    const uint32_t to = root_of(reach, b);
    if (a == b)
        return;
    reach->joined[a] = true;
    reach->joined[b] = true;
    if (from != to)
        reach->parent[from] = to + 1;
}

uint32_t
sl_reach_smallest(const sl_reach *reach, bool *uneven)
{
    assert(reach != NULL && uneven != NULL);

    uint32_t sizes[SL_REACH_MAX] = {0};
    uint32_t smallest = 0;
    bool alone = false;
    bool differ = false;
    for (uint32_t i = 0; i < reach->count; i++)
        sizes[root_of(reach, i)]++;
    for (uint32_t i = 0; i < reach->count; i++) {
        alone = alone || !reach->joined[i];
        if (sizes[i] < 2)
            continue;
        differ = differ || (smallest > 0 && sizes[i] != smallest);
        smallest = smallest == 0 || sizes[i] < smallest ? sizes[i] : smallest;
    }
    *uneven = smallest > 0 && (alone || differ);
    return smallest;
}
