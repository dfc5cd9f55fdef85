/**
 * Hugging Face Hub client: the small files of a repository by revision, with a disk cache keyed by
 * commit; what the Hub counts in its checkpoint; search. One sl_hub per process (settings, cache
 * directory), one sl_hub_worker per thread (a curl handle). Protocol facts: spec of huggingface_hub
 * 1.29 (constants, file_download, hf_api, utils/_http, utils/_validators).
 */
#ifndef SL_HUB_HUB_H
#define SL_HUB_HUB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/settings.h"
#include "shardline/error.h"

typedef struct sl_hub sl_hub;
typedef struct sl_hub_worker sl_hub_worker;

/**
 * Copies the settings. Call it before threads start: it also starts libcurl. Errors (rule):
 * invalid_endpoint, invalid_token, unreadable_token (RANGE), out_of_memory (MEMORY). Workers are
 * freed before it. The process must ignore SIGPIPE.
 */
sl_code sl_hub_new(const sl_settings *settings, sl_hub **out, sl_errors *err) SL_MUST_CHECK;
void sl_hub_free(sl_hub *hub);
sl_hub_worker *sl_hub_worker_new(const sl_hub *hub) SL_MUST_CHECK;
void sl_hub_worker_free(sl_hub_worker *worker);

/** SL_E_RANGE with rule invalid_repository or invalid_revision, at `pointer`. */
sl_code sl_hub_check_id(const char *repository, const char *revision, const char *pointer,
                        sl_errors *err) SL_MUST_CHECK;

/** What is asked for, as the messages name it: one file of one state of a checked repository.
 * pointer: where the repository is named in the request ("" for a path). */
typedef struct sl_hub_subject {
    const char *repository;
    const char *revision;
    const char *file; /* one that is not config.json only by commit: a branch has one entity tag */
    const char *pointer;
    bool beside; /* goes with another file that is worth more: one short try */
} sl_hub_subject;

typedef struct sl_hub_file {
    const char *text; /* in the arena, NUL-terminated; NULL when there is none */
    size_t size;
    char commit[41]; /* 40 hexadecimal digits */
    bool from_cache; /* no byte of the body came over the network now */
    bool stale; /* the Hub could not be asked (offline or down): the cached revision was used */
} sl_hub_file;

/**
 * Fetches a JSON file of at most 1 MiB. cancelled: ends the fetch with the rule timeout, within a
 * second. At most 20 s altogether. Errors (rule): repository_not_found, revision_not_found,
 * file_not_found (NOT_FOUND); gated, forbidden, disabled, bad_token (FORBIDDEN);
 * offline_not_cached (UNAVAILABLE); rate_limited (RATE_LIMITED); too_large, not_the_hub,
 * upstream_error, connection_failed, truncated, address_refused, too_many_redirects (UPSTREAM);
 * timeout (TIMEOUT); out_of_memory (MEMORY).
 */
sl_code sl_hub_fetch(sl_hub_worker *worker, const sl_hub_subject *subject,
                     const atomic_bool *cancelled, sl_arena *arena, sl_hub_file *out,
                     sl_errors *err) SL_MUST_CHECK;

/** How an answer was come by without asking the Hub. */
typedef enum sl_hub_recollection {
    SL_HUB_UNKNOWN,  /* the Hub is to be asked */
    SL_HUB_KNOWN,    /* *out is filled */
    SL_HUB_KNOWN_NOT /* err is filled: offline, known to be missing, or limited in rate */
} sl_hub_recollection;

/** The part of sl_hub_fetch that needs no network: from memory and disk, in microseconds. */
sl_hub_recollection sl_hub_recall(const sl_hub *hub, const sl_hub_subject *subject, sl_arena *arena,
                                  sl_hub_file *out, sl_errors *err) SL_MUST_CHECK;

enum { SL_HUB_DTYPES_MAX = 24 };

typedef enum sl_hub_count_source {
    SL_HUB_NOT_COUNTED,
    SL_HUB_COUNTED_METADATA, /* the Hub's own count of the safetensors files */
    SL_HUB_COUNTED_HEADERS   /* ours, of the headers of those files */
} sl_hub_count_source;

/** What the Hub says of one commit beside its files. */
typedef struct sl_hub_info {
    bool known;                 /* false: nothing below is */
    const char *gated;          /* "false", "auto", "manual", "true"; NULL when not said */
    bool has_quantization_file; /* hf_quant_config.json */
    bool has_safetensors;       /* model.safetensors */
    bool has_index;             /* model.safetensors.index.json */
    sl_hub_count_source source;
    uint64_t total; /* elements stored, of all tensors */
    uint32_t dtype_count;
    struct {
        char name[16]; /* "BF16", as safetensors names it */
        uint64_t elements;
    } dtypes[SL_HUB_DTYPES_MAX];
} sl_hub_info;

