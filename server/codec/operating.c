#include "codec/operating.h"

#include <stddef.h>

#include "json/members.h"

/* One table reads, completes and writes them. */
static const struct field {
    const char *name;
    size_t offset;
    double least, most, usual;
} fields[] = {
    {"failures_per_node_day", offsetof(sl_operating, failures_per_node_day), 0.0, 100.0, 0.0038},
    {"restart_s", offsetof(sl_operating, restart_s), 0.0, 1e6, 600.0},
    {"checkpoint_bytes_per_s", offsetof(sl_operating, checkpoint_bytes_per_s), 1.0, 1e15, 2e9},
    {"checkpoint_interval_s", offsetof(sl_operating, checkpoint_interval_s), 0.0, 1e8, 0.0},
    {"idle_power_ratio", offsetof(sl_operating, idle_power_ratio), 0.0, 1.0, 0.1},
    {"load_ratio", offsetof(sl_operating, load_ratio), 0.0, 1.0, 0.9},
    {"node_power_ratio", offsetof(sl_operating, node_power_ratio), 1.0, 10.0, 1.7},
    {"pue_ratio", offsetof(sl_operating, pue_ratio), 1.0, 10.0, 1.2},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };
_Static_assert(FIELDS * sizeof(double) == sizeof(sl_operating), "a field for each figure");

static double *
field_of(sl_operating *operation, const struct field *field)
{
    return (double *)(void *)((char *)operation + field->offset);
}

sl_code
sl_operating_read(const sl_node *cluster, sl_pool *pool, sl_errors *warnings, sl_errors *err)
{
    sl_member members[FIELDS];
    sl_node object;

    if (!sl_node_member(cluster, "operation", &object))
        return SL_OK;
    sl_code first = sl_node_object(&object, err);
    if (first != SL_OK)
        return first;
    for (uint32_t i = 0; i < FIELDS; i++) {
        bool said = false;
        members[i] = (sl_member){fields[i].name, NULL};
        sl_keep(&first, sl_node_double(&object, fields[i].name, fields[i].least, fields[i].most,
                                       field_of(&pool->operation, &fields[i]), &said, err));
        if (said)
            pool->operation_said |= 1U << i;
    }
    sl_keep(&first, sl_members_check(&object, members, FIELDS, warnings, err));
    return first;
}

sl_operating
sl_operating_of(const sl_pool *pool, sl_notes *notes)
{
    sl_operating operation = pool->operation;

    for (uint32_t i = 0; i < FIELDS; i++)
        if ((pool->operation_said >> i & 1) == 0)
            *field_of(&operation, &fields[i]) = fields[i].usual;
    if (pool->operation_said == 0)
        sl_notes_add(
            notes, "operation_assumed", false,
            "failures, checkpoints, power and its overhead were not given: the usual ones, "
            "resolved.cluster.operation");
    return operation;
}

void
sl_operating_write(sl_writer *writer, const sl_operating *operation)
{
    sl_operating shown = *operation;

    sl_write_key(writer, "operation");
    sl_write_object(writer);
    for (uint32_t i = 0; i < FIELDS; i++)
        sl_put_double(writer, fields[i].name, *field_of(&shown, &fields[i]));
    sl_write_object_end(writer);
}
