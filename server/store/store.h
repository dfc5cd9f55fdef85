/**
 * All that is kept: PostgreSQL through libpq. One sl_store per thread (one connection); it connects
 * lazily, reconnects by itself with a backoff, and prepares its statements per connection. No
 * database configured or reachable: SL_E_UNAVAILABLE with rule database_not_configured or
 * database_unavailable.
 */
#ifndef SL_STORE_STORE_H
#define SL_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "shardline/error.h"

typedef struct sl_store sl_store;

/** url: libpq URL or keyword string, "" = none; borrowed. NULL only when the heap is exhausted. */
sl_store *sl_store_new(const char *url) SL_MUST_CHECK;
void sl_store_free(sl_store *store);

/**
 * Applies the embedded migrations that are missing: one advisory lock, one transaction per file, a
 * checksum per applied file. rule migration_changed when an applied file differs, migration_unknown
 * when the database is ahead (allowed: old replicas run beside new ones, so this is logged, not an
 * error).
 */
sl_code sl_store_migrate(sl_store *store, sl_errors *err) SL_MUST_CHECK;

/** SL_OK when the database answers and its schema is current. */
sl_code sl_store_ready(sl_store *store, sl_errors *err) SL_MUST_CHECK;

typedef struct sl_inventory_row {
    const char *slug;
    uint64_t revision; /* from 1 */
    const char *name;
    const char *spec;       /* JSON text exactly as accepted */
    const char *created_at; /* RFC 3339, UTC */
    const char *updated_at;
} sl_inventory_row;

/** In place of an expected revision: any will do, but there must be one. */
#define SL_REVISION_ANY UINT64_MAX

/**
 * Creates or replaces. The same spec (equal canonical text, given as its hash) leaves the revision
 * alone. if_match: expected revision, SL_REVISION_ANY, or 0 = not asked; SL_E_PRECONDITION (rule
 * revision_mismatch) otherwise; if_none_match_any: only create (rule inventory_exists).
 */
sl_code sl_inventory_put(sl_store *store, const char *slug, const char *name, const char *spec,
                         const char *spec_hash, uint64_t if_match, bool if_none_match_any,
                         sl_arena *arena, sl_inventory_row *out, bool *created,
                         sl_errors *err) SL_MUST_CHECK;

/** Whether a put with these conditions would pass them now: the same errors, and nothing
 * changes. */
sl_code sl_inventory_put_allowed(sl_store *store, const char *slug, uint64_t if_match,
                                 bool if_none_match_any, sl_errors *err) SL_MUST_CHECK;

/** SL_E_NOT_FOUND, rule inventory_not_found, at `pointer`. */
sl_code sl_inventory_get(sl_store *store, const char *slug, const char *pointer, sl_arena *arena,
                         sl_inventory_row *out, sl_errors *err) SL_MUST_CHECK;

/** One revision of the past; rule revision_not_found. */
sl_code sl_inventory_revision(sl_store *store, const char *slug, uint64_t revision, sl_arena *arena,
                              sl_inventory_row *out, sl_errors *err) SL_MUST_CHECK;

/** Ordered by slug, those after `after` ("" = from the start), at most `limit`; rows without spec.
 */
sl_code sl_inventory_list(sl_store *store, const char *after, uint32_t limit, sl_arena *arena,
                          sl_inventory_row **rows, uint32_t *count, bool *more,
                          sl_errors *err) SL_MUST_CHECK;

/** Revisions, newest first, at most `limit` below `before` (0 = newest); rows without spec. */
sl_code sl_inventory_revisions(sl_store *store, const char *slug, uint64_t before, uint32_t limit,
                               sl_arena *arena, sl_inventory_row **rows, uint32_t *count,
                               bool *more, sl_errors *err) SL_MUST_CHECK;

/** A row of a user beside the catalogue. */
typedef struct sl_hardware_row {
    const char *kind; /* "accelerator", "node_type", "price" */
    const char *id;
    uint64_t revision;      /* of the write that made it, among those of all rows */
    const char *spec;       /* JSON text exactly as accepted */
    const char *created_at; /* RFC 3339, UTC */
    const char *updated_at;
} sl_hardware_row;

/** Number of the last write to any of them: what follows from the rows holds as long as it does. */
sl_code sl_hardware_state(sl_store *store, uint64_t *revision, sl_errors *err) SL_MUST_CHECK;

/** All rows by kind and id, with the state they belong to. */
sl_code sl_hardware_list(sl_store *store, sl_arena *arena, uint64_t *revision,
                         sl_hardware_row **rows, uint32_t *count, sl_errors *err) SL_MUST_CHECK;

/** On which conditions a row is written: all of them hold, or nothing happens. */
typedef struct sl_hardware_condition {
    const uint64_t
        *if_match;         /* revisions of which any will do; SL_REVISION_ANY: there must be one */
    size_t if_match_count; /* 0: not asked */
    bool create_only;
} sl_hardware_condition;

/**
 * Creates or replaces a row. The same spec (equal hash) leaves everything as it is. uses: id of the
 * private accelerator a node type is made of, or NULL. limit: rows there may be.
 * SL_E_PRECONDITION: revision_mismatch, hardware_exists; SL_E_CONFLICT: too_many_rows;
 * SL_E_RANGE: not_storable when `uses` is gone.
 */
sl_code sl_hardware_put(sl_store *store, const sl_hardware_row *row, const char *spec_hash,
                        const char *uses, uint32_t limit, const sl_hardware_condition *condition,
                        bool *created, sl_errors *err) SL_MUST_CHECK;

/** The conditions alone: the same errors, and nothing changes. */
sl_code sl_hardware_put_allowed(sl_store *store, const char *kind, const char *id,
                                const sl_hardware_condition *condition,
                                sl_errors *err) SL_MUST_CHECK;

/** SL_E_NOT_FOUND: hardware_not_found; SL_E_RANGE: not_storable while another row uses it. */
sl_code sl_hardware_delete(sl_store *store, const char *kind, const char *id,
                           const sl_hardware_condition *condition, sl_errors *err) SL_MUST_CHECK;

#endif
