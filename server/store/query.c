#include "store/query.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "store/connection.h"
#include "store/wait.h"

enum { ATTEMPTS_MAX = 5, SECONDS_TEXT_SIZE = 32 };

/* Behind the deadline, for the answer to a commit that was sent just before it. */
static const double COMMIT_GRACE_S = 0.25;

/* What a SQLSTATE means to the caller. The first entry that begins the state counts. */
typedef struct meaning {
    const char *prefix;
    sl_code code;
    sl_fault fault;
    const char *rule;
    const char *message;
} meaning;

static const meaning meanings[] = {
    {"08", SL_E_UNAVAILABLE, SL_FAULT_LOST, "database_unavailable", "the database went away"},
    {"57P0", SL_E_UNAVAILABLE, SL_FAULT_LOST, "database_unavailable", "the database went away"},
    {"25P03", SL_E_UNAVAILABLE, SL_FAULT_LOST, "database_unavailable",
     "the database gave up a transaction that stood still"},
    /* A primary that became a standby: another connection may find the new primary. */
    {"25006", SL_E_UNAVAILABLE, SL_FAULT_LOST, "database_unavailable", "the database is read-only"},
    /* A pooler that swapped sessions, or a table that changed under a prepared statement. */
    {"26000", SL_E_UNAVAILABLE, SL_FAULT_LOST, "database_unavailable",
     "the database forgot a prepared statement"},
    {"0A000", SL_E_UNAVAILABLE, SL_FAULT_LOST, "database_unavailable",
     "the database outdated a prepared statement"},
    {"40001", SL_E_UNAVAILABLE, SL_FAULT_AGAIN, "database_busy",
     "other changes were in the way each time this one was tried"},
    {"40P01", SL_E_UNAVAILABLE, SL_FAULT_AGAIN, "database_busy",
     "other changes were in the way each time this one was tried"},
    {"55P03", SL_E_UNAVAILABLE, SL_FAULT_NONE, "database_busy",
     "another change holds what this one needs"},
    {"53", SL_E_UNAVAILABLE, SL_FAULT_NONE, "database_unavailable",
     "the database is out of a resource"},
    {"57014", SL_E_TIMEOUT, SL_FAULT_NONE, "database_timeout",
     "the database did not answer within its time limit"},
    {"23505", SL_E_CONFLICT, SL_FAULT_NONE, "already_exists", "something of that name exists"},
    {"23", SL_E_RANGE, SL_FAULT_NONE, "not_storable", "a value breaks a rule of the database"},
    {"22", SL_E_RANGE, SL_FAULT_NONE, "not_storable", "a value cannot be kept by the database"},
    {"42P01", SL_E_UNAVAILABLE, SL_FAULT_NONE, "database_not_migrated",
     "the database lacks a table: its migrations have not run"},
    {"42703", SL_E_UNAVAILABLE, SL_FAULT_NONE, "database_not_migrated",
     "the database lacks a column: its migrations have not run"},
    {"42501", SL_E_UNAVAILABLE, SL_FAULT_NONE, "database_denied",
     "the role of the service lacks a right in the database"},
};

static const meaning *
meaning_of(const char *state)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strncmp(state, meanings[i].prefix, strlen(meanings[i].prefix)) == 0)
            return &meanings[i];
    }
    return NULL;
}

static sl_code
refuse(sl_store *store, const PGresult *result, const char *name, sl_errors *err)
{
    /* What the server refuses has a SQLSTATE. Without one libpq itself gave up, and at that moment
       the status of a connection that is gone may still read as good. */
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const bool broken = state == NULL || PQstatus(store->conn) != CONNECTION_OK;
    if (state == NULL)
        state = "08006";

    const meaning *found = meaning_of(state);
    const bool lost = broken || (found != NULL && found->fault == SL_FAULT_LOST);
    if (lost)
        sl_connection_discard(store);
    store->fault = lost ? SL_FAULT_LOST : found != NULL ? found->fault : SL_FAULT_NONE;
    if (found == NULL)
        return sl_fail(err, SL_E_INTERNAL, "database_error", "",
                       "the database refused %s with SQLSTATE %s", name, state);
    return sl_fail(err, found->code, found->rule, "", "%s", found->message);
}

static sl_code
no_time(sl_wait_end end, sl_errors *err)
{
    if (end == SL_WAIT_GIVEN_UP)
        return sl_fail(err, SL_E_UNAVAILABLE, "stopping", "", "the server is stopping");
    return sl_fail(err, SL_E_TIMEOUT, "database_timeout", "",
                   "the database did not answer within the time that was left");
}

