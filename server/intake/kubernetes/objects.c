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
    const char *const end = raw->text + raw->size;
    bool found = false;
    sl_code code = SL_OK;

    if (sl_document_first(raw) == '[')
        return sl_json_elements(raw->text, raw->size, NULL, is_read, visit, w, &found, NULL, err);
    for (const char *at = raw->text, *next = end; code == SL_OK && at < end; at = next) {
        code = sl_json_elements(at, (size_t)(end - at), "items", is_read, visit, w, &found, &next,
                                err);
        const sl_raw part = {raw->name, at, (size_t)(next - at)};
        if (code == SL_OK && !found)
            code = read_single(&part, w, err);
        if (next < end)
            w->lines += sl_document_lines(at, next);
    }
    return code;
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
