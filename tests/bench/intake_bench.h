/** What reading 64 MiB of a tool's output costs: a bench prints the output, here it is read. */
#ifndef SL_TESTS_INTAKE_BENCH_H
#define SL_TESTS_INTAKE_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buffer.h"
#include "catalog/catalog.h"
#include "intake/format.h"

enum { TEXT_BYTES = 64 << 20, ARENA_BYTES = 512 << 20, ROUNDS = 3 };

/* Appends what a format prints of node `i`. */
typedef void (*printing)(sl_buffer *out, uint32_t i);

static inline void
measure(const char *name, const sl_buffer *text)
{
    sl_errors err = {.count = 0};
    sl_catalog *const catalog = sl_catalog_new(&err);

    if (catalog == NULL)
        exit(EXIT_FAILURE);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        sl_arena *const arena = sl_arena_new(ARENA_BYTES);
        sl_findings *const findings = arena == NULL ? NULL : sl_findings_new(arena, catalog);
        const sl_raw raw = {.name = "", .text = text->data, .size = text->size};
        const sl_format *used = NULL;
        uint32_t confidence = 0;
        if (findings == NULL)
            exit(EXIT_FAILURE);
        const clock_t start = clock(); /* of this process: what else runs does not count */
        const sl_code code = sl_intake_read(&raw, NULL, findings, &used, &confidence, &err);
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (code != SL_OK || used == NULL) {
            printf("%s: %s\n", name, err.list[0].message);
            exit(EXIT_FAILURE);
        }
        printf("%-16s %5.1f MiB  %6u hosts  %.3f s of CPU\n", used->name,
               (double)text->size / (1 << 20), sl_findings_count(findings), seconds);
        sl_arena_free(arena);
    }
    sl_catalog_free(catalog);
}

/* Of as many nodes as have room, at most `most`. */
static inline void
measure_printed(const char *name, printing print, uint32_t most, const char *end)
{
    sl_buffer text;
    sl_buffer_init(&text, TEXT_BYTES + 65536);
    for (uint32_t i = 0; i < most && text.size < TEXT_BYTES; i++)
        print(&text, i);
    sl_buffer_text(&text, end);
    if (text.failed)
        exit(EXIT_FAILURE);
    measure(name, &text);
    sl_buffer_clear(&text);
}

#endif
