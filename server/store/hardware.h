/** Private accelerators, node types and prices as their owners sent them. */
#ifndef SL_STORE_HARDWARE_H
#define SL_STORE_HARDWARE_H

#include "store/inventory.h"

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

/**
 * Creates or replaces a row, with one in the audit. The same spec (equal hash) leaves everything as
 * it is. uses: id of the private accelerator a node type is made of, or NULL. limit: rows there may
 * be. SL_E_PRECONDITION: revision_mismatch, hardware_exists; SL_E_CONFLICT: too_many_rows;
 * SL_E_RANGE: not_storable when `uses` is gone.
 */
sl_code sl_hardware_put(sl_store *store, const sl_hardware_row *row, const char *spec_hash,
                        const char *uses, uint32_t limit, const sl_precondition *asked,
                        const sl_requester *by, bool *created, sl_errors *err) SL_MUST_CHECK;

/** The conditions alone: the same errors, and nothing changes. */
sl_code sl_hardware_put_allowed(sl_store *store, const char *kind, const char *id,
                                const sl_precondition *asked, sl_errors *err) SL_MUST_CHECK;

/** SL_E_NOT_FOUND: hardware_not_found; SL_E_RANGE: not_storable while another row uses it. */
sl_code sl_hardware_delete(sl_store *store, const char *kind, const char *id,
                           const sl_precondition *asked, const sl_requester *by,
                           sl_errors *err) SL_MUST_CHECK;

#endif
