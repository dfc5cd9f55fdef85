#include <assert.h>
#include <inttypes.h>

#include "base/text.h"
#include "store/inventory_rows.h"
#include "store/precondition.h"
#include "store/query.h"

/* How often a put may find its slug taken and then gone again before it calls the database busy. */
enum { PUT_RACES_MAX = 8 };

static const char *const action_names[] = {
    [SL_INVENTORY_PUT] = "put",
    [SL_INVENTORY_PATCH] = "patch",
    [SL_INVENTORY_DELETE] = "delete",
    [SL_INVENTORY_RESTORE] = "restore",
};
_Static_assert(sizeof action_names / sizeof action_names[0] == SL_INVENTORY_ACTION_COUNT,
               "every action has a name");

typedef struct write_task {
    const sl_inventory_write *write;
    sl_arena *arena;
    sl_inventory_row row; /* what came of it */
    bool created;
} write_task;

/* The inventory as a write finds it. */
typedef struct standing {
    bool exists; /* the row, be it deleted */
    bool deleted;
    uint64_t revision;
} standing;

static standing
standing_of(const PGresult *held)
{
    if (PQntuples(held) == 0)
        return (standing){.exists = false};
    return (standing){.exists = true,
                      .deleted = !PQgetisnull(held, 0, SL_COLUMN_DELETED_AT),
                      .revision = sl_rows_uint(held, 0, SL_COLUMN_REVISION)};
}

static sl_code
check_standing(const sl_inventory_write *write, const standing *found, sl_errors *err)
{
    const bool there = found->exists && !found->deleted;
    bool seen = there; /* in the eyes of this action: a put does not see a deleted one */

    switch (write->action) {
    case SL_INVENTORY_PUT:
        break;
    case SL_INVENTORY_PATCH:
    case SL_INVENTORY_DELETE:
        if (!there)
            return sl_rows_not_found(write->slug, "", err);
        break;
    case SL_INVENTORY_RESTORE:
        if (!found->exists)
            return sl_rows_not_found(write->slug, "", err);
        if (there)
            return sl_fail(err, SL_E_CONFLICT, "inventory_not_deleted", "",
                           "must be deleted to be restored, and is there at revision %" PRIu64,
                           found->revision);
        seen = true;
        break;
    case SL_INVENTORY_ACTION_COUNT:
        assert(false);
    }
    return sl_precondition_check(&write->precondition, seen, found->revision, "inventory_exists",
                                 err);
}

/* *done = false when another transaction created the slug first: there is a row to look at now. */
static sl_code
insert(sl_store *store, write_task *task, bool *done, sl_errors *err)
{
    const sl_inventory_write *const write = task->write;
    const sl_requester *const by = &write->requester;
    PGresult *result = NULL;
    sl_code code =
        sl_query_run(store, SL_SQL_INVENTORY_INSERT,
                     (const char *[]){action_names[write->action], by->remote_address,
                                      by->user_agent, by->request_id, write->slug, write->name,
                                      write->spec, write->spec_hash, write->accelerators},
                     &result, err);
    if (code == SL_OK && PQntuples(result) == 1) {
        *done = true;
        task->created = true;
        code = sl_rows_inventory(result, 0, true, task->arena, &task->row, err);
    }
    PQclear(result);
    return code;
}

/* The row exists, is as the write asks, and stays locked until the transaction ends. */
static sl_code
change(sl_store *store, write_task *task, const PGresult *held, bool deleted, sl_errors *err)
{
    static const sl_statement statements[] = {
        [SL_INVENTORY_PUT] = SL_SQL_INVENTORY_UPDATE,
        [SL_INVENTORY_PATCH] = SL_SQL_INVENTORY_UPDATE,
        [SL_INVENTORY_DELETE] = SL_SQL_INVENTORY_DELETE,
        [SL_INVENTORY_RESTORE] = SL_SQL_INVENTORY_RESTORE,
    };
    const sl_inventory_write *const write = task->write;
    const sl_requester *const by = &write->requester;
    const bool replaces = write->action == SL_INVENTORY_PUT || write->action == SL_INVENTORY_PATCH;

    if (replaces && !deleted &&
        sl_text_equal(PQgetvalue(held, 0, SL_COLUMN_HASH), write->spec_hash))
        return sl_rows_inventory(held, 0, true, task->arena, &task->row, err);

    PGresult *result = NULL;
    sl_code code = sl_query_run(
        store, statements[write->action],
        (const char *[]){action_names[write->action], by->remote_address, by->user_agent,
                         by->request_id, write->slug, PQgetvalue(held, 0, SL_COLUMN_REVISION),
                         write->name, write->spec, write->spec_hash, write->accelerators},
        &result, err);
    if (code == SL_OK) {
        assert(PQntuples(result) == 1);
        task->created = replaces && deleted;
        code = sl_rows_inventory(result, 0, true, task->arena, &task->row, err);
    }
    PQclear(result);
    return code;
}

static sl_code
write_once(sl_store *store, void *context, sl_errors *err)
{
    write_task *const task = context;
    task->created = false;

    for (uint32_t race = 0; race < PUT_RACES_MAX; race++) {
        PGresult *held = NULL;
        sl_code code = sl_query_run(store, SL_SQL_INVENTORY_LOCK,
                                    (const char *[]){task->write->slug}, &held, err);
        if (code != SL_OK)
            return code;
        const standing found = standing_of(held);
        bool done = found.exists;
        code = check_standing(task->write, &found, err);
        if (code == SL_OK && found.exists)
            code = change(store, task, held, found.deleted, err);
        PQclear(held);
        if (code == SL_OK && !found.exists)
            code = insert(store, task, &done, err);
        if (code != SL_OK || done)
            return code;
    }
    return sl_fail(err, SL_E_UNAVAILABLE, "database_busy", "",
                   "others create and remove this inventory too fast");
}

sl_code
sl_inventory_write_do(sl_store *store, const sl_inventory_write *write, sl_arena *arena,
                      sl_inventory_row *out, bool *created, sl_errors *err)
{
    assert(write->action < SL_INVENTORY_ACTION_COUNT);

    write_task task = {.write = write, .arena = arena};
    const sl_code code = sl_query_transact(store, write_once, &task, err);
    if (code != SL_OK)
        return code;
    *out = task.row;
    *created = task.created;
    return SL_OK;
}

sl_code
sl_inventory_write_try(sl_store *store, const sl_inventory_write *write, sl_arena *arena,
                       sl_inventory_row *out, sl_errors *err)
{
    PGresult *result = NULL;
    sl_code code =
        sl_query_read(store, SL_SQL_INVENTORY_PEEK, (const char *[]){write->slug}, &result, err);
    if (code != SL_OK)
        return code;
    const standing found = standing_of(result);
    sl_inventory_row row = {.slug = NULL};
    code = check_standing(write, &found, err);
    if (code == SL_OK && found.exists)
        code = sl_rows_inventory(result, 0, true, arena, &row, err);
    if (code == SL_OK)
        *out = row;
    PQclear(result);
    return code;
}
