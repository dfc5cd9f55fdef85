#include "intake/devices/outputs.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/syntax/cells.h"
#include "intake/syntax/elements.h"

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
    sl_json_cut cut;
    sl_buffer kept; /* what is read of one */
    sl_output_visit visit;
    void *context;
    uint32_t count;
} visiting;

/* The document that begins here; *end: where it ends. */
static sl_code
visit_one(visiting *v, sl_output *document, const char **end, sl_errors *err)
{
    sl_json_walk walk = sl_json_walk_new(document->text, document->size, document->line);
    sl_json *json = NULL;

    sl_code code = sl_json_walk_decode(&walk, &v->cut, &v->kept, &json, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    document->root = &root;
    document->size = (size_t)(walk.at - document->text);
    *end = walk.at;
    code = v->visit(v->context, document, err);
    sl_json_free(json);
    return code;
}

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
        const char *from = begin_of(begin, captures.lines.end);
        if (from == NULL)
            continue;
        if (v->count++ == SL_HOSTS_MAX)
            return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d documents",
                           SL_HOSTS_MAX);
        sl_output document = {.host = host,
                              .text = from,
                              .size = (size_t)(captures.lines.end - from),
                              .line = captures.lines.number};
        const sl_code code = visit_one(v, &document, &from, err);
        if (code != SL_OK)
            return code;
        sl_captures_pass(&captures, document.text, document.size);
        captures.host[0] = '\0';
        (void)sl_text_copy(host, sizeof host, whose);
    }
}

sl_code
sl_outputs_each(const char *text, size_t size, sl_member_read is_read, sl_output_visit visit,
                void *context, sl_errors *err)
{
    visiting v = {
        .cut = {.what = "document", .most_bytes = SL_DOCUMENT_MAX_BYTES, .is_read = is_read},
        .visit = visit,
        .context = context};
    assert((text != NULL || size == 0) && visit != NULL && err != NULL);

    sl_buffer_init(&v.kept, SIZE_MAX);
    const sl_code code = sl_captures_runs(text, size, visit_run, &v, err);
    sl_buffer_clear(&v.kept);
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
