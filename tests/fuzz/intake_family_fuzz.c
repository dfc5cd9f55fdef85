/* Any bytes as a file of one family: the first byte picks the format, or lets it be recognised.
 * Whatever they are, reading ends, says why when it fails, and what it found can be used.
 * The family is SL_FAMILY, which the build names: one program each. */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "asking.h"
#include "intake/format.h"

enum { ARENA_MAX_BYTES = 512 << 20 };

extern const sl_formats SL_FAMILY;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
recognise(const sl_raw *raw)
{
    static sl_sample sample;

    sl_sample_take(raw, &sample);
    for (uint32_t i = 0; i < SL_FAMILY.count; i++)
        assert(SL_FAMILY.list[i]->recognise(&sample) <= 100);
}

static void
use(const sl_findings *findings)
{
    uint32_t dropped = 0;

    for (uint32_t i = 0; i < sl_findings_count(findings); i++) {
        const sl_found_host *const host = sl_findings_host(findings, i);
        assert(host->kind < sl_findings_kind_count(findings) && host->state <= SL_HOST_DOWN);
        assert(host->count > 0 && (host->name == NULL || *host->name != '\0'));
        assert(host->name == NULL || sl_findings_find(findings, host->name) != SL_FOUND_NONE);
    }
    for (uint32_t i = 0; i < sl_findings_kind_count(findings); i++) {
        const sl_facts *const facts = sl_findings_kind(findings, i);
        for (uint32_t k = 0; k < SL_FIELD_COUNT; k++) {
            const sl_fact *const fact = &facts->field[k];
            assert(!fact->said || sl_field_is_text(k) == (fact->text != NULL));
            assert(!fact->said || fact->text != NULL ||
                   (isfinite(fact->number) && fact->number >= 0));
        }
    }
    for (uint32_t i = 0; i < sl_findings_warning_count(findings, &dropped); i++)
        assert(sl_findings_warning(findings, i)->text[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    sl_arena *const arena = sl_arena_new(ARENA_MAX_BYTES);
    assert(arena != NULL);
    sl_findings *const findings = sl_findings_new(arena, sl_asking_catalog());
    assert(findings != NULL);
    const uint32_t pick = bytes[0] % (SL_FAMILY.count + 1);
    const sl_format *const format = pick < SL_FAMILY.count ? SL_FAMILY.list[pick] : NULL;
    const sl_raw raw = {.name = "fuzz", .text = (const char *)bytes + 1, .size = size - 1};
    const sl_format *used = NULL;
    uint32_t confidence = 0;
    sl_errors err = {.count = 0};

    recognise(&raw);
    const sl_code code = sl_intake_read(&raw, format, findings, &used, &confidence, &err);
    assert((code == SL_OK) == (err.count == 0) && confidence <= 100);
    assert(code == SL_OK || err.list[0].message[0] != '\0');
    assert(format == NULL || used == format);
    use(findings);
    sl_arena_free(arena);
    return 0;
}
