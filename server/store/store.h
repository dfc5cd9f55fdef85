/**
 * All that is kept: PostgreSQL through libpq. One sl_store per thread (one connection); it connects
 * lazily, reconnects by itself with a backoff, and prepares its statements per connection. No
 * database configured or reachable: SL_E_UNAVAILABLE with rule database_not_configured or
 * database_unavailable.
 */
#ifndef SL_STORE_STORE_H
#define SL_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "shardline/error.h"

typedef struct sl_store sl_store;

/** url: libpq URL or keyword string, "" = none; borrowed. NULL only when the heap is exhausted. */
sl_store *sl_store_new(const char *url) SL_MUST_CHECK;
void sl_store_free(sl_store *store);

/**
 * Applies the embedded migrations that are missing: one advisory lock, one transaction per file, a
 * checksum per applied file. rule migration_changed when an applied file differs, migration_unknown
 * when the database is ahead (allowed: old replicas run beside new ones, so this is logged, not an
 * error).
 */
sl_code sl_store_migrate(sl_store *store, sl_errors *err) SL_MUST_CHECK;

/** SL_OK when the database answers and its schema is current. */
sl_code sl_store_ready(sl_store *store, sl_errors *err) SL_MUST_CHECK;

#endif
