#include <assert.h>
#include <inttypes.h>

#include "base/text.h"
#include "store/query.h"
#include "store/store.h"

/* How often a put may find its slug taken and then gone again before it calls the database busy. */
enum { PUT_RACES_MAX = 8, NUMBER_SIZE = 24 };

/* Columns as the statements of sql.c list them; COLUMN_HASH and on only where the row is locked. */
enum {
    COLUMN_SLUG,
    COLUMN_REVISION,
    COLUMN_NAME,
    COLUMN_CREATED_AT,
    COLUMN_UPDATED_AT,
    COLUMN_SPEC,
    COLUMN_HASH,
    COLUMN_DELETED
};

static uint64_t
revision_at(const PGresult *result, int row)
{
    uint64_t revision = 0;
    const bool understood = sl_text_to_uint(PQgetvalue(result, row, COLUMN_REVISION), &revision);
    assert(understood);
    return revision;
}

/* bigint ends at INT64_MAX; no revision is beyond it, so that larger numbers mean the same. */
static void
number_text(uint64_t value, char out[NUMBER_SIZE])
{
    const uint64_t bound = INT64_MAX;
    const bool fits = sl_text_format(out, NUMBER_SIZE, "%" PRIu64, value < bound ? value : bound);
    assert(fits);
}

static const char *
copy_cell(const PGresult *result, int row, int column, sl_arena *arena)
{
    return sl_arena_copy_bytes(arena, PQgetvalue(result, row, column),
                               (size_t)PQgetlength(result, row, column));
}

static sl_code
row_from(const PGresult *result, int row, sl_arena *arena, sl_inventory_row *out, sl_errors *err)
{
    const bool with_spec = PQnfields(result) > COLUMN_SPEC;
    sl_inventory_row read = {
        .slug = copy_cell(result, row, COLUMN_SLUG, arena),
        .revision = revision_at(result, row),
        .name = copy_cell(result, row, COLUMN_NAME, arena),
        .spec = with_spec ? copy_cell(result, row, COLUMN_SPEC, arena) : NULL,
        .created_at = copy_cell(result, row, COLUMN_CREATED_AT, arena),
        .updated_at = copy_cell(result, row, COLUMN_UPDATED_AT, arena),
    };
    if (read.slug == NULL || read.name == NULL || (with_spec && read.spec == NULL) ||
        read.created_at == NULL || read.updated_at == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                       "the stored inventory exceeds the memory of one request");
    *out = read;
    return SL_OK;
}

/* The first `limit` of the rows; one more than asked for shows that there is more. */
static sl_code
rows_from(const PGresult *result, uint32_t limit, sl_arena *arena, sl_inventory_row **rows,
          uint32_t *count, bool *more, sl_errors *err)
{
    const uint32_t found = (uint32_t)PQntuples(result);
    const uint32_t kept = found < limit ? found : limit;
    sl_inventory_row *list = NULL;
    if (kept > 0) {
        list = sl_arena_alloc(arena, kept, sizeof *list);
        if (list == NULL)
            return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                           "the page exceeds the memory of one request");
    }
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

typedef struct put_task {
    const char *slug, *name, *spec, *spec_hash;
    uint64_t if_match;
    bool if_none_match_any;
    sl_arena *arena;
    sl_inventory_row row; /* what came of it */
    bool created;
} put_task;

static sl_code
put_record(sl_store *store, put_task *task, const PGresult *written, sl_errors *err)
{
    const sl_code code =
        sl_query_do(store, SL_SQL_INVENTORY_RECORD, (const char *[]){task->slug}, err);
    return code == SL_OK ? row_from(written, 0, task->arena, &task->row, err) : code;
}

/* *done = false when another transaction created the slug first: there is a row to look at now. */
static sl_code
put_insert(sl_store *store, put_task *task, bool *done, sl_errors *err)
{
    PGresult *result = NULL;
    sl_code code = sl_query_run(
        store, SL_SQL_INVENTORY_INSERT,
        (const char *[]){task->slug, task->name, task->spec, task->spec_hash}, &result, err);
    if (code == SL_OK && PQntuples(result) == 1) {
        *done = true;
        task->created = true;
        code = put_record(store, task, result, err);
    }
    PQclear(result);
    return code;
}

static sl_code
put_check_match(const put_task *task, bool exists, uint64_t revision, sl_errors *err)
{
    if (task->if_none_match_any && exists)
        return sl_fail(err, SL_E_PRECONDITION, "inventory_exists", "",
                       "must not exist yet, and is at revision %" PRIu64, revision);
    if (task->if_match == 0 ||
        (exists && (task->if_match == SL_REVISION_ANY || task->if_match == revision)))
        return SL_OK;
    if (task->if_match == SL_REVISION_ANY)
        return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                       "must exist already, and does not");
    if (!exists)
        return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                       "must be at revision %" PRIu64 ", and does not exist", task->if_match);
    return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                   "must be at revision %" PRIu64 ", and is at %" PRIu64, task->if_match, revision);
}

/* The row exists and is locked until the transaction ends. */
static sl_code
put_replace(sl_store *store, put_task *task, const PGresult *held, sl_errors *err)
{
    const bool deleted = PQgetvalue(held, 0, COLUMN_DELETED)[0] == 't';
    sl_code code = put_check_match(task, !deleted, revision_at(held, 0), err);
    if (code != SL_OK)
        return code;
    if (!deleted && sl_text_equal(PQgetvalue(held, 0, COLUMN_HASH), task->spec_hash))
        return row_from(held, 0, task->arena, &task->row, err);

    PGresult *result = NULL;
    code = sl_query_run(store, SL_SQL_INVENTORY_UPDATE,
                        (const char *[]){task->slug, PQgetvalue(held, 0, COLUMN_REVISION),
                                         task->name, task->spec, task->spec_hash},
                        &result, err);
    if (code == SL_OK) {
        assert(PQntuples(result) == 1);
        task->created = deleted;
        code = put_record(store, task, result, err);
    }
    PQclear(result);
    return code;
}

