#include "store/inventory_problems.h"

#include <assert.h>

#include "store/inventory_rows.h"
#include "store/query.h"

sl_code
sl_inventories_unjudged(sl_store *store, const char *after, const char *software, sl_arena *arena,
                        sl_inventory_unjudged rows[SL_UNJUDGED_PAGE], uint32_t *count,
                        sl_errors *err)
{
    assert(after != NULL && software != NULL && count != NULL);

    char limit[SL_NUMBER_TEXT_SIZE];
    PGresult *result = NULL;
    bool failed = false;
    sl_rows_number(SL_UNJUDGED_PAGE, limit);
    const sl_code code = sl_query_read(store, SL_SQL_INVENTORIES_UNJUDGED,
                                       (const char *[]){after, software, limit}, &result, err);
    if (code != SL_OK)
        return code;
    *count = (uint32_t)PQntuples(result);
    for (uint32_t i = 0; i < *count; i++)
        rows[i] = (sl_inventory_unjudged){
            .slug = sl_rows_text(result, (int)i, 0, arena, &failed),
            .holds_for = sl_rows_text(result, (int)i, 1, arena, &failed),
        };
    PQclear(result);
    return failed ? sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the page")
                  : SL_OK;
}

sl_code
sl_inventory_judge(sl_store *store, const sl_inventory_unjudged *row, bool wrong, sl_errors *err)
{
    assert(row != NULL);

    PGresult *result = NULL;
    /* To judge twice is to judge once: it may be tried again like a read. */
    const sl_code code =
        sl_query_read(store, SL_SQL_INVENTORY_JUDGE,
                      (const char *[]){row->slug, row->holds_for, wrong ? "t" : "f"}, &result, err);
    PQclear(result);
    return code;
}
