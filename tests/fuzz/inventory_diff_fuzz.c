/* Any two inventories, a line end between them: their diff is written, and one of equals is
 * empty. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "codec/inventory/inventory.h"
#include "codec/inventory/inventory_diff.h"

enum { OUTPUT_BYTES = 16 * 1024 * 1024, ARENA_BYTES = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};

static sl_json *
accepted(const sl_catalog *catalog, const uint8_t *bytes, size_t size)
{
    sl_errors err = {0};
    sl_errors warnings = {0};
    sl_json *json = NULL;

    if (sl_json_parse((const char *)bytes, size, &limits, &json, &err) != SL_OK)
        return NULL;
    const sl_node root = sl_json_root(json);
    if (sl_inventory_check(&root, catalog, &warnings, &err) == SL_OK)
        return json;
    sl_json_free(json);
    return NULL;
}

static void
compare(const sl_json *before, const sl_json *after, bool equal)
{
    sl_errors err = {0};
    sl_buffer out;
    sl_writer writer;
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    const sl_node left = sl_json_root(before);
    const sl_node right = sl_json_root(after);

    assert(arena != NULL);
    sl_buffer_init(&out, OUTPUT_BYTES);
    sl_writer_init(&writer, &out);
    sl_write_object(&writer);
    const sl_code code = sl_inventory_diff_write(&writer, &left, &right, arena, &err);
    assert(code == SL_OK || code == SL_E_MEMORY);
    if (code == SL_OK) {
        sl_write_object_end(&writer);
        assert(sl_writer_ok(&writer));
        assert(!equal || strstr(out.data, "\"changes\":[]") != NULL);
    }
    sl_buffer_clear(&out);
    sl_arena_free(arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static sl_catalog *catalog;
    sl_errors err = {0};
    const uint8_t *const line = size == 0 ? NULL : memchr(bytes, '\n', size);

    if (catalog == NULL) {
        catalog = sl_catalog_new(&err);
        assert(catalog != NULL);
    }
    if (line == NULL)
        return 0;
    sl_json *const before = accepted(catalog, bytes, (size_t)(line - bytes));
    sl_json *const after = accepted(catalog, line + 1, size - 1 - (size_t)(line - bytes));
    if (before != NULL)
        compare(before, before, true);
    if (before != NULL && after != NULL)
        compare(before, after, false);
    sl_json_free(before);
    sl_json_free(after);
    return 0;
}
