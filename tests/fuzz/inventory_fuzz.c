/* Any inventory: checking ends, and what passes has a status and an address. */
#include <assert.h>
#include <stdint.h>

#include "codec/inventory/inventory.h"

enum { OUTPUT_BYTES = 16 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static sl_catalog *catalog;
    sl_errors err = {0};
    sl_json *json = NULL;

    if (catalog == NULL) {
        catalog = sl_catalog_new(&err);
        assert(catalog != NULL);
    }
    if (sl_json_parse((const char *)bytes, size, &limits, &json, &err) != SL_OK)
        return 0;

    const sl_node root = sl_json_root(json);
    sl_inventory_hardware hardware;
    sl_inventory_count(&root, catalog, &hardware); /* another release may have let it pass */
    if (sl_inventory_check(&root, catalog, NULL, &err) == SL_OK) {
        char hash[SL_HASH_TEXT_SIZE];
        sl_buffer out;
        sl_writer writer;

        sl_buffer_init(&out, OUTPUT_BYTES);
        sl_writer_init(&writer, &out);
        sl_inventory_hardware_write(&writer, &hardware);
        assert(sl_writer_ok(&writer));
        sl_buffer_clear(&out);
        assert(sl_inventory_hash(&root, hash, &err) == SL_OK);
    } else {
        assert(err.count > 0);
    }
    sl_json_free(json);
    return 0;
}
