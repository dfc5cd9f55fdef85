/**
 * All that is kept: PostgreSQL through libpq. One sl_store per thread (one connection); it connects
 * lazily, reconnects by itself with a backoff, and prepares its statements per connection. No
 * database configured or reachable: SL_E_UNAVAILABLE with rule database_not_configured or
 * database_unavailable.
 *
 * A database may also stand still: connected, and silent. Answers are waited for with a bound, but
 * for those to the text of a migration; to connect has libpq's own (connection.h), and to resolve a
 * name that of the system. Who does not get an answer by the deadline gets SL_E_TIMEOUT, rule database_timeout, and nothing
 * was changed by that call; or rule outcome_unknown where only the answer to the commit is missing
 * (query.h says why the change is all but certainly not made either). Who calls again after a
 * change was made tells that it is: sl_api_made_not_shown.
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
 * From now on this store waits for no answer beyond deadline_s, on the clock of sl_clock_now_s, but
 * a quarter of a second more for that to a commit, and commits nothing after it by the clock of the
 * database (query.h says what that leaves open). 0: a bound of 15 s for each statement, which is more than the database
 * gives itself. Applying a migration heeds neither.
 */
void sl_store_until(sl_store *store, double deadline_s);

/** The process ends: from now on every store waits no longer, and nothing more is sent. To be
 * called when all requests have their answers; what had not committed by then is rolled back. */
void sl_store_give_up(void);

/** Stores that are at work with their connection right now. */
uint32_t sl_store_in_use(void);

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
