/** Durations, counted by how long they were; for any number of threads. */
#ifndef SL_HTTP_HISTOGRAM_H
#define SL_HTTP_HISTOGRAM_H

#include <stdatomic.h>

#include "http/exposition.h"

enum { SL_HISTOGRAM_BOUNDS = 19 };

/** Zero at first. */
typedef struct sl_histogram {
    atomic_uint_fast64_t within[SL_HISTOGRAM_BOUNDS + 1]; /* not cumulative; the last: above all */
    atomic_uint_fast64_t sum_ns;
} sl_histogram;

void sl_histogram_count(sl_histogram *histogram, double duration_s);

/** Its samples, under the family `name` that is open; nothing while nothing was counted. The family
 * says seconds. */
void sl_histogram_write(const sl_histogram *histogram, const char *name, const sl_pair *label,
                        sl_buffer *out);

#endif
