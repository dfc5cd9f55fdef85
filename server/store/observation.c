#include "store/observation.h"

#include <assert.h>

#include "store/inventory_rows.h"
#include "store/precondition.h"
#include "store/query.h"

/* Columns as the statements of sql.c list them. */
enum {
    COLUMN_SOURCE,
    COLUMN_REVISION,
    COLUMN_FORMAT,
    COLUMN_RAW_HASH,
    COLUMN_FACTS_HASH,
    COLUMN_HOSTS,
    COLUMN_OBSERVED_AT,
    COLUMN_RECEIVED_AT,
    COLUMN_CHANGED_AT,
    COLUMN_STALE_AFTER,
    COLUMN_STALE,
    COLUMN_FACTS
};

static sl_code
row_from(const PGresult *result, int row, sl_arena *arena, sl_observation_row *out, sl_errors *err)
{
    bool failed = false;
    *out = (sl_observation_row){
        .source = sl_rows_text(result, row, COLUMN_SOURCE, arena, &failed),
        .revision = sl_rows_uint(result, row, COLUMN_REVISION),
        .format = sl_rows_text(result, row, COLUMN_FORMAT, arena, &failed),
        .raw_hash = sl_rows_text(result, row, COLUMN_RAW_HASH, arena, &failed),
        .facts_hash = sl_rows_text(result, row, COLUMN_FACTS_HASH, arena, &failed),
        .hosts = sl_rows_uint(result, row, COLUMN_HOSTS),
        .observed_at = sl_rows_text(result, row, COLUMN_OBSERVED_AT, arena, &failed),
        .received_at = sl_rows_text(result, row, COLUMN_RECEIVED_AT, arena, &failed),
        .changed_at = sl_rows_text(result, row, COLUMN_CHANGED_AT, arena, &failed),
        .stale_after_s = sl_rows_uint(result, row, COLUMN_STALE_AFTER),
        .stale = PQgetvalue(result, row, COLUMN_STALE)[0] == 't',
        .facts = sl_rows_text(result, row, COLUMN_FACTS, arena, &failed),
    };
    return failed ? sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                            "the stored observation exceeds the memory of one request")
                  : SL_OK;
}

static sl_code
no_observation(const char *slug, const char *source, sl_errors *err)
{
    return sl_fail(err, SL_E_NOT_FOUND, "observation_not_found", "",
                   "the inventory '%s' has no observation of the source '%s'", slug, source);
}

typedef struct put_task {
    const sl_observation_write *write;
    sl_arena *arena;
    sl_observation_row row;
    bool created;
} put_task;

/* The inventory's row is held for the transaction: it does not go, and nobody else writes an
 * observation of it. *found: what the source said last, if anything. */
static sl_code
hold(sl_store *store, const char *slug, const char *source, PGresult **found, sl_errors *err)
{
    PGresult *held = NULL;
    sl_code code = sl_query_run(store, SL_SQL_OBSERVED_LOCK, (const char *[]){slug}, &held, err);
    if (code != SL_OK)
        return code;
    if (PQntuples(held) == 0)
        code = sl_rows_not_found(slug, "", err);
    PQclear(held);
    if (code == SL_OK)
        code =
            sl_query_run(store, SL_SQL_OBSERVATION_GET, (const char *[]){slug, source}, found, err);
    return code;
}

static sl_code
note(sl_store *store, const sl_observation_write *write, const char *action, sl_errors *err)
{
    const sl_requester *const requester = &write->requester;
    return sl_query_do(store, SL_SQL_OBSERVATION_NOTE,
                       (const char *[]){write->slug, write->source, action,
                                        requester->remote_address, requester->user_agent,
                                        requester->request_id},
                       err);
}

static sl_code
refuse_stale(const put_task *task, const PGresult *last, sl_errors *err)
{
    (void)sl_fail(err, SL_E_CONFLICT, "stale_observation", "",
                  "the source was observed later already, at %s",
                  PQgetvalue(last, 0, COLUMN_OBSERVED_AT));
    sl_hint(err, "an observed_at from then on; got %s", task->write->observed_at);
    return SL_E_CONFLICT;
}

static sl_code
put_once(sl_store *store, void *context, sl_errors *err)
{
    put_task *const task = context;
    const sl_observation_write *const write = task->write;
    PGresult *last = NULL;
    PGresult *written = NULL;
    char hosts[SL_NUMBER_TEXT_SIZE];
    char stale_after[SL_NUMBER_TEXT_SIZE];

    sl_code code = hold(store, write->slug, write->source, &last, err);
    if (code != SL_OK)
        return code;
    const bool exists = PQntuples(last) == 1;
    const uint64_t revision = exists ? sl_rows_uint(last, 0, COLUMN_REVISION) : 0;
    code = sl_precondition_check(&write->precondition, exists, revision, "observation_exists", err);
    sl_rows_number(write->hosts, hosts);
    sl_rows_number(write->stale_after_s, stale_after);
    if (code == SL_OK)
        code = sl_query_run(store, SL_SQL_OBSERVATION_PUT,
                            (const char *[]){write->slug, write->source, write->format,
                                             write->raw_hash, write->facts, write->facts_hash,
                                             hosts, write->observed_at,
                                             write->stale_after_s == 0 ? NULL : stale_after},
                            &written, err);
    if (code == SL_OK && PQntuples(written) == 1) {
        code = row_from(written, 0, task->arena, &task->row, err);
        task->created = !exists;
        if (code == SL_OK && task->row.revision != revision)
            code = note(store, write, "put", err);
    } else if (code == SL_OK && exists) {
        code = refuse_stale(task, last, err);
    } else if (code == SL_OK) {
        code = sl_fail(err, SL_E_RANGE, "too_many", "", "an inventory must have at most %d sources",
                       SL_OBSERVATION_SOURCES_MAX);
    }
    PQclear(written);
    PQclear(last);
    return code;
}

