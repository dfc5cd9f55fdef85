#include "hub/check.h"

#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "hub/ask.h"
#include "hub/cache.h"
#include "hub/info.h"
#include "hub/repository.h"
#include "hub/safetensors.h"

enum { URL_SIZE = 1536, FIRST_BYTES = 100001, LENGTH_BYTES = 8 };

/* The name of the kept document; no repository's own file is read under it. */
static const char kept_file[] = "shardline-model-info.json";

/* One cross-check under way. */
typedef struct check {
    sl_hub_worker *worker;
    const char *repository;
    const char *commit;
    const atomic_bool *cancelled;
    double end_s;
} check;

/* A blank is in no revision: no failure of one can be taken for this. */
static bool
unchecked_key(const char *repository, const char *commit, char key[SL_HUB_RECENT_KEY_SIZE])
{
    return sl_text_format(key, SL_HUB_RECENT_KEY_SIZE, "%s@%s info", repository, commit);
}

/* Neither the Hub nor we have counted what can be counted. */
static bool
is_uncounted(const sl_hub_info *info)
{
    return info->source == SL_HUB_NOT_COUNTED && (info->has_safetensors || info->has_index);
}

bool
sl_hub_check_recall(const sl_hub *hub, const char *repository, const char *commit, sl_arena *arena,
                    sl_hub_info *out)
{
    char key[SL_HUB_RECENT_KEY_SIZE];
    sl_hub_cached kept;
    sl_error ignored;

    *out = (sl_hub_info){.known = false};
    if (sl_hub_cache_find_commit(hub->cache_dir, repository, commit, kept_file, arena, &kept) &&
        sl_hub_info_read(kept.text, kept.size, commit, out) && !is_uncounted(out))
        return true;
    return hub->offline || sl_hub_is_silent(hub) || !unchecked_key(repository, commit, key) ||
           sl_hub_recent_find(hub->state->recent, key, &ignored);
}

/* One question of the check, tried once. True for this status. */
static bool
get(const check *c, const sl_hub_question *question, long status, sl_buffer *body,
    sl_hub_reply *reply)
{
    const double left_s = c->end_s - sl_clock_now_s();
    const sl_hub_patience patience = {left_s, left_s, 1};
    return left_s > 0.0 &&
           sl_hub_recent_limited_s(c->worker->hub->state->recent, question->bucket) <= 0.0 &&
           sl_hub_ask(c->worker, question, &patience, c->cancelled, body, reply) ==
               SL_HUB_ANSWERED &&
           reply->status == status;
}

static bool
fetch_info(const check *c, sl_hub_info *out)
{
    char url[URL_SIZE];
    sl_hub_reply reply;
    sl_buffer body;
    const sl_hub_question question = {
        .url = url, .etag = "", .bucket = SL_HUB_BUCKET_API, .beside = true};

    sl_buffer_init(&body, SL_HUB_FILE_MAX_BYTES);
    const bool good =
        sl_hub_info_url(c->worker->hub->endpoint, c->repository, c->commit, url, sizeof url) &&
        get(c, &question, 200, &body, &reply) &&
        sl_hub_info_read(body.data != NULL ? body.data : "", body.size, c->commit, out);
    sl_buffer_clear(&body);
    return good;
}

static bool
file_url(const check *c, const char *file, char url[URL_SIZE])
{
    const sl_hub_subject subject = {
        .repository = c->repository, .revision = c->commit, .file = file, .pointer = ""};
    return sl_hub_file_url(c->worker->hub->endpoint, &subject, url, URL_SIZE);
}

/* The bytes from `first` on; fewer where the file ends. */
static bool
fetch_part(const check *c, const char *url, uint64_t first, uint64_t size, sl_buffer *body)
{
    char start[32];
    sl_hub_reply reply;
    const sl_hub_question question = {
        .url = url, .etag = "", .first = first, .size = size, .beside = true};
    sl_buffer_init(body, (size_t)size);
    return get(c, &question, 206, body, &reply) &&
           sl_text_format(start, sizeof start, "bytes %u-", (unsigned)first) &&
           strncmp(reply.content_range, start, strlen(start)) == 0;
}

