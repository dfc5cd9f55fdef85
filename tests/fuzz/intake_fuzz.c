/*
 * Any bytes as one file, or as two where a NUL stands between them, or as what the commands of a
 * session printed: recognised, read, merged and written. What is written is JSON, and a spec that is refused is refused for what the user was
 * told.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "intake/draft.h"
#include "intake/format.h"
#include "intake/session.h"

enum { ARENA_BYTES = 64 << 20, ANSWER_BYTES = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const sl_catalog *
the_catalog(void)
{
    static sl_catalog *catalog;
    sl_errors err = {0};
    if (catalog == NULL)
        catalog = sl_catalog_new(&err);
    assert(catalog != NULL);
    return catalog;
}

static void
check_json(const char *text, size_t size)
{
    static const sl_json_limits limits = {.max_bytes = ANSWER_BYTES,
                                          .max_depth = SL_JSON_DEPTH_MAX};
    sl_errors err = {0};
    sl_json *json = NULL;
    const sl_code code = sl_json_parse(text, size, &limits, &json, &err);
    assert(code == SL_OK);
    (void)code;
    sl_json_free(json);
}

static void
write_draft(const sl_draft *draft)
{
    sl_buffer text;
    sl_writer writer;
    sl_buffer_init(&text, ANSWER_BYTES);
    sl_writer_init(&writer, &text);
    sl_write_object(&writer);
    sl_draft_write(&writer, draft);
    sl_write_object_end(&writer);
    assert(text.failed || sl_writer_ok(&writer));
    if (!text.failed)
        check_json(text.data, text.size);
    sl_buffer_clear(&text);
}

static bool
read_file(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    const sl_format *format = NULL;
    uint32_t confidence = 0;

    return sl_intake_read(raw, NULL, findings, &format, &confidence, err) == SL_OK;
}

static bool
read_outputs(const sl_raw *raw, sl_findings *findings, sl_arena *arena, sl_errors *err)
{
    sl_session session;
    sl_raw output;
    bool more = true, any = false;

    if (!sl_session_open(raw, &session))
        return read_file(raw, findings, err);
    while (sl_session_next(&session, arena, &output, &more, err) == SL_OK && more)
        any = read_file(&output, findings, err) || any;
    return any;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_errors err = {0};
    const char *const text = size > 0 ? (const char *)bytes : "";
    const char *const nul = size > 0 ? memchr(text, '\0', size) : NULL;
    const size_t first = nul != NULL ? (size_t)(nul - text) : size;
    const sl_raw raws[] = {{"a", text, first},
                           {"b", text + first + 1, nul != NULL ? size - first - 1 : 0}};
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_draft *const draft = calloc(1, sizeof *draft);
    sl_findings *const findings = arena != NULL ? sl_findings_new(arena, the_catalog()) : NULL;
    bool any = false;

    assert(draft != NULL && findings != NULL);
    for (size_t i = 0; i < (nul != NULL ? 2U : 1U); i++)
        any = read_outputs(&raws[i], findings, arena, &err) || any;
    if (any && sl_findings_join_names(findings, &err) == SL_OK &&
        sl_draft_make(findings, the_catalog(), arena, draft, &err) == SL_OK)
        write_draft(draft);
    free(draft);
    sl_arena_free(arena);
    return 0;
}
