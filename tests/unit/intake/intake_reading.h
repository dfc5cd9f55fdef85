/** What a reader of an inventory's formats found, in words that a test can state. */
#ifndef SL_TESTS_INTAKE_READING_H
#define SL_TESTS_INTAKE_READING_H

#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "intake/format.h"

enum { FOUND_SIZE = 16384, FOUND_ARENA_BYTES = 64 * 1024 * 1024 };

typedef struct found {
    sl_arena *arena;
    sl_findings *findings;
    const sl_format *format; /* it was recognised as */
    sl_code code;
    sl_errors err;
    char words[FOUND_SIZE]; /* a line per host record */
} found;

static inline void
found_put(found *f, const char *before, const char *text)
{
    const size_t used = strlen(f->words);
    if (text != NULL)
        (void)snprintf(f->words + used, sizeof f->words - used, "%s%s", before, text);
}

/* "gpu001 accelerator=NVIDIA H200 accelerators=8 ...": "-" is a host that nobody named. */
static inline void
found_describe(found *f)
{
    for (uint32_t i = 0; i < sl_findings_count(f->findings); i++) {
        const sl_found_host *const host = sl_findings_host(f->findings, i);
        const sl_facts *const facts = sl_findings_kind(f->findings, host->kind);
        found_put(f, "", host->name != NULL ? host->name : "-");
        found_put(f, " pool=", host->pool);
        found_put(f, " domain=", host->domain);
        found_put(f, " leaf=", host->leaf);
        for (sl_field field = 0; field < SL_FIELD_COUNT; field++) {
            const sl_fact *const fact = &facts->field[field];
            if (!fact->said)
                continue;
            char number[32];
            (void)snprintf(number, sizeof number, "%.12g", fact->number);
            found_put(f, " ", sl_field_name(field));
            found_put(f, "=", fact->text != NULL ? fact->text : number);
        }
        found_put(f, "", "\n");
    }
}

static inline found *
find_in(const char *name, const char *text, size_t size, const sl_format *format)
{
    uint32_t confidence = 0;
    found *const f = calloc(1, sizeof *f);
    if (f == NULL)
        abort();
    f->arena = sl_arena_new(FOUND_ARENA_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->arena);
    f->findings = sl_findings_new(f->arena, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->findings);
    const sl_raw raw = {.name = name, .text = text, .size = size};
    f->code = sl_intake_read(&raw, format, f->findings, &f->format, &confidence, &f->err);
    if (f->code == SL_OK)
        found_describe(f);
    else
        (void)snprintf(f->words, sizeof f->words, "%s: %s", f->err.list[0].rule,
                       f->err.list[0].message);
    return f;
}

static inline found *
find_in_text(const char *text)
{
    return find_in("", text, strlen(text), NULL);
}

static inline found *
find_in_path(const char *path)
{
    size_t size = 0;
    char *const text = sl_read_file(path, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    found *const f = find_in(path, text, size, NULL);
    free(text);
    return f;
}

static inline void
found_free(found *f)
{
    sl_arena_free(f->arena);
    free(f);
}

/* Every reader of the family says of the text that it is not what it reads. */
static inline void
found_malformed_by_all(const sl_formats *family, const char *text)
{
    for (uint32_t i = 0; i < family->count; i++) {
        found *const f = find_in("", text, strlen(text), family->list[i]);
        CU_ASSERT_EQUAL(f->code, SL_E_SYNTAX);
        found_free(f);
    }
}

/* How often a warning of that code was given. */
static inline uint32_t
found_warned(const found *f, const char *code)
{
    uint32_t dropped = 0;
    uint32_t times = 0;
    for (uint32_t i = 0; i < sl_findings_warning_count(f->findings, &dropped); i++) {
        const sl_found_warning *const w = sl_findings_warning(f->findings, i);
        times += sl_text_equal(w->code, code) ? w->count : 0;
    }
    return times;
}

/* All warnings, "code code code". */
static inline void
found_warnings(const found *f, char *out, size_t size)
{
    uint32_t dropped = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < sl_findings_warning_count(f->findings, &dropped); i++) {
        const size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s%s", used > 0 ? " " : "",
                       sl_findings_warning(f->findings, i)->code);
    }
}

/* Checks format, hosts and warnings of what was found, and lets go of it. */
static inline void
expect_found(found *f, const char *format, const char *words, const char *warnings)
{
    char warned[1024];
    sl_expect_text(f->format != NULL ? f->format->name : "none", format, "format");
    sl_expect_text(f->words, words, format);
    found_warnings(f, warned, sizeof warned);
    sl_expect_text(warned, warnings, words);
    found_free(f);
}

/* A file of tests/fixtures/inventories. */
static inline found *
fixture(const char *name)
{
    char relative[128];
    (void)sl_text_format(relative, sizeof relative, "fixtures/inventories/%s", name);
    return find_in_path(sl_tests_path(relative));
}

/* A file of the real outputs beside the checkout; NULL and a skipped case without them. */
static inline found *
real(const char *name)
{
    char relative[128];
    (void)sl_text_format(relative, sizeof relative, "inventories/%s", name);
    const char *const path = sl_shared_path(relative);
    if (path != NULL)
        return find_in_path(path);
    sl_skip("no real outputs beside the checkout");
    return NULL;
}

/* What a file must yield. */
typedef struct expectation {
    const char *file, *words, *warnings;
} expectation;

static inline void
expect_real(const expectation *list, size_t count, const char *format)
{
    for (size_t i = 0; i < count; i++) {
        found *const f = real(list[i].file);
        if (f == NULL)
            return;
        expect_found(f, format, list[i].words, list[i].warnings);
    }
}

static inline void
expect_refused(const char *text, sl_code code, const char *rule)
{
    found *const f = find_in_text(text);
    CU_ASSERT_EQUAL(f->code, code);
    sl_expect_text(f->err.list[0].rule != NULL ? f->err.list[0].rule : "", rule, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(f->err.list[0].message, "line "));
    found_free(f);
}

#endif
