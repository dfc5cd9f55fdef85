/* What kubectl prints: a list of objects, one alone, or documents one after another. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/kubernetes/kubernetes.h"

typedef struct walking {
    sl_element_visit visit;
    void *context;
    uint32_t lines; /* before the document that is read */
} walking;

static sl_code
visit(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    const walking *const w = context;
    return w->visit(w->context, element, w->lines + line, err);
}

/* Not most of what a node says: its images, say, and its processor's features. */
static bool
is_read(uint32_t depth, const char *name, size_t size)
{
    static const char feature[] = "feature.node.kubernetes.io/";
    const size_t length = sizeof feature - 1;

    (void)depth;
    return !sl_text_is(name, size, "annotations") && !sl_text_is(name, size, "images") &&
           !sl_text_is(name, size, "managedFields") &&
           (size <= length || memcmp(name, feature, length) != 0);
}

/* One object, not a list. */
static sl_code
read_single(const sl_raw *raw, walking *w, sl_errors *err)
{
    sl_json *json = NULL;
    sl_code code = sl_document_decode(raw, &json, NULL, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    code = visit(w, &root, 1, err);
    sl_json_free(json);
    return code;
}

/* A list, or documents one after another as jq prints them. */
static sl_code
read_json(const sl_raw *raw, walking *w, sl_errors *err)
{
    static const char blanks[] = {' ', '\t', '\r', '\n'};
    const char *const end = raw->text + raw->size;
    bool found = false;

    if (sl_document_first(raw) == '[')
        return sl_json_elements(raw->text, raw->size, NULL, is_read, visit, w, &found, err);
    for (const char *at = raw->text; at < end;) {
        const char *from = at;
        while (from < end && memchr(blanks, *from, sizeof blanks) != NULL)
            from++;
        w->lines += sl_document_lines(at, from);
        if (from == end)
            break;
        if (*from != '{')
            return sl_fail(err, SL_E_SYNTAX, "malformed_json", "",
                           "line %u: something follows the document", w->lines + 1);
        /* One that does not end is read to the end: its fault is said there. */
        const char *const behind = sl_document_end(from, end);
        const sl_raw part = {raw->name, from, (size_t)((behind != NULL ? behind : end) - from)};
        sl_code code =
            sl_json_elements(part.text, part.size, "items", is_read, visit, w, &found, err);
        if (code == SL_OK && !found)
            code = read_single(&part, w, err);
        if (code != SL_OK)
            return code;
        at = part.text + part.size;
        w->lines += sl_document_lines(from, at);
    }
    return SL_OK;
}

sl_code
sl_kubernetes_objects(const sl_raw *raw, sl_element_visit visitor, void *context, sl_errors *err)
{
    const sl_raw bare = sl_document_raw(raw);
    walking w = {.visit = visitor, .context = context};
    bool found = false;

    assert(visitor != NULL && err != NULL);
    return sl_document_is_json(&bare)
               ? read_json(&bare, &w, err)
               : sl_yaml_elements(bare.text, bare.size, "items", is_read, visit, &w, &found, err);
}
