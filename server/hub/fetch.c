/* One file of a repository: from memory, from disk, or from the Hub. */
#include <assert.h>

#include "base/log.h"
#include "base/text.h"
#include "hub/ask.h"
#include "hub/cache.h"
#include "hub/errors.h"
#include "hub/official.h"
#include "hub/repository.h"
#include "json/reader.h"

enum { URL_SIZE = 1024 };

/* A body cut where its length was not known, or a page in place of the file, is not worth keeping.
 * Other faults of the document are for the reader of the config to tell. */
static bool
is_whole_json(const sl_buffer *body)
{
    static const sl_json_limits limits = {.max_bytes = SL_HUB_FILE_MAX_BYTES,
                                          .max_depth = SL_JSON_DEPTH_MAX,
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

/* Keys of failures: of a repository whatever the revision, and of a revision. */
static bool
recent_key(const sl_hub_subject *subject, bool of_revision, char key[SL_HUB_RECENT_KEY_SIZE])
{
    return sl_text_format(key, SL_HUB_RECENT_KEY_SIZE, "%s%s%s", subject->repository,
                          of_revision ? "@" : "", of_revision ? subject->revision : "");
}

/* The Hub said not long ago that there is no such repository or revision. */
static bool
known_missing(const sl_hub *hub, const sl_hub_subject *subject, sl_errors *err)
{
    char key[SL_HUB_RECENT_KEY_SIZE];
    sl_error failure;
    for (int of_revision = 0; of_revision < 2; of_revision++) {
        if (!recent_key(subject, of_revision != 0, key) ||
            !sl_hub_recent_find(hub->state->recent, key, &failure))
            continue;
        (void)sl_fail(err, failure.code, failure.rule, subject->pointer, "%s", failure.message);
        sl_hint(err, "%s", failure.hint);
        return true;
    }
    return false;
}

/* Keeps what the Hub said is not there: a file of a commit for ever, names for a while. A file
 * beside another, which came, says nothing of names. */
static void
learn_missing(const sl_hub *hub, const sl_hub_subject *subject, const sl_hub_reply *reply,
              const sl_error *failure)
{
    char key[SL_HUB_RECENT_KEY_SIZE];
    const bool of_revision = sl_text_equal(failure->rule, "revision_not_found");
    if (sl_text_equal(failure->rule, "file_not_found")) {
        if (sl_hub_is_commit(reply->commit))
            sl_hub_cache_store_lack(hub->cache_dir, subject->repository, reply->commit,
                                    subject->file);
    } else if (!subject->beside &&
               (of_revision || sl_text_equal(failure->rule, "repository_not_found")) &&
               recent_key(subject, of_revision, key)) {
        sl_hub_recent_add(hub->state->recent, key, failure, hub->limits.missing_s);
    }
}

static bool
known_limited(const sl_hub *hub, const sl_hub_subject *subject, double limited_s, sl_errors *err)
{
    if (limited_s > 0.0)
        (void)sl_hub_fail_rate(hub, subject, limited_s, err);
    return limited_s > 0.0;
}

static bool
lacks(const sl_hub *hub, const sl_hub_subject *subject, const char *commit)
{
    return sl_hub_cache_lacks(hub->cache_dir, subject->repository, commit, subject->file) ||
           sl_hub_official_lacks(hub->official_dir, subject->repository, commit, subject->file);
}

/* What a commit holds never changes: either cache knows, or nobody. */
static sl_hub_recollection
recall_commit(const sl_hub *hub, const sl_hub_subject *subject, sl_arena *arena, sl_hub_file *out,
              sl_errors *err)
{
    sl_hub_cached held;
    if (sl_hub_cache_find_commit(hub->cache_dir, subject->repository, subject->revision,
                                 subject->file, arena, &held) ||
        sl_hub_official_find_commit(hub->official_dir, subject->repository, subject->revision,
                                    subject->file, arena, &held)) {
        give(&held, true, false, out);
        return SL_HUB_KNOWN;
    }
    if (lacks(hub, subject, subject->revision)) {
        (void)sl_hub_fail_file(subject, err);
        return SL_HUB_KNOWN_NOT;
    }
    return SL_HUB_UNKNOWN;
}

/* The state the revision had when anybody last asked; *known tells whether there is one. */
static sl_hub_recollection
recall_revision(const sl_hub *hub, const sl_hub_subject *subject, sl_arena *arena,
                sl_hub_cached *held, bool *known, sl_hub_file *out, sl_errors *err)
{
    char commit[SL_HUB_COMMIT_SIZE];

    *known = sl_hub_cache_find_revision(hub->cache_dir, subject->repository, subject->revision,
                                        subject->file, arena, held) ||
             sl_hub_official_find_revision(hub->official_dir, subject->repository,
                                           subject->revision, subject->file, arena, held);
    const double limited_s = sl_hub_recent_limited_s(hub->state->recent, SL_HUB_BUCKET_FILES);
    if (*known && (hub->offline || limited_s > 0.0 || sl_hub_is_silent(hub))) {
        give(held, true, true, out);
        return SL_HUB_KNOWN;
    }
    if (!hub->offline)
        return known_missing(hub, subject, err) || known_limited(hub, subject, limited_s, err)
                   ? SL_HUB_KNOWN_NOT
                   : SL_HUB_UNKNOWN;
    if (sl_hub_official_commit(hub->official_dir, subject->repository, subject->revision, commit) &&
        lacks(hub, subject, commit))
        (void)sl_hub_fail_file(subject, err);
    else
        (void)sl_hub_fail_offline(subject, err);
    return SL_HUB_KNOWN_NOT;
}

static sl_hub_recollection
look_up(const sl_hub *hub, const sl_hub_subject *subject, sl_arena *arena, sl_hub_cached *held,
        bool *known, sl_hub_file *out, sl_errors *err)
{
    *known = false;
    if (sl_hub_is_commit(subject->revision)) {
        const sl_hub_recollection found = recall_commit(hub, subject, arena, out, err);
        if (found != SL_HUB_UNKNOWN)
            return found;
    }
    return recall_revision(hub, subject, arena, held, known, out, err);
}

sl_hub_recollection
sl_hub_recall(const sl_hub *hub, const sl_hub_subject *subject, sl_arena *arena, sl_hub_file *out,
              sl_errors *err)
{
    assert(hub != NULL && subject != NULL && arena != NULL && out != NULL && err != NULL);

    sl_hub_cached held;
    bool known = false;
    return look_up(hub, subject, arena, &held, &known, out, err);
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
    /* A commit needs no reference, and that of a branch has the tag of one file only. */
    sl_hub_cache_store(hub->cache_dir, subject->repository,
                       sl_hub_is_commit(subject->revision) ? NULL : subject->revision,
                       subject->file, &file);
    give(&file, false, false, out);
    return SL_OK;
}

/* Takes a 304: the bytes held are still right, though a later commit may hold them now. */
static void
accept_unchanged(const sl_hub *hub, const sl_hub_reply *reply, const sl_hub_subject *subject,
                 sl_hub_cached *held, sl_hub_file *out)
{
    if (!sl_text_equal(reply->commit, held->commit)) {
        (void)sl_text_copy(held->commit, sizeof held->commit, reply->commit);
        sl_hub_cache_store(hub->cache_dir, subject->repository, subject->revision, subject->file,
                           held);
    }
    give(held, true, false, out);
}

static void
log_stale(const sl_hub_subject *subject, const sl_hub_reply *reply, const char *commit)
{
    const sl_log_field fields[] = {
        sl_log_text("repository", subject->repository),
        sl_log_text("revision", subject->revision),
        sl_log_text("commit", commit),
        sl_log_text("reason", reply->reason != NULL ? reply->reason : "no verdict from the Hub"),
        sl_log_text("hub_request_id", reply->request_id),
    };
    sl_log(SL_LOG_WARN, "the Hub could not be asked, a cached revision was used", fields, 5);
}

/* A file of the Hub, of the commit that was asked for where one was. */
static bool
is_file(const sl_hub_subject *subject, const sl_hub_reply *reply)
{
    return reply->status == 200 && sl_hub_is_commit(reply->commit) && reply->etag[0] != '\0' &&
           (!sl_hub_is_commit(subject->revision) ||
            sl_text_holds_ignoring_case(reply->commit, subject->revision));
}

/* Asks the Hub and falls back to what is held; held is NULL when nothing is. */
static sl_code
ask_for_file(sl_hub_worker *worker, const sl_hub_subject *subject, sl_hub_cached *held,
             const atomic_bool *cancelled, sl_arena *arena, sl_hub_file *out, sl_errors *err)
{
    const sl_hub *const hub = worker->hub;
    const sl_hub_limits *const limits = &hub->limits;
    /* Where something can stand in, nobody waits for a second try (huggingface_hub neither). */
    const sl_hub_patience patience =
        subject->beside ? (sl_hub_patience){limits->check_s, limits->check_s, 1}
        : held != NULL  ? (sl_hub_patience){limits->etag_s, limits->etag_s, 1}
                        : (sl_hub_patience){limits->transfer_s, limits->budget_s, limits->tries};
    sl_hub_reply reply;
    sl_buffer body;
    char url[URL_SIZE];

    if (!sl_hub_file_url(hub->endpoint, subject, url, sizeof url))
        return sl_fail(err, SL_E_INTERNAL, "internal", subject->pointer,
                       "the address of %.96s is too long", subject->repository);

    sl_code code = SL_OK;
    const sl_hub_question question = {
        .url = url, .etag = held != NULL ? held->etag : "", .beside = subject->beside};
    sl_buffer_init(&body, SL_HUB_FILE_MAX_BYTES);
    const sl_hub_outcome outcome =
        sl_hub_ask(worker, &question, &patience, cancelled, &body, &reply);
    if (outcome == SL_HUB_ANSWERED && is_file(subject, &reply)) {
        code = accept_file(hub, &reply, &body, subject, arena, out, err);
    } else if (outcome == SL_HUB_ANSWERED && reply.status == 304 && held != NULL &&
               sl_hub_is_commit(reply.commit)) {
        accept_unchanged(hub, &reply, subject, held, out);
    } else if (held != NULL && sl_hub_is_unreachable(outcome, &reply)) {
        log_stale(subject, &reply, held->commit);
        give(held, true, true, out);
    } else {
        code = sl_hub_fail(hub, outcome, &reply, subject, err);
        if (err->dropped == 0)
            learn_missing(hub, subject, &reply, &err->list[err->count - 1]);
    }
    sl_buffer_clear(&body);
    return code;
}

sl_code
sl_hub_fetch(sl_hub_worker *worker, const sl_hub_subject *subject, const atomic_bool *cancelled,
             sl_arena *arena, sl_hub_file *out, sl_errors *err)
{
    assert(worker != NULL && subject != NULL && cancelled != NULL && arena != NULL && out != NULL);

    sl_hub_cached held;
    bool known = false;
    const sl_code code =
        sl_hub_check_id(subject->repository, subject->revision, subject->pointer, err);
    if (code != SL_OK)
        return code;
    switch (look_up(worker->hub, subject, arena, &held, &known, out, err)) {
    case SL_HUB_KNOWN:
        return SL_OK;
    case SL_HUB_KNOWN_NOT:
        return err->list[err->count - 1].code;
    case SL_HUB_UNKNOWN:
        break;
    }
    return ask_for_file(worker, subject, known ? &held : NULL, cancelled, arena, out, err);
}
