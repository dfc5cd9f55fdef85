#include "store/inventory_rows.h"

#include <assert.h>
#include <inttypes.h>

#include "base/text.h"

void
sl_rows_number(uint64_t value, char out[SL_NUMBER_TEXT_SIZE])
{
    const uint64_t bound = INT64_MAX;
    const bool fits =
        sl_text_format(out, SL_NUMBER_TEXT_SIZE, "%" PRIu64, value < bound ? value : bound);
    assert(fits);
}

uint64_t
sl_rows_uint(const PGresult *result, int row, int column)
{
    uint64_t value = 0;
    const bool understood = sl_text_to_uint(PQgetvalue(result, row, column), &value);
    assert(understood);
    return value;
}

const char *
sl_rows_text(const PGresult *result, int row, int column, sl_arena *arena, bool *failed)
{
    if (PQgetisnull(result, row, column))
        return NULL;
    const char *const copy = sl_arena_copy_bytes(arena, PQgetvalue(result, row, column),
                                                 (size_t)PQgetlength(result, row, column));
    *failed = *failed || copy == NULL;
    return copy;
}

static sl_code
no_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                   "the stored inventory exceeds the memory of one request");
}

sl_code
sl_rows_inventory(const PGresult *result, int row, bool with_spec, sl_arena *arena,
                  sl_inventory_row *out, sl_errors *err)
{
    bool failed = false;
    const sl_inventory_row read = {
        .slug = sl_rows_text(result, row, SL_COLUMN_SLUG, arena, &failed),
        .revision = sl_rows_uint(result, row, SL_COLUMN_REVISION),
        .name = sl_rows_text(result, row, SL_COLUMN_NAME, arena, &failed),
        .spec = with_spec ? sl_rows_text(result, row, SL_COLUMN_SPEC, arena, &failed) : NULL,
        .created_at = sl_rows_text(result, row, SL_COLUMN_CREATED_AT, arena, &failed),
        .updated_at = sl_rows_text(result, row, SL_COLUMN_UPDATED_AT, arena, &failed),
        .deleted_at = sl_rows_text(result, row, SL_COLUMN_DELETED_AT, arena, &failed),
    };
    if (failed)
        return no_memory(err);
    *out = read;
    return SL_OK;
}

sl_code
sl_rows_event(const PGresult *result, int row, int column, sl_arena *arena, sl_inventory_event *out,
              sl_errors *err)
{
    bool failed = false;
    out->action = sl_rows_text(result, row, column, arena, &failed);
    out->requester = (sl_requester){
        .remote_address = sl_rows_text(result, row, column + 1, arena, &failed),
        .user_agent = sl_rows_text(result, row, column + 2, arena, &failed),
        .request_id = sl_rows_text(result, row, column + 3, arena, &failed),
    };
    return failed ? no_memory(err) : SL_OK;
}

sl_code
sl_rows_not_found(const char *slug, const char *pointer, sl_errors *err)
{
    return sl_fail(err, SL_E_NOT_FOUND, "inventory_not_found", pointer,
                   "no inventory is stored as '%s'", slug);
}
