#include "store/search.h"

#include <assert.h>

#include "store/inventory_rows.h"
#include "store/query.h"

/* Columns as the statement lists them. */
enum {
    COLUMN_HASH,
    COLUMN_ENGINE_VERSION,
    COLUMN_CATALOG_REVISION,
    COLUMN_RESULT,
    COLUMN_CREATED_AT
};

sl_code
sl_search_put(sl_store *store, const sl_search_row *row, sl_errors *err)
{
    assert(row != NULL);

    PGresult *result = NULL;
    /* To keep it twice is to keep it once: it may be tried again like a read. */
    const sl_code code = sl_query_read(
        store, SL_SQL_SEARCH_PUT,
        (const char *[]){row->hash, row->engine_version, row->catalog_revision, row->result},
        &result, err);
    PQclear(result);
    return code;
}

sl_code
sl_search_get(sl_store *store, const char *hash, sl_arena *arena, sl_search_row *out,
              sl_errors *err)
{
    assert(hash != NULL && out != NULL);

    PGresult *result = NULL;
    bool failed = false;
    sl_code code = sl_query_read(store, SL_SQL_SEARCH_GET, (const char *[]){hash}, &result, err);
    if (code != SL_OK)
        return code;
    if (PQntuples(result) == 1)
        *out = (sl_search_row){
            .hash = sl_rows_text(result, 0, COLUMN_HASH, arena, &failed),
            .engine_version = sl_rows_text(result, 0, COLUMN_ENGINE_VERSION, arena, &failed),
            .catalog_revision = sl_rows_text(result, 0, COLUMN_CATALOG_REVISION, arena, &failed),
            .result = sl_rows_text(result, 0, COLUMN_RESULT, arena, &failed),
            .created_at = sl_rows_text(result, 0, COLUMN_CREATED_AT, arena, &failed)};
    else
        code = sl_fail(err, SL_E_NOT_FOUND, "search_not_found", "",
                       "no result is kept under this hash");
    if (failed)
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                       "the result exceeds the memory of one request");
    PQclear(result);
    return code;
}