/* Leaves a database that is silent: what it does with the statement is out of our hands. */
static sl_code
give_up(sl_store *store, sl_wait_end end, const char *name, sl_errors *err)
{
    const sl_log_field fields[] = {
        sl_log_text("statement", name),
        sl_log_text("reason", end == SL_WAIT_GIVEN_UP ? "stopping" : "deadline"),
    };
    sl_log(SL_LOG_WARN, "the database does not answer: given up", fields, 2);
    sl_connection_discard(store);
    store->fault = SL_FAULT_NONE;
    return no_time(end, err);
}

static bool
succeeded(const PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* Waits for what was just put on its way, and tells what went wrong. *out as of sl_query_run. */
static sl_code
await_result(sl_store *store, bool sent, const char *name, PGresult **out, sl_errors *err)
{
    PGresult *result = NULL;
    const sl_wait_end end = sl_wait_result(store, sent, sl_wait_until_s(store), &result);
    if (end != SL_WAIT_DONE)
        return give_up(store, end, name, err);
    if (!succeeded(result)) {
        const sl_code code = refuse(store, result, name, err);
        PQclear(result);
        return code;
    }
    *out = result;
    return SL_OK;
}

/* Nothing is sent that would not be waited for. Nobody was waited for either: a connection outside
 * of a transaction is as good as before, and in one its end is a rollback. */
static sl_code
may_send(sl_store *store, sl_errors *err)
{
    const sl_wait_end end = sl_wait_allowed(store);
    if (end == SL_WAIT_DONE)
        return SL_OK;
    if (PQtransactionStatus(store->conn) != PQTRANS_IDLE)
        sl_connection_discard(store);
    store->fault = SL_FAULT_NONE;
    return no_time(end, err);
}

static sl_code
prepare(sl_store *store, sl_statement statement, sl_errors *err)
{
    if (store->prepared[statement])
        return SL_OK;

    const sl_sql *sql = sl_sql_get(statement);
    PGresult *result = NULL;
    const bool sent = PQsendPrepare(store->conn, sql->name, sql->text, 0, NULL) == 1;
    const sl_code code = await_result(store, sent, sql->name, &result, err);
    if (code == SL_OK)
        store->prepared[statement] = true;
    PQclear(result);
    return code;
}

sl_code
sl_query_run(sl_store *store, sl_statement statement, const char *const *values, PGresult **out,
             sl_errors *err)
{
    assert(store->conn != NULL);

    const sl_sql *sql = sl_sql_get(statement);
    sl_code code = may_send(store, err);
    if (code == SL_OK)
        code = prepare(store, statement, err);
    if (code != SL_OK)
        return code;

    const bool sent =
        PQsendQueryPrepared(store->conn, sql->name, sql->parameters, values, NULL, NULL, 0) == 1;
    return await_result(store, sent, sql->name, out, err);
}

sl_code
sl_query_do(sl_store *store, sl_statement statement, const char *const *values, sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code = sl_query_run(store, statement, values, &result, err);
    PQclear(result);
    return code;
}

/* A text of several statements, in one message. */
static sl_code
run_text(sl_store *store, const char *text, const char *name, PGresult **out, sl_errors *err)
{
    assert(store->conn != NULL);

    const sl_code code = may_send(store, err);
    if (code != SL_OK)
        return code;
    const bool sent = PQsendQuery(store->conn, text) == 1;
    return await_result(store, sent, name, out, err);
}

sl_code
sl_query_script(sl_store *store, const char *text, sl_errors *err)
{
    PGresult *result = NULL;
    store->unbounded = true;
    const sl_code code = run_text(store, text, "a migration", &result, err);
    store->unbounded = false;
    PQclear(result);
    return code;
}

/* Runs `once` until it succeeds, fails for good, or was tried often enough. */
static sl_code
persist(sl_store *store, sl_query_work once, void *context, sl_errors *err)
{
    const uint32_t count = err->count;
    const uint32_t dropped = err->dropped;

    sl_code code = SL_OK;
    sl_connection_enter();
    for (uint32_t attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        /* The errors of an attempt that is tried again were never the caller's. */
        err->count = count;
        err->dropped = dropped;
        store->fault = SL_FAULT_NONE;
        const sl_wait_end end = sl_wait_allowed(store);
        code = end == SL_WAIT_DONE ? sl_connection_open(store, err) : no_time(end, err);
        if (code == SL_OK)
            code = once(store, context, err);
        if (code == SL_OK || store->fault == SL_FAULT_NONE)
            break;
    }
    sl_connection_leave();
    return code;
}

typedef struct reading {
    sl_statement statement;
    const char *const *values;
    PGresult **out;
} reading;

static sl_code
read_once(sl_store *store, void *context, sl_errors *err)
{
    const reading *read = context;
    return sl_query_run(store, read->statement, read->values, read->out, err);
}

sl_code
sl_query_read(sl_store *store, sl_statement statement, const char *const *values, PGresult **out,
              sl_errors *err)
{
    reading read = {statement, values, out};
    return persist(store, read_once, &read, err);
}

typedef struct transaction {
    sl_query_work work;
    void *context;
    bool rehearsal;
} transaction;

/* Ends a failed transaction. What made it fail is already said; a failure here adds nothing. */
static void
roll_back(sl_store *store)
{
    if (store->conn == NULL || PQtransactionStatus(store->conn) == PQTRANS_IDLE)
        return;

    const sl_fault fault = store->fault;
    sl_errors unheard = {0};
    if (sl_query_do(store, SL_SQL_ROLLBACK, NULL, &unheard) != SL_OK)
        sl_connection_discard(store);
    store->fault = fault;
}

/* Begins, and notes by how much the database's clock is ahead of ours: at least what it seems when
 * the answer has come. The guard of the commit may fire early by that answer's delay, never late,
 * as long as the database's clock goes on as ours does. */
static sl_code
begin(sl_store *store, sl_errors *err)
{
    PGresult *result = NULL;
    double theirs_s = 0;

    const sl_code code = run_text(store, SL_SQL_BEGIN, "begin", &result, err);
    if (code != SL_OK)
        return code;
    const bool understood = sl_text_to_double(PQgetvalue(result, 0, 0), &theirs_s);
    assert(understood);
    store->clock_ahead_s = theirs_s - sl_clock_now_s();
    PQclear(result);
    return SL_OK;
}

/* The guard refused: the transaction is not made, and the database has answered. Else a commit that
 * fails is as any statement. */
static sl_code
refuse_commit(sl_store *store, const PGresult *result, sl_errors *err)
{
    const char *const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state != NULL && sl_text_equal(state, SL_SQL_TOO_LATE))
        return no_time(SL_WAIT_LATE, err);

    const sl_code code = refuse(store, result, "commit", err);
    if (store->fault == SL_FAULT_LOST) {
        store->fault = SL_FAULT_NONE;
        sl_hint(err, "the change may have been made: read it back before trying again");
    }
    return code;
}

