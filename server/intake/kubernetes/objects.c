/* What kubectl prints: a list of objects, one alone, or documents one after another. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/kubernetes/kubernetes.h"

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
read_single(const sl_raw *raw, uint32_t line, sl_element_visit visit, void *context, sl_errors *err)
{
    sl_json *json = NULL;
    sl_code code = sl_document_decode(raw, &json, NULL, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    code = visit(context, &root, line, err);
    sl_json_free(json);
    return code;
}

/* A list, or documents one after another as jq prints them. */
static sl_code
read_json(const sl_raw *raw, sl_element_visit visit, void *context, sl_errors *err)
{
    const char *const end = raw->text + raw->size;
    sl_json_place place = {raw->text, 1};
    bool found = false;
    sl_code code = SL_OK;

    if (sl_document_first(raw) == '[')
        return sl_json_elements(raw->text, raw->size, NULL, is_read, visit, context, &found, NULL,
                                err);
    while (code == SL_OK && place.at < end) {
        const sl_json_place from = place;
        code = sl_json_elements(from.at, (size_t)(end - from.at), "items", is_read, visit, context,
                                &found, &place, err);
        const sl_raw part = {raw->name, from.at, (size_t)(place.at - from.at)};
        if (code == SL_OK && !found)
            code = read_single(&part, from.line, visit, context, err);
    }
    return code;
}

sl_code
sl_kubernetes_objects(const sl_raw *raw, sl_element_visit visit, void *context, sl_errors *err)
{
    const sl_raw bare = sl_document_raw(raw);
    bool found = false;

    assert(visit != NULL && err != NULL);
    return sl_document_is_json(&bare) ? read_json(&bare, visit, context, err)
                                      : sl_yaml_elements(bare.text, bare.size, "items", is_read,
                                                         visit, context, &found, err);
}
