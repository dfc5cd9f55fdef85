#include "intake/devices/outputs.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/cells.h"
#include "intake/elements.h"

/* Behind the quote that ends the text which begins at `at`, or `end`. */
static const char *
pass_text(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        const char *const quote = memchr(at, '"', (size_t)(end - at));
        const char *const slash = memchr(at, '\\', (size_t)((quote != NULL ? quote : end) - at));
        if (slash == NULL)
            return quote != NULL ? quote + 1 : end;
        at = slash + 1;
    }
    return end;
}

/* Bytes up to the bracket that closes the first one; all of them where it does not. */
static size_t
document_size(const char *text, size_t size)
{
    const char *const end = text + size;
    const char *at = text;
    uint32_t depth = 0;
    while (at < end) {
        const char c = *at;
        if (c == '"') {
            at = pass_text(at, end);
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return (size_t)(at - text);
    }
    return size;
}

static sl_code
visit_one(sl_output *document, sl_output_visit visit, void *context, sl_errors *err)
{
    sl_json_limits limits = {.max_bytes = SL_DOCUMENT_MAX_BYTES, .max_depth = SL_JSON_DEPTH_MAX};
    sl_errors inner;
    sl_json *json = NULL;

    sl_errors_begin(&inner, false);
    sl_code code = sl_json_parse(document->text, document->size, &limits, &json, &inner);
    if (code == SL_E_SYNTAX) {
        /* As with elements: to look for NaN in every document takes as long as to decode it. */
        limits.accept_python_numbers = true;
        sl_errors_begin(&inner, false);
        code = sl_json_parse(document->text, document->size, &limits, &json, &inner);
    }
    if (code != SL_OK)
        return sl_fail(err, code, inner.list[0].rule, "", "the document from line %u: %s",
                       document->line, inner.list[0].message);
    const sl_node root = sl_json_root(json);
    document->root = &root;
    code = visit(context, document, err);
    sl_json_free(json);
    return code;
}

/* A document begins where a line does, or behind a verdict: "gpu001 | SUCCESS => {". */
static const char *
begin_of(const char *line, const char *end)
{
    const char *at = line;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (at < end && (*at == '{' || *at == '['))
        return at;
    const char *const feed = memchr(line, '\n', (size_t)(end - line));
    const char *const stop = feed != NULL ? feed : end;
    for (at = line; at + 4 <= stop; at++)
        if (memcmp(at, "=> {", 4) == 0)
            return at + 3;
    return NULL;
}

/* What is done with each document of each host. */
typedef struct visiting {
    sl_output_visit visit;
    void *context;
    uint32_t count;
} visiting;

/* whose: of all of them, or "". */
static sl_code
visit_run(void *context, const char *text, size_t size, const char *whose, uint32_t first,
          sl_errors *err)
{
    visiting *const v = context;
    sl_captures captures;
    char line[512];
    char host[SL_HOST_NAME_MAX + 1];

    (void)sl_text_copy(host, sizeof host, whose);
    sl_captures_open(&captures, text, size);
    captures.lines.number = first - 1;
    for (;;) {
        const char *const begin = captures.lines.at;
        if (!sl_captures_next(&captures, line, sizeof line))
            return SL_OK;
        if (*captures.host != '\0')
            memcpy(host, captures.host, sizeof host);
        const char *const from = begin_of(begin, captures.lines.end);
        if (from == NULL)
            continue;
        if (v->count++ == SL_HOSTS_MAX)
            return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d documents",
                           SL_HOSTS_MAX);
        const size_t used = document_size(from, (size_t)(captures.lines.end - from));
        sl_output document = {
            .host = host, .text = from, .size = used, .line = captures.lines.number};
        const sl_code code = visit_one(&document, v->visit, v->context, err);
        if (code != SL_OK)
            return code;
        sl_captures_pass(&captures, from, used);
        captures.host[0] = '\0';
        (void)sl_text_copy(host, sizeof host, whose);
    }
}

sl_code
sl_outputs_each(const char *text, size_t size, sl_output_visit visit, void *context, sl_errors *err)
{
    visiting v = {.visit = visit, .context = context};
    assert((text != NULL || size == 0) && visit != NULL && err != NULL);

    const sl_code code = sl_captures_runs(text, size, visit_run, &v, err);
    return code != SL_OK || v.count > 0 ? code
                                        : sl_fail(err, SL_E_SYNTAX, "malformed_json", "",
                                                  "line 1: no JSON document begins in it");
}

uint32_t
sl_output_find(sl_output_cursor *cursor, const char *key)
{
    const char *const text = cursor->document->text;
    const size_t size = cursor->document->size;
    const size_t length = strlen(key);
    uint32_t line = cursor->line;

    for (size_t i = cursor->at; i + length + 2 <= size; i++) {
        line += text[i] == '\n';
        if (text[i] != '"' || text[i + length + 1] != '"' || memcmp(text + i + 1, key, length) != 0)
            continue;
        cursor->at = i + length + 2;
        cursor->line = line;
        break;
    }
    return cursor->line;
}

const char *
sl_output_text(const sl_node *value)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *text = NULL;
    if (sl_node_kind(value) != SL_JSON_TEXT || sl_node_as_text(value, &text, &ignored) != SL_OK)
        return NULL;
    text += strspn(text, " ");
    return sl_cell_is_nothing(text) ? NULL : text;
}
