#include "hub/hub.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "hub/cache.h"
#include "hub/errors.h"
#include "hub/repository.h"
#include "json/reader.h"

enum { URL_SIZE = 1024, CONFIG_DEPTH_MAX = 64 };

static const sl_hub_limits default_limits = {
    .connect_s = 3.0,
    .transfer_s = 15.0,
    .stalled_s = 5,
    .stalled_bytes_per_s = 100,
    .budget_s = 20.0,
    .backoff_s = 0.5,
    .rate_wait_max_s = 5.0,
    .rate_margin_s = 1.0,
    .tries = 3,
    .redirects = 5,
};

static sl_code
take_settings(sl_hub *hub, const sl_settings *settings, sl_errors *err)
{
    if (!sl_hub_origin_parse(settings->hub_endpoint, &hub->origin) ||
        strpbrk(settings->hub_endpoint, "?#") != NULL ||
        !(hub->origin.https || hub->origin.loopback)) {
        const sl_code code = sl_fail(err, SL_E_RANGE, "invalid_endpoint", "",
                                     "HF_ENDPOINT must be an https URL, or http on loopback");
        sl_hint(err, "https://huggingface.co");
        return code;
    }
    if (settings->hub_token[0] != '\0' && !sl_hub_is_visible(settings->hub_token))
        return sl_fail(err, SL_E_RANGE, "invalid_token", "",
                       "HF_TOKEN must hold visible ASCII characters only");

    const bool fits =
        sl_text_copy(hub->endpoint, sizeof hub->endpoint, settings->hub_endpoint) &&
        sl_text_copy(hub->token, sizeof hub->token, settings->hub_token) &&
        sl_text_copy(hub->proxy, sizeof hub->proxy, settings->hub_proxy) &&
        sl_text_format(hub->cache_dir, sizeof hub->cache_dir, "%s/hub", settings->cache_dir);
    assert(fits); /* each is at least as long as the setting it copies */
    hub->offline = settings->hub_offline;
    hub->limits = default_limits;
    return SL_OK;
}

sl_code
sl_hub_new(const sl_settings *settings, sl_hub **out, sl_errors *err)
{
    assert(settings != NULL && out != NULL && err != NULL);

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "libcurl could not be started");
    sl_hub *const hub = calloc(1, sizeof *hub);
    const sl_code code = hub != NULL
                             ? take_settings(hub, settings, err)
                             : sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory was left");
    if (code != SL_OK) {
        free(hub);
        curl_global_cleanup();
        return code;
    }
    *out = hub;
    return SL_OK;
}

void
sl_hub_free(sl_hub *hub)
{
    if (hub == NULL)
        return;
    free(hub);
    curl_global_cleanup();
}

sl_hub_worker *
sl_hub_worker_new(const sl_hub *hub)
{
    assert(hub != NULL);

    sl_hub_worker *const worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return NULL;
    worker->hub = hub;
    worker->handle = curl_easy_init();
    if (worker->handle == NULL || !sl_hub_transfer_prepare(worker)) {
        sl_hub_worker_free(worker);
        return NULL;
    }
    return worker;
}

void
sl_hub_worker_free(sl_hub_worker *worker)
{
    if (worker == NULL)
        return;
    curl_easy_cleanup(worker->handle);
    free(worker);
}

/* Waits in slices, so that a cancelled request does not hold its worker. */
static void
wait_for(double seconds, const atomic_bool *cancelled)
{
    static const struct timespec slice = {.tv_nsec = 20L * 1000 * 1000};
    const double until_s = sl_clock_now_s() + seconds;
    while (sl_clock_now_s() < until_s && !atomic_load(cancelled))
        (void)nanosleep(&slice, NULL);
}

