#include <assert.h>
#include <inttypes.h>

#include "store/inventory_rows.h"
#include "store/query.h"

sl_code
sl_inventory_get(sl_store *store, const char *slug, const char *pointer, sl_arena *arena,
                 sl_inventory_row *out, sl_errors *err)
{
    PGresult *result = NULL;
    sl_code code = sl_query_read(store, SL_SQL_INVENTORY_GET, (const char *[]){slug}, &result, err);
    if (code != SL_OK)
        return code;
    code = PQntuples(result) == 1 ? sl_rows_inventory(result, 0, true, arena, out, err)
                                  : sl_rows_not_found(slug, pointer, err);
    if (code == SL_OK)
        out->bare = *PQgetvalue(result, 0, SL_COLUMN_BARE) == 't';
    PQclear(result);
    return code;
}

sl_code
sl_inventory_revision(sl_store *store, const char *slug, uint64_t revision, sl_arena *arena,
                      sl_inventory_row *out, sl_errors *err)
{
    char number[SL_NUMBER_TEXT_SIZE];
    sl_rows_number(revision, number);
    PGresult *result = NULL;
    sl_code code = sl_query_read(store, SL_SQL_INVENTORY_REVISION, (const char *[]){slug, number},
                                 &result, err);
    if (code != SL_OK)
        return code;
    if (PQntuples(result) == 1)
        code = sl_rows_inventory(result, 0, true, arena, out, err);
    else
        code = sl_fail(err, SL_E_NOT_FOUND, "revision_not_found", "",
                       "must name a stored revision of an inventory, got %" PRIu64 " of '%s'",
                       revision, slug);
    PQclear(result);
    return code;
}

/* Of a list: how many rows to keep; one more than asked for was fetched to show that there is
 * more. */
static uint32_t
kept(const PGresult *result, uint32_t limit, bool *more)
{
    const uint32_t found = (uint32_t)PQntuples(result);
    *more = found > limit;
    return *more ? limit : found;
}

static sl_code
too_many(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                   "the page exceeds the memory of one request");
}

static sl_code
page_from(const PGresult *result, uint32_t limit, sl_arena *arena, sl_inventory_page *out,
          sl_errors *err)
{
    sl_inventory_page page = {.count = 0};
    bool failed = false;
    page.count = kept(result, limit, &page.more);
    if (page.count > 0) {
        page.rows = sl_arena_alloc(arena, page.count, sizeof *page.rows);
        page.last_key =
            sl_rows_text(result, (int)page.count - 1, SL_COLUMN_SORT_KEY, arena, &failed);
        if (page.rows == NULL || failed)
            return too_many(err);
    }
    for (uint32_t i = 0; i < page.count; i++) {
        const sl_code code = sl_rows_inventory(result, (int)i, false, arena, &page.rows[i], err);
        if (code != SL_OK)
            return code;
    }
    *out = page;
    return SL_OK;
}

sl_code
sl_inventory_list(sl_store *store, const sl_inventory_query *query, sl_arena *arena,
                  sl_inventory_page *out, sl_errors *err)
{
    /* Each order with the bound that lies before its first row. '~' is behind all that a slug is
       made of. */
    static const struct {
        sl_statement statement;
        const char *first_key;
        const char *first_slug;
    } orders[] = {
        [SL_SORT_SLUG] = {SL_SQL_INVENTORIES_BY_SLUG, "", ""},
        [SL_SORT_SLUG_DOWN] = {SL_SQL_INVENTORIES_BY_SLUG_DOWN, "~", "~"},
        [SL_SORT_UPDATED] = {SL_SQL_INVENTORIES_BY_UPDATE, "-infinity", ""},
        [SL_SORT_UPDATED_DOWN] = {SL_SQL_INVENTORIES_BY_UPDATE_DOWN, "infinity", "~"},
        [SL_SORT_NAME] = {SL_SQL_INVENTORIES_BY_NAME, "", ""},
        [SL_SORT_OBSERVED] = {SL_SQL_INVENTORIES_BY_OBSERVATION, "-infinity", ""},
    };
    _Static_assert(sizeof orders / sizeof orders[0] == SL_SORT_COUNT, "every order has its text");
    assert(query->sort < SL_SORT_COUNT);

    const bool first = query->after_key == NULL;
    char fetch[SL_NUMBER_TEXT_SIZE];
    sl_rows_number((uint64_t)query->limit + 1, fetch);
    const char *const values[] = {first ? orders[query->sort].first_key : query->after_key,
                                  fetch,
                                  query->deleted ? "t" : "f",
                                  query->accelerator,
                                  query->name_part,
                                  query->labels,
                                  query->label_name,
                                  query->updated_since,
                                  query->problems ? "t" : NULL,
                                  first ? orders[query->sort].first_slug : query->after_slug};
    PGresult *result = NULL;
    sl_code code = sl_query_read(store, orders[query->sort].statement, values, &result, err);
    if (code != SL_OK)
        return code;
    code = page_from(result, query->limit, arena, out, err);
    PQclear(result);
    return code;
}

static sl_code
history_from(const PGresult *result, uint32_t limit, sl_arena *arena, sl_inventory_history *out,
             sl_errors *err)
{
    sl_inventory_history read = {.count = 0};
    /* An inventory without anything in the window has one row, without its number. */
    if (!PQgetisnull(result, 0, SL_COLUMN_REVISION))
        read.count = kept(result, limit, &read.more);
    if (read.count > 0) {
        read.events = sl_arena_alloc(arena, read.count, sizeof *read.events);
        read.rows = sl_arena_alloc(arena, read.count, sizeof *read.rows);
        if (read.events == NULL || read.rows == NULL)
            return too_many(err);
    }
    for (uint32_t i = 0; i < read.count; i++) {
        const int row = (int)i;
        sl_code code = sl_rows_inventory(result, row, false, arena, &read.rows[i], err);
        if (code == SL_OK)
            code = sl_rows_event(result, row, SL_COLUMN_ACTION, arena, &read.events[i], err);
        if (code != SL_OK)
            return code;
        read.events[i].revision = read.rows[i].revision;
    }
    *out = read;
    return SL_OK;
}

sl_code
sl_inventory_revisions(sl_store *store, const char *slug, uint64_t before, uint32_t limit,
                       sl_arena *arena, sl_inventory_history *out, sl_errors *err)
{
    char bound[SL_NUMBER_TEXT_SIZE];
    char fetch[SL_NUMBER_TEXT_SIZE];
    sl_rows_number(before == 0 ? UINT64_MAX : before, bound);
    sl_rows_number((uint64_t)limit + 1, fetch);
    PGresult *result = NULL;
    sl_code code = sl_query_read(store, SL_SQL_INVENTORY_REVISIONS,
                                 (const char *[]){slug, bound, fetch}, &result, err);
    if (code != SL_OK)
        return code;
    code = PQntuples(result) == 0 ? sl_rows_not_found(slug, "", err)
                                  : history_from(result, limit, arena, out, err);
    PQclear(result);
    return code;
}
