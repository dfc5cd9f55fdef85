/* Any bytes as a document of one of the formats, which the first byte picks: reading ends, with
 * findings or with an error that says something. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "intake/documents/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const size_t ARENA_BYTES = (size_t)64 << 20;

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static sl_sample sample;
    if (size == 0)
        return 0;
    sl_errors err = {.count = 0};
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_findings *const findings = sl_findings_new(arena);
    assert(findings != NULL);
    const sl_raw raw = {"", (const char *)bytes + 1, size - 1};
    const sl_format *const format = &sl_document_formats.list[bytes[0] % sl_document_formats.count];

    sl_sample_take(&raw, &sample);
    for (uint32_t i = 0; i < sl_document_formats.count; i++)
        assert(sl_document_formats.list[i].recognise(&sample) <= 100);
    sl_code code = sl_findings_file(findings, "", format->name, &err);
    assert(code == SL_OK);
    code = format->read(&raw, findings, &err);
    assert((code == SL_OK) == (err.count == 0));
    assert(code == SL_OK || err.list[0].message[0] != '\0');
    sl_arena_free(arena);
    return 0;
}
