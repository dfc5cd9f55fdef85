#include "hub/safetensors.h"

#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "hub/repository.h"
#include "hub/scan.h"
#include "json/reader.h"

enum { TENSOR_MAX_BYTES = 4096, AXES_MAX = 16, LENGTH_BYTES = 8, LOOK_EVERY = 4096 };

bool
sl_hub_header_size(const char *bytes, size_t size, uint64_t *out)
{
    uint64_t length = 0;
    if (size < LENGTH_BYTES)
        return false;
    for (size_t i = LENGTH_BYTES; i > 0; i--)
        length = length << 8 | (unsigned char)bytes[i - 1];
    if (length > SL_HUB_HEADER_MAX_BYTES)
        return false;
    *out = length;
    return true;
}

/* The clock is looked at now and then. */
static bool
is_over(const sl_hub_until *until, uint32_t member)
{
    return member % LOOK_EVERY == 0 &&
           (atomic_load(until->cancelled) || sl_clock_now_s() >= until->end_s);
}

/* Adds to the entry of the type, which is made when there is none. */
static bool
add_elements(sl_hub_info *info, const char *dtype, uint64_t elements)
{
    uint32_t at = 0;
    while (at < info->dtype_count && !sl_text_equal(info->dtypes[at].name, dtype))
        at++;
    if (at == info->dtype_count) {
        if (at == SL_HUB_DTYPES_MAX ||
            !sl_text_copy(info->dtypes[at].name, sizeof info->dtypes[at].name, dtype))
            return false;
        info->dtype_count++;
    }
    if (elements > UINT64_MAX - info->total)
        return false;
    info->dtypes[at].elements += elements;
    info->total += elements;
    return true;
}

/* Product of a list of sizes; that of none is one. */
static bool
read_shape(const sl_node *shape, uint64_t *out)
{
    sl_errors faults = {.count = 0};
    uint64_t product = 1, axis = 0;
    sl_node item;
    if (sl_node_kind(shape) != SL_JSON_ARRAY || sl_node_count(shape) > AXES_MAX)
        return false;
    for (size_t i = 0; sl_node_at(shape, i, &item); i++) {
        if (sl_node_as_uint(&item, 0, UINT64_MAX / 2, &axis, &faults) != SL_OK ||
            (axis != 0 && product > UINT64_MAX / axis))
            return false;
        product *= axis;
    }
    *out = product;
    return true;
}

static bool
count_tensor(const sl_hub_member *member, sl_hub_info *info)
{
    static const sl_json_limits limits = {.max_bytes = TENSOR_MAX_BYTES, .max_depth = 4};
    sl_errors faults = {.count = 0};
    const char *dtype = "";
    uint64_t elements = 0;
    sl_json *json = NULL;
    sl_node shape;

    if (sl_json_parse(member->value, member->value_size, &limits, &json, &faults) != SL_OK)
        return false;
    const sl_node root = sl_json_root(json);
    const bool counted = sl_node_object(&root, &faults) == SL_OK &&
                         sl_node_text(&root, "dtype", &dtype, NULL, &faults) == SL_OK &&
                         sl_hub_is_visible(dtype) && sl_node_member(&root, "shape", &shape) &&
                         read_shape(&shape, &elements) && add_elements(info, dtype, elements);
    sl_json_free(json);
    return counted;
}

bool
sl_hub_header_count(const char *json, size_t size, const sl_hub_until *until, sl_hub_info *info)
{
    uint32_t seen = 0;
    sl_hub_scan scan;
    sl_hub_member member;
    sl_hub_scan_open(&scan, json, size);
    while (sl_hub_scan_next(&scan, &member)) {
        if (is_over(until, seen++) ||
            (!sl_hub_member_is(&member, "__metadata__") && !count_tensor(&member, info)))
            return false;
    }
    return !scan.failed;
}

/* "model-00001-of-00002.safetensors" with its quotes, without a folder. */
static bool
is_shard_name(const sl_hub_member *member)
{
    static const char ending[] = ".safetensors\"";
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t size = member->value_size;
    if (size < sizeof ending + 1 || size > SL_HUB_FILE_NAME_SIZE / 2 || member->value[0] != '"' ||
        member->value[1] == '.' ||
        memcmp(member->value + size - (sizeof ending - 1), ending, sizeof ending - 1) != 0)
        return false;
    for (size_t i = 1; i + 1 < size; i++) {
        if (memchr(allowed, member->value[i], sizeof allowed - 1) == NULL)
            return false;
    }
    return true;
}

/* Neighbours in an index mostly live in one file: the last found is looked at first. */
static bool
is_listed(const char *const *list, size_t count, const sl_hub_member *member)
{
    const size_t length = member->value_size - 2;
    for (size_t i = count; i > 0; i--) {
        if (strlen(list[i - 1]) == length && memcmp(list[i - 1], member->value + 1, length) == 0)
            return true;
    }
    return false;
}

static bool
list_shards(const sl_hub_member *map, const sl_hub_until *until, sl_arena *arena, const char **list,
            size_t *count)
{
    uint32_t seen = 0;
    sl_hub_scan scan;
    sl_hub_member member;
    sl_hub_scan_open(&scan, map->value, map->value_size);
    while (sl_hub_scan_next(&scan, &member)) {
        if (is_over(until, seen++) || !is_shard_name(&member))
            return false;
        if (is_listed(list, *count, &member))
            continue;
        if (*count == SL_HUB_SHARDS_MAX)
            return false;
        list[*count] = sl_arena_copy_bytes(arena, member.value + 1, member.value_size - 2);
        if (list[*count] == NULL)
            return false;
        ++*count;
    }
    return !scan.failed && *count > 0;
}

bool
sl_hub_index_shards(const char *json, size_t size, const sl_hub_until *until, sl_arena *arena,
                    const char ***out, size_t *count)
{
    const char **const list = sl_arena_alloc(arena, SL_HUB_SHARDS_MAX, sizeof *list);
    sl_hub_scan scan;
    sl_hub_member member;
    bool found = false;

    *count = 0;
    sl_hub_scan_open(&scan, json, size);
    while (list != NULL && sl_hub_scan_next(&scan, &member)) {
        if (!sl_hub_member_is(&member, "weight_map"))
            continue;
        if (found || !list_shards(&member, until, arena, list, count))
            return false;
        found = true;
    }
    *out = list;
    return found && !scan.failed;
}
