#include "store/plan.h"

#include <assert.h>
#include <inttypes.h>

#include "base/text.h"
#include "store/inventory_rows.h"
#include "store/precondition.h"
#include "store/query.h"

/* How often a put may find its slug taken and then gone again before it calls the database busy. */
enum { PUT_RACES_MAX = 8 };

const char *const sl_plan_verdict_names[SL_PLAN_VERDICTS] = {
    [SL_PLAN_FITS] = "fits",
    [SL_PLAN_DOES_NOT_FIT] = "does_not_fit",
    [SL_PLAN_REFUSED] = "refused",
    [SL_PLAN_PENDING] = "pending",
};

/* Columns as the statements of sql.c list them. */
enum {
    COLUMN_SLUG,
    COLUMN_REVISION,
    COLUMN_NAME,
    COLUMN_SPEC,
    COLUMN_INVENTORY,
    COLUMN_CREATED_AT,
    COLUMN_UPDATED_AT,
    COLUMN_VERDICT,
    COLUMN_EVALUATION,
    COLUMN_EVALUATED_AT,
    COLUMN_REASON,
    COLUMN_HOLDS_FOR,
    COLUMN_JUDGED_FOR,
    COLUMN_INVENTORY_REVISION,
    COLUMN_OBSERVATIONS_HASH,
    COLUMN_CURRENT
};

/* Of a locked row. */
enum { HELD_REVISION, HELD_HASH, HELD_DELETED };

static sl_code
row_from(const PGresult *result, int row, sl_arena *arena, sl_plan_row *out, sl_errors *err)
{
    bool failed = false;
    assert(out != NULL);
    *out = (sl_plan_row){
        .slug = sl_rows_text(result, row, COLUMN_SLUG, arena, &failed),
        .revision = sl_rows_uint(result, row, COLUMN_REVISION),
        .name = sl_rows_text(result, row, COLUMN_NAME, arena, &failed),
        .spec = sl_rows_text(result, row, COLUMN_SPEC, arena, &failed),
        .inventory = sl_rows_text(result, row, COLUMN_INVENTORY, arena, &failed),
        .created_at = sl_rows_text(result, row, COLUMN_CREATED_AT, arena, &failed),
        .updated_at = sl_rows_text(result, row, COLUMN_UPDATED_AT, arena, &failed),
        .verdict = sl_rows_text(result, row, COLUMN_VERDICT, arena, &failed),
        .evaluation = sl_rows_text(result, row, COLUMN_EVALUATION, arena, &failed),
        .evaluated_at = sl_rows_text(result, row, COLUMN_EVALUATED_AT, arena, &failed),
        .reason = sl_rows_text(result, row, COLUMN_REASON, arena, &failed),
        .holds_for = sl_rows_text(result, row, COLUMN_HOLDS_FOR, arena, &failed),
        .judged_for = sl_rows_text(result, row, COLUMN_JUDGED_FOR, arena, &failed),
        .inventory_revision = PQgetisnull(result, row, COLUMN_INVENTORY_REVISION)
                                  ? 0
                                  : sl_rows_uint(result, row, COLUMN_INVENTORY_REVISION),
        .observations_hash = sl_rows_text(result, row, COLUMN_OBSERVATIONS_HASH, arena, &failed),
        .current = PQgetvalue(result, row, COLUMN_CURRENT)[0] == 't',
    };
    return failed ? sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                            "the stored plan exceeds the memory of one request")
                  : SL_OK;
}

static sl_code
not_found(const char *slug, sl_errors *err)
{
    return sl_fail(err, SL_E_NOT_FOUND, "plan_not_found", "", "no plan is saved as '%s'", slug);
}

/* A plan as a write finds it: *revision is 0 where there never was one. */
static sl_code
hold(sl_store *store, const char *slug, PGresult **held, uint64_t *revision, bool *there,
     sl_errors *err)
{
    const sl_code code = sl_query_run(store, SL_SQL_PLAN_LOCK, (const char *[]){slug}, held, err);
    if (code != SL_OK)
        return code;
    const bool exists = PQntuples(*held) == 1;
    *revision = exists ? sl_rows_uint(*held, 0, HELD_REVISION) : 0;
    *there = exists && PQgetvalue(*held, 0, HELD_DELETED)[0] == 'f';
    return SL_OK;
}

