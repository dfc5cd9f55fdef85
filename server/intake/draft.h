/**
 * Findings of several files merged into pools, and those into an inventory to be looked at before
 * anything is stored: for every field its value and whether a file said it, the catalogue knows it,
 * or it was inferred of nodes that no file described.
 *
 * Hosts are the same when their names are; sl_findings_join_names, which comes before, looks past
 * domains. Of two files that say the same field of a host the tool nearer to the hardware counts
 * (nvidia-smi before Slurm), and a difference is a warning. A file about a node without a name
 * (nvidia-smi of one machine) speaks for all hosts that it can be one of.
 * Names stay ambiguous until something measured decides: what is left is for the user to choose.
 */
#ifndef SL_INTAKE_DRAFT_H
#define SL_INTAKE_DRAFT_H

#include "catalog/catalog.h"
#include "codec/inventory/inventory.h"
#include "intake/findings.h"
#include "intake/part_names.h"
#include "json/writer.h"

enum { SL_DRAFT_CANDIDATES_SHOWN = 3, SL_DRAFT_NOTES_MAX = 64 };

typedef enum sl_from {
    SL_FROM_NOBODY,  /* nobody knows */
    SL_FROM_FILE,    /* a file says so of these hosts */
    SL_FROM_LIKE,    /* a file says so of a node like these, or it follows from what files say */
    SL_FROM_CATALOG, /* of the part or node type that was recognised */
    SL_FROM_DEFAULT  /* what is assumed where nobody says */
} sl_from;

typedef struct sl_value {
    sl_fact fact;
    sl_from origin;
    uint16_t file;      /* of the findings; where origin is file or inferred */
    const char *reason; /* of what was inferred or assumed, one sentence, or NULL */
} sl_value;

/** Hosts of a pool in one state for one reason. */
typedef struct sl_draft_group {
    sl_host_state state;
    const char *reason; /* or NULL */
    const char *const *hosts;
    size_t host_entries;
    uint32_t count;
} sl_draft_group;

/** Equal nodes. */
typedef struct sl_draft_pool {
    char name[64]; /* distinct */
    uint32_t nodes, unnamed;
    uint32_t in_state[SL_HOST_DOWN + 1];
    const char *const *hosts; /* all that are named */
    size_t host_entries;
    sl_draft_group *groups;
    uint32_t group_count;
    sl_value value[SL_FIELD_COUNT];
    const sl_part *part;      /* NULL: not one part for sure */
    const sl_node_type *node; /* NULL: no file names one that the catalogue has */
    const sl_part *candidates[SL_PART_CANDIDATES_MAX];
    uint32_t candidate_count;
    bool candidates_near; /* none goes by the name; these are like it */
    uint32_t whole;       /* accelerators of a node that are not cut into slices */
} sl_draft_pool;

typedef struct sl_draft_note {
    const char *code;
    const char *text;
    char pointer[96]; /* into the spec, or "" */
    bool guess;       /* what ?strict=true refuses */
} sl_draft_note;

typedef struct sl_draft {
    const sl_findings *findings;
    const sl_catalog *catalog;
    const char *name;
    sl_draft_pool *pools; /* that have accelerators, as they are met */
    uint32_t pool_count;
    uint32_t hosts, without_accelerators; /* nodes in all, and those that have none */
    sl_draft_pool bare;                   /* the latter: hosts and states only */
    sl_value fabric_kind, oversubscription;
    sl_draft_note notes[SL_DRAFT_NOTES_MAX];
    uint32_t note_count, notes_dropped;
} sl_draft;

/** Everything lives in the arena. SL_E_RANGE too_many (pools over SL_INVENTORY_POOLS_MAX). */
sl_code sl_draft_make(const sl_findings *findings, const sl_catalog *catalog, sl_arena *arena,
                      sl_draft *out, sl_errors *err) SL_MUST_CHECK;

/** Whether the pool is in the spec: a plan can have whole accelerators of it, or how many there are
 * is for the user to say. */
bool sl_draft_pool_planned(const sl_draft_pool *pool);

/** Every guess as a fault: SL_E_RANGE with the note's code, at its place in the spec. SL_OK when
 * there was none. */
sl_code sl_draft_strict(const sl_draft *draft, sl_errors *err) SL_MUST_CHECK;

/** The spec as PUT takes it; null where no pool has whole accelerators. A name that is not resolved
 * stands in it as it was printed; a file that is a spec, alone, stays as it was. */
void sl_draft_spec_write(sl_writer *writer, const sl_draft *draft);

/** The members of a parse answer that follow its files: spec, hosts, pools, unresolved,
 * warnings. */
void sl_draft_write(sl_writer *writer, const sl_draft *draft);

#endif