sl_code
sl_observation_put(sl_store *store, const sl_observation_write *write, sl_arena *arena,
                   sl_observation_row *out, bool *created, sl_errors *err)
{
    assert(write != NULL && arena != NULL && out != NULL && created != NULL);

    put_task task = {.write = write, .arena = arena};
    const sl_code code = write->dry_run ? sl_query_rehearse(store, put_once, &task, err)
                                        : sl_query_transact(store, put_once, &task, err);
    if (code != SL_OK)
        return code;
    *out = task.row;
    *created = task.created;
    return SL_OK;
}

/* A source that is not there and an inventory that is not: a list of none tells them apart. */
static sl_code
missing(sl_store *store, const char *slug, const char *source, sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code =
        sl_query_read(store, SL_SQL_OBSERVED_THERE, (const char *[]){slug}, &result, err);
    if (code != SL_OK)
        return code;
    const bool there = PQntuples(result) == 1;
    PQclear(result);
    return there ? no_observation(slug, source, err) : sl_rows_not_found(slug, "", err);
}

sl_code
sl_observation_get(sl_store *store, const char *slug, const char *source, sl_arena *arena,
                   sl_observation_row *out, sl_errors *err)
{
    PGresult *result = NULL;
    sl_code code =
        sl_query_read(store, SL_SQL_OBSERVATION_GET, (const char *[]){slug, source}, &result, err);
    if (code != SL_OK)
        return code;
    code = PQntuples(result) == 1 ? row_from(result, 0, arena, out, err)
                                  : missing(store, slug, source, err);
    PQclear(result);
    return code;
}

static sl_code
delete_once(sl_store *store, void *context, sl_errors *err)
{
    const sl_observation_write *const write = context;
    PGresult *last = NULL;

    sl_code code = hold(store, write->slug, write->source, &last, err);
    if (code != SL_OK)
        return code;
    if (PQntuples(last) == 0)
        code = no_observation(write->slug, write->source, err);
    else
        code = sl_precondition_check(&write->precondition, true,
                                     sl_rows_uint(last, 0, COLUMN_REVISION), "observation_exists",
                                     err);
    PQclear(last);
    if (code == SL_OK)
        code = note(store, write, "delete", err);
    if (code == SL_OK)
        code = sl_query_do(store, SL_SQL_OBSERVATION_DELETE,
                           (const char *[]){write->slug, write->source}, err);
    return code;
}

sl_code
sl_observation_delete(sl_store *store, const sl_observation_write *write, sl_errors *err)
{
    sl_observation_write task = *write;
    return write->dry_run ? sl_query_rehearse(store, delete_once, &task, err)
                          : sl_query_transact(store, delete_once, &task, err);
}

/* The first `limit` of the rows; one more than asked for shows that there is more. */
static sl_code
rows_from(const PGresult *result, uint32_t limit, sl_arena *arena, sl_observation_row **rows,
          uint32_t *count, bool *more, sl_errors *err)
{
    const uint32_t found = (uint32_t)PQntuples(result);
    const uint32_t kept = found < limit ? found : limit;
    sl_observation_row *const list = sl_arena_alloc(arena, kept > 0 ? kept : 1, sizeof *list);
    if (list == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                       "the page exceeds the memory of one request");
    for (uint32_t i = 0; i < kept; i++) {
        const sl_code code = row_from(result, (int)i, arena, &list[i], err);
        if (code != SL_OK)
            return code;
    }
    *rows = list;
    *count = kept;
    *more = found > limit;
    return SL_OK;
}

sl_code
sl_observation_list(sl_store *store, const char *slug, const char *after, uint32_t limit,
                    bool with_facts, sl_arena *arena, sl_observation_row **rows, uint32_t *count,
                    bool *more, sl_errors *err)
{
    assert(limit > 0 && rows != NULL && count != NULL && more != NULL);

    char fetch[SL_NUMBER_TEXT_SIZE];
    PGresult *result = NULL;
    sl_rows_number((uint64_t)limit + 1, fetch);
    sl_code code =
        sl_query_read(store, with_facts ? SL_SQL_OBSERVATION_FACTS : SL_SQL_OBSERVATION_LIST,
                      (const char *[]){slug, after, fetch}, &result, err);
    if (code != SL_OK)
        return code;
    /* An inventory without observations gives one row without a source. */
    if (PQntuples(result) == 0) {
        code = sl_rows_not_found(slug, "", err);
    } else if (PQgetisnull(result, 0, COLUMN_SOURCE)) {
        *rows = NULL;
        *count = 0;
        *more = false;
    } else {
        code = rows_from(result, limit, arena, rows, count, more, err);
    }
    PQclear(result);
    return code;
}
