#include "store/audit.h"

#include <assert.h>

#include "store/inventory_rows.h"
#include "store/query.h"

/* Columns as the statements of sql.c list them. */
enum { COLUMN_ID, COLUMN_REVISION, COLUMN_WRITTEN_AT, COLUMN_ACTION };

static const struct {
    sl_statement statement;
    const char *rule;
    const char *what;
} kinds[] = {
    [SL_AUDIT_INVENTORY] = {SL_SQL_INVENTORY_AUDIT, "inventory_not_found", "a stored inventory"},
    [SL_AUDIT_OBSERVATION] = {SL_SQL_OBSERVATION_AUDIT, "observation_not_found",
                              "an inventory with observations of this source"},
    [SL_AUDIT_PLAN] = {SL_SQL_PLAN_AUDIT, "plan_not_found", "a saved plan"},
    [SL_AUDIT_HARDWARE] = {SL_SQL_HARDWARE_AUDIT, "hardware_not_found", "a private entry"},
};
_Static_assert(sizeof kinds / sizeof kinds[0] == SL_AUDIT_KIND_COUNT, "every kind has its audit");

static sl_code
too_many(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                   "the page exceeds the memory of one request");
}

static sl_code
page_from(const PGresult *result, uint32_t limit, sl_arena *arena, sl_inventory_history *out,
          sl_errors *err)
{
    const uint32_t found = (uint32_t)PQntuples(result);
    sl_inventory_history page = {.count = found < limit ? found : limit, .more = found > limit};

    page.events = sl_arena_alloc(arena, page.count > 0 ? page.count : 1, sizeof *page.events);
    if (page.events == NULL)
        return too_many(err);
    for (uint32_t i = 0; i < page.count; i++) {
        sl_inventory_event *const event = &page.events[i];
        const int row = (int)i;
        bool failed = false;
        event->id = sl_rows_uint(result, row, COLUMN_ID);
        event->revision = sl_rows_uint(result, row, COLUMN_REVISION);
        event->written_at = sl_rows_text(result, row, COLUMN_WRITTEN_AT, arena, &failed);
        const sl_code code =
            failed ? too_many(err) : sl_rows_event(result, row, COLUMN_ACTION, arena, event, err);
        if (code != SL_OK)
            return code;
    }
    *out = page;
    return SL_OK;
}

sl_code
sl_audit_list(sl_store *store, const sl_audit_subject *subject, uint64_t before, uint32_t limit,
              sl_arena *arena, sl_inventory_history *out, sl_errors *err)
{
    assert(subject != NULL && subject->kind < SL_AUDIT_KIND_COUNT && limit > 0 && out != NULL);

    char bound[SL_NUMBER_TEXT_SIZE];
    char fetch[SL_NUMBER_TEXT_SIZE];
    PGresult *result = NULL;
    sl_rows_number(before == 0 ? UINT64_MAX : before, bound);
    sl_rows_number((uint64_t)limit + 1, fetch);
    sl_code code =
        sl_query_read(store, kinds[subject->kind].statement,
                      (const char *[]){subject->name, bound, fetch, subject->part}, &result, err);
    if (code != SL_OK)
        return code;
    /* An inventory may be older than the audit: it has one row then, without an id. */
    if (PQntuples(result) == 0 && before == 0)
        code = sl_fail(err, SL_E_NOT_FOUND, kinds[subject->kind].rule, "", "must name %s, got '%s'",
                       kinds[subject->kind].what, subject->name);
    else if (PQntuples(result) == 1 && PQgetisnull(result, 0, COLUMN_ID))
        *out = (sl_inventory_history){.count = 0};
    else
        code = page_from(result, limit, arena, out, err);
    PQclear(result);
    return code;
}