/* The answer to a commit that was sent did not come. */
static sl_code
outcome_unknown(sl_store *store, sl_wait_end end, sl_errors *err)
{
    sl_errors unheard = {0};
    (void)give_up(store, end, "commit", &unheard);
    const sl_code code = sl_fail(err, SL_E_TIMEOUT, "outcome_unknown", "",
                                 "the database did not say in time whether the change is made");
    sl_hint(err, "read it back before trying again");
    return code;
}

static sl_code
commit(sl_store *store, sl_errors *err)
{
    assert(PQtransactionStatus(store->conn) == PQTRANS_INTRANS);

    char text[sizeof SL_SQL_COMMIT_BEFORE + SECONDS_TEXT_SIZE] = SL_SQL_COMMIT;
    double until_s = sl_wait_until_s(store);
    if (store->deadline_s > 0) {
        const bool fits = sl_text_format(text, sizeof text, SL_SQL_COMMIT_BEFORE,
                                         store->deadline_s + store->clock_ahead_s);
        assert(fits);
        until_s = store->deadline_s + COMMIT_GRACE_S;
    }
    sl_code code = may_send(store, err);
    if (code != SL_OK)
        return code;
    PGresult *result = NULL;
    const sl_wait_end end =
        sl_wait_result(store, PQsendQuery(store->conn, text) == 1, until_s, &result);
    if (end != SL_WAIT_DONE)
        return outcome_unknown(store, end, err);
    if (!succeeded(result))
        code = refuse_commit(store, result, err);
    PQclear(result);
    return code;
}

static sl_code
transact_once(sl_store *store, void *context, sl_errors *err)
{
    const transaction *task = context;

    sl_code code = begin(store, err);
    if (code == SL_OK)
        code = task->work(store, task->context, err);
    if (code == SL_OK && !task->rehearsal)
        code = commit(store, err);
    if (code != SL_OK || task->rehearsal)
        roll_back(store);
    return code;
}

/* Whoever is told that there was no time wants to know what became of the change. */
static sl_code
transact(sl_store *store, transaction *task, sl_errors *err)
{
    const uint32_t count = err->count;
    const sl_code code = persist(store, transact_once, task, err);
    if (code == SL_E_TIMEOUT && err->count > count &&
        sl_text_equal(err->list[err->count - 1].rule, "database_timeout"))
        sl_hint(err, "nothing was changed");
    return code;
}

sl_code
sl_query_transact(sl_store *store, sl_query_work work, void *context, sl_errors *err)
{
    transaction task = {work, context, false};
    return transact(store, &task, err);
}

sl_code
sl_query_rehearse(sl_store *store, sl_query_work work, void *context, sl_errors *err)
{
    transaction task = {work, context, true};
    return transact(store, &task, err);
}