/* A plan may outlive its inventory, and is refused then; it is not saved for one that is not
 * there. */
static sl_code
check_inventory(sl_store *store, const char *inventory, sl_errors *err)
{
    PGresult *result = NULL;
    if (inventory == NULL)
        return SL_OK;
    sl_code code =
        sl_query_run(store, SL_SQL_OBSERVED_THERE, (const char *[]){inventory}, &result, err);
    if (code == SL_OK && PQntuples(result) == 0)
        code = sl_rows_not_found(inventory, "/request/cluster/inventory", err);
    PQclear(result);
    return code;
}

static sl_code
note(sl_store *store, const sl_plan_write *write, const char *action, sl_errors *err)
{
    const sl_requester *const requester = &write->requester;
    return sl_query_do(store, SL_SQL_PLAN_NOTE,
                       (const char *[]){write->slug, action, requester->remote_address,
                                        requester->user_agent, requester->request_id},
                       err);
}

typedef struct put_task {
    const sl_plan_write *write;
    bool try_only;
    bool created;
} put_task;

/* *written: 0 when another transaction created the slug first. */
static sl_code
write_row(sl_store *store, const sl_plan_write *write, uint64_t revision, int *written,
          sl_errors *err)
{
    PGresult *result = NULL;
    char number[SL_NUMBER_TEXT_SIZE];
    sl_rows_number(revision, number);
    const char *const values[] = {write->slug, number,           write->name,
                                  write->spec, write->spec_hash, write->inventory};
    sl_code code = sl_query_run(store, revision == 1 ? SL_SQL_PLAN_INSERT : SL_SQL_PLAN_UPDATE,
                                values, &result, err);
    if (code == SL_OK)
        *written = PQntuples(result);
    PQclear(result);
    if (code == SL_OK && *written == 1)
        code = sl_query_do(store, SL_SQL_PLAN_RECORD, (const char *[]){write->slug}, err);
    if (code == SL_OK && *written == 1)
        code = note(store, write, "put", err);
    return code;
}

static sl_code
put_attempt(sl_store *store, put_task *task, bool *done, sl_errors *err)
{
    const sl_plan_write *const write = task->write;
    PGresult *held = NULL;
    uint64_t revision = 0;
    bool there = false;
    int written = 0;

    sl_code code = hold(store, write->slug, &held, &revision, &there, err);
    if (code == SL_OK)
        code = sl_precondition_check(&write->precondition, there, revision, "plan_exists", err);
    const bool same =
        code == SL_OK && there && sl_text_equal(PQgetvalue(held, 0, HELD_HASH), write->spec_hash);
    PQclear(held);
    if (code == SL_OK)
        code = check_inventory(store, write->inventory, err);
    *done = code != SL_OK || same || task->try_only;
    if (*done)
        return code;
    code = write_row(store, write, revision + 1, &written, err);
    task->created = !there;
    *done = code != SL_OK || written == 1;
    return code;
}

static sl_code
put_once(sl_store *store, void *context, sl_errors *err)
{
    put_task *const task = context;
    task->created = false;
    for (uint32_t race = 0; race < PUT_RACES_MAX; race++) {
        bool done = false;
        const sl_code code = put_attempt(store, task, &done, err);
        if (done)
            return code;
    }
    return sl_fail(err, SL_E_UNAVAILABLE, "database_busy", "", "others create this plan too fast");
}

sl_code
sl_plan_put(sl_store *store, const sl_plan_write *write, bool *created, sl_errors *err)
{
    assert(write != NULL && created != NULL);

    put_task task = {.write = write};
    const sl_code code = sl_query_transact(store, put_once, &task, err);
    if (code == SL_OK)
        *created = task.created;
    return code;
}

sl_code
sl_plan_put_try(sl_store *store, const sl_plan_write *write, sl_errors *err)
{
    put_task task = {.write = write, .try_only = true};
    return sl_query_transact(store, put_once, &task, err);
}

