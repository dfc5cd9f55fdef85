#include "hf/place.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

static bool
find_child(const sl_node *parent, const char *name, size_t length, sl_node *out)
{
    void *state = NULL;
    uint64_t index = 0;
    char number[24];

    if (sl_node_kind(parent) == SL_JSON_ARRAY)
        return sl_text_format(number, sizeof number, "%.*s", (int)length, name) &&
               sl_text_to_uint(number, &index) && sl_node_at(parent, index, out);
    while (sl_node_next(parent, &state, out)) {
        if (strlen(out->key) == length && strncmp(out->key, name, length) == 0)
            return true;
    }
    return false;
}

sl_hf_found
sl_hf_place_find(const sl_node *config, const char *path, size_t length, sl_hf_place *place)
{
    const char *end = path + length;

    place->chain[0] = *config;
    place->depth = 0;
    while (path < end) {
        const char *dot = memchr(path, '.', (size_t)(end - path));
        const size_t step = (size_t)((dot == NULL ? end : dot) - path);
        const sl_node *parent = &place->chain[place->depth];
        const sl_json_kind kind = sl_node_kind(parent);
        assert(place->depth < SL_HF_PATH_MAX);
        if (kind == SL_JSON_NULL)
            return SL_HF_ABSENT;
        if (kind != SL_JSON_OBJECT && kind != SL_JSON_ARRAY)
            return SL_HF_BLOCKED;
        if (!find_child(parent, path, step, &place->chain[place->depth + 1]))
            return SL_HF_ABSENT;
        place->depth++;
        path += step + (dot != NULL);
    }
    return SL_HF_FOUND;
}

const sl_node *
sl_hf_place_value(const sl_hf_place *place)
{
    return &place->chain[place->depth];
}

bool
sl_hf_place_is_null(const sl_hf_place *place)
{
    return sl_node_kind(sl_hf_place_value(place)) == SL_JSON_NULL;
}
