#include "store/wait.h"

#include <assert.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>

#include "base/clock.h"

/* Beyond this a database is frozen, not slow: its own limit for a statement is 5 s. For what no
 * request waits for. */
static const double PATIENCE_S = 15;
/* Between two looks at whether everything was given up. */
static const double SLICE_S = 0.1;

static atomic_bool given_up;

void
sl_store_give_up(void)
{
    atomic_store(&given_up, true);
}

void
sl_store_until(sl_store *store, double deadline_s)
{
    assert(store != NULL && deadline_s >= 0);
    store->deadline_s = deadline_s;
}

double
sl_wait_until_s(const sl_store *store)
{
    if (store->unbounded)
        return HUGE_VAL;
    return store->deadline_s > 0 ? store->deadline_s : sl_clock_now_s() + PATIENCE_S;
}

sl_wait_end
sl_wait_allowed(const sl_store *store)
{
    if (atomic_load(&given_up))
        return SL_WAIT_GIVEN_UP;
    return sl_clock_now_s() < sl_wait_until_s(store) ? SL_WAIT_DONE : SL_WAIT_LATE;
}

/* Waits until a result can be taken without waiting, or the connection is lost. */
static sl_wait_end
wait_ready(PGconn *conn, double until_s)
{
    for (;;) {
        const int unsent = PQflush(conn);
        if (unsent < 0 || (unsent == 0 && !PQisBusy(conn)))
            return SL_WAIT_DONE;
        if (atomic_load(&given_up))
            return SL_WAIT_GIVEN_UP;
        const double rest_s = until_s - sl_clock_now_s();
        if (rest_s <= 0)
            return SL_WAIT_LATE;
        struct pollfd socket = {.fd = PQsocket(conn),
                                .events = (short)(unsent > 0 ? POLLIN | POLLOUT : POLLIN)};
        /* Rounded up, so that the last slice does not spin. */
        (void)poll(&socket, 1, (int)((rest_s < SLICE_S ? rest_s : SLICE_S) * 1e3) + 1);
        /* It reads what there is and never waits; a loss is told by the result. */
        if (PQconsumeInput(conn) == 0)
            return SL_WAIT_DONE;
    }
}

static bool
failed(const PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);
    return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
}

sl_wait_end
sl_wait_result(sl_store *store, bool sent, double until_s, PGresult **out)
{
    PGconn *const conn = store->conn;
    PGresult *kept = NULL;
    sl_wait_end end = SL_WAIT_DONE;

    assert(conn != NULL && out != NULL);
    while (sent) {
        end = wait_ready(conn, until_s);
        PGresult *const next = end == SL_WAIT_DONE ? PQgetResult(conn) : NULL;
        if (next == NULL)
            break;
        if (kept != NULL && failed(kept)) {
            PQclear(next);
            continue;
        }
        PQclear(kept);
        kept = next;
    }
    if (end != SL_WAIT_DONE) {
        PQclear(kept);
        return end;
    }
    /* libpq could not send, or lost the connection before it had anything to say. */
    *out = kept != NULL ? kept : PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR);
    return SL_WAIT_DONE;
}
