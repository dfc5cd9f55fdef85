/** Moments in time as RFC 3339 writes them. */
#ifndef SL_BASE_INSTANT_H
#define SL_BASE_INSTANT_H

#include <stdbool.h>

/** Seconds since 1970 on the clock that people read. */
double sl_instant_now_s(void);

/** "2026-01-31T12:00:00.5+01:00", with an offset or Z. False where it is none, or not in 1970 to
 * 9999;
 * *out_s is then untouched. A leap second is the one after it. */
bool sl_instant_read(const char *text, double *out_s);

enum { SL_INSTANT_SIZE = 32 };

/** In UTC to the millisecond, as the database writes them. instant_s: from 1970 to 9999. */
void sl_instant_write(double instant_s, char out[SL_INSTANT_SIZE]);

#endif
