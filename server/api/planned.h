/** How long questions take to be answered, by their kind, from the moment that all they name is
 * here; a search from its first piece on. Problems do not count. Of the process. */
#ifndef SL_API_PLANNED_H
#define SL_API_PLANNED_H

#include "base/buffer.h"

typedef enum sl_planned {
    SL_PLANNED_ESTIMATE, /* those of a batch and of saved plans among them */
    SL_PLANNED_CHOICES,
    SL_PLANNED_SHARDING,
    SL_PLANNED_TIMELINE,
    SL_PLANNED_TRACE,
    SL_PLANNED_COMPARISON,
    SL_PLANNED_LIMITS,
    SL_PLANNED_LIMITS_CLUSTERS,
    SL_PLANNED_SEARCH,
    SL_PLANNED_KINDS
} sl_planned;

void sl_planned_count(sl_planned kind, double duration_s);

/** The family shardline_plan_duration_seconds. */
void sl_planned_write_metrics(sl_buffer *out);

#endif
