/**
 * Running statements, and transactions that may have to run again. Inside server/store only.
 *
 * What a request was told must stay true of a database that stood still and goes on later:
 *
 * - Whoever waits is late at the store's deadline, drops the connection, and tells. There is no
 *   second attempt.
 * - As long as no commit was sent, a dropped connection is a rollback: the backend finds its end
 *   when it goes on. To cancel would add nothing: a request to cancel is served by the same
 *   database.
 * - A commit that was sent lies in the socket, and would be read, and made, whenever the backend
 *   goes on. Hence it travels in one message behind a guard that fails once the deadline is over by
 *   the database's own clock, which a transaction reads when it begins. A message is carried out
 *   without looking at the socket again, so what remains is a database that stops between the two,
 *   or within the commit: outcome_unknown says so. And a host that is paused as a whole and resumed
 *   with a clock that stood still meanwhile, or is set back: to the guard no time has passed, and a
 *   commit that was answered outcome_unknown may be made then.
 * - Two writes to one resource meet at its row, locked until the first has ended one way or the
 *   other; the later one is made after it, or not at all.
 */
#ifndef SL_STORE_QUERY_H
#define SL_STORE_QUERY_H

#include <libpq-fe.h>

#include "shardline/error.h"
#include "store/sql.h"
#include "store/store.h"

/**
 * Runs one statement on the open connection, preparing it when this connection has not seen it.
 * values: as many texts as the statement has placeholders; NULL for none. *out is the caller's,
 * freed with PQclear. The error says what the SQLSTATE means, never the SQL or what it held.
 */
sl_code sl_query_run(sl_store *store, sl_statement statement, const char *const *values,
                     PGresult **out, sl_errors *err) SL_MUST_CHECK;

/** The same when the answer does not matter. */
sl_code sl_query_do(sl_store *store, sl_statement statement, const char *const *values,
                    sl_errors *err) SL_MUST_CHECK;

/** Runs a text of several statements, such as a migration, inside the current transaction, for as
 * long as it takes. */
sl_code sl_query_script(sl_store *store, const char *text, sl_errors *err) SL_MUST_CHECK;

/** One statement that changes nothing: connects first, and tries again on another connection. */
sl_code sl_query_read(sl_store *store, sl_statement statement, const char *const *values,
                      PGresult **out, sl_errors *err) SL_MUST_CHECK;

/** What happens inside a transaction. It may run several times and must start afresh each time. */
typedef sl_code (*sl_query_work)(sl_store *store, void *context, sl_errors *err);

/**
 * Connects, begins, works, commits; rolls back when the work fails. The whole is tried again, a
 * bounded number of times, after a deadlock, a serialization failure, or a connection lost before
 * the commit was sent. After that nobody can know, and the error says so.
 */
sl_code sl_query_transact(sl_store *store, sl_query_work work, void *context,
                          sl_errors *err) SL_MUST_CHECK;

/** The same, and then everything is rolled back: what would come of it. */
sl_code sl_query_rehearse(sl_store *store, sl_query_work work, void *context,
                          sl_errors *err) SL_MUST_CHECK;

#endif
