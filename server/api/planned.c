#include "api/planned.h"

#include <assert.h>

#include "http/histogram.h"

static const char *const names[] = {
    [SL_PLANNED_ESTIMATE] = "estimate", [SL_PLANNED_CHOICES] = "choices",
    [SL_PLANNED_SHARDING] = "sharding", [SL_PLANNED_TIMELINE] = "timeline",
    [SL_PLANNED_TRACE] = "trace",       [SL_PLANNED_COMPARISON] = "comparison",
    [SL_PLANNED_LIMITS] = "limits",     [SL_PLANNED_LIMITS_CLUSTERS] = "limits_clusters",
    [SL_PLANNED_SEARCH] = "search",
};
_Static_assert(sizeof names / sizeof names[0] == SL_PLANNED_KINDS, "every kind has a name");

static sl_histogram durations[SL_PLANNED_KINDS];

void
sl_planned_count(sl_planned kind, double duration_s)
{
    assert(kind < SL_PLANNED_KINDS);
    sl_histogram_count(&durations[kind], duration_s);
}

void
sl_planned_write_metrics(sl_buffer *out)
{
    static const char family[] = "shardline_plan_duration_seconds";

    sl_exposition_family(
        out, family, "histogram",
        "Time to work out answers once all that they are about was here; problems do not count.");
    for (uint32_t i = 0; i < SL_PLANNED_KINDS; i++)
        sl_histogram_write(&durations[i], family, &(sl_pair){"kind", names[i]}, out);
}
