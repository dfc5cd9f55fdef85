#include "intake/device_tools.h"

#include <assert.h>
#include <string.h>

#include "intake/captures.h"
#include "intake/cells.h"
#include "intake/elements.h"

static const sl_format formats[] = {
    {"rocm_smi_json", "rocm-smi --json", sl_rocm_smi_recognise, sl_rocm_smi_read},
    {"amd_smi_json", "amd-smi static --json", sl_amd_smi_recognise, sl_amd_smi_read},
    {"nccl_topology_xml", "NCCL topology", sl_nccl_recognise, sl_nccl_read},
    {"cloud_csv", "cloud catalogue of instance types", sl_cloud_csv_recognise, sl_cloud_csv_read},
    {"ibnetdiscover", "ibnetdiscover", sl_ibnetdiscover_recognise, sl_ibnetdiscover_read},
    {"ibstat", "ibstat", sl_ibstat_recognise, sl_ibstat_read},
};

const sl_formats sl_device_formats = {formats, sizeof formats / sizeof formats[0]};

/* Bytes up to the bracket that closes the first one; all of them where it does not. */
static size_t
document_size(const char *text, size_t size)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"') {
            for (i++; i < size && text[i] != '"'; i++)
                i += text[i] == '\\';
        } else if (text[i] == '{' || text[i] == '[') {
            depth++;
        } else if ((text[i] == '}' || text[i] == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return size;
}

static sl_code
visit_one(sl_document *document, sl_document_visit visit, void *context, sl_errors *err)
{
    static const sl_json_limits limits = {.max_bytes = SL_DOCUMENT_MAX_BYTES,
                                          .max_depth = SL_JSON_DEPTH_MAX,
                                          .accept_python_numbers = true};
    sl_errors inner = {0};
    sl_json *json = NULL;
    sl_code code = sl_json_parse(document->text, document->size, &limits, &json, &inner);

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

sl_code
sl_documents_each(const char *text, size_t size, sl_document_visit visit, void *context,
                  sl_errors *err)
{
    sl_captures captures;
    char line[512];
    bool any = false;
    assert((text != NULL || size == 0) && visit != NULL && err != NULL);

    sl_captures_open(&captures, text, size);
    for (;;) {
        const char *const begin = captures.lines.at;
        if (!sl_captures_next(&captures, line, sizeof line))
            break;
        const char *const from = begin_of(begin, captures.lines.end);
        if (from == NULL)
            continue;
        const size_t used = document_size(from, (size_t)(captures.lines.end - from));
        sl_document document = {
            .host = captures.host, .text = from, .size = used, .line = captures.lines.number};
        const sl_code code = visit_one(&document, visit, context, err);
        if (code != SL_OK)
            return code;
        for (size_t i = 0; i < used; i++)
            captures.lines.number += from[i] == '\n';
        captures.lines.at = from + used;
        captures.lines.number--;
        captures.host[0] = '\0';
        any = true;
    }
    return any ? SL_OK
               : sl_fail(err, SL_E_SYNTAX, "malformed_json", "",
                         "line 1: no JSON document begins in it");
}

uint32_t
sl_document_find(sl_document_cursor *cursor, const char *key)
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
sl_device_text(const sl_node *value)
{
    sl_errors ignored = {0};
    const char *text = NULL;
    if (sl_node_kind(value) != SL_JSON_TEXT || sl_node_as_text(value, &text, &ignored) != SL_OK)
        return NULL;
    text += strspn(text, " ");
    return sl_cell_is_nothing(text) ? NULL : text;
}
