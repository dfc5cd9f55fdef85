/**
 * Saved plans: what is current, every document that was accepted, and the last verdict. All
 * functions need an open store (store.h); texts of an answer lie in the arena that is passed.
 *
 * `software` everywhere: versions of engine and catalogue, as one text. A verdict holds while they,
 * the plan, its inventory and what counts of its observations are what they were.
 */
#ifndef SL_STORE_PLAN_H
#define SL_STORE_PLAN_H

#include "store/inventory.h"

typedef struct sl_plan_row {
    const char *slug;
    uint64_t revision; /* from 1 */
    const char *name;
    const char *spec;      /* JSON text exactly as accepted; NULL in lists */
    const char *inventory; /* slug, or NULL */
    const char *created_at;
    const char *updated_at;
    const char *verdict;    /* "fits", "does_not_fit", "refused"; NULL: never evaluated */
    const char *evaluation; /* JSON; NULL likewise, like the next */
    const char *evaluated_at;
    const char *reason;            /* NULL: none */
    const char *holds_for;         /* what is there now, for sl_plan_judge */
    const char *judged_for;        /* what was there when it was judged; NULL: never */
    uint64_t inventory_revision;   /* now; 0: no inventory */
    const char *observations_hash; /* of what counts now; "" where nothing does */
    bool current;                  /* the verdict is one on what is there now */
} sl_plan_row;

typedef struct sl_plan_write {
    const char *slug;
    sl_precondition precondition;
    const char *name;
    const char *spec;
    const char *spec_hash;
    const char *inventory; /* NULL: none */
    sl_requester requester;
} sl_plan_write;

/**
 * Creates or replaces, with a row in the audit. The same document leaves the revision and the
 * verdict alone. Rules: revision_mismatch and plan_exists (SL_E_PRECONDITION), inventory_not_found
 * at /request/cluster/inventory.
 */
sl_code sl_plan_put(sl_store *store, const sl_plan_write *write, bool *created,
                    sl_errors *err) SL_MUST_CHECK;

/** Whether that would be refused now: the same errors, and nothing changes. */
sl_code sl_plan_put_try(sl_store *store, const sl_plan_write *write, sl_errors *err) SL_MUST_CHECK;

/** SL_E_NOT_FOUND, rule plan_not_found. */
sl_code sl_plan_get(sl_store *store, const char *slug, const char *software, sl_arena *arena,
                    sl_plan_row *out, sl_errors *err) SL_MUST_CHECK;

/** Soft, as with inventories; revision_mismatch too. Of `write` what names it, and who asks.
 * dry_run: the same errors, and nothing changes. */
sl_code sl_plan_delete(sl_store *store, const sl_plan_write *write, bool dry_run,
                       sl_errors *err) SL_MUST_CHECK;

typedef struct sl_plan_query {
    const char *after; /* slug of the last row seen, "" = from the start */
    uint32_t limit;
    const char *inventory; /* NULL: any */
    const char *verdict; /* one that holds now, "pending", or "not_fits" for the two others; NULL */
} sl_plan_query;

/** Ordered by slug. */
sl_code sl_plan_list(sl_store *store, const sl_plan_query *query, const char *software,
                     sl_arena *arena, sl_plan_row **rows, uint32_t *count, bool *more,
                     sl_errors *err) SL_MUST_CHECK;

typedef struct sl_plan_judgement {
    const char *slug;
    uint64_t revision; /* of the plan that was judged: another one is left alone */
    const char *verdict;
    const char *evaluation;
    const char *reason; /* NULL: none */
    const char *holds_for;
    const char *judged_for; /* of the row that was read: one judged since then is left alone */
} sl_plan_judgement;

sl_code sl_plan_judge(sl_store *store, const sl_plan_judgement *judgement,
                      sl_errors *err) SL_MUST_CHECK;

typedef enum sl_plan_verdict {
    SL_PLAN_FITS,
    SL_PLAN_DOES_NOT_FIT,
    SL_PLAN_REFUSED,
    SL_PLAN_PENDING,
    SL_PLAN_VERDICTS
} sl_plan_verdict;

extern const char *const sl_plan_verdict_names[SL_PLAN_VERDICTS];

/** How many plans have each verdict now. inventory: NULL: of any, or of none. */
sl_code sl_plan_count(sl_store *store, const char *inventory, const char *software,
                      uint64_t counts[SL_PLAN_VERDICTS], sl_errors *err) SL_MUST_CHECK;

#endif
