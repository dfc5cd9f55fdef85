/** Time for deadlines and logs. The engine never includes this. */
#ifndef SL_BASE_CLOCK_H
#define SL_BASE_CLOCK_H

#include <time.h>

/** Seconds on a clock that never jumps. */
double sl_clock_now_s(void);

/** Absolute CLOCK_MONOTONIC time `s` seconds from now, for condition variables. */
struct timespec sl_clock_after(double s);

#endif