static sl_code
put_once(sl_store *store, void *context, sl_errors *err)
{
    put_task *task = context;
    task->created = false;

    for (uint32_t race = 0; race < PUT_RACES_MAX; race++) {
        PGresult *held = NULL;
        sl_code code =
            sl_query_run(store, SL_SQL_INVENTORY_LOCK, (const char *[]){task->slug}, &held, err);
        if (code != SL_OK)
            return code;
        const bool exists = PQntuples(held) == 1;
        bool done = exists;
        if (exists)
            code = put_replace(store, task, held, err);
        PQclear(held);
        if (!exists)
            code = put_check_match(task, false, 0, err);
        if (!exists && code == SL_OK)
            code = put_insert(store, task, &done, err);
        if (code != SL_OK || done)
            return code;
    }
    return sl_fail(err, SL_E_UNAVAILABLE, "database_busy", "",
                   "others create and remove this inventory too fast");
}

sl_code
sl_inventory_put(sl_store *store, const char *slug, const char *name, const char *spec,
                 const char *spec_hash, uint64_t if_match, bool if_none_match_any, sl_arena *arena,
                 sl_inventory_row *out, bool *created, sl_errors *err)
{
    put_task task = {.slug = slug,
                     .name = name,
                     .spec = spec,
                     .spec_hash = spec_hash,
                     .if_match = if_match,
                     .if_none_match_any = if_none_match_any,
                     .arena = arena};
    const sl_code code = sl_query_transact(store, put_once, &task, err);
    if (code != SL_OK)
        return code;
    *out = task.row;
    *created = task.created;
    return SL_OK;
}

sl_code
sl_inventory_put_allowed(sl_store *store, const char *slug, uint64_t if_match,
                         bool if_none_match_any, sl_errors *err)
{
    const put_task task = {.if_match = if_match, .if_none_match_any = if_none_match_any};
    PGresult *result = NULL;
    sl_code code = sl_query_read(store, SL_SQL_INVENTORY_GET, (const char *[]){slug}, &result, err);
    if (code != SL_OK)
        return code;
    const bool exists = PQntuples(result) == 1;
    code = put_check_match(&task, exists, exists ? revision_at(result, 0) : 0, err);
    PQclear(result);
    return code;
}

static sl_code
not_found(const char *slug, const char *pointer, sl_errors *err)
{
    return sl_fail(err, SL_E_NOT_FOUND, "inventory_not_found", pointer,
                   "must name a stored inventory, got '%s'", slug);
}

sl_code
sl_inventory_get(sl_store *store, const char *slug, const char *pointer, sl_arena *arena,
                 sl_inventory_row *out, sl_errors *err)
{
    PGresult *result = NULL;
    sl_code code = sl_query_read(store, SL_SQL_INVENTORY_GET, (const char *[]){slug}, &result, err);
    if (code != SL_OK)
        return code;
    code = PQntuples(result) == 1 ? row_from(result, 0, arena, out, err)
                                  : not_found(slug, pointer, err);
    PQclear(result);
    return code;
}

sl_code
sl_inventory_revision(sl_store *store, const char *slug, uint64_t revision, sl_arena *arena,
                      sl_inventory_row *out, sl_errors *err)
{
    char number[NUMBER_SIZE];
    number_text(revision, number);
    PGresult *result = NULL;
    sl_code code = sl_query_read(store, SL_SQL_INVENTORY_REVISION, (const char *[]){slug, number},
                                 &result, err);
    if (code != SL_OK)
        return code;
    if (PQntuples(result) == 1)
        code = row_from(result, 0, arena, out, err);
    else
        code = sl_fail(err, SL_E_NOT_FOUND, "revision_not_found", "",
                       "must name a stored revision of an inventory, got %" PRIu64 " of '%s'",
                       revision, slug);
    PQclear(result);
    return code;
}

sl_code
sl_inventory_list(sl_store *store, const char *after, uint32_t limit, sl_arena *arena,
                  sl_inventory_row **rows, uint32_t *count, bool *more, sl_errors *err)
{
    char fetch[NUMBER_SIZE];
    number_text((uint64_t)limit + 1, fetch);
    PGresult *result = NULL;
    sl_code code =
        sl_query_read(store, SL_SQL_INVENTORY_LIST, (const char *[]){after, fetch}, &result, err);
    if (code != SL_OK)
        return code;
    code = rows_from(result, limit, arena, rows, count, more, err);
    PQclear(result);
    return code;
}

sl_code
sl_inventory_revisions(sl_store *store, const char *slug, uint64_t before, uint32_t limit,
                       sl_arena *arena, sl_inventory_row **rows, uint32_t *count, bool *more,
                       sl_errors *err)
{
    char bound[NUMBER_SIZE];
    char fetch[NUMBER_SIZE];
    number_text(before == 0 ? UINT64_MAX : before, bound);
    number_text((uint64_t)limit + 1, fetch);
    PGresult *result = NULL;
    sl_code code = sl_query_read(store, SL_SQL_INVENTORY_REVISIONS,
                                 (const char *[]){slug, bound, fetch}, &result, err);
    if (code != SL_OK)
        return code;
    if (PQntuples(result) == 0) {
        code = not_found(slug, "", err);
    } else if (PQgetisnull(result, 0, COLUMN_REVISION)) {
        *rows = NULL;
        *count = 0;
        *more = false;
    } else {
        code = rows_from(result, limit, arena, rows, count, more, err);
    }
    PQclear(result);
    return code;
}
