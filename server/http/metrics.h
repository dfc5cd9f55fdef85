/**
 * Counters of requests, by route, method and status. Each is an atomic of its own in a table sized
 * from the route table at the start, so that counting takes no lock and what clients send can never
 * add a series.
 */
#ifndef SL_HTTP_METRICS_H
#define SL_HTTP_METRICS_H

#include "http/server.h"

/** Methods by which requests are told apart in logs and metrics; the last stands for any other. */
enum { SL_METHOD_LABEL_COUNT = 8 };
extern const char *const sl_method_labels[SL_METHOD_LABEL_COUNT];

uint32_t sl_method_label(const char *method);

typedef struct sl_metrics sl_metrics;

/** routes is borrowed. NULL without memory. */
sl_metrics *sl_metrics_new(const sl_route *routes, size_t route_count) SL_MUST_CHECK;
void sl_metrics_free(sl_metrics *metrics); /* NULL is fine */

/**
 * Counts a request that ended. route_name: the pattern of a route of the table, that very pointer;
 * another name is that of a static file, NULL that of nothing. status 0: no answer could be given.
 */
void sl_metrics_count(sl_metrics *metrics, const char *route_name, uint32_t method_label,
                      uint32_t status, double duration_s);

/** Writes the families of requests and their durations; what never came has no sample. */
void sl_metrics_write(const sl_metrics *metrics, sl_buffer *out);

/** Writes what the system says of this process, what it does not say left out; start_time_ns since
 * 1970. */
void sl_metrics_write_process(uint64_t start_time_ns, sl_buffer *out);

#endif
