/* Any bytes, as any format of the family: reading ends and leaves nothing behind. */
#include <assert.h>
#include <stdint.h>

#include "intake/devices/tools.h"

enum { ARENA_BYTES = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The first byte picks the format, the rest is the text. */
int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_errors err = {0};
    uint32_t confidence = 0;
    const sl_format *used = NULL;
    if (size == 0)
        return 0;
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_findings *const findings = arena != NULL ? sl_findings_new(arena) : NULL;
    if (findings != NULL) {
        const sl_format *const format = &sl_device_formats.list[bytes[0] % sl_device_formats.count];
        const sl_raw raw = {.name = "f", .text = (const char *)bytes + 1, .size = size - 1};
        const sl_code code = sl_intake_read(&raw, format, findings, &used, &confidence, &err);
        assert(code == SL_OK || err.count > 0);
        assert(used == format);
    }
    sl_arena_free(arena);
    return 0;
}
