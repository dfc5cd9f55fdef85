/** Time for deadlines and logs. The engine never includes this. */
#ifndef SL_BASE_CLOCK_H
#define SL_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/** Seconds on a clock that never jumps. */
double sl_clock_now_s(void);

/** Absolute CLOCK_MONOTONIC time `s` seconds from now, for condition variables. */
struct timespec sl_clock_after(double s);

/** A condition whose waits end at such times. False where the system has no room for it. */
bool sl_clock_condition(pthread_cond_t *condition);

#endif
