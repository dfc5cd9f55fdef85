/**
 * Hugging Face Hub client: config.json by repository and revision, with a disk cache keyed by
 * commit. One sl_hub per process (settings, cache directory), one sl_hub_worker per thread (a curl
 * handle). Protocol facts: spec of huggingface_hub 1.29 (constants, file_download, utils/_http,
 * utils/_validators).
 */
#ifndef SL_HUB_HUB_H
#define SL_HUB_HUB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/settings.h"
#include "shardline/error.h"

typedef struct sl_hub sl_hub;
typedef struct sl_hub_worker sl_hub_worker;

/**
 * Copies the settings. Call it before threads start: it also starts libcurl. Errors (rule):
 * invalid_endpoint, invalid_token (RANGE), out_of_memory (MEMORY). Workers are freed before it.
 * The process must ignore SIGPIPE.
 */
sl_code sl_hub_new(const sl_settings *settings, sl_hub **out, sl_errors *err) SL_MUST_CHECK;
void sl_hub_free(sl_hub *hub);
sl_hub_worker *sl_hub_worker_new(const sl_hub *hub) SL_MUST_CHECK;
void sl_hub_worker_free(sl_hub_worker *worker);

/** SL_E_RANGE with rule invalid_repository or invalid_revision, at `pointer`. */
sl_code sl_hub_check_id(const char *repository, const char *revision, const char *pointer,
                        sl_errors *err) SL_MUST_CHECK;

typedef struct sl_hub_file {
    const char *text; /* in the arena, NUL-terminated */
    size_t size;
    char commit[41]; /* 40 hexadecimal digits */
    bool from_cache; /* no byte of the body came over the network now */
    bool stale; /* the Hub could not be asked (offline or down): the cached revision was used */
} sl_hub_file;

/**
 * Fetches config.json. pointer: where the repository is named in the request ("" for a path).
 * cancelled: ends the fetch with the rule timeout, within a second. At most 20 s altogether.
 * Errors (rule): invalid_repository, invalid_revision (RANGE); repository_not_found,
 * revision_not_found, file_not_found (NOT_FOUND); gated, forbidden, disabled, bad_token
 * (FORBIDDEN); offline_not_cached (UNAVAILABLE); rate_limited (RATE_LIMITED); too_large,
 * not_the_hub, upstream_error, connection_failed, truncated, address_refused, too_many_redirects
 * (UPSTREAM); timeout (TIMEOUT); out_of_memory (MEMORY).
 */
sl_code sl_hub_config(sl_hub_worker *worker, const char *repository, const char *revision,
                      const atomic_bool *cancelled, sl_arena *arena, const char *pointer,
                      sl_hub_file *out, sl_errors *err) SL_MUST_CHECK;

#endif
