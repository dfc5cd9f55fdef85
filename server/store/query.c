#include "store/query.h"

#include <assert.h>
#include <string.h>

#include "store/connection.h"

enum { ATTEMPTS_MAX = 5 };

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

static bool
succeeded(const PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static sl_code
prepare(sl_store *store, sl_statement statement, sl_errors *err)
{
    if (store->prepared[statement])
        return SL_OK;

    const sl_sql *sql = sl_sql_get(statement);
    PGresult *result = PQprepare(store->conn, sql->name, sql->text, 0, NULL);
    sl_code code = SL_OK;
    if (succeeded(result))
        store->prepared[statement] = true;
    else
        code = refuse(store, result, sql->name, err);
    PQclear(result);
    return code;
}

sl_code
sl_query_run(sl_store *store, sl_statement statement, const char *const *values, PGresult **out,
             sl_errors *err)
{
    assert(store->conn != NULL);

    sl_code code = prepare(store, statement, err);
    if (code != SL_OK)
        return code;

    const sl_sql *sql = sl_sql_get(statement);
    PGresult *result =
        PQexecPrepared(store->conn, sql->name, sql->parameters, values, NULL, NULL, 0);
    if (!succeeded(result)) {
        code = refuse(store, result, sql->name, err);
        PQclear(result);
        return code;
    }
    *out = result;
    return SL_OK;
}

sl_code
sl_query_do(sl_store *store, sl_statement statement, const char *const *values, sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code = sl_query_run(store, statement, values, &result, err);
    PQclear(result);
    return code;
}

sl_code
sl_query_script(sl_store *store, const char *text, sl_errors *err)
{
    assert(store->conn != NULL);

    PGresult *result = PQexec(store->conn, text);
    const sl_code code = succeeded(result) ? SL_OK : refuse(store, result, "a migration", err);
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
    for (uint32_t attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        /* The errors of an attempt that is tried again were never the caller's. */
        err->count = count;
        err->dropped = dropped;
        store->fault = SL_FAULT_NONE;
        code = sl_connection_open(store, err);
        if (code == SL_OK)
            code = once(store, context, err);
        if (code == SL_OK || store->fault == SL_FAULT_NONE)
            break;
    }
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

static sl_code
commit(sl_store *store, sl_errors *err)
{
    assert(PQtransactionStatus(store->conn) == PQTRANS_INTRANS);

    const sl_code code = sl_query_do(store, SL_SQL_COMMIT, NULL, err);
    if (code != SL_OK && store->fault == SL_FAULT_LOST) {
        store->fault = SL_FAULT_NONE;
        sl_hint(err, "the change may have been made: read it back before trying again");
    }
    return code;
}

static sl_code
transact_once(sl_store *store, void *context, sl_errors *err)
{
    const transaction *task = context;

    sl_code code = sl_query_do(store, SL_SQL_BEGIN, NULL, err);
    if (code == SL_OK)
        code = task->work(store, task->context, err);
    if (code == SL_OK && !task->rehearsal)
        code = commit(store, err);
    if (code != SL_OK || task->rehearsal)
        roll_back(store);
    return code;
}

sl_code
sl_query_transact(sl_store *store, sl_query_work work, void *context, sl_errors *err)
{
    transaction task = {work, context, false};
    return persist(store, transact_once, &task, err);
}

sl_code
sl_query_rehearse(sl_store *store, sl_query_work work, void *context, sl_errors *err)
{
    transaction task = {work, context, true};
    return persist(store, transact_once, &task, err);
}
