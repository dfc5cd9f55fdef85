/* Any bytes as nodes of Kubernetes, JSON or YAML by the first byte: reading ends, with findings or
 * with an error that says something. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "intake/kubernetes/kubernetes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const size_t ARENA_BYTES = (size_t)64 << 20;

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static sl_sample sample;
    sl_errors err = {.count = 0};
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_findings *const findings = sl_findings_new(arena);
    assert(findings != NULL);
    const sl_raw raw = {"", (const char *)bytes, size};
    const sl_format *const format = &sl_kubernetes_formats.list[0];

    sl_sample_take(&raw, &sample);
    assert(format->recognise(&sample) <= 100);
    sl_code code = sl_findings_file(findings, "", format->name, &err);
    assert(code == SL_OK);
    code = format->read(&raw, findings, &err);
    assert((code == SL_OK) == (err.count == 0));
    assert(code == SL_OK || err.list[0].message[0] != '\0');
    sl_arena_free(arena);
    return 0;
}
