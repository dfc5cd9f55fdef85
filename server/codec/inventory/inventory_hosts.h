/** The hosts of an inventory's pools: as many as nodes, each named once in all of it. */
#ifndef SL_CODEC_INVENTORY_HOSTS_H
#define SL_CODEC_INVENTORY_HOSTS_H

#include "base/index.h"
#include "codec/inventory/hosts.h"
#include "json/reader.h"

/** Names of one inventory. Zero-initialise; clear. */
typedef struct sl_host_names {
    sl_index index; /* known by hash alone, in an arena of its own */
} sl_host_names;

void sl_host_names_clear(sl_host_names *names);

/**
 * The "hosts" of a pool of so many nodes; none is fine. SL_E_RANGE at the entry: malformed_hosts,
 * duplicate_host (in this pool or one checked before); at the list: wrong_type, out_of_range,
 * inconsistent (another number than nodes), too_many (over SL_HOSTS_MAX in all pools). SL_E_MEMORY.
 */
sl_code sl_hosts_check(const sl_node *pool, uint64_t nodes, sl_host_names *names,
                       sl_errors *err) SL_MUST_CHECK;

#endif
