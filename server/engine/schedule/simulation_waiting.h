/** Who waits for a task: its end says so until it has ended, which spares a place in memory for
 * each. */
#ifndef SL_ENGINE_SIMULATION_WAITING_H
#define SL_ENGINE_SIMULATION_WAITING_H

#include <stdint.h>

/** No lane. */
#define SL_LANE_NONE UINT32_MAX

/** The end [s] of a task that has not ended, below 0: `lane` is the first that waits for it, if
 * any. */
static inline double
sl_end_awaited_by(uint32_t lane)
{
    return lane == SL_LANE_NONE ? -1.0 : -2.0 - lane;
}

/** The lane that such an end tells. */
static inline uint32_t
sl_first_waiting(double end_s)
{
    return end_s == -1.0 ? SL_LANE_NONE : (uint32_t)(-2.0 - end_s);
}

#endif
