/** Bounded lanes of workers: a queue and its threads each, so that one dead backend starves
 * none. */
#ifndef SL_HTTP_LANES_H
#define SL_HTTP_LANES_H

#include "http/server.h"

typedef struct sl_lanes sl_lanes;

/** Runs one job on a worker; `worker` is the thread's context of the lane. */
typedef void (*sl_job_runner)(void *job, void *worker);

/** NULL when a thread or memory could not be had. config must outlive the lanes. */
sl_lanes *sl_lanes_start(const sl_server_config *config, sl_job_runner run) SL_MUST_CHECK;

/** False when the lane is full, has no thread or is stopping; the job stays the caller's. */
bool sl_lanes_push(sl_lanes *lanes, sl_lane lane, void *job) SL_MUST_CHECK;

/** Writes how many jobs wait in each lane, and how many found no place so far. */
void sl_lanes_write_metrics(const sl_lanes *lanes, sl_buffer *out);

/** Lets the workers take what is queued, joins them and frees everything. NULL is fine. */
void sl_lanes_stop(sl_lanes *lanes);

#endif