/* How long to wait before the next try; negative when there should be none. */
static double
wait_before_retry(const sl_hub_limits *limits, uint32_t tries, const sl_hub_reply *reply)
{
    if (!reply->retryable || tries >= limits->tries)
        return -1.0;
    if (reply->status == 429 && reply->retry_after_s >= 0.0)
        return reply->retry_after_s <= limits->rate_wait_max_s
                   ? reply->retry_after_s + limits->rate_margin_s
                   : -1.0;
    double wait_s = limits->backoff_s;
    for (uint32_t i = 1; i < tries; i++)
        wait_s *= 2.0;
    return wait_s;
}

static sl_hub_outcome
ask(sl_hub_worker *worker, const char *url, const char *etag, const atomic_bool *cancelled,
    sl_buffer *body, sl_hub_reply *reply)
{
    const sl_hub_limits *const limits = &worker->hub->limits;
    const double end_s = sl_clock_now_s() + limits->budget_s;
    *reply = (sl_hub_reply){.retry_after_s = -1.0};

    for (uint32_t tries = 1;; tries++) {
        if (atomic_load(cancelled))
            return SL_HUB_CANCELLED;
        const double try_end_s = sl_clock_now_s() + limits->transfer_s;
        sl_buffer_clear(body);
        const sl_hub_outcome outcome = sl_hub_transfer_get(
            worker, url, etag, try_end_s < end_s ? try_end_s : end_s, cancelled, body, reply);

        const double wait_s = wait_before_retry(limits, tries, reply);
        if (wait_s < 0.0 || sl_clock_now_s() + wait_s >= end_s)
            return outcome;
        wait_for(wait_s, cancelled);
    }
}

/* A body cut where its length was not known, or a page in place of the file, is not worth keeping.
 * Other faults of the document are for the reader of the config to tell. */
static bool
is_whole_json(const sl_buffer *body)
{
    static const sl_json_limits limits = {.max_bytes = SL_HUB_FILE_MAX_BYTES,
                                          .max_depth = CONFIG_DEPTH_MAX,
                                          .accept_python_numbers = true};
    sl_errors faults = {0};
    sl_json *json = NULL;

    if (body->size == 0)
        return false;
    const sl_code code = sl_json_parse(body->data, body->size, &limits, &json, &faults);
    const bool malformed =
        code != SL_OK && faults.count > 0 && sl_text_equal(faults.list[0].rule, "malformed_json");
    sl_json_free(json);
    return !malformed;
}

static void
give(const sl_hub_cached *file, bool from_cache, bool stale, sl_hub_file *out)
{
    *out = (sl_hub_file){
        .text = file->text, .size = file->size, .from_cache = from_cache, .stale = stale};
    (void)sl_text_copy(out->commit, sizeof out->commit, file->commit);
}

/* Takes a 200 as the new state of the revision, and keeps it. */
static sl_code
accept_file(const sl_hub *hub, const sl_hub_reply *reply, const sl_buffer *body,
            const sl_hub_subject *subject, sl_arena *arena, sl_hub_file *out, sl_errors *err)
{
    if (!is_whole_json(body))
        return sl_hub_fail(hub, SL_HUB_TRUNCATED, reply, subject, err);

    sl_hub_cached file = {.size = body->size};
    file.text = sl_arena_copy_bytes(arena, body->data, body->size);
    if (file.text == NULL)
        return sl_hub_fail(hub, SL_HUB_NO_MEMORY, reply, subject, err);
    (void)sl_text_copy(file.commit, sizeof file.commit, reply->commit);
    (void)sl_text_copy(file.etag, sizeof file.etag, reply->etag);
    sl_hub_cache_store(hub->cache_dir, subject->repository, subject->revision, &file);
    give(&file, false, false, out);
    return SL_OK;
}

/* Takes a 304: the bytes held are still right, though a later commit may hold them now. */
static void
accept_unchanged(const sl_hub *hub, const sl_hub_reply *reply, const sl_hub_subject *subject,
                 sl_hub_cached *held, sl_hub_file *out)
{
    if (sl_hub_is_commit(reply->commit) && !sl_text_equal(reply->commit, held->commit)) {
        (void)sl_text_copy(held->commit, sizeof held->commit, reply->commit);
        sl_hub_cache_store(hub->cache_dir, subject->repository, subject->revision, held);
    }
    give(held, true, false, out);
}

