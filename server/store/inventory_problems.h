/**
 * What is found of the hosts of stored inventories, kept so that a list can ask for it. All
 * functions need an open store (store.h); texts of an answer lie in the arena that is passed.
 *
 * `software` as in plan.h. What was found holds while they, the spec and what was observed are what
 * they were; inventories without a finding that holds count among those with problems.
 */
#ifndef SL_STORE_INVENTORY_PROBLEMS_H
#define SL_STORE_INVENTORY_PROBLEMS_H

#include "store/inventory.h"

enum { SL_UNJUDGED_PAGE = 64 };

/** An inventory that changed since it was judged, if it ever was. */
typedef struct sl_inventory_unjudged {
    const char *slug;
    const char *holds_for; /* what is there now, for sl_inventory_judge */
} sl_inventory_unjudged;

/** Ordered by slug, from behind `after` on; "" is the start. A page that is not full is the
 * last. */
sl_code sl_inventories_unjudged(sl_store *store, const char *after, const char *software,
                                sl_arena *arena, sl_inventory_unjudged rows[SL_UNJUDGED_PAGE],
                                uint32_t *count, sl_errors *err) SL_MUST_CHECK;

/** wrong: some host or part is not as the spec says, stale sources taken at their word. */
sl_code sl_inventory_judge(sl_store *store, const sl_inventory_unjudged *row, bool wrong,
                           sl_errors *err) SL_MUST_CHECK;

#endif
