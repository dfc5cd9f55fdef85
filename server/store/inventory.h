/**
 * Stored inventories: what is current, every revision that was accepted, and who wrote what. All
 * functions need an open store (store.h); texts of an answer lie in the arena that is passed.
 */
#ifndef SL_STORE_INVENTORY_H
#define SL_STORE_INVENTORY_H

#include "store/store.h"

enum { SL_SLUG_SIZE = 64 };

typedef struct sl_inventory_row {
    const char *slug;
    uint64_t revision; /* from 1 */
    const char *name;
    const char *spec;       /* JSON text exactly as accepted; NULL in lists */
    const char *created_at; /* RFC 3339, UTC */
    const char *updated_at; /* the revision was accepted, or the inventory deleted */
    const char *deleted_at; /* NULL while it is there */
    bool bare;              /* of sl_inventory_get: nobody observed it and no saved plan names it */
} sl_inventory_row;

/** From where a write came. NULL: not known. */
typedef struct sl_requester {
    const char *remote_address; /* in digits */
    const char *user_agent;     /* at most SL_USER_AGENT_MAX characters */
    const char *request_id;
} sl_requester;

enum { SL_USER_AGENT_MAX = 256, SL_PRECONDITION_MAX = 16 };

/** In place of an expected revision: any will do, but there must be one. */
#define SL_REVISION_ANY UINT64_MAX

/** What a write asks of the inventory as it is. */
typedef struct sl_precondition {
    uint64_t revisions[SL_PRECONDITION_MAX]; /* any of these will do */
    uint32_t count;                          /* 0: not asked */
    bool create_only;                        /* there must be none yet */
} sl_precondition;

typedef enum sl_inventory_action {
    SL_INVENTORY_PUT,
    SL_INVENTORY_PATCH, /* a put that has seen what it replaces: the inventory must be there */
    SL_INVENTORY_DELETE,
    SL_INVENTORY_RESTORE,
    SL_INVENTORY_ACTION_COUNT
} sl_inventory_action;

typedef struct sl_inventory_write {
    sl_inventory_action action;
    const char *slug;
    sl_precondition precondition;
    sl_requester requester;
    /* Of a put and a patch only. */
    const char *name;
    const char *spec;
    const char *spec_hash;    /* of its canonical text */
    const char *accelerators; /* ids to be found by, as a JSON array */
} sl_inventory_write;

/**
 * Makes the change, its revision and its row in the audit in one transaction, or none of them.
 * *created: a put found none, or a deleted one, which then lives again as its next revision.
 * The same spec (equal hash) as the current one's changes nothing and leaves no row.
 * Rules: inventory_not_found (all but a put), inventory_not_deleted (SL_E_CONFLICT, a restore),
 * revision_mismatch and inventory_exists (SL_E_PRECONDITION).
 */
sl_code sl_inventory_write_do(sl_store *store, const sl_inventory_write *write, sl_arena *arena,
                              sl_inventory_row *out, bool *created, sl_errors *err) SL_MUST_CHECK;

/** Whether that would be refused now: the same errors, and nothing changes. *out: the inventory as
 * it is, all NULL where there is none. */
sl_code sl_inventory_write_try(sl_store *store, const sl_inventory_write *write, sl_arena *arena,
                               sl_inventory_row *out, sl_errors *err) SL_MUST_CHECK;

/** SL_E_NOT_FOUND, rule inventory_not_found, at `pointer`. */
sl_code sl_inventory_get(sl_store *store, const char *slug, const char *pointer, sl_arena *arena,
                         sl_inventory_row *out, sl_errors *err) SL_MUST_CHECK;

/** One revision of the past; rule revision_not_found. */
sl_code sl_inventory_revision(sl_store *store, const char *slug, uint64_t revision, sl_arena *arena,
                              sl_inventory_row *out, sl_errors *err) SL_MUST_CHECK;

typedef enum sl_inventory_sort {
    SL_SORT_SLUG,
    SL_SORT_SLUG_DOWN,
    SL_SORT_UPDATED,
    SL_SORT_UPDATED_DOWN,
    SL_SORT_NAME,     /* by its first 100 characters */
    SL_SORT_OBSERVED, /* by its latest observation, first those without any */
    SL_SORT_COUNT
} sl_inventory_sort;

/** A page of a list, and what is asked of its rows; NULL asks nothing. */
typedef struct sl_inventory_query {
    sl_inventory_sort sort;
    const char *after_key; /* sort_key of the last row seen, with its slug; NULL: from the start */
    const char *after_slug;
    uint32_t limit;
    bool deleted;              /* the deleted ones, and only these */
    const char *accelerator;   /* some pool holds it */
    const char *name_part;     /* stands in the first 256 of the name, whatever its case */
    const char *labels;        /* a JSON object: these with these values */
    const char *label_name;    /* there is a label of this name */
    const char *updated_since; /* RFC 3339 */
    bool problems;             /* there is something to see to: inventory_problems.h */
} sl_inventory_query;

typedef struct sl_inventory_page {
    sl_inventory_row *rows; /* without spec */
    uint32_t count;
    bool more;
    const char *last_key; /* of the last row, for the next page; NULL without rows */
} sl_inventory_page;

sl_code sl_inventory_list(sl_store *store, const sl_inventory_query *query, sl_arena *arena,
                          sl_inventory_page *out, sl_errors *err) SL_MUST_CHECK;

/** A write of the past. */
typedef struct sl_inventory_event {
    uint64_t id;            /* grows; 0 in a list of revisions */
    uint64_t revision;      /* that it made; of a delete that it deleted */
    const char *written_at; /* RFC 3339, UTC; NULL in a list of revisions */
    const char *action;     /* NULL: written before that was kept */
    sl_requester requester;
} sl_inventory_event;

typedef struct sl_inventory_history {
    sl_inventory_row *rows; /* of revisions, without spec; NULL in an audit */
    sl_inventory_event *events;
    uint32_t count;
    bool more;
} sl_inventory_history;

/** Revisions, newest first, at most `limit` below `before` (0 = newest), each with the write that
 * made it. */
sl_code sl_inventory_revisions(sl_store *store, const char *slug, uint64_t before, uint32_t limit,
                               sl_arena *arena, sl_inventory_history *out,
                               sl_errors *err) SL_MUST_CHECK;

#endif
