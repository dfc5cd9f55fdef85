#include "codec/question/operating.h"

#include <stddef.h>

#include "codec/question/figures.h"

#define FIELD(name, least, most)                                                                   \
    {                                                                                              \
#name, offsetof(sl_operating, name), least, most                                           \
    }

static const sl_figure_field fields[] = {
    FIELD(speed_sigma_ratio, 0.0, 0.2),
    FIELD(failures_per_node_day, 0.0, 100.0),
    FIELD(restart_s, 0.0, 1e6),
    FIELD(checkpoint_bytes_per_s, 1.0, 1e15),
    FIELD(checkpoint_interval_s, 0.0, 1e8),
    FIELD(idle_power_ratio, 0.0, 1.0),
    FIELD(load_ratio, 0.0, 1.0),
    FIELD(node_power_ratio, 1.0, 10.0),
    FIELD(pue_ratio, 1.0, 10.0),
};
enum { FIELDS = sizeof fields / sizeof fields[0] };
static const uint32_t speed_bit = 1; /* of those said: the first field */
_Static_assert(offsetof(sl_operating, speed_sigma_ratio) == 0, "the first field");
_Static_assert(FIELDS * sizeof(double) == sizeof(sl_operating), "a field for each figure");

/* Sources: operating.h. */
static const sl_operating usual = {
    .speed_sigma_ratio = 0.02,
    .failures_per_node_day = 0.0038,
    .restart_s = 600.0,
    .checkpoint_bytes_per_s = 2e9,
    .checkpoint_interval_s = 0.0,
    .idle_power_ratio = 0.1,
    .load_ratio = 0.9,
    .node_power_ratio = 1.7,
    .pue_ratio = 1.2,
};

sl_code
sl_operating_read(const sl_node *cluster, sl_pool *pool, sl_errors *warnings, sl_errors *err)
{
    sl_node object;

    if (!sl_node_member(cluster, "operation", &object))
        return SL_OK;
    return sl_figures_read(&object, fields, FIELDS, &pool->operation, &pool->operation_said,
                           warnings, err);
}

/* Of the run, whatever pools it is on. */
static void
note_assumed(uint32_t said, sl_notes *notes)
{
    const char *const of = notes->pool;

    notes->pool = NULL;
    if ((said & speed_bit) == 0)
        sl_notes_add(
            notes, "speeds_assumed", false,
            "how alike the accelerators are was not given, and a step waits for the slowest: "
            "resolved.cluster.operation.speed_sigma_ratio is the usual spread of their speeds, "
            "and the interval allows for less and more");
    if ((said & ~speed_bit) == 0)
        sl_notes_add(
            notes, "operation_assumed", false,
            "failures, checkpoints, power and its overhead were not given: the usual ones, "
            "resolved.cluster.operation");
    notes->pool = of;
}

sl_operating
sl_operating_of(const sl_pool *pool, sl_notes *notes)
{
    sl_operating operation = usual;

    sl_figures_copy(fields, FIELDS, pool->operation_said, &pool->operation, &operation);
    if (notes != NULL)
        note_assumed(pool->operation_said, notes);
    return operation;
}

void
sl_operating_write(sl_writer *writer, const sl_operating *operation)
{
    sl_figures_write(writer, "operation", fields, FIELDS, operation);
}
