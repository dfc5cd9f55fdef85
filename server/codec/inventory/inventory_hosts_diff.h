/** The hosts of two specs, compared by name. Of inventory_diff.c. */
#ifndef SL_CODEC_INVENTORY_HOSTS_DIFF_H
#define SL_CODEC_INVENTORY_HOSTS_DIFF_H

#include "base/arena.h"
#include "json/reader.h"
#include "json/writer.h"

typedef struct sl_hosts_diff {
    bool compared; /* false: there are too many */
    uint64_t added, removed, moved;
} sl_hosts_diff;

/** Writes the value of "hosts"; before: NULL where there was nothing yet. */
sl_code sl_hosts_diff_write(sl_writer *writer, const sl_node *before, const sl_node *after,
                            sl_arena *arena, sl_hosts_diff *out, sl_errors *err) SL_MUST_CHECK;

/** Whether two lists of entries name the same hosts. False where either is too long. */
sl_code sl_hosts_same(const sl_node *before, const sl_node *after, sl_arena *arena, bool *same,
                      sl_errors *err) SL_MUST_CHECK;

#endif
