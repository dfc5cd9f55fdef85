/**
 * Observations of stored inventories: the latest word of each source. All functions need an open
 * store (store.h); texts of an answer lie in the arena that is passed.
 */
#ifndef SL_STORE_OBSERVATION_H
#define SL_STORE_OBSERVATION_H

#include "store/inventory.h"

enum { SL_OBSERVATION_SOURCES_MAX = 1024 }; /* of one inventory */

typedef struct sl_observation_row {
    const char *source;
    uint64_t revision; /* of what was read, from 1 */
    const char *format;
    const char *raw_hash;
    const char *facts_hash;
    uint64_t hosts;
    const char *observed_at; /* RFC 3339, UTC */
    const char *received_at;
    const char *changed_at;
    uint64_t stale_after_s;
    bool stale;        /* now, by the clock of the database */
    const char *facts; /* JSON; NULL in lists */
} sl_observation_row;

typedef struct sl_observation_write {
    const char *slug;
    const char *source;
    const char *format;
    const char *raw_hash;
    const char *facts;
    const char *facts_hash;
    uint64_t hosts;
    const char *observed_at; /* RFC 3339 */
    uint64_t stale_after_s;  /* 0: as before, or a day */
    sl_precondition precondition;
    sl_requester requester;
    bool dry_run; /* the same answer and the same errors, and nothing changes */
} sl_observation_write;

/**
 * Stores it in place of what the source said before, with a row in the audit when that changed.
 * *created: it is the first.
 * Rules: inventory_not_found; stale_observation (SL_E_CONFLICT) when a later one is there;
 * revision_mismatch and observation_exists (SL_E_PRECONDITION); too_many (SL_E_RANGE) sources.
 */
sl_code sl_observation_put(sl_store *store, const sl_observation_write *write, sl_arena *arena,
                           sl_observation_row *out, bool *created, sl_errors *err) SL_MUST_CHECK;

/** SL_E_NOT_FOUND: inventory_not_found, observation_not_found. */
sl_code sl_observation_get(sl_store *store, const char *slug, const char *source, sl_arena *arena,
                           sl_observation_row *out, sl_errors *err) SL_MUST_CHECK;

/** Removes it; the same errors, and revision_mismatch. Of `write` what names it, and who asks. */
sl_code sl_observation_delete(sl_store *store, const sl_observation_write *write,
                              sl_errors *err) SL_MUST_CHECK;

/** Ordered by source, those after `after`, at most `limit`; with their facts where these are
 * wanted. */
sl_code sl_observation_list(sl_store *store, const char *slug, const char *after, uint32_t limit,
                            bool with_facts, sl_arena *arena, sl_observation_row **rows,
                            uint32_t *count, bool *more, sl_errors *err) SL_MUST_CHECK;

#endif
