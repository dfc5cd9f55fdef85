/** Which devices of a node reach one another over links: the groups that pairs make. */
#ifndef SL_INTAKE_REACH_H
#define SL_INTAKE_REACH_H

#include <stdbool.h>
#include <stdint.h>

enum { SL_REACH_MAX = 256 };

/** Set count, and zero the rest; count <= SL_REACH_MAX. */
typedef struct sl_reach {
    uint32_t count;
    bool joined[SL_REACH_MAX];     /* it is in a pair */
    uint32_t parent[SL_REACH_MAX]; /* one more than the device it hangs on; 0: on none */
} sl_reach;

void sl_reach_join(sl_reach *reach, uint32_t a, uint32_t b);

/** Devices of the smallest group of two or more; 0: no pair. *uneven: another group is larger, or a
 * device is in none. */
uint32_t sl_reach_smallest(const sl_reach *reach, bool *uneven);

#endif