/* The start of a file holds its whole header, mostly; else the header is asked for once more. */
static bool
count_file(const check *c, const char *file, sl_hub_info *info)
{
    char url[URL_SIZE];
    uint64_t size = 0;
    sl_buffer body;
    const sl_hub_until until = {c->cancelled, c->end_s};

    if (!file_url(c, file, url))
        return false;
    bool good = fetch_part(c, url, 0, FIRST_BYTES, &body) && body.size > 0 &&
                sl_hub_header_size(body.data, body.size, &size);
    if (good && size <= body.size - LENGTH_BYTES) {
        good = sl_hub_header_count(body.data + LENGTH_BYTES, (size_t)size, &until, info);
    } else if (good) {
        sl_buffer_clear(&body);
        good = fetch_part(c, url, LENGTH_BYTES, size, &body) && body.size == size &&
               sl_hub_header_count(body.data, body.size, &until, info);
    }
    sl_buffer_clear(&body);
    return good;
}

static bool
count_shards(const check *c, sl_arena *arena, sl_hub_info *info)
{
    char url[URL_SIZE];
    sl_hub_reply reply;
    sl_buffer body;
    const char **shards = NULL;
    size_t count = 0;
    const sl_hub_until until = {c->cancelled, c->end_s};
    const sl_hub_question question = {.url = url, .etag = "", .beside = true};

    sl_buffer_init(&body, SL_HUB_INDEX_MAX_BYTES);
    bool good = file_url(c, "model.safetensors.index.json", url) &&
                get(c, &question, 200, &body, &reply) && body.size > 0 &&
                sl_hub_index_shards(body.data, body.size, &until, arena, &shards, &count);
    sl_buffer_clear(&body);
    for (size_t i = 0; good && i < count; i++)
        good = count_file(c, shards[i], info);
    return good;
}

/* Fills the count from the files themselves; a failure leaves none. */
static bool
count_headers(const check *c, sl_arena *arena, sl_hub_info *info)
{
    sl_hub_info counted = *info;
    const bool good = info->has_safetensors ? count_file(c, "model.safetensors", &counted)
                                            : count_shards(c, arena, &counted);
    if (!good)
        return false;
    *info = counted;
    info->source = SL_HUB_COUNTED_HEADERS;
    return true;
}

static void
keep(const check *c, const sl_hub_info *info)
{
    sl_buffer text;
    sl_hub_cached file = {.etag = ""};
    sl_buffer_init(&text, SL_HUB_FILE_MAX_BYTES);
    sl_hub_info_write(info, c->commit, &text);
    if (!text.failed) {
        file.text = text.data;
        file.size = text.size;
        (void)sl_text_copy(file.commit, sizeof file.commit, c->commit);
        sl_hub_cache_store(c->worker->hub->cache_dir, c->repository, NULL, kept_file, &file);
    }
    sl_buffer_clear(&text);
}

void
sl_hub_check_fetch(sl_hub_worker *worker, const char *repository, const char *commit,
                   const atomic_bool *cancelled, sl_arena *arena, sl_hub_info *out)
{
    const sl_hub *const hub = worker->hub;
    const check c = {.worker = worker,
                     .repository = repository,
                     .commit = commit,
                     .cancelled = cancelled,
                     .end_s = sl_clock_now_s() + hub->limits.check_s};
    const sl_error failure = {.code = SL_E_UPSTREAM, .rule = "unchecked"};
    char key[SL_HUB_RECENT_KEY_SIZE];

    /* What was said is kept before it is counted, and asked for no more while that fails. */
    if (!out->known && fetch_info(&c, out))
        keep(&c, out);
    if (out->known && is_uncounted(out) && count_headers(&c, arena, out))
        keep(&c, out);
    if (out->known && !is_uncounted(out))
        return;
    if (!atomic_load(cancelled) && unchecked_key(repository, commit, key))
        sl_hub_recent_add(hub->state->recent, key, &failure, hub->limits.unchecked_s);
}
