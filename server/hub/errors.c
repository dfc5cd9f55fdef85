#include "hub/errors.h"

#include <assert.h>

#include "base/text.h"

static sl_code
fail_missing(const sl_hub_subject *subject, const sl_hub *hub, sl_errors *err)
{
    /* The Hub answers alike for a repository that is private: saying "credentials" would mislead.
     */
    const sl_code code = sl_fail(err, SL_E_NOT_FOUND, "repository_not_found", subject->pointer,
                                 "the Hugging Face Hub has no repository %.96s, or it is private",
                                 subject->repository);
    sl_hint(err, "%s",
            hub->token[0] == '\0' ? "check the name; for a private repository set HF_TOKEN"
                                  : "check the name, and that the owner of HF_TOKEN may read it");
    return code;
}

static sl_code
fail_gated(const sl_hub_subject *subject, const sl_hub *hub, sl_errors *err)
{
    const sl_code code =
        sl_fail(err, SL_E_FORBIDDEN, "gated", subject->pointer,
                "%.96s is open only to those who accepted its terms", subject->repository);
    sl_hint(err, "%s",
            hub->token[0] == '\0'
                ? "accept the terms on the model's page and set HF_TOKEN"
                : "accept the terms on the model's page as the owner of HF_TOKEN");
    return code;
}

sl_code
sl_hub_fail_file(const sl_hub_subject *subject, sl_errors *err)
{
    const sl_code code = sl_fail(err, SL_E_NOT_FOUND, "file_not_found", subject->pointer,
                                 "%.96s has no %.32s at revision %.40s", subject->repository,
                                 subject->file, subject->revision);
    sl_hint(err, "name the repository of the original weights, or send the config inline");
    return code;
}

sl_code
sl_hub_fail_offline(const sl_hub_subject *subject, sl_errors *err)
{
    const sl_code code = sl_fail(err, SL_E_UNAVAILABLE, "offline_not_cached", subject->pointer,
                                 "%.64s at revision %.40s is not in the cache, and HF_HUB_OFFLINE "
                                 "is set",
                                 subject->repository, subject->revision);
    sl_hint(err, "unset HF_HUB_OFFLINE once to fetch it, or send the config inline");
    return code;
}

/* Verdicts of the Hub on the repository. SL_OK when the reply holds none. */
static sl_code
fail_verdict(const sl_hub *hub, const sl_hub_reply *reply, const sl_hub_subject *subject,
             sl_errors *err)
{
    if (sl_text_equal(reply->error_code, "RevisionNotFound")) {
        const sl_code code =
            sl_fail(err, SL_E_NOT_FOUND, "revision_not_found", subject->pointer,
                    "%.96s has no revision %.64s", subject->repository, subject->revision);
        sl_hint(err, "main, or a branch, tag or commit of the repository");
        return code;
    }
    if (sl_text_equal(reply->error_code, "EntryNotFound"))
        return sl_hub_fail_file(subject, err);
    if (sl_text_equal(reply->error_code, "GatedRepo"))
        return fail_gated(subject, hub, err);
    if (sl_text_equal(reply->error_message, "Access to this resource is disabled."))
        return sl_fail(err, SL_E_FORBIDDEN, "disabled", subject->pointer,
                       "the Hugging Face Hub has disabled %.96s", subject->repository);
    const bool bad_token =
        reply->status == 401 &&
        sl_text_equal(reply->error_message, "Invalid credentials in Authorization header");
    if (sl_text_equal(reply->error_code, "RepoNotFound") || (reply->status == 401 && !bad_token))
        return fail_missing(subject, hub, err);
    if (bad_token) {
        const sl_code code = sl_fail(err, SL_E_FORBIDDEN, "bad_token", subject->pointer,
                                     "the Hugging Face Hub refused the token this service uses");
        sl_hint(err, "set HF_TOKEN to a valid token, or unset it for public repositories");
        return code;
    }
    if (reply->status == 403)
        return sl_fail(err, SL_E_FORBIDDEN, "forbidden", subject->pointer,
                       "the Hugging Face Hub forbids reading %.64s: %.80s", subject->repository,
                       reply->error_message[0] != '\0' ? reply->error_message : "no reason given");
    if (reply->status == 404 || reply->status == 410)
        return fail_missing(subject, hub, err);
    return SL_OK;
}

sl_code
sl_hub_fail_rate(const sl_hub *hub, const sl_hub_subject *subject, double retry_after_s,
                 sl_errors *err)
{
    const char *const more = hub->token[0] == '\0' ? "; HF_TOKEN raises the limit" : "";
    const sl_code code = sl_fail(err, SL_E_RATE_LIMITED, "rate_limited", subject->pointer,
                                 "the Hugging Face Hub asks to slow down, while fetching %.96s",
                                 subject->repository);
    if (retry_after_s < 0.0) {
        sl_hint(err, "try again in some minutes%s", more);
        return code;
    }
    uint32_t seconds = (uint32_t)retry_after_s; /* of nine digits at most */
    if (seconds < retry_after_s || seconds == 0)
        seconds++;
    sl_hint(err, "try again in %u seconds%s", seconds, more);
    sl_retry_after(err, seconds);
    return code;
}