sl_code
sl_plan_get(sl_store *store, const char *slug, const char *software, sl_arena *arena,
            sl_plan_row *out, sl_errors *err)
{
    PGresult *result = NULL;
    sl_code code =
        sl_query_read(store, SL_SQL_PLAN_GET, (const char *[]){slug, software}, &result, err);
    if (code != SL_OK)
        return code;
    code = PQntuples(result) == 1 ? row_from(result, 0, arena, out, err) : not_found(slug, err);
    PQclear(result);
    return code;
}

static sl_code
delete_once(sl_store *store, void *context, sl_errors *err)
{
    const sl_plan_write *const write = context;
    PGresult *held = NULL;
    uint64_t revision = 0;
    bool there = false;
    sl_code code = hold(store, write->slug, &held, &revision, &there, err);
    PQclear(held);
    if (code == SL_OK && !there)
        code = not_found(write->slug, err);
    if (code == SL_OK)
        code = sl_precondition_check(&write->precondition, true, revision, "plan_exists", err);
    if (code == SL_OK)
        code = sl_query_do(store, SL_SQL_PLAN_DELETE, (const char *[]){write->slug}, err);
    return code == SL_OK ? note(store, write, "delete", err) : code;
}

sl_code
sl_plan_delete(sl_store *store, const sl_plan_write *write, bool dry_run, sl_errors *err)
{
    sl_plan_write task = *write;
    return dry_run ? sl_query_rehearse(store, delete_once, &task, err)
                   : sl_query_transact(store, delete_once, &task, err);
}

sl_code
sl_plan_list(sl_store *store, const sl_plan_query *query, const char *software, sl_arena *arena,
             sl_plan_row **rows, uint32_t *count, bool *more, sl_errors *err)
{
    assert(query != NULL && query->limit > 0);

    char fetch[SL_NUMBER_TEXT_SIZE];
    PGresult *result = NULL;
    sl_rows_number((uint64_t)query->limit + 1, fetch);
    sl_code code = sl_query_read(
        store, SL_SQL_PLAN_LIST,
        (const char *[]){query->after, software, fetch, query->inventory, query->verdict}, &result,
        err);
    if (code != SL_OK)
        return code;
    const uint32_t found = (uint32_t)PQntuples(result);
    *count = found < query->limit ? found : query->limit;
    *more = found > query->limit;
    *rows = sl_arena_alloc(arena, *count > 0 ? *count : 1, sizeof **rows);
    if (*rows == NULL)
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                       "the page exceeds the memory of one request");
    for (uint32_t i = 0; i < *count && code == SL_OK; i++)
        code = row_from(result, (int)i, arena, &(*rows)[i], err);
    PQclear(result);
    return code;
}

sl_code
sl_plan_judge(sl_store *store, const sl_plan_judgement *judgement, sl_errors *err)
{
    assert(judgement != NULL);

    PGresult *result = NULL;
    char revision[SL_NUMBER_TEXT_SIZE];
    sl_rows_number(judgement->revision, revision);
    /* To judge twice is to judge once: it may be tried again like a read. */
    const sl_code code = sl_query_read(
        store, SL_SQL_PLAN_JUDGE,
        (const char *[]){judgement->slug, revision, judgement->verdict, judgement->evaluation,
                         judgement->reason, judgement->holds_for, judgement->judged_for},
        &result, err);
    PQclear(result);
    return code;
}

sl_code
sl_plan_count(sl_store *store, const char *inventory, const char *software,
              uint64_t counts[SL_PLAN_VERDICTS], sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code = sl_query_read(store, SL_SQL_PLAN_COUNT,
                                       (const char *[]){software, inventory}, &result, err);
    if (code != SL_OK)
        return code;
    for (uint32_t i = 0; i < SL_PLAN_VERDICTS; i++)
        counts[i] = 0;
    for (int row = 0; row < PQntuples(result); row++) {
        const int verdict =
            sl_text_index(PQgetvalue(result, row, 0), sl_plan_verdict_names, SL_PLAN_VERDICTS);
        assert(verdict >= 0);
        counts[verdict] = sl_rows_uint(result, row, 1);
    }
    PQclear(result);
    return SL_OK;
}
