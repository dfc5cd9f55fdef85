/** What became different between two specs of one inventory: hosts by name, fields by meaning. */
#ifndef SL_CODEC_INVENTORY_DIFF_H
#define SL_CODEC_INVENTORY_DIFF_H

#include "base/arena.h"
#include "json/reader.h"
#include "json/writer.h"

/**
 * Writes the members "hosts", "changes" and "summary" into an open object. before: NULL where there
 * was nothing yet; both passed their check when they were stored.
 *
 * Pools are matched by name, so that one that was renamed is one that went and one that came, its
 * hosts having moved. null counts as absent, as everywhere. "hosts" is null where either spec lists
 * more than SL_HOSTS_MAX of them. Pointers lead into the later spec, and of what was removed into
 * the earlier one. SL_E_MEMORY past the arena's limit; the writer is then spoilt.
 */
sl_code sl_inventory_diff_write(sl_writer *writer, const sl_node *before, const sl_node *after,
                                sl_arena *arena, sl_errors *err) SL_MUST_CHECK;

#endif
