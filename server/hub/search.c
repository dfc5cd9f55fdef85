/* Models by a part of their name: asked of the Hub, or looked for in the caches. */
#include <assert.h>

#include "base/text.h"
#include "hub/ask.h"
#include "hub/cache.h"
#include "hub/check.h"
#include "hub/hits.h"
#include "hub/official.h"

enum { URL_SIZE = 1024 };

static sl_code
check_query(const char *query, sl_errors *err)
{
    size_t length = 0;
    while (query[length] >= ' ' && query[length] <= '~')
        length++;
    if (query[length] == '\0' && length <= SL_HUB_QUERY_MAX)
        return SL_OK;
    const sl_code code =
        sl_fail(err, SL_E_RANGE, "invalid_query", "",
                "the query must be at most %d printable ASCII characters", SL_HUB_QUERY_MAX);
    sl_hint(err, "a part of the model's id, as in llama");
    return code;
}

/* The gate that the Hub told of when the model was fetched; NULL when it did not. */
static const char *
gate_seen(const sl_hub *hub, const char *id, sl_arena *arena)
{
    char commit[SL_HUB_COMMIT_SIZE];
    sl_hub_info info = {.known = false};
    if (sl_hub_cache_commit(hub->cache_dir, id, "main", arena, commit) ||
        sl_hub_official_commit(hub->official_dir, id, "main", commit))
        (void)sl_hub_check_recall(hub, id, commit, arena, &info);
    return info.gated;
}

static sl_code
search_caches(const sl_hub *hub, const char *query, uint32_t limit, sl_arena *arena,
              sl_hub_found *out, sl_errors *err)
{
    sl_hub_found found = {.hits = sl_arena_alloc(arena, limit, sizeof *found.hits),
                          .from_cache = true,
                          .stale = !hub->offline};
    if (found.hits == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory was left to search");
    sl_hub_hits_add_cached(hub->cache_dir, query, limit, arena, &found);
    sl_hub_hits_add_cached(hub->official_dir, query, limit, arena, &found);
    for (uint32_t i = 0; i < found.count; i++)
        found.hits[i].gated = gate_seen(hub, found.hits[i].id, arena);
    *out = found;
    return SL_OK;
}

sl_hub_recollection
sl_hub_search_recall(const sl_hub *hub, const char *query, uint32_t limit, sl_arena *arena,
                     sl_hub_found *out, sl_errors *err)
{
    assert(hub != NULL && query != NULL && arena != NULL && out != NULL && err != NULL);
    assert(limit >= 1 && limit <= SL_HUB_SEARCH_MAX);

    if (check_query(query, err) != SL_OK)
        return SL_HUB_KNOWN_NOT;
    if (!hub->offline && !sl_hub_is_silent(hub) &&
        sl_hub_recent_limited_s(hub->state->recent, SL_HUB_BUCKET_API) <= 0.0)
        return SL_HUB_UNKNOWN;
    return search_caches(hub, query, limit, arena, out, err) == SL_OK ? SL_HUB_KNOWN
                                                                      : SL_HUB_KNOWN_NOT;
}

sl_code
sl_hub_search(sl_hub_worker *worker, const char *query, uint32_t limit,
              const atomic_bool *cancelled, sl_arena *arena, sl_hub_found *out, sl_errors *err)
{
    assert(worker != NULL && cancelled != NULL);

    const sl_hub *const hub = worker->hub;
    const sl_hub_patience patience = {hub->limits.search_s, hub->limits.search_s, 1};
    char url[URL_SIZE];
    sl_hub_reply reply;
    sl_buffer body;

    switch (sl_hub_search_recall(hub, query, limit, arena, out, err)) {
    case SL_HUB_KNOWN:
        return SL_OK;
    case SL_HUB_KNOWN_NOT:
        return err->list[err->count - 1].code;
    case SL_HUB_UNKNOWN:
        break;
    }
    const sl_hub_question question = {.url = url, .etag = "", .bucket = SL_HUB_BUCKET_API};
    if (!sl_hub_search_url(hub->endpoint, query, limit, url, sizeof url))
        return search_caches(hub, query, limit, arena, out, err);

    sl_buffer_init(&body, SL_HUB_LIST_MAX_BYTES);
    const sl_hub_outcome outcome =
        sl_hub_ask(worker, &question, &patience, cancelled, &body, &reply);
    const bool listed = outcome == SL_HUB_ANSWERED && reply.status == 200 && body.size > 0 &&
                        sl_hub_hits_read(body.data, body.size, limit, arena, out);
    sl_buffer_clear(&body);
    if (listed)
        return SL_OK;
    if (outcome == SL_HUB_CANCELLED)
        return sl_fail(err, SL_E_TIMEOUT, "timeout", "",
                       "the request ended before the Hugging Face Hub answered");
    /* Whatever the Hub has against the question: what is here can be searched. */
    return search_caches(hub, query, limit, arena, out, err);
}
