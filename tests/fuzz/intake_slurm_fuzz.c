/* Any bytes as a file of Slurm's: the first byte picks the format, or lets it be recognised. Whatever
 * they are, reading ends, says why when it fails, and what it found can be used. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "intake/slurm/slurm.h"

enum { ARENA_MAX_BYTES = 512 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

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
                   (isfinite(fact->number) && fact->number > 0));
        }
        const sl_fact *const all = &facts->field[SL_FIELD_ACCELERATORS];
        assert(!all->said || all->number <= 2.0 * SL_SLURM_DEVICES_MAX);
    }
    for (uint32_t i = 0; i < sl_findings_warning_count(findings, &dropped); i++)
        assert(sl_findings_warning(findings, i)->text[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    char *const text = malloc(size);
    sl_arena *const arena = sl_arena_new(ARENA_MAX_BYTES);
    assert(text != NULL && arena != NULL);
    memcpy(text, bytes + 1, size - 1);
    sl_findings *const findings = sl_findings_new(arena);
    assert(findings != NULL);
    const uint32_t pick = bytes[0] % (sl_slurm_formats.count + 1);
    const sl_format *const format =
        pick < sl_slurm_formats.count ? &sl_slurm_formats.list[pick] : NULL;
    const sl_raw raw = {.name = "fuzz", .text = text, .size = size - 1};
    const sl_format *used = NULL;
    uint32_t confidence = 0;
    sl_errors err = {.count = 0};
    const sl_code code = sl_intake_read(&raw, format, findings, &used, &confidence, &err);
    assert((code == SL_OK) == (err.count == 0) && confidence <= 100);
    assert(code == SL_OK || err.list[0].message[0] != '\0');
    use(findings);
    sl_arena_free(arena);
    free(text);
    return 0;
}
