/**
 * Results of searches that ran to their end, by the hash of all that went into them. All functions
 * need an open store (store.h); texts of an answer lie in the arena that is passed.
 */
#ifndef SL_STORE_SEARCH_H
#define SL_STORE_SEARCH_H

#include "store/store.h"

typedef struct sl_search_row {
    const char *hash; /* 64 hexadecimal digits */
    const char *engine_version;
    const char *catalog_revision;
    const char *result;     /* JSON */
    const char *created_at; /* RFC 3339, UTC; not read by a put */
} sl_search_row;

/** Keeps it, in place of an earlier one; the oldest of more than 10,000 go. */
sl_code sl_search_put(sl_store *store, const sl_search_row *row, sl_errors *err) SL_MUST_CHECK;

/** SL_E_NOT_FOUND, rule search_not_found. */
sl_code sl_search_get(sl_store *store, const char *hash, sl_arena *arena, sl_search_row *out,
                      sl_errors *err) SL_MUST_CHECK;

#endif