static void
log_stale(const sl_hub_subject *subject, const char *reason, const char *commit)
{
    const sl_log_field fields[] = {
        sl_log_text("repository", subject->repository),
        sl_log_text("revision", subject->revision),
        sl_log_text("commit", commit),
        sl_log_text("reason", reason),
    };
    sl_log(SL_LOG_WARN, "the Hub could not be asked, a cached revision was used", fields, 4);
}

static sl_code
fail_offline(const sl_hub_subject *subject, sl_errors *err)
{
    const sl_code code = sl_fail(err, SL_E_UNAVAILABLE, "offline_not_cached", subject->pointer,
                                 "%.64s at revision %.40s is not in the cache, and HF_HUB_OFFLINE "
                                 "is set",
                                 subject->repository, subject->revision);
    sl_hint(err, "unset HF_HUB_OFFLINE once to fetch it, or send the config inline");
    return code;
}

/* Asks the Hub and falls back to what is held; held is NULL when nothing is. */
static sl_code
fetch(sl_hub_worker *worker, const sl_hub_subject *subject, sl_hub_cached *held,
      const atomic_bool *cancelled, sl_arena *arena, sl_hub_file *out, sl_errors *err)
{
    const sl_hub *const hub = worker->hub;
    sl_hub_reply reply;
    sl_buffer body;
    char url[URL_SIZE];

    if (!sl_hub_config_url(hub->endpoint, subject->repository, subject->revision, url, sizeof url))
        return sl_fail(err, SL_E_INTERNAL, "internal", subject->pointer,
                       "the address of %.96s is too long", subject->repository);

    sl_code code = SL_OK;
    sl_buffer_init(&body, SL_HUB_FILE_MAX_BYTES);
    const sl_hub_outcome outcome =
        ask(worker, url, held != NULL ? held->etag : "", cancelled, &body, &reply);
    const bool file = outcome == SL_HUB_ANSWERED && reply.status == 200 &&
                      sl_hub_is_commit(reply.commit) && reply.etag[0] != '\0';
    if (file) {
        code = accept_file(hub, &reply, &body, subject, arena, out, err);
    } else if (outcome == SL_HUB_ANSWERED && reply.status == 304 && held != NULL) {
        accept_unchanged(hub, &reply, subject, held, out);
    } else if (held != NULL && sl_hub_is_unreachable(outcome, &reply)) {
        log_stale(subject, reply.reason != NULL ? reply.reason : "no verdict from the Hub",
                  held->commit);
        give(held, true, true, out);
    } else {
        code = sl_hub_fail(hub, outcome, &reply, subject, err);
    }
    sl_buffer_clear(&body);
    return code;
}

sl_code
sl_hub_config(sl_hub_worker *worker, const char *repository, const char *revision,
              const atomic_bool *cancelled, sl_arena *arena, const char *pointer, sl_hub_file *out,
              sl_errors *err)
{
    assert(worker != NULL && cancelled != NULL && arena != NULL && out != NULL);

    const sl_code code = sl_hub_check_id(repository, revision, pointer, err);
    if (code != SL_OK)
        return code;

    const sl_hub *const hub = worker->hub;
    const sl_hub_subject subject = {
        .repository = repository, .revision = revision, .pointer = pointer};
    sl_hub_cached held;
    if (sl_hub_is_commit(revision) &&
        sl_hub_cache_find_commit(hub->cache_dir, repository, revision, arena, &held)) {
        give(&held, true, false, out);
        return SL_OK;
    }
    const bool known =
        sl_hub_cache_find_revision(hub->cache_dir, repository, revision, arena, &held);
    if (!hub->offline)
        return fetch(worker, &subject, known ? &held : NULL, cancelled, arena, out, err);
    if (!known)
        return fail_offline(&subject, err);
    give(&held, true, true, out);
    return SL_OK;
}
