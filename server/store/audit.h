/** Who wrote what: the audits of everything that is stored, each of its own kind. */
#ifndef SL_STORE_AUDIT_H
#define SL_STORE_AUDIT_H

#include "store/inventory.h"

typedef enum sl_audit_kind {
    SL_AUDIT_INVENTORY,
    SL_AUDIT_OBSERVATION,
    SL_AUDIT_PLAN,
    SL_AUDIT_HARDWARE,
    SL_AUDIT_KIND_COUNT
} sl_audit_kind;

/** What was written. */
typedef struct sl_audit_subject {
    sl_audit_kind kind;
    const char *name; /* slug, or id of hardware */
    const char *part; /* source of an observation, kind of hardware; NULL otherwise */
} sl_audit_subject;

/**
 * Writes, newest first, at most `limit` with an id below `before` (0 = newest); of what was deleted
 * too. SL_E_NOT_FOUND: inventory_not_found, observation_not_found, plan_not_found,
 * hardware_not_found, where there was none ever.
 */
sl_code sl_audit_list(sl_store *store, const sl_audit_subject *subject, uint64_t before,
                      uint32_t limit, sl_arena *arena, sl_inventory_history *out,
                      sl_errors *err) SL_MUST_CHECK;

#endif
