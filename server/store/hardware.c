/* Rows of users beside the catalogue. Writers wait for each other at the one row of the state. */
#include <assert.h>
#include <inttypes.h>

#include "base/text.h"
#include "store/hardware.h"
#include "store/precondition.h"
#include "store/query.h"

/* Columns as the list's statement has them. */
enum {
    COLUMN_STATE,
    COLUMN_KIND,
    COLUMN_ID,
    COLUMN_REVISION,
    COLUMN_CREATED_AT,
    COLUMN_UPDATED_AT,
    COLUMN_SPEC
};

static uint64_t
number_at(const PGresult *result, int row, int column)
{
    uint64_t number = 0;
    const bool understood = sl_text_to_uint(PQgetvalue(result, row, column), &number);
    assert(understood);
    return number;
}

sl_code
sl_hardware_state(sl_store *store, uint64_t *revision, sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code = sl_query_read(store, SL_SQL_HARDWARE_STATE, NULL, &result, err);
    if (code != SL_OK)
        return code;
    *revision = number_at(result, 0, 0);
    PQclear(result);
    return SL_OK;
}

static const char *
copy_cell(const PGresult *result, int row, int column, sl_arena *arena)
{
    return sl_arena_copy_bytes(arena, PQgetvalue(result, row, column),
                               (size_t)PQgetlength(result, row, column));
}

static bool
row_from(const PGresult *result, int row, sl_arena *arena, sl_hardware_row *out)
{
    *out = (sl_hardware_row){
        .kind = copy_cell(result, row, COLUMN_KIND, arena),
        .id = copy_cell(result, row, COLUMN_ID, arena),
        .revision = number_at(result, row, COLUMN_REVISION),
        .spec = copy_cell(result, row, COLUMN_SPEC, arena),
        .created_at = copy_cell(result, row, COLUMN_CREATED_AT, arena),
        .updated_at = copy_cell(result, row, COLUMN_UPDATED_AT, arena),
    };
    return out->kind != NULL && out->id != NULL && out->spec != NULL && out->created_at != NULL &&
           out->updated_at != NULL;
}

sl_code
sl_hardware_list(sl_store *store, sl_arena *arena, uint64_t *revision, sl_hardware_row **rows,
                 uint32_t *count, sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code = sl_query_read(store, SL_SQL_HARDWARE_LIST, NULL, &result, err);
    if (code != SL_OK)
        return code;
    const uint32_t found = PQgetisnull(result, 0, COLUMN_ID) ? 0 : (uint32_t)PQntuples(result);
    sl_hardware_row *const list = sl_arena_alloc(arena, found + 1, sizeof *list);
    bool fits = list != NULL;
    for (uint32_t i = 0; i < found && fits; i++)
        fits = row_from(result, (int)i, arena, &list[i]);
    *revision = number_at(result, 0, COLUMN_STATE);
    *rows = list;
    *count = found;
    PQclear(result);
    return fits ? SL_OK
                : sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                          "the private hardware exceeds its memory");
}

/* What is there now; `out`, when it exists, holds its hash too. */
typedef struct held {
    bool exists;
    bool same;
    uint64_t revision;
} held;

static sl_code
look(sl_store *store, const char *kind, const char *id, const char *spec_hash, held *out,
     sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code =
        sl_query_run(store, SL_SQL_HARDWARE_GET, (const char *[]){kind, id}, &result, err);
    if (code != SL_OK)
        return code;
    *out = (held){.exists = PQntuples(result) == 1};
    if (out->exists) {
        out->revision = number_at(result, 0, 0);
        out->same = spec_hash != NULL && sl_text_equal(PQgetvalue(result, 0, 1), spec_hash);
    }
    PQclear(result);
    return SL_OK;
}

typedef struct write_task {
    const sl_hardware_row *row;
    const char *spec_hash;
    const char *uses;
    uint32_t limit;
    const sl_precondition *asked;
    const sl_requester *by;
    bool created;
} write_task;

static sl_code
check_room(sl_store *store, uint32_t limit, sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code = sl_query_run(store, SL_SQL_HARDWARE_COUNT, NULL, &result, err);
    if (code != SL_OK)
        return code;
    const uint64_t count = number_at(result, 0, 0);
    PQclear(result);
    if (count < limit)
        return SL_OK;
    return sl_fail(err, SL_E_CONFLICT, "too_many_rows", "",
                   "there may be %u private accelerators, node types and prices, and there are "
                   "%" PRIu64,
                   limit, count);
}