/** Everything of a model that its description needs. */
typedef struct sl_hub_model {
    sl_hub_file config;
    sl_hub_file quantization;  /* hf_quant_config.json where config.json names no quantisation and
                                 the repository has one; text NULL otherwise */
    bool quantization_missing; /* there is one, or may be, and it could not be had */
    sl_hub_info info;
} sl_hub_model;

/**
 * One request for a model, from asking to its answer. Many tickets for one model are one fetch: the
 * first leads it, the others get what it brought. In the asker's arena; the strings are borrowed
 * for its life. Zero-initialise what is not asked.
 */
typedef struct sl_hub_ticket {
    const char *repository;
    const char *revision;
    const char *pointer;
    sl_arena *arena;
    sl_hub_model model; /* once done, with code SL_OK */
    sl_code code;
    sl_error failure; /* once done, with another code */
    bool done;
    /* Private to the client, guarded by its lock. */
    struct sl_hub_ticket *next;
    struct sl_hub_ticket *followers;
    uint32_t follower_count;
    void (*wake)(void *context);
    void *context;
} sl_hub_ticket;

enum { SL_HUB_FOLLOWERS_MAX = 256 }; /* of one fetch; each gets a copy of up to 1 MiB */

/** Answers the ticket without the network where that is possible: false when the Hub is to be
 * asked. The id is checked here: errors as sl_hub_check_id, too. */
bool sl_hub_model_recall(const sl_hub *hub, sl_hub_ticket *ticket) SL_MUST_CHECK;

/**
 * Fetches the model of the ticket, unless somebody is at it already: then false, at once, and
 * sl_hub_model_wait is next. True: the ticket is done, and so are those that wait for it. Errors as
 * sl_hub_fetch; a fault of the cross-check is none.
 */
bool sl_hub_model_fetch(sl_hub_worker *worker, sl_hub_ticket *ticket,
                        const atomic_bool *cancelled) SL_MUST_CHECK;

/**
 * Waits for the fetch under way, holding no thread: `wake` is called once, from another thread,
 * perhaps before this returns. The ticket is then done, or that fetch ended without a verdict (its
 * own request was cancelled) and the ticket is to be fetched again. False, and wake is not called:
 * there is no such fetch any more, or SL_HUB_FOLLOWERS_MAX wait for it already: then the ticket is
 * done, with the rule busy (UNAVAILABLE).
 */
bool sl_hub_model_wait(const sl_hub *hub, sl_hub_ticket *ticket, void (*wake)(void *context),
                       void *context) SL_MUST_CHECK;

/** Requests for models, by how they ended, for metrics. */
typedef enum sl_hub_result {
    SL_HUB_RESULT_FAILED,
    SL_HUB_RESULT_DOWNLOADED,
    SL_HUB_RESULT_REVALIDATED,
    SL_HUB_RESULT_CACHED,
    SL_HUB_RESULT_SHARED, /* another request's fetch brought it */
    SL_HUB_RESULT_STALE,
    SL_HUB_RESULT_NOT_FOUND,
    SL_HUB_RESULT_FORBIDDEN,
    SL_HUB_RESULT_RATE_LIMITED,
    SL_HUB_RESULT_TIMEOUT,
    SL_HUB_RESULT_OFFLINE,
    SL_HUB_RESULT_COUNT
} sl_hub_result;

const char *sl_hub_result_text(sl_hub_result result);
uint64_t sl_hub_result_count(const sl_hub *hub, sl_hub_result result);

enum { SL_HUB_SEARCH_MAX = 100, SL_HUB_QUERY_MAX = 96 };

/** One model a search found. Texts are in the arena; NULL is unknown. */
typedef struct sl_hub_hit {
    const char *id;
    const char *gated; /* as sl_hub_info; NULL when unknown */
    bool has_downloads;
    bool has_likes;
    uint64_t downloads;
    uint64_t likes;
    const char *library;
    const char *last_modified;
    bool from_cache;
} sl_hub_hit;

typedef struct sl_hub_found {
    uint32_t count;
    sl_hub_hit *hits;
    bool from_cache; /* the names of cached models were searched, not the Hub */
    bool stale;      /* ... because the Hub could not be asked */
} sl_hub_found;

/** The part of sl_hub_search that needs no network, where the Hub is not to be asked. KNOWN_NOT:
 * errors as sl_hub_search. */
sl_hub_recollection sl_hub_search_recall(const sl_hub *hub, const char *query, uint32_t limit,
                                         sl_arena *arena, sl_hub_found *out,
                                         sl_errors *err) SL_MUST_CHECK;

/**
 * Models whose name holds `query`, at most `limit`, the most downloaded first. Without an answer of
 * the Hub, within some seconds, the models of both caches, by name. Errors (rule): invalid_query
 * (RANGE, at ""), timeout (TIMEOUT), out_of_memory (MEMORY).
 */
sl_code sl_hub_search(sl_hub_worker *worker, const char *query, uint32_t limit,
                      const atomic_bool *cancelled, sl_arena *arena, sl_hub_found *out,
                      sl_errors *err) SL_MUST_CHECK;

#endif
