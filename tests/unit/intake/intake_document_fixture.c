#include "intake_document_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"

static const size_t ARENA_BYTES = (size_t)256 << 20;

sl_document_read sl_read;

void
sl_read_end(void)
{
    sl_arena_free(sl_read.arena);
    sl_read = (sl_document_read){.arena = NULL};
}

static sl_code
read_bytes(const char *name, const char *text, size_t size, const char *format)
{
    sl_read_end();
    sl_read.arena = sl_arena_new(ARENA_BYTES);
    sl_read.findings = sl_findings_new(sl_read.arena, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sl_read.findings);
    const sl_format *const asked = format != NULL ? sl_format_find(format) : NULL;
    CU_ASSERT_FATAL(format == NULL || asked != NULL);
    const sl_raw raw = {name, text, size};
    uint32_t confidence = 0;
    sl_read.code =
        sl_intake_read(&raw, asked, sl_read.findings, &sl_read.format, &confidence, &sl_read.err);
    CU_ASSERT_EQUAL(sl_read.code == SL_OK, sl_read.err.count == 0);
    return sl_read.code;
}

sl_code
sl_read_text(const char *text, const char *format)
{
    /* Not terminated, as uploads are not: a reader past the end is caught. */
    const size_t size = strlen(text);
    char *const copy = malloc(size + 1);
    if (copy == NULL)
        return SL_E_MEMORY;
    memcpy(copy, text, size + 1);
    char *const bytes = realloc(copy, size > 0 ? size : 1);
    const sl_code code = read_bytes("", bytes != NULL ? bytes : copy, size, format);
    free(bytes != NULL ? bytes : copy);
    return code;
}

static void
read_file(const char *path, const char *format)
{
    size_t size = 0;
    char *const text = sl_read_file(path, &size);
    if (text == NULL)
        sl_fail_for(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    if (read_bytes(path, text, size, NULL) != SL_OK)
        sl_expect_text(sl_read.err.list[0].message, "", path);
    free(text);
    sl_expect_text(sl_read.format != NULL ? sl_read.format->name : "", format, path);
}

void
sl_read_fixture(const char *file, const char *format)
{
    char relative[256];
    (void)snprintf(relative, sizeof relative, "fixtures/inventories/%s", file);
    read_file(sl_tests_path(relative), format);
}

bool
sl_read_shared(const char *file, const char *format)
{
    char relative[256];
    (void)snprintf(relative, sizeof relative, "inventories/%s", file);
    const char *const path = sl_shared_path(relative);
    if (path == NULL)
        return false;
    read_file(path, format);
    return true;
}

const sl_found_host *
sl_read_host(const char *name)
{
    const uint32_t index = sl_findings_find(sl_read.findings, name);
    if (index == SL_FOUND_NONE)
        sl_fail_for(name);
    CU_ASSERT_NOT_EQUAL_FATAL(index, SL_FOUND_NONE);
    return sl_findings_host(sl_read.findings, index);
}

static const sl_fact *
fact_of(const char *host, sl_field field)
{
    return &sl_findings_kind(sl_read.findings, sl_read_host(host)->kind)->field[field];
}

void
sl_expect_number(const char *host, sl_field field, double number)
{
    const sl_fact *const fact = fact_of(host, field);
    char what[256];
    (void)snprintf(what, sizeof what, "%s %s", host, sl_field_name(field));
    if (!fact->said)
        sl_fail_for(what);
    sl_expect_near(fact->number, number, 0.0, what);
}

void
sl_expect_words(const char *host, sl_field field, const char *text)
{
    const sl_fact *const fact = fact_of(host, field);
    sl_expect_text(fact->said ? fact->text : "", text, host);
}

void
sl_expect_unsaid(const char *host, sl_field field)
{
    if (fact_of(host, field)->said)
        sl_fail_for(host);
}

void
sl_expect_state(const char *host, sl_host_state state, const char *reason)
{
    const sl_found_host *const found = sl_read_host(host);
    sl_expect_text(sl_host_state_names[found->state], sl_host_state_names[state], host);
    sl_expect_text(found->reason != NULL ? found->reason : "", reason != NULL ? reason : "", host);
}

void
sl_expect_warned(const char *code, uint32_t count)
{
    uint32_t dropped = 0, found = 0;
    for (uint32_t i = 0; i < sl_findings_warning_count(sl_read.findings, &dropped); i++) {
        const sl_found_warning *const warning = sl_findings_warning(sl_read.findings, i);
        found += sl_text_equal(warning->code, code) ? warning->count : 0;
    }
    if (found != count)
        sl_fail_for(code);
}

void
sl_expect_refused(const char *text, const char *format, sl_code code, const char *rule,
                  const char *message)
{
    CU_ASSERT_EQUAL(sl_read_text(text, format), code);
    CU_ASSERT_TRUE_FATAL(sl_read.err.count > 0);
    sl_expect_text(sl_read.err.list[0].rule, rule, text);
    if (message != NULL)
        sl_expect_text(sl_read.err.list[0].message, message, text);
}