static sl_code
note(sl_store *store, const write_task *task, const char *action, sl_errors *err)
{
    return sl_query_do(store, SL_SQL_HARDWARE_NOTE,
                       (const char *[]){task->row->kind, task->row->id, action,
                                        task->by->remote_address, task->by->user_agent,
                                        task->by->request_id},
                       err);
}

static sl_code
put_once(sl_store *store, void *context, sl_errors *err)
{
    write_task *const task = context;
    const sl_hardware_row *const row = task->row;
    held now = {.exists = false};

    sl_code code = sl_query_do(store, SL_SQL_HARDWARE_LOCK, NULL, err);
    if (code == SL_OK)
        code = look(store, row->kind, row->id, task->spec_hash, &now, err);
    if (code == SL_OK)
        code = sl_precondition_check(task->asked, now.exists, now.revision, "hardware_exists", err);
    if (code != SL_OK || now.same)
        return code;
    task->created = !now.exists;
    if (!now.exists)
        code = check_room(store, task->limit, err);
    if (code == SL_OK)
        code = sl_query_do(store, SL_SQL_HARDWARE_ADVANCE, NULL, err);
    if (code == SL_OK)
        code = sl_query_do(
            store, SL_SQL_HARDWARE_PUT,
            (const char *[]){row->kind, row->id, row->spec, task->spec_hash, task->uses}, err);
    return code == SL_OK ? note(store, task, "put", err) : code;
}

sl_code
sl_hardware_put(sl_store *store, const sl_hardware_row *row, const char *spec_hash,
                const char *uses, uint32_t limit, const sl_precondition *asked,
                const sl_requester *by, bool *created, sl_errors *err)
{
    write_task task = {
        .row = row, .spec_hash = spec_hash, .uses = uses, .limit = limit, .asked = asked, .by = by};
    const sl_code code = sl_query_transact(store, put_once, &task, err);
    if (code == SL_OK)
        *created = task.created;
    return code;
}

sl_code
sl_hardware_put_allowed(sl_store *store, const char *kind, const char *id,
                        const sl_precondition *asked, sl_errors *err)
{
    PGresult *result = NULL;
    sl_code code =
        sl_query_read(store, SL_SQL_HARDWARE_GET, (const char *[]){kind, id}, &result, err);
    if (code != SL_OK)
        return code;
    const bool exists = PQntuples(result) == 1;
    code = sl_precondition_check(asked, exists, exists ? number_at(result, 0, 0) : 0,
                                 "hardware_exists", err);
    PQclear(result);
    return code;
}

static sl_code
delete_once(sl_store *store, void *context, sl_errors *err)
{
    const write_task *const task = context;
    const sl_hardware_row *const row = task->row;
    held now = {.exists = false};

    sl_code code = sl_query_do(store, SL_SQL_HARDWARE_LOCK, NULL, err);
    if (code == SL_OK)
        code = look(store, row->kind, row->id, NULL, &now, err);
    if (code == SL_OK && !now.exists)
        code = sl_fail(err, SL_E_NOT_FOUND, "hardware_not_found", "",
                       "there is no private entry %s", row->id);
    if (code == SL_OK)
        code = sl_precondition_check(task->asked, true, now.revision, "hardware_exists", err);
    if (code == SL_OK)
        code = note(store, task, "delete", err);
    if (code == SL_OK)
        code = sl_query_do(store, SL_SQL_HARDWARE_ADVANCE, NULL, err);
    if (code != SL_OK)
        return code;
    return sl_query_do(store, SL_SQL_HARDWARE_DELETE, (const char *[]){row->kind, row->id}, err);
}

sl_code
sl_hardware_delete(sl_store *store, const char *kind, const char *id, const sl_precondition *asked,
                   const sl_requester *by, sl_errors *err)
{
    const sl_hardware_row row = {.kind = kind, .id = id};
    write_task task = {.row = &row, .asked = asked, .by = by};

    return sl_query_transact(store, delete_once, &task, err);
}
