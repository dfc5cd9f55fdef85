/**
 * What an inventory says it has, joined with what its sources observed. Per host and fact the most
 * recent word counts; what is stale does not count at all.
 *
 * A host of the spec is usable unless it is drained, down or missing. Missing is whom no source
 * names, where a source that lists hosts is there. A pool without host names is compared by
 * numbers: the hosts that sources list and no pool names are its own, when it is the only such pool
 * or the only one with their accelerator.
 */
#ifndef SL_CODEC_HOST_STATUS_H
#define SL_CODEC_HOST_STATUS_H

#include "base/arena.h"
#include "codec/inventory/inventory.h"
#include "codec/inventory/observed.h"
#include "json/writer.h"

/** The word of one source. Borrowed texts. */
typedef struct sl_observation {
    const char *source;
    const char *format;
    const char *observed_at; /* RFC 3339 in UTC to the millisecond: they order as text */
    uint64_t stale_after_s;
    bool stale;
    uint64_t hosts;
    const char *facts; /* JSON, see observed.h */
} sl_observation;

/** A pool, for whoever plans on it. */
typedef struct sl_pool_hosts {
    const char *name;
    uint64_t nodes;
    uint64_t usable;
    const char *left_out; /* "node gpu017 is drained: 31 of 32 nodes are usable"; NULL: none is */
} sl_pool_hosts;

typedef struct sl_host_status sl_host_status;

/**
 * Joins them, in the arena. spec: passed its check, and may go afterwards, as may its hardware; the
 * observations must outlive the result. SL_E_MEMORY; SL_E_INTERNAL for facts that are none of ours.
 */
sl_code sl_host_status_join(const sl_node *spec, const sl_inventory_hardware *hardware,
                            const sl_catalog *catalog, const sl_observation *observations,
                            uint32_t count, sl_arena *arena, sl_host_status **out,
                            sl_errors *err) SL_MUST_CHECK;

/** The pool of that name, the only one where it is NULL; NULL: there is none. */
const sl_pool_hosts *sl_host_status_pool(const sl_host_status *status, const char *name);

/** Whether a host is left out or not as the others of its pool, a source contradicts the spec, or a
 * pool's part is not known. */
bool sl_host_status_wrong(const sl_host_status *status);

/** The `hosts` object of an inventory's status. */
sl_code sl_host_status_write(sl_writer *writer, const sl_host_status *status, sl_arena *arena,
                             sl_errors *err) SL_MUST_CHECK;

#endif
