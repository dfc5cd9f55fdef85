#include "hub/hits.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "hub/info.h"
#include "hub/repository.h"

enum { QUERY_ENCODED_SIZE = 3 * SL_HUB_QUERY_MAX + 1, FOLDERS_MAX = 65536, DATE_MAX = 40 };

bool
sl_hub_search_url(const char *endpoint, const char *query, uint32_t limit, char *out, size_t size)
{
    char encoded[QUERY_ENCODED_SIZE];
    return sl_hub_percent_encode(query, encoded, sizeof encoded) &&
           sl_text_format(out, size,
                          "%s/api/models?%s%s%slimit=%" PRIu32
                          "&sort=downloads&direction=-1&expand=gated&expand=downloads&expand=likes"
                          "&expand=library_name&expand=lastModified",
                          endpoint, query[0] != '\0' ? "search=" : "", encoded,
                          query[0] != '\0' ? "&" : "", limit);
}

/* Text of the Hub that goes into an answer of ours: short and visible, or nothing. */
static const char *
copy_word(const sl_node *item, const char *name, size_t max, sl_arena *arena)
{
    sl_errors faults = {.count = 0};
    const char *text = "";
    if (sl_node_text(item, name, &text, NULL, &faults) != SL_OK || !sl_hub_is_visible(text) ||
        strlen(text) > max)
        return NULL;
    return sl_arena_copy(arena, text);
}

static void
read_count(const sl_node *item, const char *name, uint64_t *out, bool *has)
{
    sl_errors faults = {.count = 0};
    if (sl_node_uint(item, name, 0, INT64_MAX, out, has, &faults) != SL_OK)
        *has = false;
}

/* False when it is no model that could be asked for. */
static bool
read_hit(const sl_node *item, sl_arena *arena, sl_hub_hit *out)
{
    sl_errors faults = {.count = 0};
    sl_hub_hit hit = {.id = copy_word(item, "id", SL_HUB_ID_SIZE, arena)};
    if (hit.id == NULL || sl_hub_check_id(hit.id, "main", "", &faults) != SL_OK)
        return false;
    hit.gated = sl_hub_gated_of(item);
    read_count(item, "downloads", &hit.downloads, &hit.has_downloads);
    read_count(item, "likes", &hit.likes, &hit.has_likes);
    hit.library = copy_word(item, "library_name", SL_HUB_QUERY_MAX, arena);
    hit.last_modified = copy_word(item, "lastModified", DATE_MAX, arena);
    *out = hit;
    return true;
}

bool
sl_hub_hits_read(const char *json, size_t size, uint32_t limit, sl_arena *arena, sl_hub_found *out)
{
    static const sl_json_limits limits = {
        .max_bytes = SL_HUB_LIST_MAX_BYTES, .max_depth = 32, .accept_python_numbers = true};
    sl_hub_found found = {.hits = sl_arena_alloc(arena, limit, sizeof *found.hits)};
    sl_errors faults = {.count = 0};
    sl_json *document = NULL;
    sl_node item;

    if (found.hits == NULL || sl_json_parse(json, size, &limits, &document, &faults) != SL_OK)
        return false;
    const sl_node root = sl_json_root(document);
    const bool list = sl_node_kind(&root) == SL_JSON_ARRAY;
    for (size_t i = 0; list && found.count < limit && sl_node_at(&root, i, &item); i++)
        found.count += read_hit(&item, arena, &found.hits[found.count]) ? 1 : 0;
    sl_json_free(document);
    if (list)
        *out = found;
    return list;
}

/* Puts an id where it belongs; the last one falls out when there are more than `limit`. */
static void
insert(sl_hub_found *found, const char *id, uint32_t limit, sl_arena *arena)
{
    uint32_t at = 0;
    while (at < found->count && strcmp(found->hits[at].id, id) < 0)
        at++;
    if (at == limit || (at < found->count && strcmp(found->hits[at].id, id) == 0))
        return;
    const char *const copy = sl_arena_copy(arena, id);
    if (copy == NULL)
        return;
    if (found->count < limit)
        found->count++;
    memmove(&found->hits[at + 1], &found->hits[at],
            (found->count - 1 - at) * sizeof found->hits[0]);
    found->hits[at] = (sl_hub_hit){.id = copy, .from_cache = true};
}

void
sl_hub_hits_add_cached(const char *folder, const char *query, uint32_t limit, sl_arena *arena,
                       sl_hub_found *out)
{
    char id[SL_HUB_ID_SIZE];
    DIR *const open = folder[0] != '\0' ? opendir(folder) : NULL;
    if (open == NULL)
        return;
    uint32_t seen = 0;
    for (const struct dirent *entry; seen < FOLDERS_MAX && (entry = readdir(open)) != NULL;
         seen++) {
        if (sl_hub_id_of_folder(entry->d_name, id) && sl_text_holds_ignoring_case(id, query))
            insert(out, id, limit, arena);
    }
    (void)closedir(open);
}
