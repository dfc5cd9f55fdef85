/* Any bytes: reading ends, within its text, and every row has the header's fields. */
#include <assert.h>
#include <stdint.h>

#include "base/csv.h"

enum { ARENA_BYTES = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_errors err = {0};
    sl_csv csv;
    bool more = true;
    if (arena == NULL)
        return 0;
    sl_code code = sl_csv_open(&csv, (const char *)bytes, size, arena, &err);
    while (code == SL_OK && more) {
        double number = 0;
        const char *const before = csv.at;
        code = sl_csv_next(&csv, &more, &err);
        assert(csv.at <= csv.end && (csv.at > before || !more || code != SL_OK));
        for (uint32_t i = 0; code == SL_OK && more && i < csv.column_count; i++) {
            assert(csv.field[i] != NULL);
            (void)!sl_csv_number(&csv, csv.header[i], 0, &number, &err);
        }
    }
    sl_arena_free(arena);
    return 0;
}