static sl_code
fail_status(const sl_hub *hub, const sl_hub_reply *reply, const sl_hub_subject *subject,
            sl_errors *err)
{
    sl_code code = SL_OK;
    /* Only the endpoint knows repositories; a content host's 403 is a worn-out signature. */
    if (reply->from_endpoint && reply->status >= 400)
        code = fail_verdict(hub, reply, subject, err);
    if (code != SL_OK)
        return code;

    if (reply->status == 200 || reply->status == 304) {
        code = sl_fail(err, SL_E_UPSTREAM, "not_the_hub", subject->pointer,
                       "an answer for %.64s did not come from the Hugging Face Hub: it names no "
                       "commit, another one, or no entity tag",
                       subject->repository);
        sl_hint(err, "check HF_ENDPOINT, and that no login page or proxy answers instead");
        return code;
    }
    if (reply->status == 429)
        return sl_hub_fail_rate(hub, subject, reply->retry_after_s, err);
    code = sl_fail(err, SL_E_UPSTREAM, "upstream_error", subject->pointer,
                   "the Hugging Face Hub answered %ld for %.96s%s", reply->status,
                   subject->repository, reply->from_endpoint ? "" : ", from its content host");
    sl_hint(err, "try again later, or send the config inline");
    return code;
}

sl_code
sl_hub_fail(const sl_hub *hub, sl_hub_outcome outcome, const sl_hub_reply *reply,
            const sl_hub_subject *subject, sl_errors *err)
{
    const char *const repository = subject->repository, *const pointer = subject->pointer;
    const char *const reason = reply->reason != NULL ? reply->reason : "no answer";
    sl_code code = SL_OK;

    switch (outcome) {
    case SL_HUB_ANSWERED:
        return fail_status(hub, reply, subject, err);
    case SL_HUB_CANCELLED:
        return sl_fail(err, SL_E_TIMEOUT, "timeout", pointer,
                       "the request ended before the Hugging Face Hub answered for %.96s",
                       repository);
    case SL_HUB_TIMED_OUT:
        return sl_fail(err, SL_E_TIMEOUT, "timeout", pointer,
                       "the Hugging Face Hub did not send %.32s of %.96s in time", subject->file,
                       repository);
    case SL_HUB_NOT_CONNECTED:
        code = sl_fail(err, SL_E_UPSTREAM, "connection_failed", pointer,
                       "could not ask the Hugging Face Hub for %.64s: %.64s", repository, reason);
        sl_hint(err, "check the network and HF_ENDPOINT; SHARDLINE_HUB_PROXY names a proxy");
        return code;
    case SL_HUB_TRUNCATED:
        code = sl_fail(err, SL_E_UPSTREAM, "truncated", pointer,
                       "%.32s of %.96s arrived damaged or is not JSON", subject->file, repository);
        sl_hint(err, "try again, or send the config inline");
        return code;
    case SL_HUB_TOO_LARGE:
        return sl_fail(err, SL_E_UPSTREAM, "too_large", pointer,
                       "%.32s must not exceed %d bytes, that of %.96s does", subject->file,
                       SL_HUB_FILE_MAX_BYTES, repository);
    case SL_HUB_ADDRESS_REFUSED:
        return sl_fail(err, SL_E_UPSTREAM, "address_refused", pointer,
                       "the answer for %.96s leads to an address that is not public, or not https",
                       repository);
    case SL_HUB_TOO_MANY_REDIRECTS:
        return sl_fail(err, SL_E_UPSTREAM, "too_many_redirects", pointer,
                       "the answer for %.96s leads on more than %u times", repository,
                       hub->limits.redirects);
    case SL_HUB_NO_MEMORY:
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", pointer,
                       "no memory was left to fetch %.96s", repository);
    case SL_HUB_OUTCOME_COUNT:
        break;
    }
    assert(false);
    return SL_E_INTERNAL;
}

bool
sl_hub_is_unreachable(sl_hub_outcome outcome, const sl_hub_reply *reply)
{
    switch (outcome) {
    case SL_HUB_ANSWERED:
        /* A 200 or 304 that is no file of the Hub is a login page in its place. */
        return reply->retryable || reply->status >= 500 || reply->status == 200 ||
               reply->status == 304;
    case SL_HUB_NOT_CONNECTED:
    case SL_HUB_TIMED_OUT:
    case SL_HUB_TRUNCATED:
        return true;
    case SL_HUB_CANCELLED:
    case SL_HUB_TOO_LARGE:
    case SL_HUB_ADDRESS_REFUSED:
    case SL_HUB_TOO_MANY_REDIRECTS:
    case SL_HUB_NO_MEMORY:
    case SL_HUB_OUTCOME_COUNT:
        break;
    }
    return false;
}
