/** From the cells of a result to the rows of inventory.h. Inside server/store only. */
#ifndef SL_STORE_INVENTORY_ROWS_H
#define SL_STORE_INVENTORY_ROWS_H

#include <libpq-fe.h>

#include "store/inventory.h"

enum { SL_NUMBER_TEXT_SIZE = 24 };

/** Columns as the statements of sql.c list them; what follows a row depends on the statement. */
enum {
    SL_COLUMN_SLUG,
    SL_COLUMN_REVISION,
    SL_COLUMN_NAME,
    SL_COLUMN_CREATED_AT,
    SL_COLUMN_UPDATED_AT,
    SL_COLUMN_DELETED_AT,
    SL_COLUMN_SPEC,
    SL_COLUMN_HASH,
    SL_COLUMN_BARE = SL_COLUMN_HASH,
    SL_COLUMN_SORT_KEY = SL_COLUMN_SPEC,
    SL_COLUMN_ACTION = SL_COLUMN_SPEC
};

/** bigint ends at INT64_MAX; no number of ours is beyond it, so that larger ones mean the same. */
void sl_rows_number(uint64_t value, char out[SL_NUMBER_TEXT_SIZE]);

uint64_t sl_rows_uint(const PGresult *result, int row, int column);

/** In the arena; NULL where the cell is null. *failed is set when there is no memory. */
const char *sl_rows_text(const PGresult *result, int row, int column, sl_arena *arena,
                         bool *failed);

/** A row with its spec, or the row of a list. */
sl_code sl_rows_inventory(const PGresult *result, int row, bool with_spec, sl_arena *arena,
                          sl_inventory_row *out, sl_errors *err) SL_MUST_CHECK;

/** action and requester, from `column` on. */
sl_code sl_rows_event(const PGresult *result, int row, int column, sl_arena *arena,
                      sl_inventory_event *out, sl_errors *err) SL_MUST_CHECK;

sl_code sl_rows_not_found(const char *slug, const char *pointer, sl_errors *err);

#endif
